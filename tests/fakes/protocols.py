"""Fakes of the borders: a model that follows a script, a clock that stands still, a tool that counts."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from agents.model.provider import (
    CallStarted,
    Done,
    ModelError,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolSpec,
)
from agents.tools.tool import ToolError, ToolOutput
from agents.turn import Turn
from sessions.key import SessionKey
from sessions.messages import Assistant, JsonObject, StopReason, Text, ToolCall, Usage

START = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)


@dataclass(slots=True)
class FakeClock:
    """Stands still until it is moved; each reading may move it by `step`."""

    now: datetime = START
    step: timedelta = timedelta(0)

    def __call__(self) -> datetime:
        self.now += self.step
        return self.now


@dataclass(frozen=True, slots=True)
class Says:
    text: str
    stop: StopReason = "stop"


@dataclass(frozen=True, slots=True)
class Calls:
    calls: tuple[ToolCall, ...]
    text: str = ""
    stop: StopReason = "toolUse"


@dataclass(frozen=True, slots=True)
class Fails:
    error: ModelError
    after: str = ""


@dataclass(frozen=True, slots=True)
class Hangs:
    """Goes on when its gate is opened."""

    after: str = ""
    then: str = ""
    gate: asyncio.Event = field(default_factory=asyncio.Event)


Step = Says | Calls | Fails | Hangs


def call(name: str, arguments: JsonObject | None = None, *, id: str = "c1") -> ToolCall:  # noqa: A002
    return ToolCall(id=id, name=name, arguments=arguments or {})


@dataclass(slots=True)
class ScriptedModel:
    """Implements ModelProvider: each request takes the next step; `requests` holds all of them."""

    script: list[Step]
    clock: Callable[[], datetime] = field(default_factory=FakeClock)
    name: str = "scripted"
    usage: Usage = field(default_factory=lambda: Usage(input=10, output=5))
    requests: list[ModelRequest] = field(default_factory=list)
    hanging: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        match self.script.pop(0):
            case Fails(error=error, after=after):
                if after:
                    yield TextDelta(text=after)
                raise error
            case Hangs(after=after, then=then, gate=gate):
                if after:
                    yield TextDelta(text=after)
                self.hanging.set()
                await gate.wait()
                yield TextDelta(text=then)
                yield Done(message=self._message((Text(text=after + then),), "stop"))
            case Says(text=text, stop=stop):
                for word in text.split(" "):
                    yield TextDelta(text=word + " ")
                yield Done(message=self._message((Text(text=text),), stop))
            case Calls(calls=calls, text=text, stop=stop):
                if text:
                    yield TextDelta(text=text)
                for one in calls:
                    yield CallStarted(call=one)
                said = (Text(text=text),) if text else ()
                yield Done(message=self._message((*said, *calls), stop))

    async def aclose(self) -> None:
        """Nothing is held."""

    def _message(self, parts: tuple[Text | ToolCall, ...], stop: StopReason) -> Assistant:
        return Assistant(
            at=self.clock(),
            parts=parts,
            stop=stop,
            provider=self.name,
            api="scripted",
            model="script",
            usage=self.usage,
        )


@dataclass(slots=True)
class FakeTool:
    """Implements Tool: answers `answer` (an exception is raised), and remembers its arguments."""

    name: str = "look"
    answer: str | ToolError = "seen"
    delay: float = 0.0
    seen: list[JsonObject] = field(default_factory=list)
    running: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description="Look.", parameters={"type": "object", "properties": {}})

    async def run(self, arguments: JsonObject, turn: Turn) -> ToolOutput:
        self.seen.append(arguments)
        self.running.set()
        await asyncio.sleep(self.delay)
        if isinstance(self.answer, ToolError):
            raise self.answer
        return ToolOutput.of(self.answer)


def turn(*, trust: str = "owner", key: str = "agent:main:main") -> Turn:
    return Turn(
        key=SessionKey.parse(key),
        session_id="s1",
        sender="owner",
        trust="owner" if trust == "owner" else "guest",
        at=START,
        time_zone="UTC",
    )
