"""What keeps a conversation affordable and loses nothing: pruning before a turn, saving after it."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from agents.clock import Clock
from agents.compactor import Cause, Compaction, Compactor
from agents.flush import guarded
from agents.frame import asked_entry
from agents.loop import Loop, TurnLimit
from agents.model.provider import ModelError
from agents.scene import ChosenModel, Scene
from agents.tools.tool import Tool
from sessions import pruning
from sessions.entries import Said
from sessions.flush import (
    FlushCause,
    FlushOutcome,
    flush_due,
    flush_mark,
    flush_message,
    flush_owed,
    flush_state,
    may_compact,
)
from sessions.messages import ToolResult
from sessions.settings import SessionsSettings
from sessions.strict import strict_entry, wants_everything

FLUSH_ROUNDS = 6

_TTL = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1), None: timedelta(0)}

logger = logging.getLogger("clawd.agents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Why to save now, and whether to shorten; `yields`: it makes way for a person who writes."""

    flush: FlushCause | None
    compact: bool
    yields: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """The settings' word on conversations, carried out. `tools` are those of an ordinary turn, `choose`
    gives the model of a name; `root` is the workspace."""

    settings: SessionsSettings
    tools: Mapping[str, Tool]
    clock: Clock
    tool_timeout: float
    choose: Callable[[str], Awaitable[ChosenModel]]
    root: Path

    @property
    def compactor(self) -> Compactor:
        return Compactor(settings=self.settings.compaction, clock=self.clock, choose=self.choose)

    async def prune(self, scene: Scene, *, now: datetime, force: bool = False) -> bool:
        """Show old results shorter from now on, when the provider's cache is cold anyway; say if it did.

        `force` after a request that was too large. The plan is recorded and stays in force.
        """
        conversation = scene.conversation
        plan = pruning.plan(
            conversation.untrimmed,
            scene.chosen.window,
            self.settings.pruning,
            now,
            pruning.last_use(conversation.entries),
            earlier=conversation.plan,
            cache_ttl=_TTL[scene.blank.cache_ttl],
            force=force,
        )
        if plan is None:
            return False
        await conversation.append(plan.entry(), now)
        return True

    async def make_room(self, scene: Scene, attempt: int) -> bool:
        """After a request that was too large: prune, then compact, then drop the oldest turns; say whether
        to ask again. `attempt` counts from 0."""
        if attempt == 0 and await self.prune(scene, now=self.clock(), force=True):
            return True
        if attempt <= 1:
            try:
                if await self.compactor.compact(scene, "overflow"):
                    return True
            except ModelError as error:
                logger.warning("%s: no summary could be had: %s", scene.turn.key, error)
        return attempt <= 2 and await self.compactor.drop(scene) is not None

    async def mend(self, scene: Scene) -> bool:
        """After a request whose calls and results were refused: tell them as text from now on."""
        conversation = scene.conversation
        everything = wants_everything(conversation.entries, conversation.messages)
        await conversation.append(strict_entry(everything=everything), self.clock())
        return True

    def due(self, scene: Scene) -> Due | None:
        """What is to be done after a turn; None, quickly, for almost all of them."""
        if not scene.chosen.thinks:
            return None
        entries, settings = scene.conversation.entries, self.settings.compaction
        limits, used, size = self.compactor.limits(scene), self.compactor.used(scene), scene.conversation.size
        if used < limits.flush and not 0 < settings.flush.transcript_bytes <= size:
            return None
        state = flush_state(entries)
        flush = flush_due(state, tokens=used, transcript_bytes=size, limits=limits, settings=settings.flush)
        compact = settings.enabled and used >= limits.compact
        return Due(flush=flush, compact=compact, yields=state.may_yield) if flush or compact else None

    async def after_turn(self, scene: Scene) -> None:
        """Save, then shorten, each when it is due. Failures are told in the log and the transcript."""
        due = self.due(scene)
        if due and due.flush:
            await self.flush(scene, due.flush)
        state = flush_state(scene.conversation.entries)
        if due and due.compact and may_compact(state, self.settings.compaction.flush):
            await self.compact(scene, "threshold")

    async def compact(self, scene: Scene, cause: Cause, *, focus: str = "") -> Compaction | None:
        """None when nothing could leave, or when no summary could be had (told in the log)."""
        try:
            return await self.compactor.compact(scene, cause, focus=focus)
        except ModelError as error:
            logger.warning("%s was not compacted: %s", scene.turn.key, error)
            return None

    async def save_before(self, scene: Scene, cause: FlushCause) -> None:
        """Save what the session holds unsaved, before it ends or is shortened by hand. After a pause old
        results are shown shorter first: the whole prompt is paid anew then."""
        state = flush_state(scene.conversation.entries)
        if scene.chosen.thinks and flush_owed(state, self.settings.compaction.flush):
            await self.prune(scene, now=self.clock())
            await self.flush(scene, cause)

    async def flush(self, scene: Scene, cause: FlushCause) -> FlushOutcome:
        """Let the model save what would be missed, in a turn that nobody sees.

        A failure is recorded and raised nowhere; an interruption by a person is recorded and passed on.
        """
        conversation, at = scene.conversation, self.clock()
        day = at.astimezone(ZoneInfo(scene.turn.time_zone)).date()
        start = len(conversation.entries)
        await conversation.append(flush_message(self.settings.compaction.flush.prompt, day), at)
        outcome: FlushOutcome = "interrupted"
        error = ""
        try:
            await (await self._flush_loop(scene, day)).run(scene.turn)
            outcome = "saved" if _wrote(scene, start) else "nothing"
        except (ModelError, TurnLimit) as failure:
            outcome, error = "failed", str(failure)
            logger.warning("saving memories of %s failed: %s", scene.turn.key, failure)
        finally:
            mark = flush_mark(outcome, cause=cause, transcript_bytes=conversation.size, error=error)
            await conversation.append(mark, self.clock())
        return outcome

    async def _flush_loop(self, scene: Scene, day: date) -> Loop:
        name = self.settings.compaction.flush.model
        chosen = await self.choose(name) if name else scene.chosen
        if name:
            asked = asked_entry(chosen.provider_name, chosen.model, chosen.spelling)
            await scene.conversation.append(asked, self.clock())
        return Loop(
            provider=chosen.provider,
            tools=guarded(self.tools, day, self.root),
            request=lambda: replace(scene.request(), model=chosen.model),
            record=scene.recorder("flush"),
            on_event=scene.hearing(),
            clock=self.clock,
            max_rounds=FLUSH_ROUNDS,
            max_retries=chosen.max_retries,
            tool_timeout=self.tool_timeout,
        )


def _wrote(scene: Scene, start: int) -> bool:
    """Whether a write of the silent turn succeeded."""
    said = [
        entry.body.message for entry in scene.conversation.entries[start:] if isinstance(entry.body, Said)
    ]
    results = [message for message in said if isinstance(message, ToolResult)]
    return any(result.name == "write" and not result.is_error for result in results)
