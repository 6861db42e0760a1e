"""The commands that begin, end, resume and shorten a session, and choose its model."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from agents.clock import Clock
from agents.conversation import BrokenTranscript
from agents.loop import TurnLimit
from agents.model.catalog import ModelStatus
from agents.model.provider import ModelError, ThinkingLevel
from agents.own_model import own_model_entry, own_thinking_entry
from agents.runtime import AgentRuntime
from agents.told import NO_NOTES
from agents.turn import Turn
from agents.workspace import WorkspaceError
from gateway.commands.obey import FirstText, Hooks
from gateway.lifecycle import Lifecycle
from gateway.refusals import refusal
from gateway.roster import Roster
from gateway.views import Refused
from sessions.entries import Custom, CustomMessage
from sessions.key import SessionKey
from sessions.registry import Registry, SessionRecord


def owners_turn(record: SessionRecord, *, at: datetime, time_zone: str) -> Turn:
    """A turn that nobody's message began: the owner's in private sessions, a guest's elsewhere."""
    return Turn(
        key=record.key,
        session_id=record.session_id,
        sender="owner",
        trust="owner" if record.key.private else "guest",
        at=at,
        time_zone=time_zone,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCommands:
    """Runs in the session's lane."""

    roster: Roster
    registry: Registry
    lifecycle: Lifecycle
    models: Callable[[], Sequence[ModelStatus]]
    clock: Clock

    def hooks(self) -> Hooks:
        return Hooks(
            new=self._new,
            reset=self._reset,
            resume=self._resume,
            compact=self._compact,
            model=self._model,
            think=self._think,
        )

    async def _new(self, key: SessionKey, rest: str) -> str | FirstText:
        """The next session, at once; `MODEL` answers in it, and a text begins it."""
        first, _, behind = rest.partition(" ")
        model = await self._usable(key, first) if key.private else None  # /model is the owner's everywhere
        text = behind.strip() if model else rest
        record = self.registry.get(key)
        if record is not None and record.messages:
            record = await self.lifecycle.end(record, "new")
        elif not rest:
            return "This is a new session already."
        if record is None:
            record = await self.lifecycle.start(key)
        if model:
            await self._mark(record, own_model_entry(model))
        elif text:
            await self._mark(record, NO_NOTES)
        if text:
            return FirstText(text=text)
        told = f" {model} answers in it." if model else ""
        return f"A new session.{told} The last one is kept; /resume goes back to it."

    async def _model(self, key: SessionKey, rest: str) -> str:
        """Another model for this session, from the next message on; `default` goes back to the agent's."""
        record = (await self.lifecycle.current(key, self.clock())).record
        if rest.lower() == "default":
            await self._mark(record, own_model_entry(None))
            return "The agent's own model answers in this session again."
        model = self._full_name(rest)
        try:
            await self.roster.of(key.agent).runtime.choose(model)
        except ModelError as error:
            known = ", ".join(row.name for row in self.models() if row.usable)
            raise Refused(f"{error} Usable are: {known}.", code="bad_model", status=400) from error
        await self._mark(record, own_model_entry(model))
        return f"{model} answers in this session from now on; /model default goes back."

    async def _think(self, key: SessionKey, rest: str) -> str:
        """How much the model reasons in this session, from the next message on."""
        word, levels = rest.strip().lower(), get_args(ThinkingLevel)
        current = await self.lifecycle.current(key, self.clock())
        if not word:
            known = f"{', '.join(levels)}, or default"
            return f"Say how much: {known}. The agent's own is {self._runtime(key).settings.thinking}."
        level = next((one for one in levels if one == word), None)
        if level is None and word != "default":
            raise Refused(
                f"There is no effort {word[:40]!r}; there are {', '.join(levels)} and default.",
                code="bad_value",
                status=400,
            )
        await self._mark(current.record, own_thinking_entry(level))
        return f"Thinking: {level or self._runtime(key).settings.thinking}, from the next message on."

    def _runtime(self, key: SessionKey) -> AgentRuntime:
        return self.roster.of(key.agent).runtime

    async def _usable(self, key: SessionKey, word: str) -> str | None:
        """The word, when it names a model that can be used; None for one that is text.

        Raises Refused for a model that is known and cannot be used.
        """
        if not re.fullmatch(r"[^/\s]+/\S+", word):
            return None
        known = next((row for row in self.models() if row.name == word), None)
        if known and not known.usable:
            raise Refused(f"{word} cannot be used: {known.reason}", code="bad_model", status=400)
        try:
            await self.roster.of(key.agent).runtime.choose(word)
        except ModelError:
            return None
        return word

    def _full_name(self, name: str) -> str:
        """With its provider, when one alone has a model of that name."""
        found = [row.name for row in self.models() if row.usable and row.model == name]
        return found[0] if len(found) == 1 else name

    async def _mark(self, record: SessionRecord, fact: Custom | CustomMessage) -> None:
        runtime = self.roster.of(record.key.agent).runtime
        try:
            await runtime.mark(owners_turn(record, at=self.clock(), time_zone=runtime.time_zone), fact)
        except (BrokenTranscript, OSError) as error:
            raise Refused(f"The session cannot be used: {error}", code="storage", status=500) from error

    async def _reset(self, key: SessionKey, _rest: str) -> str:
        record = self.registry.get(key)
        if record is None or not record.messages:
            return "This is a new session already."
        await self.lifecycle.end(record, "reset")
        return "A new session. The last one is kept; /resume goes back to it."

    async def _resume(self, key: SessionKey, rest: str) -> str:
        record = await self.lifecycle.resume(key, rest)
        return f"Back in session {record.session_id} ({record.messages} messages)."

    async def _compact(self, key: SessionKey, rest: str) -> str:
        record = self.registry.get(key)
        if record is None or not record.messages:
            return "There is nothing to summarise yet."
        runtime = self.roster.of(key.agent).runtime
        turn = owners_turn(record, at=self.clock(), time_zone=runtime.time_zone)
        try:
            done = await runtime.compact(turn, rest)
        except (ModelError, TurnLimit, WorkspaceError, OSError) as error:
            raise refusal(error) from error
        if done is None:
            return "The conversation is short; there is nothing to leave out."
        return f"The older part is summarised: about {done.before:,} tokens before, {done.after:,} now."
