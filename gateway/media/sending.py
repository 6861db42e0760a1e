"""Files that go out with an answer: decided from the transcript, so that a restart forgets none of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from channels.channel import Traits
from channels.kinds import kind_of
from channels.message import OutboundFile
from gateway.media.store import Stored
from sessions.entries import Entry, Said
from sessions.key import SessionKey
from sessions.messages import Assistant, JsonObject, ToolResult, User

SEND_FILE = "send_file"
MOST_FILES = 10
_DETAIL = "sends"
_REQUEST_BYTES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """A file on its way, with a few words under it."""

    file: OutboundFile
    caption: str = ""


@dataclass(slots=True)
class Slot:
    """A turn whose answer can carry files: `max_bytes` each; `count` are on their way."""

    max_bytes: int
    count: int = 0


class Outgoing:
    """The turns that are being answered through a channel. `is_copy` knows the files of ours."""

    def __init__(self, is_copy: Callable[[Path], bool] = lambda _: False) -> None:
        self._is_copy = is_copy
        self._slots: dict[SessionKey, Slot] = {}

    @contextmanager
    def opened(self, key: SessionKey, max_bytes: int) -> Iterator[Slot]:
        """While the session's turn runs."""
        slot = self._slots[key] = Slot(max_bytes)
        try:
            yield slot
        finally:
            if self._slots.get(key) is slot:
                del self._slots[key]

    def slot(self, key: SessionKey) -> Slot | None:
        """None where an answer goes to no channel."""
        return self._slots.get(key)

    def of(self, entries: Sequence[Entry], message_id: str) -> tuple[Sending, ...]:
        """The files of the turn that answers the accepted message, in their order."""
        found = [one for one in sendings_of(entries, message_id) if self._is_copy(one.file.path)]
        return tuple(found[:MOST_FILES])

    def has(self, path: Path) -> bool:
        """Whether it is a file of ours, and is there."""
        return self._is_copy(path)


def sending_details(stored: Stored, caption: str) -> JsonObject:
    """What the transcript holds of a file that is to go out with the turn's answer."""
    told: JsonObject = {
        "path": str(stored.path),
        "name": stored.name,
        "mime": stored.mime,
        "size": stored.size,
    }
    return {_DETAIL: {**told, "caption": caption}}


def together(sends: Sequence[Sending], traits: Traits) -> list[tuple[Sending, ...]]:
    """The files in their order, those that the platform shows as one album together. A caption belongs to
    the album that it begins."""
    albums: list[tuple[Sending, ...]] = []
    for one in sends:
        if albums and not one.caption and _room(albums[-1], one, traits):
            albums[-1] = (*albums[-1], one)
        else:
            albums.append((one,))
    return albums


def _room(album: tuple[Sending, ...], one: Sending, traits: Traits) -> bool:
    """A platform's limit on a file is taken for that on a request, whose own words need a little of it."""
    kind, sizes = traits.album_of(one.file), [each.file.size for each in (*album, one)]
    same = bool(kind) and kind == traits.album_of(album[0].file)
    return (
        same
        and len(sizes) <= traits.album_files
        and 0 not in sizes
        and sum(sizes) < traits.max_file_bytes - _REQUEST_BYTES
    )


def sendings_of(entries: Sequence[Entry], message_id: str) -> list[Sending]:
    """As the transcript has them; their files may be gone."""
    found: list[Sending] = []
    began = ended = False
    for entry in entries:
        message = entry.body.message if isinstance(entry.body, Said) else None
        if isinstance(message, User):
            if ended:
                break
            began = began or message_id in message.ids
        elif isinstance(message, Assistant):
            ended = began and not message.calls and message.stop != "aborted"
        elif began and isinstance(message, ToolResult):
            found += sent_by(message)
    return found


def sent_in(entries: Sequence[Entry]) -> list[Sending]:
    """All files of a transcript; they may be gone."""
    said = (entry.body.message for entry in entries if isinstance(entry.body, Said))
    return [one for message in said if isinstance(message, ToolResult) for one in sent_by(message)]


def sent_by(result: ToolResult) -> list[Sending]:
    """The file that a call of send_file has sent; nothing for any other."""
    return list(_sending(result)) if result.name == SEND_FILE and not result.is_error else []


def _sending(result: ToolResult) -> Iterator[Sending]:
    match (result.details or {}).get(_DETAIL):
        case {"path": str(path), "name": str(name), "mime": str(mime), "caption": str(caption), **more}:
            told = more.get("size")
            size = told if isinstance(told, int) else 0
            file = OutboundFile(path=Path(path), name=name, kind=kind_of(mime), mime=mime, size=size)
            yield Sending(file=file, caption=caption)
