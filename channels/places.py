"""Which settings hold in a group, topic, thread or server channel, and where each of them stands."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from channels.account import AccountSettings, GroupSettings, TopicSettings
from channels.message import Address
from channels.peer import ANYONE, canonical_peer, entry_of
from channels.platforms import ChannelSettings, DiscordAccount, GuildSettings

Layer: TypeAlias = tuple[str, TopicSettings | GroupSettings | GuildSettings]
S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`rule` names the setting that says whether it is `heard`. `people` and `roles` are who may speak;
    with both None the account's own lists hold. `…_rule` names where a value stands."""

    heard: bool
    listed: bool
    rule: str
    require_mention: bool = True
    mention_rule: str = ""
    people: tuple[str, ...] | None = None
    roles: tuple[str, ...] | None = None
    people_rule: str = ""
    agent: str | None = None
    agent_rule: str = ""
    system_prompt: str | None = None
    history_limit: int = 0


def account_path(address: Address) -> str:
    return f"channels.{address.channel}.accounts.{address.account}"


def place_of(address: Address, settings: AccountSettings, moved: Mapping[str, str]) -> Place:
    """What holds at the address of a group. `moved` leads from a chat's present id to its former one."""
    base = account_path(address)
    former = tuple(_former(address.chat, moved))
    chats = [canonical_peer(address.channel, chat) for chat in (*former, address.parent) if chat]
    if isinstance(settings, DiscordAccount) and address.space:
        layers, missing = _of_guild(f"{base}.guilds", settings, address, chats)
    else:
        layers = _of_groups(f"{base}.groups", settings.groups, address, chats)
        missing = "" if layers else f"{base}.groups"
    if missing and (layers or settings.group_policy != "open"):  # a server that lists channels means these
        return Place(heard=False, listed=False, rule=missing)
    off = next((path for path, layer in _first_of_each_kind(layers) if not layer.enabled), None)
    if off is not None:
        return Place(heard=False, listed=True, rule=f"{off}.enabled")
    return _filled(base, settings, layers, listed=not missing)


def _filled(base: str, settings: AccountSettings, layers: Sequence[Layer], *, listed: bool) -> Place:
    people_rule, people, roles = _people(layers)
    mention_rule, require_mention = _first(layers, "require_mention")
    agent_rule, agent = _first(layers, "agent")
    _, prompt = _first(layers, "system_prompt")
    _, limit = _first([one for one in layers if not isinstance(one[1], TopicSettings)], "history_limit")
    return Place(
        heard=True,
        listed=listed,
        rule=layers[0][0] if layers else f"{base}.group_policy",
        require_mention=require_mention is not False,
        mention_rule=mention_rule or f"{layers[-1][0] if layers else _star(base)}.require_mention",
        people=people,
        roles=roles,
        people_rule=people_rule,
        agent=agent if isinstance(agent, str) else None,
        agent_rule=agent_rule,
        system_prompt=prompt if isinstance(prompt, str) else None,
        history_limit=limit if isinstance(limit, int) else settings.history_limit,
    )


def _star(base: str) -> str:
    return f'{base}.groups."*"'


def _former(chat: str, moved: Mapping[str, str]) -> Iterator[str]:
    """The chat's id and the ids that it had before, the present one first."""
    seen: set[str] = set()
    while chat and chat not in seen:
        yield chat
        seen.add(chat)
        chat = moved.get(chat, "")


def original(chat: str, moved: Mapping[str, str]) -> str:
    """The first id that the chat had."""
    return tuple(_former(chat, moved))[-1]


def _of_groups(
    path: str, groups: Mapping[str, GroupSettings], address: Address, chats: Sequence[str]
) -> list[Layer]:
    """Topic, group and `*`, the most exact first."""
    found = _exact(groups, address.channel, chats)
    layers: list[Layer] = []
    anyone = _anyone(groups, address.channel)
    for key, group in (found, anyone):
        threads = [one for one in (address.thread, address.chat if address.parent else "") if one]
        topic = _exact(group.topics, "", threads) if group is not None else ("", None)
        if topic[1] is not None and not any(isinstance(one, TopicSettings) for _, one in layers):
            layers.insert(0, (f'{path}."{key}".topics."{topic[0]}"', topic[1]))
        if group is not None:
            layers.append((f'{path}."{key}"', group))
    return layers


def _of_guild(
    path: str, settings: DiscordAccount, address: Address, chats: Sequence[str]
) -> tuple[list[Layer], str]:
    """Layers of a server's channel, and the setting that misses it (empty when it is listed)."""
    found = _exact(settings.guilds, "discord", [address.space])
    anyone = _anyone(settings.guilds, "discord")
    guilds = [(key, guild) for key, guild in (found, anyone) if guild is not None]
    if not guilds:
        return [], path
    key, guild = guilds[0]
    above: list[Layer] = [(f'{path}."{name}"', one) for name, one in guilds]
    if not guild.channels:
        return above, ""
    where = f'{path}."{key}".channels'
    layers = _of_groups(where, guild.channels, address, chats)
    return [*layers, *above], "" if layers else where


def _exact(listed: Mapping[str, S], channel: str, ids: Sequence[str]) -> tuple[str, S | None]:
    for one in ids:
        for key, section in listed.items():
            if key != ANYONE and entry_of(channel, key) == one:
                return key, section
    return "", None


def _anyone(listed: Mapping[str, S], channel: str) -> tuple[str, S | None]:
    return next(((key, one) for key, one in listed.items() if entry_of(channel, key) == ANYONE), ("", None))


def _first_of_each_kind(layers: Sequence[Layer]) -> Iterator[Layer]:
    """A group's own `enabled` stands for that of `*`; a topic's and a server's stand beside it."""
    seen: set[type] = set()
    for path, layer in layers:
        if type(layer) not in seen:
            seen.add(type(layer))
            yield path, layer


def _first(layers: Sequence[Layer], name: str) -> tuple[str, object]:
    """The most exact value that is given, with its path."""
    for path, layer in layers:
        value = layer.model_dump(include={name}).get(name)
        if value is not None:
            return f"{path}.{name}", value
    return "", None


def _people(layers: Sequence[Layer]) -> tuple[str, tuple[str, ...] | None, tuple[str, ...] | None]:
    for path, layer in layers:
        people = layer.users if isinstance(layer, GuildSettings) else layer.allow_from
        roles = layer.roles if isinstance(layer, (GuildSettings, ChannelSettings)) else None
        if people is not None or roles is not None:
            name = (
                "roles" if people is None else "users" if isinstance(layer, GuildSettings) else "allow_from"
            )
            return f"{path}.{name}", people, roles
    return "", None, None
