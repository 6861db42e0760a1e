"""What a long history costs in the model providers: python -m bench.providers

One row for each wire and length of history: the time to build the body, and a whole streamed answer of the
fake model server (its own process, no checks, no delay) by our provider and by the SDK's typed call. Medians
in ms; CPU is that of this process alone and does not change with what else the machine does.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import anthropic
import openai

from agents.model import anthropic_wire, openai_wire
from agents.model.anthropic_messages import AnthropicMessages
from agents.model.catalog import facts
from agents.model.openai_chat import OpenAIChat
from agents.model.provider import ModelRequest, ToolSpec
from agents.model.wire import encode
from agents.settings import ModelsSettings
from sessions.messages import Assistant, Message, Text, ToolCall, ToolResult, User
from sessions.repair import repair

NOW = datetime(2026, 11, 2, tzinfo=UTC)
ROUNDS = 15
SIZES = (2, 100, 1_000)


def history(size: int) -> tuple[Message, ...]:
    """Turns of four messages with 200 characters each, a call among them; the last is a person's."""
    talk: list[Message] = []
    for turn in range(size // 4 + 1):
        call = ToolCall(id=f"call_{turn}", name="read", arguments={"path": f"notes/{turn}.md"})
        talk += [
            User(at=NOW, parts=(Text(text=f"{turn}: " + "what do you think of it? " * 8),)),
            Assistant(at=NOW, parts=(call,), stop="toolUse", provider="x", api="y", model="z"),
            ToolResult(at=NOW, call_id=call.id, name="read", parts=(Text(text="a line of a note. " * 11),)),
            Assistant(
                at=NOW,
                parts=(Text(text="I think this. " * 14),),
                stop="stop",
                provider="x",
                api="y",
                model="z",
            ),
        ]
    return repair((*talk[: size - 1], User(at=NOW, parts=(Text(text="And now?"),))))


def asked(model: str, size: int) -> ModelRequest:
    schema: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}}
    tools = tuple(
        ToolSpec(name=f"tool_{index}", description="A tool.", parameters=schema) for index in range(7)
    )
    return ModelRequest(
        model=model, system="s" * 6_000, context="c" * 8_000, messages=history(size), tools=tools
    )


@contextmanager
def server() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.fakes.modelserver", "--lenient", "--no-cache"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[2]
        process.terminate()


@dataclass(frozen=True, slots=True)
class Taken:
    """Milliseconds, medians: on the wall's clock, and of this process's CPU."""

    wall: float
    cpu: float


async def median(work: Callable[[], Awaitable[object]]) -> Taken:
    walls, cpus = [], []
    await work()
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        await work()
        walls.append((time.perf_counter() - wall) * 1_000)
        cpus.append((time.process_time() - cpu) * 1_000)
    return Taken(statistics.median(walls), statistics.median(cpus))


async def drain(stream: Any) -> None:  # noqa: ANN401 (any asynchronous iterator)
    async for _ in stream:
        pass


async def anthropic_row(url: str, size: int) -> tuple[int, Taken, Taken, Taken]:
    request = asked("claude-sonnet-5-5", size)
    models = ModelsSettings()
    ours = AnthropicMessages(
        name="anthropic",
        api_key="k",
        base_url=url,
        timeout=60,
        clock=lambda: NOW,
        facts_of=lambda m: facts("anthropic", m, models),
    )
    typed = anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0)

    def body() -> dict[str, Any]:
        return anthropic_wire.to_wire(request, provider="anthropic", thinking="between_tools", vision=True)

    async def build() -> None:
        encode(body())

    async def sdk() -> None:
        await drain(await typed.messages.create(**body()))

    row = (
        len(encode(body())),
        await median(build),
        await median(lambda: drain(ours.stream(request))),
        await median(sdk),
    )
    await ours.aclose()
    await typed.close()
    return row


async def openai_row(url: str, size: int) -> tuple[int, Taken, Taken, Taken]:
    request = asked("gpt-6.1-terra", size)
    models = ModelsSettings()
    ours = OpenAIChat(
        name="openai",
        api_key="k",
        base_url=f"{url}/v1",
        timeout=60,
        clock=lambda: NOW,
        facts_of=lambda m: facts("openai", m, models),
    )
    typed = openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)
    dialect = openai_wire.dialect_of("openai", None)

    def body() -> dict[str, Any]:
        return openai_wire.to_wire(request, dialect=dialect, effort="none_with_tools", vision=True)

    async def build() -> None:
        encode(body())

    async def sdk() -> None:
        await drain(await typed.chat.completions.create(**body()))

    row = (
        len(encode(body())),
        await median(build),
        await median(lambda: drain(ours.stream(request))),
        await median(sdk),
    )
    await ours.aclose()
    await typed.close()
    return row


async def main() -> None:
    titles = ("build", "CPU", "stream", "CPU", "SDK call", "CPU")
    print(f"{'wire':10}{'messages':>9}{'body KB':>9}" + "".join(f"{title:>9}" for title in titles))
    with server() as url:
        for wire, row in (("anthropic", anthropic_row), ("openai", openai_row)):
            for size in SIZES:
                length, *taken = await row(url, size)
                figures = "".join(f"{one.wall:9.1f}{one.cpu:9.1f}" for one in taken)
                print(f"{wire:10}{size:9}{length / 1_000:9.1f}{figures}")


if __name__ == "__main__":
    asyncio.run(main())
