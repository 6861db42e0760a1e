"""What differs between two configurations, and what of it can hold without a restart."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import BaseModel, SecretStr

from gateway.config.problems import Loc, dotted
from gateway.config.settings import Config

Account: TypeAlias = tuple[str, str]
"""A platform and the name of one of its accounts."""

_PLATFORMS = ("telegram", "discord", "whatsapp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """`applied`, `channels` and `restart` are dotted paths. `accounts` are those whose own settings, or those
    of their platform, are others now; `everyone` says that what holds for all channels is."""

    applied: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    accounts: frozenset[Account] = frozenset()
    everyone: bool = False

    @property
    def nothing(self) -> bool:
        return not (self.applied or self.channels or self.restart)


def changes(old: Config, new: Config) -> Changes:
    """Whatever is not known to be safe to change needs a restart."""
    applied, channels, restart = [], [], []
    accounts: set[Account] = set()
    everyone = False
    for loc in differing(old, new):
        if is_applied(loc):
            applied.append(dotted(loc))
        elif loc[0] == "channels":
            channels.append(dotted(loc))
            found = _accounts(loc, old, new)
            accounts |= found
            everyone = everyone or not found
        else:
            restart.append(dotted(loc))
    return Changes(
        applied=tuple(applied),
        channels=tuple(channels),
        restart=tuple(restart),
        accounts=frozenset(accounts),
        everyone=everyone,
    )


def is_applied(loc: Loc) -> bool:
    """Whether a change there holds from the next use on."""
    match loc:
        case ("models" | "agents" | "memory" | "sessions", *_):
            return True
        case ("gateway", "log_level" | "hooks" | "media", *_):
            return True
        case ("channels", "console", *_):  # read by each `clawd chat`
            return True
        case _:
            return False


def differing(old: object, new: object, above: Loc = ()) -> Iterator[Loc]:
    """The deepest places at which two values differ."""
    if isinstance(old, BaseModel) and type(old) is type(new) and isinstance(new, BaseModel):
        for name in type(old).model_fields:
            yield from differing(getattr(old, name), getattr(new, name), (*above, name))
    elif isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            yield from differing(old.get(name), new.get(name), (*above, str(name)))
    elif _plain(old) != _plain(new):
        yield above


def _plain(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def _accounts(loc: Loc, old: Config, new: Config) -> set[Account]:
    """Which accounts a change below `channels` is about; empty: all of them."""
    match loc:
        case ("channels", str(platform), "accounts", str(name), *_) if platform in _PLATFORMS:
            return {(platform, name)}
        case ("channels", str(platform), *_) if platform in _PLATFORMS:
            names = [*_names(old, platform), *_names(new, platform)]
            return {(platform, name) for name in names}
        case _:
            return set()


def _names(config: Config, platform: str) -> list[str]:
    match platform:
        case "telegram":
            return [*config.channels.telegram.accounts]
        case "discord":
            return [*config.channels.discord.accounts]
        case _:
            return [*config.channels.whatsapp.accounts]
