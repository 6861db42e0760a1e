"""Ended sessions owe a note until it is written, also over a kill."""

from datetime import timedelta
from pathlib import Path

from gateway.endings import TRIES, Ending, Endings
from sessions.key import SessionKey
from tests.fakes.protocols import START

KEY = SessionKey(agent="main", kind="main")


def ending(name: str, *, minutes: int = 0) -> Ending:
    return Ending(key=KEY, session_id=name, event="new", at=START + timedelta(minutes=minutes))


def test_what_is_owed_is_owed_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "endings.jsonl"
    endings = Endings.open(path)
    endings.add(ending("later", minutes=5))
    endings.add(ending("first"))
    endings.add(ending("done"))
    endings.done(ending("done"))
    endings.close()

    again = Endings.open(path)

    assert again.owed() == [ending("first"), ending("later", minutes=5)]


def test_a_note_that_fails_again_and_again_is_given_up(tmp_path: Path) -> None:
    endings = Endings.open(tmp_path / "endings.jsonl")
    endings.add(ending("cursed"))

    tries = [endings.tried(ending("cursed")) for _ in range(TRIES)]

    assert tries == [True] * TRIES
    assert not endings.tried(ending("cursed"))
    assert endings.owed() == []


def test_tries_are_counted_over_restarts(tmp_path: Path) -> None:
    path = tmp_path / "endings.jsonl"
    for _ in range(TRIES):
        endings = Endings.open(path)
        if not endings.owed():
            endings.add(ending("cursed"))
        assert endings.tried(ending("cursed"))
        endings.close()

    assert not Endings.open(path).tried(ending("cursed"))


def test_a_journal_without_debts_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "endings.jsonl"
    endings = Endings.open(path)
    endings.add(ending("one"))
    endings.done(ending("one"))
    endings.close()

    Endings.open(path).close()

    assert path.read_bytes() == b""
