"""Explanations of hits: as JSON and back, and as a row."""

from dataclasses import replace

import pytest

from gateway.client_values import result_of
from gateway.explained import COLUMNS, parts_json, parts_of, table_row
from gateway.views import search_json
from memory.embed.embedder import FellBack
from memory.hybrid import HitParts, LevelParts, SearchHit, SearchResult

PARTS = HitParts(
    leg="both",
    floor=0.08,
    ceiling=1.0,
    passage=LevelParts(cosine=0.4, calibrated=0.59, bm25=3.5, text_score=0.5),
    chunk=LevelParts(cosine=0.42, calibrated=0.61, bm25=5.25, text_score=0.6),
    fused=0.585,
    decay=0.75,
    mmr=None,
)
WORDS = replace(
    PARTS,
    leg="words",
    floor=None,
    ceiling=None,
    passage=replace(PARTS.passage, cosine=None, calibrated=None),
    mmr=0.25,
)
HIT = SearchHit(
    path="memory/a.md",
    start_line=1,
    end_line=2,
    score=0.4387,
    vector_score=0.6,
    text_score=0.55,
    snippet="x",
    source="memory",
    parts=PARTS,
)
RESULT = SearchResult(
    hits=(HIT,),
    provider="local",
    model="m",
    mode="hybrid",
    relaxed=True,
    fallback=FellBack(from_="openai", to="local", reason="down"),
)


@pytest.mark.parametrize(
    "parts",
    [PARTS, WORDS, replace(PARTS, leg="name"), replace(PARTS, leg="meaning")],
    ids=lambda one: one.leg,
)
def test_an_explanation_survives_its_json(parts: HitParts) -> None:
    assert parts_of(parts_json(parts)) == parts


def test_what_is_no_explanation_is_none() -> None:
    assert parts_of({}) is None
    assert parts_of({"passage": {}, "chunk": 3}) is None


def test_a_result_survives_its_json_with_all_that_explains_it() -> None:
    assert result_of(search_json(RESULT, explain=True)) == RESULT


def test_parts_are_told_only_when_asked_for() -> None:
    assert result_of(search_json(RESULT)).hits[0].parts is None


def test_a_row_has_the_values_of_passage_and_chunk() -> None:
    row = dict(zip(COLUMNS, table_row(HIT), strict=True))
    assert row["leg"] == "both"
    assert row["cosine"] == "0.40 / 0.42"
    assert row["BM25"] == "3.5 / 5.2"
    assert (row["decay"], row["mmr"], row["score"]) == ("0.75", "-", "0.439")
    assert dict(zip(COLUMNS, table_row(replace(HIT, parts=WORDS)), strict=True))["cosine"] == "- / 0.42"


def test_a_row_without_an_explanation_has_its_score() -> None:
    assert table_row(replace(HIT, parts=None))[-1] == "0.439"
