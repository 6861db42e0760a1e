"""The real model behind its frames, and what it is worth on a small memory."""

import asyncio
import io
import json
import os
import struct
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory.embed import worker
from memory.embed.local import LocalEmbedder
from memory.index import MemoryIndex
from memory.settings import MemorySettings

NOTES = {
    "database": "Decided to move the production database to PostgreSQL 16; MySQL replication kept breaking.",
    "allergy": "Marta is allergic to peanuts and shellfish; always tell restaurants.",
    "car": "The car needs new brake pads before the trip to Porto in May.",
    "deploy": "We deploy with Docker Compose on the rented server, not Kubernetes.",
    "rent": "Rent is paid on the 5th of each month by standing order, 950 euros.",
    "birthday": "Ana's birthday is on 14 March; she collects ceramic owls.",
    "style": "Prefers short answers in Portuguese and dislikes emojis.",
    "wifi": "The wifi at the office was fixed by replacing the access point in the hallway.",
    "dentist": "Dentist appointment moved to Thursday 10:30, Dr. Silva, Rua Augusta.",
    "books": "Finished reading Dune; next is The Left Hand of Darkness.",
}
RELATED = {
    "What food must my friend avoid?": "allergy",
    "What repair does my vehicle need?": "car",
    "In what language and style should you reply?": "style",
    "How was the internet problem at work solved?": "wifi",
    "Which novel comes next on my list?": "books",
    "A que alimentos a Marta tem alergia?": "allergy",
    "O que o carro precisa antes da viagem?": "car",
    "Quando se paga o aluguel?": "rent",
    "Quando é o aniversário da Ana?": "birthday",
    "Como foi consertada a internet do escritório?": "wifi",
}
UNRELATED = [
    "How tall is Mount Everest?",
    "What is the boiling point of mercury?",
    "Who won the world cup in 1998?",
    "How do I make sourdough bread rise?",
    "What is the capital of Mongolia?",
    "Explain photosynthesis to a child",
    "How many strings does a cello have?",
    "What is the square root of 1764?",
    "Which planet has the largest moon?",
    "Quantos ossos tem o corpo humano?",
]


@pytest.fixture
async def embedder() -> AsyncIterator[LocalEmbedder]:
    embedder = LocalEmbedder()
    yield embedder
    await embedder.aclose()


async def test_the_real_model_tells_related_from_unrelated_on_ten_notes(
    tmp_path: Path, embedder: LocalEmbedder
) -> None:
    for name, text in NOTES.items():
        (tmp_path / "workspace/memory").mkdir(parents=True, exist_ok=True)
        (tmp_path / "workspace/memory" / f"{name}.md").write_text(text)
    index = MemoryIndex(
        workspace=tmp_path / "workspace",
        database=tmp_path / "main.sqlite",
        settings=MemorySettings(),
        embedder=embedder,
    )
    try:
        first = {q: [Path(hit.path).stem for hit in (await index.search(q)).hits][:1] for q in RELATED}
        assert sum(first[question] == [name] for question, name in RELATED.items()) >= 9
        found = {question: await index.search(question) for question in UNRELATED}
        assert {question for question, result in found.items() if result.hits and not result.relaxed} == set()
        for name in ("database", "deploy"):
            (hit, *_) = (await index.search(NOTES[name])).hits
            assert hit.path == f"memory/{name}.md"
            assert hit.score > 0.7
    finally:
        await index.aclose()


async def test_vectors_have_length_one_and_say_the_same_for_the_same_text(embedder: LocalEmbedder) -> None:
    one, two, three = await embedder.embed(
        ["the red bicycle", "a quite different text", "the red bicycle"], kind="query"
    )
    assert sum(value * value for value in one) == pytest.approx(1, abs=1e-4)
    assert one.tolist() == pytest.approx(three.tolist(), abs=1e-5)
    assert sum(a * b for a, b in zip(one, two, strict=True)) < 0.5
    assert len(one) == embedder.dims


@pytest.mark.parametrize("tail", [b"", b"\0", b"\0\0\0\x05abc"])
def test_a_frame_that_is_cut_short_is_the_end(tail: bytes) -> None:
    source = io.BytesIO(struct.pack(">I", 3) + b"one" + tail)
    assert worker.read_frame(source) == b"one"
    assert worker.read_frame(source) is None


def test_a_request_that_is_no_list_of_texts_is_answered_with_its_error() -> None:
    answers = io.BytesIO()
    worker.serve(io.BytesIO(struct.pack(">I", 3) + b"{{{"), answers)
    body = answers.getvalue()[4:]
    assert body[:1] == worker.FAILED
    assert b"JSONDecodeError" in body


def test_the_process_ends_with_its_input_and_writes_nothing(tmp_path: Path) -> None:
    script = str(Path(worker.__file__))
    request = json.dumps(["a text"]).encode()
    done = subprocess.run(
        [sys.executable, "-P", "-B", script],
        input=struct.pack(">I", len(request)) + request,
        capture_output=True,
        cwd=tmp_path,
        timeout=60,
        check=True,
    )
    assert len(done.stdout) == 4 + 1 + 512 * 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(
    sys.platform != "linux", reason="a process can be told of its parent's death on Linux alone"
)
async def test_the_process_ends_with_its_parent() -> None:
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT, str(Path(worker.__file__))), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()
    async with asyncio.timeout(5):
        while _is_alive(child):  # noqa: ASYNC110 (a process tells nobody)
            await asyncio.sleep(0.02)


PARENT = """
import subprocess, sys, time
command = [sys.executable, "-P", "-B", sys.argv[1]]
child = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
print(child.pid, flush=True)
time.sleep(60)
"""


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
