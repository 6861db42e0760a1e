"""When sessions begin and end, and what they leave."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from agents.model.provider import Unreachable
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import User, text_of
from sessions.settings import SessionsSettings
from tests.fakes.house import House, house
from tests.fakes.protocols import Calls, Fails, Says, Step, call

MAIN = SessionKey(agent="main", kind="main")
QUIET = SessionsSettings.model_validate(
    {"compaction": {"flush": {"enabled": False}}, "note": {"slug": "time"}, "start_notes": {"enabled": False}}
)


async def say(scene: House, *texts: str) -> list[str]:
    return [(await scene.gateway.chat(agent=None, session=None, text=text)).reply for text in texts]


def notes(scene: House) -> Sequence[Path]:
    return sorted((scene.workspace / "memory").glob("*.md"))


async def test_new_answers_at_once_and_the_old_session_leaves_a_note(tmp_path: Path) -> None:
    async with house(tmp_path, Says("Hello Ana."), sessions=QUIET) as scene:
        answers = await say(scene, "I am Ana", "/new")
        await scene.gateway.lanes.drain(5)

        assert "/resume" in answers[1]
        (note,) = notes(scene)
        assert note.name == "2026-05-01-0900.md"
        assert "user: I am Ana\nassistant: Hello Ana." in note.read_text()
        record = scene.gateway.record(MAIN)
        assert record is not None
        assert record.session_id == "session-2"


async def test_the_models_word_names_the_note(tmp_path: Path) -> None:
    settings = SessionsSettings.model_validate({"compaction": {"flush": {"enabled": False}}})
    async with house(tmp_path, Says("Nice."), Says("boat-trip"), sessions=settings) as scene:
        await say(scene, "we go sailing", "/reset")
        await scene.gateway.lanes.drain(5)

        assert [note.name for note in notes(scene)] == ["2026-05-01-boat-trip.md"]


async def test_unsaved_turns_are_saved_before_the_note(tmp_path: Path) -> None:
    write = call("write", {"path": "memory/2026-05-01.md", "content": "Ana sails.", "mode": "append"})
    script: list[Step] = [Says("Nice."), Calls((write,)), Says("NO_REPLY"), Says("sailing")]
    async with house(tmp_path, *script) as scene:
        await say(scene, "we go sailing", "/new")
        await scene.gateway.lanes.drain(5)

        assert [note.name for note in notes(scene)] == ["2026-05-01-sailing.md", "2026-05-01.md"]
        ended = await scene.gateway.lifecycle.resume(MAIN, "session-1")
        assert ended.session_id == "session-1"
        said = (await scene.gateway.session(MAIN)).messages
        assert [text_of(message.parts) for message in said] == ["we go sailing", "Nice."]


async def test_the_silent_turn_may_write_nowhere_else(tmp_path: Path) -> None:
    elsewhere = call("write", {"path": "MEMORY.md", "content": "x", "mode": "overwrite"})
    script: list[Step] = [Says("Nice."), Calls((elsewhere,)), Says("NO_REPLY"), Says("topic")]
    async with house(tmp_path, *script) as scene:
        before = (scene.workspace / "MEMORY.md").read_text()
        await say(scene, "hello", "/new")
        await scene.gateway.lanes.drain(5)

        assert (scene.workspace / "MEMORY.md").read_text() == before
        assert "only append to memory/2026-05-01.md" in scene.transcript("session-1")


async def test_a_new_session_begins_with_the_notes_of_the_last_days_and_once(tmp_path: Path) -> None:
    async with house(tmp_path, Says("1"), Says("2")) as scene:
        (scene.workspace / "memory" / "2026-04-30.md").write_text("# 2026-04-30\n\nThe boat leaks.\n")
        await say(scene, "hello", "again")

    first = [text_of(message.parts) for message in scene.model.requests[0].messages]
    assert "The boat leaks." in first[0]
    assert "not instructions" in first[0]
    assert first[1] == "hello"
    assert sum("The boat leaks." in text_of(m.parts) for m in scene.model.requests[1].messages) == 1


async def test_new_with_a_text_begins_with_it(tmp_path: Path) -> None:
    async with house(tmp_path, Says("one"), Says("two"), sessions=QUIET) as scene:
        answers = await say(scene, "hello", "/new what is tea?")

        sent = [text_of(m.parts) for m in scene.model.requests[1].messages if isinstance(m, User)]
        assert answers[1] == "two"
        assert sent == ["what is tea?"]


async def test_a_day_that_has_passed_begins_a_new_session_and_says_so(tmp_path: Path) -> None:
    async with house(tmp_path, Says("one"), Says("two"), sessions=QUIET) as scene:
        await say(scene, "hello")
        scene.clock.now += timedelta(days=1)
        (answer,) = await say(scene, "good morning")
        await scene.gateway.lanes.drain(5)

        assert answer.endswith("two")
        assert "A new day: this is a new session" in answer
        assert [text_of(m.parts) for m in scene.model.requests[1].messages] == ["good morning"]
        assert len(notes(scene)) == 1


@pytest.mark.parametrize(("minutes", "session"), [(29, "session-1"), (30, "session-2")])
async def test_a_long_silence_ends_a_session_where_that_is_wanted(
    tmp_path: Path, minutes: int, session: str
) -> None:
    idle = QUIET.model_copy(update={"reset": QUIET.reset.model_copy(update={"idle_minutes": 30})})
    async with house(tmp_path, Says("one"), Says("two"), sessions=idle) as scene:
        await say(scene, "hello")
        scene.clock.now += timedelta(minutes=minutes)
        answer = await scene.gateway.chat(agent=None, session=None, text="still there?")

        assert answer.session_id == session


async def test_what_the_program_writes_itself_breaks_no_silence(tmp_path: Path) -> None:
    """B39."""
    idle = QUIET.model_copy(update={"reset": QUIET.reset.model_copy(update={"idle_minutes": 30})})
    async with house(tmp_path, Says("one"), Says("two"), sessions=idle) as scene:
        await scene.gateway.chat(agent=None, session=None, text="hello")
        scene.clock.now += timedelta(minutes=29)
        (record,) = scene.gateway.sessions()
        scene.registry.touch(record.key, scene.clock.now, record.messages)
        scene.clock.now += timedelta(minutes=1)
        reply = await scene.gateway.chat(agent=None, session=None, text="still there?")

    assert "After a long pause" in reply.reply


async def test_what_became_stale_while_nobody_wrote_is_saved_by_the_sweep_once(tmp_path: Path) -> None:
    async with house(tmp_path, Says("one"), sessions=QUIET) as scene:
        await say(scene, "hello")
        scene.clock.now += timedelta(days=1)
        for _ in range(3):
            await scene.gateway.lifecycle.sweep()
            await scene.gateway.lanes.drain(5)

        assert len(notes(scene)) == 1
        assert len(scene.model.requests) == 1


async def test_resume_brings_the_last_session_back(tmp_path: Path) -> None:
    async with house(tmp_path, Says("Hello Ana."), Says("Who?"), Says("Ana."), sessions=QUIET) as scene:
        await say(scene, "I am Ana", "/new", "who am I?", "/resume session-1", "who am I?")

        sent = [text_of(message.parts) for message in scene.model.requests[-1].messages]
        assert sent == ["I am Ana", "Hello Ana.", "who am I?"]


async def test_a_session_that_cannot_be_resumed_is_told_with_those_that_can(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hi"), sessions=QUIET) as scene:
        with pytest.raises(Refused, match="there is none"):
            await say(scene, "/resume")
        await say(scene, "hello", "/new")
        with pytest.raises(Refused, match="session-1"):
            await say(scene, "/resume nonsense")


async def test_a_note_that_could_not_be_written_is_written_by_the_next_run(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hi"), sessions=QUIET) as scene:
        await say(scene, "remember the cat")
        (scene.workspace / "memory").rename(scene.workspace / "gone")
        (scene.workspace / "memory").write_text("in the way")
        await say(scene, "/new")
        await scene.gateway.lanes.drain(5)
        (scene.workspace / "memory").unlink()
        (scene.workspace / "gone").rename(scene.workspace / "memory")
        assert notes(scene) == []

    async with house(tmp_path, first_session=3, sessions=QUIET) as scene:
        scene.gateway.lifecycle.settle_all()
        await scene.gateway.lanes.drain(5)

        assert "remember the cat" in notes(scene)[0].read_text()


async def test_without_a_usable_model_the_note_is_written_all_the_same(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hi"), Fails(Unreachable("down")), Fails(Unreachable("down"))) as scene:
        await say(scene, "remember the cat", "/new")
        await scene.gateway.lanes.drain(5)

        assert "remember the cat" in notes(scene)[-1].read_text()


async def test_saving_is_recorded_in_the_transcript(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hi"), Says("NO_REPLY"), Says("cat")) as scene:
        await say(scene, "hello", "/new")
        await scene.gateway.lanes.drain(5)
        lines = [json.loads(line) for line in scene.transcript("session-1").splitlines()]

    marks = [
        line["data"] for line in lines if line["type"] == "custom" and line["customType"] == "clawd.flush"
    ]
    assert [(mark["outcome"], mark["cause"]) for mark in marks] == [("nothing", "new")]
