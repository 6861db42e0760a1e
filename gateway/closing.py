"""How a turn that has come to its end, one way or another, is told."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agents.recovery import left_of
from agents.silent import audible
from gateway.ends import Ends
from gateway.inbox import End
from gateway.mailbox import Mailbox
from gateway.media.sending import Outgoing, Sending
from gateway.running import Running
from gateway.views import Refused
from sessions.entries import Entry
from sessions.key import SessionKey
from sessions.messages import Assistant

Entries: TypeAlias = Callable[[SessionKey, str], Awaitable[Sequence[Entry]]]
"""The transcript of a key's session of that id; empty when it is not the current one. Raises Refused."""

logger = logging.getLogger("clawd.gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """`draining` tells that clawd shuts down: a turn that is ended then is taken up by the next start."""

    ends: Ends
    outgoing: Outgoing
    entries: Entries
    draining: Callable[[], bool]
    stuck_seconds: float

    async def recorded(self, running: Running, answer: Assistant) -> None:
        """With an answer that an earlier process was given and did not deliver."""
        if answer.stop == "error":
            await self.told(running, f"⚠️ {answer.error or 'The model failed.'}", goes_on=False)
            return
        nothing = "(The model gave an empty answer. Ask again, or in other words.)"
        await self.told(running, answer.text.strip() or nothing)

    async def told(self, running: Running, text: str, *, goes_on: bool = True) -> None:
        """With its answer, and what is to be heard beside it."""
        first, said, sends = running.items[0], audible(text), await self._sends(running)
        end: End = "answered" if said is not None or sends or running.told else "silent"
        if said and self.ends.in_blocks(first):
            said = said.removeprefix(running.notice)
        text = running.noted(said or "")
        await self.ends.tell(first, text, end, ids=running.ids, sends=sends, goes_on=goes_on and bool(said))

    async def refused(self, running: Running, refused: Refused, box: Mailbox) -> None:
        """Without an answer: it was stopped, or could not be made."""
        if refused.code == "stopped":
            await self.stopped(running, box)
        else:
            await self.failed(running, str(refused))

    async def failed(self, running: Running, why: str) -> None:
        """With one honest sentence."""
        text, sends = running.noted(f"⚠️ {why}"), await self._sends(running)
        await self.ends.tell(running.items[0], text, "failed", ids=running.ids, sends=sends)

    async def stopped(self, running: Running, box: Mailbox) -> None:
        """It was ended by the person, by another message, for want of life, or by a shutdown."""
        first = running.items[0]
        match running.cause:
            case None if self.draining():
                return
            case "stuck":
                text = (
                    f"⚠️ I stopped: for {self.stuck_seconds / 60:.0f} minutes there was no sign of life from "
                    "the model or a tool. Send it again, or begin afresh with /new."
                )
                await self.ends.tell(first, text, "failed", ids=running.ids)
            case "interrupt" if not await self._is_recorded(running):
                box.back(running.items)  # nobody has read it: it is answered with what interrupted it
            case "interrupt":
                await self.ends.tell(first, "", "joined", ids=running.ids)
            case _:
                in_blocks = self.ends.in_blocks(first)
                said = (audible(running.spoken(in_blocks=in_blocks)) or "").rstrip()
                text = f"{said}\n\n*(stopped)*".strip() if said or in_blocks else ""
                await self.ends.tell(first, text, "stopped", ids=running.ids, goes_on=bool(said))

    async def _sends(self, running: Running) -> Sequence[Sending]:
        """The files that go out with the answer, as the transcript has them."""
        if not running.may_send:
            return ()
        try:
            entries = await self.entries(running.items[0].admission.key, running.session_id)
        except Refused as refused:
            logger.error("files of an answer are not sent: %s", refused)  # noqa: TRY400 (the text says it)
            return ()
        return await asyncio.to_thread(self.outgoing.of, entries, running.items[0].id)

    async def _is_recorded(self, running: Running) -> bool:
        """Whether its message stands in the transcript, so that the next turn sees it."""
        first = running.items[0]
        if not running.session_id:
            return bool(running.again)
        try:
            return left_of(await self.entries(first.admission.key, running.session_id), first.id).recorded
        except Refused:
            return False
