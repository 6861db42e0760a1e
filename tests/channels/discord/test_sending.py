"""The requests that show an answer."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.discord.channel import TRAITS
from channels.discord.sending import MAX_TEXT, is_too_long, nonce_of, reply_to, to_wire, view_of
from channels.message import Choice, FileKind, OutboundFile
from gateway.media.sending import Sending, together
from tests.channels.discord.wired import answer, in_thread


def files(count: int) -> tuple[OutboundFile, ...]:
    one = OutboundFile(path=Path("/tmp/x"), name="x", kind="document", mime="x/y")  # noqa: S108
    return (one,) * count


@pytest.mark.parametrize(
    ("text", "count", "calls"),
    [("", 0, []), (" ", 0, []), ("hi", 0, [0]), ("hi", 10, [10]), ("", 10, [10]), ("hi", 11, [10, 1])],
)
def test_files_come_ten_at_a_time_and_the_text_with_the_first(
    text: str, count: int, calls: list[int]
) -> None:
    told = to_wire(answer(text=text, files=files(count), reply_to="5"))
    assert [len(one.files) for one in told] == calls
    assert [one.text for one in told] == ([text.strip(), *[""] * (len(calls) - 1)] if calls else [])
    assert [one.reply_to for one in told] == ([5, *[None] * (len(calls) - 1)] if calls else [])


@given(st.text(), st.integers(0, 10_000), st.integers(0, 10))
def test_a_nonce_fits_and_is_the_same_for_the_same(key: str, part: int, number: int) -> None:
    key = key.encode("utf-8", "ignore").decode()
    assert 0 < len(nonce_of(key, part, number)) <= 25
    assert nonce_of(key, part, number) == nonce_of(key, part, number)
    assert len({nonce_of(key, part, n) for n in range(3)} | {nonce_of(key + "x", part, 0)}) == 4


@pytest.mark.parametrize(("text", "long"), [("x" * MAX_TEXT, False), ("x" * 2001, True), ("😀" * 1001, True)])
def test_the_limit_counts_as_discords_apps_do(text: str, long: bool) -> None:
    assert is_too_long(text) == long


def test_a_thread_does_not_point_to_the_message_above_it() -> None:
    assert reply_to(answer(in_thread(700), reply_to="700")) is None
    assert reply_to(answer(in_thread(700), reply_to="701")) == 701
    assert reply_to(answer(reply_to="gone-by")) is None


@pytest.mark.parametrize(("size", "ok"), [(64, True), (65, False)])
def test_a_button_holds_so_much(size: int, ok: bool) -> None:
    message = answer(choices=((Choice(label="x", data="y" * size),),))
    if ok:
        assert to_wire(message)[0].choices
    else:
        with pytest.raises(ValueError, match="64 bytes"):
            to_wire(message)


@pytest.mark.parametrize(("count", "ok"), [(125, True), (126, False)])
def test_so_many_choices_can_be_shown(count: int, ok: bool) -> None:
    choices = tuple((Choice(label=str(n), data=str(n)),) for n in range(count))
    if ok:
        assert to_wire(answer(choices=choices))
    else:
        with pytest.raises(ValueError, match="125"):
            to_wire(answer(choices=choices))


@given(st.lists(st.integers(1, 12), min_size=1, max_size=8))
async def test_every_choice_is_shown_once_within_discords_limits(rows: list[int]) -> None:
    numbers = iter(range(1000))
    choices = tuple(tuple(Choice(label="x" * 99, data=f"d{next(numbers)}") for _ in range(n)) for n in rows)
    view = view_of(choices)
    assert view is not None
    shown = view.to_components()
    assert len(shown) <= 5
    found = []
    for row in shown:
        assert 1 <= len(row["components"]) <= 5
        for one in row["components"]:
            found += [o["value"] for o in one["options"]] if "options" in one else [one["custom_id"][6:]]
            assert len(one.get("label", "")) <= 80
    assert found == [one.data for row in choices for one in row]


async def test_no_choices_are_no_view() -> None:
    assert view_of(()) is None
    assert view_of(((),)) is None


def test_files_of_an_answer_are_one_message_as_far_as_a_request_holds_them() -> None:
    def sending(size: int, kind: FileKind = "document", caption: str = "") -> Sending:
        file = OutboundFile(path=Path("/x"), name="x", kind=kind, mime="x/y", size=size)
        return Sending(file=file, caption=caption)

    mixed = [sending(1_000, "image", "look"), *[sending(1_000)] * 9]
    assert [len(one) for one in together([*mixed, sending(1_000)], TRAITS)] == [10, 1]
    assert [len(one) for one in together([sending(6_000_000), sending(6_000_000)], TRAITS)] == [1, 1]
