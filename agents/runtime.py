"""One agent, ready to answer: its workspace, tools, conversations and model."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from agents.bootstrap import BootstrapFile
from agents.clock import Clock
from agents.conversation import Conversation, Conversations
from agents.daily import START_NOTES, begin_with, read_days
from agents.frame import (
    Frame,
    context_entry,
    digests,
    known_files,
    recorded,
    refresh_reason,
    seen_entry,
    sizes,
)
from agents.loop import Loop
from agents.model.provider import ModelRequest
from agents.prompt import PromptFacts, project_context, system_prompt
from agents.scene import ChosenModel, OnAnswer, Scene
from agents.settings import AgentSettings
from agents.tools.tool import Tool
from agents.turn import OnEvent, Turn
from agents.upkeep import Upkeep
from agents.workspace import Workspace
from sessions.entries import CustomMessage
from sessions.messages import Assistant, Cost, Message, Text, ToolCall, ToolResult, Usage, User
from sessions.settings import SessionsSettings

logger = logging.getLogger("clawd.agents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a turn came to. `usage` sums its model calls; its cost is None when one of them is unknown."""

    reply: str
    usage: Usage
    calls: tuple[tuple[ToolCall, bool], ...]
    model: str


class AgentRuntime:
    """`choose` gives the model for a turn and raises ModelError when none is usable; `before_call` raises
    ModelError when no (further) model call may be made now."""

    def __init__(
        self,
        *,
        settings: AgentSettings,
        time_zone: str,
        workspace: Workspace,
        conversations: Conversations,
        tools: tuple[Tool, ...],
        choose: Callable[[], Awaitable[ChosenModel]],
        clock: Clock,
        on_answer: OnAnswer = lambda *_: None,
        before_call: Callable[[], None] = lambda: None,
        sessions: SessionsSettings = SessionsSettings(),  # noqa: B008 (frozen)
    ) -> None:
        self.settings = settings
        self.time_zone = time_zone
        self.workspace = workspace
        self.conversations = conversations
        self._tools = {tool.spec.name: tool for tool in tools}
        self._specs = tuple(tool.spec for tool in tools)
        self._choose = choose
        self._clock = clock
        self._on_answer = on_answer
        self._before_call = before_call
        self.sessions = sessions
        self.upkeep = Upkeep(
            settings=sessions,
            tools=self._tools,
            clock=clock,
            tool_timeout=settings.tools.timeout_seconds,
        )

    async def respond(self, turn: Turn, text: str, *, envelope: str, on_event: OnEvent) -> Outcome:
        """Answer one message. It is in the transcript before anything else happens.

        Raises ModelError, TurnLimit, WorkspaceError, BrokenTranscript, and OSError when the transcript
        cannot be written; cancellation leaves a transcript that opens cleanly.
        """
        async with self.conversations.use(turn.session_id, cwd=self.workspace.root) as conversation:
            if not conversation.entries:
                await self._begin(conversation, turn)
            start = len(conversation.said)
            said = User(at=turn.at, parts=(Text(text=text),), envelope=envelope)
            await conversation.record(said)
            scene = await self._scene(conversation, turn)
            await self.upkeep.prune(scene, now=turn.at)
            loop = Loop(
                provider=scene.chosen.provider,
                tools=self._tools,
                request=scene.request,
                record=scene.recorder("turn"),
                on_event=on_event,
                clock=self._clock,
                max_rounds=self.settings.max_rounds,
                max_retries=scene.chosen.max_retries,
                tool_timeout=self.settings.tools.timeout_seconds,
            )
            try:
                answer = await loop.run(turn)
            finally:
                await self._note_own_edits(conversation, turn, start)
            return _outcome(conversation.said, start, answer, scene.chosen)

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

    async def _scene(self, conversation: Conversation, turn: Turn) -> Scene:
        """The model and this turn's requests, which differ only in their messages."""
        chosen = await self._choose()
        fresh = await self._fresh_frame(turn, chosen)
        reason = refresh_reason(conversation.entries, fresh, now=turn.at)
        frozen = recorded(conversation.entries)
        await conversation.record_model(provider=chosen.provider_name, model=chosen.model, at=turn.at)
        if reason or frozen is None:
            frozen = fresh
            await conversation.append(context_entry(fresh, reason or "new session"), turn.at)
        request = frozen.request

        def build() -> ModelRequest:
            self._before_call()
            return replace(request, messages=conversation.messages)

        return Scene(
            conversation=conversation, turn=turn, chosen=chosen, request=build, on_answer=self._on_answer
        )

    async def _fresh_frame(self, turn: Turn, chosen: ChosenModel) -> Frame:
        settings = self.settings
        files = await asyncio.to_thread(self._bootstrap, turn)
        facts = PromptFacts(
            workspace=self.workspace.root,
            time_zone=self.time_zone,
            tools=frozenset(self._tools),
            private=turn.key.private,
        )
        request = ModelRequest(
            model=chosen.model,
            system=system_prompt(facts),
            context=project_context(files),
            messages=(),
            tools=self._specs,
            max_tokens=min(settings.max_tokens, chosen.max_output or settings.max_tokens),
            thinking=settings.thinking,
            cache_ttl=settings.cache_ttl,
        )
        return Frame(
            provider=chosen.provider_name,
            request=request,
            files=digests(files),
            sizes=sizes(files),
            spelling=chosen.spelling,
        )

    async def _note_own_edits(self, conversation: Conversation, turn: Turn, start: int) -> None:
        """Record how bootstrap files stand after a turn that used tools: what it changed is its own."""
        if not any(isinstance(message, ToolResult) for message in conversation.said[start:]):
            return
        files = digests(await asyncio.to_thread(self._bootstrap, turn))
        if files != known_files(conversation.entries):
            await conversation.append(seen_entry(files), self._clock())

    def _bootstrap(self, turn: Turn) -> tuple[BootstrapFile, ...]:
        if not self.workspace.root.is_dir():
            logger.warning("the workspace %s was gone and is made again", self.workspace.root)
            self.workspace.ensure(self._local_date(turn.at))
        return self.workspace.bootstrap(
            private=turn.key.private and turn.trust == "owner",
            max_chars=self.settings.bootstrap_max_chars,
            total_max_chars=self.settings.bootstrap_total_max_chars,
        )

    def _local_date(self, at: datetime) -> date:
        return at.astimezone(ZoneInfo(self.time_zone)).date()


