"""Shortening a conversation: what leaves the context is summarised, checked, and recorded as one entry."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from agents.clock import Clock
from agents.model.provider import ModelError, ModelRequest
from agents.scene import ChosenModel, Scene
from sessions.compaction import Cut, CutPart, compacted, cut_part, drop_oldest_turns, dropped_note, find_cut
from sessions.completing import check_summary, complete_summary
from sessions.entries import Custom
from sessions.limits import Limits, used_tokens
from sessions.messages import Assistant, Text, User
from sessions.settings import CompactionSettings
from sessions.summary import stages, summary_message

Cause: TypeAlias = Literal["threshold", "overflow", "manual"]

Asked: TypeAlias = tuple[ChosenModel, ModelRequest, Assistant]

INSTRUCTION_TOKENS = 1_000

FAILED = "clawd.compaction_failed"

logger = logging.getLogger("clawd.agents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What a compaction came to, in tokens of our estimate. `summarised` is False when older turns were
    dropped because no summary could be had."""

    before: int
    after: int
    summarised: bool


class EmptySummary(ModelError):
    """A model answered a request for a summary with nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactor:
    """`choose` gives the model of the settings by its name."""

    settings: CompactionSettings
    clock: Clock
    choose: Callable[[str], Awaitable[ChosenModel]]

    def limits(self, scene: Scene) -> Limits:
        return Limits.of(
            scene.chosen.window, self.settings, floor=scene.blank.max_tokens, overhead=scene.overhead
        )

    def used(self, scene: Scene) -> int:
        """Tokens that the next request will have."""
        conversation = scene.conversation
        return used_tokens(conversation.entries, conversation.messages, overhead=scene.overhead)

    async def compact(self, scene: Scene, cause: Cause, *, focus: str = "") -> Compaction | None:
        """Summarise all but the newest part; None when nothing can leave.

        Raises ModelError when no summary could be had: nothing has changed then, and the failure is in the
        transcript.
        """
        conversation, limits = scene.conversation, self.limits(scene)
        cut = find_cut(conversation.entries, limits.keep, conversation.plan)
        if cut is None:
            return None
        part, before = cut_part(conversation.entries, cut), self.used(scene)
        try:
            summary = await self._checked(scene, part, limits, cause, focus)
        except ModelError as error:
            data = Custom(kind=FAILED, data={"cause": cause, "error": str(error)})
            await conversation.append(data, self.clock())
            raise
        return await self._record(scene, cut, summary, before, summarised=True)

    async def drop(self, scene: Scene) -> Compaction | None:
        """The last resort: leave the oldest turns out with a note that says so."""
        conversation, limits = scene.conversation, self.limits(scene)
        cut = drop_oldest_turns(conversation.entries, limits.keep)
        if cut is None:
            return None
        part, before = cut_part(conversation.entries, cut), self.used(scene)
        note = dropped_note(part)
        note = complete_summary(note, part, check_summary(note, part), tokens=limits.summary)
        return await self._record(scene, cut, note, before, summarised=False)

    async def _record(
        self, scene: Scene, cut: Cut, summary: str, before: int, *, summarised: bool
    ) -> Compaction:
        entry = compacted(cut, summary, tokens_before=before)
        await scene.conversation.append(entry, self.clock())
        done = Compaction(before=before, after=self.used(scene), summarised=summarised)
        logger.info("%s: compacted from %d to %d tokens", scene.turn.key, done.before, done.after)
        return done

    async def _checked(self, scene: Scene, part: CutPart, limits: Limits, cause: Cause, focus: str) -> str:
        """A summary; asked for once more when much is missing, then completed by what it still lacks."""
        fits = self.used(scene) + limits.summary + INSTRUCTION_TOKENS <= limits.window
        in_place = cause != "overflow" and self.settings.model is None and fits
        ask = self._in_place if in_place else self._staged
        chosen, request, answer = await ask(scene, part, limits, focus)
        faults = await asyncio.to_thread(check_summary, answer.text, part)
        if faults.worth_retry:
            told = User(at=self.clock(), parts=(Text(text=faults.told()),))
            again = replace(request, messages=(*request.messages, answer, told))
            try:
                answer = await self._ask(scene, chosen, again)
            except ModelError as error:
                logger.warning("%s: the summary stays as it was first: %s", scene.turn.key, error)
            faults = await asyncio.to_thread(check_summary, answer.text, part)
        if not faults:
            return answer.text
        return await asyncio.to_thread(complete_summary, answer.text, part, faults, tokens=limits.summary)

    async def _in_place(self, scene: Scene, part: CutPart, limits: Limits, focus: str) -> Asked:
        """Behind the conversation itself, so that the provider reads what it has in its cache."""
        request = scene.request()
        asked = User(at=self.clock(), parts=(Text(text=summary_message(part, limits, focus=focus)),))
        request = replace(request, messages=(*request.messages, asked))
        return scene.chosen, request, await self._ask(scene, scene.chosen, request)

    async def _staged(self, scene: Scene, part: CutPart, limits: Limits, focus: str) -> Asked:
        """In as many requests as it takes, the conversation quoted as text."""
        name = self.settings.model
        chosen = await self.choose(name) if name else scene.chosen
        blank = ModelRequest(
            model=chosen.model,
            system="",
            context="",
            messages=(),
            max_tokens=max(1_024, limits.summary),
            cache_ttl=None,
        )
        steps = list(stages(part, limits, focus=focus))
        so_far = ""
        for stage in steps[:-1]:
            so_far = (await self._ask(scene, chosen, self._of(blank, stage.prompt(so_far)))).text
        request = self._of(blank, steps[-1].prompt(so_far))
        return chosen, request, await self._ask(scene, chosen, request)

    def _of(self, blank: ModelRequest, prompt: str) -> ModelRequest:
        return replace(blank, messages=(User(at=self.clock(), parts=(Text(text=prompt),)),))

    async def _ask(self, scene: Scene, chosen: ChosenModel, request: ModelRequest) -> Assistant:
        """An answer with text; calls of tools in it are left out."""
        answer = await scene.ask("compaction", request, of=chosen, at=self.clock())
        if not answer.text.strip():
            raise EmptySummary(f"{chosen.name} answered with no summary. The conversation stays as it is.")
        return replace(answer, parts=(Text(text=answer.text.strip()),), stop="stop")
