"""What a vendor's refusal means: one class of error for each."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from agents.model.provider import (
    AuthFailed,
    BadAnswer,
    BadPairing,
    BadRequest,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    Overloaded,
    QuotaExhausted,
    RateLimited,
    Unreachable,
)
from agents.model.wire import as_text

Verdict: TypeAlias = type[ModelError]

_PER_TIME = re.compile(r"per[ -]min|per[ -]day|per[ -]second|\btpm\b|\brpm\b")
_OVERFLOW = re.compile(
    r"context_length_exceeded|prompt is too long|context length|context limit|context window|context size"
    r"|input is too long|too many (input )?tokens|maximum (allowed )?(number of )?(input )?tokens"
    r"|request_too_large"
)
_PAIRING = re.compile(
    r"tool_use\W.{0,120}tool_result|tool_result\W.{0,120}tool_use|unexpected .?tool_use_id"
    r"|tool_use. ids must be unique|tool_call_ids?\b|role .?tool\W.{0,80}tool_calls"
    r"|tool_calls\W.{0,80}(followed|respon)|function calls?\b.{0,80}\brespon"
    r"|function response.{0,80}function call",
    re.DOTALL,
)
_RULES: tuple[tuple[Verdict, tuple[int, ...], re.Pattern[str]], ...] = (
    (
        QuotaExhausted,
        (402,),
        re.compile(
            r"insufficient_quota|credit balance|billing|exceeded your current quota|payment required"
            r"|insufficient (credits?|balance|funds)|out of credits"
        ),
    ),
    (Overloaded, (529,), re.compile(r"overloaded|at capacity|no capacity")),
    (
        RateLimited,
        (429,),
        re.compile(r"rate[ _]?limit|too many requests|model_cooldown|resource_?exhausted|throttl"),
    ),
    (
        AuthFailed,
        (401, 403),
        re.compile(
            r"authentication_error|permission_error|invalid[ _](x-)?api[ _-]?key|api[ _-]key not valid"
            r"|incorrect api key|unauthori[sz]ed|missing api key|no api key"
        ),
    ),
    (
        ModelNotFound,
        (404,),
        re.compile(r"model_not_found|not_found_error|model.{0,80}(not found|does not exist|not exist)"),
    ),
)
"""Asked from top to bottom: the statuses and the words of each class."""

_TRY_AGAIN = re.compile(r"try again in (?:(\d+)m(?!s))?\s*(\d+(?:\.\d+)?)\s*(ms|s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A vendor's refusal as it came. `status` is the HTTP status; it is 200 for an error inside a stream."""

    status: int
    kind: str = ""
    code: str = ""
    message: str = ""


def failure_of(status: int, body: object) -> Failure:
    """Reads the shapes in which servers say no: an object, a text, a list of one, a server-sent event."""
    if isinstance(body, str):
        body = _parsed(body)
    if isinstance(body, list):
        body = body[0] if body else ""
    if not isinstance(body, Mapping):
        text = str(body or "")
        return Failure(status=status, message="" if text.lstrip().startswith("<") else text)
    error = body.get("error", body)
    if not isinstance(error, Mapping):
        return Failure(status=status, message=str(error))
    kind = as_text(error.get("type")) or as_text(error.get("status"))
    code = error.get("code")
    message = as_text(error.get("message")) or as_text(error.get("detail")) or as_text(body.get("message"))
    return Failure(status=status, kind=kind, code="" if code is None else str(code), message=message)


def _parsed(text: str) -> object:
    data = text[text.find("data:") + 5 :] if text.lstrip().startswith(("event:", "data:")) else text
    try:
        found: object = json.loads(data)
    except ValueError:
        return text
    return found


def classify(failure: Failure) -> Verdict:
    """The one class of a refusal. Words come before the status, since servers use statuses freely."""
    text = f"{failure.kind} {failure.code} {failure.message}".lower()
    if not _PER_TIME.search(text) and (_OVERFLOW.search(text) or failure.status == 413):
        return ContextOverflow
    for verdict, statuses, words in _RULES:
        if failure.status in statuses or words.search(text):
            return verdict
    verdict = _by_status(failure.status, failure.kind)
    return BadPairing if verdict is BadRequest and _PAIRING.search(text) else verdict


def _by_status(status: int, kind: str) -> Verdict:
    if status in (0, 408, 499, 504, 522, 524):
        return Unreachable
    if status >= 500 or kind in ("api_error", "server_error", "timeout_error"):
        return Overloaded
    if 400 <= status < 500 or kind == "invalid_request_error":
        return BadRequest
    return BadAnswer


def retry_after(headers: Mapping[str, str], message: str) -> float | None:
    """Seconds that the vendor asks to wait, by its headers or its words; None when it says nothing."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    found = _TRY_AGAIN.search(message)
    if found is None:
        return None
    seconds = float(found[2]) * (0.001 if found[3] == "ms" else 1)
    return seconds + 60 * int(found[1] or 0)
