"""agents/recall.py: another agent's notes beside one's own, labelled, and never written."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agents.recall import Recall
from agents.visibility import Caller, notes_alone
from memory.embed.embedder import MemoryUnavailable
from memory.files import MemoryRefused
from memory.hybrid import SearchHit, SearchResult
from memory.index import MemoryIndex
from memory.settings import MemorySettings, SearchSettings
from sessions.key import SessionKey
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.memory import FakeMemory

GROUP = Caller(key=SessionKey.parse("agent:a:telegram:group:-7"), private=False)


class Family:
    """Agents a and b, each with a workspace and an index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.indexes = {name: self._index(name) for name in ("a", "b")}

    def recall(self, *, max_results: int = 6) -> Recall:
        return Recall(
            own=self.indexes["a"],
            others={"b": self.indexes["b"]},
            max_results=max_results,
            min_score=0.0,
        )

    def write(self, agent: str, path: str, text: str) -> None:
        place = self.folder / agent / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def database(self, agent: str) -> Path:
        return self.folder / f"{agent}.sqlite"

    def _index(self, name: str) -> MemoryIndex:
        (self.folder / name).mkdir()
        return MemoryIndex(
            workspace=self.folder / name,
            database=self.database(name),
            settings=MemorySettings(search=SearchSettings()),
            embedder=FakeEmbedder(),
        )


@pytest.fixture
async def family(tmp_path: Path) -> AsyncIterator[Family]:
    async with AsyncExitStack() as stack:
        made = Family(tmp_path)
        for index in made.indexes.values():
            stack.push_async_callback(index.aclose)
        yield made


def found(result: SearchResult) -> set[tuple[str, str]]:
    return {(hit.agent, hit.path) for hit in result.hits}


async def test_the_notes_of_both_are_found_and_labelled(family: Family) -> None:
    family.write("a", "memory/x.md", "the kestrel is mine\n")
    family.write("b", "memory/y.md", "the kestrel of b\n")
    await family.indexes["b"].sync()

    result = await family.recall().search("kestrel")

    assert found(result) == {("", "memory/x.md"), ("b", "memory/y.md")}
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert len((await family.recall(max_results=1).search("kestrel")).hits) == 1


async def test_the_other_index_is_taken_as_it_is(family: Family) -> None:
    family.write("b", "memory/y.md", "the kestrel of b\n")

    assert found(await family.recall().search("kestrel")) == set()
    assert not family.database("b").exists()

    await family.indexes["b"].sync()
    family.write("b", "memory/z.md", "another kestrel\n")
    before = family.database("b").read_bytes(), family.database("b").stat().st_mtime_ns

    assert found(await family.recall().search("kestrel")) == {("b", "memory/y.md")}
    assert (family.database("b").read_bytes(), family.database("b").stat().st_mtime_ns) == before


async def test_where_others_read_along_nobodys_memory_file_is_shown(family: Family) -> None:
    for agent in ("a", "b"):
        family.write(agent, "MEMORY.md", "the kestrel is secret\n")
        family.write(agent, "memory/x.md", "the kestrel ships\n")
        await family.indexes[agent].sync()

    everything = await family.recall().search("kestrel")
    shown = await family.recall().search("kestrel", visible=notes_alone(GROUP))

    assert ("b", "MEMORY.md") in found(everything)
    assert found(shown) == {("", "memory/x.md"), ("b", "memory/x.md")}


async def test_talks_of_another_agent_are_never_shown() -> None:
    talk = SearchHit(
        path="sessions/s.jsonl",
        start_line=2,
        end_line=2,
        score=0.9,
        vector_score=0.9,
        text_score=0.9,
        snippet="User: kestrel",
        source="sessions",
    )
    recall = Recall(own=_Engine(), others={"b": _Engine((talk,))}, max_results=6, min_score=0.0)

    assert (await recall.search("kestrel", visible=lambda path: True)).hits == ()


async def test_another_memory_that_fails_is_a_warning_and_ones_own_an_error() -> None:
    lame = Recall(own=_Engine(), others={"b": _Engine(unavailable="gone")}, max_results=6, min_score=0.0)

    assert (await lame.search("x")).warning == "The notes of agent b cannot be searched: gone"
    with pytest.raises(MemoryUnavailable):
        await Recall(
            own=_Engine(unavailable="gone"), others={"b": _Engine()}, max_results=6, min_score=0
        ).search("x")


async def test_a_file_is_read_from_those_that_are_named(family: Family) -> None:
    family.write("b", "memory/y.md", "of b\n")

    note = await family.recall().read("memory/y.md", agent="b")

    assert note.text == "of b"
    with pytest.raises(MemoryRefused, match="Allowed: b"):
        await family.recall().read("memory/y.md", agent="c")


class _Engine(MemoryIndex):
    """Answers what it is told, without files."""

    def __init__(self, hits: tuple[SearchHit, ...] = (), *, unavailable: str | None = None) -> None:
        self._fake = FakeMemory(hits=hits, unavailable=unavailable)

    async def search(self, query: str, **wanted: object) -> SearchResult:
        visible = wanted.get("visible")
        assert visible is None or callable(visible)
        return await self._fake.search(query, visible=visible)
