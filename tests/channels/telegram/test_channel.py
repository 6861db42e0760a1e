"""Answers, files and courtesies of a channel, as people see them in their chats."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from pathlib import Path

import pytest

from channels.channel import FetchError, SendError
from channels.message import Attachment, ChatChanged, Choice, OutboundFile
from channels.telegram.channel import TRAITS, TelegramChannel
from channels.text import pieces
from tests.channels.telegram.wired import FAST, Gateway, a_file, answer, channel_of, running, to, until
from tests.fakes.telegram import TelegramServer, telegram_server
from tests.fakes.telegram_html import units
from tests.fakes.telegram_world import ANNA, BEN, FORUM, GROUP

CASES = Path(__file__).parents[2] / "cases"


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    async with telegram_server() as made:
        yield made


@pytest.fixture
async def channel(server: TelegramServer, tmp_path: Path) -> AsyncIterator[TelegramChannel]:
    made = channel_of(server, tmp_path)
    yield made
    await made._end()


async def refused(work: Awaitable[object]) -> SendError:
    with pytest.raises(SendError) as caught:
        await work
    return caught.value


async def test_an_answer_is_shown_with_its_marks(server: TelegramServer, channel: TelegramChannel) -> None:
    number = await channel.send(answer(ANNA, "<b>bold</b> &amp; <code>x</code>", plain="bold & x"))
    [bubble] = server.world.from_bot(ANNA)
    assert (str(bubble.id), bubble.text, bubble.entities) == (number, "bold & x", ("bold", "code"))


async def test_b45_a_long_answer_arrives_whole_in_parts(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    """B45: every part fits, as HTML and as seen; together they are the whole text."""
    source = (CASES / "B45-telegram-expand.md").read_text(encoding="utf-8")
    parts = pieces(source, TRAITS)
    for number, piece in enumerate(parts):
        await channel.send(answer(ANNA, piece.text, plain=piece.plain, key="long", part=number))
    shown = [one.text for one in server.world.from_bot(ANNA)]
    assert len(shown) == len(parts) > 2
    assert all(units(one) <= 4096 for one in shown)
    assert sum(one.count("&") for one in shown) == source.count("&")


async def test_b45_what_is_too_long_says_so(channel: TelegramChannel) -> None:
    """B45"""
    assert (await refused(channel.send(answer(ANNA, "x" * 4097)))).too_long
    await channel.send(answer(ANNA, "x" * 4096))


async def test_b50_the_torture_is_shown_or_sent_plain_once(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    """B50"""
    source = (CASES / "B50-telegram-torture.md").read_text(encoding="utf-8")
    expected = json.loads((CASES / "B50-telegram-torture.expect.json").read_text(encoding="utf-8"))
    assert expected["case"] == "B50"
    for number, piece in enumerate(pieces(source, TRAITS)):
        await channel.send(answer(ANNA, piece.text, plain=piece.plain, part=number))
    shown = "\n".join(one.text for one in server.world.from_bot(ANNA))
    for text in (
        "my_var_name",
        "List<int>",
        "<CoT>",
        "<b>not mine</b>",
        "outer fence with ``` inside",
        "a<b",
    ):
        assert text in shown
    server.knobs.refuse("sendMessage", 400, "Bad Request: can't parse entities: whatever")
    before = len(server.world.from_bot(ANNA))
    error = await refused(channel.send(answer(ANNA, "<b>x</b> &lt;y&gt;", plain="x <y>", key="p")))
    assert error.markup
    await channel.send(answer(ANNA, "x <y>", plain="x <y>", key="p"))
    assert [one.text for one in server.world.from_bot(ANNA)[before:]] == ["x <y>"]


async def test_b47_an_answer_lands_in_its_topic(server: TelegramServer, channel: TelegramChannel) -> None:
    """B47: General without its number, typing with it."""
    await channel.send(answer(FORUM, "in general", thread="1"))
    await channel.send(answer(FORUM, "in the garden", thread="285", key="g"))
    await channel.send(answer(GROUP, "no topics here", key="n"))
    assert [one.text for one in server.world.from_bot(FORUM, 285)] == ["in the garden"]
    assert [one.text for one in server.world.from_bot(FORUM, 1)] == ["in general"]
    for thread in ("1", "285"):
        await channel.typing(to(FORUM, thread=thread))
    assert server.world.chats[FORUM].typing == [1, 285]


async def test_b47_a_topic_that_is_gone_gets_the_answer_once_in_general(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    """B47"""
    await channel.send(answer(FORUM, "late", thread="999"))
    assert [(one.text, one.thread) for one in server.world.from_bot(FORUM)] == [("late", 1)]
    assert server.count("sendMessage") == 2


@pytest.mark.parametrize("thread", ["1", "285"])
async def test_b47_a_file_keeps_its_topic(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path, thread: str
) -> None:
    """B47"""
    file = a_file(tmp_path, "a.png", "image", "image/png")
    await channel.send(answer(FORUM, "x" * 1100, thread=thread, files=(file,)))
    assert [one.thread for one in server.world.from_bot(FORUM)] == [int(thread), int(thread)]


async def test_files_arrive_as_what_they_are(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    kinds = (
        ("a.png", "image", "image/png", "photo"),
        ("a.gif", "image", "image/gif", "animation"),
        ("a.mp4", "video", "video/mp4", "video"),
        ("a.ogg", "voice", "audio/ogg", "voice"),
        ("a.mp3", "audio", "audio/mpeg", "audio"),
        ("a.pdf", "document", "application/pdf", "document"),
    )
    for number, (name, kind, mime, _) in enumerate(kinds):
        file = a_file(tmp_path, name, kind, mime, f"data {number}".encode())  # type: ignore[arg-type]
        await channel.send(answer(ANNA, f"<i>caption {number}</i>", files=(file,), key=f"k{number}"))
    shown = server.world.from_bot(ANNA)
    assert [one.file for one in shown] == [field for *_, field in kinds]
    assert [one.text for one in shown] == [f"caption {n}" for n in range(6)]
    assert {data for _, data in server.world.files.values()} == {f"data {n}".encode() for n in range(6)}


async def test_a_picture_that_telegram_will_not_show_goes_as_a_document(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    wide = a_file(tmp_path, "wide.png", "image", "image/png", b"wide and flat")
    await channel.send(answer(ANNA, "look", files=(wide,)))
    assert [(one.file, one.text) for one in server.world.from_bot(ANNA)] == [("document", "look")]
    server.world.chats[ANNA].voice_forbidden = True
    voice = a_file(tmp_path, "a.ogg", "voice", "audio/ogg")
    await channel.send(answer(ANNA, "", files=(voice,), key="v"))
    assert server.world.from_bot(ANNA)[-1].file == "document"


def some(folder: Path, *names: str) -> tuple[OutboundFile, ...]:
    """Pictures, each of its name's bytes."""
    return tuple(a_file(folder, f"{one}.png", "image", "image/png", one.encode()) for one in names)


