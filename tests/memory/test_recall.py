"""What a search does beside scoring: names, age, variety, contexts, deadlines, explanations."""

import asyncio
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from memory.embed.embedder import Kind, Vector
from memory.hybrid import SearchResult
from memory.index import MemoryIndex
from memory.settings import MemorySettings
from tests.fakes.embedder import FakeEmbedder
from tests.memory.conftest import MakeIndex, Notes

TODAY = date(2026, 3, 1)


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result.hits]


def index_of(notes: Notes, tmp_path: Path, embedder: FakeEmbedder | None, **search: object) -> MemoryIndex:
    return MemoryIndex(
        workspace=notes.root,
        database=tmp_path / "own.sqlite",
        settings=MemorySettings.model_validate({"search": search}),
        embedder=embedder,
        today=lambda: TODAY,
    )


@pytest.mark.parametrize("with_meaning", [False, True])
@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("memory/plans/garden.md", "memory/plans/garden.md"),
        ("./memory/plans/garden.md", "memory/plans/garden.md"),
        ("Garden.MD", "memory/plans/garden.md"),
        ("garden", "memory/plans/garden.md"),
        ("memory\\plans\\garden.md", "memory/plans/garden.md"),
        ("café", "memory/Café.md"),
    ],
)
async def test_a_note_that_is_called_by_its_name_comes_first(
    notes: Notes, make_index: MakeIndex, question: str, first: str, *, with_meaning: bool
) -> None:
    notes.write(
        {
            "memory/plans/garden.md": "Tulips and a pond.",
            "memory/Café.md": "Open until six.",
            "memory/other.md": "garden garden garden, see memory/plans/garden.md or the café",
        }
    )
    result = await make_index(FakeEmbedder() if with_meaning else None).search(question)
    assert paths(result)[0] == first
    assert result.hits[0].score == 1
    assert result.hits[0].parts is not None
    assert result.hits[0].parts.leg == "name"


async def test_a_part_of_a_path_is_found_like_a_word(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"memory/insurance-claims/flood.md": "Water in the cellar.", "memory/b.md": "Dry."})
    assert paths(await make_index().search("insurance claims")) == ["memory/insurance-claims/flood.md"]


async def test_a_name_that_may_not_be_seen_is_not_found(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"MEMORY.md": "secret", "memory/a.md": "open"})
    result = await make_index().search("MEMORY.md", visible=lambda path: path != "MEMORY.md")
    assert "MEMORY.md" not in paths(result)


async def test_a_chunk_is_found_by_its_headings_and_its_date(notes: Notes, make_index: MakeIndex) -> None:
    body = "\n".join(f"entry {number} about nothing in particular" for number in range(200))
    notes.write({"memory/2026-01-05.md": f"# Lighthouse\n\n{body}", "memory/2026-01-06.md": body})
    for question in ("lighthouse", "2026-01-05"):
        result = await make_index().search(question, min_score=0.6)
        assert set(paths(result)) == {"memory/2026-01-05.md"}, question
        assert len(result.hits) > 1
        assert not result.hits[-1].snippet.startswith("2026")


@pytest.mark.parametrize("enabled", [False, True])
async def test_age_counts_only_when_it_is_wanted(notes: Notes, tmp_path: Path, *, enabled: bool) -> None:
    notes.write(
        {
            "memory/2019-01-05-old.md": "the boiler was repaired",
            "memory/2026-02-28-new.md": "the boiler was repaired again after some time",
            "MEMORY.md": "the boiler was repaired once more, says the long list of repairs of the house",
        }
    )
    index = index_of(notes, tmp_path, None, temporal_decay={"enabled": enabled})
    result = await index.search("boiler repaired", min_score=0.35)
    await index.aclose()
    assert len(result.hits) == 3
    assert (paths(result)[-1] == "memory/2019-01-05-old.md") is enabled
    ages = {hit.path: hit.parts.decay for hit in result.hits if hit.parts}
    assert ages["MEMORY.md"] == 1
    assert (ages["memory/2019-01-05-old.md"] < 0.51) is enabled


async def test_variety_is_wanted_by_a_setting(notes: Notes, tmp_path: Path) -> None:
    same = {f"memory/{number}.md": "the red car was sold in spring" for number in range(3)}
    notes.write({**same, "memory/x.md": "the car, a blue one, stays in the garage of the neighbour for now"})
    index = index_of(notes, tmp_path, None, mmr={"enabled": True, "lambda": 0.3}, max_results=2)
    result = await index.search("car")
    await index.aclose()
    assert "memory/x.md" in paths(result)
    assert all(hit.parts is not None and hit.parts.mmr is not None for hit in result.hits)


async def test_every_hit_can_be_explained(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({"memory/a.md": "garden plan", "memory/b.md": "garden"})
    for hit in (await make_index(embedder).search("garden plan", min_score=0)).hits:
        parts = hit.parts
        assert parts is not None
        assert (parts.floor, parts.ceiling, parts.leg, parts.decay) == (0.2, 0.8, "both", 1)
        assert parts.passage.calibrated is not None
        assert parts.chunk.calibrated is not None
        assert hit.vector_score == pytest.approx((parts.passage.calibrated + parts.chunk.calibrated) / 2)
        assert hit.text_score == pytest.approx((parts.passage.text_score + parts.chunk.text_score) / 2)
        assert hit.score == parts.fused == pytest.approx(0.7 * hit.vector_score + 0.3 * hit.text_score)


async def test_with_words_alone_there_is_no_cosine(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"memory/a.md": "garden plan"})
    (hit,) = (await make_index().search("garden")).hits
    assert hit.parts is not None
    assert (hit.parts.leg, hit.parts.floor, hit.parts.passage.cosine) == ("words", None, None)


async def test_the_number_of_notes_that_were_searched_is_told(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"memory/a.md": "garden plan", "memory/b.md": "kitchen"})
    assert (await make_index().search("zebra")).files == 2


class SlowQuestions(FakeEmbedder):
    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        if kind == "query":
            await asyncio.sleep(30)
        return await super().embed(texts, kind=kind)


@pytest.mark.parametrize("provider", [None, "auto", "local"])
async def test_a_slow_model_makes_an_answer_of_words_with_a_note(
    notes: Notes, tmp_path: Path, provider: str | None
) -> None:
    notes.write({"memory/a.md": "garden plan"})
    index = index_of(notes, tmp_path, SlowQuestions(), provider=provider, patience_seconds=0.05)
    async with asyncio.timeout(10):
        result = await index.search("garden")
    await index.aclose()
    assert (paths(result), result.mode) == (["memory/a.md"], "keyword")
    assert "took longer than 0.05 s" in (result.warning or "")


async def test_meaning_chooses_the_passage_of_a_long_chunk(notes: Notes, make_index: MakeIndex) -> None:
    lines = [f"entry {number} of nothing" for number in range(60)]
    lines[50] = "an automobile was parked"
    notes.write({"memory/a.md": "\n".join(lines)})
    embedder = FakeEmbedder(synonyms={"vehicle": "car", "automobile": "car"})
    hit = (await make_index(embedder).search("vehicle parked", min_score=0)).hits[0]
    assert "automobile" in hit.snippet
