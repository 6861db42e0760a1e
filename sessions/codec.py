"""Headers and entries in the session format of the pi agent family, version 3, and back.

What is read more widely than it is written: content may be a string; a missing time or parent has a
stand-in; messages of role `custom` and (version 2) `hookMessage` are CustomMessages; a `bashExecution`
is a CustomMessage with the command and its output, or Unknown when it was kept from the model; every
other kind or shape is Unknown, which holds the object without id, parentId and timestamp.
"""

from datetime import UTC, datetime

from sessions.entries import (
    Body,
    BranchSummary,
    Compacted,
    Custom,
    CustomMessage,
    Entry,
    Header,
    ModelChanged,
    Said,
    Unknown,
)
from sessions.lines import BadLine
from sessions.message_codec import (
    count_of,
    is_content,
    message_json,
    message_of,
    object_or_none,
    parts_json,
    parts_of,
    text_or_empty,
)
from sessions.messages import Json, JsonObject, Text

VERSION = 3

_OF_THE_ENTRY = frozenset({"id", "parentId", "timestamp"})


def header_json(header: Header) -> JsonObject:
    stored: JsonObject = {
        "type": "session",
        "version": VERSION,
        "id": header.id,
        "timestamp": iso(header.at),
        "cwd": header.cwd,
    }
    if header.parent is not None:
        stored["parentSession"] = header.parent
    return stored


def header_of(stored: JsonObject) -> Header:
    """Raises BadLine when the object is no header; a missing time is 1970."""
    session_id = stored.get("id")
    if stored.get("type") != "session" or not isinstance(session_id, str) or not session_id:
        raise BadLine("no session header")
    parent = stored.get("parentSession")
    return Header(
        id=session_id,
        at=time_of_iso(stored.get("timestamp"), datetime.fromtimestamp(0, UTC)),
        cwd=text_or_empty(stored.get("cwd")),
        parent=parent if isinstance(parent, str) else None,
    )


def version_of(stored: JsonObject) -> int:
    """The version a header declares; 1 when it declares none."""
    return count_of(stored.get("version")) or 1


def entry_json(entry: Entry) -> JsonObject:
    """`type` comes first, then id, parentId and timestamp, then what is the kind's own."""
    body = _body_json(entry.body)
    return {
        "type": body.get("type"),
        "id": entry.id,
        "parentId": entry.parent_id,
        "timestamp": iso(entry.at),
        **body,
    }


def entry_of(stored: JsonObject, *, entry_id: str, parent_id: str | None, before: datetime) -> Entry:
    """The entry under the id and parent that its file gives it; `before` stands in for a missing time."""
    at = time_of_iso(stored.get("timestamp"), before)
    return Entry(id=entry_id, parent_id=parent_id, at=at, body=_body_of(stored, at))


def iso(at: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and Z."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_of_iso(value: Json, fallback: datetime) -> datetime:
    """A time in UTC, also from a text without offset; `fallback` when it is none."""
    if not isinstance(value, str):
        return fallback
    try:
        at = datetime.fromisoformat(value)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return fallback


def _body_json(body: Body) -> JsonObject:
    match body:
        case Said():
            return {"type": "message", "message": message_json(body.message)}
        case Compacted():
            stored: JsonObject = {
                "type": "compaction",
                "summary": body.summary,
                "firstKeptEntryId": body.first_kept_id,
                "tokensBefore": body.tokens_before,
            }
            return _with_details(stored, body.details)
        case BranchSummary():
            return {"type": "branch_summary", "fromId": body.from_id, "summary": body.summary}
        case CustomMessage():
            stored = {
                "type": "custom_message",
                "customType": body.kind,
                "content": parts_json(body.parts),
                "display": body.display,
            }
            return _with_details(stored, body.details)
        case _:
            return _unseen_json(body)


def _unseen_json(body: ModelChanged | Custom | Unknown) -> JsonObject:
    match body:
        case ModelChanged():
            return {"type": "model_change", "provider": body.provider, "modelId": body.model}
        case Custom():
            return {"type": "custom", "customType": body.kind, "data": body.data}
        case Unknown():
            return {key: value for key, value in body.raw.items() if key not in _OF_THE_ENTRY}


def _with_details(stored: JsonObject, details: JsonObject | None) -> JsonObject:
    return stored if details is None else {**stored, "details": details}


def _body_of(stored: JsonObject, at: datetime) -> Body:
    body = _seen_of(stored, at) or _unseen_of(stored)
    return body or Unknown(raw={key: value for key, value in stored.items() if key not in _OF_THE_ENTRY})


def _seen_of(stored: JsonObject, at: datetime) -> Body | None:
    match stored:
        case {"type": "message", "message": dict(message)}:
            return _said_of(message, at)
        case {"type": "compaction", "summary": str(summary)}:
            return Compacted(
                summary=summary,
                first_kept_id=text_or_empty(stored.get("firstKeptEntryId")),
                tokens_before=count_of(stored.get("tokensBefore")),
                details=object_or_none(stored.get("details")),
            )
        case {"type": "branch_summary", "summary": str(summary)}:
            return BranchSummary(from_id=text_or_empty(stored.get("fromId")), summary=summary)
        case {"type": "custom_message", "content": content} if is_content(content):
            return _custom_message_of(stored)
        case _:
            return None


def _unseen_of(stored: JsonObject) -> Body | None:
    match stored:
        case {"type": "model_change", "provider": str(provider), "modelId": str(model)}:
            return ModelChanged(provider=provider, model=model)
        case {"type": "custom", "customType": str(kind)} if isinstance(stored.get("data", {}), dict):
            return Custom(kind=kind, data=object_or_none(stored.get("data")) or {})
        case _:
            return None


def _said_of(message: JsonObject, at: datetime) -> Body | None:
    match message.get("role"):
        case "custom" | "hookMessage" if is_content(message.get("content")):
            return _custom_message_of(message)
        case "bashExecution" if message.get("excludeFromContext") is not True:
            return CustomMessage(kind="bashExecution", parts=(Text(text=_ran(message)),), display=True)
        case _:
            said = message_of(message, at)
            return None if said is None else Said(message=said)


def _custom_message_of(stored: JsonObject) -> CustomMessage:
    return CustomMessage(
        kind=text_or_empty(stored.get("customType")),
        parts=parts_of(stored.get("content")),
        display=stored.get("display") is True,
        details=object_or_none(stored.get("details")),
    )


def _ran(message: JsonObject) -> str:
    """A command that the person ran beside the conversation, as a model reads it."""
    output = text_or_empty(message.get("output"))
    lines = [
        f"Ran `{text_or_empty(message.get('command'))}`",
        f"```\n{output}\n```" if output else "(no output)",
    ]
    code = count_of(message.get("exitCode"))
    if message.get("cancelled") is True:
        lines.append("(cancelled)")
    elif code:
        lines.append(f"(exit code {code})")
    full = message.get("fullOutputPath")
    if message.get("truncated") is True and isinstance(full, str):
        lines.append(f"(cut; all of it is in {full})")
    return "\n".join(lines)
