"""The composition root: from the configuration to a gateway whose parts know only each other."""

import os
import random
import secrets
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from zoneinfo import ZoneInfo

from agents.clock import system_clock
from agents.conversation import Conversations
from agents.runtime import AgentRuntime
from agents.settings import AgentSettings, ModelsSettings
from agents.tools.exec import exec_tools
from agents.tools.files import file_tools
from agents.tools.noticed import noticed
from agents.tools.results import result_tools
from agents.tools.sessions import sessions_tools
from agents.tools.tool import Tool
from agents.visibility import notes_alone
from agents.workspace import Workspace
from gateway.accounts import Accounts
from gateway.approvals import Approvals
from gateway.commands.obey import Hooks
from gateway.config import Config
from gateway.embedders import Embedders
from gateway.endings import Endings
from gateway.frontage import Chance, Frontage, Makers, frontage
from gateway.gateway import Gateway
from gateway.harden import hide_from_children
from gateway.home import Home
from gateway.lock import HomeLock
from gateway.machine import local_time_zone, version
from gateway.maintaining import Histories
from gateway.media.media import media_of
from gateway.models import Models
from gateway.preference_commands import PreferenceCommands
from gateway.preferences import Preferences
from gateway.recollecting import archive_of, index_of, memory_tools_of, recall_of
from gateway.restart import Restart
from gateway.roster import Agent, Roster
from gateway.site import Site, zone_of
from gateway.sweeping import sweeping
from gateway.tools.send_file import send_file_tool
from gateway.usage import Ledger
from gateway.whereabouts import workspace_of
from memory.backend import MemoryBackend
from sessions.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """`frontage` is None for a reader, who takes no messages. `warm_up` imports what the configured models
    need; it may take seconds and is run after readiness. `sweep` does what is due by the clock; it is called
    every few minutes."""

    gateway: Gateway
    frontage: Frontage | None
    change_models: Callable[[ModelsSettings], None]
    sweep: Callable[[], Awaitable[None]]
    warm_up: Callable[[], Awaitable[None]]


@asynccontextmanager
async def built(
    config: Config,
    home: Home,
    *,
    write: bool = True,
    environ: Mapping[str, str] = os.environ,
    token: str = "",
    makers: Makers | None = None,
    restart: Restart | None = None,
) -> AsyncIterator[Parts]:
    """Everything, opened; closed in the opposite order.

    With `write` the home is locked and workspaces are made. `token` is the gateway's own, which never leaves;
    `makers` stand in for the platforms; who gives `restart` waits for it. Raises HomeError, AlreadyRunning,
    WorkspaceError, OSError.
    """
    async with AsyncExitStack() as stack:
        home.ensure([agent.id for agent in config.agents.list])
        if write:
            stack.enter_context(HomeLock(home.lock_file))
            hide_from_children()
        site = _site(config, home, environ, stack, write=write)
        endings = Endings.open(home.endings_file, alone=write)
        stack.callback(endings.close)
        histories = Histories.open(home.maintenance_file, alone=write)
        stack.callback(histories.close)
        settings = [found for agent in config.agents.list if (found := config.agents.resolve(agent.id))]
        roster = _roster(site, settings, stack, write=write)
        preferences = Preferences.open(home.preferences_file)
        stack.callback(preferences.close)
        gateway = _gateway(site, roster, endings, preferences, restart or Restart())
        street = None
        if write:
            opening = _frontage(site, gateway, roster, preferences, token=token, makers=makers)
            street = await stack.enter_async_context(opening)
        stack.push_async_callback(gateway.lanes.drain, config.gateway.drain_seconds if write else 0)
        stack.callback(gateway.warmer.close)
        if write:
            gateway.lifecycle.settle_all()
        yield Parts(
            gateway=gateway,
            frontage=street,
            change_models=site.change_models,
            sweep=sweeping(site, gateway, roster, histories, street),
            warm_up=partial(site.models.warm_up, [one.model for one in settings]),
        )


@asynccontextmanager
async def opened(config: Config, home: Home, *, write: bool = True) -> AsyncIterator[Gateway]:
    """A gateway in this process, without HTTP, for the terminal when no daemon runs. Raises as `built`."""
    async with built(config, home, write=write) as parts:
        parts.gateway.ready = True
        yield parts.gateway


def _roster(site: Site, settings: Sequence[AgentSettings], stack: AsyncExitStack, *, write: bool) -> Roster:
    indexes = {one.id: index for one in settings if (index := index_of(site, one, stack))}
    agents = {one.id: _agent(site, one, indexes, stack, write=write) for one in settings}
    return Roster(agents=agents, default=site.config.agents.default_id)


