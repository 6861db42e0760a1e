"""An answer in whole blocks: what is beyond doubt goes out while the rest is still being said, on platforms
where a message cannot be edited."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from agents.model.provider import TextDelta
from agents.silent import Holdback
from agents.turn import Notice, Retrying, ToolFinished, ToolStarted, TurnEvent
from channels.channel import Traits
from channels.text import borders
from gateway.preferences import ToolLine

AGAIN = "*(I was cut off. This is my answer from its beginning.)*\n\n"

logger = logging.getLogger("clawd.channels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """`text` is to be read. It tells `said` of what the model is saying, behind what was told before; with
    `anew` it has begun to say it again, with `closes` it has come to an end and uses a tool."""

    text: str
    said: str
    anew: bool = False
    closes: bool = False


SendBlock: TypeAlias = Callable[[Block], Awaitable[None]]
"""Writes a block down, and sends it by itself. Raises OSError."""
Divides: TypeAlias = Callable[[str, int], bool]
"""Whether a text may be divided at that place: nothing that must not leave lies across it."""


def beyond(said: str, text: str) -> str | None:
    """What a text says behind what was told of it; None when it is another text than that."""
    text, said = text.lstrip(), said.strip()
    return text[len(said) :] if text.startswith(said) else None


def rest_of(said: str, text: str) -> str:
    """What is still to be told of a whole text."""
    rest = beyond(said, text)
    return AGAIN + text if rest is None else rest


class BlockView:
    """The blocks of one answer. `said` is what was told of it before a restart.

    Blocks go out together once they are long enough, or when the model pauses. What it says before it uses a
    tool goes out whole then, and stays, with the line that `tool` gives for it. A chosen silence is held
    back. Of an answer that is tried again, what was told is not told again, unless it comes out differently.
    """

    def __init__(
        self,
        *,
        traits: Traits,
        send: SendBlock,
        divides: Divides,
        said: str = "",
        tool: ToolLine = lambda _: "",
    ) -> None:
        self._traits = traits
        self._send = send
        self._divides = divides
        self._tool = tool
        self._said, self._anew, self._next_look = said, False, 0
        self._head, self._text, self._hold, self._over = "", "", Holdback(), False
        self._rounds: deque[tuple[str, str]] = deque()  # what was said, and the tool
        self._news = asyncio.Event()
        self._sealed = asyncio.Event()

    def hear(self, event: TurnEvent) -> None:
        match event:
            case Notice():
                if not self._text.strip():
                    self._head += event.text
            case TextDelta():
                self._over = False
                self._text += self._hold.feed(event.text)
                self._news.set()
            case ToolStarted():
                self._close(self._tool(event.call))
            case ToolFinished():
                self._close("")
            case Retrying():
                self._text, self._hold, self._over = "", Holdback(), False

    def _close(self, tool: str) -> None:
        """The round has ended, unless it had before; the tool is told in any case."""
        said = "" if self._over else self._text + self._hold.end()
        if tool or not self._over:
            self._rounds.append((said, tool))
            self._news.set()
        self._text, self._hold, self._over = "", Holdback(), True

    async def run(self) -> None:
        """Until `seal`, and what was said before tools is out."""
        try:
            while not self._sealed.is_set():
                await self._news.wait()
                self._news.clear()
                await self._closed()
                while not (self._sealed.is_set() or self._rounds) and await self._ready():
                    await self._show()
            await self._closed()
        except OSError as error:
            logger.warning("the rest of an answer comes at its end: %s", error)

    def seal(self) -> None:
        """The rest is told by whoever tells the turn's end."""
        self._sealed.set()
        self._news.set()

    async def _closed(self) -> None:
        """Rounds that have ended with a tool."""
        while self._rounds:
            text, tool = self._rounds.popleft()
            if text.strip() or tool or self._said or self._anew:
                rest = rest_of(self._said, text) if text.strip() else ""
                told = f"{rest.rstrip()}\n\n{tool}".lstrip() if tool else rest
                await self._out(told, text, closes=True)
            self._said, self._anew = "", False

    async def _ready(self) -> bool:
        """Whether there is a block to send now: a long one, or any when nothing follows for a moment."""
        if len(self._text) >= self._next_look:
            whole = self._whole()
            if len(whole) >= self._traits.block_chars:
                return True
            # What grows without an end (a long piece of code) is not read again for each word of it.
            left = len(self._text) - len(self._said)
            self._next_look = len(self._said) + max(self._traits.block_chars, left + left // 8)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), self._traits.block_seconds)
            return False
        return bool(self._whole())

    async def _show(self) -> None:
        whole = self._whole()
        await self._out(whole, whole)

    def _whole(self) -> str:
        """The blocks that are beyond doubt, behind what was told; blank is none."""
        if self._rounds:
            return ""  # what was told is of an earlier round, which comes first
        if not self._text.startswith(self._said):
            if self._said.startswith(self._text):
                return ""  # it may yet turn out to be the same
            self._said, self._anew = "", True
        start = len(self._said)
        places = [start + border for border in borders(self._text[start:])]
        at = next((one for one in reversed(places) if self._divides(self._text, one)), start)
        whole = self._text[start:at]
        return whole if whole.strip() else ""

    async def _out(self, text: str, said: str, *, closes: bool = False) -> None:
        anew, head = self._anew, self._head
        self._head = ""
        again = AGAIN if anew and not text.startswith(AGAIN) else ""
        await self._send(Block(text=head + again + text, said=said, anew=anew, closes=closes))
        self._said, self._anew, self._next_look = self._said + said, False, 0
