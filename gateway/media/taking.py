"""From a message's files to what the model gets of them: fetched, stored, and each kind read in its way."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from agents.paths import problem
from agents.tools.framing import framed, neutral
from channels.channel import Channel, FetchError
from channels.kinds import kind_of
from channels.message import Attachment, FileKind, InboundMessage
from gateway.media.documents import Documents, Unread, is_document
from gateway.media.hearing import OFF, Hearing, NotHeard
from gateway.media.pictures import NotShown, Shown, shown
from gateway.media.settings import MediaSettings
from gateway.media.store import Store, Stored, described, sized
from gateway.media.taken import Taken
from gateway.views import Refused

MB = 1_000_000

logger = logging.getLogger("clawd.media")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taker:
    """`account_mb` is the largest file that an account of a channel takes; `mark` makes words that nobody
    outside can know. Whatever fails is told to the model and the person, and hinders no other file."""

    store: Store
    settings: MediaSettings
    documents: Documents
    hearing: Hearing
    account_mb: Callable[[str, str], int]
    mark: Callable[[], str]

    async def fetch(self, channel: Channel, message: InboundMessage) -> Taken:
        """The files of a message that came through a channel."""
        pieces: list[Taken] = []
        heard = False
        for number, one in enumerate(message.attachments):
            if number >= self.settings.max_files:
                pieces.append(_failed(one, f"more than {number} files came at once. Send the others again"))
                break
            piece, sound = await self._fetched(channel, one, heard=heard)
            pieces.append(piece)
            heard = heard or sound
        return Taken.of(pieces)

    async def stored(self, files: Sequence[Attachment]) -> Taken:
        """Files that lie in the store already, under their `ref`."""
        pieces: list[Taken] = []
        heard = False
        for one in files:
            found = await asyncio.to_thread(self.store.find, one.ref, one.name)
            if found is None:
                pieces.append(_failed(one, "it is no longer stored. Send it again"))
                continue
            pieces.append(await self._read(one, found, heard=heard))
            heard = heard or kind_of(found.mime) == "audio"
        return Taken.of(pieces)

    async def store_upload(self, name: str, data: bytes) -> str:
        """The reference of a file that a caller brought with it. Raises Refused."""
        try:
            kept = await asyncio.to_thread(self.store.keep, name, data)
        except OSError as error:
            raise Refused(
                f"{name!r} could not be stored: {problem(error)}.", code="storage", status=507
            ) from error
        limit = self._limit(kind_of(kept.mime))
        if kept.size > limit:
            await asyncio.to_thread(kept.path.unlink, missing_ok=True)
            raise Refused(
                f"{name!r} has {sized(kept.size)}; at most {sized(limit)} are taken of this kind "
                f"({_setting(kind_of(kept.mime))}).",
                code="file_too_large",
                status=413,
            )
        return kept.ref

    async def _fetched(self, channel: Channel, one: Attachment, *, heard: bool) -> tuple[Taken, bool]:
        """What became of it, and whether it is a recording."""
        limit = self._limit(one.kind, channel)
        if one.size is not None and one.size > limit:
            return _failed(one, f"it has {sized(one.size)}; at most {sized(limit)} are taken"), False
        try:
            with ExitStack() as stack:
                path = await asyncio.to_thread(lambda: stack.enter_context(self.store.incoming()))
                async with asyncio.timeout(self.settings.fetch_seconds):
                    await channel.fetch(one, path, max_bytes=limit)
                found = await asyncio.to_thread(self.store.settle, path, one.name)
        except FetchError as error:
            return _failed(one, str(error).rstrip(".")), False
        except TimeoutError:
            return _failed(one, f"{channel.name} did not give it in {self.settings.fetch_seconds:g} s"), False
        except OSError as error:
            logger.error("a file could not be stored: %s", problem(error))  # noqa: TRY400 (the text says it)
            return _failed(one, f"it could not be stored: {problem(error)}"), False
        sound = one.kind in ("voice", "audio") or kind_of(found.mime) == "audio"
        return await self._read(one, found, heard=heard), sound

    async def _read(self, one: Attachment, found: Stored, *, heard: bool) -> Taken:
        kind = kind_of(found.mime)
        if one.kind in ("voice", "audio") or kind == "audio":
            return await self._listen(one, found, heard=heard)
        if kind == "image":
            return await self._look(found)
        if is_document(found.mime):
            return await self._text(found)
        return Taken(text=_line(found, "its content is not shown"))

    async def _look(self, found: Stored) -> Taken:
        if found.size > self.settings.image_mb * MB:
            limit = f"pictures of more than {self.settings.image_mb} MB are not looked at"
            return _unread(found, f"{limit} (gateway.media.image_mb)")
        try:
            seen: Shown = await asyncio.to_thread(
                shown, found.path, found.mime, max_bytes=self.settings.shown_kb * 1_000
            )
        except NotShown as error:
            return _unread(found, str(error))
        except OSError as error:
            return _unread(found, problem(error))
        moving = "; only the first frame is shown" if seen.frames > 1 else ""
        note = f"{seen.width}x{seen.height}{moving}"
        return Taken(text=_line(found, note), images=(seen.image,), outside=(found.path.name,))

    async def _text(self, found: Stored) -> Taken:
        try:
            read = await self.documents.read(found.path, found.mime)
        except Unread as error:
            logger.warning("a document (%s) was not read: %s", found.mime, error)
            return _unread(found, str(error))
        most, notes = self.settings.document_chars, []
        if read.pages:
            notes.append(f"text of {read.read} of {read.pages} pages")
        if len(read.text) > most or read.cut:
            notes.append(f"here are the first {min(most, len(read.text)):,} characters")
        if len(read.text) > most:
            notes.append(await self._kept_beside(found, read.text))
        frame = framed(read.text[:most], found.path.name, boundary=self.mark())
        return Taken(text=f"{_line(found, *notes)}\n{frame}", outside=(found.path.name,))

    async def _kept_beside(self, found: Stored, text: str) -> str:
        try:
            path = await asyncio.to_thread(self.store.beside, found, text)
        except OSError as error:
            return f"the rest could not be stored: {problem(error)}"
        return f"all {len(text):,} of the text are in {path}"

    async def _listen(self, one: Attachment, found: Stored, *, heard: bool) -> Taken:
        """A voice message is the word of its sender; any other recording is content from outside."""
        if heard:
            return Taken(text=_line(found, "only the first recording of a message is turned into text"))
        if not self.hearing.on:
            told = (_sentence(_label(one), OFF),) if one.kind == "voice" else ()
            return Taken(text=_line(found, OFF), told=told)
        try:
            text = await self.hearing.text_of(found.path, found.mime)
        except NotHeard as error:
            return _unread(found, str(error), label=_label(one))
        if one.kind == "voice":
            note = "what was said, turned into text by a machine, which may have misheard"
            return Taken(text=f"{_line(found, note)}\n{neutral(text)}")
        frame = framed(text, f"{found.path.name}, by machine", boundary=self.mark())
        note = "what is heard in it, turned into text by a machine"
        return Taken(text=f"{_line(found, note)}\n{frame}", outside=(found.path.name,))

    def _limit(self, kind: FileKind, channel: Channel | None = None) -> int:
        """In bytes."""
        settings = self.settings
        own = {
            "image": settings.image_mb,
            "sticker": settings.image_mb,
            "audio": settings.audio_mb,
            "voice": settings.audio_mb,
            "video": settings.video_mb,
        }.get(kind, settings.document_mb)
        return MB * (min(own, self.account_mb(channel.name, channel.account)) if channel else own)


@dataclass(frozen=True, slots=True)
class Uploads:
    """Takes what callers of the HTTP surface bring with them. `taker` is asked each time."""

    taker: Callable[[], Taker]

    async def store(self, name: str, mime: str, data: bytes) -> str:
        """Raises Refused. The claimed type means nothing."""
        del mime
        return await self.taker().store_upload(name, data)


def _setting(kind: FileKind) -> str:
    return f"gateway.media.{kind}_mb"


def _label(one: Attachment) -> str:
    """What a person calls the file."""
    plain = "".join(char for char in neutral(one.name) if char.isprintable() and char not in "[]")[:80]
    return f"{one.kind} {plain}".strip() if one.kind != "voice" else "voice message"


def _line(found: Stored, *notes: str) -> str:
    name = "".join(char for char in neutral(found.name) if char.isprintable() and char not in '[]"')[:80]
    more = "".join(f"; {note}" for note in notes if note)
    return f'[file "{name}": {described(found)}, stored as {found.path}{more}]'


def _sentence(label: str, why: str) -> str:
    return f"{label[0].upper()}{label[1:]}: {why}."


def _failed(one: Attachment, why: str) -> Taken:
    """A file that is not there."""
    label = _label(one)
    logger.warning("a file (%s) was not taken: %s", one.kind, why)
    return Taken(text=f"[{label}: not received, {why}]", told=(_sentence(label, why),))


def _unread(found: Stored, why: str, *, label: str = "") -> Taken:
    """A file that is there, and whose content is not."""
    name = label or f"{kind_of(found.mime)} {_plain(found.path)}"
    return Taken(text=_line(found, f"its content is not shown: {why}"), told=(_sentence(name, why),))


def _plain(path: Path) -> str:
    """The name without the id before it."""
    return path.name.split("-", 2)[-1]
