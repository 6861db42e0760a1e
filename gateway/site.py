"""What all agents of one home share, once it is opened."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from agents.clock import Clock
from gateway.approvals import Approvals
from gateway.config import Config
from gateway.embedders import Embedders
from gateway.home import Home
from gateway.media.media import Media
from gateway.models import Models
from gateway.usage import Ledger
from sessions.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Made once, by the composition root."""

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
