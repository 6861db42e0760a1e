"""Lines of a transcript, as values. On disk: version 3 of the pi agent family's session format (codec.py)."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from sessions.messages import Image, JsonObject, Message, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line. `id` is the session's id; `parent` the file this one was branched from, if any."""

    id: str
    at: datetime
    cwd: str
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """Everything before `first_kept_id` is replaced by `summary` in what a model sees."""

    summary: str
    first_kept_id: str
    tokens_before: int
    details: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchSummary:
    from_id: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChanged:
    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomMessage:
    """Text that a model sees as a user message though no person said it."""

    kind: str
    parts: tuple[Text | Image, ...]
    display: bool
    details: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom:
    """A fact of ours that no model sees; `kind` starts with `clawd.`"""

    kind: str
    data: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """An entry of a kind that this version does not know: kept in the chain, never sent."""

    raw: JsonObject


Body: TypeAlias = Said | Compacted | BranchSummary | ModelChanged | CustomMessage | Custom | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line after the header: `id` is unique in its file, `parent_id` None for a root."""

    id: str
    parent_id: str | None
    at: datetime
    body: Body
