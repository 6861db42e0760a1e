"""Keeping the prompts of quiet sessions in their provider's cache, for a while, where that saves money."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import TypeAlias

from agents.clock import Clock
from agents.conversation import BrokenTranscript
from agents.model.provider import ModelError
from agents.turn import Turn
from agents.warming import PriceOf, warmth
from agents.workspace import WorkspaceError
from gateway.lanes import Lanes
from gateway.roster import Roster
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.registry import Registry
from sessions.settings import KeepWarmSettings

logger = logging.getLogger("clawd.warm")

MOST_REASONS = 1_000

Sleep: TypeAlias = Callable[[float], Awaitable[None]]


class Warmer:
    """A timer for each private session that was answered, until the next message. Off, it does nothing at
    all; `settings` may become others. `closing`: nothing more is to be begun."""

    def __init__(
        self,
        *,
        roster: Roster,
        registry: Registry,
        lanes: Lanes,
        settings: KeepWarmSettings,
        price: PriceOf,
        clock: Clock,
        sleep: Sleep = asyncio.sleep,
        closing: Callable[[], bool] = lambda: False,
    ) -> None:
        self._roster = roster
        self._registry = registry
        self._lanes = lanes
        self.settings = settings
        self._price = price
        self._clock = clock
        self._sleep = sleep
        self._closing = closing
        self._timers: dict[SessionKey, asyncio.Task[None]] = {}
        self._why: dict[SessionKey, str] = {}

    @property
    def waiting(self) -> int:
        """Sessions whose cache will be renewed, unless somebody writes."""
        return len(self._timers)

    def why(self, key: SessionKey) -> str:
        """Why the session was not kept warm since its last answer; empty when there was no reason."""
        return self._why.get(key, "")

    def answered(self, turn: Turn) -> None:
        """The model has been asked in this session; nobody waits for anything there now."""
        self.forget(turn.key)
        if not self.settings.enabled or not turn.key.private or self._closing():
            return
        task = asyncio.create_task(self._keep(turn), name=f"keeping {turn.key} warm")
        self._timers[turn.key] = task
        task.add_done_callback(partial(self._ended, turn.key))

    def forget(self, key: SessionKey) -> None:
        """Somebody writes, or the session has ended."""
        self._why.pop(key, None)
        if task := self._timers.pop(key, None):
            task.cancel()

    def close(self) -> None:
        for key in list(self._timers):
            self.forget(key)

    async def _keep(self, turn: Turn) -> None:
        for _ in range(self.settings.times):
            if not await self._again(turn):
                return

    async def _again(self, turn: Turn) -> bool:
        """Wait until the cache would end soon, then renew it; say whether to go on."""
        runtime, key = self._roster.of(turn.key.agent).runtime, turn.key
        try:
            held = warmth(await runtime.conversations.entries(turn.session_id))
        except (BrokenTranscript, OSError) as error:
            return self._stopped(key, str(error))
        now = self._clock()
        if held is None or held.ends <= now:
            return False
        due = held.ends - timedelta(seconds=self.settings.before_seconds)
        await self._sleep(max(0.0, (due - now).total_seconds()))
        record = self._registry.get(key)
        gone = record is None or record.session_id != turn.session_id
        if gone or self._closing() or self._lanes.busy(key):
            return False
        return await self._lanes.submit(key, partial(self._renew, turn), yields=True)

    async def _renew(self, turn: Turn) -> bool:
        """Runs in the session's lane, and makes way for a person who writes."""
        asked = Turn(
            key=turn.key,
            session_id=turn.session_id,
            sender=turn.sender,
            trust=turn.trust,
            at=self._clock(),
            time_zone=turn.time_zone,
        )
        try:
            why = await self._roster.of(turn.key.agent).runtime.keep_warm(asked, self._price)
        except (ModelError, BrokenTranscript, WorkspaceError, OSError, Refused) as error:
            why = str(error)
        if why:
            return self._stopped(turn.key, why)
        logger.info("%s is kept warm", turn.key)
        return True

    def _stopped(self, key: SessionKey, why: str) -> bool:
        logger.info("%s is not kept warm: %s", key, why)
        self._why[key] = why
        while len(self._why) > MOST_REASONS:
            del self._why[next(iter(self._why))]
        return False

    def _ended(self, key: SessionKey, task: asyncio.Task[None]) -> None:
        if self._timers.get(key) is task:
            del self._timers[key]
        if not task.cancelled() and (error := task.exception()):
            logger.warning("%s is not kept warm: %s", key, error)
