"""The composition root: from the configuration to a gateway whose parts know only each other."""

import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from zoneinfo import ZoneInfo

from agents.archive import Archive
from agents.clock import Clock, system_clock
from agents.conversation import Conversations
from agents.recall import Recall
from agents.runtime import AgentRuntime
from agents.settings import AgentSettings
from agents.tools.exec import exec_tools
from agents.tools.files import file_tools
from agents.tools.memory import Sees, memory_tools
from agents.tools.noticed import NoticedTool
from agents.tools.results import result_tools
from agents.tools.sessions import sessions_tools
from agents.tools.tool import Tool
from agents.transcripts import SessionDocuments, Transcripts
from agents.visibility import notes_alone
from agents.workspace import Workspace
from gateway.config import Config
from gateway.embedders import Embedders
from gateway.endings import Endings
from gateway.gateway import Gateway
from gateway.harden import hide_from_children
from gateway.home import Home
from gateway.lock import HomeLock
from gateway.machine import local_time_zone, version
from gateway.maintaining import Histories, Maintenance
from gateway.models import Models
from gateway.redact import redact
from gateway.roster import Agent, Roster
from gateway.usage import Ledger
from gateway.whereabouts import workspace_of
from memory.backend import MemoryBackend
from memory.index import MemoryIndex
from memory.sessions_text import SessionsText
from sessions.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """`warm_up` imports what the configured models need; it may take seconds and is run after readiness.
    `sweep` does what is due by the clock; it is called every few minutes."""

    gateway: Gateway
    sweep: Callable[[], Awaitable[None]]
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
    registry: Registry
    ledger: Ledger


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
        site = _site(config, home, environ, stack)
        endings = Endings.open(home.endings_file, alone=write)
        stack.callback(endings.close)
        histories = Histories.open(home.maintenance_file, alone=write)
        stack.callback(histories.close)
        settings = [found for agent in config.agents.list if (found := config.agents.resolve(agent.id))]
        roster = _roster(site, settings, stack, write=write)
        gateway = _gateway(site, roster, endings)
        stack.push_async_callback(gateway.lanes.drain, config.gateway.drain_seconds if write else 0)
        if write:
            gateway.lifecycle.settle_all()
        yield Parts(
            gateway=gateway,
            sweep=_sweep(site, gateway, roster, histories),
            warm_up=partial(site.models.warm_up, [one.model for one in settings]),
        )


@asynccontextmanager
async def opened(config: Config, home: Home, *, write: bool = True) -> AsyncIterator[Gateway]:
    """A gateway in this process, without HTTP, for the terminal when no daemon runs. Raises as `built`."""
    async with built(config, home, write=write) as parts:
        parts.gateway.ready = True
        yield parts.gateway


def _roster(site: _Site, settings: Sequence[AgentSettings], stack: AsyncExitStack, *, write: bool) -> Roster:
    indexes = {one.id: index for one in settings if (index := _index(site, one, stack))}
    agents = {one.id: _agent(site, one, indexes, stack, write=write) for one in settings}
    return Roster(agents=agents, default=site.config.agents.default_id)