def _outcome(said: list[Message], start: int, answer: Assistant, chosen: ChosenModel) -> Outcome:
    new = said[start:]
    failed = {message.call_id: message.is_error for message in new if isinstance(message, ToolResult)}
    answers = [message for message in new if isinstance(message, Assistant)]
    return Outcome(
        reply=answer.text.strip() or "(The model gave an empty answer. Ask again, or in other words.)",
        usage=total_usage([message.usage for message in answers]),
        calls=tuple((call, failed.get(call.id, True)) for message in answers for call in message.calls),
        model=chosen.name,
    )


def total_usage(parts: list[Usage]) -> Usage:
    """The sum; its cost is None as soon as one part's cost is unknown."""
    costs = [part.cost for part in parts]
    known = [cost for cost in costs if cost is not None]
    cost = None
    if known and len(known) == len(costs):
        cost = Cost(
            input=sum(cost.input for cost in known),
            output=sum(cost.output for cost in known),
            cache_read=sum(cost.cache_read for cost in known),
            cache_write=sum(cost.cache_write for cost in known),
            total=sum(cost.total for cost in known),
        )
    return Usage(
        input=sum(part.input for part in parts),
        output=sum(part.output for part in parts),
        cache_read=sum(part.cache_read for part in parts),
        cache_write=sum(part.cache_write for part in parts),
        cost=cost,
    )
