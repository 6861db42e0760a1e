"""One agent, ready to answer: its workspace, tools, conversations and model."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from itertools import count
from zoneinfo import ZoneInfo

from agents.answering import answering_notice, last_configured
from agents.bootstrap import BootstrapFile
from agents.clock import Clock
from agents.compactor import Compaction
from agents.conversation import Conversation, Conversations
from agents.daily import START_NOTES, begin_with, read_days
from agents.frame import Frame, context_entry, known_files, last_asked, refresh_reason, seen_entry
from agents.framing import Framing
from agents.loop import Loop, outside_of
from agents.model.provider import BadPairing, ContextOverflow, ModelError
from agents.outcome import Outcome, outcome_of
from agents.own_model import own_model, own_model_entry, own_thinking, pinned
from agents.permission import Permission
from agents.recovery import go_on
from agents.scene import ChosenModel, OnAnswer, Scene
from agents.session_note import SessionNote
from agents.settings import AgentSettings
from agents.told import begun, lacks_notes, last_said, last_turn, notice_of
from agents.tools.latest import Latest
from agents.tools.tool import Tool
from agents.turn import OnEvent, Turn
from agents.upkeep import Upkeep
from agents.warming import PriceOf, keep_warm
from agents.workspace import Workspace
from sessions.capping import cap_result
from sessions.entries import Body, CustomMessage
from sessions.limits import Limits
from sessions.messages import Assistant, Text, ToolCall, ToolResult, User
from sessions.note import spoken
from sessions.settings import NoteEvent, SessionsSettings

logger = logging.getLogger("clawd.agents")


class AgentRuntime:
    """`choose` gives the model for a turn and raises ModelError when none is usable. `successor` is the one
    that has taken this one's place: a turn ends as it began, but its calls obey the rules of that one.
    """

    def __init__(
        self,
        *,
        settings: AgentSettings,
        time_zone: str,
        workspace: Workspace,
        conversations: Conversations,
        tools: tuple[Tool, ...],
        choose: Callable[[], Awaitable[ChosenModel]],
        choose_named: Callable[[str], Awaitable[ChosenModel]],
        clock: Clock,
        on_answer: OnAnswer = lambda *_: None,
        sessions: SessionsSettings = SessionsSettings(),  # noqa: B008 (frozen)
        successor: Callable[[], "AgentRuntime | None"] = lambda: None,
    ) -> None:
        self.settings = settings
        self.time_zone = time_zone
        self.workspace = workspace
        self.conversations = conversations
        self.own_tools = {tool.spec.name: tool for tool in tools}
        self._successor = successor
        self._tools = Latest(lambda: self._newest.own_tools)
        self._framing = Framing(
            settings=settings,
            workspace=workspace,
            time_zone=time_zone,
            specs=tuple(tool.spec for tool in tools),
        )
        self._choose = choose
        self._choose_named = choose_named
        self._clock = clock
        self._on_answer = on_answer
        self.sessions = sessions
        self.upkeep = Upkeep(
            settings=sessions,
            tools=self._tools,
            clock=clock,
            tool_timeout=settings.tools.timeout_seconds,
            choose=choose_named,
            root=workspace.root,
        )

    async def respond(self, turn: Turn, said: User | None, *, on_event: OnEvent) -> Outcome:
        """Answer one message. It is in the transcript before anything else happens. With None, go on with
        what is there already: a turn that a kill had interrupted.

        Raises ModelError, TurnLimit, WorkspaceError, BrokenTranscript, and OSError when the transcript
        cannot be written; cancellation leaves a transcript that opens cleanly.
        """
        async with self.conversations.use(turn.session_id, cwd=self.workspace.root) as conversation:
            if lacks_notes(conversation.facts, new=not conversation.said):
                await self._begin(conversation, turn)
            seen, files = last_turn(conversation.entries), None
            configured = last_configured(conversation.facts)
            if said is not None:
                start = len(conversation.said)
                files = await conversation.record_and(said, partial(self._framing.files, turn))
            else:
                start = last_said(conversation.said)
                for source in outside_of(conversation.said[begun(conversation.said) :]):
                    turn.taint.note(source)
                if told := go_on(conversation.messages):
                    await conversation.append(told, turn.at)
            try:
                scene = await self._scene(conversation, turn, files)
                await self.upkeep.prune(scene, now=turn.at)
                answer = await self._answer(scene, on_event)
            except ModelError as error:
                pinned(error, own_model(conversation.facts))
                raise
            finally:
                await self._note_own_edits(conversation, turn, start)
            outcome = outcome_of(conversation.said, start, answer, scene.chosen)
            shorter = notice_of(conversation.entries[seen:]) if self.sessions.compaction.notify else ""
            who = answering_notice(conversation.said[:start], configured, answer, scene.chosen)
            ended = f"({answer.error})" if answer.error else ""
            notice = " ".join(text for text in (ended, shorter, who) if text)
            return replace(outcome, notice=notice, due=self.upkeep.due(scene))

    async def maintain(self, turn: Turn) -> None:
        """Save and shorten, as far as it is due. Raises as `respond`."""
        async with self.conversations.use(turn.session_id, cwd=self.workspace.root) as conversation:
            await self.upkeep.after_turn(await self._scene(conversation, turn))

    async def compact(self, turn: Turn, focus: str) -> Compaction | None:
        """Save, then shorten now; None when there was nothing to leave out. Raises as `respond`."""
        async with self.conversations.use(turn.session_id, cwd=self.workspace.root) as conversation:
            scene = await self._scene(conversation, turn)
            await self.upkeep.save_before(scene, "compact")
            return await self.upkeep.compactor.compact(scene, "manual", focus=focus)

    async def end(self, turn: Turn, event: NoteEvent) -> str | None:
        """Save what an ended session holds, and leave its note; the note's path, or None when there is
        nothing to tell. Raises BrokenTranscript, PathRefused and OSError; may be called again then."""
        settings = self.sessions.note
        async with self.conversations.use(turn.session_id, cwd=self.workspace.root) as conversation:
            lines = spoken(conversation.said, settings.messages)
            if not lines:
                return None
            scene = None
            try:
                scene = await self._scene(conversation, turn)
                await self.upkeep.save_before(scene, event)
            except ModelError as error:
                logger.warning("the note of %s is written without a model: %s", turn.key, error)
            if not settings.enabled or event not in settings.on:
                return None
            note = SessionNote(settings=settings, root=self.workspace.root)
            return await note.leave(turn, scene, lines, event)

    async def keep_warm(self, turn: Turn, price_of: PriceOf) -> str:
        """Renew the provider's cache of the session as it is; nothing of it enters the conversation. Says why
        it was not done, empty when it was. Raises as `respond`."""
        async with self.conversations.use(turn.session_id, cwd=self.workspace.root) as conversation:
            chosen, _, reason = await self._looked(conversation, turn)
            frozen = conversation.frame
            if reason or frozen is None:
                return f"its next prompt begins anew ({reason})"
            return await keep_warm(self._within(conversation, turn, chosen, frozen), price_of, turn.at)

    async def mark(self, turn: Turn, *facts: Body) -> None:
        """Record facts in a session, before anything is said in it. Raises BrokenTranscript and OSError."""
        async with self.conversations.use(turn.session_id, cwd=self.workspace.root) as conversation:
            await conversation.append_all(facts, turn.at)

    @asynccontextmanager
    async def opened(self, turn: Turn, *, model: str | None = None) -> AsyncIterator[Scene]:
        """A session, to ask something else in it; `model` answers there from now on. Raises as `respond`."""
        async with self.conversations.use(turn.session_id, cwd=self.workspace.root) as conversation:
            if model:
                await conversation.append(own_model_entry(model), turn.at)
            yield await self._scene(conversation, turn)

    async def choose(self, model: str | None) -> ChosenModel:
        """The model of that name, or the agent's own. Raises ModelError when it cannot be used."""
        return await (self._choose_named(model) if model else self._choose())

    async def _answer(self, scene: Scene, on_event: OnEvent) -> Assistant:
        """The model's answer. When the conversation does not fit, room is made and it is asked again; once
        also when the provider does not like how its calls and results stand together."""
        result = Limits.of(scene.chosen.window, self.sessions.compaction).result
        loop = Loop(
            provider=scene.chosen.provider,
            tools=self._tools,
            request=scene.request,
            record=scene.recorder("turn"),
            on_event=scene.hearing(on_event),
            clock=self._clock,
            max_rounds=self.settings.max_rounds,
            max_retries=scene.chosen.max_retries,
            tool_timeout=self.settings.tools.timeout_seconds,
            cap=lambda text: cap_result(text, result),
            permit=self._refusal,
        )
        attempts, mended = count(), False
        while True:
            try:
                return await loop.run(scene.turn)
            except ContextOverflow as error:
                logger.warning("%s no longer fits (%s); making room", scene.turn.key, error)
                if not await self.upkeep.make_room(scene, next(attempts)):
                    raise
            except BadPairing as error:
                if mended:
                    raise
                logger.warning("%s: %s Calls and results are told as text now.", scene.turn.key, error)
                mended = await self.upkeep.mend(scene)

    @property
    def _newest(self) -> "AgentRuntime":
        return self._successor() or self

    async def _refusal(self, call: ToolCall, turn: Turn) -> str | None:
        return await Permission(settings=self._newest.settings.tools).refusal(call, turn)

    async def _begin(self, conversation: Conversation, turn: Turn) -> None:
        """Give the owner's new session the notes of the last days."""
        settings = self.sessions.start_notes
        if not (settings.enabled and turn.key.private and turn.trust == "owner"):
            return
        today = self._local_date(turn.at)
        notes = await asyncio.to_thread(read_days, self.workspace.root, today, settings)
        text = begin_with(notes, today, settings)
        if text:
            entry = CustomMessage(kind=START_NOTES, parts=(Text(text=text),), display=False)
            await conversation.append(entry, turn.at)

    async def _scene(
        self, conversation: Conversation, turn: Turn, files: tuple[BootstrapFile, ...] | None = None
    ) -> Scene:
        """The model and this turn's requests, which differ only in their messages. `files` are those of the
        bootstrap, when they have just been read."""
        chosen, fresh, reason = await self._looked(conversation, turn, files)
        frozen = conversation.frame
        new: list[Body] = []
        if change := conversation.model_change(provider=chosen.provider_name, model=chosen.model):
            new.append(change)
        if reason or frozen is None:
            new.append(context_entry(fresh, reason or "new session"))
            frozen = fresh
        await conversation.append_all(new, turn.at)
        return self._within(conversation, turn, chosen, frozen)

    async def _looked(
        self, conversation: Conversation, turn: Turn, files: tuple[BootstrapFile, ...] | None = None
    ) -> tuple[ChosenModel, Frame, str | None]:
        """The model, the frame as it would be made now, and why it is needed; None while the recorded one
        holds."""
        chosen = await self.choose(own_model(conversation.facts))
        if files is None:
            files = await conversation.run(partial(self._framing.files, turn))
        fresh, asked = self._framing.frame(turn, chosen, files), last_asked(conversation.entries)
        facts = conversation.facts
        if level := own_thinking(facts):
            fresh = replace(fresh, request=replace(fresh.request, thinking=level))
        return chosen, fresh, refresh_reason(conversation.frame, facts, fresh, asked=asked, now=turn.at)

    def _within(self, conversation: Conversation, turn: Turn, chosen: ChosenModel, frozen: Frame) -> Scene:
        return Scene(
            conversation=conversation,
            turn=turn,
            chosen=chosen,
            blank=frozen.request,
            overhead=self._framing.overhead(frozen.request),
            on_answer=self._on_answer,
        )

    async def _note_own_edits(self, conversation: Conversation, turn: Turn, start: int) -> None:
        """Record how bootstrap files stand after a turn that used tools: what it changed is its own."""
        if not any(isinstance(message, ToolResult) for message in conversation.said[start:]):
            return
        files = self._framing.digests(await conversation.run(partial(self._framing.files, turn)))
        if files != known_files(conversation.facts):
            await conversation.append(seen_entry(files), self._clock())

    def _local_date(self, at: datetime) -> date:
        return at.astimezone(ZoneInfo(self.time_zone)).date()
