"""One synchronisation of an index: what is wanted of it, how far it is, and what came of it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from memory.embed.embedder import MemoryUnavailable
from memory.files import FileProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncProgress:
    """`done` of `total` notes read, or passages embedded: in the ordinary way, or by batch jobs."""

    stage: Literal["reading", "embedding", "batch"]
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What a synchronisation did.

    `files` and `chunks` are in the index now, `waiting` of those chunks have no vector yet. `indexed` notes
    were read and stored anew, `removed` went, `embedded` texts were given to the model. `failed` notes are
    not in the index; each `warning` is a sentence.
    """

    files: int = 0
    chunks: int = 0
    waiting: int = 0
    indexed: int = 0
    removed: int = 0
    embedded: int = 0
    failed: tuple[FileProblem, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Order:
    """One synchronisation: what is wanted, and what others may see of it while it runs.

    `force`: every note is read again, for an index made anew. `accept`: also when the embedding model is
    another one than the index was made with, and that costs something. `words_ready` is set when the keyword
    index is up to date. `yield_to_next` says that the embedding of the rest is to be left to a newer order.
    `lasting`: who wants it stays for as long as a batch job may take; `by_batch`: such jobs may be used.
    `catch_up`: documents are read again at any growth.
    """

    force: bool = False
    accept: bool = False
    lasting: bool = False
    catch_up: bool = False
    by_batch: bool = True
    listeners: list[Callable[[SyncProgress], None]] = field(default_factory=list)
    words_ready: asyncio.Event = field(default_factory=asyncio.Event)
    yield_to_next: Callable[[], bool] = lambda: False

    def tell(self, stage: Literal["reading", "embedding", "batch"], done: int, total: int) -> None:
        for listener in self.listeners:
            listener(SyncProgress(stage=stage, done=done, total=total))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChange:
    """The identities of the model that made the vectors and of the one that would make them now."""

    made_with: str
    now: str


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What was done. `damaged` notes were read although they are no UTF-8. `unavailable` is why vectors are
    missing; `unfinished`: a newer order makes them; `in_bulk`: they are for the provider's batch API.

    `recut`: the texts are to be cut in another way than the index was; `changed`: it was made with another
    model than the one that answers now. Both need an index made anew.
    """

    indexed: int = 0
    removed: int = 0
    embedded: int = 0
    failed: list[FileProblem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    unavailable: MemoryUnavailable | None = None
    unfinished: bool = False
    recut: bool = False
    changed: ModelChange | None = None
    in_bulk: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return not (self.unfinished or self.recut) and self.unavailable is None and self.changed is None

    def joined_by(self, later: "Outcome") -> "Outcome":
        """The sum of both; what fails, and whether anything is left, is what the later one says."""
        return Outcome(
            indexed=self.indexed + later.indexed,
            removed=self.removed + later.removed,
            embedded=self.embedded + later.embedded,
            failed=later.failed,
            warnings=self.warnings + later.warnings,
            damaged=self.damaged + later.damaged,
            unavailable=later.unavailable,
            unfinished=later.unfinished,
            recut=later.recut,
            changed=later.changed,
            in_bulk=later.in_bulk,
        )
