"""The JSON forms that other programs rely on: what the HTTP API and every --json of the CLI print."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agents.turn import Trust
from channels.message import Attachment
from gateway.explained import parts_json
from memory.embed.embedder import FellBack
from memory.hybrid import SearchHit, SearchResult
from memory.sessions_tables import Found
from sessions.key import SessionKey
from sessions.messages import Image, Json, JsonObject, Message, Usage
from sessions.registry import SessionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport:
    """A tool call of a finished turn."""

    name: str
    arguments: JsonObject
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The visible end of one turn. `usage` sums all model calls of the turn."""

    reply: str
    key: SessionKey
    session_id: str
    usage: Usage
    calls: tuple[CallReport, ...]
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What comes with a text: `context` stands before it and is no instruction; `files` are not fetched yet.
    `sender` and `trust` say whose it is; only what comes from the owner may be a slash command.
    `takes_files`: the caller fetches the files that the agent sends. `outside` names what it is when it is
    content from outside; `ids` are those under which it was accepted, and with `again` the transcript has it
    already: its turn had been cut off."""

    context: str = ""
    images: tuple[Image, ...] = ()
    files: tuple[Attachment, ...] = ()
    sender: str = "owner"
    trust: Trust = "owner"
    takes_files: bool = False
    outside: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    again: bool = False

    @property
    def may_command(self) -> bool:
        """Whether the text may be a slash command. One whose turn goes on was obeyed before that began."""
        return self.trust == "owner" and not self.again


OWNER = Beside()
"""A text of the owner, alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidHit:
    """Something that was said: `line` of the transcript of a session, whose key may be forgotten."""

    key: SessionKey | None
    session_id: str
    at: datetime
    role: str
    line: int
    snippet: str

    @classmethod
    def of(cls, found: Found, key: SessionKey | None) -> "SaidHit":
        return cls(
            key=key,
            session_id=found.session,
            at=datetime.fromtimestamp(found.at, UTC),
            role=found.role,
            line=found.line,
            snippet=found.snippet,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidResult:
    """`partial`: nothing held all of the words, these hold some."""

    hits: tuple[SaidHit, ...]
    partial: bool
    warning: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A session and what was said in it, oldest first."""

    record: SessionRecord
    messages: tuple[Message, ...]


class Refused(Exception):
    """A request that ends in a clear message instead of an answer.

    `code` is a stable word for programs, `status` the HTTP status; the text is for a person.
    """

    def __init__(self, message: str, *, code: str, status: int) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


def reply_json(reply: ChatReply) -> JsonObject:
    calls: list[Json] = [
        {"name": call.name, "arguments": call.arguments, "is_error": call.is_error} for call in reply.calls
    ]
    return {
        "reply": reply.reply,
        "session_key": str(reply.key),
        "session_id": reply.session_id,
        "model": reply.model,
        "usage": usage_json(reply.usage),
        "tool_calls": calls,
    }


def usage_json(usage: Usage) -> JsonObject:
    """Token counts, and `cost_usd`, which is null when a price is unknown."""
    return {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "total": usage.total,
        "cost_usd": usage.cost.total if usage.cost else None,
    }


def search_json(result: SearchResult, *, explain: bool = False) -> JsonObject:
    return {
        "results": [hit_json(hit, explain=explain) for hit in result.hits],
        "provider": result.provider,
        "model": result.model,
        "mode": result.mode,
        **({"relaxed": True} if result.relaxed else {}),
        **({"fallback": fallback_json(result.fallback)} if result.fallback else {}),
        **({"warning": result.warning} if result.warning else {}),
    }


def fallback_json(fallback: FellBack) -> JsonObject:
    return {"from": fallback.from_, "to": fallback.to, "reason": fallback.reason}


def hit_json(hit: SearchHit, *, explain: bool = False) -> JsonObject:
    """With `explain`, what its score is made of."""
    return {
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "score": round(hit.score, 4),
        "vector_score": round(hit.vector_score, 4),
        "text_score": round(hit.text_score, 4),
        "snippet": hit.snippet,
        "source": hit.source,
        **({"kind": hit.kind} if hit.kind != "text" else {}),
        **({"agent": hit.agent} if hit.agent else {}),
        **({"explain": parts_json(hit.parts)} if explain and hit.parts else {}),
    }


def said_json(result: SaidResult) -> JsonObject:
    hits: list[Json] = [
        {
            "session_key": str(hit.key) if hit.key else None,
            "session_id": hit.session_id,
            "at": time_json(hit.at),
            "role": hit.role,
            "line": hit.line,
            "snippet": hit.snippet,
        }
        for hit in result.hits
    ]
    return {
        "results": hits,
        "partial": result.partial,
        **({"warning": result.warning} if result.warning else {}),
    }


def sessions_json(records: Sequence[SessionRecord]) -> JsonObject:
    return {"sessions": [session_json(record) for record in records]}


def session_json(record: SessionRecord) -> JsonObject:
    return {
        "key": str(record.key),
        "session_id": record.session_id,
        "agent": record.key.agent,
        "started_at": time_json(record.started_at),
        "last_seen_at": time_json(record.last_seen_at),
        "messages": record.messages,
    }


def time_json(at: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and Z."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def error_json(code: str, message: str) -> JsonObject:
    return {"error": {"code": code, "message": message}}
