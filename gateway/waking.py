"""Something outside wants the owner's agent to look: at once, or when the owner speaks next."""

import logging
from collections.abc import Callable
from functools import partial

from agents.clock import Clock
from agents.silent import audible
from agents.turn import TurnEvent
from channels.message import Address
from gateway.deliveries import Delivery
from gateway.heard_turns import HeardTurns
from gateway.lanes import Lanes
from gateway.postman import Postman
from gateway.turns import Asked
from gateway.views import Refused
from gateway.writing import Writer
from sessions.key import SessionKey
from sessions.messages import Text

WOKEN = (
    "[Nobody has written: a webhook has come, and stands above. Look whether it concerns the owner. Answer "
    "what the owner should hear now, or NO_REPLY.]"
)

logger = logging.getLogger("clawd.gateway")


class Waking:
    """The text is content from outside, framed by whoever calls: in the turn that it comes into, commands and
    messages elsewhere need the owner's word. An answer goes to where the owner spoke last."""

    def __init__(
        self,
        *,
        agent: Callable[[], str],
        turns: HeardTurns,
        lanes: Lanes,
        postman: Postman,
        writer: Writer,
        where: Callable[[SessionKey], Address | None],
        new_id: Callable[[], str],
        clock: Clock,
    ) -> None:
        self._agent = agent
        self._turns = turns
        self._lanes = lanes
        self._postman = postman
        self._writer = writer
        self._where = where
        self._new_id = new_id
        self._clock = clock

    @property
    def _key(self) -> SessionKey:
        return SessionKey(agent=self._agent(), kind="main")

    async def wake(self, framed: str, now: bool) -> None:  # noqa: FBT001 (the border of the HTTP surface)
        """Now: a turn in the main session begins, and nobody waits for it. Else the next one is told."""
        if now:
            key = self._key
            self._lanes.submit(key, partial(self._look, key, framed))
        else:
            self._turns.tell_next(self._key, framed)

    async def _look(self, key: SessionKey, framed: str) -> None:
        run = f"wake-{self._new_id()}"
        asked = Asked(
            key=key,
            parts=(Text(text=WOKEN),),
            sender="webhook",
            context=framed,
            outside=("webhook",),
            ids=(run,),
            by_person=False,
        )
        try:
            reply = await self._turns.answer(asked, _nobody)
        except Refused as refused:
            logger.warning("a webhook woke the main session, and the turn failed: %s", refused)
            return
        text, address = audible(reply.reply), self._where(key)
        channel = self._postman.channel(address) if address else None
        if text is None or address is None or channel is None:
            logger.info(
                "a webhook was looked at; %s", "silently" if text is None else "its answer is in the session"
            )
            return
        parts = self._writer.parts(text, channel.traits)
        await self._postman.post(Delivery(key=run, address=address, at=self._clock(), parts=parts))


def _nobody(_: TurnEvent) -> None:
    """Nobody watches."""
