"""What callers send: bodies and query strings as values, and sentences for those that are wrong."""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from gateway.http.rules import HttpRules
from gateway.usage_report import Group
from gateway.views import Refused
from sessions.key import BadSessionKey, SessionKey

WORDLESS = "(files, without a text)"
_SURROGATES = re.compile("[\ud800-\udfff]")


def _whole(text: str) -> str:
    """Halves of a character pair, which JSON can carry and UTF-8 cannot, become U+FFFD."""
    return _SURROGATES.sub("\ufffd", text)


Whole = Annotated[str, AfterValidator(_whole)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_whole)]


class Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class File(Form):
    """A file that comes with a message; `data` is Base64."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Name
    mime: Annotated[str, Field(max_length=200)] = "application/octet-stream"
    data: str


class ChatBody(Form):
    """The body of POST /api/chat. Without a text there must be attachments. `takes_files`: the caller fetches
    the files that the agent sends."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    text: Whole
    agent: Name | None = None
    session: Name | None = None
    stream: bool = False
    takes_files: bool = False
    attachments: Annotated[list[File], Field(max_length=10)] = []


class SearchQuery(Form):
    """The query string of GET /api/memory/search."""

    q: Annotated[str, Field(min_length=1, max_length=4_000)]
    agent: Name | None = None
    max_results: Annotated[int, Field(ge=1, le=50)] | None = None
    min_score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    explain: bool = False


class SaidQuery(Form):
    """The query string of GET /api/sessions/search."""

    q: Annotated[str, Field(min_length=1, max_length=4_000)]
    agent: Name | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 10


class FileQuery(Form):
    """The query string of GET /api/memory/file. `lines` None: as much as one answer holds."""

    path: Annotated[str, Field(min_length=1, max_length=1_000)]
    agent: Name | None = None
    from_line: Annotated[int, Field(ge=1, le=10**9)] = 1
    lines: Annotated[int, Field(ge=1, le=10_000)] | None = None


class SyncQuery(Form):
    """The query string of POST /api/memory/sync. `force`: anew; `stream`: tell how far it is."""

    agent: Name | None = None
    force: bool = False
    stream: bool = False


class StatusQuery(Form):
    """The query string of GET /api/memory/status. `deep` asks the embedding model as well."""

    agent: Name | None = None
    deep: bool = False


class HistoryQuery(Form):
    """The query string of GET /api/sessions/{key}."""

    limit: Annotated[int, Field(ge=1, le=5_000)] = 500


class AbortBody(Form):
    """The body of POST /api/chat/abort: a session by its key, or by its name and agent."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    session_key: Name | None = None
    agent: Name | None = None
    session: Name | None = None


class ResumeBody(Form):
    """The body of POST /api/sessions/{key}/resume: an earlier session's id or the beginning of it; empty when
    there is one only."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    session_id: Annotated[str, Field(max_length=100, pattern=r"^[A-Za-z0-9._-]*$")] = ""


class CompactBody(Form):
    """The body of POST /api/sessions/{key}/compact: what the summary is to heed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    focus: Annotated[str, Field(max_length=2_000), AfterValidator(_whole)] = ""


class RetryBody(Form):
    """The body of POST /api/outbox/retry."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    key: Name


class ApproveBody(Form):
    """The body of POST /api/pairing/approve."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    code: Name
    owner: bool = False


class DenyBody(Form):
    """The body of POST /api/pairing/deny: a code, or the id of a request."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    code: Name


class RevokeBody(Form):
    """The body of POST /api/pairing/revoke. `account` None: on every account."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    channel: Name
    sender: Name
    account: Name | None = None


class UsageQuery(Form):
    """The query string of GET /api/usage. `since` None: from the beginning."""

    by: Group = "day"
    since: date | None = None


class NoQuery(Form):
    """For addresses that take no query string."""


F = TypeVar("F", bound=BaseModel)


def query_of(form: type[F], query: Sequence[tuple[str, str]]) -> F:
    """Raises Refused when a parameter is wrong, unknown or given twice."""
    values: dict[str, str] = {}
    for name, value in query:
        if name in values:
            raise Refused(f"{name} is given twice. Give it once.", code="bad_request", status=400)
        values[name] = value
    return form_of(form, values)


def body_of(form: type[F], raw: bytes, *, like: str) -> F:
    """A JSON object as a form; `like` is an example of one. Raises Refused."""
    try:
        value: object = json.loads(raw.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise _bad_json(f"{error.msg} at line {error.lineno}, column {error.colno}") from error
    except UnicodeDecodeError as error:
        raise _bad_json(f"it is not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise _bad_json("it is nested too deeply") from error
    except ValueError as error:
        raise _bad_json("it holds a number with too many digits") from error
    if not isinstance(value, dict):
        raise _bad_json(f"it must be an object, for example {like}")
    return form_of(form, value)


def chat_body(raw: bytes, rules: HttpRules) -> ChatBody:
    """Raises Refused: invalid JSON (with its position), a wrong field, no text, or too long a text."""
    body = body_of(ChatBody, raw, like='{"text": "hello"}')
    return worded(body, rules, files=bool(body.attachments))


def worded(body: ChatBody, rules: HttpRules, *, files: bool) -> ChatBody:
    """The same with a text, which only files may do without. Raises Refused."""
    if files and not body.text.strip():
        return body.model_copy(update={"text": WORDLESS})
    check_text(body.text, rules)
    return body


def check_text(text: str, rules: HttpRules) -> None:
    """Raises Refused for nothing, and for too much."""
    if not text.strip():
        raise Refused("text is empty. Write something to say.", code="empty_text", status=400)
    if len(text) > rules.max_text_chars:
        raise Refused(
            f"text has {len(text):,} characters, the limit is {rules.max_text_chars:,}. Send less, or "
            "put it into a file of the workspace and name the file.",
            code="text_too_long",
            status=413,
        )


def session_key(text: str) -> SessionKey:
    """Raises Refused."""
    try:
        return SessionKey.parse(text)
    except BadSessionKey as error:
        raise Refused(
            f"{_shown(text)} is no session key. Keys look like agent:main:main; GET /api/sessions lists "
            "them.",
            code="bad_session_key",
            status=404,
        ) from error


def form_of(form: type[F], values: Mapping[str, object]) -> F:
    """Raises Refused."""
    try:
        return form.model_validate(values)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        known = list(form.model_fields)
        text = " ".join(_sentence(problem, known) for problem in problems[:5])
        raise Refused(text, code="bad_request", status=400) from error


def _sentence(problem: ErrorDetails, known: Sequence[str]) -> str:
    name = ".".join(str(step) for step in problem["loc"][:1])
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        allowed = f"Allowed: {', '.join(known)}." if known else "None is allowed here."
        return f"{_shown(name)} is not known here.{hint} {allowed}"
    if problem["type"] == "missing":
        return f"{name} is missing."
    message = problem["msg"].removeprefix("Input should ").removeprefix("String should ").rstrip(".")
    return f"{name} should {message}, but is {_shown(problem['input'])}."


def _shown(value: object) -> str:
    text = repr(value)
    return _whole(text if len(text) <= 60 else f"{text[:60]}…")


def _bad_json(why: str) -> Refused:
    return Refused(f"The body is not the JSON that is expected here: {why}.", code="bad_json", status=400)
