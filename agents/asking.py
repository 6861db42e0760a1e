"""One question to a model: streamed, tried again after a passing failure, and nothing recorded."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TypeAlias

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_exponential_jitter,
)

from agents.model.provider import (
    BadAnswer,
    Done,
    ModelError,
    ModelProvider,
    ModelRequest,
    Restarted,
    TextDelta,
    ThinkingDelta,
    ThinkingDropped,
)
from agents.turn import Retrying, TurnEvent
from sessions.messages import Assistant

Heard: TypeAlias = Callable[[TurnEvent | ThinkingDropped], None]

LONGEST_WAIT = 60.0
LONGEST_TRYING = 180.0
"""In seconds: a longer wait is not waited for, and after so long no further try begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """`said` holds what has been heard of the answer under way; times are seconds."""

    provider: ModelProvider
    max_retries: int
    on_event: Heard = lambda _: None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    said: list[str] = field(default_factory=list)

    async def ask(self, request: ModelRequest) -> Assistant:
        """Raises ModelError once trying again is of no use."""
        attempts = self._attempts()
        try:
            return await attempts(self._stream, request)
        finally:
            attempts.iter_state.reset()  # it refers to itself: all of the turn would wait for the collector

    def _attempts(self) -> AsyncRetrying:
        backoff = wait_exponential_jitter(initial=1, max=30)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            if isinstance(error, ModelError) and error.retry_after is not None:
                return error.retry_after
            return backoff(state)

        def tell(state: RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            self.on_event(Retrying(reason=str(error), seconds=state.upcoming_sleep))

        return AsyncRetrying(
            retry=retry_if_exception(_passing),
            stop=stop_after_attempt(self.max_retries + 1) | stop_before_delay(LONGEST_TRYING),
            wait=wait,
            sleep=self.sleep,
            before_sleep=tell,
            reraise=True,
        )

    async def _stream(self, request: ModelRequest) -> Assistant:
        self.said.clear()
        async with aclosing(self.provider.stream(request)) as events:
            async for event in events:
                match event:
                    case TextDelta(text=text):
                        self.said.append(text)
                        self.on_event(event)
                    case ThinkingDelta() | ThinkingDropped():
                        self.on_event(event)
                    case Restarted(reason=reason):
                        self.said.clear()
                        self.on_event(Retrying(reason=reason, seconds=0))
                    case Done(message=message):
                        return message
        raise BadAnswer(f"{self.provider.name} ended its answer without a last event. Try again.")


def _passing(error: BaseException) -> bool:
    if not isinstance(error, ModelError) or not error.retryable:
        return False
    return (error.retry_after or 0) <= LONGEST_WAIT
