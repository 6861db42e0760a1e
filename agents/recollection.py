"""What people and models said to each other, taken out of a transcript to be searched."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from sessions.entries import Entry, Said
from sessions.messages import Assistant, ToolResult, text_of
from sessions.numbered import Numbered

Redact: TypeAlias = Callable[[str], str]

# The line that says who speaks, as it was put into the text by programs that keep it there.
_ENVELOPE = re.compile(r"\A\s*\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\]\n]{0,120}\](?:[^\n:]{0,64}:)? ?")
# What programs put into messages for models alone, with all that is in it.
_INTERNAL = re.compile(
    r"<(system-reminder|relevant-memories|recalled-memory|internal|think|thinking|environment_context)\b"
    r"[^<>]{0,200}>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_WRAPPERS = re.compile(r"</?final\s*>", re.IGNORECASE)
_SILENT = re.compile(r"\W*(?:NO_REPLY|HEARTBEAT_OK|REPLY_SKIP|ANNOUNCE_SKIP)\W*")
_BLANKS = re.compile(r"\s+")
_CALL_CHARS = 500
_RESULT_CHARS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What was said at a line of a transcript; never blank."""

    line: int
    at: datetime
    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A remark as a history shows it, or a call of a tool, or its result."""

    line: int
    at: datetime
    role: Literal["user", "assistant", "call", "result"]
    text: str


def pieces(entries: Iterable[Numbered], redact: Redact, *, tools: bool) -> list[Piece]:
    """The remarks in order and, with `tools`, what was called and came back, each cut short."""
    found: list[Piece] = []
    for one in entries:
        remark = _remark(one.line, one.entry, redact)
        if remark is not None:
            found.append(Piece(line=remark.line, at=remark.at, role=remark.role, text=remark.text))
        if tools:
            found += _payloads(one, redact)
    return found


def remarks(entries: Iterable[Numbered], redact: Redact) -> list[Remark]:
    """What people and models said, in order, without envelopes, internal markup, reasoning, tool calls and
    their results, and without secrets."""
    found = [_remark(one.line, one.entry, redact) for one in entries]
    return [remark for remark in found if remark is not None]


def document(spoken: Sequence[Remark]) -> str:
    """A text whose line n is what was said at line n of the transcript, all on one line, after its speaker.
    Lines at which nothing was said are empty."""
    lines: list[str] = []
    for remark in spoken:
        lines += [""] * (remark.line - 1 - len(lines))
        lines.append(f"{remark.role.capitalize()}: {_BLANKS.sub(' ', remark.text)}")
    return "".join(f"{line}\n" for line in lines)


def plain(text: str) -> str:
    """`text` without what was put into it for models alone; empty when nothing was said."""
    said = _WRAPPERS.sub("", _INTERNAL.sub("", _ENVELOPE.sub("", text))).strip()
    return "" if _SILENT.fullmatch(said) else said


def _payloads(one: Numbered, redact: Redact) -> list[Piece]:
    if not isinstance(one.entry.body, Said):
        return []
    match one.entry.body.message:
        case Assistant() as message:
            return [
                Piece(
                    line=one.line,
                    at=message.at,
                    role="call",
                    text=shortened(
                        redact(f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}"), _CALL_CHARS
                    ),
                )
                for call in message.calls
            ]
        case ToolResult() as message:
            text = f"{message.name}: {text_of(message.parts)}"
            return [
                Piece(
                    line=one.line,
                    at=message.at,
                    role="result",
                    text=shortened(redact(text), _RESULT_CHARS),
                )
            ]
        case _:
            return []


def shortened(text: str, most: int) -> str:
    """At most `most` characters, and a sign of how much is missing."""
    return text if len(text) <= most else f"{text[:most]}… [{len(text) - most} more characters]"


def _remark(line: int, entry: Entry, redact: Redact) -> Remark | None:
    if not isinstance(entry.body, Said) or isinstance(entry.body.message, ToolResult):
        return None
    message = entry.body.message
    text = redact(plain(text_of(message.parts)))
    if not text.strip():
        return None
    role: Literal["user", "assistant"] = "assistant" if isinstance(message, Assistant) else "user"
    return Remark(line=line, at=message.at, role=role, text=text)
