"""The OpenAI chat and embeddings wire as its vendor speaks it: what is refused, how answers are spelled."""

import base64
import hashlib
import json
import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes.model_anthropic_rules import Refused
from tests.fakes.model_cache import Counted
from tests.fakes.model_script import Call, Calls, Fail, Heard, Say, pieces

_ALLOWED = frozenset(
    {
        "model",
        "messages",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "stream",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
        "reasoning_effort",
        "temperature",
        "top_p",
        "stop",
        "n",
        "seed",
        "user",
        "response_format",
        "prompt_cache_key",
        "metadata",
        "store",
    }
)
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_REASONING = re.compile(r"(gpt-5|gpt-6|o\d)")
_TOOLS_WANT_NONE = re.compile(r"gpt-(5\.[4-9]|6)")
_NEVER_NONE = re.compile(r"gpt-6(\.\d)?-astra|gpt-6\.[12]-sol")
_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
_MESSAGES = {
    401: "Incorrect API key provided.",
    429: "Rate limit reached for requests per min (RPM).",
    500: "The server had an error while processing your request.",
    503: "The engine is currently overloaded, please try again later.",
}
OVERFLOW = Fail(
    status=400,
    code="context_length_exceeded",
    message="This model's maximum context length is 128000 tokens. "
    "However, your messages resulted in 210000 tokens.",
)


def error_body(fail: Fail) -> dict[str, Any]:
    kind = fail.kind or ("invalid_request_error" if fail.status < 500 else "server_error")
    message = fail.message or _MESSAGES.get(fail.status, "Something went wrong")
    return {
        "error": {
            "message": message,
            "type": kind,
            "param": None,
            "code": fail.code or _CODES.get(fail.status),
        }
    }


def check(body: Mapping[str, Any]) -> None:
    """Raises Refused for what the vendor would not take."""
    for name in ("model", "messages"):
        _need(name in body, f"you must provide a {name} parameter")
    extra = sorted(set(body) - _ALLOWED)
    _need(not extra, f"Unrecognized request arguments supplied: {', '.join(extra)}")
    _need(bool(body["messages"]), "[] is too short - 'messages'")
    _need(
        "stream_options" not in body or body.get("stream"),
        "'stream_options' is only allowed when stream is enabled",
    )
    _check_reasoning(body)
    for index, tool in enumerate(body.get("tools", ())):
        function = tool.get("function", {})
        _need(bool(_NAME.match(function.get("name", ""))), f"Invalid 'tools[{index}].function.name'")
        _need(function.get("parameters", {}).get("type") == "object", f"Invalid schema for function {index}")
    _need(body.get("tools") != [], "[] is too short - 'tools'")
    _check_messages(body["messages"])


def _check_reasoning(body: Mapping[str, Any]) -> None:
    model, effort = body["model"], body.get("reasoning_effort")
    if _REASONING.match(model):
        _need(
            "max_tokens" not in body,
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
        )
    _need(
        not (effort == "none" and _NEVER_NONE.match(model)),
        f"Unsupported value: 'reasoning_effort' does not support 'none' with {model}.",
    )
    _need(
        not (body.get("tools") and _TOOLS_WANT_NONE.match(model) and effort != "none"),
        f"Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. "
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    )


def _check_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    waiting: list[str] = []
    for index, message in enumerate(messages):
        where, role = f"messages[{index}]", message.get("role")
        _need(
            role in ("system", "developer", "user", "assistant", "tool"),
            f"Invalid value: '{role}'. {where}.role",
        )
        if role == "tool":
            found = message.get("tool_call_id", "")
            _need(
                found in waiting,
                f"Invalid parameter: {where} with role 'tool' must be a response to a preceeding message "
                "with 'tool_calls'.",
            )
            waiting.remove(found)
        else:
            _need(
                not waiting,
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following had no response messages: {', '.join(waiting)}",
            )
        _check_content(message, where)
        for call in message.get("tool_calls", ()):
            _need(
                0 < len(call["id"]) <= 40,
                f"Invalid '{where}.tool_calls[0].id': string too long. Maximum length 40.",
            )
            _need(isinstance(call["function"]["arguments"], str), f"Invalid type for '{where}.tool_calls'")
            waiting.append(call["id"])
    _need(not waiting, "An assistant message with 'tool_calls' must be followed by tool messages")


def _check_content(message: Mapping[str, Any], where: str) -> None:
    role, content = message["role"], message.get("content")
    if role == "assistant":
        _need(
            bool(content) or bool(message.get("tool_calls")), f"Invalid value for 'content': {where} is empty"
        )
        _need(message.get("tool_calls") != [], f"[] is too short - '{where}.tool_calls'")
        return
    _need(
        isinstance(content, str | list), f"Invalid value for 'content': expected a string, got null. {where}"
    )
    for part in content if isinstance(content, list) else ():
        kinds = ("text",) if role == "tool" else ("text", "image_url")
        _need(part.get("type") in kinds, f"Invalid value: '{part.get('type')}'. {where}.content")


