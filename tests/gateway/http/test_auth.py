"""Tokens, and the limit on guesses."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.http.auth import BadToken, FailureLimit, bearer_of, checked_token, same_token

CASE = json.loads((Path(__file__).parents[2] / "cases" / "B64-tokens.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", CASE["refuse_to_start"], ids=repr)
def test_b64_a_text_that_is_no_secret_is_refused(text: str) -> None:
    with pytest.raises(BadToken, match=r"Delete credentials/gateway\.token"):
        checked_token(text)


def test_a_refused_token_is_not_quoted() -> None:
    with pytest.raises(BadToken) as refusal:
        checked_token("hunter2-hunter2\tx")

    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    "text", ["t\u00f6k\u00e9n-0123456789abcdef", "fifteen-chars-x", "with\ttab-0123456789"]
)
def test_a_token_that_cannot_be_sent_or_is_short_is_refused(text: str) -> None:
    with pytest.raises(BadToken):
        checked_token(text)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"], ids=["none", "newline", "crlf"])
def test_b64_the_last_newline_of_a_token_file_is_no_part_of_the_token(end: str) -> None:
    assert checked_token(f"sixteen-chars-xy{end}") == "sixteen-chars-xy"


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (b"Bearer abc", b"abc"),
        (b"bearer  abc ", b"abc"),
        (b"Bearer", b""),
        (b"Basic abc", None),
        (b"abc", None),
        (b"", None),
    ],
)
def test_only_the_bearer_scheme_carries_a_token(header: bytes, token: bytes | None) -> None:
    assert bearer_of(header) == token


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=40))
def test_no_other_bytes_are_the_token(presented: bytes) -> None:
    assert same_token(b"abc-0123456789abcdef", b"abc-0123456789abcdef")
    assert same_token(presented, b"abc-0123456789abcdef") is (presented == b"abc-0123456789abcdef")
    assert not same_token(None, b"abc-0123456789abcdef")


def _fail(limit: FailureLimit, times: int, *, peer: str = "10.0.0.1", step: float = 1.0) -> float:
    for attempt in range(times):
        limit.failed(peer, attempt * step)
    return (times - 1) * step


def test_nine_failures_in_a_minute_lock_nobody_out_and_the_tenth_does() -> None:
    limit = FailureLimit()

    last = _fail(limit, 9)
    assert limit.wait("10.0.0.1", last) == 0

    limit.failed("10.0.0.1", last)
    assert limit.wait("10.0.0.1", last) == 300
    assert limit.wait("10.0.0.2", last) == 0


def test_a_lockout_ends_after_its_time_and_not_before() -> None:
    limit = FailureLimit()
    last = _fail(limit, 10)

    assert limit.wait("10.0.0.1", last + 299) == 1
    assert limit.wait("10.0.0.1", last + 300) == 0


@pytest.mark.parametrize(("step", "locked"), [(59.9 / 9, True), (60 / 9, False), (61 / 9, False)])
def test_ten_failures_count_only_within_the_window(step: float, locked: bool) -> None:
    limit = FailureLimit()

    last = _fail(limit, 10, step=step)

    assert (limit.wait("10.0.0.1", last) > 0) is locked


def test_the_right_token_forgives_earlier_failures() -> None:
    limit = FailureLimit()
    last = _fail(limit, 9)

    limit.succeeded("10.0.0.1")
    limit.failed("10.0.0.1", last)

    assert limit.wait("10.0.0.1", last) == 0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("unix", "unix", True),
    ],
)
def test_addresses_of_one_machine_share_a_count(one: str, other: str, same: bool) -> None:
    limit = FailureLimit()

    last = _fail(limit, 10, peer=one)

    assert (limit.wait(other, last) > 0) is same


def test_the_number_of_remembered_peers_is_bounded() -> None:
    limit = FailureLimit(max_peers=3, limit=1)

    for number in range(5):
        limit.failed(f"10.0.0.{number}", 0)

    assert [limit.wait(f"10.0.0.{number}", 0) > 0 for number in range(5)] == [False, False, True, True, True]
