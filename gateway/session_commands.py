"""The commands that begin, end, resume and shorten a session."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from agents.clock import Clock
from agents.loop import TurnLimit
from agents.model.provider import ModelError
from agents.turn import OnEvent, Turn
from agents.workspace import WorkspaceError
from gateway.commands.obey import Hooks
from gateway.lifecycle import Lifecycle
from gateway.refusals import refusal
from gateway.roster import Roster
from gateway.views import ChatReply
from sessions.key import SessionKey
from sessions.registry import Registry, SessionRecord


def owners_turn(record: SessionRecord, *, at: datetime, time_zone: str) -> Turn:
    """A turn of the owner, who alone can speak through the API and the terminal."""
    return Turn(
        key=record.key,
        session_id=record.session_id,
        sender="owner",
        trust="owner",
        at=at,
        time_zone=time_zone,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCommands:
    """Runs in the session's lane. `begin` answers a text as the first of a session."""

    roster: Roster
    registry: Registry
    lifecycle: Lifecycle
    clock: Clock
    begin: Callable[[SessionKey, str, OnEvent], Awaitable[ChatReply]]

    def hooks(self) -> Hooks:
        return Hooks(new=self._new, reset=self._reset, resume=self._resume, compact=self._compact)

    async def _new(self, key: SessionKey, rest: str, on_event: OnEvent) -> str | ChatReply:
        """The next session, at once; with a text, it begins with that."""
        record = self.registry.get(key)
        if record is not None and record.messages:
            await self.lifecycle.end(record, "new")
        elif not rest:
            return "This is a new session already."
        if rest:
            return await self.begin(key, rest, on_event)
        return "A new session. The last one is kept; /resume goes back to it."

    async def _reset(self, key: SessionKey, _rest: str, _on_event: OnEvent) -> str | ChatReply:
        record = self.registry.get(key)
        if record is None or not record.messages:
            return "This is a new session already."
        await self.lifecycle.end(record, "reset")
        return "A new session. The last one is kept; /resume goes back to it."

    async def _resume(self, key: SessionKey, rest: str, _on_event: OnEvent) -> str:
        record = await self.lifecycle.resume(key, rest)
        return f"Back in session {record.session_id} ({record.messages} messages)."

    async def _compact(self, key: SessionKey, rest: str, _on_event: OnEvent) -> str:
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
