"""The agents as models of an OpenAI-compatible API, for programs that know nothing else."""

from collections.abc import Callable

from fastapi import FastAPI, Request, Response

from agents.model.provider import TextDelta
from agents.silent import Holdback, audible
from agents.turn import Retrying, ToolStarted, TurnEvent
from gateway.http import shapes
from gateway.http.answers import JsonAnswer, to_bytes
from gateway.http.api import GatewayApi
from gateway.http.docs import described
from gateway.http.openai_forms import CompletionBody, Wanted, agent_of, wanted
from gateway.http.refusal import refusal_json
from gateway.http.requests import body_of, check_text
from gateway.http.routes import streamed
from gateway.http.rules import HttpRules
from gateway.http.stream import Live, Push
from gateway.http.talk import Talk
from gateway.views import Beside, ChatReply
from sessions.messages import Json, JsonObject, Usage

PATH = "/v1/chat/completions"
SESSION_HEADER = "x-clawd-session"


def add_openai_routes(
    app: FastAPI, gateway: GatewayApi, talk: Talk, rules: HttpRules, *, new_id: Callable[[], str]
) -> None:

    @app.get("/v1/models", **described("openai_models", answer=shapes.Listed))
    async def models() -> Response:
        rows: list[Json] = [_model(f"clawd/{agent}") for agent in gateway.agents()]
        return JsonAnswer({"object": "list", "data": rows})

    @app.get("/v1/models/{name:path}", **described("openai_model", answer=shapes.Shape))
    async def model(name: str) -> Response:
        return JsonAnswer(_model(f"clawd/{agent_of(name, gateway.agents(), gateway.default_agent)}"))

    @app.post(PATH, **described("openai_chat", body=CompletionBody, answer=shapes.Completion, stream=True))
    async def completions(request: Request) -> Response:
        body = body_of(CompletionBody, await request.body(), like='{"model": "clawd", "messages": […]}')
        header = request.headers.get(SESSION_HEADER, "")[:200]
        asked = wanted(body, gateway.agents(), gateway.default_agent, header)
        check_text(asked.text, rules)
        talk.check_open()
        answer = _Answer(f"chatcmpl-{new_id()}", f"clawd/{asked.agent}")
        if body.stream:
            return await streamed(_live(talk, asked, answer, with_usage=body.with_usage))
        reply = await _say(talk, asked, answer, lambda _: None)
        return JsonAnswer(answer.whole(reply))


async def _say(
    talk: Talk, asked: Wanted, answer: "_Answer", on_event: Callable[[TurnEvent], None]
) -> ChatReply:
    return await talk.chat(
        agent=asked.agent,
        session=asked.session or f"openai-{answer.id.removeprefix('chatcmpl-')}",
        text=asked.text,
        on_event=on_event,
        beside=Beside(context=asked.context, images=asked.images),
    )


def _live(talk: Talk, asked: Wanted, answer: "_Answer", *, with_usage: bool) -> Live:
    """Chunks as server-sent events; the last one is [DONE]."""

    async def work(push: Push) -> bytes:
        words = _Words()
        role: JsonObject = {"role": "assistant"}

        def hear(event: TurnEvent) -> None:
            if text := words.hear(event):
                push(_sse(answer.chunk({**role, "content": text})))
                role.clear()

        reply = await _say(talk, asked, answer, hear)
        last = [answer.chunk({**role, "content": words.end(reply.reply)}), answer.chunk({}, finish="stop")]
        if with_usage:
            last.append({**answer.head("chat.completion.chunk"), "choices": [], "usage": _usage(reply.usage)})
        return b"".join(_sse(chunk) for chunk in last) + b"data: [DONE]\n\n"

    return Live(work, failure=lambda refused: _sse(refusal_json(refused, PATH)))


class _Words:
    """What a listener sees of the answer as it comes: a chosen silence is held back, rounds are set apart."""

    def __init__(self) -> None:
        self._hold = Holdback()
        self._said = False
        self._apart = False

    def hear(self, event: TurnEvent) -> str:
        match event:
            case TextDelta():
                return self._shown(self._hold.feed(event.text))
            case ToolStarted() | Retrying():
                self._hold, self._apart = Holdback(), self._said
        return ""

    def end(self, reply: str) -> str:
        """What is left to show; all of the reply when nothing of it was."""
        if not self._said:
            return audible(reply) or ""
        return self._shown(self._hold.end())

    def _shown(self, text: str) -> str:
        if not text:
            return ""
        before = "\n\n" if self._apart else ""
        self._said, self._apart = True, False
        return before + text


class _Answer:
    """The forms of one answer. `created` is 0: an agent's answer is dated in its session, not here."""

    def __init__(self, number: str, model: str) -> None:
        self.id = number
        self._model = model

    def head(self, kind: str) -> JsonObject:
        return {"id": self.id, "object": kind, "created": 0, "model": self._model}

    def chunk(self, delta: JsonObject, *, finish: str | None = None) -> JsonObject:
        choice: JsonObject = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**self.head("chat.completion.chunk"), "choices": [choice]}

    def whole(self, reply: ChatReply) -> JsonObject:
        message: JsonObject = {"role": "assistant", "content": audible(reply.reply) or "", "refusal": None}
        choice: JsonObject = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {**self.head("chat.completion"), "choices": [choice], "usage": _usage(reply.usage)}


def _usage(usage: Usage) -> JsonObject:
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    }


def _model(name: str) -> JsonObject:
    return {"id": name, "object": "model", "created": 0, "owned_by": "clawd"}


def _sse(data: JsonObject) -> bytes:
    return b"data: %b\n\n" % to_bytes(data)