async def test_pictures_of_one_answer_are_one_album(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    files = some(tmp_path, "one", "two", "three")
    number = await channel.send(answer(FORUM, "<b>views</b>", plain="views", thread="285", files=files))
    shown = server.world.from_bot(FORUM, 285)
    stored = server.world.chats[FORUM].messages
    assert [(one.file, one.text, one.entities) for one in shown] == [
        ("photo", "views", ("bold",)),
        ("photo", "", ()),
        ("photo", "", ()),
    ]
    assert number == str(shown[0].id)
    assert len({stored[one.id]["media_group_id"] for one in shown}) == 1
    assert [data for _, data in server.world.files.values()] == [b"one", b"two", b"three"]
    assert (server.count("sendMediaGroup"), server.count("sendPhoto")) == (1, 0)
    await channel.edit(answer(FORUM, "other words", thread="285", files=files), number)
    assert server.world.from_bot(FORUM, 285)[0].text == "other words"


async def test_an_album_is_in_doubt_as_a_whole_and_never_half_sent(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    message = answer(ANNA, "views", files=some(tmp_path, "one", "two"))
    server.knobs.refuse("sendMediaGroup", 429, "Too Many Requests: retry after 3", retry_after=3)
    waits = await refused(channel.send(message))
    assert (waits.retryable, waits.retry_after, waits.ambiguous) == (True, 3.0, False)
    assert server.world.from_bot(ANNA) == []
    server.knobs.lost.append("sendmediagroup")
    assert (await refused(channel.send(message))).ambiguous
    assert len(server.world.from_bot(ANNA)) == 2


async def test_an_album_with_a_picture_that_telegram_will_not_show_goes_as_documents(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    await channel.send(answer(ANNA, "look", files=some(tmp_path, "one", "wide and flat")))
    assert [(one.file, one.text) for one in server.world.from_bot(ANNA)] == [
        ("document", "look"),
        ("document", ""),
    ]


async def test_an_album_follows_a_group_that_moved_and_leaves_a_topic_that_is_gone(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    files = some(tmp_path, "one", "two")
    await channel.send(answer(FORUM, "late", thread="999", files=files))
    assert [one.thread for one in server.world.from_bot(FORUM)] == [1, 1]
    server.world.upgrade(GROUP, -1005)
    await channel.send(answer(GROUP, "moved", files=files, key="m"))
    assert len(server.world.from_bot(-1005)) == 2


async def test_an_album_that_may_have_been_shown_before_says_so_under_its_first_picture(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    await channel.send(answer(ANNA, "(possibly repeated)\n", files=some(tmp_path, "one", "two")))
    assert [(one.file, one.text.strip()) for one in server.world.from_bot(ANNA)] == [
        ("photo", "(possibly repeated)"),
        ("photo", ""),
    ]


async def test_an_album_of_which_a_file_is_gone_is_a_refusal(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    files = some(tmp_path, "one", "two")
    await asyncio.to_thread(files[1].path.unlink)
    assert "could not be read" in str(await refused(channel.send(answer(ANNA, "x", files=files))))
    assert server.world.from_bot(ANNA) == []


async def test_an_answer_that_failed_in_the_middle_goes_on_from_there(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    file = a_file(tmp_path, "a.png", "image", "image/png")
    message = answer(ANNA, "x" * 1100, files=(file,))
    server.knobs.refuse("sendMessage", 500, "Internal Server Error")
    assert (await refused(channel.send(message))).retryable
    number = await channel.send(message)
    shown = server.world.from_bot(ANNA)
    assert [one.file for one in shown] == ["photo", ""]
    assert number == str(shown[1].id)


async def test_a_doubtful_file_does_not_take_the_text_after_it_along(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    file = a_file(tmp_path, "a.png", "image", "image/png")
    server.knobs.lost.append("sendphoto")
    await channel.send(answer(ANNA, "x" * 1100, files=(file,)))
    assert [one.file for one in server.world.from_bot(ANNA)] == ["photo", ""]


async def test_a_file_that_is_gone_is_a_refusal(channel: TelegramChannel, tmp_path: Path) -> None:
    file = a_file(tmp_path, "a.png", "image", "image/png")
    await asyncio.to_thread(file.path.unlink)
    assert "could not be read" in str(await refused(channel.send(answer(ANNA, "x", files=(file,)))))


async def test_buttons_quotes_silence_and_previews(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    question = server.world.say(ANNA, "may I?")
    rows = ((Choice(label="Yes", data="y" * 64), Choice(label="No", data="n")),)
    number = await channel.send(answer(ANNA, "Well?", choices=rows, reply_to=str(question), silent=True))
    [bubble] = server.world.from_bot(ANNA)
    assert (bubble.buttons, bubble.answers) == ((("Yes", "No"),), question)
    stored = server.world.chats[ANNA].messages[int(number)]
    assert (stored["_silent"], stored["_preview"]) == (True, True)
    quiet = channel_of(server, tmp_path, settings={"link_preview": False})
    other = await quiet.send(answer(ANNA, "https://example.org"))
    await quiet._end()
    assert server.world.chats[ANNA].messages[int(other)]["_preview"] is False
    long = ((Choice(label="x", data="d" * 65),),)
    assert "64 bytes" in str(await refused(channel.send(answer(ANNA, "x", choices=long, key="b"))))


async def test_an_answer_to_a_message_that_was_deleted_meanwhile_arrives(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    question = server.world.say(ANNA, "hello")
    server.world.take_away(ANNA, question)
    await channel.send(answer(ANNA, "hello", reply_to=str(question)))
    assert [one.answers for one in server.world.from_bot(ANNA)] == [None]


async def test_an_answer_grows_by_edits_and_loses_its_buttons(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    rows = ((Choice(label="Yes", data="y"),),)
    number = await channel.send(answer(ANNA, "wor", choices=rows))
    await channel.edit(answer(ANNA, "<b>words</b>", plain="words"), number)
    await channel.edit(answer(ANNA, "<b>words</b>", plain="words"), number)
    [bubble] = server.world.from_bot(ANNA)
    assert (bubble.text, bubble.entities, bubble.buttons, bubble.edited) == ("words", ("bold",), (), True)
    assert server.count("editMessageText") == 2


async def test_a_limit_on_edits_is_handed_on(server: TelegramServer, channel: TelegramChannel) -> None:
    number = await channel.send(answer(ANNA, "a"))
    server.knobs.refuse("editMessageText", 429, "Too Many Requests: retry after 9", retry_after=9)
    error = await refused(channel.edit(answer(ANNA, "b"), number))
    assert (error.retryable, error.retry_after) == (True, 9.0)


async def test_a_caption_is_edited_as_one_and_files_follow_a_text(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    file = a_file(tmp_path, "a.png", "image", "image/png")
    first = await channel.send(answer(ANNA, "one", files=(file,)))
    await channel.edit(answer(ANNA, "two", files=(file,)), first)
    assert [(one.file, one.text) for one in server.world.from_bot(ANNA)] == [("photo", "two")]
    second = await channel.send(answer(ANNA, "grow", key="k2"))
    await channel.edit(answer(ANNA, "grown", files=(file,), key="k2"), second)
    assert [(one.file, one.text) for one in server.world.from_bot(ANNA)[1:]] == [("", "grown"), ("photo", "")]


async def test_deleting_and_what_is_gone_already(server: TelegramServer, channel: TelegramChannel) -> None:
    number = await channel.send(answer(ANNA, "a"))
    await channel.delete(to(ANNA), number)
    await channel.delete(to(ANNA), number)
    assert server.world.from_bot(ANNA) == []
    assert not (await refused(channel.edit(answer(ANNA, "b"), number))).retryable
    assert "no message of Telegram" in str(await refused(channel.delete(to(ANNA), "x")))


async def test_reactions_come_and_go(server: TelegramServer, channel: TelegramChannel) -> None:
    theirs = server.world.say(ANNA, "hello")
    await channel.react(to(ANNA), str(theirs), "👀")
    assert server.world.screen(ANNA)[0].reactions == ("👀",)
    await channel.react(to(ANNA), str(theirs), None)
    assert server.world.screen(ANNA)[0].reactions == ()
    assert "eaction_invalid" in str(await refused(channel.react(to(ANNA), str(theirs), "🦆")))


@pytest.mark.parametrize(
    ("chat", "standing", "said"),
    [
        (ANNA, "kicked", "unblock"),
        (BEN, "member", "press Start"),
        (GROUP, "kicked", "add it again"),
        (GROUP, "left", "add it again"),
        (GROUP, "restricted", "admin"),
        (4711, "", "pressed Start"),
    ],
)
async def test_a_chat_that_is_lost_is_marked_and_explained(
    server: TelegramServer, channel: TelegramChannel, chat: int, standing: str, said: str
) -> None:
    if standing:
        server.world.chats[chat].bot = standing
    error = await refused(channel.send(answer(chat, "hello")))
    assert (error.gone, error.retryable) == (True, False)
    assert said in str(error)
    assert any(str(chat) in one and said in one for one in channel.status().problems)


async def test_what_may_have_arrived_is_ambiguous_and_not_sent_again(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    server.knobs.lost.append("sendmessage")
    error = await refused(channel.send(answer(ANNA, "hello")))
    assert error.ambiguous
    assert [one.text for one in server.world.from_bot(ANNA)] == ["hello"]


async def test_a_slow_answer_is_ambiguous(server: TelegramServer, tmp_path: Path) -> None:
    channel = channel_of(server, tmp_path, timing=replace(FAST, answer=0.3))
    server.knobs.slow["sendmessage"] = 2
    assert (await refused(channel.send(answer(ANNA, "hello")))).ambiguous
    await channel._end()


async def test_a_network_that_is_gone_is_no_doubt(server: TelegramServer, channel: TelegramChannel) -> None:
    await server.down()
    error = await refused(channel.send(answer(ANNA, "hello")))
    assert (error.retryable, error.ambiguous) == (True, False)
    await server.up()
    await channel.send(answer(ANNA, "hello"))
    assert [one.text for one in server.world.from_bot(ANNA)] == ["hello"]


async def test_a_flood_limit_and_a_broken_server_are_tried_again(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    server.knobs.refuse("sendMessage", 429, "Too Many Requests: retry after 3", retry_after=3)
    error = await refused(channel.send(answer(ANNA, "hello")))
    assert (error.retryable, error.retry_after, error.ambiguous) == (True, 3.0, False)
    server.knobs.refuse("sendMessage", 502, "Bad Gateway")
    assert (await refused(channel.send(answer(ANNA, "hello")))).retryable
    assert server.world.from_bot(ANNA) == []


async def test_a_group_that_moved_gets_the_answer_and_is_told_of(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    gateway = Gateway()
    async with running(channel, gateway):
        await until(lambda: channel.health.connected)
        server.world.upgrade(GROUP, -1005)
        server.world.updates.clear()
        await channel.send(answer(GROUP, "hello"))
        await gateway.until(1)
        number = server.world.from_bot(-1005)[0].id
        await channel.edit(answer(GROUP, "hello again"), str(number))
        await channel.typing(to(GROUP))
        await channel.send(answer(GROUP, "more", key="m"))
    assert [one.text for one in server.world.from_bot(-1005)] == ["hello again", "more"]
    assert server.count("sendMessage") == 3
    assert len(gateway.events) == 1
    moved = gateway.others[0]
    assert isinstance(moved, ChatChanged)
    assert (moved.address.chat, moved.moved_to) == (str(GROUP), "-1005")


async def test_a_typing_notice_finds_out_that_a_group_moved(
    server: TelegramServer, channel: TelegramChannel
) -> None:
    server.world.upgrade(GROUP, -1005)
    assert (await refused(channel.typing(to(GROUP)))).retryable
    await channel.typing(to(GROUP))
    assert server.world.chats[-1005].typing == [None]


def test_a_gateway_without_telegram_does_not_load_its_library() -> None:
    code = "import channels.settings, gateway.accounts, sys; sys.exit('telegram' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0


async def test_nothing_visible_is_never_sent(server: TelegramServer, channel: TelegramChannel) -> None:
    assert "nothing to send" in str(await refused(channel.send(answer(ANNA, " \n"))))
    assert server.calls == []


async def test_the_menu_is_offered_once(server: TelegramServer, tmp_path: Path) -> None:
    for _ in range(2):
        channel = channel_of(server, tmp_path)
        async with running(channel, Gateway()):
            await until(lambda: server.polls > 0 and bool(server.world.commands))
            await until(lambda: not any("offered" in repr(one) for one in channel._tasks))  # noqa: B023
    assert server.count("setMyCommands") == 1
    assert server.world.commands[0] == {"command": "new", "description": "begin anew"}


def attachment(ref: str, size: int | None = None) -> Attachment:
    return Attachment(kind="document", ref=ref, size=size)


async def test_a_file_is_fetched_whole_and_private(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    data = bytes(range(256)) * 1000
    told = server.world.file(data, "documents/böse datei.bin")
    into = tmp_path / "in"
    await channel.fetch(attachment(told["file_id"]), into, max_bytes=len(data))
    assert into.read_bytes() == data
    assert into.stat().st_mode & 0o777 == 0o600


async def test_a_file_that_is_too_large_is_refused_with_the_limit(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    into = tmp_path / "in"
    told = server.world.file(b"x" * 2_000_001, "documents/a.bin")
    with pytest.raises(FetchError, match="2 MB"):
        await channel.fetch(attachment(told["file_id"]), into, max_bytes=2_000_000)
    huge = server.world.file(b"x" * 20_000_001, "documents/b.bin")
    with pytest.raises(FetchError, match="20 MB"):
        await channel.fetch(attachment(huge["file_id"]), into, max_bytes=100_000_000)
    with pytest.raises(FetchError, match="no longer"):
        await channel.fetch(attachment("unknown"), into, max_bytes=100)
    assert not into.exists()


async def test_a_fetch_that_fails_shows_no_token(
    server: TelegramServer, channel: TelegramChannel, tmp_path: Path
) -> None:
    told = server.world.file(b"x", "documents/a.bin")
    server.knobs.files_gone = True
    with pytest.raises(FetchError) as failed:
        await channel.fetch(attachment(told["file_id"]), tmp_path / "in", max_bytes=100)
    assert server.token not in str(failed.value)
    assert not (tmp_path / "in").exists()