def _site(
    config: Config, home: Home, environ: Mapping[str, str], stack: AsyncExitStack, *, write: bool
) -> Site:
    """What all agents share, opened."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="journal")
    zone = zone_of(config)
    ledger = Ledger.open(home.journals, config.models, executor=executor, clock=system_clock, zone=zone)
    stack.callback(ledger.close)
    stack.enter_context(executor)
    models = Models(config.models, environ=environ, clock=system_clock, check=ledger.check)
    stack.push_async_callback(models.aclose)
    embedders = Embedders(config.models.providers, environ=environ)
    stack.push_async_callback(embedders.aclose)
    registry = Registry.open(home.registry_file, home.transcripts)
    stack.callback(registry.close)
    approvals = Approvals(
        home.approvals_file, clock=system_clock, new_id=_short_id, executor=executor, write=write
    )
    stack.callback(approvals.close)
    return Site(
        config=config,
        home=home,
        environ=environ,
        clock=system_clock,
        executor=executor,
        models=models,
        embedders=embedders,
        registry=registry,
        ledger=ledger,
        approvals=approvals,
        media=media_of(
            config,
            home.media,
            environ=environ,
            clock=system_clock,
            token=secrets.token_bytes,
            check=ledger.check,
        ),
    )


def _gateway(
    site: Site, roster: Roster, endings: Endings, preferences: Preferences, restart: Restart
) -> Gateway:
    settings = site.config.gateway
    choosing = PreferenceCommands(
        preferences=preferences, executor=site.executor, default=site.config.channels.queue.mode
    )
    return Gateway(
        roster=roster,
        registry=site.registry,
        endings=endings,
        sessions=site.config.sessions,
        models=site.models.status,
        window=site.models.window,
        price=site.models.price,
        ledger=site.ledger,
        clock=site.clock,
        new_id=lambda: str(uuid.uuid4()),
        executor=site.executor,
        max_text_chars=settings.max_text_chars,
        max_concurrent_turns=settings.max_concurrent_turns,
        version=version(),
        approvals=site.approvals,
        take=site.media.taker.stored,
        outgoing=site.media.outgoing,
        hooks=Hooks(queue=choosing.queue, verbose=choosing.verbose, restart=restart.hook),
    )


def _short_id() -> str:
    """Six characters that a person can type and nobody can guess in time."""
    return "".join(secrets.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(6))


def _frontage(
    site: Site,
    gateway: Gateway,
    roster: Roster,
    preferences: Preferences,
    *,
    token: str,
    makers: Makers | None,
) -> AbstractAsyncContextManager[Frontage]:
    menu = [(one.name, one.help) for one in gateway.commands.table.values()]
    chance = Chance(jitter=lambda: random.uniform(0.9, 1.1), token=secrets.token_bytes)  # noqa: S311
    accounts = Accounts(
        home=site.home,
        clock=site.clock,
        commands=menu,
        environ=site.environ,
        jitter=chance.jitter,
    )
    return frontage(
        site.config,
        site.home,
        gateway,
        roster,
        clock=site.clock,
        makers=makers or accounts.makers,
        environ=site.environ,
        preferences=preferences,
        media=site.media,
        token=token,
        chance=chance,
    )


def _agent(
    site: Site,
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
    recall, archive = recall_of(site, settings, indexes), archive_of(site, settings, stack)
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
    hands = _hands(site, settings, workspace)
    tools = (
        *(noticed(hands, recall.own.stale) if recall else hands),
        *(memory_tools_of(site, settings, recall, sees) if recall else ()),
        *sessions_tools(archive),
        *result_tools(conversations.said, max_chars=settings.tools.max_read_chars),
        send_file_tool(
            site.media, workspace=workspace.root, folder=site.home.media, forbidden=(site.home.path,)
        ),
    )
    runtime = AgentRuntime(
        settings=settings,
        time_zone=zone,
        workspace=workspace,
        conversations=conversations,
        tools=tools,
        choose=partial(site.models.chain, settings.model, settings.fallbacks),
        choose_named=site.models.choose,
        clock=site.clock,
        sessions=site.config.sessions,
        on_answer=site.ledger.note,
    )
    return Agent(runtime=runtime, recall=recall, archive=archive, remembers_talk=talk)


def _hands(site: Site, settings: AgentSettings, workspace: Workspace) -> list[Tool]:
    """Files and commands."""
    closed, media = (site.home.path,), site.home.media
    files = file_tools(workspace, settings.tools, forbidden=closed, readable=(media,))
    remembered = partial(site.approvals.remembered, settings.id)
    return files + exec_tools(
        workspace,
        settings.tools,
        environ=site.environ,
        media=media,
        forbidden=closed,
        remembered=remembered,
    )
