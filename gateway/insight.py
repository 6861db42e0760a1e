"""What a person may see of a session and of the money: usage, what fills the window, past requests."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias
from zoneinfo import ZoneInfo

from agents.context_report import ContextReport, context_report
from agents.frame import recorded
from agents.replay import NotReplayable, Replayed, past_calls, replay
from gateway.budget import Budget
from gateway.usage import Ledger, since_of
from gateway.usage_report import Group, UsageReport, usage_report
from gateway.views import Refused
from sessions.entries import Entry
from sessions.key import SessionKey

Window: TypeAlias = Callable[[str, str], int]
"""How many tokens a model reads, by provider and model."""

ReadEntries: TypeAlias = Callable[[SessionKey], Awaitable[Sequence[Entry]]]
"""The transcript of a key's current session. Raises Refused when there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """Reads only, and nothing of it waits for a turn. `zone` is the owner's; `not_warm` says why a session is
    not kept in its provider's cache, if there is a reason."""

    read: ReadEntries
    ledger: Ledger
    window: Window
    zone: Callable[[], ZoneInfo]
    not_warm: Callable[[SessionKey], str] = lambda _: ""

    @property
    def budget(self) -> Budget | None:
        return self.ledger.budget

    async def usage(self, *, by: Group, since: date | None) -> UsageReport:
        """Sums of all agents. Raises Refused when the journals cannot be read."""
        zone = self.zone()

        def work() -> UsageReport:
            lines = self.ledger.lines(since_of(since, zone))
            return usage_report(lines, by=by, since=since, zone=zone)

        try:
            return await asyncio.to_thread(work)
        except OSError as error:
            raise Refused(f"The ledger cannot be read: {error}", code="storage", status=500) from error

    async def context(self, key: SessionKey) -> ContextReport:
        """Raises Refused: no such session, or nothing was sent in it yet."""
        entries = await self.read(key)

        def work() -> ContextReport | None:
            frame = recorded(entries)
            window = self.window(frame.provider, frame.request.model) if frame else 0
            return context_report(entries, window=window)

        report = await asyncio.to_thread(work)
        if report is None:
            raise Refused(
                "Nothing was sent to a model in this session yet. Say something first.",
                code="nothing_sent",
                status=404,
            )
        return report

    async def replayed(self, key: SessionKey, *, turn: int | None, call: int | None) -> list[Replayed]:
        """The requests of one turn (None: the last one), or only its `call`-th one. Raises Refused."""
        entries = await self.read(key)
        try:
            return await asyncio.to_thread(_replayed, entries, turn, call)
        except NotReplayable as error:
            raise Refused(str(error), code="not_replayable", status=409) from error


def _replayed(entries: Sequence[Entry], turn: int | None, call: int | None) -> list[Replayed]:
    calls = past_calls(entries)
    if not calls:
        raise Refused("No model was asked in this session yet.", code="nothing_sent", status=404)
    wanted = turn or calls[-1].turn
    found = [one for one in calls if one.turn == wanted and call in (None, one.number)]
    if not found:
        last = calls[-1].turn
        size = sum(one.turn == wanted for one in calls)
        what = f"Turn {wanted} has {size} calls" if size else f"The session has {last} turns"
        raise Refused(f"{what}; there is no such one.", code="unknown_turn", status=404)
    return [replay(entries, one) for one in found]
