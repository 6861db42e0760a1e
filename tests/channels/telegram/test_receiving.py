"""What an update of Telegram says."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram import Update

from channels.message import ChatChanged, Edited, InboundMessage, Pressed, Reaction
from channels.telegram.content import text_of
from channels.telegram.receiving import album_of, one_message, to_inbound
from tests.channels.telegram.wired import ME, NOON, newest
from tests.fakes.telegram_world import ANNA, BEN, BOT_ID, FORUM, GROUP, Json, World

CASES = Path(__file__).parents[2] / "cases"


def case(name: str) -> Any:  # noqa: ANN401 (a table of the case)
    return json.loads((CASES / name).read_text(encoding="utf-8"))


@pytest.fixture
def world() -> World:
    return World()


def heard(world: World) -> list[Any]:
    return list(to_inbound(newest(world), ME, now=NOON))


def message(world: World) -> InboundMessage:
    [event] = heard(world)
    assert isinstance(event, InboundMessage)
    return event


def test_a_direct_message_is_for_us(world: World) -> None:
    number = world.say(ANNA, "hello")
    said = message(world)
    assert (said.id, said.text, said.addressed) == (str(number), "hello", True)
    assert (said.address.chat, said.address.kind, said.address.thread) == (str(ANNA), "direct", "")
    assert (said.sender.id, said.sender.name, said.sender.is_bot) == (str(ANNA), "Anna", False)
    assert said.at == datetime.fromtimestamp(world.time, UTC)


def test_a_group_message_without_a_mention_is_not_addressed(world: World) -> None:
    world.say(GROUP, "who has time?")
    assert (message(world).addressed, message(world).names_others) == (False, False)


@pytest.mark.parametrize(
    ("text", "addressed", "others"),
    [
        ("@clawd_test_bot what is up?", True, False),
        ("hi @CLAWD_TEST_BOT", True, False),
        ("@anna_a look", False, True),
        ("@anna_a and @clawd_test_bot", True, True),
        ("/status@clawd_test_bot", True, False),
        ("/status@other_bot", False, True),
        ("/status", False, False),
        ("@clawd_test_bot2 no", False, True),
    ],
)
def test_whom_a_group_message_means(world: World, text: str, addressed: bool, others: bool) -> None:
    world.say(GROUP, text)
    assert (message(world).addressed, message(world).names_others) == (addressed, others)


def test_a_mention_without_a_username_is_by_id(world: World) -> None:
    entity = {"type": "text_mention", "offset": 0, "length": 5, "user": world.bot}
    world.say(GROUP, "Clawd look", entities=[entity])
    assert message(world).addressed
    world.say(GROUP, "Benni look", entities=[entity | {"user": world.users[BEN]}])
    assert (message(world).addressed, message(world).names_others) == (False, True)


def test_a_mention_in_a_caption_counts(world: World) -> None:
    world.say(GROUP, "@clawd_test_bot what is this?", photo=world.photo(b"x"))
    assert message(world).addressed


def test_b51_names_in_texts_without_entities(world: World) -> None:
    """B51"""
    fixture = case("B51-mention-no-entities.json")
    me = type(ME)(account="default", id=BOT_ID, username=fixture["username"])
    for text, wanted in fixture["rows"]:
        world.say(GROUP, text, entities=[])
        [event] = to_inbound(newest(world), me, now=NOON)
        assert isinstance(event, InboundMessage)
        assert event.addressed is wanted, text


def test_b47_the_thread_of_each_place(world: World) -> None:
    """B47: only the topics of forums and of direct chats are threads."""
    for row in case("B47-topics.json")["rows"]:
        told = row.get("inbound")
        if told is None:
            continue
        chat = {"id": told["chat_id"], "type": "supergroup", "title": "x", "is_forum": told["is_forum"]}
        more: Json = {"chat": chat} | {k: v for k, v in told.items() if k == "message_thread_id"}
        world.say(FORUM, "hello", **more)
        thread = message(world).address.thread
        wanted = row["send_thread"] or ("1" if told["is_forum"] else "")
        assert thread == str(wanted), row


def test_a_direct_chat_has_topics_where_the_bot_has(world: World) -> None:
    world.chats[ANNA].topics = {7: "Work"}
    world.say(ANNA, "hello", thread=7)
    assert message(world).address.thread == "7"
    world.say(ANNA, "hello", message_thread_id=7)
    assert message(world).address.thread == ""


def test_an_answer_to_us_addresses_us_and_quotes(world: World) -> None:
    ours = world.put(world.chats[GROUP], thread=None, answers=None, text="I am here")
    world.say(GROUP, "good", answers=ours["message_id"])
    said = message(world)
    assert said.addressed
    assert said.quoted is not None
    assert (said.quoted.own, said.quoted.text, said.quoted.sender) == (True, "I am here", "Clawd")


def test_a_chosen_quote_is_what_is_quoted(world: World) -> None:
    first = world.say(GROUP, "one two three", user=BEN)
    world.say(GROUP, "this", answers=first, quote={"text": "two", "position": 4})
    said = message(world)
    assert said.quoted is not None
    assert (said.quoted.text, said.quoted.sender, said.quoted.own) == ("two", "Ben", False)


def test_a_topic_that_we_opened_is_no_answer_to_us(world: World) -> None:
    opened = world.put(
        world.chats[FORUM],
        thread=285,
        answers=None,
        forum_topic_created={"name": "Garden", "icon_color": 7322096},
    )
    world.say(FORUM, "first", thread=285, answers=opened["message_id"])
    assert (message(world).addressed, message(world).quoted) == (False, None)


def test_a_quoted_photo_is_described(world: World) -> None:
    first = world.say(GROUP, "", photo=world.photo(b"x"))
    world.say(GROUP, "what is it?", answers=first)
    quoted = message(world).quoted
    assert quoted is not None
    assert quoted.text == "[image: photo.jpg]"


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("/new@clawd_test_bot", "/new"),
        ("/model@Clawd_Test_Bot opus", "/model opus"),
        ("@clawd_test_bot /new", "/new"),
        ("/new@other_bot", "/new@other_bot"),
        ("/start K7QM2XPD", "/start"),
        ("/start with two words", "/start with two words"),
        ("mail me@clawd_test_bot", "mail me@clawd_test_bot"),
    ],
)
def test_a_command_loses_our_name(world: World, text: str, ours: str) -> None:
    world.say(GROUP, text)
    assert message(world).text == ours


def test_links_and_code_are_kept_as_markdown(world: World) -> None:
    text = "😀 see docs and x < 1"
    marks = [
        {"type": "text_link", "offset": 7, "length": 4, "url": "https://example.org/a"},
        {"type": "code", "offset": 16, "length": 5},
        {"type": "bold", "offset": 3, "length": 3},
    ]
    world.say(ANNA, text, entities=marks)
    assert message(world).text == "😀 see [docs](https://example.org/a) and `x < 1`"
    world.say(ANNA, "a\nb", entities=[{"type": "pre", "offset": 0, "length": 3, "language": "py"}])
    assert message(world).text == "```py\na\nb\n```"


def test_a_lone_half_of_a_pair_does_no_harm(world: World) -> None:
    world.say(ANNA, "x")
    update = newest(world)
    assert update.message is not None
    with update.message._unfrozen():
        update.message.text = "a\ud83d"
    assert text_of(update.message).startswith("a")


@pytest.mark.parametrize(
    ("field", "file", "kind", "mime"),
    [
        ("voice", {"duration": 3, "mime_type": "audio/ogg"}, "voice", "audio/ogg"),
        ("audio", {"duration": 3, "file_name": "a.mp3"}, "audio", "audio/mpeg"),
        ("video", {"duration": 3, "width": 1, "height": 1}, "video", "video/mp4"),
        ("video_note", {"duration": 3, "length": 1}, "video", "video/mp4"),
        ("animation", {"duration": 3, "width": 1, "height": 1}, "video", "video/mp4"),
        ("document", {"file_name": "a.pdf", "mime_type": "application/pdf"}, "document", "application/pdf"),
        ("document", {"file_name": "a.png", "mime_type": "image/png"}, "image", "image/png"),
    ],
)
def test_files_by_kind(world: World, field: str, file: Json, kind: str, mime: str) -> None:
    told = world.file(b"data", f"{field}/x")
    more: Json = {field: told | file}
    world.say(ANNA, "", **more)
    [attachment] = message(world).attachments
    assert (attachment.kind, attachment.mime, attachment.size) == (kind, mime, 4)
    assert attachment.ref == told["file_id"]
    assert attachment.seconds == (3.0 if "duration" in file else None)


def test_of_a_photo_the_largest_is_taken(world: World) -> None:
    world.say(ANNA, "look", photo=world.photo(b"largest!"))
    said = message(world)
    assert (said.text, said.attachments[0].size, said.attachments[0].kind) == ("look", 8, "image")


def sticker(world: World, **more: bool) -> Json:
    told = world.file(b"webp", "stickers/s.webp")
    still = {"is_animated": False, "is_video": False}
    return (
        told | still | more | {"type": "regular", "width": 9, "height": 9, "emoji": "😀", "set_name": "Cats"}
    )


def test_only_a_sticker_that_stands_still_is_an_image(world: World) -> None:
    world.say(ANNA, "", sticker=sticker(world))
    assert message(world).attachments[0].kind == "image"
    world.say(ANNA, "", sticker=sticker(world, is_animated=True))
    said = message(world)
    assert said.attachments == ()
    assert said.asides[0].text == "an animated sticker 😀 of the set Cats"


def test_places_contacts_polls_and_throws_are_told_beside(world: World) -> None:
    place = {"latitude": 38.7, "longitude": -9.1, "horizontal_accuracy": 12.0}
    world.say(ANNA, "", location=place)
    assert message(world).asides[0].text == "38.700000, -9.100000, within 12 m"
    world.say(ANNA, "", location=place, venue={"location": place, "title": "Café", "address": "Rua 1"})
    assert message(world).asides[0].text.startswith("Café, Rua 1 (38.7")
    world.say(ANNA, "", contact={"phone_number": "+351", "first_name": "Rui", "user_id": 9})
    assert message(world).asides[0].text == "Rui, +351, Telegram id 9"
    poll = {
        "id": "1",
        "question": "When?",
        "options": [{"text": "now", "voter_count": 2, "persistent_id": "a"}],
        "total_voter_count": 2,
        "is_closed": False,
        "is_anonymous": True,
        "type": "regular",
        "allows_multiple_answers": False,
        "allows_revoting": False,
        "members_only": False,
    }
    world.say(ANNA, "", poll=poll)
    assert message(world).asides[0].text == "When?\n- now (2)"
    world.say(ANNA, "", dice={"emoji": "🎲", "value": 4})
    assert message(world).asides[0].text == "🎲 4"


def test_a_forwarded_message_says_whose_words_they_are(world: World) -> None:
    world.say(ANNA, "secret", forward_origin={"type": "user", "date": 1, "sender_user": world.users[BEN]})
    assert "written by Ben" in message(world).asides[0].text
    world.say(ANNA, "x", forward_origin={"type": "hidden_user", "date": 1, "sender_user_name": "Cy"})
    assert "written by Cy" in message(world).asides[0].text


def test_an_album_is_one_message_of_which_the_captioned_part_leads(world: World) -> None:
    world.album(GROUP, ["", "@clawd_test_bot three", ""])
    updates = [Update.de_json(one, None) for one in world.updates]
    assert len({album_of(one) for one in updates}) == 1
    parts = [event for one in reversed(updates) for event in to_inbound(one, ME, now=NOON)]
    whole = one_message([part for part in parts if isinstance(part, InboundMessage)])
    assert (whole.id, whole.text, whole.addressed) == ("2", "@clawd_test_bot three", True)
    assert [one.ref for one in whole.attachments] == ["file2", "file4", "file6"]


def test_an_edit_and_a_moving_place(world: World) -> None:
    number = world.say(GROUP, "helo")
    world.change(GROUP, number, "hello")
    [event] = heard(world)
    assert isinstance(event, Edited)
    assert (event.id, event.text) == (str(number), "hello")
    world.say(ANNA, "", location={"latitude": 1.0, "longitude": 2.0})
    moved = world.updates.pop()["message"] | {"edit_date": 5}
    world.tell(edited_message=moved)
    assert heard(world) == []


def test_reactions_are_told_by_their_difference(world: World) -> None:
    number = world.say(GROUP, "hello")
    world.react(GROUP, number, "👍", "🔥")
    assert [(one.emoji, one.added, one.message_id) for one in heard(world)] == [
        ("👍", True, str(number)),
        ("🔥", True, str(number)),
    ]
    world.react(GROUP, number, "🔥")
    [event] = heard(world)
    assert isinstance(event, Reaction)
    assert (event.emoji, event.added, event.own) == ("👍", False, False)


def test_a_pressed_button_tells_its_data_and_topic(world: World) -> None:
    ours = world.put(world.chats[FORUM], thread=285, answers=None, text="Well?")
    query = world.press(FORUM, ours["message_id"], "yes:1")
    [event] = heard(world)
    assert isinstance(event, Pressed)
    assert (event.id, event.data, event.message_id) == (query, "yes:1", str(ours["message_id"]))
    assert (event.address.thread, event.at) == ("285", NOON)


def test_a_group_that_moved_tells_it_once_from_both_sides(world: World) -> None:
    world.upgrade(GROUP, -1005)
    told = [event for one in world.updates for event in to_inbound(Update.de_json(one, None), ME, now=NOON)]
    assert all(isinstance(one, ChatChanged) for one in told)
    assert {(one.id, one.address.chat, one.moved_to) for one in told if isinstance(one, ChatChanged)} == {
        (f"moved-{GROUP}-{-1005}", str(GROUP), "-1005")
    }


@pytest.mark.parametrize(
    ("chat", "status", "said"),
    [(GROUP, "kicked", "removed"), (GROUP, "left", "removed"), (ANNA, "kicked", "blocked"),
     (GROUP, "restricted", "may not write")],
)  # fmt: skip
def test_a_chat_that_is_lost_says_why(world: World, chat: int, status: str, said: str) -> None:
    world.stand(chat, status)
    [event] = heard(world)
    assert isinstance(event, ChatChanged)
    assert said in event.gone


def test_what_is_no_message_of_a_person_says_nothing(world: World) -> None:
    world.say(GROUP, "", new_chat_title="Better friends")
    assert heard(world) == []
    world.say(GROUP, "", new_chat_members=[world.users[BEN]])
    assert heard(world) == []
    world.say(GROUP, "posted", chat={"id": -5, "type": "channel", "title": "News"})
    assert heard(world) == []
    world.stand(GROUP, "member")
    assert heard(world) == []


def test_an_admin_who_hides_speaks_as_the_chat(world: World) -> None:
    hidden = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
    chat = world.chats[GROUP].to_json()
    world.say(GROUP, "hello", **_by(hidden, chat))
    sender = message(world).sender
    assert (sender.id, sender.is_bot, sender.name) == (str(GROUP), False, "Friends")


def test_what_a_channel_passes_on_by_itself_is_a_bot_s(world: World) -> None:
    channel = {"id": -5, "type": "channel", "title": "News"}
    told = {"id": 777000, "is_bot": False, "first_name": "Telegram"}
    world.say(GROUP, "news", **_by(told, channel, automatic=True))
    assert (message(world).sender.id, message(world).sender.is_bot) == ("-5", True)


def _by(user: Json, chat: Json, *, automatic: bool = False) -> Json:
    told: Json = {"from": user, "sender_chat": chat}
    return told | {"is_automatic_forward": True} if automatic else told


MARKS = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["text_link", "code", "pre", "bold", "mention", "bot_command", "url"]),
            "offset": st.integers(0, 30),
            "length": st.integers(1, 30),
            "url": st.just("https://example.org/"),
        }
    ),
    max_size=5,
)


@given(text=st.text(min_size=1, max_size=40), marks=MARKS)
def test_no_text_and_no_marks_break_the_reading(text: str, marks: list[Json]) -> None:
    world = World()
    world.say(GROUP, text, entities=marks)
    [event] = to_inbound(newest(world), ME, now=NOON)
    assert isinstance(event, InboundMessage)
    event.text.encode()
    if all(one["type"] in ("bold", "url", "mention") for one in marks) and "@" not in text:
        assert event.text == text
