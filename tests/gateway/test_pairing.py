"""Codes, approvals and what they survive."""

import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from gateway.pairing import ALPHABET, MAX_LINES, PairingStore
from gateway.views import Refused
from tests.fakes.protocols import FakeClock

HOUR = timedelta(hours=1)
INSTANT = timedelta(microseconds=1000)
ROOT = Path(__file__).parents[2]

Open = Callable[[], PairingStore]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journals" / "pairing.jsonl"


@pytest.fixture
def fresh(path: Path, clock: FakeClock) -> Iterator[Open]:
    """Opens the store of `path`, again and again as a new process would."""
    seeds, stores = count(), []

    def random(size: int) -> bytes:
        return bytes((next(seeds) * 37 + place * 11) % 256 for place in range(size))

    def made() -> PairingStore:
        stores.append(PairingStore.open(path, clock=clock, random=random))
        return stores[-1]

    yield made
    for store in stores:
        store.close()


@pytest.fixture
def store(fresh: Open) -> PairingStore:
    return fresh()


def ask(store: PairingStore, sender: str = "5", account: str = "default") -> str | None:
    return store.request("telegram", account, sender, f"name of {sender}")


def code_of(store: PairingStore, sender: str = "5") -> str:
    code = ask(store, sender)
    assert code is not None
    return code


def test_a_code_has_eight_characters_that_nobody_mistakes(store: PairingStore) -> None:
    assert re.fullmatch(f"[{ALPHABET}]{{8}}", code_of(store))
    assert len(ALPHABET) == 32
    assert not set("IO01") & set(ALPHABET)


def test_an_approved_stranger_is_known_at_that_account_alone(store: PairingStore) -> None:
    approval = store.approve(code_of(store))

    assert (approval.sender, approval.name, approval.owner) == ("5", "name of 5", False)
    assert store.paired("telegram", "default") == {"5"}
    assert store.paired("telegram", "other") == store.paired("discord", "default") == frozenset()
    assert store.pending() == []
    assert store.owners() == frozenset()


@pytest.mark.parametrize("spelled", [str.lower, lambda code: f" {code[:4]}-{code[4:]} \n"])
def test_a_code_may_be_typed_as_people_type(store: PairingStore, spelled: Callable[[str], str]) -> None:
    store.approve(spelled(code_of(store)))

    assert store.paired("telegram", "default") == {"5"}


def test_a_code_counts_once(store: PairingStore) -> None:
    code = code_of(store)
    store.approve(code)

    with pytest.raises(Refused, match="No stranger waits"):
        store.approve(code)


def test_a_code_holds_for_one_hour(store: PairingStore, clock: FakeClock) -> None:
    code, other = code_of(store), code_of(store, "6")
    clock.now += HOUR - INSTANT
    store.approve(code)
    clock.now += INSTANT

    with pytest.raises(Refused):
        store.approve(other)


def test_a_stranger_is_told_once_an_hour(store: PairingStore, clock: FakeClock) -> None:
    assert ask(store)
    assert ask(store) is None
    clock.now += HOUR - INSTANT
    assert ask(store) is None
    clock.now += INSTANT
    assert ask(store)


def test_a_denied_stranger_is_not_told_again_within_the_hour(store: PairingStore, clock: FakeClock) -> None:
    store.deny(code_of(store))

    assert ask(store) is None
    clock.now += HOUR
    assert ask(store)


def test_three_may_wait_at_an_account(store: PairingStore, clock: FakeClock) -> None:
    for sender in ("1", "2", "3"):
        assert ask(store, sender)

    assert ask(store, "4") is None
    assert ask(store, "4", account="other")
    clock.now += HOUR
    assert ask(store, "4")


def test_a_request_can_be_denied_by_its_id(store: PairingStore) -> None:
    ask(store)

    assert store.deny(store.pending()[0].id.upper()).sender == "5"
    assert store.pending() == []


def test_five_wrong_codes_lock_for_an_hour(store: PairingStore, clock: FakeClock) -> None:
    for _ in range(4):
        with pytest.raises(Refused, match="No stranger waits"):
            store.approve("WRONGXYZ")
    store.approve(code_of(store, "1"))
    for _ in range(5):
        with pytest.raises(Refused, match="No stranger waits"):
            store.deny("WRONGXYZ")
    code = code_of(store, "2")

    with pytest.raises(Refused, match="locked for 60 more minutes") as refused:
        store.approve(code)
    assert refused.value.status == 429
    clock.now += HOUR - INSTANT
    with pytest.raises(Refused, match="locked"):
        store.approve("WRONGXYZ")
    clock.now += INSTANT
    store.approve(code_of(store, "3"))


def test_the_lock_outlives_the_process(fresh: Open) -> None:
    first = fresh()
    code = code_of(first)
    for _ in range(5):
        with pytest.raises(Refused):
            first.approve("WRONGXYZ")
    first.close()

    with pytest.raises(Refused, match="locked"):
        fresh().approve(code)


def test_wrong_codes_over_a_long_time_lock_nothing(store: PairingStore, clock: FakeClock) -> None:
    for _ in range(12):
        with pytest.raises(Refused, match="No stranger waits"):
            store.approve("WRONGXYZ")
        clock.now += HOUR / 4

    store.approve(code_of(store))


def test_an_owner_is_approved_as_one_and_stays_one(store: PairingStore, clock: FakeClock) -> None:
    store.approve(code_of(store), owner=True)
    assert store.owners() == {"telegram:5"}

    clock.now += HOUR
    store.approve(code_of(store))
    assert store.owners() == {"telegram:5"}


