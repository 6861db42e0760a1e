"""What the HTTP surface needs of the gateway, and nothing more."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Protocol

from agents.context_report import ContextReport
from agents.turn import OnEvent
from gateway.usage_report import Group, UsageReport
from gateway.views import ChatReply
from memory.hybrid import SearchResult
from memory.orders import SyncProgress
from memory.status import IndexStatus
from sessions.key import SessionKey
from sessions.messages import Message
from sessions.registry import SessionRecord


class ModelView(Protocol):
    """A model by its `provider/model` name. `reason` says why it is not usable, and is empty or None when
    it is."""

    @property
    def name(self) -> str: ...

    @property
    def provider(self) -> str: ...

    @property
    def usable(self) -> bool: ...

    @property
    def reason(self) -> str | None: ...

    @property
    def is_default(self) -> bool: ...


class ConversationView(Protocol):
    """A session and what was said in it, oldest first."""

    @property
    def record(self) -> SessionRecord: ...

    @property
    def messages(self) -> tuple[Message, ...]: ...


class NoteView(Protocol):
    """Some lines of a memory file, 1-based and inclusive; `next_from` is None at the end of the file."""

    @property
    def path(self) -> str: ...

    @property
    def from_line(self) -> int: ...

    @property
    def end_line(self) -> int: ...

    @property
    def text(self) -> str: ...

    @property
    def next_from(self) -> int | None: ...


class ProblemView(Protocol):
    """A note that could not be read, and why."""

    @property
    def path(self) -> str: ...

    @property
    def reason(self) -> str: ...


class SyncView(Protocol):
    """What was done to bring an index up to date, and what it holds now (memory.orders.SyncReport)."""

    @property
    def files(self) -> int: ...

    @property
    def chunks(self) -> int: ...

    @property
    def waiting(self) -> int: ...

    @property
    def indexed(self) -> int: ...

    @property
    def removed(self) -> int: ...

    @property
    def embedded(self) -> int: ...

    @property
    def failed(self) -> Sequence[ProblemView]: ...

    @property
    def warnings(self) -> Sequence[str]: ...


class GatewayApi(Protocol):
    """The running gateway. Every method that can fail raises gateway.views.Refused and nothing else.

    `chat` calls `on_event` on the event loop, in order, before it returns; a cancelled caller does not
    cancel the turn. `agent` None means the default agent, `session` None its main session.
    """

    @property
    def ready(self) -> bool: ...

    @property
    def draining(self) -> bool: ...

    @property
    def default_agent(self) -> str: ...

    def agents(self) -> list[str]: ...

    def models(self) -> Sequence[ModelView]: ...

    def sessions(self) -> list[SessionRecord]: ...

    def stop(self, key: SessionKey) -> bool: ...

    async def session(self, key: SessionKey) -> ConversationView: ...

    async def usage(self, *, by: Group, since: date | None) -> UsageReport: ...

    async def context(self, key: SessionKey) -> ContextReport: ...

    async def chat(
        self, *, agent: str | None, session: str | None, text: str, on_event: OnEvent | None = None
    ) -> ChatReply: ...

    async def memory_search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult: ...

    async def memory_read(
        self, path: str, *, agent: str | None, from_line: int, lines: int | None
    ) -> NoteView: ...

    async def memory_sync(
        self,
        *,
        agent: str | None,
        force: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncView: ...

    async def memory_status(self, *, agent: str | None, deep: bool = False) -> IndexStatus: ...
