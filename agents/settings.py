"""Settings of the agents and models sections."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    model_validator,
)

from agents.model.provider import CacheTtl, ThinkingLevel
from agents.tools import allowlist, policy
from memory.settings import MemorySettings
from sessions.settings import ModelName, TimeZoneName


class Section(BaseModel):
    """Base of every settings model of this room: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _agent_id(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", value):
        raise ValueError("must be 1 to 64 characters of a-z, 0-9, - and _, and begin with a letter or digit")
    return value


def _place_id(value: object) -> object:
    """Ids are texts; as numbers they may stand without quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


AgentId = Annotated[str, AfterValidator(_agent_id)]
PlaceId = Annotated[str, BeforeValidator(_place_id), Field(min_length=1, max_length=128)]


class PriceSettings(Section):
    """US dollars for a million tokens."""

    input: NonNegativeFloat = Field(description="prompt tokens that were not cached")
    output: NonNegativeFloat = Field(description="tokens of the answer, reasoning included")
    cache_read: NonNegativeFloat = Field(description="prompt tokens read from the provider's cache")
    cache_write: NonNegativeFloat = Field(description="prompt tokens written to the provider's cache")


class ModelSettings(Section):
    context_window: PositiveInt | None = Field(None, description="tokens that fit; null: as the catalog says")
    max_output: PositiveInt | None = Field(
        None, description="tokens of one answer; null: as the catalog says"
    )
    price: PriceSettings | None = Field(None, description="for cost accounting; null: as the catalog says")


class ProviderSettings(Section):
    api: Literal["anthropic_messages", "openai_chat"] | None = Field(
        None, description="wire API; null: anthropic_messages for anthropic, openai_chat for all others"
    )
    api_key: SecretStr | None = Field(None, description="null: the environment's <NAME>_API_KEY")
    api_key_file: Path | None = Field(None, description="a file that holds the key, instead of api_key")
    api_keys: tuple[SecretStr, ...] = Field(
        (), description="further keys, asked with in turn when one is limited, refused or without credit"
    )
    api_keys_file: Path | None = Field(
        None, description="a file with a key on each line, instead of api_keys"
    )
    base_url: str | None = Field(None, description="null: the vendor's own address")
    embedding_api: Literal["openai", "gemini", "ollama", "voyage"] | None = Field(
        None, description="wire API of its embeddings; makes its name usable as memory.search.provider"
    )
    embedding_model: str | None = Field(
        None, min_length=1, description="its embedding model, unless memory.search.model names one"
    )
    models: dict[str, ModelSettings] = Field(
        default_factory=dict, description="facts about models by id; an id not listed may still be used"
    )


def _answering(name: str) -> str:
    if name.startswith("offline/"):
        raise ValueError("cannot be offline: it would save and summarise conversations without a model")
    return name


Fallback = Annotated[ModelName, AfterValidator(_answering)]


class ModelsSettings(Section):
    default: ModelName | None = Field(
        None, description="provider/model; null: the first provider with a key, else offline/notes"
    )
    fallbacks: tuple[Fallback, ...] = Field(
        (), description="provider/model, asked in this order while those before them fail or rest"
    )
    timeout_seconds: PositiveFloat = Field(
        600, description="longest silence of a model before it counts as down"
    )
    max_retries: int = Field(2, ge=0, le=10, description="further tries after a passing failure")
    daily_budget_usd: PositiveFloat | None = Field(
        None,
        description="US dollars for models in a day of the owner's; then nothing is asked; null: no limit",
    )
    daily_budget_warn: float = Field(
        0.8, ge=0, le=1, description="an answer warns once a day when this share of the budget is spent"
    )
    providers: dict[str, ProviderSettings] = Field(
        default_factory=dict, description="anthropic, openai, or any name of yours with a base_url"
    )


def _command(pattern: str) -> str:
    if problem := allowlist.pattern_problem(pattern):
        raise ValueError(problem)
    return pattern


def _tool(pattern: str) -> str:
    if problem := policy.pattern_problem(pattern):
        raise ValueError(problem)
    return pattern


ExecMode = Literal["deny", "allowlist", "ask", "full"]
CommandPattern = Annotated[str, AfterValidator(_command)]
ToolPattern = Annotated[str, AfterValidator(_tool)]


class ExecModes(Section):
    """deny: nothing runs; allowlist: what is on the list; ask: the rest too, once the owner has approved it;
    full: everything."""

    owner: ExecMode = Field("full", description="the owner's commands")
    known: ExecMode = Field("deny", description="of people who were let in; policy.known must open exec too")
    group: ExecMode = Field("deny", description="of members of a group; policy.group must open exec too")
    guest: ExecMode = Field("deny", description="of everybody else; policy.guest must open exec too")


class ExecSettings(Section):
    enabled: bool = Field(True, description="whether the agent may run commands")
    mode: ExecModes = Field(
        default_factory=ExecModes, description="deny, allowlist, ask or full, by who speaks"
    )
    allow: tuple[CommandPattern, ...] = Field(
        (), description="commands that run unasked: words with * and ?, a last * for any more; or ^regex"
    )
    sandbox: Literal["non_owner", "all", "off"] = Field(
        "non_owner", description="whose commands run in bubblewrap; where that is missing, they do not run"
    )
    sandbox_network: bool = Field(False, description="whether commands in the sandbox reach the network")
    sandbox_read: tuple[Path, ...] = Field(
        (), description="further folders that commands in the sandbox may read"
    )
    timeout_seconds: PositiveFloat = Field(120, description="a command is ended after this time")
    max_output_chars: PositiveInt = Field(
        16_000, description="what the model sees of the output; all of it is kept in a file"
    )
    env: list[str] = Field(
        default_factory=list, description="names of further environment variables that commands may see"
    )


class RuleSettings(Section):
    allow: tuple[ToolPattern, ...] = Field(
        (), description="names of tools, with * and ?, or groups such as group:memory"
    )
    deny: tuple[ToolPattern, ...] = Field((), description="the same; what is denied stays so")


class OwnerRule(RuleSettings):
    allow: tuple[ToolPattern, ...] = Field(("*",), description="as for guest")


class KnownRule(RuleSettings):
    allow: tuple[ToolPattern, ...] = Field(("group:memory", "group:sessions"), description="as for guest")


class GroupRule(RuleSettings):
    allow: tuple[ToolPattern, ...] = Field(("group:sessions",), description="as for guest")


class PolicySettings(Section):
    owner: OwnerRule = Field(default_factory=OwnerRule, description="tools open to the owner")
    known: KnownRule = Field(default_factory=KnownRule, description="to people who were let in")
    group: GroupRule = Field(default_factory=GroupRule, description="to members of a group")
    guest: RuleSettings = Field(default_factory=RuleSettings, description="to everybody else")


class ToolsSettings(Section):
    file_access: Literal["workspace", "host"] = Field(
        "workspace", description="workspace: files of the workspace only; host: any file, for the owner alone"
    )
    max_read_chars: PositiveInt = Field(40_000, description="what one read gives at the most")
    timeout_seconds: PositiveFloat = Field(300, description="any tool that takes longer is stopped")
    exec: ExecSettings = Field(default_factory=ExecSettings, description="the tool that runs commands")
    policy: PolicySettings = Field(
        default_factory=PolicySettings, description="which tools may run, by who speaks"
    )
    after_outside: Literal["ask", "off"] = Field(
        "ask", description="once a turn holds content from outside, commands and sending elsewhere are asked"
    )
    approval_seconds: PositiveFloat = Field(
        120, description="how long to wait for the owner's word; then it is denied"
    )


class AgentDefaults(Section):
    workspace: Path | None = Field(
        None, description="null: ~/clawd, or <home>/workspace when the home directory is not ~/.clawd"
    )
    model: ModelName | None = Field(None, description="null: models.default")
    fallbacks: tuple[Fallback, ...] | None = Field(None, description="null: models.fallbacks; []: none")
    thinking: ThinkingLevel = Field("off", description="reasoning effort, where the model has one")
    max_tokens: PositiveInt = Field(8_192, description="tokens of one answer")
    cache_ttl: CacheTtl | None = Field(
        "5m", description="how long the provider keeps the prompt; null: no cache"
    )
    max_rounds: PositiveInt = Field(40, description="model calls in one turn before it is stopped")
    time_zone: TimeZoneName | None = Field(None, description="the owner's; null: the machine's")
    bootstrap_max_chars: PositiveInt = Field(20_000, description="of one bootstrap file in the prompt")
    bootstrap_total_max_chars: PositiveInt = Field(60_000, description="of all bootstrap files in the prompt")
    tools: ToolsSettings = Field(default_factory=ToolsSettings, description="what the agent may do")
    memory: MemorySettings | None = Field(None, description="overrides of the memory section, field by field")


class AgentSettings(AgentDefaults):
    id: AgentId = Field(description="a-z, 0-9, - and _")
    default: bool = Field(False, description="answers whatever no binding sends elsewhere")


class BindingSettings(Section):
    """Every key that is given must fit; the binding that names the most exact place wins."""

    agent: AgentId = Field(description="who answers")
    channel: str = Field(min_length=1, description="telegram, discord or whatsapp")
    account: str | None = Field(None, description="name of the account; null: any")
    chat: PlaceId | None = Field(None, description="id of the group, or of the person in direct chats")
    thread: PlaceId | None = Field(None, description="id of a topic or thread of that chat")
    parent: PlaceId | None = Field(None, description="id of the channel that a thread hangs from")
    space: PlaceId | None = Field(None, description="id of the server (Discord)")
    roles: tuple[PlaceId, ...] = Field((), description="ids of roles of that server; one of them is enough")

    @model_validator(mode="after")
    def _places_are_whole(self) -> "BindingSettings":
        if self.thread is not None and self.chat is None:
            raise ValueError("thread is given without the chat that it belongs to")
        if self.roles and self.space is None:
            raise ValueError("roles are given without the space that they belong to")
        return self


class AgentsSettings(Section):
    defaults: AgentDefaults = Field(default_factory=AgentDefaults, description="what holds for every agent")
    list: tuple[AgentSettings, ...] = Field(
        (AgentSettings(id="main", default=True),),
        description="the agents, each with keys of its own over these",
    )
    bindings: tuple[BindingSettings, ...] = Field(
        (), description="which agent answers where; without one, the default agent does"
    )

    def resolve(self, agent_id: str) -> AgentSettings | None:
        """The agent's settings over the defaults, field by field; None when there is no such agent."""
        for agent in self.list:
            if agent.id == agent_id:
                base = self.defaults.model_dump(exclude_unset=True)
                return AgentSettings.model_validate(_merge(base, agent.model_dump(exclude_unset=True)))
        return None

    @property
    def default_id(self) -> str:
        return next((agent.id for agent in self.list if agent.default), self.list[0].id)


def _merge(base: dict[str, object], over: dict[str, object]) -> dict[str, object]:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = _merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
