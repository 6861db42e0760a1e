"""An agent as gateway/build.py makes it, but for search and commands, in a folder of its own."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agents.clock import Clock
from agents.conversation import Conversations
from agents.model.provider import CacheTtl, ModelProvider
from agents.model.spelling import Spelling
from agents.runtime import AgentRuntime
from agents.scene import ChosenModel
from agents.settings import AgentSettings
from agents.tools.files import file_tools
from agents.tools.results import result_tools
from agents.tools.tool import Tool
from agents.workspace import Workspace
from sessions.settings import SessionsSettings

ZONE = "Europe/Lisbon"
WINDOW = 200_000
MODEL = "claude-sonnet-5-5"


def agent(
    provider: ModelProvider,
    workspace: Workspace,
    executor: ThreadPoolExecutor,
    *,
    clock: Clock,
    tools: Sequence[Tool] = (),
    sessions: SessionsSettings,
    ttl: CacheTtl | None = "5m",
    spelling: Spelling | None = None,
) -> AgentRuntime:
    """`workspace` is there already; transcripts lie beside it."""
    settings = AgentSettings(id="main", cache_ttl=ttl)
    conversations = Conversations(
        folder(workspace), clock=clock, limit=4, max_bytes=1 << 24, max_line_bytes=1 << 24, executor=executor
    )
    chosen = ChosenModel(
        provider=provider,
        provider_name=provider.name,
        model=MODEL,
        max_output=None,
        max_retries=0,
        window=WINDOW,
        spelling=spelling,
    )

    async def choose() -> ChosenModel:
        return chosen

    async def choose_named(_name: str) -> ChosenModel:
        return chosen

    return AgentRuntime(
        settings=settings,
        time_zone=ZONE,
        workspace=workspace,
        conversations=conversations,
        tools=(
            *file_tools(workspace, settings.tools),
            *result_tools(conversations.said, max_chars=settings.tools.max_read_chars),
            *tools,
        ),
        choose=choose,
        choose_named=choose_named,
        clock=clock,
        sessions=sessions,
    )


def folder(workspace: Workspace) -> Path:
    return workspace.root.parent / "sessions"
