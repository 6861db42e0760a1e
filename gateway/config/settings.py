"""The whole configuration: one section a room, and the daemon's own."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    SecretStr,
    ValidationError,
    model_validator,
)

from agents.settings import AgentsSettings, ModelsSettings
from channels.settings import ChannelsSettings
from gateway.embedding import faults
from gateway.media.settings import MediaSettings, listener_fault
from memory.settings import MemorySettings
from sessions.settings import SessionsSettings

SHORTEST_TOKEN = 16
_PLACEHOLDERS = ("undefined", "null", "none", "nil", "token", "secret", "password", "changeme", "todo", "xxx")
_PLACEHOLDER_STARTS = ("change-me", "change_me", "changeme", "your-", "your_", "<", "replace-", "example-")


def placeholder(secret: str) -> str | None:
    """Why `secret` cannot be a real one, without repeating it; None when nothing speaks against it."""
    text = secret.strip().lower()
    if not text:
        return "is blank"
    if text in _PLACEHOLDERS or text.startswith(_PLACEHOLDER_STARTS):
        return "is a placeholder, not a secret"
    if not secret.isprintable():
        return "holds a line break or another character that cannot be sent"
    return None


def weak_token(secret: str) -> str | None:
    """Why `secret` cannot guard the gateway, without repeating it; None when it can."""
    if reason := placeholder(secret):
        return reason
    if len(secret) < SHORTEST_TOKEN:
        return f"is shorter than {SHORTEST_TOKEN} characters"
    if " " in secret or not secret.isascii():
        return "holds blanks or characters beyond ASCII"
    return None


def _token(value: SecretStr) -> SecretStr:
    if reason := weak_token(value.get_secret_value()):
        raise ValueError(f"{reason}; `clawd init` makes a good one when the setting is left out")
    return value


def _host(value: str) -> str:
    if not re.fullmatch(r"[^\s/@]+", value):
        raise ValueError("must be an address or a host name, for example 127.0.0.1")
    return value


def _origin(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#@]+", value):
        raise ValueError(
            "must be written scheme://host or scheme://host:port, for example https://example.org"
        )
    return value


def _proxy(value: str) -> str:
    try:
        ip_network(value, strict=False)
    except ValueError as error:
        raise ValueError("must be an address or a network, for example 10.0.0.2 or 10.0.0.0/24") from error
    return value


class HooksSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(False, description="take webhooks at /hooks/agent and /hooks/wake")
    token: Annotated[SecretStr, AfterValidator(_token)] | None = Field(
        None, description="what callers of webhooks must present; never the gateway's own token"
    )
    token_file: Path | None = Field(None, description="a file that holds the token, instead of token")
    agents: list[str] = Field(
        default_factory=list, description="ids of the agents that webhooks may ask; empty: all"
    )
    per_minute: PositiveInt = Field(60, description="webhooks that are taken within a minute")

    @model_validator(mode="after")
    def _guarded(self) -> "HooksSettings":
        if self.enabled and self.token is None and self.token_file is None:
            raise ValueError("enabled is true, and there is no token; give hooks.token or hooks.token_file")
        return self


class OpenAIApiSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(False, description="offer the agents as models at /v1/chat/completions")


class GatewaySettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    host: Annotated[str, AfterValidator(_host)] = Field(
        "127.0.0.1",
        description="address to listen on; anything but this machine's own opens clawd to a network",
    )
    port: int = Field(18789, ge=1, le=65535, description="TCP port of the API and the web chat")
    token: Annotated[SecretStr, AfterValidator(_token)] | None = Field(
        None, description="what callers must present; null: made once and kept in credentials/gateway.token"
    )
    token_file: Path | None = Field(None, description="a file that holds the token, instead of token")
    allowed_hosts: list[Annotated[str, AfterValidator(_host)]] = Field(
        default_factory=list, description="further Host names under which the gateway may be called"
    )
    allowed_origins: list[Annotated[str, AfterValidator(_origin)]] = Field(
        default_factory=list, description="further web origins whose pages may call the gateway"
    )
    trusted_proxies: list[Annotated[str, AfterValidator(_proxy)]] = Field(
        default_factory=list,
        description="addresses or networks of proxies whose forwarding headers are believed",
    )
    hooks: HooksSettings = Field(
        default_factory=HooksSettings, description="how other programs give the agents something to do"
    )
    openai_api: OpenAIApiSettings = Field(
        default_factory=OpenAIApiSettings, description="an OpenAI-compatible API for other programs"
    )
    reload: bool = Field(
        True, description="watch clawd.yaml and apply at once what can be applied without a restart"
    )
    max_upload_mb: PositiveInt = Field(
        20, le=200, description="largest request with files or images, in millions of bytes"
    )
    media: MediaSettings = Field(
        default_factory=MediaSettings, description="files that come with messages, and how they are read"
    )
    max_text_chars: PositiveInt = Field(200_000, description="a longer message is refused")
    max_concurrent_turns: PositiveInt = Field(16, description="turns that run at once; others wait")
    replay_minutes: PositiveInt = Field(
        60, description="a message that a stopped gateway left is answered if it is no older"
    )
    outbox_minutes: PositiveInt = Field(
        60, description="an answer that cannot be delivered is given up after so long"
    )
    stuck_minutes: float = Field(
        15, gt=0, description="a turn without any sign of life for so long is ended and told"
    )
    drain_seconds: float = Field(30, ge=0, description="what running turns get to end when the gateway stops")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="least severe line kept"
    )

    @model_validator(mode="after")
    def _apart(self) -> "GatewaySettings":
        if self.token is not None and self.hooks.token == self.token:
            raise ValueError(
                "hooks.token is the gateway's own token; give the hooks one of their own, since who holds "
                "it should not hold everything"
            )
        return self

    @property
    def url(self) -> str:
        """An address to call; a gateway that listens everywhere is called on this machine's own."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 (not bound)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def _agents(value: AgentsSettings) -> AgentsSettings:
    if not value.list:
        raise ValueError("list must name at least one agent")
    faults = []
    ids = [agent.id for agent in value.list]
    faults += [f"list names {one!r} more than once" for one in dict.fromkeys(ids) if ids.count(one) > 1]
    if sum(agent.default for agent in value.list) > 1:
        faults.append("list has more than one agent with default: true")
    faults += [fault for one in dict.fromkeys(ids) if (fault := _unresolved(value, one))]
    bound = dict.fromkeys(binding.agent for binding in value.bindings)
    faults += [f"bindings name {one!r}, which is no agent of list" for one in bound if one not in ids]
    if faults:
        raise ValueError("; ".join(faults))
    return value


