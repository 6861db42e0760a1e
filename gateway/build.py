"""The composition root: from the configuration to a gateway whose parts know only each other."""

import os
import random
import secrets
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from agents.clock import system_clock
from gateway.accounts import Accounts
from gateway.applying import Applying
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
from gateway.machine import version
from gateway.maintaining import Histories
from gateway.media.media import media_of
from gateway.members import Members
from gateway.models import Models
from gateway.preference_commands import PreferenceCommands
from gateway.preferences import Preferences
from gateway.restart import Restart
from gateway.site import Site, zone_of
from gateway.sweeping import sweeping
from gateway.usage import Ledger
from sessions.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """`frontage` is None for a reader, who takes no messages. `warm_up` imports what the configured models
    need; it may take seconds and is run after readiness. `sweep` does what is due by the clock; it is called
    every few minutes. `apply` puts another configuration in the place of the one that holds."""

    gateway: Gateway
    frontage: Frontage | None
    apply: Applying
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
        members = Members(site, write=write)
        stack.push_async_callback(members.aclose)
        members.open()
        preferences = Preferences.open(home.preferences_file)
        stack.callback(preferences.close)
        gateway = _gateway(members, endings, preferences, restart or Restart())
        street = None
        if write:
            opening = _frontage(members, gateway, preferences, token=token, makers=makers)
            street = await stack.enter_async_context(opening)
        applying = Applying(members=members, gateway=gateway, frontage=street)
        stack.push_async_callback(applying.aclose)
        stack.push_async_callback(gateway.lanes.drain, config.gateway.drain_seconds if write else 0)
        stack.callback(setattr, gateway, "draining", True)  # what is cut off by a crash waits for a start too
        stack.callback(gateway.warmer.close)
        if write:
            gateway.lifecycle.settle_all()
        yield Parts(
            gateway=gateway,
            frontage=street,
            apply=applying,
            sweep=sweeping(site, gateway, members.roster, histories, street),
            warm_up=applying.warm_up,
        )


@asynccontextmanager
async def opened(config: Config, home: Home, *, write: bool = True) -> AsyncIterator[Gateway]:
    """A gateway in this process, without HTTP, for the terminal when no daemon runs. Raises as `built`."""
    async with built(config, home, write=write) as parts:
        parts.gateway.ready = True
        yield parts.gateway


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
        embedders=Embedders(config.models.providers, environ=environ),
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
            charged=ledger.heard,
        ),
    )


def _gateway(members: Members, endings: Endings, preferences: Preferences, restart: Restart) -> Gateway:
    site, settings = members.site, members.site.config.gateway
    choosing = PreferenceCommands(
        preferences=preferences,
        executor=site.executor,
        default=lambda: members.site.config.channels.queue.mode,
    )
    return Gateway(
        roster=members.roster,
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
        take=site.media.stored,
        outgoing=site.media.outgoing,
        hooks=Hooks(queue=choosing.queue, verbose=choosing.verbose, restart=restart.hook),
    )


def _short_id() -> str:
    """Six characters that a person can type and nobody can guess in time."""
    return "".join(secrets.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(6))


def _frontage(
    members: Members,
    gateway: Gateway,
    preferences: Preferences,
    *,
    token: str,
    makers: Makers | None,
) -> AbstractAsyncContextManager[Frontage]:
    site = members.site
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
        members.roster,
        clock=site.clock,
        makers=makers or accounts.makers,
        environ=site.environ,
        preferences=preferences,
        media=site.media,
        token=token,
        chance=chance,
    )
