"""The OpenAI chat completions API and the servers that speak it, through OpenAI's official SDK."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

import httpx2
import openai

from agents.clock import Clock
from agents.model import explain
from agents.model.call_ids import CallIds
from agents.model.catalog import ModelFacts, variable
from agents.model.connecting import LIMITS, timeouts
from agents.model.errors import failure_of
from agents.model.growing import Growing
from agents.model.openai_answer import OpenAIAnswer
from agents.model.openai_wire import Build, dialect_of, to_bytes
from agents.model.prices import priced
from agents.model.provider import Done, ModelError, ModelEvent, ModelRequest

ADDRESS = "https://api.openai.com/v1"


class OpenAIChat:
    """Implements ModelProvider. `timeout` is the longest silence in seconds; nothing is tried twice here."""

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
        self._dialect = dialect_of(name, base_url)
        self._builds = Growing[Build]()
        self._client = openai.AsyncOpenAI(
            api_key=api_key,
            base_url=base_url or ADDRESS,
            timeout=timeouts(timeout),
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(limits=LIMITS),
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        facts = self._facts_of(request.model)
        if facts.max_output is not None:
            request = replace(request, max_tokens=min(request.max_tokens, facts.max_output))
        asked = self._asked(request.model)
        answer = OpenAIAnswer()
        try:
            async with await self._open(request, facts) as chunks:
                async for chunk in chunks:
                    for made in answer.feed(chunk):
                        yield made
            calls, message = answer.finish(at=self._clock(), provider=self.name, model=request.model)
        except (
            openai.OpenAIError,
            httpx2.HTTPError,
            httpx2.StreamError,
            ValueError,
            RecursionError,
        ) as error:
            raise _translate(error, asked, self._timeout) from error
        for made in calls:
            yield made
        yield Done(message=replace(message, usage=priced(message.usage, facts.price, ttl=None)))

    async def aclose(self) -> None:
        await self._client.close()

    async def _open(self, request: ModelRequest, facts: ModelFacts) -> openai.AsyncStream[object]:
        """Bytes of our own: the SDK's transform of arguments costs a third of a second for a history of a
        thousand messages."""
        build = self._builds.of(
            facts.vision,
            request.messages,
            lambda: Build(vision=facts.vision, ids=CallIds(self._dialect.ids)),
        )
        return await self._client.post(
            "/chat/completions",
            content=to_bytes(request, build, dialect=self._dialect, effort=facts.effort),
            cast_to=object,
            options={"headers": {"Content-Type": "application/json"}},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )

    def _asked(self, model: str) -> explain.Asked:
        return explain.Asked(
            provider=self.name,
            model=model,
            base_url=self._base_url,
            variable=variable(self.name),
            secret=self._secret,
        )


def _translate(error: Exception, asked: explain.Asked, timeout: float) -> ModelError:
    if isinstance(error, openai.APIStatusError):
        failure = failure_of(error.status_code, error.body or error.response.text)
        return explain.refusal(failure, asked, error.response.headers)
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return explain.timed_out(asked, explain.silence(error, timeout))
    if isinstance(error, openai.APIConnectionError | httpx2.HTTPError | httpx2.StreamError):
        return explain.unreachable(asked, explain.cause(error))
    if isinstance(error, openai.APIError):  # an error event inside a stream
        return explain.refusal(failure_of(200, error.body or str(error)), asked, {})
    if isinstance(error, ValueError | RecursionError):
        return explain.not_an_answer(error, asked)
    return explain.not_asked(error, asked)
