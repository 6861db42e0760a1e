"""Short ways to write messages and entries in tests."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sessions.entries import Body, Entry, Header, Said
from sessions.messages import (
    Assistant,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
    text_of,
)
from sessions.transcript import Transcript

CASES = Path(__file__).parents[1] / "cases"
AT = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
HEADER = Header(id="11111111-2222-4333-8444-555555555555", at=AT, cwd="/home/sam/workspace")
LIMIT = 64 * 1024 * 1024


def user(text: str) -> User:
    return User(at=AT, parts=(Text(text=text),))


def assistant(
    *parts: str | Text | Thinking | ToolCall, stop: StopReason = "stop", error: str | None = None
) -> Assistant:
    return Assistant(
        at=AT,
        parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts),
        stop=stop,
        provider="fake",
        api="fake",
        model="fake-1",
        error=error,
    )


def call(call_id: str) -> ToolCall:
    return ToolCall(id=call_id, name="read", arguments={"path": "notes.md"})


def result(call_id: str, text: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(at=AT, call_id=call_id, name="read", parts=(Text(text=text),), is_error=is_error)


def chain(bodies: Sequence[Body | Message]) -> list[Entry]:
    """Entries 00000001, 00000002, … each the parent of the next, a second apart."""
    entries: list[Entry] = []
    for number, body in enumerate(bodies, start=1):
        entries.append(
            Entry(
                id=f"{number:08x}",
                parent_id=entries[-1].id if entries else None,
                at=AT + timedelta(seconds=number),
                body=Said(message=body) if isinstance(body, User | Assistant | ToolResult) else body,
            )
        )
    return entries


def outline(messages: Sequence[Message]) -> list[str]:
    """One short text a message: `user q1`, `assistant [A,B] text`, `result A text`."""
    return [_outline(message) for message in messages]


def _outline(message: Message) -> str:
    match message:
        case User():
            return f"user {text_of(message.parts)}"
        case ToolResult():
            return f"result {message.call_id} {text_of(message.parts)}"
        case Assistant():
            calls = f"[{','.join(call.id for call in message.calls)}]" if message.calls else ""
            return " ".join(filter(None, ("assistant", calls, message.text)))


def open_case(name: str, folder: Path) -> Transcript:
    """A copy of a case's transcript, opened."""
    path = folder / name
    path.write_bytes((CASES / name).read_bytes())
    return Transcript.open(path, max_line_bytes=LIMIT)
