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
    ContentFiltered,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    Overloaded,
    QuotaExhausted,
    RateLimited,
    TimedOut,
)
from agents.model.wire import as_text

Verdict: TypeAlias = type[ModelError]

_NAMES: dict[Verdict, str] = {
    ContextOverflow: "context_length_exceeded request_too_large exceed_context_size_error",
    ContentFiltered: "content_filter content_policy_violation responsibleaipolicyviolation prohibited_content"
    " moderation_blocked data_inspection_failed",
    QuotaExhausted: "insufficient_quota billing_error billing_not_active billing_hard_limit_reached"
    " insufficient_balance payment_required",
    RateLimited: "rate_limit_error rate_limit_exceeded rate_limited too_many_requests model_cooldown"
    " resource_exhausted throttlingexception",
    Overloaded: "overloaded_error overloaded engine_overloaded unavailable 1305",
    AuthFailed: "authentication_error permission_error invalid_api_key unauthenticated permission_denied"
    " invalid_authentication_error account_deactivated",
    ModelNotFound: "model_not_found not_found_error not_found",
    TimedOut: "timeout_error deadline_exceeded",
}
_BY_NAME = {name: verdict for verdict, names in _NAMES.items() for name in names.split()}
"""The types and codes that vendors give their errors, in lower case. They come before all else."""

_STREAM, _REQUEST, _LIMIT = 200, (200, 400, 413, 422), (200, 403, 429)
_WORDS: tuple[tuple[Verdict, tuple[int, ...], re.Pattern[str]], ...] = (
    (
        QuotaExhausted,
        (*_REQUEST, *_LIMIT),
        re.compile(
            r"credit balance|exceeded your current quota|payment required|plan and billing"
            r"|insufficient (credits?|balance|funds)|out of credits"
        ),
    ),
    (Overloaded, (_STREAM, 429), re.compile(r"overloaded|at capacity|no capacity")),
    (
        RateLimited,
        (*_REQUEST, 429),
        re.compile(r"per[ -]min|per[ -]day|per[ -]second|\btpm\b|\brpm\b|rate[ _]?limit|too many requests"),
    ),
    (
        ContextOverflow,
        _REQUEST,
        re.compile(
            r"prompt is too long|context length|context limit|context window|context size"
            r"|input is too long|too many (input )?tokens|maximum (allowed )?(number of )?(input )?tokens"
        ),
    ),
    (
        AuthFailed,
        _REQUEST,
        re.compile(r"api[ _-]key not valid|(invalid|incorrect|missing) (x-)?api[ _-]?key"),
    ),
    (ModelNotFound, _REQUEST, re.compile(r"\bmodel\b.{0,80}(not found|does not exist|not exist)")),
    (
        BadPairing,
        _REQUEST,
        re.compile(
            r"tool_use\W.{0,120}tool_result|tool_result\W.{0,120}tool_use|unexpected .?tool_use_id"
            r"|tool_use. ids must be unique|tool_call_ids?\b|role .?tool\W.{0,80}tool_calls"
            r"|tool_calls\W.{0,80}(followed|respon)|function calls?\b.{0,80}\brespon"
            r"|function response.{0,80}function call",
            re.DOTALL,
        ),
    ),
)
"""What the vendors' sentences tell apart where they give one status, and no type, to different failures.
Asked from top to bottom, each only at its statuses (200: an error inside a stream)."""

_QUOTED = re.compile(r"\".*\"|(?<!\w)'[^']*\s[^']*'|`[^`]*\s[^`]*`|“.*”", re.DOTALL)
_BEGINNING = 300

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
    """The one class of a refusal: by the vendor's type and code, else by the status.

    Where a status says too little, the sentence tells more: its beginning alone, without what it quotes, so
    that nobody's message to a model is taken for an error of the vendor's.
    """
    named = _BY_NAME.get(failure.code.lower()) or _BY_NAME.get(failure.kind.lower())
    if named is not None:
        return named
    status = _status(failure)
    words = _QUOTED.sub(" ", failure.message.lower())[:_BEGINNING]
    for verdict, statuses, pattern in _WORDS:
        if status in statuses and pattern.search(words):
            return verdict
    return _BY_STATUS.get(status) or _by_class(status, failure.kind)


def _status(failure: Failure) -> int:
    """Some servers tell the status inside the stream, as the error's code."""
    if failure.status == _STREAM and re.fullmatch(r"[45]\d\d", failure.code):
        return int(failure.code)
    return failure.status


_BY_STATUS: dict[int, Verdict] = {
    **dict.fromkeys((0, 408, 499, 504, 522, 524), TimedOut),
    401: AuthFailed,
    402: QuotaExhausted,
    403: AuthFailed,
    404: ModelNotFound,
    413: ContextOverflow,
    429: RateLimited,
}


def _by_class(status: int, kind: str) -> Verdict:
    if status >= 500 or kind in ("api_error", "server_error"):
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
