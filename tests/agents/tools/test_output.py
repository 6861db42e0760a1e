"""Output of a command: all of it when short, two ends and a file when long, always clean text."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.tools.output import Output, Shown, clean


async def collect(folder: Path, *pieces: bytes, max_chars: int = 100) -> Shown:
    output = Output(max_chars=max_chars, folder=folder, stem="exec-x")
    for piece in pieces:
        await output.add(piece)
    return await output.show()


@pytest.mark.parametrize(("length", "kept"), [(0, False), (99, False), (100, False), (101, True)])
async def test_output_is_kept_in_a_file_only_when_it_is_too_long(
    tmp_path: Path, length: int, kept: bool
) -> None:
    shown = await collect(tmp_path / "media", b"x" * length)

    assert (shown.path is not None) is kept
    assert (tmp_path / "media").exists() is kept
    if not kept:
        assert shown.text == "x" * length


@pytest.mark.parametrize("size", [101, 400, 401, 800, 801, 5000])
@pytest.mark.parametrize("piece", [7, 400, 5000])
async def test_the_file_holds_every_byte_and_the_text_both_ends(
    tmp_path: Path, size: int, piece: int
) -> None:
    data = b"".join(b"%05d\n" % number for number in range(size // 6 + 1))[:size]

    shown = await collect(tmp_path, *(data[at : at + piece] for at in range(0, size, piece)))

    assert shown.path is not None
    assert shown.path.read_bytes() == data
    assert shown.path.stat().st_mode & 0o777 == 0o600
    head, tail = shown.text.split("\n[… cut …]\n")
    assert (len(head), len(tail)) == (33, 67)
    assert data.decode().startswith(head)
    assert data.decode().endswith(tail)


async def test_two_outputs_at_the_same_time_have_a_file_each(tmp_path: Path) -> None:
    first = await collect(tmp_path, b"a" * 500)
    second = await collect(tmp_path, b"b" * 500)

    assert [first.path, second.path] == [tmp_path / "exec-x-1.txt", tmp_path / "exec-x-2.txt"]


async def test_a_file_that_cannot_be_written_is_told_and_the_ends_are_shown(tmp_path: Path) -> None:
    (tmp_path / "media").write_text("a file")

    shown = await collect(tmp_path / "media", b"x" * 5000)

    assert shown.path is None
    assert "could not be kept" in shown.note
    assert shown.text.startswith("xxx")


async def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208

    await collect(tmp_path, b"x" * 5000)

    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b[1;31mred\x1b[0m \x1b[2K\x1b[?25lx", "red x"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
        (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
        (b"caf\xe9 \xff", "caf\ufffd \ufffd"),
        (b"a\0b\x08c\td", "a\ufffdb\ufffdc\td"),
        ("olá 日本".encode(), "olá 日本"),
    ],
    ids=["colours", "strings", "carriage returns", "not utf-8", "controls", "text"],
)
def test_terminal_output_becomes_plain_text(data: bytes, text: str) -> None:
    assert clean(data) == text


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=200))
def test_no_control_character_remains(data: bytes) -> None:
    assert all(
        character.isprintable() or character in "\n\t" or ord(character) > 0x7E for character in clean(data)
    )