def test_a_revoked_person_is_a_stranger_and_no_owner(store: PairingStore) -> None:
    store.approve(code_of(store), owner=True)

    gone = store.revoke("telegram", "5")

    assert [one.sender for one in gone] == ["5"]
    assert store.paired("telegram", "default") == store.owners() == frozenset()
    with pytest.raises(Refused, match="Nobody with the id 5"):
        store.revoke("telegram", "5")


def test_an_approval_is_revoked_where_it_was_given(store: PairingStore) -> None:
    store.approve(code_of(store))
    other = ask(store, account="other")
    assert other is not None
    store.approve(other)

    store.revoke("telegram", "5", account="other")

    assert store.paired("telegram", "default") == {"5"}


def test_everything_outlives_the_process(fresh: Open, clock: FakeClock) -> None:
    first = fresh()
    first.approve(code_of(first), owner=True)
    waiting = code_of(first, "6")
    first.chat_moved("telegram", "default", old="-100", new="-1009")
    first.chat_moved("telegram", "default", old="-100", new="-1009")
    first.close()

    second = fresh()

    assert second.paired("telegram", "default") == {"5"}
    assert second.owners() == {"telegram:5"}
    assert second.moved("telegram", "default") == {"-1009": "-100"}
    assert second.approve(waiting).sender == "6"


def test_what_one_process_writes_another_sees(fresh: Open) -> None:
    gateway, cli = fresh(), fresh()
    code = code_of(gateway)

    cli.approve(code)

    assert gateway.paired("telegram", "default") == {"5"}
    with pytest.raises(Refused):
        gateway.approve(code)
    gateway.revoke("telegram", "5")
    assert cli.paired("telegram", "default") == frozenset()


def test_a_real_second_process_approves_while_this_one_runs(
    store: PairingStore, path: Path, clock: FakeClock
) -> None:
    code = code_of(store)
    script = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from gateway.pairing import PairingStore\n"
        "now = datetime.fromisoformat(sys.argv[2])\n"
        "store = PairingStore.open(Path(sys.argv[3]), clock=lambda: now, random=bytes)\n"
        "store.approve(sys.argv[1])"
    )

    subprocess.run(
        [sys.executable, "-c", script, code, clock.now.isoformat(), str(path)],
        cwd=ROOT,
        check=True,
        timeout=120,
    )

    assert store.paired("telegram", "default") == {"5"}


def test_neither_file_nor_log_holds_a_code(
    store: PairingStore, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    code = code_of(store)
    other = code_of(store, "6")
    store.approve(code)
    store.deny(other)

    written = path.read_text(encoding="utf-8") + caplog.text + repr(store.pending())
    assert code not in written
    assert other not in written


def test_the_file_is_closed_to_other_users(store: PairingStore, path: Path) -> None:
    ask(store)

    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "approved", "id": "x"}',
        '{"kind": "new", "at": "2026-01-01T00:00:00Z"}',
        "not json",
        '{"kind": 1}',
    ],
)
def test_a_file_that_cannot_be_read_whole_lets_in_nobody(
    fresh: Open, path: Path, caplog: pytest.LogCaptureFixture, line: str
) -> None:
    first = fresh()
    first.approve(code_of(first), owner=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")

    assert first.paired("telegram", "default") == first.owners() == frozenset()
    assert ask(first, "6") is None
    assert [record.levelname for record in caplog.records].count("ERROR") == 1
    assert "line 3" in (first.problem or "")
    with pytest.raises(Refused, match="cannot be read"):
        first.approve("ABCDEFGH")


def test_a_file_that_is_mended_lets_them_in_again(fresh: Open, path: Path) -> None:
    first = fresh()
    first.approve(code_of(first))
    good = path.read_bytes()
    path.write_bytes(good + b"broken\n")
    assert first.paired("telegram", "default") == frozenset()

    path.write_bytes(good)

    assert first.paired("telegram", "default") == {"5"}
    assert first.problem is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_of_somebody_else_lets_in_nobody(fresh: Open, path: Path) -> None:
    first = fresh()
    first.approve(code_of(first))
    first.close()
    path.chmod(0)

    second = fresh()

    assert second.paired("telegram", "default") == frozenset()
    assert "Permission denied" in (second.problem or "")


def test_a_folder_in_its_place_lets_in_nobody(fresh: Open, path: Path) -> None:
    path.mkdir(parents=True)

    store = fresh()

    assert store.paired("telegram", "default") == frozenset()
    assert "cannot be read" in (store.problem or "")
    assert ask(store) is None


def test_a_line_that_a_kill_cut_off_is_as_if_it_had_not_been_written(fresh: Open, path: Path) -> None:
    first = fresh()
    first.approve(code_of(first))
    with path.open("ab") as file:
        file.write(b'{"kind": "revoked", "cha')

    assert first.paired("telegram", "default") == {"5"}
    assert ask(first, "6")
    assert fresh().paired("telegram", "default") == {"5"}
    assert b'"cha\n' not in path.read_bytes()


def test_a_missing_file_is_read_as_an_empty_one(path: Path, clock: FakeClock) -> None:
    store = PairingStore.open(path, clock=clock, random=bytes, create=False)

    assert store.pending() == []
    assert store.approvals() == []
    assert store.problem is None
    assert not path.exists()


def test_a_long_file_keeps_who_was_let_in(fresh: Open, path: Path, clock: FakeClock) -> None:
    first = fresh()
    first.approve(code_of(first))
    first.close()
    line = '{"kind": "wrong", "at": "2026-01-01T00:00:00.000Z"}\n'
    with path.open("a", encoding="utf-8") as file:
        file.write(line * MAX_LINES)
    clock.now += 3 * HOUR

    second = fresh()

    assert second.paired("telegram", "default") == {"5"}
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1
