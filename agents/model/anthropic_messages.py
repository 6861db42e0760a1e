"""The Anthropic Messages API, through its official SDK."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

import anthropic
import httpx2

from agents.clock import Clock
from agents.model import explain
from agents.model.anthropic_answer import AnthropicAnswer
from agents.model.anthropic_wire import BINDING_BETA, Build, thinking_fields, to_bytes
from agents.model.catalog import ModelFacts, variable
from agents.model.connecting import LIMITS, timeouts
from agents.model.errors import failure_of
from agents.model.growing import Growing
from agents.model.prices import priced
from agents.model.provider import Done, ModelError, ModelEvent, ModelRequest, ThinkingDropped
from sessions.messages import Thinking

ADDRESS = "https://api.anthropic.com"
_VOID_THINKING = "bound to a different conversation"


class AnthropicMessages:
    """Implements ModelProvider. `timeout` is the longest silence in seconds; nothing is tried twice here, but
    for a history whose old thinking the vendor takes no more, which is sent again without it."""

    def __init__(
        self,
        *,
        name: str,
        api_key: str,
        base_url: str | None,
        timeout: float,
        clock: Clock,
        facts_of: Callable[[str], ModelFacts],
    ) -> None:
        self.name = name
        self._base_url = base_url
        self._timeout = timeout
        self._clock = clock
        self._secret = api_key
        self._facts_of = facts_of
        self._builds = Growing[Build]()
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url or ADDRESS,
            timeout=timeouts(timeout),
            max_retries=0,
            http_client=anthropic.DefaultAsyncHttpxClient(limits=LIMITS),
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        facts = self._facts_of(request.model)
        if facts.max_output is not None:
            request = replace(request, max_tokens=min(request.max_tokens, facts.max_output))
        asked = self._asked(request.model)
        answer = AnthropicAnswer()
        try:
            opened = await self._open(request, facts)
            if opened is None:
                yield ThinkingDropped()
                opened = await self._post(request, facts, keep_thinking=False)
            async with opened as events:
                async for event in events:
                    for made in answer.feed(event):
                        yield made
            message = answer.finish(at=self._clock(), provider=self.name, model=request.model)
        except (
            anthropic.AnthropicError,
            httpx2.HTTPError,
            httpx2.StreamError,
            ValueError,
            RecursionError,
        ) as error:
            raise _translate(error, asked, self._timeout) from error
        yield Done(message=replace(message, usage=priced(message.usage, facts.price, ttl=request.cache_ttl)))

    async def aclose(self) -> None:
        await self._client.close()

    async def _open(self, request: ModelRequest, facts: ModelFacts) -> anthropic.AsyncStream[object] | None:
        """None when the vendor takes the thinking of this history no more."""
        try:
            return await self._post(request, facts, keep_thinking=True)
        except anthropic.BadRequestError as error:
            if _VOID_THINKING not in str(error) or not _has_thinking(request):
                raise
            return None

    async def _post(
        self, request: ModelRequest, facts: ModelFacts, *, keep_thinking: bool
    ) -> anthropic.AsyncStream[object]:
        """Bytes of our own: the SDK's transform of arguments costs time with every message of the history,
        and its JSON is not promised to stay the same from version to version."""
        headers = {"Content-Type": "application/json"}
        thinking = thinking_fields(request.thinking, facts.thinking, request.max_tokens).get("thinking")
        if isinstance(thinking, dict) and "block_binding" in thinking:
            headers["anthropic-beta"] = BINDING_BETA
        build = self._builds.of(
            (request.model, facts.vision, keep_thinking),
            request.messages,
            lambda: Build(
                provider=self.name, model=request.model, vision=facts.vision, keep_thinking=keep_thinking
            ),
        )
        return await self._client.post(
            "/v1/messages",
            content=to_bytes(request, build, thinking=facts.thinking),
            cast_to=object,
            options={"headers": headers},
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )

    def _asked(self, model: str) -> explain.Asked:
        return explain.Asked(
            provider=self.name,
            model=model,
            base_url=self._base_url,
            variable=variable(self.name),
            secret=self._secret,
        )


def _has_thinking(request: ModelRequest) -> bool:
    return any(isinstance(part, Thinking) for message in request.messages for part in message.parts)


def _translate(error: Exception, asked: explain.Asked, timeout: float) -> ModelError:
    if isinstance(error, anthropic.APIStatusError):
        failure = failure_of(error.status_code, error.body or error.response.text)
        return explain.refusal(failure, asked, error.response.headers)
    if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
        return explain.timed_out(asked, explain.silence(error, timeout))
    if isinstance(error, anthropic.APIConnectionError | httpx2.HTTPError | httpx2.StreamError):
        return explain.unreachable(asked, explain.cause(error))
    if isinstance(error, ValueError | RecursionError):
        return explain.not_an_answer(error, asked)
    return explain.not_asked(error, asked)
