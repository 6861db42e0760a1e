"""What was said in groups and not to us."""

from dataclasses import replace

from channels.history import MAX_CHARS, MAX_NOTES, GroupHistory, Notes
from channels.message import Attachment, Edited
from tests.channels.arriving import NOON, direct, group, message, person


def texts(history: GroupHistory, chat: str = "-100", thread: str = "") -> list[str]:
    return [one.text for one in history.take(group(chat, thread=thread))]


def test_what_was_said_is_handed_out_once_and_in_order() -> None:
    history = GroupHistory()
    for number in range(3):
        history.note(message(group(), text=f"t{number}"), limit=50)

    assert texts(history) == ["t0", "t1", "t2"]
    assert texts(history) == []


def test_the_oldest_go_first_above_the_limit() -> None:
    history = GroupHistory()
    for number in range(5):
        history.note(message(group(), text=f"t{number}"), limit=3)

    assert texts(history) == ["t2", "t3", "t4"]


def test_with_a_limit_of_nothing_nothing_is_kept() -> None:
    history = GroupHistory()
    history.note(message(group()), limit=0)

    assert len(history) == 0


def test_conversations_are_apart_and_the_least_recent_one_is_forgotten() -> None:
    history = GroupHistory(max_conversations=2)
    history.note(message(group("-1"), text="first"), limit=9)
    history.note(message(group("-2"), text="second"), limit=9)
    history.note(message(group("-1"), text="again"), limit=9)
    history.note(message(group("-1", thread="7"), text="topic"), limit=9)

    assert texts(history, "-2") == []
    assert texts(history, "-1") == ["first", "again"]
    assert texts(history, "-1", "7") == ["topic"]


def test_what_is_only_looked_at_stays() -> None:
    history = GroupHistory()
    history.note(message(group(), text="said"), limit=9)

    assert [one.text for one in history.look(group())] == ["said"]
    assert history.look(group("-2")) == []
    assert texts(history) == ["said"]


def test_a_long_message_is_cut_and_files_are_named() -> None:
    history = GroupHistory()
    said = replace(
        message(group(), text="x" * (MAX_CHARS + 9)), attachments=(Attachment(kind="image", ref="r"),)
    )
    history.note(said, limit=9)

    (kept,) = history.take(group())

    assert len(kept.text) == MAX_CHARS
    assert kept.files == ("image",)


def test_a_changed_message_has_its_new_text() -> None:
    history = GroupHistory()
    history.note(message(group(), text="teh", number="4"), limit=9)
    right = Edited(id="4", address=group(), sender=person(), text="the", at=NOON)
    history.correct(right)
    history.correct(replace(right, id="5", text="nothing"))
    history.correct(replace(right, address=group("-9"), text="nothing"))

    assert texts(history) == ["the"]


def test_nobody_changes_the_words_of_another() -> None:
    history = GroupHistory()
    history.note(message(group(), text="no", number="4"), limit=9)
    history.correct(Edited(id="4", address=group(), sender=person("6"), text="yes", at=NOON))

    assert texts(history) == ["no"]


def test_notes_are_bounded_and_told_once() -> None:
    notes = Notes(max_conversations=1)
    notes.note(group(), "gone")
    for number in range(MAX_NOTES + 5):
        notes.note(direct(), f"n{number}")
        notes.note(direct(), f"n{number}")

    assert notes.take(group()) == []
    assert notes.take(direct()) == [f"n{number}" for number in range(5, MAX_NOTES + 5)]
    assert notes.take(direct()) == []
