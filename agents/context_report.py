"""What fills a model's window, part by part."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agents.bootstrap import NAMES
from agents.frame import CONTEXT, FileSize, recorded
from agents.model.provider import ModelRequest
from agents.model.wire import encode
from agents.warming import warmth
from sessions.context import messages_of
from sessions.entries import Compacted, Custom, Entry, Said
from sessions.messages import Assistant, Image, Json, JsonObject, Message, Text, Thinking, ToolResult
from sessions.tokens import estimate

IMAGE_TOKENS = 1_600
"""What a vendor counts for one large image; small ones cost less."""


@dataclass(slots=True, kw_only=True)
class Part:
    """One kind of text in the prompt: how many pieces, characters and tokens (estimated)."""

    name: str
    count: int = 0
    chars: int = 0
    tokens: int = 0

    def add(self, text: str) -> None:
        self.count += 1
        self.chars += len(text)
        self.tokens += estimate(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSize:
    """A tool in the prompt: what it says of itself, its schema as JSON, and how many arguments it has."""

    name: str
    summary_chars: int
    schema_chars: int
    arguments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReport:
    """The prompt as it would be sent now. `parts` are disjoint and in the order of the prompt; `measured` is
    the vendor's own count of the last prompt and answer, None before the first. `missing` are bootstrap
    files that are not in the context: absent, or withheld from a session that others read. `cache_ends`: the
    provider keeps the prompt until then, unless it is asked before; None when it does not keep it."""

    provider: str
    model: str
    window: int
    parts: tuple[Part, ...]
    files: tuple[FileSize, ...]
    missing: tuple[str, ...]
    tools: tuple[ToolSize, ...]
    measured: int | None
    compactions: int
    reason: str
    total: Part = field(default_factory=lambda: Part(name="total"))
    cache_ends: datetime | None = None

    @property
    def share(self) -> float:
        """Of the window, by the estimate."""
        return self.total.tokens / self.window if self.window else 0.0


def context_report(entries: Sequence[Entry], *, window: int) -> ContextReport | None:
    """None before the first request of a session (no frame is recorded yet)."""
    frame = recorded(entries)
    if frame is None:
        return None
    compactions = sum(isinstance(entry.body, Compacted) for entry in entries)
    messages = messages_of(entries)
    parts = [*_frame_parts(frame.request), *_message_parts(messages, summarised=compactions > 0)]
    total = Part(name="total")
    for part in parts:
        total.count += part.count
        total.chars += part.chars
        total.tokens += part.tokens
    held, warm = {size.name for size in frame.sizes} | set(frame.files), warmth(entries)
    return ContextReport(
        provider=frame.provider,
        model=frame.request.model,
        window=window,
        parts=tuple(parts),
        files=frame.sizes,
        missing=tuple(name for name in NAMES if name not in held),
        tools=tuple(_tools(frame.request)),
        measured=_measured(entries),
        compactions=compactions,
        reason=_reason(entries),
        total=total,
        cache_ends=warm.ends if warm else None,
    )


def _frame_parts(request: ModelRequest) -> Iterator[Part]:
    for name, texts in (
        ("tools", [f"{tool.name}{tool.description}{_schema(tool.parameters)}" for tool in request.tools]),
        ("system prompt", [request.system]),
        ("project context", [request.context]),
    ):
        yield _part(name, (text for text in texts if text))


def _message_parts(messages: Sequence[Message], *, summarised: bool) -> Iterator[Part]:
    summary, rest = (messages[:1], messages[1:]) if summarised else ((), messages)
    yield _part("summary", (text for message in summary for text in _texts(message)))
    results = [message for message in rest if isinstance(message, ToolResult)]
    others = [message for message in rest if not isinstance(message, ToolResult)]
    said = [message for message in others if not isinstance(message, Assistant)]
    answers = [message for message in others if isinstance(message, Assistant)]
    yield _part("user messages", (text for message in said for text in _texts(message)))
    yield _part("answers and calls", (text for message in answers for text in _texts(message)))
    yield _part("reasoning", (text for message in answers for text in _thoughts(message)))
    yield _part("tool results", (text for message in results for text in _texts(message)))
    images = sum(isinstance(part, Image) for message in rest for part in message.parts)
    yield Part(name="images", count=images, tokens=images * IMAGE_TOKENS)


def _part(name: str, texts: Iterable[str]) -> Part:
    part = Part(name=name)
    for text in texts:
        part.add(text)
    return part


def _texts(message: Message) -> Iterator[str]:
    """One text for a message: what is said in it, and its calls; its envelope too."""
    pieces = [] if isinstance(message, Assistant | ToolResult) else [message.envelope]
    pieces += [part.text for part in message.parts if isinstance(part, Text)]
    if isinstance(message, Assistant):
        pieces += [f"{call.name}{_schema(call.arguments)}" for call in message.calls]
    yield "".join(pieces)


def _thoughts(message: Assistant) -> Iterator[str]:
    yield from (part.text for part in message.parts if isinstance(part, Thinking))


def _tools(request: ModelRequest) -> Iterator[ToolSize]:
    for tool in request.tools:
        properties = tool.parameters.get("properties")
        yield ToolSize(
            name=tool.name,
            summary_chars=len(tool.description),
            schema_chars=len(_schema(tool.parameters)),
            arguments=len(properties) if isinstance(properties, dict) else 0,
        )


def _schema(value: JsonObject) -> str:
    return encode(value).decode("utf-8", "replace")


def _measured(entries: Sequence[Entry]) -> int | None:
    for entry in reversed(entries):
        if isinstance(entry.body, Compacted):
            return None
        message = entry.body.message if isinstance(entry.body, Said) else None
        if isinstance(message, Assistant) and message.usage.total:
            return message.usage.total
    return None


def _reason(entries: Sequence[Entry]) -> str:
    for entry in reversed(entries):
        if isinstance(entry.body, Custom) and entry.body.kind == CONTEXT:
            return str(entry.body.data.get("reason", ""))
    return ""


def report_json(report: ContextReport) -> JsonObject:
    parts: list[Json] = [
        {"name": part.name, "count": part.count, "chars": part.chars, "tokens": part.tokens}
        for part in report.parts
    ]
    files: list[Json] = [
        {
            "name": file.name,
            "raw_chars": file.raw_chars,
            "injected_chars": file.injected_chars,
            "truncated": file.truncated,
        }
        for file in report.files
    ]
    tools: list[Json] = [
        {
            "name": tool.name,
            "summary_chars": tool.summary_chars,
            "schema_chars": tool.schema_chars,
            "arguments": tool.arguments,
        }
        for tool in report.tools
    ]
    return {
        "model": f"{report.provider}/{report.model}",
        "window": report.window,
        "chars": report.total.chars,
        "tokens": report.total.tokens,
        "share": round(report.share, 4),
        "measured_tokens": report.measured,
        "compactions": report.compactions,
        "frozen_because": report.reason,
        "cache_ends": report.cache_ends.isoformat() if report.cache_ends else None,
        "parts": parts,
        "files": files,
        "missing_files": [*report.missing],
        "tools": tools,
    }
