"""What a conversation must hold before it is sent to any model: every call answered once, nothing blank.

- A call is answered right after its message, in the order of the calls. A call without a result gets an
  error result that says so.
- A result belongs to the latest call of its id before it, wherever it stands. The first one counts;
  results of no call and further ones are left out.
- An answer that ended in an error or was stopped keeps its text. Its calls were never run (tools start
  after a whole answer), so they are left out with any results, and so is its reasoning, which may be cut.
- Blank texts are left out; where nothing else is left, a result and a user message get a placeholder
  and an assistant message is left out (reasoning alone counts as nothing).

No provider's rule is known here: roles may repeat, and the first message may be an assistant's.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from sessions.messages import Assistant, Image, Message, Text, Thinking, ToolCall, ToolResult, User

NO_OUTPUT = "(no output)"
NO_TEXT = "(empty message)"
INTERRUPTED = (
    "Interrupted: this call has no recorded result. It may have run, or run in part. "
    "Check its effects before calling it again."
)

P = TypeVar("P", bound=Text | Image | Thinking | ToolCall)


def repair(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages as they may be sent. Repairing them again changes nothing."""
    repairer = Repairer()
    for message in messages:
        repairer.add(message)
    return repairer.messages()


class Repairer:
    """`repair`, one message at a time: each takes constant time, whatever came before.

    It holds a result for each call from the start (the interrupted one), which the real one replaces.
    """

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._unanswered: dict[str, list[int]] = {}

    def add(self, message: Message) -> None:
        match message:
            case User():
                self._messages.append(_user(message))
            case Assistant():
                self._add_assistant(message)
            case ToolResult():
                self._answer(message)

    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def _add_assistant(self, message: Assistant) -> None:
        sendable = _assistant(message)
        if sendable is None:
            return
        self._messages.append(sendable)
        calls = sendable.calls
        for call in calls:
            self._unanswered.pop(call.id, None)
        for call in calls:
            self._unanswered.setdefault(call.id, []).append(len(self._messages))
            self._messages.append(_interrupted(call, sendable))

    def _answer(self, result: ToolResult) -> None:
        waiting = self._unanswered.get(result.call_id)
        if waiting:
            self._messages[waiting.pop(0)] = _result(result)


def is_blank(text: str) -> bool:
    return not text or text.isspace()


def _user(message: User) -> User:
    parts = _without_blanks(message.parts)
    if not parts:
        return replace(message, parts=(Text(text=NO_TEXT),))
    return message if parts is message.parts else replace(message, parts=parts)


def _result(message: ToolResult) -> ToolResult:
    parts = _without_blanks(message.parts)
    if not parts:
        return replace(message, parts=(Text(text=NO_OUTPUT),))
    return message if parts is message.parts else replace(message, parts=parts)


def _assistant(message: Assistant) -> Assistant | None:
    parts: tuple[Text | Thinking | ToolCall, ...] = _without_blanks(message.parts)
    if message.stop in ("error", "aborted"):
        parts = tuple(part for part in parts if isinstance(part, Text))
    if all(isinstance(part, Thinking) for part in parts):
        return None
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def _interrupted(call: ToolCall, of: Assistant) -> ToolResult:
    return ToolResult(
        at=of.at, call_id=call.id, name=call.name, parts=(Text(text=INTERRUPTED),), is_error=True
    )


def _without_blanks(parts: tuple[P, ...]) -> tuple[P, ...]:
    """The same object when nothing is blank."""
    for part in parts:
        if isinstance(part, Text) and is_blank(part.text):
            return tuple(part for part in parts if not (isinstance(part, Text) and is_blank(part.text)))
    return parts
