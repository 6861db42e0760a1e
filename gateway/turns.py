"""One turn of one session: its session found, its model asked, what people are told beside the answer."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from agents.clock import Clock
from agents.conversation import BrokenTranscript, in_thread
from agents.loop import TurnLimit
from agents.model.provider import ModelError
from agents.outcome import Outcome
from agents.silent import audible
from agents.tools.approval import Approve, nobody_to_ask
from agents.turn import Notice, OnEvent, Taint, Trust, Turn, nothing_more
from agents.workspace import WorkspaceError
from gateway.envelope import envelope, unlabelled
from gateway.lanes import Lanes
from gateway.lifecycle import Current, Lifecycle
from gateway.refusals import refusal
from gateway.roster import Agent, Roster
from gateway.usage import Ledger
from gateway.views import CallReport, ChatReply, Refused
from gateway.warmer import Warmer
from sessions.key import SessionKey
from sessions.messages import Image, Text, User
from sessions.registry import Registry, SessionRecord

NEWS_KEPT = 20

logger = logging.getLogger("clawd.gateway")

OnBegin = Callable[[str], Awaitable[None]]
OnTold = Callable[[], Awaitable[None]]


async def _unheard(_: str) -> None:
    """Nobody needs to know which session it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What a session's next turn is told."""

    framed: str
    told: OnTold


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a turn answers. `label` is the sender's name outside private sessions, `context` what stands
    before the text and is no instruction; `ids` are the accepted messages that it is made of.

    `approve` asks the owner; `outside` names content from outside that is in it already, and `taint` grows
    while it runs.

    `on_begin` is told the session's id before anything is written to its transcript. With `again`, the
    message stands there already: the turn had been cut off. `by_person`: somebody has spoken, which ends a
    silence.
    """

    key: SessionKey
    parts: tuple[Text | Image, ...]
    sender: str = "owner"
    trust: Trust = "owner"
    label: str = ""
    context: str = ""
    ids: tuple[str, ...] = ()
    steering: Callable[[], Awaitable[Sequence[User]]] = nothing_more
    approve: Approve = nobody_to_ask
    outside: tuple[str, ...] = ()
    taint: Taint = field(default_factory=Taint)
    on_begin: OnBegin = _unheard
    again: bool = False
    by_person: bool = True


class Turns:
    """Everything here runs in the session's lane. `lanes` takes what is done after the answer; behind it all
    `warmer` may keep the provider's cache."""

    def __init__(
        self,
        *,
        roster: Roster,
        registry: Registry,
        lifecycle: Lifecycle,
        ledger: Ledger,
        lanes: Lanes,
        warmer: Warmer,
        clock: Clock,
        executor: Executor,
    ) -> None:
        self._roster = roster
        self._registry = registry
        self._lifecycle = lifecycle
        self._ledger = ledger
        self._lanes = lanes
        self._warmer = warmer
        self._clock = clock
        self._executor = executor
        self._news: dict[SessionKey, list[News]] = {}

    async def answer(self, asked: Asked, on_event: OnEvent) -> ChatReply:
        """Raises Refused, also when the turn was stopped (`stopped`)."""
        key, now = asked.key, self._clock()
        agent = self._roster.of(key.agent)
        self._warmer.forget(key)
        asked, news = self._with_news(asked)
        try:
            self._ledger.check()
            current = await self._session(asked)
            await asked.on_begin(current.record.session_id)
            turn = self._turn(agent, current.record, asked)
            if current.notice:
                on_event(Notice(text=f"*{current.notice}*\n\n"))
            try:
                said = None if asked.again else self.user(asked)
                outcome = await agent.runtime.respond(turn, said, on_event=on_event)
            finally:
                if news:
                    await self._told_of(agent, current.record, news)
                await self._touch(agent, current.record, turn.at if asked.by_person else None)
        except asyncio.CancelledError as error:
            logger.info("turn of %s: stopped", key)
            raise Refused("Stopped.", code="stopped", status=409) from error
        except BrokenTranscript as error:
            logger.error("turn of %s: %s", key, error)  # noqa: TRY400 (the text says it all)
            await self._lifecycle.start(key)
            raise Refused(
                f"{error} A new conversation begins with your next message.", code="storage", status=500
            ) from error
        except (ModelError, TurnLimit, WorkspaceError, OSError) as error:
            logger.warning("turn of %s failed: %s: %s", key, type(error).__name__, error)
            raise refusal(error) from error
        logger.info("turn of %s: %s, %.1f s", key, outcome.model, (self._clock() - now).total_seconds())
        if outcome.due:
            self._lanes.submit(key, partial(self._maintain, agent, turn), yields=outcome.due.yields)
        else:
            self._warmer.answered(turn)
        return self._told(_reply(current.record, outcome), current.notice, outcome.notice, on_event)

    async def tell_next(self, key: SessionKey, framed: str, told: OnTold) -> None:
        """Content from outside for the session's next turn, before its message; the latest 20 are kept.
        `told` is called when it stands in the transcript, or is not told any more."""
        news = [*self._news.get(key, ()), News(framed=framed, told=told)]
        self._news[key] = news[-NEWS_KEPT:]
        for old in news[:-NEWS_KEPT]:
            await old.told()

    def _with_news(self, asked: Asked) -> tuple[Asked, Sequence[News]]:
        news = () if asked.again else tuple(self._news.get(asked.key, ()))
        if not news:
            return asked, ()
        context = "\n".join((*(one.framed for one in news), asked.context)).rstrip()
        return replace(asked, context=context, outside=(*asked.outside, "webhook")), news

    async def _told_of(self, agent: Agent, record: SessionRecord, news: Sequence[News]) -> None:
        """What stands in the transcript now. When the message could not be written, the next turn is told."""
        recorded = reversed(agent.runtime.conversations.said(record.session_id))
        users = (message for message in recorded if isinstance(message, User))
        if not any(news[0].framed in user.envelope for user in users):
            return
        left = [one for one in self._news.pop(record.key, ()) if one not in news]
        if left:
            self._news[record.key] = left
        for one in news:
            await one.told()

    def user(self, asked: Asked) -> User:
        """The message as the transcript holds it."""
        zone = self._roster.time_zone(asked.key.agent)
        stamp = envelope(self._clock(), time_zone=zone, sender=asked.label)
        head = f"{asked.context}\n{stamp}" if asked.context else stamp
        parts = tuple(_unlabelled(part) for part in asked.parts) if asked.label else asked.parts
        return User(at=self._clock(), parts=parts, envelope=head, ids=asked.ids)

    def is_new(self, key: SessionKey) -> bool:
        """Whether nothing was said in the key's session yet."""
        record = self._registry.get(key)
        return record is None or not record.messages

    async def _session(self, asked: Asked) -> Current:
        """A turn that was cut off goes on in its own session, whatever the time is."""
        record = self._registry.get(asked.key) if asked.again else None
        return Current(record=record) if record else await self._lifecycle.current(asked.key, self._clock())

    def _turn(self, agent: Agent, record: SessionRecord, asked: Asked) -> Turn:
        for source in asked.outside:
            asked.taint.note(source)
        return Turn(
            key=record.key,
            session_id=record.session_id,
            sender=asked.sender,
            trust=asked.trust,
            at=self._clock(),
            time_zone=agent.runtime.time_zone,
            steering=asked.steering,
            approve=asked.approve,
            taint=asked.taint,
        )

    def _told(self, reply: ChatReply, before: str, after: str, on_event: OnEvent) -> ChatReply:
        """The reply with what the person is to know beside it."""
        if audible(reply.reply) is None:
            return reply
        text = f"*{before}*\n\n{reply.reply}" if before else reply.reply
        for notice in (after and f"*{after}*", self._ledger.warning()):
            if notice:
                on_event(Notice(text=f"\n\n{notice}"))
                text = f"{text}\n\n{notice}"
        return replace(reply, reply=text)

    async def _maintain(self, agent: Agent, turn: Turn) -> None:
        """Save and shorten after a turn; nobody waits, so a failure is told in the log."""
        try:
            await agent.runtime.maintain(turn)
        except (ModelError, TurnLimit, WorkspaceError, OSError) as error:
            logger.warning("upkeep of %s failed: %s", turn.key, error)
        self._warmer.answered(turn)

    async def _touch(self, agent: Agent, record: SessionRecord, person_at: datetime | None) -> None:
        messages = agent.runtime.conversations.count(record.session_id) or record.messages
        now = self._clock()
        touch = partial(self._registry.touch, record.key, now, messages, person_at=person_at)
        await in_thread(self._executor, touch)
        if agent.recall is not None and agent.remembers_talk:
            agent.recall.own.stale()


def _unlabelled(part: Text | Image) -> Text | Image:
    """Nobody in a group writes a line that passes for one of ours."""
    return replace(part, text=unlabelled(part.text)) if isinstance(part, Text) else part


def _reply(record: SessionRecord, outcome: Outcome) -> ChatReply:
    calls = tuple(
        CallReport(name=call.name, arguments=call.arguments, is_error=failed)
        for call, failed in outcome.calls
    )
    return ChatReply(
        reply=outcome.reply,
        key=record.key,
        session_id=record.session_id,
        usage=outcome.usage,
        calls=calls,
        model=outcome.model,
    )
