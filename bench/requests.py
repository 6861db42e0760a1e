"""What a long transcript costs before a model is asked: python bench/requests.py

Medians, in ms of this thread's CPU, so that they do not change with what else the machine does: the next
request after a new message (folded, with its frame, and as bytes), the same with a pruning plan in force, a
transcript read from disk and folded whole; and the memory that an open session holds.
"""

import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))

from agents.model.provider import ModelRequest
from agents.model.spelling import body_of
from bench.month import BEGIN, Month
from bench.vendor import WIRE
from sessions import pruning
from sessions.context import ContextView
from sessions.entries import Body, Header, Said
from sessions.messages import Assistant, Message, Text, ToolCall, ToolResult, User
from sessions.settings import PruningSettings
from sessions.transcript import Transcript

LENGTHS, AIMS, TIMES = (1_000, 10_000), {1_000: 5.0, 10_000: 40.0}, 15
FRAME = ModelRequest(model="claude-sonnet-5-5", system="s" * 6_000, context="c" * 12_000, messages=())


def said(month: Month, entries: int) -> Iterator[Message]:
    """Turns of four entries: a question, a call, its result, an answer."""
    for turn in range(entries // 4):
        at = BEGIN + timedelta(minutes=turn)
        yield User(at=at, parts=(Text(text=month.text(f"question {turn}", 200)),), envelope="[owner] ")
        for answered in (ToolCall(id=f"c{turn}", name="look", arguments={"turn": turn}), None):
            parts = (answered,) if answered else (Text(text=month.text(f"answer {turn}", 400)),)
            yield Assistant(
                at=at,
                parts=parts,
                stop="toolUse" if answered else "stop",
                provider="anthropic",
                api="anthropic_messages",
                model="claude-sonnet-5-5",
            )
            if answered:
                text = month.text(f"result {turn}", 6_000 if turn % 10 == 0 else 600)
                yield ToolResult(at=at, call_id=f"c{turn}", name="look", parts=(Text(text=text),))


def spent(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return (time.thread_time() - begun) * 1_000


def median(work: Callable[[], object]) -> float:
    return statistics.median(spent(work) for _ in range(TIMES))


def written(path: Path, messages: list[Message]) -> Transcript:
    transcript = Transcript.create(path, Header(id="s1", at=BEGIN, cwd="/"))
    for message in messages:
        transcript.append(Said(message=message), message.at)
    return transcript


def growing(transcript: Transcript, view: ContextView, *, wire: bool) -> Callable[[], object]:
    """A message is recorded, and the request that it makes is built."""
    body: Body = Said(message=User(at=BEGIN, parts=(Text(text="and now?"),)))

    def step() -> object:
        request = replace(FRAME, messages=view.of(transcript.entries))
        return body_of(request, WIRE) if wire else request

    def grown() -> object:
        transcript.append(body, BEGIN)
        return step()

    grown()
    return grown


def opened(path: Path) -> tuple[Transcript, ContextView]:
    transcript = Transcript.open(path, max_line_bytes=1 << 24)
    return transcript, ContextView(transcript.entries)


def close(one: tuple[Transcript, ContextView]) -> None:
    one[0].close()


def held(path: Path) -> float:
    """Megabytes that an open session keeps."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    transcript, view = opened(path)
    view.of(transcript.entries)
    megabytes = (tracemalloc.get_traced_memory()[0] - before) / 1e6
    tracemalloc.stop()
    transcript.close()
    return megabytes


def row(entries: int, month: Month, folder: Path) -> tuple[str, ...]:
    path = folder / f"{entries}.jsonl"
    transcript = written(path, list(said(month, entries)))
    view = ContextView(transcript.entries)
    plain = median(growing(transcript, view, wire=False))
    wire = median(growing(transcript, view, wire=True))
    settings = PruningSettings(gate=False)
    plan = pruning.plan(view.untrimmed, 200_000, settings, BEGIN, None)
    planning = median(lambda: pruning.plan(view.untrimmed, 200_000, settings, BEGIN, None))
    assert plan is not None
    transcript.append(plan.entry(), BEGIN)
    pruned = median(growing(transcript, view, wire=False))
    transcript.close()
    reading = statistics.median(spent(lambda: close(opened(path))) for _ in range(3))
    size = path.stat().st_size / 1e6
    figures = (plain, wire, pruned, planning, reading)
    return (f"{entries:,}", *(f"{figure:.2f}" for figure in figures), f"{size:.1f}", f"{held(path):.1f}")


def main() -> None:
    columns = ("entries", "request", "and its bytes", "request, pruned", "a new plan", "open and fold")
    table = Table(title="ms of CPU (medians), MB")
    for column in (*columns, "file MB", "held MB"):
        table.add_column(column, justify="right")
    month = Month(1, days=1)
    with tempfile.TemporaryDirectory() as folder:
        for entries in LENGTHS:
            table.add_row(*row(entries, month, Path(folder)))
    Console(width=120).print(table)
    print("Aims for a request: " + ", ".join(f"{ms:g} ms at {n:,} entries" for n, ms in AIMS.items()) + ".")


if __name__ == "__main__":
    main()
