"""The agent loop: ask the model, run its calls, record every step, until it has nothing left to call."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from agents.asking import Asker, Heard
from agents.clock import Clock
from agents.model.provider import BadPairing, ContextOverflow, ModelError, ModelProvider, ModelRequest
from agents.model.wire import INVALID
from agents.repeats import RepeatGuard
from agents.tools.approval import ApprovalRequest, Decision
from agents.tools.framing import boundary_of, framed, sources_in
from agents.tools.tool import Tool, ToolError, ToolOutput
from agents.turn import ToolFinished, ToolStarted, Turn
from sessions.messages import Assistant, Image, Message, StopReason, Text, ToolCall, ToolResult, User, text_of

UNTRUSTED = "untrusted"

Permit: TypeAlias = Callable[[ToolCall, Turn], Awaitable[str | None]]
"""What to tell the model instead of running a call; None when it may run."""


async def everything(call: ToolCall, turn: Turn) -> str | None:
    """Any call may run."""
    del call, turn
    return None


class TurnLimit(Exception):
    """A turn was ended because it went on too long; the text is for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Everything a turn needs. `request` builds the next request from what was recorded so far; `record`
    returns only when its message is in the transcript; `cap` shortens a result that is too large for the
    window; `permit` is asked before a call runs; times are seconds."""

    provider: ModelProvider
    tools: Mapping[str, Tool]
    request: Callable[[], ModelRequest]
    record: Callable[[Message], Awaitable[None]]
    on_event: Heard
    clock: Clock
    max_rounds: int
    max_retries: int
    tool_timeout: float
    cap: Callable[[str], str] = str
    permit: Permit = everything
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    guard: RepeatGuard = field(default_factory=RepeatGuard)

    async def run(self, turn: Turn) -> Assistant:
        """The model's last message. Raises ModelError and TurnLimit; both leave a transcript that opens
        cleanly, as does cancellation at any point. Run again, after room was made, it goes on counting."""
        for rounds_left in range(self.max_rounds - self.guard.rounds, -1, -1):
            answer = await self._ask()
            if is_empty(answer) and answer.stop == "stop":
                answer = await self._ask()
            if not answer.calls:
                return answer
            self.guard.rounds += 1
            await self._run_calls(answer, turn, rounds_left=rounds_left)
            for said in await turn.steering():
                await self.record(said)
        raise TurnLimit(
            f"I stopped after {self.max_rounds} rounds of tool use without coming to an end. "
            "Ask me to go on, or raise agents.defaults.max_rounds."
        )

    async def _ask(self) -> Assistant:
        request = self.request()
        asker = Asker(
            provider=self.provider, max_retries=self.max_retries, on_event=self.on_event, sleep=self.sleep
        )
        try:
            answer = await asker.ask(request)
        except (ContextOverflow, BadPairing):
            raise  # somebody may mend the conversation, and the turn go on
        except ModelError as error:
            await self.record(self._unfinished(request, "", stop="error", error=str(error)))
            raise
        except asyncio.CancelledError:
            await self.record(self._unfinished(request, "".join(asker.said), stop="aborted", error="stopped"))
            raise
        await self.record(answer)
        return answer

    def _unfinished(self, request: ModelRequest, text: str, *, stop: StopReason, error: str) -> Assistant:
        return Assistant(
            at=self.clock(),
            parts=(Text(text=text),) if text.strip() else (),
            stop=stop,
            provider=self.provider.name,
            api="none",
            model=request.model,
            error=error,
        )

    async def _run_calls(self, answer: Assistant, turn: Turn, *, rounds_left: int) -> None:
        pending = list(answer.calls)
        try:
            while pending:
                result = await self._run_call(pending[0], turn, refused=_refusal(answer, rounds_left))
                call = pending.pop(0)
                await self.record(result)
                self.on_event(ToolFinished(call=call, result=result))
        except asyncio.CancelledError:
            for position, call in enumerate(pending):
                why = "Not run: the user stopped this turn."
                if position == 0:
                    why = "The user stopped this turn while the call was under way; it may have run."
                await self.record(self._error(call, why))
            raise

    async def _run_call(self, call: ToolCall, turn: Turn, *, refused: str | None) -> ToolResult:
        refused = refused or _malformed(call) or self.guard.refusal(call)
        tool = self.tools.get(call.name)
        if refused or tool is None:
            known = ", ".join(self.tools)
            return self._error(call, refused or f"There is no tool {call.name!r}. The tools are: {known}.")
        if forbidden := await self.permit(call, turn):
            return self._error(call, forbidden)
        self.on_event(ToolStarted(call=call))
        try:
            async with asyncio.timeout(self.tool_timeout) as limit:
                output = await tool.run(call.arguments, _waiting(turn, limit))
        except ToolError as error:
            result = self._error(call, str(error))
        except TimeoutError:
            result = self._error(
                call,
                f"{call.name} was stopped after {self.tool_timeout:g} s without an end. It may have run.",
            )
        else:
            result = self._result(call, output, turn)
        self.guard.note(call, result)
        return result

    def _result(self, call: ToolCall, output: ToolOutput, turn: Turn) -> ToolResult:
        """What comes from outside is framed, and the turn is marked by it."""
        at, details, source = self.clock(), output.details, output.source or call.name
        mark = boundary_of(turn.session_id, call.id, at) if output.untrusted else ""
        if output.untrusted:
            turn.taint.note(source)
            details = {**(details or {}), UNTRUSTED: source}

        def shown(part: Text | Image) -> Text | Image:
            if not isinstance(part, Text):
                return part
            text = self.cap(part.text)
            return replace(part, text=framed(text, source, boundary=mark) if mark else text)

        parts = tuple(shown(part) for part in output.parts)
        return ToolResult(at=at, call_id=call.id, name=call.name, parts=parts, details=details)

    def _error(self, call: ToolCall, text: str) -> ToolResult:
        return ToolResult(
            at=self.clock(), call_id=call.id, name=call.name, parts=(Text(text=text),), is_error=True
        )


def outside_of(said: Sequence[Message]) -> Iterator[str]:
    """Where the content from outside came from that is among these messages: in what tools have found, and
    framed in or before what a person has said."""
    for message in said:
        if isinstance(message, User):
            yield from sources_in(f"{message.envelope}\n{text_of(message.parts)}")
        source = (message.details or {}).get(UNTRUSTED) if isinstance(message, ToolResult) else None
        if isinstance(source, str):
            yield source


def _waiting(turn: Turn, limit: asyncio.Timeout) -> Turn:
    """The same turn; while a person is asked, the tool's own time stands still."""

    async def approve(request: ApprovalRequest) -> Decision:
        loop = asyncio.get_running_loop()
        left = (limit.when() or loop.time()) - loop.time()
        limit.reschedule(None)
        try:
            return await turn.approve(request)
        finally:
            limit.reschedule(loop.time() + left)

    return replace(turn, approve=approve)


def is_empty(answer: Assistant) -> bool:
    """Whether there is nothing in an answer that anybody could read or run."""
    return not answer.calls and not answer.text.strip()


def _malformed(call: ToolCall) -> str | None:
    if set(call.arguments) != {INVALID}:
        return None
    return (
        f"Not run: the arguments of this call of {call.name} are no JSON object. "
        "Make the call again with a JSON object, every text in it quoted and escaped."
    )


def _refusal(answer: Assistant, rounds_left: int) -> str | None:
    if answer.stop == "length":
        return "Not run: your message was cut at its length limit. Make the call again, with less in it."
    if rounds_left <= 1:
        return "Not run: this turn has reached its limit of rounds. Answer now with what you have."
    return None
