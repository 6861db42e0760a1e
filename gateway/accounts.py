"""How each account of the configuration becomes a channel: the one place that knows the platforms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.clock import Clock
from channels.settings import ChannelsSettings
from gateway.home import Home
from gateway.supervisor import Make, Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """`commands` are those that a platform may show in a menu, each with what it does."""

    home: Home
    clock: Clock
    commands: Sequence[tuple[str, str]]

    def makers(self, settings: ChannelsSettings) -> Mapping[Name, Make]:
        """Every enabled account. A maker raises ChannelFailed, and imports its platform's library."""
        del settings
        return {}
