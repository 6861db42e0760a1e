"""A guard against a model that goes round in circles."""

import hashlib
import json

from sessions.messages import ToolCall, ToolResult, text_of

SAME_RESULTS = 3
LONGEST_CIRCLE = 4


class RepeatGuard:
    """Knows the calls of one turn, also of its part before a compaction. A call is refused once it has given
    the same result three times, or would begin the fourth round of the same few calls and results."""

    def __init__(self) -> None:
        self.rounds = 0
        """How often the model's calls were run so far."""
        self._results: dict[str, list[str]] = {}
        self._steps: list[tuple[str, str]] = []

    def refusal(self, call: ToolCall) -> str | None:
        """What to tell the model instead of running the call; None when it may run."""
        signature = _signature(call)
        results = self._results.get(signature, [])
        if size := self._circle(signature):
            return (
                f"Not run: your last {size * SAME_RESULTS} calls were the same {size} over and over, with "
                "the same results, and this would begin again. Do something else, or tell the user what is "
                "in the way."
            )
        if len(results) < SAME_RESULTS or len(set(results[-SAME_RESULTS:])) > 1:
            return None
        return (
            f"Not run: this exact {call.name} call has given the same result {len(results)} times in this "
            "turn. Use that result, try something else, or tell the user what is in the way."
        )

    def note(self, call: ToolCall, result: ToolResult) -> None:
        digest = hashlib.sha256(text_of(result.parts).encode("utf-8", "replace")).hexdigest()
        signature = _signature(call)
        self._results.setdefault(signature, []).append(digest)
        self._steps = [*self._steps, (signature, digest)][-LONGEST_CIRCLE * SAME_RESULTS :]

    def _circle(self, signature: str) -> int:
        """The size of the circle that a call would go on with; 0 when there is none."""
        for size in range(2, LONGEST_CIRCLE + 1):
            last = self._steps[-size * SAME_RESULTS :]
            whole = len(last) == size * SAME_RESULTS and last == last[:size] * SAME_RESULTS
            if whole and last[0][0] == signature and len(set(last)) > 1:
                return size
        return 0


def _signature(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True)}"
