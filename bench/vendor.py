"""The vendor of the cost bench: a scripted model behind Anthropic's wire and an exact count of its cache."""

import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from agents.model.anthropic_wire import to_wire
from agents.model.provider import CacheTtl, ContextOverflow, Done, ModelEvent, ModelRequest
from agents.model.spelling import Spelling, body_of
from agents.warming import KEEP_WARM
from bench.agent import WINDOW
from bench.month import BEGIN, Asked, Month, Round
from bench.promptcache import LIVES, Counted, PromptCache
from sessions import plan, pruning
from sessions.messages import Assistant, Message, Text, ToolCall, ToolResult, Usage, User, text_of
from sessions.settings import AgedSettings, PruningSettings
from sessions.silence import NO_REPLY
from sessions.summary import HEADINGS

WRITE = {"5m": 1.25, "1h": 2.0, None: 1.0}
READ, ANSWER = 0.1, 5.0
WIRE = Spelling(
    api="anthropic_messages",
    provider="anthropic",
    thinking="between_tools",
    effort="plain",
    vision=True,
    limit="max_tokens",
    ids="anthropic",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One behaviour. `alike`: as the reference, which prunes for one request and then sends the full history
    again, and reads the bootstrap files anew for each turn. `checked`: the bytes of all its requests are.
    `kept_warm`: so often in a pause, the cache is renewed."""

    name: str
    pruning: bool = True
    gate: bool = False
    aged: bool = True
    alike: bool = False
    cached: bool = True
    checked: bool = False
    kept_warm: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request, as it was counted. `warm`: of a turn that began with a warm cache; `repeated` are the
    tokens that the request before it had as well (in the same session)."""

    origin: str
    warm: bool
    counted: Counted
    output: int
    repeated: int = 0


@dataclass(slots=True)
class Vendor:
    """Implements ModelProvider: follows the month, and keeps the bill."""

    month: Month
    way: Way
    ttl: CacheTtl | None
    fresh_context: Callable[[], str]
    now: datetime = BEGIN
    name: str = "anthropic"
    cache: PromptCache = field(default_factory=PromptCache)
    bill: list[Asking] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    asked: Asked | None = None
    warm: bool = False
    last_asked: datetime | None = None
    last_size: int = 0
    last_body: bytes = b""
    may_change: bool = True
    breaks: int = 0
    run_began: datetime | None = None
    context: str = ""
    calls: int = 0

    def clock(self) -> datetime:
        return self.now

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        newest = request.messages[-1]
        words = text_of(newest.parts) if isinstance(newest, User) else ""
        origin = KEEP_WARM if request.max_tokens == 1 else self._origin(words)
        sent = self._as_reference(request, newest) if self.way.alike and origin != "note" else request
        body = to_wire(sent, provider=self.name, thinking=WIRE.thinking, vision=True)
        counted = self.cache.count(body, self.now)
        if counted.prompt > WINDOW:
            self.may_change = True  # room is made then, which the transcript records
            raise ContextOverflow(f"prompt is too long: {counted.prompt} tokens > {WINDOW} maximum")
        parts = self._answer(origin, request, words)
        output = sum(len(p.text) if isinstance(p, Text) else 40 + len(str(p.arguments)) for p in parts) // 4
        self._check(sent, origin)
        self.bill.append(
            Asking(
                origin=origin,
                warm=self.warm,
                counted=counted,
                output=output,
                repeated=min(self.last_size, counted.prompt) if origin != "note" else 0,
            )
        )
        if origin != "note":
            self.last_size, self.last_asked = counted.prompt, self.now
        self.now += timedelta(seconds=2 + output / 60)
        calls = any(isinstance(part, ToolCall) for part in parts)
        yield Done(
            message=Assistant(
                at=self.now,
                parts=parts,
                stop="toolUse" if calls else "stop",
                provider=self.name,
                api=WIRE.api,
                model=request.model,
                usage=Usage(
                    input=counted.input, output=output, cache_read=counted.read, cache_write=counted.write
                ),
            )
        )

    async def aclose(self) -> None:
        """Nothing is held."""

    def begin(self, asked: Asked) -> None:
        self.asked, self.rounds = asked, list(asked.rounds)
        self.look()

    def look(self) -> None:
        """Whether the cache is warm now."""
        life = LIVES.get(self.ttl or "")
        self.warm = bool(life and self.last_asked and self.now - self.last_asked < life)
        self.may_change = self.may_change or not self.warm

    def forget(self) -> None:
        """A new session begins."""
        self.last_asked, self.last_size, self.may_change, self.run_began = None, 0, True, None

    def _origin(self, words: str) -> str:
        if "Use exactly these headings" in words or words.startswith("The summary is not complete"):
            return "compaction"
        if f"answer {NO_REPLY}" in words:
            return "flush"
        return "note" if words.startswith("Name the topic") else "turn"

    def _answer(self, origin: str, request: ModelRequest, words: str) -> tuple[Text | ToolCall, ...]:
        self.calls += 1
        if origin == KEEP_WARM:
            return (Text(text="word"),)
        if origin == "note":
            return (Text(text="boats-harbour"),)
        if origin == "compaction":
            said = [text_of(m.parts) for m in request.messages[:-1] if isinstance(m, User)]
            body = "\n".join([self.month.text(f"summary {self.calls}", 4_000), *said])
            return (
                Text(text="\n\n".join(f"## {h}\n{body if h == HEADINGS[-2] else '-'}" for h in HEADINGS)),
            )
        if origin == "flush":
            path = re.search(r"memory/\d{4}-\d\d-\d\d\.md", words)
            assert path
            return (self._call("write", path=path[0], mode="append", content=self._text("saved", 900)),)
        assert self.asked
        while self.rounds:
            parts = self._round(self.rounds.pop(0), request)
            if parts:
                return parts
        return (Text(text=self._text("answer", self.asked.answer)),)

    def _round(self, one: Round, request: ModelRequest) -> tuple[ToolCall, ...]:
        self.now += timedelta(seconds=one.seconds)
        if one.remember:
            return (
                self._call("write", path="MEMORY.md", mode="append", content=self._text("fact", 120) + "\n"),
            )
        if one.back is not None:
            results = [message for message in request.messages if isinstance(message, ToolResult)]
            seen = text_of(results[int(one.back * len(results))].parts) if results else ""
            short = re.search(rf"{plan.GET_BACK} (\S+) gives", seen)
            return (self._call(plan.GET_BACK, ref=short[1]),) if short else ()
        return tuple(
            self._call("fetch", page=self._text(f"page {n}", 60), chars=c) for n, c in enumerate(one.outputs)
        )

    def _text(self, what: str, chars: int) -> str:
        return self.month.text(f"{what} {self.asked.number if self.asked else 0}.{len(self.rounds)}", chars)

    def _call(self, name: str, **arguments: str | int) -> ToolCall:
        self.calls += 1
        return ToolCall(id=f"toolu_{self.calls:06}", name=name, arguments={**arguments})

    def _as_reference(self, request: ModelRequest, newest: Message) -> ModelRequest:
        """What the reference would send: its clock starts with a run, its plan lives for one request."""
        if not isinstance(newest, User):
            return replace(request, context=self.context)
        began, self.run_began, self.context = self.run_began, self.now, self.fresh_context()
        made = began and pruning.plan(request.messages, WINDOW, reference_pruning(self.ttl), self.now, began)
        messages = plan.apply(made, request.messages) if made else request.messages
        return replace(request, context=self.context, messages=messages)

    def _check(self, request: ModelRequest, origin: str) -> None:
        """Count requests that do not extend the last one, cache marks aside, though nothing allows it."""
        if origin in ("note", "compaction", KEEP_WARM) or not self.way.checked:
            return
        body = body_of(replace(request, cache_ttl=None), WIRE)
        if not (self.may_change or body.startswith(self.last_body)):
            self.breaks += 1
        self.last_body, self.may_change = body.rstrip(b"]}"), False


def reference_pruning(ttl: CacheTtl | None) -> PruningSettings:
    """With the gate, and without a second trim."""
    return PruningSettings(ttl=ttl or "5m", gate=True, aged=AgedSettings(enabled=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """What a month came to."""

    way: Way
    ttl: CacheTtl | None
    bill: list[Asking]
    turns: int
    compactions: int
    refreshed: dict[str, int]
    breaks: int

    @property
    def cost(self) -> float:
        """Of prompts, in base-input tokens."""
        return sum(
            one.counted.input + WRITE[self.ttl] * one.counted.write + READ * one.counted.read
            for one in self.bill
        )

    @property
    def answers(self) -> float:
        return ANSWER * sum(one.output for one in self.bill)

    @property
    def tokens(self) -> int:
        return sum(one.counted.prompt for one in self.bill)

    def share(self, *, warm: bool) -> float:
        """Of prompt tokens, those read from the cache."""
        counted = [one.counted for one in self.bill if one.warm or not warm]
        return sum(one.read for one in counted) / max(1, sum(one.prompt for one in counted))

    @property
    def most(self) -> float:
        """The share of warm turns if all that was sent before were read: the rest is new."""
        warm = [one for one in self.bill if one.warm]
        return sum(one.repeated for one in warm) / max(1, sum(one.counted.prompt for one in warm))

    @property
    def again(self) -> float:
        """In warm turns: of the tokens that the request before had as well, those read from the cache."""
        warm = [one for one in self.bill if one.warm and one.origin == "turn"]
        read = sum(min(one.counted.read, one.repeated) for one in warm)
        return read / max(1, sum(one.repeated for one in warm))
