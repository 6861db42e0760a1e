"""Pointers in two languages, however they are dressed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.layers.pointers import only_pointer, pointer_to, pointers, without_pointers


@pytest.mark.parametrize(
    "line",
    [
        "→ Deep dive: reference/a.md",
        "- The boiler is a Vaillant. → Deep dive: reference/a.md.",
        "→ Mergulho profundo: reference/a.md",
        "→ mergulho profundo: `reference/a.md`",
        "`→ Deep dive: reference/a.md`",
        "→ **Deep dive:** [the boiler](reference/a.md)",
        "-> Deep dive: ./reference/a.md#valves",
        "fact (→ Deep dive: reference/a.md)",
    ],
)
def test_a_pointer_is_recognised(line: str) -> None:
    assert [(one.line, one.path) for one in pointers(["", line])] == [(2, "reference/a.md")]


@pytest.mark.parametrize(
    "line",
    [
        "`→ Deep dive: reference/<file>.md`",
        "→ Deep dive: reference/*.md",
        "→ Deep dive:",
        "Deep dive: reference/a.md",
        "a → b",
    ],
)
def test_what_leads_nowhere_is_no_pointer(line: str) -> None:
    assert pointers([line]) == []


def test_a_path_in_backticks_may_have_blanks() -> None:
    assert pointers(["→ Deep dive: `reference/my file.md`"])[0].path == "reference/my file.md"


def test_two_pointers_of_one_line_are_two() -> None:
    line = "x → Deep dive: memory/a.md, → Deep dive: memory/b.md"

    assert [one.path for one in pointers([line])] == ["memory/a.md", "memory/b.md"]


@pytest.mark.parametrize(
    ("line", "alone"),
    [
        ("→ Deep dive: memory/a.md\n", True),
        ("- → Mergulho profundo: memory/a.md.", True),
        ("`→ Deep dive: memory/a.md`", True),
        ("The boiler → Deep dive: memory/a.md", False),
        ("→ Deep dive: memory/a.md and the cellar is wet", False),
        ("", False),
    ],
)
def test_a_pointer_may_stand_alone(line: str, *, alone: bool) -> None:
    assert only_pointer(line) is alone


def test_the_rest_of_a_line_is_what_it_says() -> None:
    assert without_pointers("- wet. → Deep dive: memory/a.md") == "- wet. "


@given(st.from_regex(r"(memory|reference)/[a-z0-9][a-z0-9-]{0,20}\.md", fullmatch=True))
def test_what_is_written_is_read_again(path: str) -> None:
    line = pointer_to(path)

    assert [one.path for one in pointers([line])] == [path]
    assert only_pointer(line)
