"""The platforms whose accounts are a bot and its token: one row each."""

import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeAlias

from channels.account import AccountSettings
from channels.platforms import DiscordAccount, TelegramAccount
from channels.settings import ChannelsSettings
from gateway.channel_view import unknown_account
from gateway.cli import channel_discord, channel_telegram
from gateway.cli.channel_asking import Bot, Person
from gateway.views import Refused

Look: TypeAlias = Callable[[str, str, AccountSettings], Coroutine[Any, Any, Bot]]
Claimant: TypeAlias = Callable[[str, str, str], Coroutine[Any, Any, Person]]
BotAccount: TypeAlias = TelegramAccount | DiscordAccount


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """`shape`: how a token looks; `origin`: where a person gets it. `look` asks a server with a token, going
    by the account's settings; `claimant` waits for who sends the bot a code, where that can be heard here."""

    name: str
    title: str
    shape: str
    origin: str
    account: type[BotAccount]
    look: Look
    claimant: Claimant | None = None

    def accepts(self, token: str) -> bool:
        """Whether it looks like a token; whether it is one, the platform knows."""
        return re.fullmatch(self.shape, token) is not None


_TELEGRAM = Platform(
    name="telegram",
    title="Telegram",
    shape=r"\d{5,}:[A-Za-z0-9_-]{20,}",
    origin="BotFather (/newbot, or /mybots, your bot, API Token)",
    account=TelegramAccount,
    look=channel_telegram.look,
    claimant=channel_telegram.claimant,
)
_DISCORD = Platform(
    name="discord",
    title="Discord",
    shape=r"[A-Za-z0-9._-]{16,}",
    origin=f"{channel_discord.PORTAL} (your application, Bot, Reset Token)",
    account=DiscordAccount,
    look=channel_discord.look,
)


def platform_of(channel: str) -> Platform:
    """Raises Refused when there are no bots there."""
    found = {one.name: one for one in (_TELEGRAM, _DISCORD)}.get(channel)
    if found is not None:
        return found
    if channel == "whatsapp":
        raise Refused(
            "This clawd cannot log in to WhatsApp yet; nothing was changed. Telegram and Discord work: "
            "`clawd channels add telegram`.",
            code="not_yet",
            status=501,
        )
    raise Refused(
        f"There is no channel {channel[:40]!r}. Known are: telegram, discord.",
        code="unknown_channel",
        status=404,
    )


def bot_account(channel: str, account: str, settings: ChannelsSettings) -> BotAccount:
    """Raises Refused when it is not configured."""
    found = settings.accounts.get((channel, account))
    if not isinstance(found, TelegramAccount | DiscordAccount):
        raise unknown_account(channel, account, settings)
    return found
