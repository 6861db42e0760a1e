"""A turn with everything around it: the open conversation, the model that answers, and how to ask it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from agents.aside import Aside, unthought
from agents.asking import Asker, Heard
from agents.conversation import Conversation
from agents.frame import asked_entry, asked_instead
from agents.model.failover import Link, link_of
from agents.model.growing import begins_with
from agents.model.provider import ModelProvider, ModelRequest, ThinkingDropped
from agents.model.spelling import Spelling
from agents.turn import OnEvent, Turn, TurnEvent
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
    dropped: list[ThinkingDropped] = field(default_factory=list)

    def request(self) -> ModelRequest:
        """The next request."""
        return replace(self.blank, messages=self.conversation.messages)

    def recorder(self, origin: str) -> Callable[[Message], Awaitable[None]]:
        """Records messages, and tells of the answers among them what they were for."""

        async def record(message: Message) -> None:
            if isinstance(message, Assistant):
                await self.conversation.append_all(self._beside(message), message.at)
            await self.conversation.record(message)
            if isinstance(message, Assistant):
                self.on_answer(message, origin, self.turn.key, self.turn.session_id)

        return record

    def hearing(self, on_event: OnEvent = lambda _: None) -> Heard:
        """Listens for a listener, and remembers what the transcript must say beside the answer."""

        def heard(event: TurnEvent | ThinkingDropped) -> None:
            if isinstance(event, ThinkingDropped):
                self.dropped.append(event)
            else:
                on_event(event)

        return heard

    async def ask(self, origin: str, request: ModelRequest, *, of: ChosenModel, at: datetime) -> Assistant:
        """A question beside the conversation, recorded for those who want to see it again. Raises ModelError
        and OSError."""
        answer: Assistant | None = None
        asker = Asker(provider=of.provider, max_retries=of.max_retries, on_event=self.hearing())
        try:
            answer = await asker.ask(request)
        finally:
            await self.conversation.append_all(self._aside(origin, request, of, answer), at)
        self.on_answer(answer, origin, self.turn.key, self.turn.session_id)
        return answer

    def _aside(
        self, origin: str, request: ModelRequest, of: ChosenModel, answer: Assistant | None
    ) -> list[Custom]:
        seen = self.conversation.messages
        framed = request.system == self.blank.system
        behind = framed and begins_with(request.messages, seen)
        again = framed and begins_with(seen, request.messages)
        link = link_of(of.links, answer) if answer else None
        limit = (link.max_output if link else of.max_output) or request.max_tokens
        aside = Aside(
            origin=origin,
            provider=link.provider if link else of.provider_name,
            model=link.model if link else of.model,
            spelling=link.spelling if link else of.spelling,
            max_tokens=min(request.max_tokens, limit),
            behind=behind or again,
            asked=request.messages[len(seen) :] if behind or again else request.messages,
            short=max(0, len(seen) - len(request.messages)) if again else 0,
        )
        return [*self._unthought(), aside.entry()]

    def _beside(self, answer: Assistant) -> list[Custom]:
        asked = self._asked_another(answer)
        return [*([asked] if asked else []), *self._unthought()]

    def _unthought(self) -> list[Custom]:
        """That the vendor took the thinking of earlier answers no more, if it did not."""
        told = [unthought()] if self.dropped else []
        self.dropped.clear()
        return told

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
