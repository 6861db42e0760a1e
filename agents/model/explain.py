"""The sentence that tells a person what went wrong with a model, and what to do about it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from agents.model.errors import Failure, Verdict, classify, retry_after
from agents.model.provider import (
    AuthFailed,
    BadAnswer,
    BadRequest,
    ContentFiltered,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    Overloaded,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    Unreachable,
)
from agents.model.wire import CutOff, Declined

_KEY = re.compile(r"\b(sk|key|pk|xai|gsk)[-_][\w*-]{6,}|[\w-]*\*{3,}[\w-]*|Bearer\s+\S+|(?<=//)[^/\s@]+@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who was asked, for the sentence: the provider's name in the configuration, its model, its address
    (None: the vendor's own), the environment variable that holds its key, and the key, never to be shown."""

    provider: str
    model: str
    base_url: str | None
    variable: str
    secret: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """Name and port only: an address may hold a password."""
        if self.base_url is None:
            return ""
        parts = urlsplit(self.base_url)
        return (parts.hostname or "") + (f":{parts.port}" if parts.port else "")


def refusal(failure: Failure, asked: Asked, headers: Mapping[str, str]) -> ModelError:
    """The error to raise for a refusal."""
    verdict = classify(failure)
    if verdict is RateLimited:
        return _rate_limited(asked, retry_after(headers, failure.message))
    return verdict(_sentence(verdict, failure, asked))


def _rate_limited(asked: Asked, seconds: float | None) -> RateLimited:
    wait = "Wait a moment" if seconds is None else f"Wait {seconds:.0f} s"
    text = f"{asked.provider} limits how much may be asked of {asked.model} at a time. {wait} and try again."
    return RateLimited(text, retry_after=seconds)


def unreachable(asked: Asked, why: str) -> Unreachable:
    """`why` is a clause such as: nothing came for 600 s."""
    at = f" at {asked.host}" if asked.host else ""
    return Unreachable(
        f"No answer from {asked.provider}{at}: {why}. Check the network{_and_address(asked)} and try again."
    )


def timed_out(asked: Asked, why: str) -> TimedOut:
    """As `unreachable`, for a silence."""
    return TimedOut(str(unreachable(asked, why)))


def bad_answer(asked: Asked, why: str) -> BadAnswer:
    at = f" at {asked.host}" if asked.host else ""
    check = f"Check models.providers.{asked.provider}.base_url" if asked.base_url else "Check the network"
    return BadAnswer(f"{asked.provider}{at} sent something that is no answer: {why}. {check} and try again.")


def not_an_answer(error: ValueError | RecursionError, asked: Asked) -> ModelError:
    """The error for an answer that cannot be read, is not whole, or is a refusal by a filter."""
    if isinstance(error, CutOff):
        return unreachable(asked, str(error))
    if isinstance(error, Declined):
        return _declined(asked)
    broken = isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError)
    return bad_answer(asked, "its JSON is broken" if broken else redact(str(error), asked.secret))


def not_asked(error: Exception, asked: Asked) -> BadRequest:
    """The error for what the SDK itself would not send."""
    return BadRequest(f"{asked.provider} could not be asked: {redact(str(error), asked.secret)}")


def _declined(asked: Asked) -> ContentFiltered:
    return ContentFiltered(
        f"{asked.provider} refused to answer this request (its content filter). "
        "Ask in other words, or start a new session."
    )


def redact(text: str, secret: str = "") -> str:
    """The text without the key and whatever looks like one, on one line, at most 300 characters."""
    without = text.replace(secret, "…") if len(secret) > 5 else text
    line = " ".join(_KEY.sub("…", without).split())
    return line if len(line) <= 300 else line[:299] + "…"


def _sentence(verdict: Verdict, failure: Failure, asked: Asked) -> str:
    said = redact(failure.message, asked.secret)
    if verdict is TimedOut:
        return str(unreachable(asked, f"it gave up waiting (status {failure.status})"))
    if verdict is BadAnswer:
        return str(bad_answer(asked, f"status {failure.status}{': ' + said if said else ''}"))
    if verdict is ContentFiltered:
        return str(_declined(asked))
    if issubclass(verdict, BadRequest):
        return _refused(asked, said)
    return _what_to_do(verdict, failure, asked) + (f" It said: {said}" if said else "")


def _what_to_do(verdict: Verdict, failure: Failure, asked: Asked) -> str:
    name, model = asked.provider, asked.model
    key = f"{asked.variable} or models.providers.{name}.api_key"
    address = _and_address(asked, first=", or check")
    status = f" (status {failure.status})" if failure.status >= 400 else ""
    sentences: dict[Verdict, str] = {
        AuthFailed: f"{name} did not accept the API key. Put a valid one into {key}.",
        QuotaExhausted: f"The account at {name} has no credit left. "
        "Add credit there, or choose another model with models.default.",
        ModelNotFound: f"{name} does not know the model {model}. "
        f"Choose another with models.default (clawd models lists them){address}.",
        ContextOverflow: f"The conversation is longer than {name}/{model} can read. "
        "Start a new session, or choose a model with a larger context window.",
        Overloaded: f"{name} is overloaded or out of order{status}. Try again in a minute.",
    }
    return sentences[verdict]


def _refused(asked: Asked, said: str) -> str:
    if "reasoning_effort" in said and "tools" in said.lower():
        return (
            f"{asked.provider} serves tools with {asked.model} only over another API than the chat API. "
            f"Choose another model with models.default (clawd models lists them). It said: {said}"
        )
    return (
        f"{asked.provider} refused the request for {asked.model}: {said or 'it gave no reason'}. "
        "Start a new session if it happens again."
    )


def _and_address(asked: Asked, first: str = " and") -> str:
    return f"{first} models.providers.{asked.provider}.base_url" if asked.base_url else ""


def cause(error: BaseException) -> str:
    """Why a connection failed, in the words of its innermost cause that has any."""
    found = ""
    inner: BaseException | None = error
    while inner is not None:
        found = str(inner).strip() or found
        inner = inner.__cause__ or inner.__context__
    return redact(found).rstrip(".") or type(error).__name__


def silence(error: BaseException, timeout: float) -> str:
    """What a time-out of the HTTP client means."""
    if "ConnectTimeout" in {type(error).__name__, type(error.__cause__).__name__}:
        return "it could not be connected in time"
    return f"nothing came for {timeout:g} s"
