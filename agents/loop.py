"""The agent loop: ask the model, run its calls, record every step, until it has nothing left to call."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from agents.asking import Asker
from agents.clock import Clock
from agents.model.provider import BadPairing, ContextOverflow, ModelError, ModelProvider, ModelRequest
from agents.repeats import RepeatGuard
from agents.tools.tool import Tool, ToolError
from agents.turn import OnEvent, ToolFinished, ToolStarted, Turn
from sessions.messages import Assistant, Message, StopReason, Text, ToolCall, ToolResult


class TurnLimit(Exception):
    """A turn was ended because it went on too long; the text is for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Everything a turn needs. `request` builds the next request from what was recorded so far; `record`
    returns only when its message is in the transcript; `cap` shortens a result that is too large for the
    window; times are seconds."""

    provider: ModelProvider
    tools: Mapping[str, Tool]
    request: Callable[[], ModelRequest]
    record: Callable[[Message], Awaitable[None]]
    on_event: OnEvent
    clock: Clock
    max_rounds: int
    max_retries: int
    tool_timeout: float
    cap: Callable[[str], str] = str
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    guard: RepeatGuard = field(default_factory=RepeatGuard)

    async def run(self, turn: Turn) -> Assistant:
        """The model's last message. Raises ModelError and TurnLimit; both leave a transcript that opens
        cleanly, as does cancellation at any point."""
        for rounds_left in range(self.max_rounds, -1, -1):
            answer = await self._ask()
            if not answer.calls:
                return answer
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
        refused = refused or self.guard.refusal(call)
        tool = self.tools.get(call.name)
        if refused or tool is None:
            known = ", ".join(self.tools)
            return self._error(call, refused or f"There is no tool {call.name!r}. The tools are: {known}.")
        self.on_event(ToolStarted(call=call))
        try:
            async with asyncio.timeout(self.tool_timeout):
                output = await tool.run(call.arguments, turn)
        except ToolError as error:
            result = self._error(call, str(error))
        except TimeoutError:
            result = self._error(
                call,
                f"{call.name} was stopped after {self.tool_timeout:g} s without an end. It may have run.",
            )
        else:
            parts = tuple(
                replace(part, text=self.cap(part.text)) if isinstance(part, Text) else part
                for part in output.parts
            )
            result = ToolResult(
                at=self.clock(), call_id=call.id, name=call.name, parts=parts, details=output.details
            )
        self.guard.note(call, result)
        return result

    def _error(self, call: ToolCall, text: str) -> ToolResult:
        return ToolResult(
            at=self.clock(), call_id=call.id, name=call.name, parts=(Text(text=text),), is_error=True
        )


def _refusal(answer: Assistant, rounds_left: int) -> str | None:
    if answer.stop == "length":
        return "Not run: your message was cut at its length limit. Make the call again, with less in it."
    if rounds_left <= 1:
        return "Not run: this turn has reached its limit of rounds. Answer now with what you have."
    return None
