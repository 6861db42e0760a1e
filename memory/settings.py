"""Settings of the memory section."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    model_validator,
)


class Section(BaseModel):
    """Base of every settings model of this room: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _address(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#@]*)?", value):
        raise ValueError("must be written http(s)://host/path, without user, password and query")
    return value


def _header(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}", value):
        raise ValueError("must be the name of an HTTP header")
    return value


class BatchSettings(Section):
    max_texts: PositiveInt | None = Field(
        None, description="passages in one request; null: as the provider takes"
    )
    max_chars: PositiveInt | None = Field(
        None, description="characters in one request; null: as the provider takes"
    )
    concurrency: int | None = Field(
        None, ge=1, le=32, description="requests at once; null: 4, for servers of your own 1"
    )


class BatchApiSettings(Section):
    enabled: bool = Field(
        False,
        description="large first indexing as a job of minutes to hours, at about half the price (openai, "
        "gemini, voyage)",
    )
    min_texts: PositiveInt = Field(1_000, description="from this many passages on")
    concurrency: int = Field(2, ge=1, le=8, description="jobs at once")
    poll_seconds: PositiveFloat = Field(5, description="between two looks at a job")
    timeout_minutes: PositiveFloat = Field(
        60, description="a job that takes longer is stopped, and its passages are asked one by one"
    )


class SessionsSyncSettings(Section):
    delta_bytes: int = Field(
        100_000, ge=0, description="a conversation is indexed when it has grown by as much; 0: by anything"
    )
    delta_messages: int = Field(50, ge=0, description="or by as many lines; 0: by anything")


class SyncSettings(Section):
    watch: bool = Field(True, description="the gateway watches the notes and indexes what changes")
    watch_debounce_seconds: float = Field(
        1.5, ge=0.05, le=60, description="quiet after a change before it is indexed"
    )
    on_search: bool = Field(True, description="a search first takes in what has changed")
    on_start: bool = Field(True, description="the gateway takes in at its start what has changed")
    interval_minutes: float = Field(0, ge=0, description="also look every so many minutes; 0: do not")
    sessions: SessionsSyncSettings = Field(
        default_factory=SessionsSyncSettings,
        description="when conversations are read again; one that has ended is read at once",
    )
    embedding_batch_timeout_seconds: PositiveFloat | None = Field(
        None,
        description="for one request with all its tries; null: 120, for servers of your own 600",
    )


class TemporalDecaySettings(Section):
    enabled: bool = Field(False, description="whether notes with a date in their name lose by age")
    half_life_days: PositiveFloat = Field(30, description="half of what can be lost is lost after so long")
    floor: float = Field(0.5, ge=0, le=1, description="share of its score that any note keeps")


class MmrSettings(Section):
    enabled: bool = Field(False, description="whether what is like a better result moves down")
    lambda_: float = Field(
        0.7, ge=0, le=1, alias="lambda", description="1: by score alone, 0: by variety alone"
    )


def _hours(value: str) -> str:
    time = r"([01]\d|2[0-3]):[0-5]\d"
    if not re.fullmatch(f"{time}-{time}", value) or value[:5] == value[6:]:
        raise ValueError('must be two times of day, for example "02:00-06:00"')
    return value


def _model_name(value: str) -> str:
    if not re.fullmatch(r"[^/\s]+/\S+", value):
        raise ValueError("must be written provider/model, for example anthropic/claude-sonnet-5-5")
    return value


class MaintenanceSettings(Section):
    enabled: bool = Field(
        True, description="only when daily notes have changed, and a model can be used; else it costs nothing"
    )
    every_days: int = Field(3, ge=1, le=365, description="at most once in so many days")
    quiet_hours: Annotated[str, AfterValidator(_hours)] = Field(
        "02:00-06:00", description="when it may begin, in the owner's time zone"
    )
    model: Annotated[str, AfterValidator(_model_name)] | None = Field(
        None, description="provider/model that does it; null: the agent's own"
    )


class ExtraPath(Section):
    path: str = Field(min_length=1, description="a file or a folder; absolute, ~, or from the workspace")
    pattern: str = Field("**/*.md", min_length=1, description="which files below a folder; * ? and **/")


def _extra_path(value: object) -> object:
    return {"path": value} if isinstance(value, str) else value


class MultimodalSettings(Section):
    enabled: bool = Field(
        False, description="pictures and sounds of extra_paths; needs gemini with a model gemini-embedding-2…"
    )
    modalities: tuple[Literal["image", "audio"], ...] = Field(
        ("image", "audio"), min_length=1, description="which: image, audio"
    )
    max_file_bytes: PositiveInt = Field(
        10 * 1024 * 1024, description="a larger picture or sound is reported and not indexed"
    )


class SearchSettings(Section):
    provider: str | None = Field(
        None,
        min_length=1,
        description="who turns text into meaning. local: the built-in model; none: keywords only; null or "
        "auto: local, else keywords; openai, gemini, ollama, voyage, mistral, lmstudio, deepinfra, bedrock, "
        "github-copilot, openai-compatible; or a name of models.providers that has an embedding_api",
    )
    sources: tuple[Literal["memory", "sessions"], ...] = Field(
        ("memory",), description="what memory_search looks through: memory, or memory and sessions"
    )
    fallback: str | None = Field(
        None,
        min_length=1,
        description="another such name, used while the provider fails; the index is then made anew with it",
    )
    model: str | None = Field(None, min_length=1, description="embedding model; null: the provider's default")
    base_url: Annotated[str, AfterValidator(_address)] | None = Field(
        None, description="address of the provider; null: its own"
    )
    api_key: SecretStr | None = Field(None, description="null: from models.providers, else the environment")
    api_key_file: Path | None = Field(None, description="a file that holds the key, instead of api_key")
    headers: dict[Annotated[str, AfterValidator(_header)], SecretStr] = Field(
        default_factory=dict, description="further HTTP headers for the provider"
    )
    dimensions: int | None = Field(
        None, ge=8, le=8192, description="numbers in a vector; null: the model's own"
    )
    query_input_type: str | None = Field(
        None, min_length=1, description="input_type (Gemini: task type) of questions; null: the provider's"
    )
    document_input_type: str | None = Field(
        None, min_length=1, description="input_type (Gemini: task type) of notes; null: the provider's"
    )
    floor: float | None = Field(
        None, ge=-1, lt=1, description="cosine of texts that have nothing in common; null: the model's"
    )
    ceiling: float | None = Field(
        None, gt=-1, le=1, description="cosine of a good question with its note; null: the model's"
    )
    query_timeout_seconds: PositiveFloat | None = Field(
        None, description="for one question with all its tries; null: 60, for servers of your own 300"
    )
    query_cache_seconds: float = Field(
        300, ge=0, description="how long a question's vector is remembered; 0: not at all"
    )
    batch: BatchSettings = Field(default_factory=BatchSettings, description="size of requests")
    batch_api: BatchApiSettings = Field(
        default_factory=BatchApiSettings, description="the provider's batch API, for very many passages"
    )
    extra_paths: tuple[Annotated[ExtraPath, BeforeValidator(_extra_path)], ...] = Field(
        (),
        description="further files and folders to index, each a path, or {path, pattern}; an agent's own are "
        "added to these",
    )
    multimodal: MultimodalSettings = Field(
        default_factory=MultimodalSettings, description="pictures and sounds beside the notes"
    )
    cache_entries: int = Field(
        50_000, ge=0, description="vectors kept so that no text is embedded twice; longest unused out first"
    )
    sync: SyncSettings = Field(default_factory=SyncSettings, description="bringing the index up to date")
    max_results: int = Field(6, ge=1, le=50, description="passages that a search gives back")
    min_score: float = Field(0.35, ge=0, le=1, description="weaker passages are left out")
    vector_weight: float = Field(0.7, ge=0, le=1, description="share of meaning in the ranking")
    text_weight: float = Field(0.3, ge=0, le=1, description="share of words in the ranking")
    temporal_decay: TemporalDecaySettings = Field(
        default_factory=TemporalDecaySettings, description="older daily notes further down"
    )
    mmr: MmrSettings = Field(default_factory=MmrSettings, description="less of the same among the results")
    citations: Literal["auto", "on", "off"] = Field(
        "auto", description="whether results name their source to be quoted; auto: in direct chats"
    )
    patience_seconds: PositiveFloat = Field(
        10,
        description="with unset, auto or local: a search waits for the model, then words alone answer",
    )
    idle_seconds: float = Field(300, gt=0, description="the local model leaves memory after this time unused")

    @model_validator(mode="after")
    def _notes_first(self) -> "SearchSettings":
        if "memory" not in self.sources or len(set(self.sources)) < len(self.sources):
            raise ValueError("sources must be [memory] or [memory, sessions]")
        return self

    @model_validator(mode="after")
    def _some_weight(self) -> "SearchSettings":
        if self.vector_weight + self.text_weight == 0:
            raise ValueError("vector_weight and text_weight cannot both be 0")
        return self


class ChunkingSettings(Section):
    tokens: PositiveInt = Field(400, ge=8, description="largest chunk, by our own estimate")
    overlap: int = Field(80, ge=0, description="tokens that a chunk repeats of the one before")


class SessionsSettings(Section):
    visibility: Literal["self", "tree", "agent"] = Field(
        "tree",
        description="which conversations one may look into. self: itself; tree: also those that it started; "
        "agent: all of the agent. Where others read along, never the owner's, nor anybody's direct ones",
    )


class MemorySettings(Section):
    backend: Literal["builtin", "none"] = Field(
        "builtin", description="the engine; none: no memory tools, notes are plain files"
    )
    sessions: SessionsSettings = Field(
        default_factory=SessionsSettings, description="conversations as something to search"
    )
    read_from: tuple[str, ...] = Field(
        (), description="ids of agents whose notes may be searched too; theirs are never written"
    )
    search: SearchSettings = Field(default_factory=SearchSettings, description="how passages are ranked")
    chunking: ChunkingSettings = Field(
        default_factory=ChunkingSettings, description="how files are cut into passages"
    )
    maintenance: MaintenanceSettings = Field(
        default_factory=MaintenanceSettings,
        description="by night, the agent distils its daily notes into MEMORY.md and removes stale lines",
    )
    max_file_bytes: PositiveInt = Field(
        8 * 1024 * 1024, description="a larger memory file is reported and not indexed"
    )
