"""agents/transcripts.py: transcripts as memory reads them, torn and growing, and by growth alone."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.transcripts import SessionDocuments
from memory.files import FoundFile
from memory.index import MemoryIndex
from memory.queries import FileRow
from memory.sessions_tables import Wanted
from memory.settings import MemorySettings, SessionsSyncSettings
from sessions.entries import Said
from sessions.transcript import Transcript
from tests.agents.talks import Talked, talked
from tests.fakes.embedder import FakeEmbedder
from tests.sessions.making import AT, LIMIT, result, user


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talked]:
    async with talked(tmp_path) as scene:
        yield scene


async def found(talk: Talked, question: str) -> list[tuple[str, int]]:
    text = await talk.text.search(Wanted(text=question, limit=500))
    return [(one.session, one.line) for one in text.found]


async def test_what_was_said_is_found_at_its_line_and_tools_are_not(talk: Talked) -> None:
    talk.say("s-1", "when is the tea?", "At five.", result("A", "tea payload"), "with milk, please")

    assert await found(talk, "tea") == [("s-1", 2)]
    assert await found(talk, "milk") == [("s-1", 5)]


async def test_a_torn_transcript_is_searched_around_the_tear_and_left_as_it_is(talk: Talked) -> None:
    path = talk.say("s-1", "the kestrel ships")
    with path.open("ab") as file:
        file.write(b'{"type":"message","id":"zz","message":{"role":"user","content":"kestrel torn')
    before = path.read_bytes()

    assert await found(talk, "kestrel") == [("s-1", 2)]
    assert path.read_bytes() == before
    talk.say("s-1", "another kestrel")
    assert sorted(await found(talk, "kestrel")) == [("s-1", 2), ("s-1", 4)]


async def test_what_is_no_transcript_is_not_searched_and_not_moved(talk: Talked) -> None:
    talk.say("s-1", "kestrel")
    (talk.folder / "broken.jsonl").write_text("kestrel\n")
    (talk.folder / "s-2.jsonl.broken-1").write_text("kestrel\n")

    assert await found(talk, "kestrel") == [("s-1", 2)]
    assert (talk.folder / "broken.jsonl").exists()


async def test_a_running_append_is_followed(talk: Talked) -> None:
    path = talk.say("s-1", "begin")
    stop = threading.Event()

    def write() -> None:
        transcript = Transcript.open(path, max_line_bytes=LIMIT)
        for number in range(300):
            transcript.append(Said(message=user(f"kestrel {number} {'x' * 3_000}")), AT)
        transcript.close()
        stop.set()

    writer = asyncio.create_task(asyncio.to_thread(write))
    seen = 0
    while not stop.is_set():
        now = len(await found(talk, "kestrel"))
        assert seen <= now <= 300
        seen = now
    await writer

    result_ = await talk.text.search(Wanted(text="kestrel 299", limit=5))
    assert [one.line for one in result_.found] == [302]


async def test_secrets_are_not_in_the_tables(talk: Talked, tmp_path: Path) -> None:
    talk.say("s-1", "my key is sk-abcdefgh12345678 now")
    await talk.text.bring_up()
    await talk.text.aclose()

    data = (tmp_path / "main.sessions.sqlite").read_bytes()
    assert b"redacted" in data
    assert b"abcdefgh12345678" not in data


def documents(talk: Talked, *, size: int = 100_000, lines: int = 50) -> SessionDocuments:
    growth = SessionsSyncSettings(delta_bytes=size, delta_messages=lines)
    return SessionDocuments(talk.transcripts, growth=growth, has_ended=talk.registry.has_ended)


def row(file: FoundFile) -> FileRow:
    return FileRow(
        path=file.path,
        hash="",
        size=file.size,
        mtime_ns=file.mtime_ns,
        ctime_ns=file.ctime_ns,
        inode=file.inode,
    )


def listed(documents: SessionDocuments, known: dict[str, FileRow]) -> dict[str, FoundFile]:
    return {file.path: file for file in documents.list(known, force=False).files}


@pytest.mark.parametrize(("more", "due"), [(3, False), (4, True), (5, True)])
async def test_a_conversation_is_read_again_when_it_grew_by_so_many_lines(
    talk: Talked, more: int, due: bool
) -> None:
    path = talk.say("s-1", *["word"] * 4)
    by_lines = documents(talk, lines=4)
    (first,) = listed(by_lines, {}).values()
    talk.say("s-1", *["word"] * more)

    again = listed(by_lines, {first.path: row(first)})[first.path]

    assert first.path == "sessions/s-1.jsonl"
    assert (again.size == path.stat().st_size) is due
    assert (again.size == first.size) is not due


@pytest.mark.parametrize(("missing", "due"), [(1, False), (0, True), (-1, True)])
async def test_or_by_so_many_bytes(talk: Talked, missing: int, due: bool) -> None:
    size = talk.say("s-1", "word").stat().st_size

    assert bool(listed(documents(talk, size=size + missing), {})) is due


async def test_zero_is_any_growth_and_nothing_is_none(talk: Talked) -> None:
    talk.say("s-1", "word")
    eager = documents(talk, lines=0)
    (first,) = listed(eager, {}).values()

    assert listed(eager, {first.path: row(first)})[first.path] == replace(first, device=0)
    talk.say("s-1", "more")
    assert listed(eager, {first.path: row(first)})[first.path].size > first.size


async def test_what_has_ended_is_read_at_once(talk: Talked) -> None:
    talk.say("s-1", "word")
    assert listed(documents(talk), {}) == {}

    talk.say("s-2", "after a reset")

    assert list(listed(documents(talk), {})) == ["sessions/s-1.jsonl"]


async def test_all_is_read_by_force(talk: Talked) -> None:
    talk.say("s-1", "word")

    assert len(documents(talk).list({}, force=True).files) == 1


async def test_memory_finds_conversations_with_the_lines_of_the_transcript(
    talk: Talked, tmp_path: Path
) -> None:
    for number in range(3):
        talk.say(
            f"s-{number}",
            "good morning",
            result("A", "payload"),
            f"the kestrel number{number} ships on Friday",
            key=f"agent:main:api:s{number}",
        )
    index = MemoryIndex(
        workspace=tmp_path,
        database=tmp_path / "m.sqlite",
        settings=MemorySettings(),
        embedder=FakeEmbedder(),
        documents=documents(talk, lines=0),
    )
    (tmp_path / "MEMORY.md").write_text("The kestrel is a bird.\n")

    every = (await index.search("kestrel Friday", min_score=0)).hits
    one = (
        await index.search("kestrel Friday", min_score=0, visible=lambda path: path == "sessions/s-1.jsonl")
    ).hits
    await index.aclose()

    assert {(hit.path, hit.source) for hit in every} == {
        ("MEMORY.md", "memory"),
        *((f"sessions/s-{number}.jsonl", "sessions") for number in range(3)),
    }
    assert {hit.path for hit in one} == {"sessions/s-1.jsonl"}
    assert (one[0].start_line, one[0].end_line) == (2, 4)
    assert one[0].snippet == "User: good morning\n\nUser: the kestrel number1 ships on Friday"
