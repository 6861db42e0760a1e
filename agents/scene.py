"""A turn with everything around it: the open conversation, the model that answers, and how to ask it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from agents.conversation import Conversation
from agents.frame import asked_entry, asked_instead
from agents.model.failover import Link, link_of
from agents.model.provider import ModelProvider, ModelRequest
from agents.model.spelling import Spelling
from agents.turn import Turn
from sessions.entries import Custom
from sessions.key import SessionKey
from sessions.messages import Assistant, Message

OnAnswer: TypeAlias = Callable[[Assistant, str, SessionKey, str], None]
"""Hears of each recorded answer: the answer, its origin (turn, flush, compaction, note, maintenance …), the
session's key and id. Never waits and never fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """The model that answers this turn. `window` is what it can read and `max_output` the most that it can
    say in one answer, in tokens; `spelling` how its requests become bytes, None when they go over no wire.
    `links`: it is the first of these, and the others answer while it cannot; `instead_of` names a model that
    should have come first and cannot be used."""

    provider: ModelProvider
    provider_name: str
    model: str
    max_output: int | None
    max_retries: int
    window: int = 200_000
    spelling: Spelling | None = None
    links: tuple[Link, ...] = ()
    instead_of: str = ""

    @property
    def thinks(self) -> bool:
        """Whether there is a model at all, which can summarise and save."""
        return self.provider_name != "offline"

    @property
    def name(self) -> str:
        return f"{self.provider_name}/{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """`blank` is the turn's frozen frame: a request without messages, which `request` fills with the
    conversation as it stands. `overhead` is what the frame takes, in tokens of our estimate."""

    conversation: Conversation
    turn: Turn
    chosen: ChosenModel
    blank: ModelRequest
    overhead: int
    on_answer: OnAnswer

    def request(self) -> ModelRequest:
        """The next request."""
        return replace(self.blank, messages=self.conversation.messages)

    def recorder(self, origin: str) -> Callable[[Message], Awaitable[None]]:
        """Records messages, and tells of the answers among them what they were for."""

        async def record(message: Message) -> None:
            if isinstance(message, Assistant) and (asked := self._asked_another(message)):
                await self.conversation.append(asked, message.at)
            await self.conversation.record(message)
            if isinstance(message, Assistant):
                self.on_answer(message, origin, self.turn.key, self.turn.session_id)

        return record

    def _asked_another(self, answer: Assistant) -> Custom | None:
        """That an answer came from another model of the chain than the transcript says: the frame stays that
        of the first, whose cached prompt is good for the next turn."""
        entries, link = self.conversation.entries, link_of(self.chosen.links, answer)
        if link is None or len(self.chosen.links) == 1 or answer.stop in ("error", "aborted"):
            return None
        frame = self.conversation.frame
        asked = asked_instead(entries, frame) if frame else None
        if asked is None or (asked.provider, asked.request.model) == (link.provider, link.model):
            return None
        limit = min(self.blank.max_tokens, link.max_output or self.blank.max_tokens)
        return asked_entry(link.provider, link.model, link.spelling, max_tokens=limit)
