"""Merging what meaning and words found into one ranking."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A passage. `path` is relative to the workspace; lines are 1-based, inclusive and exactly those of
    `snippet`; all scores lie within 0…1."""

    path: str
    start_line: int
    end_line: int
    score: float
    vector_score: float
    text_score: float
    snippet: str
    source: Literal["memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """`hits`, best first. `mode` says which paths worked; `warning` why one did not."""

    hits: tuple[SearchHit, ...]
    provider: str
    model: str | None
    mode: Literal["hybrid", "vector", "keyword"]
    warning: str | None = None
