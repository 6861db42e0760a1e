"""Obeying a slash command: no model is asked, and nothing of it enters the conversation."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias
from zoneinfo import ZoneInfo

from agents.clock import Clock
from agents.context_report import ContextReport, report_json
from agents.frame import recorded
from agents.model.catalog import ModelStatus
from agents.own_model import own_model
from gateway.commands import showing
from gateway.commands.table import Command, Typed, Who, commands, may, parse
from gateway.insight import Insight
from gateway.usage_report import UsageRow
from gateway.views import Refused
from memory.hybrid import SearchResult
from memory.status import IndexStatus
from sessions.entries import Entry, Said
from sessions.flush import flush_state
from sessions.key import SessionKey
from sessions.messages import Assistant, Usage
from sessions.registry import SessionRecord
from sessions.warmth import warmings

MONTH = timedelta(days=29)
_HOOKED = ("new", "reset", "resume", "compact", "approve", "deny", "queue", "think", "verbose", "restart")


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstText:
    """A command has begun a session, and this is to be answered in it as if it had been sent alone."""

    text: str


Hook: TypeAlias = Callable[[SessionKey, str], Awaitable[str | FirstText]]
"""Does what a command asks (its key, all after its name), in the session's lane. A text is shown as it is.
Raises Refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """What stands behind the commands that change a session; one that is None is not in the table. `model`
    is asked when /model is given a name."""

    new: Hook | None = None
    reset: Hook | None = None
    resume: Hook | None = None
    compact: Hook | None = None
    approve: Hook | None = None
    deny: Hook | None = None
    queue: Hook | None = None
    think: Hook | None = None
    verbose: Hook | None = None
    restart: Hook | None = None
    model: Hook | None = None

    def over(self, other: "Hooks") -> "Hooks":
        """These, and the other's where there is none here."""
        return Hooks(
            new=self.new or other.new,
            reset=self.reset or other.reset,
            resume=self.resume or other.resume,
            compact=self.compact or other.compact,
            approve=self.approve or other.approve,
            deny=self.deny or other.deny,
            queue=self.queue or other.queue,
            think=self.think or other.think,
            verbose=self.verbose or other.verbose,
            restart=self.restart or other.restart,
            model=self.model or other.model,
        )

    def of(self, name: str) -> Hook | None:
        hooks = {
            "new": self.new,
            "reset": self.reset,
            "resume": self.resume,
            "compact": self.compact,
            "approve": self.approve,
            "deny": self.deny,
            "queue": self.queue,
            "think": self.think,
            "verbose": self.verbose,
            "restart": self.restart,
        }
        return hooks.get(name)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name in _HOOKED if self.of(name))


class Source(Protocol):
    """What commands ask of the gateway; all of it raises Refused and nothing else."""

    @property
    def insight(self) -> Insight: ...

    @property
    def configured(self) -> Callable[[], str]: ...

    def agents(self) -> list[str]: ...

    def sessions(self) -> list[SessionRecord]: ...

    def models(self) -> Sequence[ModelStatus]: ...

    def record(self, key: SessionKey) -> SessionRecord | None: ...

    def busy(self, key: SessionKey) -> bool: ...

    def stop(self, key: SessionKey) -> bool: ...

    async def memory_search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult: ...

    async def memory_status(self, *, agent: str | None) -> IndexStatus: ...


