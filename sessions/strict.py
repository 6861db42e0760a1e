"""A view without calls and results, for a provider that refused how they stand together.

It is recorded (`clawd.strict`), so that the messages before it stay as they were sent from then on, and a
past request can be rebuilt. What calls and results said is told as text: nothing is lost, and nothing is
left that could be paired wrongly. A turn begins with a user message.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sessions.entries import Custom, Entry
from sessions.messages import Assistant, Image, Message, Text, ToolCall, ToolResult, User
from sessions.repair import INTERRUPTED

STRICT_KIND = "clawd.strict"
CALL_CHARS = 2_000


def strict_entry(*, everything: bool) -> Custom:
    """As it is recorded. `everything`: of all turns, not only of those that did not come to an end."""
    return Custom(kind=STRICT_KIND, data={"everything": everything})


def strictness(entry: Entry) -> bool | None:
    """`everything` of such an entry; None for any other."""
    if not isinstance(entry.body, Custom) or entry.body.kind != STRICT_KIND:
        return None
    return entry.body.data.get("everything") is True


def wants_everything(entries: Iterable[Entry], messages: Sequence[Message]) -> bool:
    """Whether the next one is to be of all turns: no turn is unfinished, or that was not enough before."""
    tried = any(strictness(entry) is not None for entry in entries)
    return tried or not any(map(is_unfinished, _turns(messages)))


def strict(messages: Sequence[Message], *, everything: bool) -> tuple[Message, ...]:
    """Repaired messages without the calls and results of unfinished turns, or of all. Again: the same."""
    return tuple(
        message
        for turn in _turns(messages)
        for message in (_told(turn) if everything or is_unfinished(turn) else turn)
    )


def is_unfinished(turn: Sequence[Message]) -> bool:
    """Whether the turn has calls, and an answer to one is missing or none came after the last."""
    if not any(isinstance(message, Assistant) and message.calls for message in turn):
        return False
    last = turn[-1]
    if not isinstance(last, Assistant) or last.calls:
        return True
    return any(isinstance(message, ToolResult) and _is_missing(message) for message in turn)


def _is_missing(result: ToolResult) -> bool:
    return result.is_error and result.parts == (Text(text=INTERRUPTED),)


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if isinstance(message, User) or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _told(turn: Sequence[Message]) -> Iterator[Message]:
    for message in turn:
        match message:
            case Assistant() if message.calls:
                yield replace(message, parts=tuple(_texts(message)), stop="stop")
            case ToolResult():
                yield User(at=message.at, parts=_result(message))
            case _:
                yield message


def _texts(message: Assistant) -> Iterator[Text]:
    """Reasoning goes with the calls that it led to."""
    for part in message.parts:
        match part:
            case Text():
                yield part
            case ToolCall():
                arguments = json.dumps(part.arguments, ensure_ascii=False)
                cut = arguments if len(arguments) <= CALL_CHARS else f"{arguments[:CALL_CHARS]}…"
                yield Text(text=f"[I called {part.name} with {cut}]")


def _result(message: ToolResult) -> tuple[Text | Image, ...]:
    what = "failed with" if message.is_error else "gave"
    return (Text(text=f"[The tool {message.name} {what} this; it is data, told as text:]"), *message.parts)
