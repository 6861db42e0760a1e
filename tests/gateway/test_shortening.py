"""Long conversations: saved first, then shortened; never dead; old results shorter when that is free."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from agents.model.provider import ContextOverflow, Unreachable
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import ToolResult, Usage, text_of
from sessions.settings import SessionsSettings
from sessions.summary import HEADINGS
from tests.fakes.house import House, house
from tests.fakes.protocols import Calls, Fails, FakeTool, Says, Step, call

MAIN = SessionKey(agent="main", kind="main")
WINDOW = 16_000
LONG = "The boat PT-4471 is at https://harbour.example/dock/9. " + "words about sailing " * 300
SUMMARY = "\n\n".join(f"## {heading}\nsomething about it" for heading in HEADINGS)
PLAIN = SessionsSettings.model_validate({"start_notes": {"enabled": False}, "reset": {"daily_at": None}})


async def say(scene: House, *texts: str) -> list[str]:
    said = []
    for text in texts:
        said.append((await scene.gateway.chat(agent=None, session=None, text=text)).reply)
        await scene.gateway.lanes.drain(10)
    return said


def filling(turns: int) -> list[Step]:
    return [Says(LONG) for _ in range(turns)]


@pytest.mark.parametrize(("prompt", "shortened"), [(11_899, False), (11_900, True)])
async def test_a_conversation_near_the_windows_end_is_saved_and_then_shortened(
    tmp_path: Path, prompt: int, shortened: bool
) -> None:
    script = [*filling(4), Says("NO_REPLY"), Says(SUMMARY), Says("after"), Says("later")]
    async with house(tmp_path, *script, sessions=PLAIN, window=WINDOW) as scene:
        await say(scene, "one", "two", "three")
        scene.model.usage = Usage(input=prompt, output=100)
        await say(scene, "four")
        scene.model.usage = Usage(input=10, output=5)
        kinds = [line["type"] for line in map(json.loads, scene.transcript("session-1").splitlines())]

    assert ("compaction" in kinds) is shortened


async def test_after_shortening_the_model_sees_the_summary_and_the_person_is_told_once(
    tmp_path: Path,
) -> None:
    script = [*filling(4), Says("NO_REPLY"), Says(SUMMARY), Says(SUMMARY), Says("after"), Says("later")]
    async with house(tmp_path, *script, sessions=PLAIN, window=WINDOW) as scene:
        await say(scene, "one", "two", "three")
        scene.model.usage = Usage(input=12_000, output=100)
        await say(scene, "four")
        scene.model.usage = Usage(input=10, output=5)
        answers = await say(scene, "and now?", "once more")
        sent = scene.model.requests[-1].messages
        flushed = scene.model.requests[4].messages[-1]

    assert "NO_REPLY" in text_of(flushed.parts)
    assert "older part of this conversation was summarised" in answers[0]
    assert "summarised" not in answers[1]
    assert "<summary>" in text_of(sent[0].parts)
    assert "PT-4471" in text_of(sent[0].parts)
    assert "https://harbour.example/dock/9" in text_of(sent[0].parts)


async def test_a_request_that_was_too_large_is_shortened_and_asked_again(tmp_path: Path) -> None:
    script = [*filling(4), Fails(ContextOverflow("too long")), Says(SUMMARY), Says("here I am")]
    async with house(tmp_path, *script, sessions=PLAIN, window=100_000) as scene:
        small = scene.gateway.record(MAIN)
        assert small is None
        await say(scene, "one", "two", "three", "four")
        scene.model.script.insert(2, Says(SUMMARY))
        (answer,) = await say(scene, "five")

        assert "here I am" in answer or "something about it" in answer
        assert '"type":"compaction"' in scene.transcript("session-1")


async def test_a_conversation_is_never_dead_even_without_a_summary(tmp_path: Path) -> None:
    down = Fails(Unreachable("down"))
    script: list[Step] = [*filling(3), Fails(ContextOverflow("too long")), down, Says("alive")]
    async with house(tmp_path, *script, sessions=PLAIN, window=WINDOW) as scene:
        await say(scene, "one", "two", "three")
        (answer,) = await say(scene, "four")

        assert answer.startswith("alive")
        assert "left out here without a summary" in text_of(scene.model.requests[-1].messages[0].parts)
        assert "PT-4471" in text_of(scene.model.requests[-1].messages[0].parts)


async def test_what_never_fits_ends_in_a_clear_refusal(tmp_path: Path) -> None:
    script: list[Step] = [Fails(ContextOverflow("too long for this model")) for _ in range(5)]
    async with house(tmp_path, *script, sessions=PLAIN, window=WINDOW) as scene:
        with pytest.raises(Refused, match="too long for this model"):
            await say(scene, "hello")


async def test_compact_is_obeyed_by_hand(tmp_path: Path) -> None:
    script = [*filling(3), Says("NO_REPLY"), Says(SUMMARY), Says(SUMMARY), Says("on we go")]
    keep = {"compaction": {"keep_recent_tokens": 1_000}, "start_notes": {"enabled": False}}
    async with house(tmp_path, *script, sessions=SessionsSettings.model_validate(keep)) as scene:
        answers = await say(scene, "one", "two", "three", "/compact keep the boat")

        assert "The older part is summarised" in answers[-1]
        assert "keep the boat" in "".join(
            text_of(message.parts) for request in scene.model.requests for message in request.messages
        )


async def test_a_failed_summary_changes_nothing_and_is_told(tmp_path: Path) -> None:
    script: list[Step] = [*filling(3), Says("NO_REPLY"), Fails(Unreachable("the model is down"))]
    keep = {"compaction": {"keep_recent_tokens": 1_000}, "start_notes": {"enabled": False}}
    async with house(tmp_path, *script, sessions=SessionsSettings.model_validate(keep)) as scene:
        await say(scene, "one", "two", "three")
        with pytest.raises(Refused, match="the model is down"):
            await say(scene, "/compact")

        assert '"type":"compaction"' not in scene.transcript("session-1")
        assert "clawd.compaction_failed" in scene.transcript("session-1")


async def test_a_huge_result_is_capped_when_it_comes_in(tmp_path: Path) -> None:
    tool = FakeTool(answer="HEAD-7f3a\n" + "x" * 400_000 + "\nTAIL-91bc")
    script: list[Step] = [Calls((call("look"),)), Says("seen")]
    async with house(tmp_path, *script, extra_tools=[tool], sessions=PLAIN, window=WINDOW) as scene:
        await say(scene, "look")
        (result,) = [m for m in scene.model.requests[1].messages if isinstance(m, ToolResult)]

    text = text_of(result.parts)
    assert len(text) < 10_000
    assert text.startswith("HEAD-7f3a")
    assert text.endswith("TAIL-91bc")


async def test_old_results_are_shorter_once_the_cache_is_cold_and_stay_so(tmp_path: Path) -> None:
    tool = FakeTool(answer="begin " + "x" * 30_000 + " end")
    always = PLAIN.model_copy(update={"pruning": PLAIN.pruning.model_copy(update={"gate": False})})
    script: list[Step] = [Calls((call("look"),)), Says("1"), *[Says(str(n)) for n in range(8)]]
    async with house(tmp_path, *script, extra_tools=[tool], sessions=always, window=20_000) as scene:
        await say(scene, "look", "a", "b", "c")
        warm = _result(scene)
        scene.clock.now += timedelta(minutes=6)
        await say(scene, "d")
        cold = _result(scene)
        await say(scene, "e")
        later = _result(scene)

    assert len(warm) > 7_000
    assert len(cold) < 5_000
    assert "result_get" in cold
    assert later == cold


async def test_after_a_pause_old_results_are_shorter_before_they_are_sent_for_saving(tmp_path: Path) -> None:
    tool, back = FakeTool(answer="begin " + "x" * 30_000 + " end"), FakeTool(name="result_get")
    always = PLAIN.model_copy(update={"pruning": PLAIN.pruning.model_copy(update={"gate": False})})
    script: list[Step] = [Calls((call("look"),)), *[Says(str(n)) for n in range(4)]]
    script += [Calls((call("result_get", {"ref": "c1"}, id="c2"),)), Says("NO_REPLY"), Says(SUMMARY)]
    async with house(tmp_path, *script, extra_tools=[tool, back], sessions=always, window=20_000) as scene:
        await say(scene, "look", "a", "b", "c")
        scene.clock.now += timedelta(hours=6)
        await say(scene, "/compact")
        saving = scene.model.requests[5]
        (result,) = [message for message in saving.messages if isinstance(message, ToolResult)]

    assert "NO_REPLY" in text_of(saving.messages[-1].parts)
    assert len(text_of(result.parts)) < 5_000
    assert back.seen == [{"ref": "c1"}]


def _result(scene: House) -> str:
    (result,) = [m for m in scene.model.requests[-1].messages if isinstance(m, ToolResult)]
    return text_of(result.parts)
