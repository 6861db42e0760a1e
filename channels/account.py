"""What every account of every platform can be told: who may speak, when it listens, how it shows its work."""

import json
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from channels.peer import ANYONE

DmPolicy = Literal["pairing", "allowlist", "open", "disabled"]
TypingMode = Literal["never", "instant", "thinking", "message"]
LiveMode = Literal["off", "edit", "blocks"]
GroupPolicy = Literal["allowlist", "open", "disabled"]


class Section(BaseModel):
    """Base of every settings model of this room: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _text_of(item: object) -> object:
    if isinstance(item, str):
        return item.strip()
    if item is None or isinstance(item, (bool, int, float)):
        return json.dumps(item)
    return item


def _texts(value: object) -> object:
    return tuple(map(_text_of, value)) if isinstance(value, (list, tuple)) else value


def _switched(value: object) -> object:
    """YAML's false and true, where off and all are meant."""
    return {False: "off", True: "all"}[value] if isinstance(value, bool) else value


Ids = Annotated[tuple[str, ...], BeforeValidator(_texts)]
"""Ids as texts, given as numbers or texts. One that can be nobody's stays as it was written, and matches
nobody (see channels.peer.entry_of)."""

Id = Annotated[str, BeforeValidator(_text_of)]


class TopicSettings(Section):
    """What is left out holds as in the topic's group."""

    enabled: bool = Field(True, description="false: nothing in it is heard")
    require_mention: bool | None = Field(None, description="answer only when addressed; null: as the group")
    allow_from: Ids | None = Field(None, description="ids of who may speak here; null: as the group")
    agent: str | None = Field(None, description="who answers here; null: as the group")
    system_prompt: str | None = Field(None, description="a word to the agent about it; null: as the group's")


class GroupSettings(Section):
    """What is left out holds as in the entry `*`, and else as in the account."""

    enabled: bool = Field(True, description="false: nothing in it is heard")
    require_mention: bool | None = Field(
        None, description="answer only when addressed; null: as the entry *, else true"
    )
    allow_from: Ids | None = Field(
        None, description="ids of who may speak here; null: as the entry *, else the account's lists"
    )
    agent: str | None = Field(None, description="who answers here; null: as the bindings say")
    system_prompt: str | None = Field(None, description="a word to the agent about this group")
    history_limit: int | None = Field(None, ge=0, le=500, description="null: the account's")
    topics: dict[Id, TopicSettings] = Field(
        default_factory=dict, description="other rules for its topics or threads, by id"
    )


class AckSettings(Section):
    """The reaction that says: seen, being worked on."""

    scope: Literal["group_mentions", "group_all", "direct", "all", "off"] = Field(
        "group_mentions", description="which messages get it, once their sender may speak"
    )
    emoji: str | None = Field(None, min_length=1, max_length=32, description="null: 👀")
    remove_after_reply: bool = Field(False, description="whether it goes when the answer is there")


class AccountSettings(Section):
    """What the accounts of all platforms have in common."""

    channel: ClassVar[str] = ""

    enabled: bool = Field(True, description="false: the account stays silent and offline")
    dm_policy: DmPolicy = Field(
        "pairing",
        description="direct messages of strangers: a pairing code, dropped, answered, or none at all",
    )
    allow_from: Ids = Field((), description="ids of who may write directly; * is anyone")
    group_policy: GroupPolicy = Field(
        "allowlist", description="groups: those listed in groups, any, or none at all"
    )
    group_allow_from: Ids = Field((), description="ids of who may speak in groups; empty: as allow_from")
    groups: dict[Id, GroupSettings] = Field(
        default_factory=dict, description="groups by id, * for all: those that are heard, and their rules"
    )
    mention_patterns: tuple[str, ...] = Field(
        (), description="regular expressions that address the agent in a group, beside its name"
    )
    history_limit: int = Field(
        50, ge=0, le=500, description="messages of a group that are shown to the agent as context; 0: none"
    )
    context_visibility: Literal["all", "allowlist", "allowlist_quote"] = Field(
        "all",
        description="whose words of a group an agent may see: all, those who may speak, and what these quote",
    )
    allow_bots: Annotated[Literal["off", "mentions", "all"], BeforeValidator(_switched)] = Field(
        "off", description="other bots: never heard, when they mention us, or like people"
    )
    reactions: Literal["off", "own", "all"] = Field(
        "own", description="reactions that the agent hears of: none, on its own messages, all"
    )
    ack_reaction: AckSettings = Field(default_factory=AckSettings, description="a reaction that says: seen")
    typing: TypingMode = Field(
        "instant",
        description="when a typing notice begins: never, at once, when the model has begun to work, or when "
        "there is text to be seen",
    )
    live_view: LiveMode = Field(
        "edit",
        description="a growing answer: edit shows it in a message that grows (in blocks where none can be "
        "edited), blocks in messages of whole paragraphs, off at its end",
    )
    debounce_ms: int = Field(0, ge=0, le=60_000, description="a burst within it is one message; 0: none")
    media_max_mb: int = Field(20, ge=1, le=2_000, description="a larger file is not fetched")

    @model_validator(mode="after")
    def _open_is_meant(self) -> "AccountSettings":
        if self.dm_policy == "open" and ANYONE not in self.allow_from:
            raise ValueError(
                'dm_policy is open, which needs allow_from: ["*"] to say that it is meant; '
                "use allowlist to let in those of allow_from alone"
            )
        return self
