"""One answer of the fake model server in the words of the vendor that was asked."""

import json
from typing import Any

from tests.fakes import model_anthropic, model_openai
from tests.fakes.http_wire import Answer
from tests.fakes.model_cache import Counted
from tests.fakes.model_script import Call, Calls, Say


class Voice:
    """Speaks as the vendor whose path was asked for."""

    def __init__(self, path: str, body: dict[str, Any], number: int, counted: Counted) -> None:
        self.vendor = model_anthropic if path == "/v1/messages" else model_openai
        self._body = body
        self._number = number
        self._counted = counted

    async def say(self, plain: Say | Call | Calls, answer: Answer) -> None:
        if self._body.get("stream"):
            answer.start(200, "text/event-stream")
            await answer.write(b"".join(self.events(plain)))
            await answer.end()
            return
        model = self._body["model"]
        whole = model_anthropic.message if self.vendor is model_anthropic else model_openai.completion
        await send_json(answer, 200, whole(plain, self._number, model, self._counted))

    def events(self, plain: Say | Call | Calls) -> list[bytes]:
        model = self._body["model"]
        if self.vendor is model_anthropic:
            return model_anthropic.events(plain, self._number, model, self._counted)
        usage = bool(self._body.get("stream_options", {}).get("include_usage"))
        return model_openai.events(plain, self._number, model, self._counted, usage=usage)


async def send_json(
    answer: Answer, status: int, body: dict[str, Any], headers: tuple[tuple[str, str], ...] = ()
) -> None:
    await answer.send(status, json.dumps(body).encode(), "application/json", headers)
