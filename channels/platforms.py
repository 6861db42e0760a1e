"""What accounts of Telegram, Discord and WhatsApp can be told beyond what all have in common."""

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, SecretStr, model_validator

from channels.account import AccountSettings, DmPolicy, GroupSettings, Id, Ids, Section


def _base_url(value: str) -> str:
    if not re.fullmatch(r"(https?|wss?)://[^\s?#@]+", value):
        raise ValueError("must be an address such as https://example.org")
    return value.rstrip("/")


BaseUrl = Annotated[str, AfterValidator(_base_url)]
UrlPath = Annotated[str, Field(pattern=r"^/[\w./~-]*$")]


class WebhookSettings(Section):
    """Where the platform calls us, and what proves that it is the platform."""

    url: BaseUrl | None = Field(None, description="public https address that leads to host, port and path")
    secret: SecretStr | None = Field(None, description="what the platform sends with each call")
    secret_file: Path | None = Field(None, description="a file that holds it, instead of secret")
    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8787, ge=1, le=65535, description="TCP port to listen on")
    path: UrlPath = Field("/telegram-webhook", description="path of the address")


class TelegramAccount(AccountSettings):
    channel: ClassVar[str] = "telegram"

    token: SecretStr | None = Field(
        None, description="of BotFather; null: the environment's TELEGRAM_BOT_TOKEN"
    )
    token_file: Path | None = Field(None, description="a file that holds the token, instead of token")
    api_base_url: BaseUrl = Field("https://api.telegram.org", description="of the Bot API server")
    mode: Literal["polling", "webhook"] = Field("polling", description="how messages arrive")
    webhook: WebhookSettings = Field(default_factory=WebhookSettings, description="for mode: webhook")
    link_preview: bool = Field(True, description="whether links in answers show a preview")

    @model_validator(mode="after")
    def _webhook_is_guarded(self) -> "TelegramAccount":
        if self.mode != "webhook":
            return self
        if self.webhook.url is None or self.webhook.secret is None:
            raise ValueError("mode is webhook, which needs webhook.url and webhook.secret")
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", self.webhook.secret.get_secret_value()):
            raise ValueError("webhook.secret may hold A-Z, a-z, 0-9, _ and - only, at most 256 of them")
        return self


class ChannelSettings(GroupSettings):
    """A channel of a Discord server; threads follow the channel that they hang from."""

    roles: Ids | None = Field(None, description="ids of roles whose members may speak; null: as the guild")


class GuildSettings(Section):
    enabled: bool = Field(True, description="false: nothing in it is heard")
    require_mention: bool | None = Field(
        None, description="answer only when addressed; null: as the entry *, else true"
    )
    users: Ids | None = Field(None, description="ids of who may speak; null: the account's lists")
    roles: Ids | None = Field(None, description="ids of roles whose members may speak as well")
    channels: dict[Id, ChannelSettings] = Field(
        default_factory=dict, description="by id, * for all; empty: every channel of the server is heard"
    )
    agent: str | None = Field(None, description="who answers here; null: as the bindings say")
    system_prompt: str | None = Field(None, description="a word to the agent about this server")
    history_limit: int | None = Field(None, ge=0, le=500, description="null: the account's")


class IntentsSettings(Section):
    message_content: bool = Field(True, description="texts of messages that do not mention us")
    members: bool = Field(False, description="who comes and goes")
    presences: bool = Field(False, description="who is online")


class DiscordAccount(AccountSettings):
    channel: ClassVar[str] = "discord"

    token: SecretStr | None = Field(None, description="of the bot; null: the environment's DISCORD_BOT_TOKEN")
    token_file: Path | None = Field(None, description="a file that holds the token, instead of token")
    api_base_url: BaseUrl = Field("https://discord.com/api/v10", description="of the REST API")
    gateway_url: BaseUrl | None = Field(None, description="of the event stream; null: as the API says")
    guilds: dict[Id, GuildSettings] = Field(
        default_factory=dict, description="servers by id, * for all: those that are heard, and their rules"
    )
    auto_thread: bool = Field(False, description="answer in a new thread under the message")
    intents: IntentsSettings = Field(
        default_factory=IntentsSettings, description="what Discord is asked to tell; see its developer portal"
    )
    group_dms: bool = Field(False, description="whether direct chats of several people are heard")
    slash_commands: bool = Field(True, description="whether commands are registered with Discord")
    suppress_embeds: bool = Field(True, description="whether links in answers show no preview")


class CloudWebhookSettings(Section):
    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8090, ge=1, le=65535, description="TCP port to listen on")
    path: UrlPath = Field("/whatsapp/webhook", description="path of the address")


class WhatsAppAccount(AccountSettings):
    """With `allowlist` and nobody in allow_from, the account's own number alone is heard."""

    channel: ClassVar[str] = "whatsapp"

    dm_policy: DmPolicy = Field(
        "allowlist", description="as everywhere; a personal number answers no stranger by itself"
    )
    transport: Literal["bridge", "cloud"] = Field(
        "bridge", description="a linked device, or Meta's Cloud API"
    )
    self_chat: bool = Field(True, description="bridge: hear what the owner writes to the own number")
    read_receipts: bool = Field(False, description="whether accepted messages are marked as read")
    graph_base_url: BaseUrl = Field("https://graph.facebook.com/v20.0", description="cloud: of the API")
    phone_number_id: Id | None = Field(None, description="cloud: the number's id, not the number")
    access_token: SecretStr | None = Field(None, description="cloud: what we present to the API")
    access_token_file: Path | None = Field(None, description="a file that holds it, instead of access_token")
    app_secret: SecretStr | None = Field(None, description="cloud: what signs the platform's calls")
    app_secret_file: Path | None = Field(None, description="a file that holds it, instead of app_secret")
    verify_token: SecretStr | None = Field(None, description="cloud: a word of yours, also told to Meta")
    verify_token_file: Path | None = Field(None, description="a file that holds it, instead of verify_token")
    webhook: CloudWebhookSettings = Field(
        default_factory=CloudWebhookSettings, description="cloud: where the platform's calls arrive"
    )

    @model_validator(mode="after")
    def _cloud_is_whole(self) -> "WhatsAppAccount":
        needed = ("phone_number_id", "access_token", "app_secret", "verify_token")
        given = (self.phone_number_id, self.access_token, self.app_secret, self.verify_token)
        missing = [name for name, value in zip(needed, given, strict=True) if value is None]
        if self.transport == "cloud" and self.enabled and missing:
            raise ValueError(f"transport is cloud, which needs {', '.join(missing)}")
        return self
