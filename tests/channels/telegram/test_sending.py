"""The calls that show an answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import Choice, FileKind, OutboundFile
from channels.telegram.sending import MAX_CAPTION, field_of, is_plain, thread_of, to_edit, to_wire
from tests.channels.telegram.wired import a_file, answer, to
from tests.fakes.telegram_world import ANNA, FORUM, GROUP

CASES = Path(__file__).parents[2] / "cases"


def arguments(**more: Any) -> Any:  # noqa: ANN401 (arguments of a vendor's call)
    [call] = to_wire(answer(**more))
    return call.arguments


def test_a_text_is_one_message_in_html() -> None:
    told = arguments(chat=ANNA, text="<b>hi</b>", plain="hi")
    assert (told["chat_id"], told["text"], told["parse_mode"]) == (ANNA, "<b>hi</b>", "HTML")
    assert told["link_preview_options"].is_disabled is False
    assert not {"message_thread_id", "reply_markup", "reply_parameters", "disable_notification"} & set(told)


def test_nothing_to_show_is_no_call() -> None:
    assert to_wire(answer(text=" \n")) == []


def test_the_plain_text_has_no_markup_also_with_a_line_before_it() -> None:
    assert arguments(text="a < b", plain="a < b")["parse_mode"] is None
    assert arguments(text="(possibly repeated)\na < b", plain="a < b")["parse_mode"] is None
    assert arguments(text="a &lt; b", plain="a < b")["parse_mode"] == "HTML"
    assert not is_plain(answer(text="x"))


def test_b47_the_thread_of_each_target() -> None:
    """B47: the General topic is not named when sending, and is when typing."""
    for row in json.loads((CASES / "B47-topics.json").read_text(encoding="utf-8"))["rows"]:
        told = row.get("inbound")
        thread = ""
        if told and told["is_forum"]:
            thread = str(told.get("message_thread_id", 1))
        if "target" in row:
            thread = row["target"].partition(":topic:")[2]
        where = to(FORUM, thread=thread)
        assert thread_of(where) == row["send_thread"], row
        assert arguments(chat=FORUM, thread=thread).get("message_thread_id") == row["send_thread"]
        if "typing_thread" in row:
            assert thread_of(where, typing=True) == row["typing_thread"]


def test_a_topic_of_a_direct_chat_is_always_named() -> None:
    assert thread_of(to(ANNA, thread="1")) == 1


def test_a_silent_answer_with_a_quote_and_buttons() -> None:
    rows = ((Choice(label="Yes", data="y"), Choice(label="No", data="n")), (Choice(label="", data="later"),))
    told = arguments(text="Well?", choices=rows, reply_to="7", silent=True)
    assert told["disable_notification"] is True
    assert told["reply_parameters"].to_dict() == {"message_id": 7, "allow_sending_without_reply": True}
    assert [[one.text for one in row] for row in told["reply_markup"].inline_keyboard] == [
        ["Yes", "No"],
        ["later"],
    ]
    assert "reply_parameters" not in arguments(reply_to="not-of-telegram")


@pytest.mark.parametrize(("size", "fits"), [(64, True), (65, False)])
def test_a_button_holds_64_bytes(size: int, fits: bool) -> None:
    rows = ((Choice(label="x", data="d" * size),),)
    if fits:
        assert arguments(choices=rows)
    else:
        with pytest.raises(ValueError, match="64 bytes"):
            to_wire(answer(choices=rows))


@pytest.mark.parametrize(("units", "captioned"), [(1023, True), (1024, True), (1025, False)])
def test_a_caption_holds_1024(tmp_path: Path, units: int, captioned: bool) -> None:
    file = a_file(tmp_path, "a.png", "image", "image/png")
    calls = to_wire(answer(text="x" * units, files=(file,)))
    assert [one.method for one in calls] == (["send_photo"] if captioned else ["send_photo", "send_message"])
    assert ("caption" in calls[0].arguments) is captioned
    assert calls[-1].says


def pictures(folder: Path, count: int) -> tuple[OutboundFile, ...]:
    return tuple(a_file(folder, f"{n}.png", "image", "image/png") for n in range(count))


@pytest.mark.parametrize(
    ("count", "sizes"), [(1, [1]), (2, [2]), (10, [10]), (11, [10, 1]), (12, [10, 2]), (25, [10, 10, 5])]
)
def test_several_pictures_are_albums_and_the_first_one_says_it(
    tmp_path: Path, count: int, sizes: list[int]
) -> None:
    calls = to_wire(answer(text="all", files=pictures(tmp_path, count), reply_to="3"))
    assert [len(one.files) for one in calls] == sizes
    assert [one.method for one in calls] == ["send_media_group" if n > 1 else "send_photo" for n in sizes]
    assert [one.arguments.get("caption") for one in calls] == ["all", *[None] * (len(sizes) - 1)]
    assert ["reply_parameters" in one.arguments for one in calls] == [True, *[False] * (len(sizes) - 1)]


def test_files_of_other_kinds_stand_apart_and_in_their_order(tmp_path: Path) -> None:
    kinds: tuple[tuple[FileKind, str], ...] = (
        ("image", "image/png"),
        ("video", "video/mp4"),
        ("document", "application/pdf"),
        ("document", "text/plain"),
        ("image", "image/gif"),
        ("image", "image/gif"),
        ("audio", "audio/mpeg"),
        ("audio", "audio/mpeg"),
        ("voice", "audio/ogg"),
        ("voice", "audio/ogg"),
        ("image", "image/png"),
    )
    files = tuple(a_file(tmp_path, str(n), kind, mime) for n, (kind, mime) in enumerate(kinds))
    calls = to_wire(answer(text="", files=files))
    assert tuple(file for one in calls for file in one.files) == files
    assert [one.fields for one in calls] == [
        ("photo", "video"),
        ("document", "document"),
        ("animation",),
        ("animation",),
        ("audio", "audio"),
        ("voice",),
        ("voice",),
        ("photo",),
    ]


def test_an_album_has_no_buttons_so_that_files_with_some_stand_alone(tmp_path: Path) -> None:
    choices = ((Choice(label="ok", data="ok"),),)
    calls = to_wire(answer(text="all", files=pictures(tmp_path, 3), reply_to="3", choices=choices))
    assert [one.arguments.get("caption") for one in calls] == ["all", None, None]
    assert ["reply_parameters" in one.arguments for one in calls] == [True, False, False]
    assert ["reply_markup" in one.arguments for one in calls] == [True, False, False]


def test_a_long_text_stands_below_the_album(tmp_path: Path) -> None:
    calls = to_wire(answer(text="x" * 1025, files=pictures(tmp_path, 2)))
    assert [(one.method, one.says) for one in calls] == [("send_media_group", False), ("send_message", True)]


@pytest.mark.parametrize(
    ("kind", "mime", "field"),
    [
        ("image", "image/png", "photo"),
        ("image", "image/gif", "animation"),
        ("image", "image/svg+xml", "document"),
        ("video", "video/mp4", "video"),
        ("video", "video/webm", "document"),
        ("voice", "audio/ogg", "voice"),
        ("voice", "audio/mpeg", "audio"),
        ("audio", "audio/mpeg", "audio"),
        ("audio", "audio/ogg", "document"),
        ("audio", "audio/wav", "document"),
        ("document", "image/png", "document"),
        ("document", "application/pdf", "document"),
    ],
)
def test_a_file_goes_as_what_telegram_can_show(tmp_path: Path, kind: FileKind, mime: str, field: str) -> None:
    assert field_of(a_file(tmp_path, "x", kind, mime)) == field


def test_an_edit_tells_text_or_caption() -> None:
    told = to_edit(answer(text="<i>x</i>", plain="x"), link_preview=False)
    assert (told["text"], told["parse_mode"], told["link_preview_options"].is_disabled) == (
        "<i>x</i>",
        "HTML",
        True,
    )
    assert to_edit(answer(text="x"), caption=True)["caption"] == "x"


@given(text=st.text(min_size=1, max_size=1200), files=st.integers(0, 3))
def test_the_text_is_said_exactly_once(text: str, files: int) -> None:
    file = OutboundFile(path=Path("a.png"), name="a.png", kind="image", mime="image/png")
    calls = to_wire(answer(text=text, files=(file,) * files))
    said = [one for one in calls if one.says]
    assert sum(len(one.files) for one in calls) == files
    assert len(calls) - bool(files) in (0, 1)
    assert len(said) == bool(text.strip())
    for one in said:
        shown = one.arguments.get("caption") or one.arguments.get("text")
        assert shown == text
        assert (
            "caption" not in one.arguments
            or len(text.encode("utf-16-le", "surrogatepass")) // 2 <= MAX_CAPTION
        )


def test_a_group_is_named_by_number() -> None:
    assert arguments(chat=GROUP)["chat_id"] == GROUP
