"""From an answer to the requests that show it."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from discord import ButtonStyle, SelectOption
from discord.ui import Button, Select, View

from channels.discord.receiving import PRESS
from channels.message import Choice, OutboundFile, OutboundMessage

MAX_TEXT = 2_000
MAX_FILES = 10
MAX_DATA_BYTES = 64
LIVE = "~"
"""What the key of a growing answer ends with."""
_ROWS = _IN_A_ROW = 5
_IN_A_LIST = 25
_LABEL, _OPTION = 80, 100
_STYLES = {"plain": ButtonStyle.secondary, "good": ButtonStyle.success, "bad": ButtonStyle.danger}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request that puts one message into a chat. `nonce`: a second one with the same is not shown."""

    nonce: str
    text: str = ""
    files: tuple[OutboundFile, ...] = ()
    choices: tuple[tuple[Choice, ...], ...] = ()
    reply_to: int | None = None


def to_wire(message: OutboundMessage, *, anew: bool = False) -> list[Call]:
    """The requests of an answer in their order: the text with the first files, then the other files. Nothing
    for an answer without text and files. `anew`: beside the live view's message, not in its place. Raises
    ValueError for what Discord would not take."""
    text = message.text if message.text.strip() else ""
    batches = list(_batches(message.files)) or [()]
    if not text and not message.files:
        return []
    check(message)
    return [
        Call(
            nonce=nonce_of(message.key + ("!" if anew else ""), message.part, number),
            text=text if number == 0 else "",
            files=files,
            choices=message.choices if number == 0 else (),
            reply_to=reply_to(message) if number == 0 else None,
        )
        for number, files in enumerate(batches)
    ]


def check(message: OutboundMessage) -> None:
    """Raises ValueError for what Discord would not take."""
    if any(len(one.data.encode()) > MAX_DATA_BYTES for row in message.choices for one in row):
        raise ValueError(f"a button holds more than {MAX_DATA_BYTES} bytes")
    if sum(len(row) for row in message.choices) > _ROWS * _IN_A_LIST:
        raise ValueError(f"there are more than {_ROWS * _IN_A_LIST} choices")


def album_of(_: OutboundFile) -> str:
    """Discord shows any files together."""
    return "files"


def is_too_long(text: str) -> bool:
    """Counted in UTF-16 units, as Discord's apps do: never less than what its server counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2 > MAX_TEXT


def nonce_of(key: str, part: int, number: int) -> str:
    """At most 25 characters, the same for the same part of an answer, and for its live view."""
    key = key.removesuffix(LIVE)
    return hashlib.blake2b(f"{key}\0{part}\0{number}".encode(), digest_size=12).hexdigest()


def reply_to(message: OutboundMessage) -> int | None:
    """A thread's first message stands above the thread, and cannot be pointed to from it."""
    chosen = message.reply_to or ""
    return int(chosen) if chosen.isdigit() and chosen != message.address.thread else None


def view_of(choices: Sequence[Sequence[Choice]]) -> View | None:
    """Buttons in rows of five, or lists to choose from where those are too many; None for none. It needs a
    running event loop, and is not listened to: what is pressed arrives as any other event."""
    rows = [list(part) for row in choices for part in _split(row, _IN_A_ROW)]
    if not rows:
        return None
    view = View(timeout=None)
    if len(rows) <= _ROWS:
        for number, row in enumerate(rows):
            for one in row:
                view.add_item(_button(one, number))
    else:
        every = [one for row in rows for one in row]
        for number, part in enumerate(_split(every, _IN_A_LIST)):
            view.add_item(_list(part, number))
    view.stop()
    return view


def _button(choice: Choice, row: int) -> "Button[View]":
    return Button(
        label=(choice.label or choice.data)[:_LABEL],
        custom_id=f"{PRESS}{choice.data}",
        style=_STYLES[choice.style],
        row=row,
    )


def _list(choices: Sequence[Choice], number: int) -> "Select[View]":
    options = [SelectOption(label=(one.label or one.data)[:_OPTION], value=one.data) for one in choices]
    return Select(custom_id=f"{PRESS}list-{number}", placeholder="Choose …", options=options)


def _split(row: Sequence[Choice], size: int) -> Iterator[Sequence[Choice]]:
    yield from (row[at : at + size] for at in range(0, len(row), size))


def _batches(files: Sequence[OutboundFile]) -> Iterator[tuple[OutboundFile, ...]]:
    rest = iter(files)
    while batch := tuple(islice(rest, MAX_FILES)):
        yield batch
