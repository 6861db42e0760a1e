"""The Anthropic Messages wire as its vendor speaks it: what is refused, and how answers are spelled."""

import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.model_anthropic_rules import blocks_of
from tests.fakes.model_cache import Block, Counted
from tests.fakes.model_script import Call, Calls, Fail, Heard, Say, pieces

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_MESSAGES = {
    401: "invalid x-api-key",
    429: "This request would exceed your account's rate limit.",
    529: "Overloaded",
    500: "Internal server error",
}
OVERFLOW = Fail(status=400, message="prompt is too long: 210000 tokens > 200000 maximum")


def error_body(fail: Fail) -> dict[str, Any]:
    kind = fail.kind or _KINDS.get(fail.status, "api_error")
    message = fail.message or _MESSAGES.get(fail.status, "Something went wrong")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_fake"}


def heard(body: Mapping[str, Any]) -> Heard:
    last = blocks_of(body["messages"][-1]["content"])
    texts = [block["text"] for block in last if block["type"] == "text"]
    results = tuple(
        "".join(part.get("text", "") for part in blocks_of(block.get("content", "")))
        for block in last
        if block["type"] == "tool_result"
    )
    return Heard(
        model=body["model"],
        text=texts[-1] if texts else "",
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        results=results,
    )


def prompt_blocks(body: Mapping[str, Any]) -> list[Block]:
    """Every block of the prompt in the order in which the vendor caches: tools, system, messages."""
    found = [_block("tool", tool) for tool in body.get("tools", ())]
    found += [_block("system", block) for block in blocks_of(body.get("system", ""))]
    for message in body["messages"]:
        found += [_block(message["role"], block) for block in blocks_of(message["content"])]
    return found


def _block(role: str, block: Mapping[str, Any]) -> Block:
    bare = {key: value for key, value in block.items() if key != "cache_control"}
    return Block(text=role + json.dumps(bare), marked="cache_control" in block)


def content_of(answer: Say | Call | Calls, number: int) -> tuple[list[dict[str, Any]], str]:
    """The answer's blocks and its stop reason. `number` makes the ids of calls unique on a server."""
    blocks: list[dict[str, Any]] = []
    if isinstance(answer, Say):
        blocks += _thinking(answer.thinking)
        blocks += [{"type": "text", "text": answer.text}] if answer.text else []
        return blocks, answer.stop or "end_turn"
    calls = answer.calls if isinstance(answer, Calls) else (answer,)
    for index, call in enumerate(calls):
        blocks += _thinking(call.thinking)
        blocks += [{"type": "text", "text": call.text}] if call.text else []
        made = call.id or f"toolu_{number:06d}{index:02d}"
        blocks.append({"type": "tool_use", "id": made, "name": call.name, "input": call.arguments})
    return blocks, "tool_use"


def _thinking(text: str) -> list[dict[str, Any]]:
    """Thinking that is only `*` is redacted, as a vendor does with what it will not show."""
    if text == "*":
        return [{"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}]
    signature = f"sig-{len(text)}-{sum(text.encode())}=="
    return [{"type": "thinking", "thinking": text, "signature": signature}] if text else []


def message(answer: Say | Call | Calls, number: int, model: str, counted: Counted) -> dict[str, Any]:
    """The whole answer of a request without stream."""
    blocks, stop = content_of(answer, number)
    return {
        "id": f"msg_{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {**_prompt_usage(counted), "output_tokens": _tokens(blocks)},
    }


def events(answer: Say | Call | Calls, number: int, model: str, counted: Counted) -> list[bytes]:
    """The same as server-sent events, one item each."""
    whole = message(answer, number, model, counted)
    blocks = whole["content"]
    start = {**whole, "content": [], "stop_reason": None}
    start["usage"] = {**_prompt_usage(counted), "output_tokens": 1}
    found = [_event("message_start", message=start), _event("ping")]
    for index, block in enumerate(blocks):
        found += _block_events(index, block)
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    usage = {**_prompt_usage(counted), "output_tokens": whole["usage"]["output_tokens"]}
    found.append(_event("message_delta", delta=delta, usage=usage))
    found.append(_event("message_stop"))
    return found


def error_event(kind: str, text: str) -> bytes:
    return _event("error", error={"type": kind, "message": text})


def _block_events(index: int, block: Mapping[str, Any]) -> list[bytes]:
    kind = block["type"]
    if kind == "text":
        empty: dict[str, Any] = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": part} for part in pieces(block["text"])]
    elif kind == "thinking":
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": part} for part in pieces(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif kind == "tool_use":
        empty = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
        parts = ["", *pieces(json.dumps(block["input"]))] if block["input"] else [""]
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
    else:
        empty, deltas = dict(block), []
    start = _event("content_block_start", index=index, content_block=empty)
    middle = [_event("content_block_delta", index=index, delta=delta) for delta in deltas]
    return [start, *middle, _event("content_block_stop", index=index)]


def _event(kind: str, **fields: Any) -> bytes:  # noqa: ANN401 (a wire event holds any JSON)
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _prompt_usage(counted: Counted) -> dict[str, int]:
    return {
        "input_tokens": counted.input,
        "cache_read_input_tokens": counted.read,
        "cache_creation_input_tokens": counted.write,
    }


def _tokens(blocks: list[dict[str, Any]]) -> int:
    return max(len(json.dumps(blocks)) // 4, 1)
