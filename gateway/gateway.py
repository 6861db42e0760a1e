"""The path of one message: checked, routed, queued in its lane, answered, and told."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import TypeAlias
from zoneinfo import ZoneInfo

from agents.clock import Clock
from agents.conversation import BrokenTranscript, visible
from agents.model.catalog import ModelStatus
from agents.tools.approval import nobody_to_ask
from agents.turn import OnEvent
from agents.warming import PriceOf
from gateway.approvals import Approvals, asked_in_text
from gateway.commands.obey import Commands, FirstText, Hooks
from gateway.commands.table import Typed
from gateway.endings import Endings
from gateway.insight import Insight, Window
from gateway.lanes import Lanes
from gateway.lifecycle import Lifecycle
from gateway.media.sending import Outgoing
from gateway.media.serving import sending_in
from gateway.media.taken import Take, Taken, not_taken
from gateway.memories import Memories
from gateway.roster import Roster
from gateway.routing import api_session
from gateway.session_commands import SessionCommands
from gateway.turns import Asked, Turns
from gateway.usage import Ledger
from gateway.views import OWNER, Beside, ChatReply, Conversation, Refused
from gateway.warmer import Sleep, Warmer
from memory.orders import SyncProgress
from sessions.entries import Entry
from sessions.key import BadSessionKey, SessionKey
from sessions.messages import Text, Usage
from sessions.registry import Registry, SessionRecord
from sessions.settings import KeepWarmSettings, SessionsSettings

OnProgress: TypeAlias = Callable[[SyncProgress], None]

logger = logging.getLogger("clawd.gateway")


class Gateway:
    """What the HTTP surface, the terminal and (later) every channel talk to.

    `ready` and `draining` are set by whoever runs it; a draining gateway takes no new messages. `configured`
    says in a line how its configuration stands, for the owner; empty: as it was at the start. `hooks` are
    those of commands that do not concern a session's life; `price` is of a model, `sleep` waits for seconds.
    """

    def __init__(
        self,
        *,
        roster: Roster,
        registry: Registry,
        endings: Endings,
        sessions: SessionsSettings,
        models: Callable[[], list[ModelStatus]],
        window: Window,
        ledger: Ledger,
        clock: Clock,
        new_id: Callable[[], str],
        executor: Executor,
        max_text_chars: int,
        max_concurrent_turns: int,
        version: str,
        approvals: Approvals | None = None,
        hooks: Hooks = Hooks(),  # noqa: B008 (frozen)
        take: Take = not_taken,
        outgoing: Outgoing | None = None,
        price: PriceOf = lambda _provider, _model: None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.new_id = new_id
        self.configured: Callable[[], str] = str
        self.approvals, self._take, self.outgoing = approvals, take, outgoing
        self.models = models
        self.ready, self.draining = False, False
        self.lanes = Lanes(max_concurrent_turns)
        self._agent = roster.of
        self._roster = roster
        self._registry = registry
        self._ledger = ledger
        self.clock = self._clock = clock
        self._executor = executor
        self._max_text_chars = max_text_chars
        self.warmer = self._keeping(sessions.keep_warm, price, sleep)
        self.insight = Insight(
            read=self.entries, ledger=ledger, window=window, zone=self._zone, not_warm=self.warmer.why
        )
        self.usage, self.context = self.insight.usage, self.insight.context
        self.lifecycle = self._life(endings, sessions, new_id)
        self.turns = self._answering()
        self.commands = Commands(self, hooks=self._hooks().over(hooks), clock=clock, version=version)
        self.command_of = self.commands.form
        memories = Memories(roster=roster)
        self.memory_search, self.memory_read = memories.search, memories.read
        self.memory_sync, self.memory_status = memories.sync, memories.status
        self.memory_watch = memories.watch
        self.sessions_search, self.catch_up = memories.sessions_search, memories.catch_up

    def _life(self, endings: Endings, settings: SessionsSettings, new_id: Callable[[], str]) -> Lifecycle:
        return Lifecycle(
            roster=self._roster,
            registry=self._registry,
            endings=endings,
            settings=settings,
            clock=self._clock,
            new_id=new_id,
            executor=self._executor,
            background=lambda lane, work: _forget(self.lanes.submit(lane, work)),
            left=self.warmer.forget,
        )

    def _answering(self) -> Turns:
        return Turns(
            roster=self._roster,
            registry=self._registry,
            lifecycle=self.lifecycle,
            ledger=self._ledger,
            lanes=self.lanes,
            warmer=self.warmer,
            clock=self._clock,
            executor=self._executor,
        )

    def _keeping(self, settings: KeepWarmSettings, price: PriceOf, sleep: Sleep) -> Warmer:
        return Warmer(
            roster=self._roster,
            registry=self._registry,
            lanes=self.lanes,
            settings=settings,
            price=price,
            clock=self._clock,
            sleep=sleep,
            closing=lambda: self.draining,
        )

    def _hooks(self) -> Hooks:
        hooks = SessionCommands(
            roster=self._roster,
            registry=self._registry,
            lifecycle=self.lifecycle,
            models=self.models,
            clock=self._clock,
        ).hooks()
        waiting = self.approvals
        return replace(hooks, approve=waiting.approve, deny=waiting.deny) if waiting else hooks

    @property
    def default_agent(self) -> str:
        return self._roster.default

    def change(self, sessions: SessionsSettings) -> None:
        """When sessions end and are kept warm, from now on."""
        self.lifecycle.settings, self.warmer.settings = sessions, sessions.keep_warm

    def agents(self) -> list[str]:
        return list(self._roster.agents)

    async def chat(
        self,
        *,
        agent: str | None,
        session: str | None,
        text: str,
        on_event: OnEvent | None = None,
        beside: Beside = OWNER,
    ) -> ChatReply:
        """Answer one message of the owner, or obey it when it is a slash command.

        `session` None is the agent's main session; a name is `agent:<id>:api:<name>`. A caller that is
        cancelled does not cancel the turn. Raises Refused.
        """
        self._agent(agent)
        self.check(text)
        try:
            key = api_session(agent or self.default_agent, session)
        except BadSessionKey as error:
            raise Refused(f"{error}.", code="bad_session", status=400) from error
        listener = on_event or _nobody
        typed = self.commands.typed(text, who="owner") if beside.may_command else None
        if typed is None:
            work = partial(self._begin, key, text, listener, beside)
        else:
            work = partial(self._obey, typed, key, listener, beside)
        return await (work() if typed and typed.command.control else self.lanes.run(key, work))

    async def obey(self, key: SessionKey, command: str) -> str:
        """What a slash command of the owner answers, in any session. Raises Refused."""
        self._agent(key.agent)
        typed = self.commands.typed(command, who="owner")
        if typed is None:
            raise Refused(f"{command} is no command of clawd.", code="unknown_command", status=404)
        work = partial(self._obey, typed, key, _nobody)
        return (await (work() if typed.command.control else self.lanes.run(key, work))).reply

    def stop(self, key: SessionKey) -> bool:
        """End the session's running turn; its caller hears that it was stopped."""
        return self.lanes.stop(key)

    def busy(self, key: SessionKey) -> bool:
        """Whether a turn of the session runs or waits."""
        return self.lanes.busy(key)

    def sessions(self) -> list[SessionRecord]:
        return self._registry.records()

    def record(self, key: SessionKey) -> SessionRecord | None:
        return self._registry.get(key)

    async def session(self, key: SessionKey) -> Conversation:
        """What was said in a session. Raises Refused when there is none of that key."""
        record, entries = await self._read(key)
        return Conversation(record=record, messages=tuple(visible(entries)))

    async def entries(self, key: SessionKey) -> Sequence[Entry]:
        """The session's transcript. Raises Refused when there is none of that key."""
        return (await self._read(key))[1]

    async def _read(self, key: SessionKey) -> tuple[SessionRecord, Sequence[Entry]]:
        record = self._registry.get(key)
        if record is None:
            raise Refused(
                f"There is no session {key}. `clawd sessions list` shows those that exist.",
                code="unknown_session",
                status=404,
            )
        conversations = self._agent(key.agent).runtime.conversations
        try:
            return record, await conversations.entries(record.session_id)
        except (BrokenTranscript, OSError) as error:
            raise Refused(f"The session cannot be read: {error}", code="storage", status=500) from error

    def _zone(self) -> ZoneInfo:
        """The owner's."""
        return ZoneInfo(self._agent(None).runtime.time_zone)

    def check(self, text: str) -> None:
        if self.draining:
            raise Refused(
                "clawd is shutting down; send this again in a moment.", code="shutting_down", status=503
            )
        if not text.strip():
            raise Refused("The message is empty. Write something.", code="empty_text", status=400)
        if len(text) > self._max_text_chars:
            raise Refused(
                f"The message has {len(text):,} characters; at most {self._max_text_chars:,} are taken "
                "(gateway.max_text_chars). Put the text into a file of the workspace and ask about that.",
                code="text_too_long",
                status=413,
            )

    async def _obey(
        self, typed: Typed, key: SessionKey, on_event: OnEvent, beside: Beside = OWNER
    ) -> ChatReply:
        """A command's answer is the visible end of its message; it is not recorded."""
        said = await self.commands.obey(typed, key, who="owner")
        if isinstance(said, FirstText):
            return await self._begin(key, said.text, on_event, beside)
        record = self._registry.get(key)
        session_id = record.session_id if record else ""
        return ChatReply(reply=said, key=key, session_id=session_id, usage=Usage(), calls=(), model="")

    async def _begin(
        self, key: SessionKey, text: str, on_event: OnEvent, beside: Beside = OWNER
    ) -> ChatReply:
        """A turn of the owner, or of what the owner lets in, in the session's lane."""
        try:
            taken = await self._take(beside.files) if beside.files else Taken()
        except asyncio.CancelledError as error:
            raise Refused("Stopped.", code="stopped", status=409) from error
        told = "\n".join(part for part in (text, taken.text) if part.strip())
        asked = Asked(
            key=key,
            parts=(Text(text=told), *beside.images, *taken.images),
            sender=beside.sender,
            trust=beside.trust,
            context=beside.context,
            outside=(*beside.outside, *taken.outside),
            ids=beside.ids,
            again=beside.again,
            approve=asked_in_text(self.approvals, key, on_event) if self.approvals else nobody_to_ask,
        )
        with sending_in(self.outgoing, key, beside):
            reply = await self.turns.answer(asked, on_event)
        return replace(reply, reply="\n\n".join((reply.reply, *(f"⚠️ {line}" for line in taken.told))))


def _forget(_: object) -> None:
    """Let work go on that nobody waits for."""


def _nobody(_: object) -> None:
    """Listen to nothing."""
