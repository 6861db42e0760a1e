"""The agent loop: ask the model, run its calls, record every step, until it has nothing left to call."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential_jitter,
)

from agents.clock import Clock
from agents.model.provider import (
    BadAnswer,
    Done,
    ModelError,
    ModelProvider,
    ModelRequest,
    RateLimited,
    TextDelta,
    ThinkingDelta,
)
from agents.repeats import RepeatGuard
from agents.tools.tool import Tool, ToolError
from agents.turn import OnEvent, Retrying, ToolFinished, ToolStarted, Turn
from sessions.messages import Assistant, Message, StopReason, Text, ToolCall, ToolResult

LONGEST_WAIT = 60.0


class TurnLimit(Exception):
    """A turn was ended because it went on too long; the text is for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Everything a turn needs. `request` builds the next request from what was recorded so far; `record`
    returns only when its message is in the transcript; times are seconds."""

    provider: ModelProvider
    tools: Mapping[str, Tool]
    request: Callable[[], ModelRequest]
    record: Callable[[Message], Awaitable[None]]
    on_event: OnEvent
    clock: Clock
    max_rounds: int
    max_retries: int
    tool_timeout: float
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
        raise TurnLimit(
            f"I stopped after {self.max_rounds} rounds of tool use without coming to an end. "
            "Ask me to go on, or raise agents.defaults.max_rounds."
        )

    async def _ask(self) -> Assistant:
        request = self.request()
        try:
            async for attempt in self._attempts():
                with attempt:
                    answer = await self._stream(request)
                    await self.record(answer)
                    return answer
        except ModelError as error:
            await self.record(self._unfinished(request, "", stop="error", error=str(error)))
            raise
        raise AssertionError("a retry either returns or raises")

    def _attempts(self) -> AsyncRetrying:
        backoff = wait_exponential_jitter(initial=1, max=30)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            if isinstance(error, RateLimited) and error.retry_after is not None:
                return error.retry_after
            return backoff(state)

        def tell(state: RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            self.on_event(Retrying(reason=str(error), seconds=state.upcoming_sleep))

        return AsyncRetrying(
            retry=retry_if_exception(_passing),
            stop=stop_after_attempt(self.max_retries + 1),
            wait=wait,
            sleep=self.sleep,
            before_sleep=tell,
            reraise=True,
        )

    async def _stream(self, request: ModelRequest) -> Assistant:
        said: list[str] = []
        try:
            async with aclosing(self.provider.stream(request)) as events:
                async for event in events:
                    match event:
                        case TextDelta(text=text):
                            said.append(text)
                            self.on_event(event)
                        case ThinkingDelta():
                            self.on_event(event)
                        case Done(message=message):
                            return message
        except asyncio.CancelledError:
            await self.record(self._unfinished(request, "".join(said), stop="aborted", error="stopped"))
            raise
        raise BadAnswer(f"{self.provider.name} ended its answer without a last event. Try again.")

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
            result = ToolResult(
                at=self.clock(), call_id=call.id, name=call.name, parts=output.parts, details=output.details
            )
        self.guard.note(call, result)
        return result

    def _error(self, call: ToolCall, text: str) -> ToolResult:
        return ToolResult(
            at=self.clock(), call_id=call.id, name=call.name, parts=(Text(text=text),), is_error=True
        )


def _passing(error: BaseException) -> bool:
    if not isinstance(error, ModelError) or not error.retryable:
        return False
    return not (isinstance(error, RateLimited) and (error.retry_after or 0) > LONGEST_WAIT)


def _refusal(answer: Assistant, rounds_left: int) -> str | None:
    if answer.stop == "length":
        return "Not run: your message was cut at its length limit. Make the call again, with less in it."
    if rounds_left <= 1:
        return "Not run: this turn has reached its limit of rounds. Answer now with what you have."
    return None
