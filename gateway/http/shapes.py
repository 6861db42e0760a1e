"""What the API answers, for its description: nothing is checked against these while it runs."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """More may be added to an answer, and nothing is taken away."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Fault(Shape):
    """`code` is a stable word for programs, `message` a sentence for a person."""

    code: str | None
    message: str


class Problem(Shape):
    error: Fault


class Tokens(Shape):
    input: int
    output: int
    cache_read: int
    cache_write: int
    total: int
    cost_usd: float | None


class Call(Shape):
    name: str
    arguments: dict[str, Any]
    is_error: bool


class Reply(Shape):
    reply: str
    session_key: str
    session_id: str
    model: str
    usage: Tokens
    tool_calls: list[Call]


class Stopped(Shape):
    stopped: bool


class Session(Shape):
    key: str
    session_id: str
    agent: str
    started_at: str
    last_seen_at: str
    messages: int


class Sessions(Shape):
    sessions: list[Session]


class Said(Shape):
    role: str
    at: str
    text: str


class Conversation(Shape):
    session: Session
    messages: list[Said]
    earlier: int


class Quote(Shape):
    session_key: str | None
    session_id: str
    at: str
    role: str
    line: int
    snippet: str


class Quotes(Shape):
    results: list[Quote]
    partial: bool


class Told(Shape):
    """What a command says to a person."""

    text: str


class Usage(Shape):
    by: str
    since: str | None
    rows: list[dict[str, Any]]
    total: dict[str, Any]


class Context(Shape):
    model: str
    window: int


class Model(Shape):
    name: str
    provider: str
    usable: bool
    reason: str | None
    is_default: bool


class Models(Shape):
    models: list[Model]


class Agents(Shape):
    agents: list[str]
    default: str


class Hit(Shape):
    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    source: str


class Found(Shape):
    results: list[Hit]
    provider: str
    model: str | None
    mode: str


class Note(Shape):
    path: str
    from_line: int
    end_line: int
    text: str
    next_from: int | None


class Synced(Shape):
    files: int
    chunks: int
    waiting: int
    indexed: int
    removed: int
    embedded: int
    warnings: list[str]


class Index(Shape):
    files: int
    chunks: int


class Limits(Shape):
    """Of one message. No bytes: files are not taken."""

    text_chars: int
    upload_bytes: int
    files: int


class Status(Shape):
    ready: bool
    draining: bool
    agents: list[str]
    default_agent: str
    sessions: int
    listeners: int
    limits: Limits


class Letter(Shape):
    """A delivery: `parts` of which `sent` have arrived."""

    key: str
    channel: str
    account: str
    chat: str
    at: str
    parts: int
    sent: int
    why: str | None


class Letters(Shape):
    waiting: list[Letter]
    dead: list[Letter]


class Revived(Shape):
    retried: bool


class Run(Shape):
    run_id: str
    session_key: str


class Woken(Shape):
    woken: str


class Listed(Shape):
    """In OpenAI's form."""

    object: str
    data: list[dict[str, Any]]


class Completion(Shape):
    """In OpenAI's form."""

    id: str
    object: str
    model: str
    choices: list[dict[str, Any]]
