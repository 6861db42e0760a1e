"""The path of one message: checked, routed, queued in its lane, answered, and told."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeAlias

from agents.archive import Archive, ArchiveRefused
from agents.clock import Clock
from agents.conversation import BrokenTranscript, in_thread
from agents.loop import TurnLimit
from agents.model.catalog import ModelStatus
from agents.model.provider import ModelError
from agents.recall import Recall
from agents.runtime import AgentRuntime, Outcome
from agents.turn import OnEvent, Turn
from agents.workspace import WorkspaceError
from gateway.envelope import envelope
from gateway.lanes import Lanes
from gateway.refusals import refusal
from gateway.routing import api_session
from gateway.views import CallReport, ChatReply, Refused, SaidHit, SaidResult
from memory.embed.embedder import MemoryUnavailable
from memory.files import MemoryRefused
from memory.hybrid import SearchResult
from memory.index import IndexStatus
from memory.orders import SyncProgress, SyncReport
from memory.reading import NoteText
from sessions.key import BadSessionKey, SessionKey
from sessions.messages import Message
from sessions.registry import Registry, SessionRecord

OnProgress: TypeAlias = Callable[[SyncProgress], None]

logger = logging.getLogger("clawd.gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent's parts; nothing of them is shared with another agent. Without memory, `recall` is None;
    `remembers_talk`: its conversations are a source of it."""

    runtime: AgentRuntime
    recall: Recall | None
    archive: Archive
    remembers_talk: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    record: SessionRecord
    messages: tuple[Message, ...]


