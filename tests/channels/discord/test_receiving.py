"""What an event of Discord says, read by the real library."""

from pathlib import Path

import pytest

from channels.message import Aside, Edited, Quoted, Reaction
from tests.channels.discord.wired import answer, in_thread, live, to, until
from tests.fakes.discord_world import (
    ANNA,
    BEN,
    BOT_ID,
    BOT_ROLE,
    FORUM,
    GENERAL,
    OFFICE,
    OTHER_BOT,
    PUBLIC_THREAD,
    THREAD_700,
    Json,
    World,
)


async def test_a_direct_message_is_always_for_us(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        chat = one.world.dm(ANNA)
        one.world.say(chat, "hello")
        await one.gateway.until(1)
        [message] = one.gateway.messages
        assert (message.address, message.addressed) == (to(chat, kind="direct"), True)
        assert message.at == one.world.now


async def test_whom_a_message_names(tmp_path: Path) -> None:
    rows = [
        ("hello", False, False, "hello"),
        (f"<@{BOT_ID}> hello", True, False, "hello"),
        (f"<@!{BOT_ID}>, /new", True, False, "/new"),
        (f"<@&{BOT_ROLE}> hello", True, False, "hello"),
        (f"hey <@{BOT_ID}> you", True, False, "hey @clawd you"),
        (f"<@{BEN}> hello", False, True, "@Ben hello"),
        (f"<@{BOT_ID}> and <@{BEN}>", True, True, "and @Ben"),
        ("@everyone hello", False, False, "@everyone hello"),
        (f"see <#{GENERAL}> <:party:123456789012345678>", False, False, "see #general :party:"),
    ]
    async with live(tmp_path) as one:
        for text, *_ in rows:
            one.world.say(GENERAL, text)
        await one.gateway.until(len(rows))
        told = [(m.addressed, m.names_others, m.text) for m in one.gateway.messages]
        assert told == [(us, others, said) for _, us, others, said in rows]


async def test_an_answer_to_ours_is_for_us_and_tells_what_it_answers(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        ours = await one.channel.send(answer(to(GENERAL), "the answer"))
        theirs = one.world.say(GENERAL, "said by Ben", by=BEN)
        one.world.say(GENERAL, "why?", reply_to=int(ours))
        one.world.say(GENERAL, "indeed", reply_to=int(theirs["id"]))
        one.world.say(GENERAL, "gone", reply_to=123)
        await one.gateway.until(4)
        _, why, indeed, gone = one.gateway.messages
        assert why.addressed
        assert why.quoted == Quoted(id=ours, sender="Clawd", text="the answer", own=True)
        assert not indeed.addressed
        assert indeed.quoted == Quoted(id=theirs["id"], sender="Ben", text="said by Ben")
        assert gone.quoted == Quoted(id="123", sender="", text="")


async def test_bots_are_marked_and_the_platform_itself_is_not_heard(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.world.say(GENERAL, "joined", type=7)
        one.world.say(GENERAL, "pinned", type=6)
        one.world.say(GENERAL, "")
        one.world.say(GENERAL, "beep", by=OTHER_BOT)
        one.world.say(GENERAL, "hook", webhook_id="77")
        one.world.say(GENERAL, "person", roles=(BOT_ROLE,))
        await one.gateway.until(3)
        told = [(m.text, m.sender.is_bot, m.sender.roles) for m in one.gateway.messages]
        assert told == [("beep", True, ()), ("hook", True, ()), ("person", False, (str(BOT_ROLE),))]


async def test_what_stands_beside_the_words(tmp_path: Path) -> None:
    embed = {
        "type": "link",
        "title": "A page",
        "description": "about it",
        "fields": [{"name": "n", "value": "v"}],
    }
    async with live(tmp_path) as one:
        one.world.say(OFFICE, "look", embeds=[embed])
        one.world.say(OFFICE, "", sticker_items=[{"id": "5", "name": "wave", "format_type": 1}])
        snapshot = {
            "message": {
                "type": 0,
                "content": "far away",
                "embeds": [],
                "attachments": [],
                "timestamp": one.world.now.isoformat(),
                "edited_timestamp": None,
                "flags": 0,
            }
        }
        reference = {"type": 1, "channel_id": "5", "message_id": "6"}
        one.world.say(OFFICE, "", message_snapshots=[snapshot], message_reference=reference)
        await one.gateway.until(3)
        page, sticker, forwarded = one.gateway.messages
        assert page.asides == (Aside(label="a preview", text="A page\nabout it\nn: v"),)
        assert sticker.asides == (Aside(label="a sticker", text="wave"),)
        assert forwarded.asides == (Aside(label="a message passed on", text="far away"),)
        assert forwarded.quoted is None


async def test_a_poll_is_told_in_words(tmp_path: Path) -> None:
    poll = {
        "question": {"text": "Where to?"},
        "answers": [
            {"answer_id": 1, "poll_media": {"text": "north"}},
            {"answer_id": 2, "poll_media": {"text": "south"}},
        ],
        "expiry": "2026-05-02T12:00:00+00:00",
        "allow_multiselect": False,
        "layout_type": 1,
        "results": {
            "is_finalized": False,
            "answer_counts": [{"id": 1, "count": 3, "me_voted": False}],
        },
    }
    async with live(tmp_path) as one:
        one.world.say(OFFICE, "", poll=poll)
        await one.gateway.until(1)
        told = Aside(label="a poll", text="Where to?\n- north (3)\n- south (0)")
        assert one.gateway.messages[0].asides == (told,)


async def test_files_and_voice_messages(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        photo = one.world.attachment(GENERAL, "a.png", b"png", "image/png", width=1, height=1)
        voice = one.world.attachment(
            GENERAL, "voice.ogg", b"ogg", "audio/ogg; codecs=opus", duration_secs=2.5, waveform="AAA="
        )
        plain = one.world.attachment(GENERAL, "a.pdf", b"pdf", "application/pdf")
        one.world.say(GENERAL, "", attachments=[photo, voice, plain])
        await one.gateway.until(1)
        found = [(f.kind, f.name, f.mime, f.size, f.seconds) for f in one.gateway.messages[0].attachments]
        assert found == [
            ("image", "a.png", "image/png", 3, None),
            ("voice", "voice.ogg", "audio/ogg", 3, 2.5),
            ("document", "a.pdf", "application/pdf", 3, None),
        ]


async def test_the_first_words_of_a_chat_come_with_what_stands_above(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        world = one.world
        world.message(GENERAL, BEN, "how does this work?", id=THREAD_700)
        post = world.channel(world.new_id(), PUBLIC_THREAD, name="A question", parent=FORUM, owner=ANNA)
        world.emit("THREAD_CREATE", post)
        world.message(int(post["id"]), ANNA, "the post", id=int(post["id"]))
        world.say(GENERAL, "one")
        await one.gateway.until(1)
        world.say(THREAD_700, "two")
        await one.gateway.until(2)
        world.say(int(post["id"]), "three")
        world.say(GENERAL, "four")
        await one.gateway.until(4)
        by_text = {message.text: message for message in one.gateway.messages}
        first, thread, forum, later = (by_text[name] for name in ("one", "two", "three", "four"))
        assert first.asides == (Aside(label="the channel's topic", text="What it is about"),)
        assert thread.address == in_thread()
        assert thread.asides == (
            Aside(label="the thread's name", text="seven"),
            Aside(label="the thread's first message", text="Ben: how does this work?"),
        )
        assert forum.address == in_thread(int(post["id"]), FORUM)
        assert forum.asides == (
            Aside(label="the forum post's title", text="A question"),
            Aside(label="the thread's first message", text="Anna: the post"),
        )
        assert later.asides == ()


async def test_edits_are_told_and_previews_are_none(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        said = one.world.say(GENERAL, "helo")
        one.world.emit("MESSAGE_UPDATE", one.world.told(said | {"embeds": [{"title": "x", "type": "link"}]}))
        one.world.rewrite(said, "hello")
        await one.gateway.until(2)
        [edited] = one.gateway.others
        assert isinstance(edited, Edited)
        assert (edited.id, edited.text, edited.sender.id) == (said["id"], "hello", str(ANNA))


@pytest.mark.parametrize("chat", [GENERAL, ANNA])
async def test_reactions_say_whether_the_message_is_ours(tmp_path: Path, chat: int) -> None:
    async with live(tmp_path) as one:
        where = to(GENERAL) if chat == GENERAL else to(one.world.dm(ANNA), kind="direct")
        ours = await one.channel.send(answer(where, "ours"))
        message = one.world.messages[int(where.chat)][int(ours)]
        theirs = one.world.say(int(where.chat), "theirs")
        await one.gateway.until(1)
        one.world.react(message, "👍")
        one.world.react(message, "👍", added=False)
        one.world.react(theirs, "🎉")
        one.world.react(theirs, "👀", by=BOT_ID)
        await one.gateway.until(4)
        told = [(r.emoji, r.added, r.own, r.address) for r in one.gateway.others if isinstance(r, Reaction)]
        assert told == [("👍", True, True, where), ("👍", False, True, where), ("🎉", True, False, where)]


@pytest.mark.parametrize("named", [True, False])
async def test_after_a_restart_a_reaction_still_says_whose_message_it_is(tmp_path: Path, named: bool) -> None:
    """Discord names the author as a rule; where it does not, the message is asked for."""
    world = World()
    ours = world.message(GENERAL, BOT_ID, "of an earlier process")
    theirs = world.message(GENERAL, ANNA, "theirs")
    async with live(tmp_path, world=world) as one:
        tell = one.world.emit

        def unnamed(event: str, data: Json) -> None:
            tell(event, {name: value for name, value in data.items() if name != "message_author_id"})

        one.world.emit = tell if named else unnamed
        one.world.react(ours, "👍")
        one.world.react(theirs, "👎")
        await one.gateway.until(2)
        told = [(one.emoji, one.own) for one in one.gateway.others if isinstance(one, Reaction)]
        assert told == [("👍", True), ("👎", False)]
        assert one.server.count(f"GET /channels/{GENERAL}/messages") == (0 if named else 2)


async def test_a_thread_that_the_library_does_not_know_is_looked_up(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.world.channel(702, PUBLIC_THREAD, name="old", parent=GENERAL, owner=ANNA)
        one.world.say(702, "still here?")
        await one.gateway.until(1)
        assert one.gateway.messages[0].address == in_thread(702, GENERAL)
        await until(lambda: one.server.count("GET /channels/702") == 1)