def _unresolved(agents: AgentsSettings, agent_id: str) -> str | None:
    try:
        agents.resolve(agent_id)
    except ValidationError as error:
        detail = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in detail["loc"])
        return f"agent {agent_id!r} over the defaults does not fit: {where}: {detail['msg']}"
    return None


class Config(BaseModel):
    """Everything clawd.yaml can say; without a file, every default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gateway: GatewaySettings = Field(
        default_factory=GatewaySettings,
        description="The daemon: where it listens, who may call, what it bears.",
    )
    models: ModelsSettings = Field(
        default_factory=ModelsSettings, description="Which model answers, and how its provider is reached."
    )
    agents: Annotated[AgentsSettings, AfterValidator(_agents)] = Field(
        default_factory=AgentsSettings, description="Who answers: workspaces, limits and tools."
    )
    memory: MemorySettings = Field(
        default_factory=MemorySettings, description="How notes are cut, indexed and found."
    )
    sessions: SessionsSettings = Field(
        default_factory=SessionsSettings, description="How conversations are kept."
    )
    channels: ChannelsSettings = Field(
        default_factory=ChannelsSettings, description="How people talk to clawd."
    )

    @model_validator(mode="after")
    def _embedders(self) -> "Config":
        """Whether each agent's memory names a provider that can be asked."""
        told = dict.fromkeys(
            fault
            for agent in self.agents.list
            for fault in faults(self.memory_of(agent.id).search, self.models.providers)
        )
        if told:
            raise ValueError("; ".join(told))
        return self

    @model_validator(mode="after")
    def _listener(self) -> "Config":
        """Whether the provider that is to hear voice messages can."""
        if fault := listener_fault(self.gateway.media, self.models):
            raise ValueError(fault)
        return self

    @model_validator(mode="after")
    def _readers(self) -> "Config":
        """Whether every agent that is read from exists."""
        ids = {agent.id for agent in self.agents.list}
        for agent in self.agents.list:
            if unknown := [one for one in self.memory_of(agent.id).read_from if one not in ids]:
                raise ValueError(
                    f"memory.read_from of agent {agent.id!r} names {unknown[0]!r}, which is no agent; "
                    f"the agents are {', '.join(sorted(ids))}"
                )
        return self

    @model_validator(mode="after")
    def _answerers(self) -> "Config":
        """Whether every agent that a group is given to exists."""
        ids = {agent.id for agent in self.agents.list}
        for where, agent in self.channels.answerers():
            if agent not in ids:
                raise ValueError(
                    f"channels.{where}.agent is {agent!r}, which is no agent; "
                    f"the agents are {', '.join(sorted(ids))}"
                )
        return self

    def memory_of(self, agent_id: str) -> MemorySettings:
        """The memory section with the agent's own values over it, field by field; extra_paths are added."""
        agent = self.agents.resolve(agent_id)
        if agent is None or agent.memory is None:
            return self.memory
        base = self.memory.model_dump(exclude_unset=True)
        over = MemorySettings.model_validate(_over(base, agent.memory.model_dump(exclude_unset=True)))
        places = (*self.memory.search.extra_paths, *agent.memory.search.extra_paths)
        search = over.search.model_copy(update={"extra_paths": tuple(dict.fromkeys(places))})
        return over.model_copy(update={"search": search})


def _over(base: dict[str, object], top: dict[str, object]) -> dict[str, object]:
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        merged[key] = _over(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
