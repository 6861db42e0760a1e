"""Settings of the channels section: the platforms and their accounts."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from channels.account import AccountSettings, AckSettings, GroupSettings, Section, TopicSettings
from channels.peer import entry_of, person_of
from channels.platforms import (
    ChannelSettings,
    DiscordAccount,
    GuildSettings,
    TelegramAccount,
    WebhookSettings,
    WhatsAppAccount,
)

__all__ = [
    "AccountSettings",
    "AckSettings",
    "ChannelSettings",
    "ChannelsSettings",
    "ConsoleSettings",
    "DiscordAccount",
    "DiscordSettings",
    "Drop",
    "GroupSettings",
    "GuildSettings",
    "QueueMode",
    "QueueSection",
    "TelegramAccount",
    "TelegramSettings",
    "TopicSettings",
    "WebhookSettings",
    "WhatsAppAccount",
    "WhatsAppSettings",
]


def _account_name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", value):
        raise ValueError("must be 1 to 64 characters of a-z, 0-9, - and _, and begin with a letter or digit")
    return value


def _owner(value: str) -> str:
    person = person_of(value)
    if person is None:
        raise ValueError(
            'must be written channel:id, with the id of one person, for example "telegram:12345"'
        )
    return ":".join(person)


QueueMode: TypeAlias = Literal["collect", "followup", "steer", "interrupt"]
Drop: TypeAlias = Literal["old", "new", "summarize"]
AccountName = Annotated[str, AfterValidator(_account_name)]
Owner = Annotated[str, AfterValidator(_owner)]


class ConsoleSettings(Section):
    markdown: bool = Field(True, description="render Markdown in the terminal chat")
    show_tools: bool = Field(True, description="show a line for each tool that runs")


class QueueSection(Section):
    mode: QueueMode = Field(
        "collect",
        description="a message that comes while a turn runs: collect into one turn, followup each on its "
        "own, steer into the running turn, or interrupt it",
    )
    cap: int = Field(20, ge=1, le=1_000, description="so many messages may wait for one session")
    drop: Drop = Field(
        "summarize", description="when more wait: the oldest are shortened, the old or the new are refused"
    )


class TelegramSettings(Section):
    accounts: dict[AccountName, TelegramAccount] = Field(
        default_factory=dict, description="bots, by a name of yours"
    )


class DiscordSettings(Section):
    accounts: dict[AccountName, DiscordAccount] = Field(
        default_factory=dict, description="bots, by a name of yours"
    )

    @model_validator(mode="after")
    def _one_server(self) -> "DiscordSettings":
        if len({(one.api_base_url, one.gateway_url) for one in self.accounts.values()}) > 1:
            raise ValueError("accounts differ in api_base_url or gateway_url; all of them share one server")
        return self


class WhatsAppSettings(Section):
    accounts: dict[AccountName, WhatsAppAccount] = Field(
        default_factory=dict, description="numbers, by a name of yours"
    )


class ChannelsSettings(Section):
    owners: tuple[Owner, ...] = Field(
        (), description="who owns this clawd, as channel:id, for example telegram:12345; pairing adds to it"
    )
    console: ConsoleSettings = Field(
        default_factory=ConsoleSettings, description="the terminal, `clawd chat`"
    )
    queue: QueueSection = Field(
        default_factory=QueueSection, description="what happens to messages while a turn runs"
    )
    telegram: TelegramSettings = Field(default_factory=TelegramSettings, description="Telegram bots")
    discord: DiscordSettings = Field(default_factory=DiscordSettings, description="Discord bots")
    whatsapp: WhatsAppSettings = Field(default_factory=WhatsAppSettings, description="WhatsApp numbers")

    @model_validator(mode="after")
    def _lists_name_somebody(self) -> "ChannelsSettings":
        for (channel, name), account in self.accounts.items():
            owned = any(owner.startswith(f"{channel}:") for owner in self.owners)
            if account.dm_policy != "allowlist" or account.allow_from or owned or channel == "whatsapp":
                continue
            raise ValueError(
                f"{channel}.accounts.{name}: dm_policy is allowlist and allow_from is empty, so that nobody "
                "may write; name somebody, or use pairing or disabled"
            )
        return self

    @property
    def accounts(self) -> Mapping[tuple[str, str], AccountSettings]:
        """Every account by channel and name, disabled ones as well."""
        named: tuple[tuple[str, Mapping[str, AccountSettings]], ...] = (
            ("telegram", self.telegram.accounts),
            ("discord", self.discord.accounts),
            ("whatsapp", self.whatsapp.accounts),
        )
        return {(channel, name): one for channel, accounts in named for name, one in accounts.items()}

    def answerers(self) -> Iterator[tuple[str, str]]:
        """Every agent that a group, topic, channel or server names, with the path of that place."""
        for (channel, name), account in self.accounts.items():
            for where, place in _places(account):
                if place.agent is not None:
                    yield f"{channel}.accounts.{name}.{where}", place.agent

    def strays(self) -> Iterator[str]:
        """A sentence for each entry of a list that can be nobody's id; such an entry matches nobody."""
        for (channel, name), account in self.accounts.items():
            for where, entries in _lists(account):
                for entry in entries:
                    if entry_of(channel, entry) is None:
                        yield (
                            f"channels.{channel}.accounts.{name}.{where}: {entry[:60]!r} is no id of "
                            f"{channel.capitalize()} and matches nobody"
                        )


def _lists(account: AccountSettings) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every list of ids in an account, with its path in it; the keys of a mapping are one as well."""
    yield "allow_from", account.allow_from
    yield "group_allow_from", account.group_allow_from
    yield from _groups("groups", account.groups)
    if isinstance(account, DiscordAccount):
        yield "guilds", tuple(account.guilds)
        for guild_id, guild in account.guilds.items():
            yield f'guilds."{guild_id}".users', guild.users or ()
            yield f'guilds."{guild_id}".roles', guild.roles or ()
            yield from _groups(f'guilds."{guild_id}".channels', guild.channels)


def _groups(above: str, groups: Mapping[str, GroupSettings]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield above, tuple(groups)
    for group_id, group in groups.items():
        yield f'{above}."{group_id}".allow_from', group.allow_from or ()
        if isinstance(group, ChannelSettings):
            yield f'{above}."{group_id}".roles', group.roles or ()
        for topic_id, topic in group.topics.items():
            yield f'{above}."{group_id}".topics."{topic_id}".allow_from', topic.allow_from or ()


def _places(account: AccountSettings) -> Iterator[tuple[str, GroupSettings | TopicSettings | GuildSettings]]:
    groups = [("groups", account.groups)]
    if isinstance(account, DiscordAccount):
        yield from ((f'guilds."{one}"', guild) for one, guild in account.guilds.items())
        groups += [
            (f'guilds."{one}".channels', dict(guild.channels)) for one, guild in account.guilds.items()
        ]
    for above, listed in groups:
        for group_id, group in listed.items():
            yield f'{above}."{group_id}"', group
            yield from (
                (f'{above}."{group_id}".topics."{one}"', topic) for one, topic in group.topics.items()
            )
