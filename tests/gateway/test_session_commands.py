"""Commands that choose a model for a session, and what a new one begins with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agents.model.catalog import ModelStatus
from gateway.views import Refused
from sessions.messages import text_of
from sessions.settings import SessionsSettings
from tests.fakes.house import House, house
from tests.fakes.protocols import Says

QUIET = SessionsSettings.model_validate(
    {"compaction": {"flush": {"enabled": False}}, "note": {"enabled": False}}
)


def status(provider: str, model: str, *, usable: bool = True) -> ModelStatus:
    reason = "" if usable else "ANTHROPIC_API_KEY is not set"
    return ModelStatus(provider=provider, model=model, usable=usable, reason=reason, is_default=False)


MODELS = (status("openai", "big"), status("openai", "small"), status("anthropic", "wise", usable=False))


@asynccontextmanager
async def noted(folder: Path, *answers: str) -> AsyncIterator[House]:
    """With a note of today."""
    said = [Says(text) for text in answers]
    async with house(folder, *said, models=MODELS, sessions=QUIET) as scene:
        (scene.workspace / "memory" / "2026-05-01.md").write_text("# 2026-05-01\n\nThe boat leaks.\n")
        yield scene


async def say(scene: House, *texts: str) -> list[str]:
    return [(await scene.gateway.chat(agent=None, session=None, text=text)).reply for text in texts]


def seen(scene: House, request: int) -> str:
    return "\n".join(text_of(message.parts) for message in scene.model.requests[request].messages)


async def test_new_with_a_model_begins_a_session_that_it_answers_and_loads_the_notes(tmp_path: Path) -> None:
    async with noted(tmp_path, "1", "2", "3") as scene:
        answers = await say(scene, "hello", "/new openai/big", "and now?", "/new", "again")

        assert "openai/big answers in it" in answers[1]
        assert [request.model for request in scene.model.requests] == ["script", "openai/big", "script"]
        assert "The boat leaks." in seen(scene, 1)
        assert "hello" not in seen(scene, 1)


async def test_new_with_a_model_and_a_text_does_both(tmp_path: Path) -> None:
    async with noted(tmp_path, "1", "2") as scene:
        answers = await say(scene, "hello", "/new openai/small what is tea?")

        assert answers[1] == "2"
        assert scene.model.requests[1].model == "openai/small"
        assert "The boat leaks." in seen(scene, 1)
        assert seen(scene, 1).endswith("what is tea?")


@pytest.mark.parametrize("text", ["what is tea?", "and/or is a word", "openai/unknown as a word"])
async def test_new_with_a_text_begins_with_it_and_no_notes(tmp_path: Path, text: str) -> None:
    async with noted(tmp_path, "1", "2", "3") as scene:
        await say(scene, "hello", f"/new {text}", "more")

        assert seen(scene, 1) == text
        assert "The boat leaks." not in seen(scene, 2)
        assert scene.model.requests[1].model == "script"


async def test_the_very_first_message_may_be_one(tmp_path: Path) -> None:
    async with noted(tmp_path, "1", "2") as scene:
        await say(scene, "/new openai/big", "hello")

        assert scene.model.requests[0].model == "openai/big"
        assert "The boat leaks." in seen(scene, 0)


async def test_a_known_model_that_cannot_be_used_is_refused_and_nothing_ends(tmp_path: Path) -> None:
    async with noted(tmp_path, "1", "2") as scene:
        await say(scene, "hello")
        with pytest.raises(Refused, match="anthropic/wise cannot be used: ANTHROPIC_API_KEY is not set"):
            await say(scene, "/new anthropic/wise")
        await say(scene, "more")

        assert "hello" in seen(scene, 1)


async def test_model_changes_it_for_this_session_and_is_remembered_by_the_transcript(tmp_path: Path) -> None:
    async with noted(tmp_path, "1", "2", "3") as scene:
        answers = await say(scene, "hello", "/model big", "more", "/model", "/model default", "end")

        assert "openai/big answers in this session from now on" in answers[1]
        assert "**This session**: openai/big" in answers[3]
        assert [request.model for request in scene.model.requests] == ["script", "openai/big", "script"]
        assert '"modelId":"openai/big"' in scene.transcript("session-1")

    async with house(tmp_path, Says("4"), Says("5"), first_session=5, sessions=QUIET) as scene:
        await say(scene, "/model openai/small", "hello again")
    async with house(tmp_path, Says("6"), first_session=6, sessions=QUIET) as scene:
        await say(scene, "and again")

        assert scene.model.requests[0].model == "openai/small"


async def test_a_model_that_cannot_be_used_is_refused_with_those_that_can(tmp_path: Path) -> None:
    async with noted(tmp_path, "1") as scene:
        with pytest.raises(Refused, match="Usable are: openai/big, openai/small"):
            await say(scene, "/model nonsense")
        await say(scene, "hello")

        assert scene.model.requests[0].model == "script"


async def test_think_sets_the_effort_of_this_session(tmp_path: Path) -> None:
    async with noted(tmp_path, "1", "2", "3") as scene:
        answers = await say(scene, "hello", "/think high", "more", "/think", "/think default", "end")

        assert answers[1] == "Thinking: high, from the next message on."
        assert "off, low, medium, high, or default" in answers[3]
        assert [request.thinking for request in scene.model.requests] == ["off", "high", "off"]
        with pytest.raises(Refused, match="no effort 'very'"):
            await say(scene, "/think very")
