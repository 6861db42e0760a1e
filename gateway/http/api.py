"""What the HTTP surface needs of the gateway, and nothing more."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Protocol

from agents.context_report import ContextReport
from agents.model.catalog import ModelStatus
from agents.turn import OnEvent
from gateway.commands.table import Typed
from gateway.usage_report import Group, UsageReport
from gateway.views import OWNER, Beside, ChatReply, Conversation, SaidResult
from memory.hybrid import SearchResult
from memory.orders import SyncProgress, SyncReport
from memory.reading import NoteText
from memory.status import IndexStatus
from sessions.key import SessionKey
from sessions.registry import SessionRecord


class Chats(Protocol):
    """Whoever takes messages and answers them."""

    async def chat(
        self,
        *,
        agent: str | None,
        session: str | None,
        text: str,
        on_event: OnEvent | None = None,
        beside: Beside = OWNER,
    ) -> ChatReply: ...


class GatewayApi(Chats, Protocol):
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

    def models(self) -> Sequence[ModelStatus]: ...

    def sessions(self) -> list[SessionRecord]: ...

    def command_of(self, text: str) -> Typed | None: ...

    def stop(self, key: SessionKey) -> bool: ...

    async def session(self, key: SessionKey) -> Conversation: ...

    async def usage(self, *, by: Group, since: date | None) -> UsageReport: ...

    async def context(self, key: SessionKey) -> ContextReport: ...

    async def obey(self, key: SessionKey, command: str) -> str: ...

    async def memory_search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult: ...

    async def sessions_search(self, query: str, *, agent: str | None, limit: int) -> SaidResult: ...

    async def memory_read(
        self, path: str, *, agent: str | None, from_line: int, lines: int | None
    ) -> NoteText: ...

    async def memory_sync(
        self,
        *,
        agent: str | None,
        force: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncReport: ...

    async def memory_status(self, *, agent: str | None, deep: bool = False) -> IndexStatus: ...
