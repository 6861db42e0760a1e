"""The street side of a gateway: from the configuration to channels that run and answers that are sent."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from pydantic import BaseModel, SecretStr

from agents.clock import Clock
from channels.mentions import names_in
from channels.settings import ChannelsSettings
from gateway.access import Access, AccessRules
from gateway.config import Config
from gateway.errands import Errands
from gateway.front import Front, Journals, Limits, front
from gateway.gateway import Gateway
from gateway.home import Home
from gateway.inbox import Inbox
from gateway.media.media import Media
from gateway.media.taking import Uploads
from gateway.outbox import Outbox
from gateway.owner_places import OwnerPlaces
from gateway.pairing import PairingStore
from gateway.postman import Pace
from gateway.preferences import Preferences
from gateway.roster import Roster
from gateway.routing import Routes
from gateway.supervisor import Make, Name, Supervisor
from gateway.writing import Writer

DEFAULT_NAMES = ("clawd",)
Makers = Callable[[ChannelsSettings], Mapping[Name, Make]]
"""How each enabled account is made; making one imports what its platform needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """Where randomness comes from: a factor near 1, and so many secret bytes."""

    jitter: Callable[[], float]
    token: Callable[[int], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontage:
    """`street` keeps the channels, `access` is the door, `front` what lies behind it. `learn` takes in
    who may speak to whom by another configuration, and its secrets; `restart` starts the named accounts anew,
    and those alone, and ends those that are gone. `uploads` takes files that come another way."""

    front: Front
    access: Access
    street: Supervisor
    learn: Callable[[Config], None]
    restart: Callable[[Config, frozenset[Name]], Awaitable[None]]
    uploads: Uploads


@asynccontextmanager
async def frontage(
    config: Config,
    home: Home,
    gateway: Gateway,
    roster: Roster,
    *,
    clock: Clock,
    makers: Makers,
    environ: Mapping[str, str],
    preferences: Preferences,
    media: Media,
    token: str,
    chance: Chance,
) -> AsyncIterator[Frontage]:
    """Opened; channels do not run yet. Raises OSError."""
    inbox = Inbox.open(home.inbox_file, now=clock())
    outbox = Outbox.open(home.outbox_file, now=clock())
    store = PairingStore.open(home.pairing_file, clock=clock, random=chance.token)
    writer = Writer([*secrets_in(config), *_secrets_of(environ), *([token] if token else [])])
    with ThreadPoolExecutor(1, thread_name_prefix="mail") as executor:
        errands = Errands.open(home.errands_file, clock=clock, executor=executor)
        access = Access(access_rules(config, roster), store, executor=executor)
        places = OwnerPlaces.open(home.places_file, trusted=access.is_owner, executor=executor)
        made = front(
            gateway,
            door=access,
            journals=Journals(inbox=inbox, outbox=outbox, errands=errands, places=places),
            pace=_pace(config, chance),
            writer=writer,
            fetch=media.fetch,
            outgoing=media.outgoing,
            executor=executor,
            preferences=preferences,
            limits=_limits(config),
        )
        street = _street(made, makers(config.channels), clock, chance)

        try:
            yield Frontage(
                front=made,
                access=access,
                street=street,
                learn=partial(_learn, writer, access, roster),
                restart=lambda new, accounts: street.change(makers(new.channels), accounts),
                uploads=Uploads(lambda: media.taker),
            )
        finally:
            await made.postman.drain(0)
    for journal in (inbox, outbox, errands, places, store):
        journal.close()


def _learn(writer: Writer, access: Access, roster: Roster, config: Config) -> None:
    writer.learn(secrets_in(config))
    access.change(access_rules(config, roster))


def _pace(config: Config, chance: Chance) -> Pace:
    return Pace(max_age=timedelta(minutes=config.gateway.outbox_minutes), jitter=chance.jitter)


def _limits(config: Config) -> Limits:
    settings = config.gateway
    return Limits(
        replay_age=timedelta(minutes=settings.replay_minutes), stuck_seconds=settings.stuck_minutes * 60
    )


def _street(made: Front, makes: Mapping[Name, Make], clock: Clock, chance: Chance) -> Supervisor:
    street = Supervisor(
        receive=made.reception.receive, postman=made.postman, clock=clock, jitter=chance.jitter
    )
    for name, make in makes.items():
        street.add(name, make)
    return street


def access_rules(config: Config, roster: Roster) -> AccessRules:
    """What the configuration says about who may speak."""
    owner = roster.of(None).runtime
    return AccessRules(
        channels=config.channels,
        routes=Routes.of(config.agents, config.sessions),
        time_zone=owner.time_zone,
        names=Names(roster),
    )


class Names:
    """The names an agent is called by, as its IDENTITY.md says now; read again when the file changes."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._read: dict[Path, tuple[float, Sequence[str]]] = {}

    def __call__(self, agent: str) -> Sequence[str]:
        path = self._roster.of(agent).runtime.workspace.root / "IDENTITY.md"
        try:
            changed = path.stat().st_mtime
        except OSError:
            return DEFAULT_NAMES
        known = self._read.get(path)
        if known is None or known[0] != changed:
            text = path.read_text(encoding="utf-8", errors="replace")[:20_000]
            known = self._read[path] = (changed, names_in(text) or DEFAULT_NAMES)
        return known[1]


def secrets_in(settings: BaseModel) -> Iterator[str]:
    """Every secret of the settings, at any depth."""
    yield from _secrets(settings)


def _secrets(value: object) -> Iterator[str]:
    match value:
        case SecretStr():
            yield value.get_secret_value()
        case BaseModel():
            for _, inner in value:
                yield from _secrets(inner)
        case Mapping():
            for inner in value.values():
                yield from _secrets(inner)
        case list() | tuple():
            for inner in value:
                yield from _secrets(inner)


def _secrets_of(environ: Mapping[str, str]) -> Iterator[str]:
    """What the environment's names say is secret."""
    return (
        value for name, value in environ.items() if name.endswith(("_KEY", "_TOKEN", "_SECRET", "_PASSWORD"))
    )