def _site(config: Config, home: Home, environ: Mapping[str, str], stack: AsyncExitStack) -> _Site:
    """What all agents share, opened."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="journal")
    owner = config.agents.resolve(config.agents.default_id)
    zone = ZoneInfo((owner.time_zone if owner else None) or local_time_zone())
    ledger = Ledger.open(home.journals, config.models, executor=executor, clock=system_clock, zone=zone)
    stack.callback(ledger.close)
    stack.enter_context(executor)
    models = Models(config.models, environ=environ, clock=system_clock, check=ledger.check)
    stack.push_async_callback(models.aclose)
    embedders = Embedders(config.models.providers, environ=environ)
    stack.push_async_callback(embedders.aclose)
    registry = Registry.open(home.registry_file, home.transcripts)
    stack.callback(registry.close)
    return _Site(
        config=config,
        home=home,
        environ=environ,
        clock=system_clock,
        executor=executor,
        models=models,
        embedders=embedders,
        registry=registry,
        ledger=ledger,
    )


def _gateway(site: _Site, roster: Roster, endings: Endings) -> Gateway:
    settings = site.config.gateway
    return Gateway(
        roster=roster,
        registry=site.registry,
        endings=endings,
        sessions=site.config.sessions,
        models=site.models.status,
        window=site.models.window,
        ledger=site.ledger,
        clock=site.clock,
        new_id=lambda: str(uuid.uuid4()),
        executor=site.executor,
        max_text_chars=settings.max_text_chars,
        max_concurrent_turns=settings.max_concurrent_turns,
        version=version(),
    )


def _sweep(
    site: _Site, gateway: Gateway, roster: Roster, histories: Histories
) -> Callable[[], Awaitable[None]]:
    """What is looked after by the clock: sessions that are over, then memory that is due."""
    maintenance = Maintenance(
        roster=roster,
        lifecycle=gateway.lifecycle,
        settings=lambda agent: site.config.memory_of(agent).maintenance,
        histories=histories,
        backups=site.home.backups,
        clock=site.clock,
        executor=site.executor,
    )

    async def sweep() -> None:
        await gateway.lifecycle.sweep()
        await maintenance.sweep()

    return sweep


def _transcripts(site: _Site, agent: str) -> Transcripts:
    return Transcripts(
        site.home.transcripts(agent), redact=redact, max_line_bytes=site.config.sessions.max_line_bytes
    )


def _index(site: _Site, settings: AgentSettings, stack: AsyncExitStack) -> MemoryBackend | None:
    """None where there is no memory engine."""
    memory = site.config.memory_of(settings.id)
    if memory.backend == "none":
        return None
    documents = SessionDocuments(
        _transcripts(site, settings.id),
        growth=memory.search.sync.sessions,
        has_ended=site.registry.has_ended,
    )
    index = MemoryIndex(
        workspace=Workspace(workspace_of(site.config, site.home, settings)).root,
        database=site.home.memory_database(settings.id),
        settings=memory,
        embedder=site.embedders.of(memory.search),
        documents=documents if "sessions" in memory.search.sources else None,
        today=lambda: site.clock().astimezone(ZoneInfo(settings.time_zone or local_time_zone())).date(),
    )
    stack.push_async_callback(index.aclose)
    return index


def _archive(site: _Site, settings: AgentSettings, stack: AsyncExitStack) -> Archive:
    transcripts = _transcripts(site, settings.id)
    text = SessionsText(database=site.home.sessions_database(settings.id), talks=transcripts)
    stack.push_async_callback(text.aclose)
    return Archive(
        text=text,
        transcripts=transcripts,
        directory=site.registry,
        visibility=site.config.memory_of(settings.id).sessions.visibility,
    )


def _recall(site: _Site, settings: AgentSettings, indexes: Mapping[str, MemoryBackend]) -> Recall | None:
    memory = site.config.memory_of(settings.id)
    if settings.id not in indexes:
        return None
    return Recall(
        own=indexes[settings.id],
        others={one: indexes[one] for one in memory.read_from if one in indexes and one != settings.id},
        max_results=memory.search.max_results,
        min_score=memory.search.min_score,
    )


def _memory_tools(site: _Site, settings: AgentSettings, recall: Recall, sees: Sees) -> list[Tool]:
    return memory_tools(
        recall,
        sees=sees,
        others=tuple(recall.others),
        citations=site.config.memory_of(settings.id).search.citations,
    )


def _agent(
    site: _Site,
    settings: AgentSettings,
    indexes: Mapping[str, MemoryBackend],
    stack: AsyncExitStack,
    *,
    write: bool,
) -> Agent:
    zone = settings.time_zone or local_time_zone()
    workspace = Workspace(workspace_of(site.config, site.home, settings))
    if write:
        workspace.ensure(site.clock().astimezone(ZoneInfo(zone)).date())
    recall, archive = _recall(site, settings, indexes), _archive(site, settings, stack)
    talk = "sessions" in site.config.memory_of(settings.id).search.sources
    sees = archive.visible if talk else notes_alone
    conversations = Conversations(
        site.home.transcripts(settings.id),
        clock=site.clock,
        limit=site.config.sessions.open_limit,
        max_line_bytes=site.config.sessions.max_line_bytes,
        executor=site.executor,
    )
    stack.callback(conversations.close)
    closed, readable = (site.home.path,), (site.home.media,)
    hands = (
        *file_tools(workspace, settings.tools, forbidden=closed, readable=readable),
        *exec_tools(workspace, settings.tools, environ=site.environ, media=site.home.media, forbidden=closed),
    )
    tools = (
        *(_told(hands, recall.own.stale) if recall else hands),
        *(_memory_tools(site, settings, recall, sees) if recall else ()),
        *sessions_tools(archive),
        *result_tools(conversations.said, max_chars=settings.tools.max_read_chars),
    )
    runtime = AgentRuntime(
        settings=settings,
        time_zone=zone,
        workspace=workspace,
        conversations=conversations,
        tools=tools,
        choose=partial(site.models.choose, settings.model),
        choose_named=site.models.choose,
        clock=site.clock,
        sessions=site.config.sessions,
        on_answer=site.ledger.note,
    )
    return Agent(runtime=runtime, recall=recall, archive=archive, remembers_talk=talk)


def _told(tools: Iterable[Tool], stale: Callable[[], None]) -> Iterator[Tool]:
    """The same tools; after those that may write, `stale` is called."""
    for tool in tools:
        yield tool if tool.spec.name in {"read", "list"} else NoticedTool(tool, stale)
