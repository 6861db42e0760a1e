"""The path to the last leaf, whatever the lines say of their parents."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.entries import Compacted
from sessions.lines import BadLine
from sessions.messages import Json, JsonObject
from sessions.tree import Tree, free_id
from tests.sessions.making import AT

ids = st.sampled_from(["a", "b", "c", "d", "e"])


def line(entry_id: Json, parent: Json) -> JsonObject:
    return {"type": "label", "id": entry_id, "parentId": parent}


def path_of(*lines: JsonObject, version: int = 3) -> list[str]:
    tree = Tree(version=version, at=AT)
    for stored in lines:
        tree.add(stored)
    return [entry.id for entry in tree.path()]


def test_a_straight_chain_is_its_own_path() -> None:
    assert path_of(line("a", None), line("b", "a"), line("c", "b")) == ["a", "b", "c"]


def test_of_two_branches_the_one_with_the_last_line_counts() -> None:
    assert path_of(line("a", None), line("b", "a"), line("c", "b"), line("d", "a")) == ["a", "d"]


def test_a_second_root_begins_anew() -> None:
    assert path_of(line("a", None), line("b", "a"), line("c", None)) == ["c"]


def test_a_missing_parent_is_the_line_before() -> None:
    assert path_of(line("a", None), line("c", "lost"), line("d", "c")) == ["a", "c", "d"]


def test_an_entry_after_a_missing_first_parent_is_a_root() -> None:
    assert path_of(line("b", "lost"), line("c", "b")) == ["b", "c"]


@pytest.mark.parametrize(
    ("second", "third"),
    [(line("b", "b"), line("c", "b")), (line("b", "c"), line("c", "b"))],
    ids=["its own parent", "two of each other"],
)
def test_a_circle_of_parents_ends(second: JsonObject, third: JsonObject) -> None:
    assert path_of(line("a", None), second, third) == ["a", "b", "c"]


@pytest.mark.parametrize("parent", [3, ["a"], {"id": "a"}, False], ids=str)
def test_a_parent_that_is_no_text_is_the_line_before(parent: Json) -> None:
    assert path_of(line("a", None), line("b", "a"), line("c", parent)) == ["a", "b", "c"]


def test_a_line_without_ids_is_given_a_free_one_after_the_line_before() -> None:
    assert path_of(line("a", None), line("00000003", "a"), {"type": "x"}) == ["a", "00000003", "00000004"]


def test_the_chain_names_the_parents_that_hold() -> None:
    tree = Tree(version=3, at=AT)
    for stored in (line("a", None), line("c", "lost")):
        tree.add(stored)

    assert [entry.parent_id for entry in tree.path()] == [None, "a"]


def test_a_doubled_id_means_the_later_line() -> None:
    assert path_of(line("a", None), line("b", "a"), line("b", "b"), line("c", "b")) == ["a", "b", "b", "c"]


def test_version_1_is_one_chain_and_counts_its_lines_from_the_header() -> None:
    tree = Tree(version=1, at=AT)
    lines: list[JsonObject] = [
        {"type": "label"},
        {"type": "label"},
        {"type": "compaction", "summary": "s", "firstKeptEntryIndex": 2, "tokensBefore": 5},
        {"type": "label", "id": "mine", "parentId": None},
    ]
    for stored in lines:
        tree.add(stored)

    path = tree.path()

    assert [entry.id for entry in path] == ["00000001", "00000002", "00000003", "mine"]
    assert path[2].body == Compacted(summary="s", first_kept_id="00000002", tokens_before=5)


@pytest.mark.parametrize("index", [0, 99, "2", None], ids=str)
def test_an_index_of_version_1_that_points_nowhere_keeps_nothing(index: Json) -> None:
    tree = Tree(version=1, at=AT)
    tree.add({"type": "label"})
    tree.add({"type": "compaction", "summary": "s", "firstKeptEntryIndex": index})

    assert tree.path()[1].body == Compacted(summary="s", first_kept_id="", tokens_before=0)


def test_an_object_without_a_type_is_no_entry() -> None:
    with pytest.raises(BadLine):
        Tree(version=3, at=AT).add({"id": "a"})


def test_a_free_id_passes_over_the_taken_ones() -> None:
    assert free_id({"0000000a", "0000000b"}, 10) == "0000000c"


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(ids, st.none() | ids | st.just("lost")), max_size=12))
def test_every_path_ends_and_is_a_chain_in_the_order_of_the_file(
    lines: list[tuple[str, str | None]],
) -> None:
    tree = Tree(version=3, at=AT)
    for entry_id, parent in lines:
        tree.add(line(entry_id, parent))

    path = tree.path()

    assert len(path) <= len(lines)
    assert [entry.parent_id for entry in path] == [None, *(entry.id for entry in path)][: len(path)]
    assert [entry.id for entry in path[-1:]] == [entry_id for entry_id, _ in lines[-1:]]
