"""How each account of the configuration becomes a channel: the one place that knows the platforms."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import SecretStr

from agents.clock import Clock
from channels.channel import Channel, ChannelFailed
from channels.settings import ChannelsSettings, DiscordAccount, TelegramAccount
from gateway.home import Home
from gateway.supervisor import Make, Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """`commands` are those that a platform may show in a menu, each with what it does; tokens that the
    settings do not hold are looked up in `environ` (TELEGRAM_BOT_TOKEN, DISCORD_BOT_TOKEN), for an account
    called default alone."""

    home: Home
    clock: Clock
    commands: Sequence[tuple[str, str]]
    environ: Mapping[str, str]
    jitter: Callable[[], float]

    def makers(self, settings: ChannelsSettings) -> Mapping[Name, Make]:
        """Every enabled account. A maker raises ChannelFailed, and imports its platform's library."""
        return dict(self._makers(settings))

    def _makers(self, settings: ChannelsSettings) -> Iterator[tuple[Name, Make]]:
        for account, telegram in settings.telegram.accounts.items():
            if telegram.enabled:
                yield ("telegram", account), partial(self._telegram, account, telegram)
        for account, discord in settings.discord.accounts.items():
            if discord.enabled:
                yield ("discord", account), partial(self._discord, account, discord)

    def _telegram(self, account: str, settings: TelegramAccount) -> Channel:
        from channels.telegram.channel import TelegramChannel  # noqa: PLC0415 (only where it is used)

        return TelegramChannel(
            settings,
            account=account,
            token=self._token("telegram", account, settings.token),
            folder=self.home.path,
            commands=self.commands,
            clock=self.clock,
            jitter=self.jitter,
        )

    def _discord(self, account: str, settings: DiscordAccount) -> Channel:
        from channels.discord.channel import DiscordChannel  # noqa: PLC0415 (only where it is used)

        return DiscordChannel(
            settings,
            account=account,
            token=self._token("discord", account, settings.token),
            folder=self.home.path,
            commands=self.commands,
            clock=self.clock,
            jitter=self.jitter,
        )

    def _token(self, channel: str, account: str, own: SecretStr | None) -> str:
        return token_of(channel, account, own, self.environ)


def token_of(channel: str, account: str, own: SecretStr | None, environ: Mapping[str, str]) -> str:
    """The token of the settings, else for an account called default that of the environment. Raises
    ChannelFailed when there is none."""
    variable = f"{channel.upper()}_BOT_TOKEN"
    found = own.get_secret_value() if own else environ.get(variable, "") if account == "default" else ""
    if found:
        return found
    where = f"channels.{channel}.accounts.{account}"
    also = f", or {variable} in the environment" if account == "default" else ""
    raise ChannelFailed(f"{where} has no token: set {where}.token or token_file{also}.")
