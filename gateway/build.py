"""The composition root: from the configuration to a gateway whose parts know only each other."""

import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone_name

from agents.clock import Clock, system_clock
from agents.conversation import Conversations
from agents.runtime import AgentRuntime
from agents.settings import AgentSettings
from agents.tools.exec import exec_tools
from agents.tools.files import file_tools
from agents.tools.memory import memory_tools
from agents.workspace import Workspace
from gateway.config import Config
from gateway.embedders import Embedders
from gateway.gateway import Agent, Gateway
from gateway.harden import hide_from_children
from gateway.home import Home
from gateway.lock import HomeLock
from gateway.models import Models
from memory.index import MemoryIndex
from sessions.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """`warm_up` imports what the configured models need; it may take seconds and is run after readiness."""

    gateway: Gateway
    warm_up: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site:
    """What all agents of one home share."""

    config: Config
    home: Home
    environ: Mapping[str, str]
    clock: Clock
    executor: ThreadPoolExecutor
    models: Models
    embedders: Embedders


@asynccontextmanager
async def built(
    config: Config, home: Home, *, write: bool = True, environ: Mapping[str, str] = os.environ
) -> AsyncIterator[Parts]:
    """Everything, opened; closed in the opposite order.

    With `write` the home is locked and workspaces are made. Raises HomeError, AlreadyRunning,
    WorkspaceError, OSError.
    """
    async with AsyncExitStack() as stack:
        home.ensure([agent.id for agent in config.agents.list])
        if write:
            stack.enter_context(HomeLock(home.lock_file))
            hide_from_children()
        executor = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="journal"))
        models = Models(config.models, environ=environ, clock=system_clock)
        stack.push_async_callback(models.aclose)
        embedders = Embedders(config.models.providers, environ=environ)
        stack.push_async_callback(embedders.aclose)
        site = _Site(
            config=config,
            home=home,
            environ=environ,
            clock=system_clock,
            executor=executor,
            models=models,
            embedders=embedders,
        )
        registry = Registry.open(home.registry_file, home.transcripts)
        stack.callback(registry.close)
        settings = [found for agent in config.agents.list if (found := config.agents.resolve(agent.id))]
        gateway = Gateway(
            agents={one.id: _agent(site, one, stack, write=write) for one in settings},
            default_agent=config.agents.default_id,
            registry=registry,
            models=models.status,
            clock=system_clock,
            new_id=lambda: str(uuid.uuid4()),
            executor=executor,
            max_text_chars=config.gateway.max_text_chars,
            max_concurrent_turns=config.gateway.max_concurrent_turns,
        )
        stack.push_async_callback(gateway.lanes.drain, 0)
        yield Parts(gateway=gateway, warm_up=partial(models.warm_up, [one.model for one in settings]))


@asynccontextmanager
async def opened(config: Config, home: Home, *, write: bool = True) -> AsyncIterator[Gateway]:
    """A gateway in this process, without HTTP, for the terminal when no daemon runs. Raises as `built`."""
    async with built(config, home, write=write) as parts:
        parts.gateway.ready = True
        yield parts.gateway


def _agent(site: _Site, settings: AgentSettings, stack: AsyncExitStack, *, write: bool) -> Agent:
    zone = settings.time_zone or local_time_zone()
    workspace = Workspace(workspace_of(site.config, site.home, settings))
    if write:
        workspace.ensure(site.clock().astimezone(ZoneInfo(zone)).date())
    memory = site.config.memory_of(settings.id)
    index = MemoryIndex(
        workspace=workspace.root,
        database=site.home.memory_database(settings.id),
        settings=memory,
        embedder=site.embedders.of(memory.search),
    )
    stack.push_async_callback(index.aclose)
    conversations = Conversations(
        site.home.transcripts(settings.id),
        clock=site.clock,
        limit=site.config.sessions.open_limit,
        max_line_bytes=site.config.sessions.max_line_bytes,
        executor=site.executor,
    )
    stack.callback(conversations.close)
    closed, readable = (site.home.path,), (site.home.media,)
    tools = (
        *file_tools(workspace, settings.tools, forbidden=closed, readable=readable),
        *exec_tools(workspace, settings.tools, environ=site.environ, media=site.home.media, forbidden=closed),
        *memory_tools(index),
    )
    runtime = AgentRuntime(
        settings=settings,
        time_zone=zone,
        workspace=workspace,
        conversations=conversations,
        tools=tools,
        choose=partial(site.models.choose, settings.model),
        clock=site.clock,
    )
    return Agent(runtime=runtime, index=index)


def workspace_of(config: Config, home: Home, agent: AgentSettings) -> Path:
    """Where an agent's workspace is: as configured, else the home's default."""
    if agent.workspace is not None:
        return agent.workspace.expanduser().absolute()
    return home.default_workspace(agent.id, main=agent.id == config.agents.default_id)


def local_time_zone() -> str:
    """The machine's IANA time zone; UTC when it has none that is known."""
    try:
        name = get_localzone_name()
        ZoneInfo(name)
    except (LookupError, ValueError, OSError, ZoneInfoNotFoundError):
        return "UTC"
    return name
