"""What of a text has to survive word for word."""

import time

import pytest

from sessions.identifiers import Held, identifiers, is_strong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://a.example/b?c=1.", ["https://a.example/b?c=1"]),
        ("write to sam.x+y@mail.example, please", ["sam.x+y@mail.example"]),
        ("in /etc/hosts, ~/x/y.md and ../z", ["/etc/hosts", "~/x/y.md", "../z"]),
        ("C:\\new\\x.txt", ["C:\\new\\x.txt"]),
        ("src/app.py or notes.md, and/or not", ["src/app.py", "notes.md"]),
        ("order ORD-9912 at HEAD-7f3a", ["ORD-9912", "HEAD-7f3a"]),
        ("3b5f9c1e-aaaa-4bbb-8ccc-dddddddddddd", ["3b5f9c1e-aaaa-4bbb-8ccc-dddddddddddd"]),
        ("v1.2.3 on 192.168.1.10:8080", ["v1.2.3", "192.168.1.10:8080"]),
        ("2026-05-14 at 10:30 for 1,299.00", ["2026-05-14", "10:30", "1,299.00"]),
        ("we fly on 14 May, 3 of us", ["14"]),
        ("#general @ana", ["#general", "@ana"]),
        ("nothing here. Nor here, e.g. this", []),
    ],
)
def test_paths_addresses_ids_dates_and_numbers_are_found(text: str, expected: list[str]) -> None:
    assert [found for found, _ in identifiers(text)] == expected


def test_each_comes_with_its_place() -> None:
    text = "first ORD-1234, then\n(PR-99)"

    assert [text[at : at + len(found)] for found, at in identifiers(text)] == ["ORD-1234", "PR-99"]


@pytest.mark.parametrize(
    ("identifier", "held"),
    [("ORD-9912", True), ("ord-9912", True), ("14", True), ("4", False), ("991", False), ("ORD-99", False)],
)
def test_a_part_of_a_longer_word_is_not_held(identifier: str, held: bool) -> None:
    assert (identifier in Held("On the 14th? No: 14 May, ORD-9912.")) == held


def test_strong_ones_can_mean_one_thing_only() -> None:
    assert is_strong("ORD-9912")
    assert is_strong("2026-05-14")
    assert not is_strong("14")
    assert not is_strong("a.b")


@pytest.mark.parametrize("unit", ["a", "a/", "a.-", "1.", "a@", "x-1"])
def test_data_in_one_word_takes_no_time(unit: str) -> None:
    started = time.process_time()
    list(identifiers(unit * 100_000))
    list(identifiers((unit * (299 // len(unit)) + " ") * 200))

    assert time.process_time() - started < 3
