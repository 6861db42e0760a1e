"""A guard against a model that makes the same call again and again."""

import hashlib
import json

from sessions.messages import ToolCall, ToolResult, text_of

SAME_RESULTS = 3


class RepeatGuard:
    """Knows the calls of one turn. A call is refused once it has given the same result three times."""

    def __init__(self) -> None:
        self._results: dict[str, list[str]] = {}

    def refusal(self, call: ToolCall) -> str | None:
        """What to tell the model instead of running the call; None when it may run."""
        results = self._results.get(_signature(call), [])
        if len(results) < SAME_RESULTS or len(set(results[-SAME_RESULTS:])) > 1:
            return None
        return (
            f"Not run: this exact {call.name} call has given the same result {len(results)} times in this "
            "turn. Use that result, try something else, or tell the user what is in the way."
        )

    def note(self, call: ToolCall, result: ToolResult) -> None:
        digest = hashlib.sha256(text_of(result.parts).encode("utf-8", "replace")).hexdigest()
        self._results.setdefault(_signature(call), []).append(digest)


def _signature(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True)}"
