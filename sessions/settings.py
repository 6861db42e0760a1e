"""Settings of the sessions section."""

import re
from datetime import time, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, model_validator

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Section(BaseModel):
    """Base of every settings model of this room: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _time_of_day(value: str) -> str:
    if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value):
        raise ValueError('must be a time of day from "00:00" to "23:59"')
    return value


def _time_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        raise ValueError("is no IANA time zone name, for example Europe/Lisbon") from error
    return value


def _duration(value: str) -> str:
    if not re.fullmatch(r"[1-9]\d{0,5}[smhd]", value):
        raise ValueError("must be a duration such as 90s, 5m, 1h or 2d")
    return value


def _model_name(value: str) -> str:
    if not re.fullmatch(r"[^/\s]+/\S+", value):
        raise ValueError("must be written provider/model, for example anthropic/claude-sonnet-5-5")
    return value


def _tool_pattern(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.*-]{1,64}", value):
        raise ValueError("must be the name of a tool; * stands for any characters")
    return value


TimeOfDay = Annotated[str, AfterValidator(_time_of_day)]
TimeZoneName = Annotated[str, AfterValidator(_time_zone)]
Duration = Annotated[str, AfterValidator(_duration)]
ModelName = Annotated[str, AfterValidator(_model_name)]
ToolPattern = Annotated[str, AfterValidator(_tool_pattern)]
KeyKind = Literal["main", "api", "direct", "group", "channel", "thread"]
NoteEvent = Literal["new", "reset", "daily", "idle"]


def time_of(text: str) -> time:
    """A checked time of day as a value."""
    return time.fromisoformat(text)


def duration_of(text: str) -> timedelta:
    """A checked duration as a value."""
    return timedelta(**{_UNITS[text[-1]]: int(text[:-1])})


class ResetOverride(Section):
    """What is left out here holds as it stands in sessions.reset; null takes it away."""

    daily_at: TimeOfDay | None = Field(
        None, description="a new session each day at this time; null: none, left out: as in sessions.reset"
    )
    idle_minutes: PositiveInt | None = Field(
        None, description="a new session after so long a silence; null: none, left out: as in sessions.reset"
    )


class ResetSettings(Section):
    daily_at: TimeOfDay | None = Field(
        "04:00", description="a conversation begun before this time of day starts anew; null: never"
    )
    idle_minutes: PositiveInt | None = Field(
        None, description="or after so many minutes without a word from a person; null: never"
    )
    time_zone: TimeZoneName | None = Field(None, description="of daily_at; null: the owner's")
    by_kind: dict[KeyKind, ResetOverride] = Field(
        default_factory=dict,
        description="other rules for main, api, direct, group, channel or thread, field by field",
    )
    by_channel: dict[str, ResetOverride] = Field(
        default_factory=dict, description="other rules for a channel's name, field by field, over by_kind"
    )


class NoteSettings(Section):
    """The note that a session leaves in memory when it ends."""

    enabled: bool = Field(True, description="whether a session that ends leaves a note in memory")
    messages: int = Field(15, ge=1, le=200, description="what was said last, by people and model")
    slug: Literal["model", "time"] = Field(
        "model", description="the file's name. model: words for what it was about; time: the hour"
    )
    on: tuple[NoteEvent, ...] = Field(
        ("new", "reset", "daily", "idle"), description="endings that leave a note: new, reset, daily, idle"
    )

    @model_validator(mode="after")
    def _each_once(self) -> "NoteSettings":
        if len(set(self.on)) < len(self.on):
            raise ValueError("on names an ending twice")
        return self


class FlushSettings(Section):
    """A silent turn that saves what is worth keeping, before the conversation is shortened."""

    enabled: bool = Field(True, description="save to the day's note before the conversation is shortened")
    soft_threshold_tokens: int = Field(
        4_000, ge=0, description="so far below the point of compaction; less in small windows"
    )
    transcript_bytes: int = Field(
        2 * 1024 * 1024, ge=0, description="or when the transcript has grown by as much; 0: not by size"
    )
    prompt: str | None = Field(
        None, min_length=1, description="what the model is asked; null: our own words. YYYY-MM-DD is the date"
    )
    model: ModelName | None = Field(
        None, description="exactly this model, without fallbacks; null: the conversation's own, cache and all"
    )


class CompactionSettings(Section):
    """How a conversation that no longer fits is summarised."""

    enabled: bool = Field(True, description="by itself; /compact works in any case")
    reserve_tokens: int = Field(
        20_000, ge=0, description="of the window that stay free; less in small windows"
    )
    keep_recent_tokens: PositiveInt = Field(
        20_000, description="of the newest part that stay word for word; less in small windows"
    )
    notify: bool = Field(True, description="tell the person in one line that it happened")
    model: ModelName | None = Field(None, description="that writes summaries; null: the conversation's own")
    flush: FlushSettings = Field(
        default_factory=FlushSettings, description="saving what matters to memory first"
    )


class SoftTrimSettings(Section):
    ratio: float = Field(0.3, ge=0, le=1, description="from this share of the window on (see gate)")
    max_chars: PositiveInt = Field(4_000, description="longer results are trimmed")
    head_chars: int = Field(1_500, ge=0, description="that stay of the beginning")
    tail_chars: int = Field(1_500, ge=0, description="that stay of the end")


class AgedSettings(Section):
    enabled: bool = Field(True, description="whether results that an earlier pause trimmed are trimmed more")
    head_chars: int = Field(400, ge=0, description="that stay of the beginning then")
    tail_chars: int = Field(200, ge=0, description="that stay of the end then")


class HardClearSettings(Section):
    enabled: bool = Field(True, description="whether old results are replaced as a whole")
    ratio: float = Field(0.5, ge=0, le=1, description="while more than this share of the window is used")
    placeholder: str = Field(
        "[Old tool result content cleared]", min_length=1, max_length=200, description="what stands instead"
    )


class ToolFilterSettings(Section):
    allow: tuple[ToolPattern, ...] = Field(
        (), description="tools whose results may be trimmed, with * for any characters; none: all"
    )
    deny: tuple[ToolPattern, ...] = Field((), description="tools whose results stay; stronger than allow")


class PruningSettings(Section):
    """How old tool results are trimmed while the provider's cache is cold."""

    mode: Literal["cache_ttl", "off"] = Field(
        "cache_ttl", description="cache_ttl: when the provider's cache is cold anyway; off: never"
    )
    ttl: Duration = Field(
        "5m", description="the cache counts as cold after so long a pause (or agents' cache_ttl, if longer)"
    )
    keep_last_assistants: int = Field(
        3, ge=0, description="so many last answers, and all after the first of them, are not touched"
    )
    soft_trim: SoftTrimSettings = Field(
        default_factory=SoftTrimSettings, description="keeping the two ends of a long result"
    )
    aged: AgedSettings = Field(
        default_factory=AgedSettings, description="what was trimmed in a pause before this one"
    )
    hard_clear: HardClearSettings = Field(
        default_factory=HardClearSettings, description="replacing old results, when trimming is not enough"
    )
    min_prunable_chars: int = Field(
        50_000, ge=0, description="results are cleared only when they come to this many characters together"
    )
    gate: bool = Field(
        False,
        description="true: wait for soft_trim.ratio; false: trim whenever the cache is cold, the cheapest",
    )
    tools: ToolFilterSettings = Field(
        default_factory=ToolFilterSettings, description="whose results may be trimmed"
    )


