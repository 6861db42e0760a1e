"""Something outside wants the owner's agent to look: at once, or when the owner speaks next."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

from agents.recovery import Left
from agents.silent import audible
from agents.turn import TurnEvent
from channels.message import Address
from gateway.deliveries import Delivery
from gateway.errands import TRIES, Entries, Errand, Errands, left_by
from gateway.heard_turns import HeardTurns
from gateway.lanes import Lanes, unbroken
from gateway.postman import Postman
from gateway.refusals import refusal
from gateway.turns import Asked
from gateway.views import Refused
from gateway.writing import Writer
from sessions.entries import Said
from sessions.key import SessionKey
from sessions.messages import Text, User

WOKEN = (
    "[Nobody has written: a webhook has come, and stands above. Look whether it concerns the owner. Answer "
    "what the owner should hear now, or NO_REPLY.]"
)

logger = logging.getLogger("clawd.gateway")


class Waking:
    """The text is content from outside, framed by whoever calls: in the turn that it comes into, commands and
    messages elsewhere need the owner's word. An answer goes to where the owner spoke last. What is accepted
    is one of the `errands` until it was looked at."""

    def __init__(
        self,
        *,
        agent: Callable[[], str],
        turns: HeardTurns,
        lanes: Lanes,
        postman: Postman,
        writer: Writer,
        errands: Errands,
        entries: Entries,
        where: Callable[[SessionKey], Address | None],
        new_id: Callable[[], str],
        draining: Callable[[], bool],
        max_age: timedelta,
    ) -> None:
        self._agent = agent
        self._turns = turns
        self._lanes = lanes
        self._postman = postman
        self._writer = writer
        self._errands = errands
        self._entries = entries
        self._where = where
        self._new_id = new_id
        self._draining = draining
        self._max_age = max_age
        self._endings: set[asyncio.Task[None]] = set()

    async def wake(self, framed: str, now: bool) -> None:  # noqa: FBT001 (the border of the HTTP surface)
        """Now: a turn in the main session begins, and nobody waits for it. Else the next one is told. Raises
        Refused when it cannot be written down."""
        errand = Errand(
            id=f"wake-{self._new_id()}",
            kind="look" if now else "next",
            key=SessionKey(agent=self._agent(), kind="main"),
            text=framed,
            at=self._errands.clock(),
        )
        try:
            await unbroken(self._errands.accept(errand))
        except OSError as error:
            raise refusal(error) from error
        await self._go(errand, earlier=False)

    async def take_up(self) -> None:
        """What an earlier process had accepted and not looked at; to be called before anything new is taken.
        What should be looked at now and is older than `max_age` is told with the next turn."""
        for errand in self._errands.waiting("look", "next"):
            try:
                left = await left_by(errand, self._entries)
            except Refused as refused:
                logger.warning("a webhook waits for a start that can read its session: %s", refused)
                continue
            if not left.recorded and await self._stands_there(errand):
                await self._errands.done(errand.id)  # another turn was told of it
            elif left.recorded and not left.answer and not await self._errands.tried(errand):
                logger.warning("a webhook was looked at %d times, and each ended with the process", TRIES)
                await self._errands.done(errand.id)
            else:
                late = not left.recorded and self._errands.clock() - errand.at > self._max_age
                await self._go(replace(errand, kind="next") if late else errand, earlier=True)

    async def _go(self, errand: Errand, *, earlier: bool) -> None:
        if errand.kind == "look":
            task = self._lanes.submit(errand.key, partial(self._look, errand, earlier=earlier))
            task.add_done_callback(partial(self._looked, errand))
        else:
            await self._turns.tell_next(errand.key, errand.text, partial(self._errands.done, errand.id))

    def _looked(self, errand: Errand, task: "asyncio.Task[None]") -> None:
        """One that was stopped before it began has had its end as well."""
        if task.cancelled() and not self._draining():
            logger.warning("a webhook woke the main session, and was stopped before it was looked at")
            ending = asyncio.create_task(self._errands.done(errand.id), name=f"stopped {errand.id}")
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)

    async def _look(self, errand: Errand, *, earlier: bool) -> None:
        try:
            # What is left is asked for now: a turn that was before this one in its lane may have answered it.
            left = await left_by(errand, self._entries) if earlier else Left(recorded=False)
            reply = left.answer.text if left.answer else await self._answer(errand, again=left.recorded)
        except Refused as refused:
            if self._draining():
                return  # the next start takes it up
            logger.warning("a webhook woke the main session, and the turn failed: %s", refused)
        else:
            await self._tell(errand, reply)
        await self._errands.done(errand.id)

    async def _answer(self, errand: Errand, *, again: bool) -> str:
        asked = Asked(
            key=errand.key,
            parts=(Text(text=WOKEN),),
            sender="webhook",
            context=errand.text,
            outside=("webhook",),
            ids=(errand.id,),
            by_person=False,
            again=again,
        )
        return (await self._turns.answer(asked, _nobody)).reply

    async def _tell(self, errand: Errand, reply: str) -> None:
        text, address = audible(reply), self._where(errand.key)
        channel = self._postman.channel(address) if address else None
        if text is None or address is None or channel is None:
            logger.info(
                "a webhook was looked at; %s", "silently" if text is None else "its answer is in the session"
            )
            return
        parts = self._writer.parts(text, channel.traits)
        delivery = Delivery(key=errand.id, address=address, at=self._errands.clock(), parts=parts)
        try:
            await self._postman.post(delivery)
        except OSError as error:
            logger.critical(
                "the answer to a webhook cannot be written down (%s); it is in the session", error
            )

    async def _stands_there(self, errand: Errand) -> bool:
        """Whether a turn of an earlier process was told of it: its frame is one that nobody can guess."""
        try:
            entries = await self._entries(errand.key)
        except Refused:
            return False
        said = (entry.body.message for entry in entries if isinstance(entry.body, Said))
        return any(isinstance(message, User) and errand.text in message.envelope for message in said)


def _nobody(_: TurnEvent) -> None:
    """Nobody watches."""
