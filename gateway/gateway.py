"""The path of one message: checked, routed, queued in its lane, answered, and told."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import TypeAlias
from zoneinfo import ZoneInfo

from agents.clock import Clock
from agents.conversation import BrokenTranscript, in_thread, visible
from agents.loop import TurnLimit
from agents.model.catalog import ModelStatus
from agents.model.provider import ModelError, TextDelta
from agents.outcome import Outcome
from agents.turn import OnEvent, Turn
from agents.workspace import WorkspaceError
from gateway.commands.obey import Commands, Hooks
from gateway.commands.table import Typed
from gateway.endings import Endings
from gateway.envelope import envelope
from gateway.insight import Insight, Window
from gateway.lanes import Lanes
from gateway.lifecycle import Lifecycle
from gateway.memories import Memories
from gateway.refusals import refusal
from gateway.roster import Agent, Roster
from gateway.routing import api_session
from gateway.session_commands import SessionCommands, owners_turn
from gateway.usage import Ledger
from gateway.views import CallReport, ChatReply, Conversation, Refused
from memory.orders import SyncProgress
from sessions.entries import Entry
from sessions.key import BadSessionKey, SessionKey
from sessions.messages import Text, Usage, User
from sessions.registry import Registry, SessionRecord
from sessions.settings import SessionsSettings

OnProgress: TypeAlias = Callable[[SyncProgress], None]

logger = logging.getLogger("clawd.gateway")


class Gateway:
    """What the HTTP surface, the terminal and (later) every channel talk to.

    `ready` and `draining` are set by whoever runs it; a draining gateway takes no new messages.
    """

    def __init__(
        self,
        *,
        roster: Roster,
        registry: Registry,
        endings: Endings,
        sessions: SessionsSettings,
        models: Callable[[], list[ModelStatus]],
        window: Window,
        ledger: Ledger,
        clock: Clock,
        new_id: Callable[[], str],
        executor: Executor,
        max_text_chars: int,
        max_concurrent_turns: int,
        version: str,
    ) -> None:
        self.default_agent = roster.default
        self.models = models
        self.ready, self.draining = False, False
        self.lanes = Lanes(max_concurrent_turns)
        self._agent = roster.of
        self._roster = roster
        self._registry = registry
        self._ledger = ledger
        self._clock = clock
        self._executor = executor
        self._max_text_chars = max_text_chars
        self.insight = Insight(read=self.entries, ledger=ledger, window=window, zone=self._zone)
        self.usage, self.context = self.insight.usage, self.insight.context
        self.lifecycle = self._life(endings, sessions, new_id)
        self._commands = Commands(self, hooks=self._hooks(), clock=clock, version=version)
        memories = Memories(roster=roster)
        self.memory_search, self.memory_read = memories.search, memories.read
        self.memory_sync, self.memory_status = memories.sync, memories.status
        self.memory_watch = memories.watch
        self.sessions_search, self.catch_up = memories.sessions_search, memories.catch_up

    def _life(self, endings: Endings, settings: SessionsSettings, new_id: Callable[[], str]) -> Lifecycle:
        return Lifecycle(
            roster=self._roster,
            registry=self._registry,
            endings=endings,
            settings=settings,
            clock=self._clock,
            new_id=new_id,
            executor=self._executor,
            background=lambda lane, work: _forget(self.lanes.submit(lane, work)),
        )

    def _hooks(self) -> Hooks:
        return SessionCommands(
            roster=self._roster,
            registry=self._registry,
            lifecycle=self.lifecycle,
            models=self.models,
            clock=self._clock,
            begin=self._begin,
        ).hooks()

    def agents(self) -> list[str]:
        return list(self._roster.agents)

    async def chat(
        self, *, agent: str | None, session: str | None, text: str, on_event: OnEvent | None = None
    ) -> ChatReply:
        """Answer one message of the owner, or obey it when it is a slash command.

        `session` None is the agent's main session; a name is `agent:<id>:api:<name>`. A caller that is
        cancelled does not cancel the turn. Raises Refused.
        """
        chosen = self._agent(agent)
        self._check(text)
        try:
            key = api_session(agent or self.default_agent, session)
        except BadSessionKey as error:
            raise Refused(f"{error}.", code="bad_session", status=400) from error
        listener = on_event or _nobody
        typed = self._commands.typed(text, who="owner")
        if typed is None:
            work = partial(self._turn, chosen, key, text, listener)
        elif typed.command.control:
            return await self._obey(typed, key, listener)
        else:
            work = partial(self._obey, typed, key, listener)
        return await asyncio.shield(self.lanes.submit(key, work))

    def stop(self, key: SessionKey) -> bool:
        """End the session's running turn; its caller hears that it was stopped."""
        return self.lanes.stop(key)

    def busy(self, key: SessionKey) -> bool:
        """Whether a turn of the session runs or waits."""
        return self.lanes.busy(key)

    def sessions(self) -> list[SessionRecord]:
        return self._registry.records()

    def record(self, key: SessionKey) -> SessionRecord | None:
        return self._registry.get(key)

    async def session(self, key: SessionKey) -> Conversation:
        """What was said in a session. Raises Refused when there is none of that key."""
        record, entries = await self._read(key)
        return Conversation(record=record, messages=tuple(visible(entries)))

    async def entries(self, key: SessionKey) -> Sequence[Entry]:
        """The session's transcript. Raises Refused when there is none of that key."""
        return (await self._read(key))[1]

    async def _read(self, key: SessionKey) -> tuple[SessionRecord, Sequence[Entry]]:
        record = self._registry.get(key)
        if record is None:
            raise Refused(
                f"There is no session {key}. `clawd sessions list` shows those that exist.",
                code="unknown_session",
                status=404,
            )
        conversations = self._agent(key.agent).runtime.conversations
        try:
            return record, await conversations.entries(record.session_id)
        except (BrokenTranscript, OSError) as error:
            raise Refused(f"The session cannot be read: {error}", code="storage", status=500) from error

    def _zone(self) -> ZoneInfo:
        """The owner's."""
        return ZoneInfo(self._agent(None).runtime.time_zone)

    def _check(self, text: str) -> None:
        if self.draining:
            raise Refused(
                "clawd is shutting down; send this again in a moment.", code="shutting_down", status=503
            )
        if not text.strip():
            raise Refused("The message is empty. Write something.", code="empty_text", status=400)
        if len(text) > self._max_text_chars:
            raise Refused(
                f"The message has {len(text):,} characters; at most {self._max_text_chars:,} are taken "
                "(gateway.max_text_chars). Put the text into a file of the workspace and ask about that.",
                code="text_too_long",
                status=413,
            )

    async def _turn(self, agent: Agent, key: SessionKey, text: str, on_event: OnEvent) -> ChatReply:
        now = self._clock()
        try:
            self._ledger.check()
            current = await self.lifecycle.current(key, now)
            turn = owners_turn(current.record, at=self._clock(), time_zone=agent.runtime.time_zone)
            if current.notice:
                on_event(TextDelta(text=f"*{current.notice}*\n\n"))
            try:
                stamp = envelope(turn.at, time_zone=turn.time_zone)
                said = User(at=turn.at, parts=(Text(text=text),), envelope=stamp)
                outcome = await agent.runtime.respond(turn, said, on_event=on_event)
            finally:
                await self._touch(agent, current.record)
        except asyncio.CancelledError as error:
            logger.info("turn of %s: stopped", key)
            raise Refused("Stopped.", code="stopped", status=409) from error
        except BrokenTranscript as error:
            logger.error("turn of %s: %s", key, error)  # noqa: TRY400 (the text says it all)
            await self.lifecycle.start(key)
            raise Refused(
                f"{error} A new conversation begins with your next message.", code="storage", status=500
            ) from error
        except (ModelError, TurnLimit, WorkspaceError, OSError) as error:
            logger.warning("turn of %s failed: %s: %s", key, type(error).__name__, error)
            raise refusal(error) from error
        logger.info("turn of %s: %s, %.1f s", key, outcome.model, (self._clock() - now).total_seconds())
        if outcome.due:
            work = partial(self._maintain, agent, turn)
            self.lanes.submit(key, work, yields=outcome.due.yields)
        return self._told(_reply(current.record, outcome), current.notice, outcome.notice, on_event)

    def _told(self, reply: ChatReply, before: str, after: str, on_event: OnEvent) -> ChatReply:
        """The reply with what the person is to know beside it."""
        text = f"*{before}*\n\n{reply.reply}" if before else reply.reply
        for notice in (after and f"*{after}*", self._ledger.warning()):
            if notice:
                on_event(TextDelta(text=f"\n\n{notice}"))
                text = f"{text}\n\n{notice}"
        return replace(reply, reply=text)

    async def _maintain(self, agent: Agent, turn: Turn) -> None:
        """Save and shorten after a turn; nobody waits, so a failure is told in the log."""
        try:
            await agent.runtime.maintain(turn)
        except (ModelError, TurnLimit, WorkspaceError, OSError) as error:
            logger.warning("upkeep of %s failed: %s", turn.key, error)

    async def _obey(self, typed: Typed, key: SessionKey, on_event: OnEvent) -> ChatReply:
        """A command's answer is the visible end of its message; it is not recorded."""
        said = await self._commands.obey(typed, key, who="owner", on_event=on_event)
        if isinstance(said, ChatReply):
            return said
        record = self._registry.get(key)
        session_id = record.session_id if record else ""
        return ChatReply(reply=said, key=key, session_id=session_id, usage=Usage(), calls=(), model="")

    async def _begin(self, key: SessionKey, text: str, on_event: OnEvent) -> ChatReply:
        """A turn from within a command, whose lane this is."""
        return await self._turn(self._agent(key.agent), key, text, on_event)

    async def _touch(self, agent: Agent, record: SessionRecord) -> None:
        messages = agent.runtime.conversations.count(record.session_id) or record.messages
        now = self._clock()
        await in_thread(self._executor, lambda: self._registry.touch(record.key, now, messages))
        if agent.recall is not None and agent.remembers_talk:
            agent.recall.own.stale()


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


def _forget(_: object) -> None:
    """Let work go on that nobody waits for."""


def _nobody(_: object) -> None:
    """Listen to nothing."""