class KeepWarmSettings(Section):
    """Asking for nothing, so that the provider keeps the prompt in its cache while nobody writes."""

    enabled: bool = Field(
        False,
        description="ask once more before the cache ends: a tenth of the prompt's price, which /status shows",
    )
    times: int = Field(1, ge=1, le=20, description="at most, between two messages of a person; 1 saves most")
    before_seconds: int = Field(45, ge=5, le=240, description="so long before the cache would end")


class StartNotesSettings(Section):
    """Notes of the last days that a new session begins with."""

    enabled: bool = Field(True, description="whether a new session begins with the notes of the last days")
    days: int = Field(2, ge=1, le=14, description="today and the days before it")
    max_file_bytes: int = Field(16_384, ge=1, le=65_536, description="that are read of one note")
    max_file_chars: int = Field(1_200, ge=1, le=10_000, description="that are shown of one note")
    max_total_chars: int = Field(2_800, ge=1, le=50_000, description="that are shown of all of them")
    max_slugged: int = Field(4, ge=0, le=50, description="notes of ended sessions of one day, newest first")


def _link_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", value):
        raise ValueError("must be a name of A-Z, a-z, 0-9, - and _ that begins with a letter")
    return value


def _identity(value: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_-]*:\S+", value):
        raise ValueError('must be written channel:id, for example "telegram:12345"')
    return value


DmScope = Literal["main", "per_peer", "per_channel_peer", "per_account_channel_peer"]
LinkName = Annotated[str, AfterValidator(_link_name)]
Identity = Annotated[str, AfterValidator(_identity)]


class SessionsSettings(Section):
    max_line_bytes: PositiveInt = Field(
        64 * 1024 * 1024, description="a longer transcript line stays on disk and is skipped with a warning"
    )
    open_limit: PositiveInt = Field(
        256, description="conversations kept in memory, least recently used out first"
    )
    open_mb: PositiveInt = Field(
        4,
        description="megabytes of transcripts kept in memory (the newest 4 always); they take thrice as much",
    )
    dm_scope: DmScope = Field(
        "main",
        description="direct chats. main: the owner's are one conversation; else apart by what it names",
    )
    identity_links: dict[LinkName, tuple[Identity, ...]] = Field(
        default_factory=dict,
        description="one person on several channels: a name of yours, and the ids as channel:id",
    )
    reset: ResetSettings = Field(
        default_factory=ResetSettings, description="when a new session begins by itself"
    )
    note: NoteSettings = Field(
        default_factory=NoteSettings, description="what a session leaves in memory when it ends"
    )
    start_notes: StartNotesSettings = Field(
        default_factory=StartNotesSettings, description="what a new session begins with"
    )
    compaction: CompactionSettings = Field(
        default_factory=CompactionSettings, description="shortening a conversation that no longer fits"
    )
    pruning: PruningSettings = Field(
        default_factory=PruningSettings, description="trimming old tool results to save money"
    )
    keep_warm: KeepWarmSettings = Field(
        default_factory=KeepWarmSettings, description="renewing the provider's cache while nobody writes"
    )

    @model_validator(mode="after")
    def _one_person_each(self) -> "SessionsSettings":
        listed = [one for ids in self.identity_links.values() for one in ids]
        if twice := next((one for one in listed if listed.count(one) > 1), None):
            raise ValueError(f"identity_links names {twice} more than once; an id belongs to one person")
        return self
