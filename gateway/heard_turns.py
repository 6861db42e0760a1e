"""Turns of channels, as those hear of them who watch the gateway live."""

from collections.abc import Sequence
from dataclasses import replace

from agents.turn import OnEvent, TurnEvent
from gateway.http.hub import Hub
from gateway.turns import Asked, OnTold, Turns
from gateway.views import ChatReply, Refused
from sessions.key import SessionKey
from sessions.messages import User, text_of


class HeardTurns:
    """The turns themselves; whoever listens to the hub hears their events too."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._hub: Hub | None = None

    def listen(self, hub: Hub) -> None:
        """From now on that hub is told."""
        self._hub = hub

    def user(self, asked: Asked) -> User:
        """As Turns.user."""
        return self._turns.user(asked)

    async def tell_next(self, key: SessionKey, framed: str, told: OnTold) -> None:
        """As Turns.tell_next."""
        await self._turns.tell_next(key, framed, told)

    def is_new(self, key: SessionKey) -> bool:
        """As Turns.is_new."""
        return self._turns.is_new(key)

    async def answer(self, asked: Asked, on_event: OnEvent) -> ChatReply:
        """As Turns.answer. Raises Refused."""
        hub = self._hub
        if hub is None:
            return await self._turns.answer(asked, on_event)
        key, run = asked.key, asked.ids[0]
        hub.begun(key, run, text_of(asked.parts))

        async def steering() -> Sequence[User]:
            joined = await asked.steering()
            for message in joined:
                hub.joined(key, run, text_of(message.parts))
            return joined

        def both(event: TurnEvent) -> None:
            hub.event(key, run, event)
            on_event(event)

        try:
            reply = await self._turns.answer(replace(asked, steering=steering), both)
        except Refused as refused:
            hub.failed(key, run, refused)
            raise
        finally:
            hub.over(run)
        hub.done(reply, run)
        return reply
