"""Topic files: small, one fact a line, pointers that resolve, nothing twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.layers.check import check, normalised


def told(
    topics: dict[str, str],
    layer_one: dict[str, str] | None = None,
    reference: dict[str, str] | None = None,
    there: set[str] | None = None,
) -> list[str]:
    """Places and what is wrong there, without the advice."""
    found = check(layer_one or {}, topics, reference or {}, there=there or set())
    return [f"{one.path}:{one.line}: {one.what}" for one in found]


def about(text: str) -> list[str]:
    return [one.removeprefix("memory/a.md:") for one in told({"memory/a.md": text})]


def test_a_good_topic_file_has_nothing_to_mend() -> None:
    text = (
        "# Heating\n\n<!-- checked in May -->\n\n"
        "- The boiler is a Vaillant. → Deep dive: reference/boiler.md\n"
        "- The plumber is Rui.\n  → Mergulho profundo: reference/boiler.md\n\n"
        "The cellar is dry.\nAna has the key.\n"
    )

    assert told({"memory/a.md": text}, there={"reference/boiler.md"}) == []


@pytest.mark.parametrize(("size", "found"), [(4095, 0), (4096, 0), (4097, 1)], ids=["below", "at", "above"])
def test_4096_bytes_are_the_most(size: int, found: int) -> None:
    lines = "".join(f"- fact number {n:04} is here\n" for n in range(200))
    text = lines[: size - 2] + "é"

    assert sum("a topic file holds at most 4,096" in one for one in about(text)) == found
    assert len(text.encode()) == size


@pytest.mark.parametrize(("size", "found"), [(299, 0), (300, 0), (301, 1)], ids=["below", "at", "above"])
def test_a_fact_has_300_characters_at_most(size: int, found: int) -> None:
    assert len(about("- " + "x" * size)) == found
    assert len(about("x" * size + " → Deep dive: memory/b.md".replace("memory/b.md", "<file>"))) == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- one\n  two\n", ["1: one fact over 2 lines"]),
        ("First line that\ngoes on here\n", ["1: one fact over 2 lines"]),
        ("x " * 120 + "\n" + "y " * 40, ["1: 319 characters in one fact"]),
        ("- a\n  - b\n  - c\n", ["2: a list in a list, where each line should be one fact"]),
        ("- a\n\n```\ncode\n```\n", ["3: a block of code, where each line should be one fact"]),
        ("|a|b|\n|-|-|\n|c|d|\n", ["1: a table, where each line should be one fact"]),
        ("<div>\nx\n</div>\n", ["1: a block of HTML, where each line should be one fact"]),
        ("# Head\n\n1. One\n2. Two\n", []),
        ("Fact one.\nFact two.\n", []),
    ],
    ids=[
        "item",
        "wrapped",
        "long and wrapped",
        "nested",
        "code",
        "table",
        "html",
        "numbered",
        "plain lines",
    ],
)
def test_one_fact_a_line(text: str, expected: list[str]) -> None:
    assert about(text) == expected


def test_a_pointer_that_leads_nowhere_is_told_in_layer_one_too() -> None:
    found = told(
        {"memory/a.md": "- x → Deep dive: reference/gone.md"}, {"MEMORY.md": "\n→ Deep dive: ../out.md"}
    )

    assert found == [
        "MEMORY.md:2: the pointer leads to ../out.md, which is no file of the workspace",
        "memory/a.md:1: the pointer leads to reference/gone.md, which is no file of the workspace",
    ]


def test_the_same_line_in_two_layers_is_told_with_both_places() -> None:
    found = told(
        {"memory/a.md": "# X\n\n* the **boiler** is a  Vaillant → Deep dive: <x>\n"},
        {"MEMORY.md": "- The boiler is a Vaillant."},
        {"reference/b.md": "text\n\nThe boiler is a Vaillant\n"},
    )

    assert found == [
        "memory/a.md:3: the same line stands in MEMORY.md:1",
        "reference/b.md:3: the same line stands in MEMORY.md:1",
    ]


def test_the_same_line_twice_in_one_file_is_told() -> None:
    assert about("- Ana has the key\n- Rui is late\n- Ana has the key\n") == [
        "3: the same line stands in memory/a.md:1"
    ]


def test_what_may_be_repeated() -> None:
    reference = {
        "reference/a.md": "sudo apt update now\n",
        "reference/b.md": "sudo apt update now\n\n```\nAna has the key\n```\n",
    }
    topics = {"memory/a.md": "# Notes of the house\n\n- none\n- Ana has the key\n"}

    assert told(topics, {"MEMORY.md": "# Notes of the house\n\n- none\n"}, reference) == []


@pytest.mark.parametrize(("line", "found"), [("- abcde fghijk", 0), ("- abcde fghijkl", 1)])
def test_short_lines_may_stand_anywhere(line: str, found: int) -> None:
    assert len(told({"memory/a.md": line, "memory/b.md": line})) == found


def test_findings_end_in_advice() -> None:
    found = check({}, {"memory/a.md": "- one\n  two"}, {}, there=set())

    assert str(found[0]) == "memory/a.md:1: one fact over 2 lines. Write it on one line."


@given(st.text(max_size=80))
def test_a_normal_form_is_final_for_case_and_blanks(line: str) -> None:
    assert normalised(f"  - {line.strip()}  ") == normalised(f"- {line.strip()}")


@given(st.dictionaries(st.sampled_from(["memory/a.md", "memory/b.md"]), st.text(max_size=200)))
def test_any_text_is_checked_and_the_findings_are_sorted(topics: dict[str, str]) -> None:
    found = check({}, topics, {}, there=set())

    assert list(found) == sorted(found)
    assert all(one.line >= 1 for one in found)