class Commands:
    """The table of one gateway, and what stands behind it. `version` is clawd's own; it runs since it was
    made."""

    def __init__(self, source: Source, *, hooks: Hooks, clock: Clock, version: str) -> None:
        self.table = commands(hooks=hooks.names)
        self._source = source
        self._hooks = hooks
        self._clock = clock
        self._version = version
        self._since: datetime = clock()

    def typed(self, text: str, *, who: Who) -> Typed | None:
        """The command that the text is; None for a text that is for the model.

        Raises Refused for a command that this person may not use.
        """
        found = self.form(text)
        if found:
            self.check(found, who=who)
        return found

    def form(self, text: str) -> Typed | None:
        """The command that the text is, whoever wrote it."""
        return parse(text, self.table)

    def check(self, typed: Typed, *, who: Who) -> None:
        """Raises Refused for a command that this person may not use."""
        if not may(who, typed.command):
            raise Refused(f"/{typed.command.name} is for the owner.", code="not_allowed", status=403)

    async def obey(self, typed: Typed, key: SessionKey, *, who: Who) -> str | FirstText:
        """Raises Refused."""
        hook = self._hooks.of(typed.command.name)
        if typed.command.name == "model" and typed.rest:
            hook = self._hooks.model
        if hook is not None:
            return await hook(key, typed.rest)
        return await self._answer(typed, key, who)

    async def _answer(self, typed: Typed, key: SessionKey, who: Who) -> str:
        answers: Mapping[str, Callable[[], Awaitable[str]]] = {
            "status": lambda: self._status(key, who),
            "context": lambda: self._context(key, typed.rest),
            "usage": lambda: self._usage(key),
            "memory": lambda: self._memory(key, typed.rest),
            "model": lambda: self._model(key, typed.rest),
        }
        answer = answers.get(typed.command.name)
        return await answer() if answer else self._at_once(typed.command, key, who)

    def _at_once(self, command: Command, key: SessionKey, who: Who) -> str:
        """Of the commands that need not look anything up."""
        answers: Mapping[str, Callable[[], str]] = {
            "help": lambda: showing.help_text([one for one in self.table.values() if may(who, one)]),
            "whoami": lambda: (
                f"You are the owner, in {key}." if who == "owner" else f"You are {who}, in {key}."
            ),
            "stop": lambda: "Stopped." if self._source.stop(key) else "Nothing is running here.",
            "sessions": lambda: showing.sessions_text(self._source.sessions(), self._zone),
            "agents": lambda: "\n".join(f"- {name}" for name in self._source.agents()),
            "models": lambda: showing.models_text(self._source.models(), self._zone),
        }
        return answers[command.name]()

    async def _status(self, key: SessionKey, who: Who) -> str:
        record = self._source.record(key)
        entries = await self._source.insight.read(key) if record else ()
        context = await self._context_of(key) if record else None
        card = showing.Card(
            version=self._version,
            running=self._clock() - self._since,
            key=str(key),
            record=record,
            model=_model_of(entries),
            context=context,
            last=_last_usage(entries),
            budget=self._source.insight.budget,
            memory=await self._source.memory_status(agent=key.agent),
            busy=self._source.busy(key),
            saving=flush_state(entries),
            warm=self._warm(key, entries),
            settings=self._source.configured() if who == "owner" else "",
        )
        return showing.status_text(card, self._zone)

    def _warm(self, key: SessionKey, entries: Sequence[Entry]) -> str:
        today = self._clock().astimezone(self._zone).date()
        kept = [one for one in warmings(entries) if one.at.astimezone(self._zone).date() == today]
        return showing.warm_text(kept, self._source.insight.not_warm(key))

    async def _context_of(self, key: SessionKey) -> ContextReport | None:
        try:
            return await self._source.insight.context(key)
        except Refused:
            return None

    async def _context(self, key: SessionKey, form: str) -> str:
        if form.lower() not in ("", "list", "show", "detail", "deep", "json"):
            raise Refused(
                "/context [list|detail|json]: what fills the model's window.", code="bad_argument", status=400
            )
        report = await self._source.insight.context(key)
        if form.lower() == "json":
            return f"```json\n{json.dumps(report_json(report), indent=2, ensure_ascii=False)}\n```"
        return showing.context_text(report, detail=form.lower() in ("detail", "deep"), zone=self._zone)

    async def _usage(self, key: SessionKey) -> str:
        insight, today = self._source.insight, self._clock().astimezone(self._zone).date()
        month = await insight.usage(by="origin", since=today - MONTH)
        days = await insight.usage(by="day", since=today)
        sessions = await insight.usage(by="session", since=None)
        return showing.usage_card(
            session=_row(sessions.rows, str(key)),
            today=_row(days.rows, today.isoformat()),
            month=month,
            budget=insight.budget,
        )

    async def _memory(self, key: SessionKey, query: str) -> str:
        if not query:
            raise Refused("/memory QUERY: say what to look for.", code="bad_argument", status=400)
        found = await self._source.memory_search(query, agent=key.agent, max_results=None, min_score=None)
        return showing.found_text(found)

    async def _model(self, key: SessionKey, name: str) -> str:
        if name:
            raise Refused(
                "The model of one session cannot be changed here. Set agents.list or models.default.",
                code="unsupported",
                status=400,
            )
        entries = await self._source.insight.read(key) if self._source.record(key) else ()
        default = next((one.name for one in self._source.models() if one.is_default), "none")
        own = own_model(entries) or _model_of(entries) or "none was asked yet"
        return f"- **This session**: {own}\n- **Default**: {default}"

    @property
    def _zone(self) -> ZoneInfo:
        return self._source.insight.zone()


def _row(rows: Sequence[UsageRow], name: str) -> UsageRow | None:
    return next((row for row in rows if row.name == name), None)


def _model_of(entries: Sequence[Entry]) -> str | None:
    frame = recorded(entries)
    return f"{frame.provider}/{frame.request.model}" if frame else None


def _last_usage(entries: Sequence[Entry]) -> Usage | None:
    for entry in reversed(entries):
        message = entry.body.message if isinstance(entry.body, Said) else None
        if isinstance(message, Assistant) and message.usage.total:
            return message.usage
    return None