class Gateway:
    """What the HTTP surface, the terminal and (later) every channel talk to.

    `ready` and `draining` are set by whoever runs it; a draining gateway takes no new messages.
    """

    def __init__(
        self,
        *,
        agents: Mapping[str, Agent],
        default_agent: str,
        registry: Registry,
        models: Callable[[], list[ModelStatus]],
        clock: Clock,
        new_id: Callable[[], str],
        executor: Executor,
        max_text_chars: int,
        max_concurrent_turns: int,
    ) -> None:
        self.default_agent = default_agent
        self.models = models
        self.ready = False
        self.draining = False
        self.lanes: Lanes[ChatReply] = Lanes(max_concurrent_turns)
        self._agents = agents
        self._registry = registry
        self._clock = clock
        self._new_id = new_id
        self._executor = executor
        self._max_text_chars = max_text_chars

    def agents(self) -> list[str]:
        return list(self._agents)

    async def chat(
        self, *, agent: str | None, session: str | None, text: str, on_event: OnEvent | None = None
    ) -> ChatReply:
        """Answer one message of the owner.

        `session` None is the agent's main session; a name is `agent:<id>:api:<name>`. A caller that is
        cancelled does not cancel the turn. Raises Refused.
        """
        chosen = self._agent(agent)
        self._check(text)
        try:
            key = api_session(agent or self.default_agent, session)
        except BadSessionKey as error:
            raise Refused(f"{error}.", code="bad_session", status=400) from error
        task = self.lanes.submit(key, lambda: self._turn(chosen, key, text, on_event or _nobody))
        return await asyncio.shield(task)

    def stop(self, key: SessionKey) -> bool:
        """End the session's running turn; its caller hears that it was stopped."""
        return self.lanes.stop(key)

    def sessions(self) -> list[SessionRecord]:
        return self._registry.records()

    async def session(self, key: SessionKey) -> Conversation:
        """What was said in a session. Raises Refused when there is none of that key."""
        record = self._registry.get(key)
        if record is None:
            raise Refused(
                f"There is no session {key}. `clawd sessions list` shows those that exist.",
                code="unknown_session",
                status=404,
            )
        conversations = self._agent(key.agent).runtime.conversations
        try:
            return Conversation(record=record, messages=tuple(await conversations.peek(record.session_id)))
        except (BrokenTranscript, OSError) as error:
            raise Refused(f"The session cannot be read: {error}", code="storage", status=500) from error

    async def memory_search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult:
        """Search an agent's memory. Raises Refused."""
        try:
            return await self._recall(agent).search(query, max_results=max_results, min_score=min_score)
        except MemoryUnavailable as error:
            raise Refused(str(error), code="memory_unavailable", status=503) from error

    async def memory_read(
        self, path: str, *, agent: str | None, from_line: int, lines: int | None
    ) -> NoteText:
        """Lines of a memory file. Raises Refused when the path is not in memory."""
        try:
            return await self._recall(agent).read(path, from_line=from_line, lines=lines)
        except MemoryRefused as error:
            raise Refused(str(error), code="bad_path", status=400) from error
        except MemoryUnavailable as error:
            raise Refused(str(error), code="memory_unavailable", status=503) from error

    async def memory_sync(
        self,
        *,
        agent: str | None,
        force: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncReport:
        """Bring an agent's index up to date. Raises Refused."""
        try:
            return await self._recall(agent).own.sync(force=force, progress=progress)
        except MemoryUnavailable as error:
            raise Refused(str(error), code="memory_unavailable", status=503) from error

    async def memory_status(self, *, agent: str | None) -> IndexStatus:
        """Raises Refused when memory is off."""
        return await self._recall(agent).own.status()

    async def sessions_search(self, query: str, *, agent: str | None, limit: int) -> SaidResult:
        """The owner's search through all that was said with an agent. Raises Refused."""
        archive = self._agent(agent).archive
        try:
            result = await archive.search(query, caller=None, limit=limit)
        except (ArchiveRefused, MemoryUnavailable) as error:
            raise Refused(str(error), code="sessions_unavailable", status=503) from error
        hits = tuple(SaidHit.of(found, archive.key_of(found.session)) for found in result.found)
        return SaidResult(hits=hits, partial=result.partial, warning=result.warning)

    async def catch_up(self) -> None:
        """Index what changed on disk while nothing ran; a failure is told in the log and nothing else."""
        for name, agent in self._agents.items():
            try:
                await agent.archive.bring_up()
            except MemoryUnavailable as error:
                logger.warning("conversations of %s cannot be searched: %s", name, error)
            if agent.recall is None:
                continue
            try:
                report = await agent.recall.own.sync()
            except MemoryUnavailable as error:
                logger.warning("memory of %s is not up to date: %s", name, error)
            else:
                logger.info(
                    "memory of %s is up to date (files: %d, passages: %d)", name, report.files, report.chunks
                )

    def _agent(self, name: str | None) -> Agent:
        agent = self._agents.get(name or self.default_agent)
        if agent is None:
            known = ", ".join(self._agents)
            raise Refused(
                f"There is no agent {name!r}. The agents are: {known}.", code="unknown_agent", status=404
            )
        return agent

    def _recall(self, name: str | None) -> Recall:
        agent = self._agent(name)
        if agent.recall is None:
            raise Refused(
                f"Agent {name or self.default_agent} has no memory engine (memory.backend: none). "
                "Its notes are files in its workspace.",
                code="no_memory",
                status=409,
            )
        return agent.recall

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
            record = self._registry.get(key) or await self._start(key)
            try:
                outcome = await self._respond(agent, record, text, on_event)
            finally:
                await self._touch(agent, record)
        except asyncio.CancelledError as error:
            logger.info("turn of %s: stopped", key)
            raise Refused("Stopped.", code="stopped", status=409) from error
        except BrokenTranscript as error:
            logger.error("turn of %s: %s", key, error)  # noqa: TRY400 (the text says it all)
            await self._start(key)
            raise Refused(
                f"{error} A new conversation begins with your next message.", code="storage", status=500
            ) from error
        except (ModelError, TurnLimit, WorkspaceError, OSError) as error:
            logger.warning("turn of %s failed: %s: %s", key, type(error).__name__, error)
            raise refusal(error) from error
        logger.info("turn of %s: %s, %.1f s", key, outcome.model, (self._clock() - now).total_seconds())
        return _reply(record, outcome)

    async def _respond(self, agent: Agent, record: SessionRecord, text: str, on_event: OnEvent) -> Outcome:
        runtime, now = agent.runtime, self._clock()
        turn = Turn(
            key=record.key,
            session_id=record.session_id,
            sender="owner",
            trust="owner",
            at=now,
            time_zone=runtime.time_zone,
        )
        stamp = envelope(now, time_zone=runtime.time_zone)
        return await runtime.respond(turn, text, envelope=stamp, on_event=on_event)

    async def _start(self, key: SessionKey) -> SessionRecord:
        session_id, now = self._new_id(), self._clock()
        return await in_thread(self._executor, lambda: self._registry.start(key, session_id, now))

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


def _nobody(_: object) -> None:
    """Listen to nothing."""
