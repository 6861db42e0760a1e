"""Why an index cannot be used, in sentences that say what to do."""

from pathlib import Path

from memory.database import DatabaseClosed, DatabaseUnusable
from memory.embed.embedder import MemoryUnavailable


def unusable(path: Path, error: Exception) -> MemoryUnavailable:
    if isinstance(error, DatabaseUnusable | DatabaseClosed):
        return MemoryUnavailable(str(error))
    return MemoryUnavailable(
        f"The memory index {path} cannot be used: {error}. "
        "Check the free space and who owns the file; it may be deleted, it is made anew from the notes."
    )


def not_made_anew(path: Path, error: Exception) -> MemoryUnavailable:
    return MemoryUnavailable(
        f"The memory index {path} could not be made anew: {error}. The old one goes on. "
        "Check the free space, then: clawd memory index"
    )


def other_model(made_with: str, now: str, *, rebuilding: bool) -> MemoryUnavailable:
    """Why an index with vectors of another model cannot be asked."""
    if rebuilding:
        return MemoryUnavailable(
            f"The memory index is being made anew with {now}. Ask again when that is done; "
            "clawd memory status shows how far it is."
        )
    return MemoryUnavailable(
        f"The memory index was made with {made_with}, and {now} is configured now. "
        "Make it anew with: clawd memory index"
    )


def damaged(aside: Path) -> str:
    return (
        f"The memory index was damaged, or of another version: it was set aside as {aside} and made "
        "anew from the notes. That file may be deleted."
    )
