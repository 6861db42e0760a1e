"""What can go wrong between us and an embedding server, and what each refusal means."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

Cause: TypeAlias = Literal["key", "quota", "model", "request", "address"]

_MOST = 200
_TOO_LARGE = re.compile(
    r"too (large|long|big)|too many (\w+ )?(tokens|inputs|texts)|maximum context|context length"
    r"|max(imum)? (\w+ ){0,3}(tokens|batch size|inputs)|batch size|token limit|request payload"
    r"|exceeds? .{0,40}(limit|tokens|length)|at most \d+ requests|max [\d,]+ tokens"
)
_QUOTA = re.compile(r"insufficient_quota|credit|payment required|insufficient (balance|funds)")
_RATE = re.compile(
    r"rate[ _-]?limit|too many requests|resource[ _]?exhausted|tokens per (min|day)|throttl|overloaded"
)
_KEY = re.compile(r"api[ _-]?key|unauthori[sz]ed|authenticat|permission|forbidden|invalid token")
_MODEL = re.compile(
    r"model.{0,100}(not found|not exist|unknown|not supported|invalid)|(unknown|invalid|no such) model"
    r"|not found.{0,40}model"
)
_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"|try again in (\d+(?:\.\d+)?) ?(ms|s)\b')


class Fault(Exception):
    """Why a request brought no vectors; the text completes "<provider> …" and holds no secret."""


class Passing(Fault):
    """Worth another try, after `wait` seconds when the server names a time. `busy`: it said so itself."""

    def __init__(self, text: str, *, wait: float | None = None, busy: bool = False) -> None:
        super().__init__(text)
        self.wait = wait
        self.busy = busy


class TooLarge(Fault):
    """A smaller request may be taken."""


class Refused(Fault):
    """No further try can help before a person has changed something."""

    def __init__(self, text: str, *, cause: Cause) -> None:
        super().__init__(text)
        self.cause = cause


class BadAnswer(Fault):
    """An answer that is none. `dims` is the number of dimensions when only that is wrong."""

    def __init__(self, text: str, *, dims: int | None = None) -> None:
        super().__init__(text)
        self.dims = dims


def fault_of(status: int, headers: Mapping[str, str], text: str) -> Fault:
    """The one meaning of a refusal; `text` is its body, without secrets. Words come before the status."""
    said = message_in(text)
    told = f"HTTP {status}" + (f": {said}" if said else "")
    words = f"{said} {text[:2_000]}".lower()
    wait = seconds_to_wait(headers, text)
    if status == 401:
        return Refused(f"refused the key ({told})", cause="key")
    if status == 402 or (status in (400, 403, 429) and _QUOTA.search(words)):
        return Refused(f"has no credit left ({told})", cause="quota")
    if status == 429 or (status < 500 and status != 413 and _RATE.search(words)):
        return Passing(f"takes no more requests for now ({told})", wait=wait, busy=True)
    if status == 413 or ((status < 500 or "token" in words) and _TOO_LARGE.search(words)):
        return TooLarge(f"finds the request too large ({told})")
    if status >= 500 or status in (408, 409, 425):
        return Passing(f"failed ({told})", wait=wait)
    return _final(status, told, words)


def _final(status: int, told: str, words: str) -> Fault:
    if _MODEL.search(words):
        return Refused(f"does not know the model ({told})", cause="model")
    if status == 403 or _KEY.search(words):
        return Refused(f"refused the key ({told})", cause="key")
    if status < 400:
        return Refused(f"answers from another address ({told})", cause="address")
    if status == 404:
        return Refused(f"has no embeddings at this address ({told})", cause="address")
    return Refused(f"refused the request ({told})", cause="request")


def message_in(text: str) -> str:
    """The sentence inside a refusal, at most 200 characters on one line; "" for a web page."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = "" if text.lstrip().startswith("<") else text
    if isinstance(body, list) and body:
        body = body[0]
    for name in ("error", "message", "detail"):
        if isinstance(body, dict) and name in body:
            body = body[name]
    if isinstance(body, dict):
        body = body.get("Message", "")
    line = " ".join(body.split()) if isinstance(body, str) else ""
    return line if len(line) <= _MOST else line[:_MOST] + "…"


def seconds_to_wait(headers: Mapping[str, str], text: str) -> float | None:
    """What the server asks to wait, by its headers or its words; None when it says nothing."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    found = _DELAY.search(text)
    if found is None:
        return None
    return float(found[1] or found[2]) * (0.001 if found[3] == "ms" else 1)


def without(text: str, secrets: Iterable[str]) -> str:
    """`text` with each secret in it masked, longest first."""
    for secret in sorted({one for one in secrets if len(one) >= 4}, key=len, reverse=True):
        text = text.replace(secret, "[redacted]")
    return text
