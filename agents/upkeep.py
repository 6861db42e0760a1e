"""What keeps a conversation affordable and loses nothing: pruning before a turn, saving after it."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from agents.clock import Clock
from agents.flush import KIND, guarded, instruction
from agents.loop import Loop, TurnLimit
from agents.model.provider import ModelError
from agents.scene import Scene
from agents.tools.tool import Tool
from sessions import pruning
from sessions.entries import Custom, CustomMessage, Said
from sessions.messages import Json, Text, ToolResult
from sessions.settings import SessionsSettings

FLUSH_ROUNDS = 6

logger = logging.getLogger("clawd.agents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """The settings' word on conversations, carried out. `tools` are those of an ordinary turn."""

    settings: SessionsSettings
    tools: Mapping[str, Tool]
    clock: Clock
    tool_timeout: float

    async def prune(self, scene: Scene, *, now: datetime, force: bool = False) -> bool:
        """Show old results shorter from now on, when the provider's cache is cold anyway; say if it did.

        `force` after a request that was too large. The plan is recorded and stays in force.
        """
        conversation = scene.conversation
        ttl = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1), None: timedelta(0)}
        plan = pruning.plan(
            conversation.untrimmed,
            scene.chosen.window,
            self.settings.pruning,
            now,
            pruning.last_use(conversation.entries),
            earlier=conversation.plan,
            cache_ttl=ttl[scene.request().cache_ttl],
            force=force,
        )
        if plan is None:
            return False
        await conversation.append(plan.entry(), now)
        return True

    async def flush(self, scene: Scene, *, cycle: int) -> str:
        """Let the model save what would be missed, in a turn that nobody sees: saved, nothing, or failed.

        `cycle` is the number of compactions so far. A failure is recorded and raised nowhere; an
        interruption by a person is recorded and passed on.
        """
        conversation, at = scene.conversation, self.clock()
        day = at.astimezone(ZoneInfo(scene.turn.time_zone)).date()
        text = instruction(self.settings.compaction.flush, day)
        start = len(conversation.entries)
        await conversation.append(CustomMessage(kind=KIND, parts=(Text(text=text),), display=False), at)
        tools = guarded(self.tools, day)
        outcome, why = "interrupted", ""
        try:
            await self._loop(scene, tools).run(scene.turn)
            outcome = "saved" if _wrote(scene, start) else "nothing"
        except (ModelError, TurnLimit) as error:
            outcome, why = "failed", str(error)
            logger.warning("saving memories of %s failed: %s", scene.turn.key, error)
        finally:
            data: dict[str, Json] = {"cycle": cycle, "outcome": outcome}
            if why:
                data["why"] = why
            await conversation.append(Custom(kind=KIND, data=data), self.clock())
        return outcome

    def _loop(self, scene: Scene, tools: Mapping[str, Tool]) -> Loop:
        return Loop(
            provider=scene.chosen.provider,
            tools=tools,
            request=scene.request,
            record=scene.recorder("flush"),
            on_event=lambda _: None,
            clock=self.clock,
            max_rounds=FLUSH_ROUNDS,
            max_retries=scene.chosen.max_retries,
            tool_timeout=self.tool_timeout,
        )


def _wrote(scene: Scene, start: int) -> bool:
    """Whether a write of the silent turn succeeded."""
    return any(
        isinstance(entry.body, Said)
        and isinstance(entry.body.message, ToolResult)
        and entry.body.message.name == "write"
        and not entry.body.message.is_error
        for entry in scene.conversation.entries[start:]
    )
