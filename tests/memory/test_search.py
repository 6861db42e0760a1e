"""What a search finds, and how it scores and shows it."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.hybrid import SearchHit, SearchResult
from tests.fakes.embedder import FakeEmbedder
from tests.memory.conftest import MakeIndex, Notes

CASES = Path(__file__).parents[1] / "cases"
B06 = json.loads((CASES / "B06-fts-queries.json").read_text())
B16 = json.loads((CASES / "B16-cjk-queries.json").read_text())


def stems(result: SearchResult) -> list[str]:
    return [Path(hit.path).stem for hit in result.hits]


def check(notes: Notes, hit: SearchHit) -> None:
    """A snippet is a piece of its file, at the lines that it names."""
    text = (notes.root / hit.path).read_bytes().decode().removeprefix("\ufeff")
    assert hit.snippet in "\n".join(text.split("\n")[hit.start_line - 1 : hit.end_line])
    assert len(hit.snippet) <= 700
    assert 0 < hit.score <= 1
    assert 0 <= hit.vector_score <= 1
    assert 0 <= hit.text_score <= 1


@pytest.mark.parametrize("with_meaning", [False, True])
async def test_b06_every_query_finds_its_note_and_signs_find_nothing(
    notes: Notes, make_index: MakeIndex, *, with_meaning: bool
) -> None:
    notes.write({f"memory/{name}.md": text for name, text in B06["notes"].items()})
    index = make_index(FakeEmbedder() if with_meaning else None)
    for query, name in B06["must_include"]:
        assert name in stems(await index.search(query)), query
    for query in B06["must_be_empty_without_error"]:
        assert (await index.search(query)).hits == (), query


async def test_b06_no_text_is_an_error(notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder) -> None:
    notes.write({"MEMORY.md": 'NEAR AND "quoted" OR (x) * words'})
    index = make_index(embedder)

    @settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.text(max_size=30), min_size=60, max_size=60))
    def ask(queries: list[str]) -> None:
        asked.extend(queries)

    asked: list[str] = ["NEAR(a b)", "a AND", "words:x", "x" * 100_000, "\ud800", "{a}: b", "^a", "a*"]
    ask()
    for query in asked:
        await index.search(query)


@pytest.mark.parametrize("with_meaning", [False, True])
async def test_b16_cjk_notes_are_found_by_words_out_of_longer_runs(
    notes: Notes, make_index: MakeIndex, *, with_meaning: bool
) -> None:
    notes.write({f"memory/{name}.md": text for name, text in B16["notes"].items()})
    index = make_index(FakeEmbedder() if with_meaning else None)
    for query, name in B16["must_include"]:
        assert stems(await index.search(query))[:1] == [name], query
    for query, name in B16["must_not_include"]:
        assert name not in stems(await index.search(query)), query


async def test_b16_one_note_with_many_scripts_is_found_by_each(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"MEMORY.md": (CASES / "B16-cjk-note.md").read_text()})
    index = make_index()
    for query, _ in B16["must_include"]:
        assert stems(await index.search(query)) == ["MEMORY"], query


async def test_b08_more_mentions_in_a_shorter_note_score_higher(notes: Notes, make_index: MakeIndex) -> None:
    filler = (
        "a long sentence about the weather and the harvest in the valley with one bird, the kestrel, in it"
    )
    notes.write({"memory/one.md": "kestrel kestrel kestrel", "memory/two.md": filler})
    notes.write({f"memory/other{i}.md": f"nothing of that kind {i}" for i in range(4)})
    hits = (await make_index().search("kestrel")).hits
    assert [hit.path for hit in hits] == ["memory/one.md", "memory/two.md"]
    assert 1 > hits[0].text_score > hits[1].text_score > 0


async def test_b09_an_exact_identifier_passes_without_any_meaning(
    notes: Notes, make_index: MakeIndex
) -> None:
    notes.write(
        {"memory/a.md": "The ticket TCKT-48213 is about the printer.", "memory/b.md": "Another note."}
    )
    result = await make_index(FakeEmbedder(blind=True)).search("TCKT-48213")
    assert stems(result) == ["a"]
    assert result.hits[0].vector_score == 0


@pytest.mark.parametrize("count", [1, 2, 10])
async def test_a_note_with_all_words_passes_in_an_index_of_any_size(
    notes: Notes, make_index: MakeIndex, count: int
) -> None:
    notes.write({f"memory/n{i}.md": f"The boiler was repaired, visit {i}." for i in range(count)})
    result = await make_index().search("When was the boiler repaired?", max_results=50)
    assert len(result.hits) == count
    assert all(hit.text_score >= 0.5 and hit.score == hit.text_score for hit in result.hits)
    assert result.mode == "keyword"


async def test_meaning_finds_what_words_do_not(notes: Notes, make_index: MakeIndex) -> None:
    embedder = FakeEmbedder(synonyms={"vehicle": "car", "automobile": "car"})
    notes.write({"memory/a.md": "automobile", "memory/b.md": "kitchen sink"})
    result = await make_index(embedder).search("vehicle")
    assert stems(result) == ["a"]
    assert result.hits[0].text_score == 0
    assert (result.mode, result.provider, result.model) == ("hybrid", "fake", "words")


async def test_the_score_is_seven_parts_meaning_and_three_parts_words(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({f"memory/{i}.md": f"garden plan {i} " + "with more words " * i for i in range(5)})
    hits = (await make_index(embedder).search("garden plan", min_score=0)).hits
    for hit in hits:
        assert hit.score == pytest.approx(0.7 * hit.vector_score + 0.3 * hit.text_score)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_a_minimum_of_nothing_gives_the_nearest_however_weak(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    notes.write({f"memory/{i}.md": f"common apple{i} pear{i} plum{i} fig{i}" for i in range(5)})
    question = "common stone iron glass"
    strict = await make_index(embedder).search(question)
    assert strict.relaxed
    assert all(hit.text_score > 0 for hit in strict.hits)
    weak = (await make_index(embedder).search(question, min_score=0, max_results=3)).hits
    assert len(weak) == 3
    assert all(0 < hit.score < 0.35 for hit in weak)


@pytest.mark.parametrize(("asked", "given_back"), [(1, 1), (6, 6), (None, 6), (0, 6), (-5, 1), (9999, 20)])
async def test_the_number_of_results_is_clamped(
    notes: Notes, make_index: MakeIndex, asked: int | None, given_back: int
) -> None:
    notes.write({f"memory/{i}.md": f"garden {i}" for i in range(20)})
    assert len((await make_index().search("garden", max_results=asked)).hits) == given_back


async def test_the_snippet_is_the_passage_that_matched(
    notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder
) -> None:
    lines = [f"line {number} of nothing in particular" for number in range(1, 301)]
    lines[199] = "The spare key lies under the blue flowerpot."
    notes.write({"memory/2026-01-05.md": "\n".join(lines)})
    for index in (make_index(embedder), make_index()):
        hit = (await index.search("spare key flowerpot")).hits[0]
        assert "blue flowerpot" in hit.snippet
        assert hit.start_line <= 200 <= hit.end_line
        assert hit.snippet == "\n".join(lines[hit.start_line - 1 : hit.end_line])


async def test_b11_a_window_of_one_endless_line_has_that_line(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"memory/a.md": "first\n" + (CASES / "B11-single-long-line.md").read_text()})
    (hit, *_) = (await make_index().search("item0100")).hits
    assert "item0100" in hit.snippet
    assert (hit.start_line, hit.end_line) == (2, 2)
    check(notes, hit)


async def test_no_passage_is_shown_twice(notes: Notes, make_index: MakeIndex, embedder: FakeEmbedder) -> None:
    lines = [f"entry {number} about the weather of that day" for number in range(200)]
    lines[33] = "the lighthouse keeper called"
    notes.write({"memory/a.md": "\n".join(lines)})
    hits = (await make_index(embedder).search("lighthouse keeper", min_score=0)).hits
    assert sum("lighthouse" in hit.snippet for hit in hits) == 1


async def test_b14_a_note_from_windows_is_found_and_shown_exactly(
    notes: Notes, make_index: MakeIndex
) -> None:
    raw = (CASES / "B14-crlf-bom-nul.md").read_bytes()
    (notes.root / "MEMORY.md").write_bytes(raw)
    index = make_index()
    for word in ("beta", "zeta"):
        (hit,) = (await index.search(word)).hits
        check(notes, hit)
        assert (hit.start_line, hit.end_line) == (1, 6)
        assert hit.snippet.startswith("# Title")
    assert (await index.read("MEMORY.md", from_line=2, lines=1)).text == "alpha line"
    assert (notes.root / "MEMORY.md").read_bytes() == raw


async def test_a_question_names_words_in_other_forms(notes: Notes, make_index: MakeIndex) -> None:
    notes.write(
        {"memory/a.md": "As reuniões com os fornecedores são às quartas.", "memory/b.md": "Nada disso."}
    )
    assert stems(await make_index().search("reunião com fornecedor")) == ["a"]
