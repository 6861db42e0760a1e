"""What all agents of one home share, once it is opened."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from agents.clock import Clock
from gateway.approvals import Approvals
from gateway.config import Config
from gateway.embedders import Embedders
from gateway.home import Home
from gateway.machine import local_time_zone
from gateway.media.media import Media
from gateway.models import Models
from gateway.usage import Ledger
from sessions.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """By the configuration that holds: with another one, another site shares the rest."""

    config: Config
    home: Home
    environ: Mapping[str, str]
    clock: Clock
    executor: ThreadPoolExecutor
    models: Models
    embedders: Embedders
    registry: Registry
    ledger: Ledger
    approvals: Approvals
    media: Media


def zone_of(config: Config) -> ZoneInfo:
    """The owner's time zone."""
    owner = config.agents.resolve(config.agents.default_id)
    return ZoneInfo((owner.time_zone if owner else None) or local_time_zone())
