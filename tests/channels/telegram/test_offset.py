"""Up to where a bot's updates are accepted, in memory and on disk."""

import json
import stat
from datetime import timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from channels.telegram.offset import STALE, OffsetFile, Watermark
from tests.channels.telegram.wired import NOON


def test_the_mark_stays_below_what_is_not_accepted_yet() -> None:
    mark = Watermark(10)
    mark.begin(11)
    mark.begin(12)
    mark.done(12)
    assert (mark.low, mark.knows(10), mark.knows(11), mark.knows(12), mark.knows(13)) == (
        10,
        True,
        True,
        True,
        False,
    )
    mark.done(11)
    assert mark.low == 12


def test_what_was_refused_may_come_again() -> None:
    mark = Watermark(None)
    mark.begin(5)
    mark.begin(7)
    mark.done(7)
    mark.forget(5)
    assert not mark.knows(5)
    assert mark.knows(7)


@given(st.data())
def test_the_mark_never_passes_what_is_open(data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(1, 60), unique=True, max_size=20))
    mark, open_, done = Watermark(0), set[int](), set[int]()
    for number in sorted(ids):
        mark.begin(number)
        open_.add(number)
    for number in data.draw(st.permutations(ids)):
        mark.done(number)
        open_.discard(number)
        done.add(number)
        assert mark.low is not None
        assert all(mark.low < one for one in open_)
        assert mark.low in done | {0}
    assert mark.low == max(ids, default=0)


def test_a_file_comes_back_and_is_private(tmp_path: Path) -> None:
    file = OffsetFile(tmp_path / "telegram" / "offset-default.json", 1)
    file.save(42, NOON)
    assert file.load(NOON) == 42
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert [one.name for one in file.path.parent.iterdir()] == [file.path.name]


def test_b48_another_bot_begins_anew(tmp_path: Path) -> None:
    """B48"""
    path = tmp_path / "offset.json"
    path.write_text('{"bot_id": 111111111, "last_update_id": 800000100}', encoding="utf-8")
    assert OffsetFile(path, 111111111).load(NOON) == 800000100
    other = OffsetFile(path, 222222222)
    assert other.load(NOON) is None
    other.save(5001, NOON)
    told = json.loads(path.read_text(encoding="utf-8"))
    assert (told["bot_id"], told["last_update_id"]) == (222222222, 5001)


def test_an_old_offset_is_worthless_because_telegram_numbers_anew(tmp_path: Path) -> None:
    file = OffsetFile(tmp_path / "offset.json", 1)
    file.save(42, NOON)
    assert file.load(NOON + STALE) == 42
    assert file.load(NOON + STALE + timedelta(seconds=1)) is None
    assert file.load(NOON - timedelta(days=30)) == 42


def test_an_unreadable_file_is_no_offset(tmp_path: Path) -> None:
    path = tmp_path / "offset.json"
    assert OffsetFile(path, 1).load(NOON) is None
    for text in ("", "{", '{"bot_id": "x"}', '{"bot_id": 1}', "[]"):
        path.write_text(text, encoding="utf-8")
        assert OffsetFile(path, 1).load(NOON) is None
