"""Where sections go: names, limits, and files that are there already."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.layers.shelf import SLUG_CHARS, TOPIC_BYTES, Leaving, Shelf, is_undated, joined, slug


def leaving(title: str = "Boiler", body: str = "- a fact", *led: str, source: str = "MEMORY.md") -> Leaving:
    return Leaving(title=title, body=body, source=source, led=led)


def put(files: dict[str, str | None], one: Leaving) -> tuple[str, str | None]:
    shelf = Shelf(files)
    chosen = shelf.choose(one)
    shelf.put(chosen)
    assert chosen.new is (chosen.path not in files)
    return chosen.path, shelf.files[chosen.path]


def test_a_short_section_becomes_a_topic_file() -> None:
    assert put({}, leaving()) == ("memory/boiler.md", "# Boiler (from MEMORY.md)\n\n- a fact\n")


@pytest.mark.parametrize(
    ("size", "folder"), [(TOPIC_BYTES - 1, "memory"), (TOPIC_BYTES, "memory"), (TOPIC_BYTES + 1, "reference")]
)
def test_4096_bytes_are_the_limit_of_a_topic_file(size: int, folder: str) -> None:
    frame = len("# Boiler (from MEMORY.md)\n\n\n")

    path, text = put({}, leaving(body="é" + "x" * (size - frame - 2)))

    assert path == f"{folder}/boiler.md"
    assert text is not None
    assert len(text.encode()) == size


def test_a_topic_file_is_added_to_while_it_stays_small() -> None:
    path, text = put({"memory/boiler.md": "# Boiler\n\n- old"}, leaving())

    assert path == "memory/boiler.md"
    assert text == "# Boiler\n\n- old\n\n## Boiler (from MEMORY.md)\n\n- a fact\n"


@pytest.mark.parametrize(
    "there", ["x" * TOPIC_BYTES, None], ids=["it would grow too large", "it is no text that can be added to"]
)
def test_otherwise_the_next_name_is_taken(there: str | None) -> None:
    assert put({"memory/boiler.md": there}, leaving())[0] == "memory/boiler-2.md"
    assert put({"memory/boiler.md": there, "memory/boiler-2.md": there}, leaving())[0] == "memory/boiler-3.md"


def test_a_file_of_reference_is_added_to_only_when_a_pointer_leads_there() -> None:
    body = "x" * TOPIC_BYTES
    files: dict[str, str | None] = {"reference/boiler.md": "mine\n", "reference/heat.md": "mine\n"}

    assert put(files, leaving("Boiler", body))[0] == "reference/boiler-2.md"
    assert put(files, leaving("Boiler", body, "reference/heat.md"))[0] == "reference/heat.md"


@pytest.mark.parametrize("led", ["reference/boiler.md", "memory/gone.md", "../x.md", "memory/2026-01-01.md"])
def test_a_pointer_elsewhere_decides_nothing(led: str) -> None:
    files: dict[str, str | None] = {"reference/boiler.md": "a", "memory/2026-01-01.md": "b"}

    assert put(files, leaving("Boiler", "- a", led))[0] == "memory/boiler.md"


def test_a_name_in_another_case_is_the_same_file() -> None:
    assert put({"memory/Boiler.md": "- old\n"}, leaving())[0] == "memory/Boiler.md"


@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("Casa & Jardim: ção", "memory/casa-jardim-cao.md"),
        ("2026-03-04 decisions", "memory/memory-2026-03-04-decisions.md"),
        ("!?", "memory/memory-notes.md"),
        ("", "memory/memory-notes.md"),
        ("../../etc/passwd", "memory/etc-passwd.md"),
        ("记忆 が", "memory/记忆-が.md"),
        ("snake_case `x`", "memory/snake-case-x.md"),
    ],
)
def test_names_are_made_of_the_title(title: str, path: str) -> None:
    assert put({}, leaving(title))[0] == path


def test_a_section_added_keeps_one_empty_line_before_it() -> None:
    assert joined("", "## x\n") == "## x\n"
    assert joined("a", "## x\n") == joined("a\n", "## x\n") == joined("a\n\n", "## x\n") == "a\n\n## x\n"


@given(st.text(max_size=120))
def test_a_slug_is_a_safe_short_name(title: str) -> None:
    name = slug(title)

    assert len(name) <= SLUG_CHARS
    assert not set(name) & set("/\\. \0\n")
    assert not name.startswith("-")
    assert slug(name) == name


@given(st.lists(st.text(alphabet="ab 2026-", max_size=12), max_size=8), st.sampled_from([5, TOPIC_BYTES]))
def test_all_that_is_put_is_there(titles: list[str], size: int) -> None:
    shelf = Shelf({})

    for number, title in enumerate(titles):
        body = f"fact {number} " + "x" * size
        chosen = shelf.choose(leaving(title, body))
        shelf.put(chosen)
        path, text = chosen.path, chosen.text
        assert text.endswith(chosen.added)
        assert body in text
        assert is_undated(path)
    assert sum((text or "").count("fact") for text in shelf.files.values()) == len(titles)