def heard(body: Mapping[str, Any]) -> Heard:
    results: list[str] = []
    text = ""
    for message in reversed(body["messages"]):
        if message["role"] == "tool":
            results.insert(0, _text(message["content"]))
        elif message["role"] == "user" and not results:
            text = _text(message["content"])
            break
        else:
            break
    names = tuple(tool["function"]["name"] for tool in body.get("tools", ()))
    return Heard(model=body["model"], text=text, tools=names, results=tuple(results))


def _text(content: str | Sequence[Mapping[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def parts(body: Mapping[str, Any]) -> list[str]:
    return [json.dumps(body.get("tools", [])), *(json.dumps(message) for message in body["messages"])]


def completion(answer: Say | Call | Calls, number: int, model: str, counted: Counted) -> dict[str, Any]:
    """The whole answer of a request without stream."""
    message, finish = _message(answer, number)
    choice = {"index": 0, "message": {**message, "refusal": None}, "logprobs": None, "finish_reason": finish}
    return {
        **_frame(number, model, "chat.completion"),
        "choices": [choice],
        "usage": _usage(message, counted),
    }


def events(
    answer: Say | Call | Calls, number: int, model: str, counted: Counted, *, usage: bool
) -> list[bytes]:
    """The same as server-sent events, one item each; usage comes last and with no choices."""
    message, finish = _message(answer, number)
    frame = _frame(number, model, "chat.completion.chunk")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": part} for part in pieces(message.get("reasoning_content") or "")]
    deltas += [{"content": part} for part in pieces(message["content"] or "")]
    for index, call in enumerate(message.get("tool_calls", ())):
        head = {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
        deltas.append({"tool_calls": [head]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": part}}]}
            for part in pieces(call["function"]["arguments"])
        ]
    found = [_data({**frame, "choices": [_choice(delta, None)], "usage": None}) for delta in deltas]
    found.append(_data({**frame, "choices": [_choice({}, finish)], "usage": None}))
    if usage:
        found.append(_data({**frame, "choices": [], "usage": _usage(message, counted)}))
    found.append(b"data: [DONE]\n\n")
    return found


def error_event(kind: str, text: str) -> bytes:
    return _data({"error": {"message": text, "type": kind, "code": None}})


def _message(answer: Say | Call | Calls, number: int) -> tuple[dict[str, Any], str]:
    if isinstance(answer, Say):
        message: dict[str, Any] = {"role": "assistant", "content": answer.text}
        message |= {"reasoning_content": answer.thinking} if answer.thinking else {}
        return message, answer.stop or "stop"
    calls = answer.calls if isinstance(answer, Calls) else (answer,)
    message = {"role": "assistant", "content": calls[0].text or None}
    message |= {"reasoning_content": calls[0].thinking} if calls[0].thinking else {}
    message["tool_calls"] = [
        {
            "id": call.id or f"call_{number:06d}{index:02d}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(calls)
    ]
    return message, "tool_calls"


def _choice(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _frame(number: int, model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number:06d}", "object": kind, "created": 1_760_000_000, "model": model}


def _usage(message: Mapping[str, Any], counted: Counted) -> dict[str, Any]:
    prompt, answer = counted.input + counted.read, max(len(json.dumps(message)) // 4, 1)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
        "prompt_tokens_details": {"cached_tokens": counted.read},
    }


def _data(value: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    """Vectors of hashed words: texts that share words are near, and the same text is the same vector."""
    given = body.get("input", "")
    texts = [given] if isinstance(given, str) else given
    _need(bool(texts) and all(isinstance(text, str) and text for text in texts), "'$.input' is invalid.")
    dims = body.get("dimensions", 64)
    data = []
    for index, text in enumerate(texts):
        vector = _vector(text, dims)
        packed = base64.b64encode(struct.pack(f"<{dims}f", *vector)).decode()
        value = packed if body.get("encoding_format") == "base64" else vector
        data.append({"object": "embedding", "index": index, "embedding": value})
    tokens = sum(len(text) for text in texts) // 4
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


def _vector(text: str, dims: int) -> list[float]:
    vector = [0.0] * dims
    for word in re.findall(r"\w+", text.casefold()) or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        vector[int.from_bytes(digest[:4], "big") % dims] += 1.0 if digest[4] & 1 else -1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


def _need(holds: object, message: str) -> None:
    if not holds:
        raise Refused(message)
