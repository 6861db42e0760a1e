"""Bootstrap files cut to size: limits at, below and above, shares, and the marker."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.bootstrap import LEAST_ROOM, NAMES, BootstrapFile, Source, fit, truncate

TEXT = st.text(alphabet=st.sampled_from("ab \nç日"), min_size=1, max_size=3000)


def source(text: str, name: str = "AGENTS.md") -> Source:
    return Source(name=name, head=text, tail=None, size=len(text))


def one(text: str, *, max_chars: int = 1000, total: int = 60_000) -> BootstrapFile:
    (file,) = fit([source(text)], max_chars=max_chars, total_max_chars=total)
    return file


@pytest.mark.parametrize(("length", "truncated"), [(999, False), (1000, False), (1001, True)])
def test_a_file_is_cut_only_above_its_limit(length: int, truncated: bool) -> None:
    file = one("x" * length)

    assert file.truncated is truncated
    assert file.raw_chars == length
    assert len(file.injected) == min(length, 1000)


def test_three_quarters_of_what_the_marker_leaves_are_the_beginning() -> None:
    text = "".join(f"line {number}\n" for number in range(5000))

    injected = truncate(source(text), 20_000)

    head, marker, tail = (
        injected.partition("\n\n[…")[0],
        injected.split("\n\n")[-2],
        injected.split("…]\n\n")[1],
    )
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(injected) == 20_000
    assert len(head) == int((len(head) + len(tail)) * 0.75)
    assert f"first {len(head)} and last {len(tail)} characters of {len(text)} characters" in marker
    assert f'read path "AGENTS.md", from_line {head.count(chr(10)) + 1}' in marker


@settings(max_examples=60, deadline=None)
@given(text=TEXT, limit=st.integers(LEAST_ROOM, 2500))
def test_what_is_shown_is_a_beginning_a_marker_and_an_end_within_the_limit(text: str, limit: int) -> None:
    file = one(text, max_chars=limit)

    assert len(file.injected) <= limit
    assert file.truncated is (len(text) > limit)
    if file.truncated:
        head, _, rest = file.injected.partition("\n[…" if limit < 300 else "\n\n[…")
        assert text.startswith(head.rstrip("\n"))
        assert "AGENTS.md" in rest
        assert text.endswith(rest.rpartition("…]\n")[2].removeprefix("\n"))


@settings(max_examples=60, deadline=None)
@given(lengths=st.lists(st.integers(1, 4000), min_size=1, max_size=8), total=st.integers(0, 9000))
def test_all_files_together_stay_within_the_total_in_their_order(lengths: list[int], total: int) -> None:
    sources = [source("x" * length, name) for length, name in zip(lengths, NAMES, strict=False)]

    files = fit(sources, max_chars=2000, total_max_chars=total)

    assert [file.name for file in files] == [item.name for item in sources]
    assert sum(len(file.injected) for file in files) <= total
    assert all(
        file.truncated is (file.injected != item.head) for file, item in zip(files, sources, strict=True)
    )


@pytest.mark.parametrize(("total", "shown"), [(1064, True), (1063, False)])
def test_a_file_that_finds_no_room_is_left_empty_and_said_to_be_cut(total: int, shown: bool) -> None:
    first, second = fit(
        [source("x" * 1000), source("y" * 500, "MEMORY.md")], max_chars=1000, total_max_chars=total
    )

    assert not first.truncated
    assert second.truncated
    assert bool(second.injected) is shown
    assert second.raw_chars == 500


def test_a_file_of_which_only_the_ends_were_read_names_its_size_in_bytes() -> None:
    large = Source(name="MEMORY.md", head="h" * 8000, tail="t" * 8000, size=52_428_800)

    injected = truncate(large, 2000)

    assert len(injected) == 2000
    assert injected.startswith("hhh")
    assert injected.endswith("ttt")
    assert "of 52428800 bytes" in injected
