"""What a channel writes is whole or not there, and for its owner's eyes alone."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from channels.channel import FetchError
from channels.storing import store, write_private


async def pieces(*data: bytes, fails: bool = False) -> AsyncIterator[bytes]:
    for one in data:
        yield one
    if fails:
        raise OSError("the connection was cut")


@pytest.mark.parametrize(("limit", "fits"), [(5, False), (6, True), (7, True)])
async def test_a_file_is_stored_up_to_its_limit(tmp_path: Path, limit: int, *, fits: bool) -> None:
    into = tmp_path / "x"
    if fits:
        await store(pieces(b"abc", b"def"), into, max_bytes=limit)
        assert into.read_bytes() == b"abcdef"
        assert into.stat().st_mode & 0o777 == 0o600
    else:
        with pytest.raises(FetchError, match="larger than"):
            await store(pieces(b"abc", b"def"), into, max_bytes=limit)
        assert not into.exists()


async def test_what_was_cut_is_not_left(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cut"):
        await store(pieces(b"abc", fails=True), tmp_path / "x", max_bytes=9)
    assert not (tmp_path / "x").exists()


def test_a_private_file_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x"
    for text in ("one", "two"):
        write_private(path, text)
    assert path.read_text() == "two"
    assert [one.name for one in path.parent.iterdir()] == ["x"]
    assert path.stat().st_mode & 0o777 == 0o600
