"""What the Anthropic Messages API refuses with 400, in its words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ALLOWED = frozenset(
    {
        "model",
        "messages",
        "max_tokens",
        "system",
        "tools",
        "tool_choice",
        "stream",
        "thinking",
        "output_config",
        "metadata",
        "stop_sequences",
        "temperature",
        "top_p",
        "top_k",
        "cache_control",
        "service_tier",
    }
)
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_MEDIA = ("image/jpeg", "image/png", "image/gif", "image/webp")
_BINDING_BETA = "thinking-binding-controls-2026-08-01"


class Refused(Exception):
    """The text is the vendor's message."""


def blocks_of(content: str | Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)


def check(body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Raises Refused for what the vendor would not take."""
    _check_top(body, headers)
    _check_tools(body.get("tools", ()))
    _check_marks(body)
    _check_messages(body["messages"])


def _check_top(body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    _need("anthropic-version" in headers, "anthropic-version: header is required")
    for name in ("model", "max_tokens", "messages"):
        _need(name in body, f"{name}: Field required")
    extra = sorted(set(body) - _ALLOWED)
    _need(not extra, f"{', '.join(extra)}: Extra inputs are not permitted")
    _need(isinstance(body["max_tokens"], int) and body["max_tokens"] > 0, "max_tokens: must be at least 1")
    _need(bool(body["messages"]), "messages: at least one message is required")
    for index, block in enumerate(blocks_of(body.get("system", ""))):
        _need(bool(block.get("text", "").strip()), f"system.{index}: text content blocks must be non-empty")
    _check_thinking(body, headers)


def _check_thinking(body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    thinking = body.get("thinking", {})
    kind, model = thinking.get("type", "adaptive"), body["model"]
    refused = {
        "opus-5-5": ("disabled", "enabled", "between_tools"),
        "sonnet-5-5": ("disabled", "enabled"),
        "haiku-5-5": ("enabled", "between_tools"),
    }
    for name, kinds in refused.items():
        _need(
            name not in model or kind not in kinds, f'"thinking.type.{kind}" is not supported for this model.'
        )
    if kind == "enabled":
        budget = thinking.get("budget_tokens", 0)
        _need(
            1_024 <= budget < body["max_tokens"],
            "thinking.budget_tokens: must be at least 1024 and less than max_tokens",
        )
    if "block_binding" in thinking:
        beta = headers.get("anthropic-beta", "")
        _need(_BINDING_BETA in beta, "thinking.block_binding: Extra inputs are not permitted")
        _need(kind == "adaptive", f"thinking.{kind}.block_binding: Extra inputs are not permitted")


def _check_tools(tools: Sequence[Mapping[str, Any]]) -> None:
    names = [tool.get("name", "") for tool in tools]
    _need(len(set(names)) == len(names), "tools: Tool names must be unique.")
    for index, tool in enumerate(tools):
        _need(bool(_TOOL_NAME.match(names[index])), f"tools.{index}.name: String should match pattern")
        schema = tool.get("input_schema", {})
        _need(schema.get("type") == "object", f"tools.{index}.input_schema.type: Field required")


def _check_marks(body: Mapping[str, Any]) -> None:
    marks = [block["cache_control"] for block in _all_blocks(body) if "cache_control" in block]
    _need(len(marks) <= 4, f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    lives = [mark.get("ttl", "5m") for mark in marks]
    _need(
        all(mark.get("type") == "ephemeral" for mark in marks),
        "cache_control.type: Input should be 'ephemeral'",
    )
    _need(all(life in ("5m", "1h") for life in lives), "cache_control.ttl: Input should be '5m' or '1h'")
    _need(lives == sorted(lives), "a ttl='1h' cache_control block must not come after a ttl='5m' one")
    for block in _all_blocks(body):
        thinking = block.get("type") in ("thinking", "redacted_thinking")
        _need(not (thinking and "cache_control" in block), "cache_control: thinking blocks cannot be cached")


def _all_blocks(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from body.get("tools", ())
    yield from blocks_of(body.get("system", ""))
    for message in body["messages"]:
        yield from blocks_of(message["content"])


def _check_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    _need(messages[0]["role"] == "user", 'messages: first message must use the "user" role')
    _need(messages[-1]["role"] == "user", "This model does not support assistant message prefill.")
    open_calls: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        role, blocks = message["role"], blocks_of(message["content"])
        _need(set(message) == {"role", "content"}, f"{where}: Extra inputs are not permitted")
        _need(role in ("user", "assistant"), f"{where}.role: Input should be 'user' or 'assistant'")
        _need(
            index == 0 or role != messages[index - 1]["role"],
            'messages: roles must alternate between "user" and "assistant"',
        )
        _need(bool(blocks), f"{where}: all messages must have non-empty content")
        for number, block in enumerate(blocks):
            _check_block(block, role, f"{where}.content.{number}")
        _check_results(blocks, open_calls, where)
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        _need(
            not seen & set(open_calls) and len(set(open_calls)) == len(open_calls),
            f"{where}: `tool_use` ids must be unique",
        )
        seen |= set(open_calls)
    _need(not open_calls, "messages: the last `tool_use` has no `tool_result`")


def _check_results(blocks: Sequence[Mapping[str, Any]], open_calls: Sequence[str], where: str) -> None:
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    missing = sorted(set(open_calls) - set(answered))
    _need(
        not missing,
        f"{where}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(missing)}.",
    )
    unknown = [found for found in answered if found not in open_calls]
    _need(
        not unknown, f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(unknown)}."
    )
    _need(len(set(answered)) == len(answered), f"{where}: each tool_use must have a single result")
    kinds = [block["type"] == "tool_result" for block in blocks]
    _need(kinds == sorted(kinds, reverse=True), f"{where}: tool_result blocks must come first")


def _check_block(block: Mapping[str, Any], role: str, where: str) -> None:
    kind = block.get("type")
    if kind == "text":
        _need(bool(block["text"].strip()), f"{where}: text content blocks must contain non-whitespace text")
    elif kind == "image":
        source = block["source"]
        _need(
            role == "user" and source["type"] == "base64" and bool(source["data"]), f"{where}: invalid image"
        )
        _need(source["media_type"] in _MEDIA, f"{where}.source.media_type: Input should be one of {_MEDIA}")
    elif kind == "tool_use":
        _need(role == "assistant", f"{where}: tool_use blocks can only be in assistant messages")
        _need(
            bool(_CALL_ID.match(block["id"])), f"{where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        )
        _need(isinstance(block["input"], dict), f"{where}.input: Input should be a valid dictionary")
    elif kind == "tool_result":
        _need(role == "user", f"{where}: tool_result blocks can only be in user messages")
        for part in blocks_of(block.get("content", "")):
            _check_block(part, "user", f"{where}.content")
    elif kind == "thinking":
        signed = role == "assistant" and bool(block.get("signature"))
        _need(signed, f"{where}.thinking.signature: Field required")
    elif kind == "redacted_thinking":
        _need(
            role == "assistant" and bool(block.get("data")), f"{where}: Invalid `data` in redacted_thinking"
        )
    else:
        raise Refused(f"{where}: unknown block type {kind!r}")


def _need(holds: bool, message: str) -> None:
    if not holds:
        raise Refused(message)
