"""What stands around the messages of a request, frozen while the provider's cache is warm.

The system prompt, the project context and the tools of a session are recorded in its transcript
(`clawd.context`) and sent as recorded until there is a reason to look again: a new session, a cache that
has gone cold, a compaction, other settings, or a bootstrap file that somebody other than the agent edited.
What the agent itself wrote is in the conversation already and waits.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from agents.bootstrap import BootstrapFile
from agents.model.provider import CacheTtl, ModelRequest, ToolSpec
from agents.model.spelling import Spelling, spelling_from, spelling_json
from sessions.entries import Compacted, Custom, CustomMessage, Entry, Said
from sessions.messages import Assistant, Json, JsonObject, User
from sessions.warmth import warmed_at

CONTEXT = "clawd.context"
SEEN = "clawd.seen"
ASKED = "clawd.asked"
WIRE_FORMAT = 1

_TTL = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSize:
    """How much of a bootstrap file stands in the context; what counts as raw says BootstrapFile."""

    name: str
    raw_chars: int
    injected_chars: int
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A request without its messages, of which files (name to digest) its context was made, and how its bytes
    are spelled; None for a provider that has no wire."""

    provider: str
    request: ModelRequest
    files: Mapping[str, str]
    sizes: tuple[FileSize, ...] = ()
    spelling: Spelling | None = None

    @property
    def digest(self) -> str:
        text = json.dumps(_facts(self), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def digests(files: Sequence[BootstrapFile]) -> dict[str, str]:
    """What tells whether a file has changed, as far as a prompt can see it."""
    return {
        file.name: hashlib.sha256(
            f"{file.raw_chars}\0{file.injected}".encode("utf-8", "replace")
        ).hexdigest()[:16]
        for file in files
    }


def sizes(files: Sequence[BootstrapFile]) -> tuple[FileSize, ...]:
    """What is told of the files in a report."""
    return tuple(
        FileSize(
            name=file.name,
            raw_chars=file.raw_chars,
            injected_chars=len(file.injected),
            truncated=file.truncated,
        )
        for file in files
    )


def recorded(entries: Sequence[Entry]) -> Frame | None:
    """The frame of the last request, as the transcript has it; None when none is understood."""
    for entry in reversed(entries):
        if isinstance(entry.body, Custom) and entry.body.kind == CONTEXT:
            return frame_of(entry.body.data)
    return None


def known_files(entries: Sequence[Entry]) -> Mapping[str, str]:
    """The bootstrap files as the agent knows them: those of its frame, and its own edits since."""
    for entry in reversed(entries):
        if isinstance(entry.body, Custom) and entry.body.kind in (CONTEXT, SEEN):
            return _files(entry.body.data.get("files"))
    return {}


def refresh_reason(
    frozen: Frame | None, facts: Sequence[Entry], fresh: Frame, *, asked: datetime | None, now: datetime
) -> str | None:
    """Why the recorded frame is replaced by `fresh`; None while it stays. `facts` are the entries that are no
    messages, `asked` is `last_asked` of them all."""
    if frozen is None:
        return "new session"
    known = known_files(facts)
    edited = sorted(name for name in {*known, *fresh.files} if known.get(name) != fresh.files.get(name))
    reasons = {
        "another model": (frozen.provider, frozen.request.model) != (fresh.provider, fresh.request.model),
        "other settings or tools": _settings(frozen) != _settings(fresh),
        f"edited: {', '.join(edited)}": bool(edited),
        "compaction": _compacted_since(facts),
        "cold cache": is_cold(asked, ttl=fresh.request.cache_ttl, now=now),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def is_cold(last: datetime | None, *, ttl: CacheTtl | None, now: datetime) -> bool:
    """Whether the provider has forgotten the prompt: nothing was asked within the cache's time to live."""
    return ttl is None or last is None or now - last >= _TTL[ttl]


def life_of(ttl: CacheTtl) -> timedelta:
    """How long the provider keeps a prompt that is not asked again."""
    return _TTL[ttl]


def last_asked(entries: Sequence[Entry]) -> datetime | None:
    """When a model last answered in this transcript, or its cache was renewed."""
    for entry in reversed(entries):
        if (renewed := warmed_at(entry)) is not None:
            return renewed
        message = entry.body.message if isinstance(entry.body, Said) else None
        if isinstance(message, Assistant) and message.stop not in ("error", "aborted"):
            return message.at
    return None


def context_entry(frame: Frame, reason: str) -> Custom:
    raw: dict[str, Json] = {
        file.name: [file.raw_chars, file.injected_chars, file.truncated] for file in frame.sizes
    }
    data: JsonObject = {"hash": frame.digest, "reason": reason, **_facts(frame), "files": dict(frame.files)}
    if raw:
        data["sizes"] = raw
    return Custom(kind=CONTEXT, data=data)


def seen_entry(files: Mapping[str, str]) -> Custom:
    return Custom(kind=SEEN, data={"files": dict(files)})


def asked_entry(
    provider: str, model: str, spelling: Spelling | None, *, max_tokens: int | None = None
) -> Custom:
    """That another model than the frame's is asked from here on, until somebody speaks again; with fewer
    tokens for its answer when they are given."""
    data: JsonObject = {"provider": provider, "model": model}
    data |= {} if max_tokens is None else {"max_tokens": max_tokens}
    return Custom(kind=ASKED, data=data | ({"spelling": spelling_json(spelling)} if spelling else {}))


def asked_instead(entries: Sequence[Entry], frame: Frame) -> Frame:
    """The frame with the model that was asked in place of its own, if one was."""
    for entry in reversed(entries):
        body = entry.body
        if isinstance(body, CustomMessage) or (isinstance(body, Said) and isinstance(body.message, User)):
            return frame
        if isinstance(body, Custom) and body.kind == ASKED:
            limit = body.data.get("max_tokens")
            request = replace(
                frame.request,
                model=str(body.data.get("model", "")),
                max_tokens=limit if isinstance(limit, int) else frame.request.max_tokens,
            )
            spelling = spelling_from(body.data.get("spelling"))
            provider = str(body.data.get("provider", ""))
            return replace(frame, provider=provider, request=request, spelling=spelling)
    return frame


def frame_of(data: JsonObject) -> Frame | None:
    """The inverse of `context_entry`."""
    match data:
        case {
            "wire": 1,
            "provider": str(provider),
            "model": str(model),
            "system": str(system),
            "context": str(context),
            "tools": list(tools),
            "max_tokens": int(max_tokens),
            "thinking": ("off" | "low" | "medium" | "high") as thinking,
            "cache_ttl": ("5m" | "1h" | None) as cache_ttl,
        }:
            request = ModelRequest(
                model=model,
                system=system,
                context=context,
                messages=(),
                tools=tuple(spec for tool in tools if (spec := _spec(tool))),
                max_tokens=max_tokens,
                thinking=thinking,
                cache_ttl=cache_ttl,
            )
            return Frame(
                provider=provider,
                request=request,
                files=_files(data.get("files")),
                sizes=_sizes(data.get("sizes")),
                spelling=spelling_from(data.get("spelling")),
            )
        case _:
            return None


def _facts(frame: Frame) -> JsonObject:
    request = frame.request
    tools: list[Json] = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in request.tools
    ]
    return {
        "wire": WIRE_FORMAT,
        "provider": frame.provider,
        "model": request.model,
        "system": request.system,
        "context": request.context,
        "tools": tools,
        "max_tokens": request.max_tokens,
        "thinking": request.thinking,
        "cache_ttl": request.cache_ttl,
        **({"spelling": spelling_json(frame.spelling)} if frame.spelling else {}),
    }


def _settings(frame: Frame) -> tuple[ModelRequest, Spelling | None]:
    """What a person sets, without what is written for the model."""
    return replace(frame.request, system="", context="", messages=()), frame.spelling


def _spec(tool: Json) -> ToolSpec | None:
    match tool:
        case {"name": str(name), "description": str(description), "parameters": dict(parameters)}:
            return ToolSpec(name=name, description=description, parameters=parameters)
        case _:
            return None


def _files(value: Json) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: digest for name, digest in value.items() if isinstance(digest, str)}


def _sizes(value: Json) -> tuple[FileSize, ...]:
    found = []
    for name, size in value.items() if isinstance(value, dict) else ():
        match size:
            case [int(raw), int(injected), bool(truncated)]:
                found.append(FileSize(name=name, raw_chars=raw, injected_chars=injected, truncated=truncated))
    return tuple(found)


def _compacted_since(entries: Sequence[Entry]) -> bool:
    for entry in reversed(entries):
        if isinstance(entry.body, Compacted):
            return True
        if isinstance(entry.body, Custom) and entry.body.kind == CONTEXT:
            return False
    return False
