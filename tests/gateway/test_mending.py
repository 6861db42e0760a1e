"""A provider that refuses how calls and results stand together is asked once more, without them."""

from pathlib import Path

import pytest

from agents.model.provider import BadPairing
from agents.replay import past_calls, replay
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import Assistant, ToolResult, text_of
from sessions.settings import SessionsSettings
from tests.fakes.house import House, house
from tests.fakes.protocols import Calls, Fails, FakeTool, Says, Step, call

MAIN = SessionKey(agent="main", kind="main")
QUIET = SessionsSettings.model_validate({"start_notes": {"enabled": False}})
REFUSED = Fails(BadPairing("`tool_use` ids were found without `tool_result` blocks"))
LOOK = Calls((call("look"),))


async def say(scene: House, *texts: str) -> list[str]:
    return [(await scene.gateway.chat(agent=None, session=None, text=text)).reply for text in texts]


def paired(scene: House) -> int:
    """Calls and results in the last request."""
    return sum(
        isinstance(message, ToolResult) or (isinstance(message, Assistant) and bool(message.calls))
        for message in scene.model.requests[-1].messages
    )


async def test_the_turn_goes_on_with_its_results_as_text_and_no_tool_runs_twice(tmp_path: Path) -> None:
    tool = FakeTool(answer="a lighthouse")
    script: list[Step] = [LOOK, REFUSED, Says("It is a lighthouse."), Says("Yes.")]
    async with house(tmp_path, *script, extra_tools=[tool], sessions=QUIET) as scene:
        answers = await say(scene, "what is it?")
        mended = paired(scene)
        await say(scene, "sure?")

        assert answers == ["It is a lighthouse."]
        assert len(tool.seen) == 1
        assert (mended, paired(scene)) == (0, 0)
        assert "a lighthouse" in text_of(scene.model.requests[2].messages[-1].parts)
        first, later = scene.model.requests[2].messages, scene.model.requests[3].messages
        assert later[: len(first)] == first


async def test_past_requests_are_still_rebuilt(tmp_path: Path) -> None:
    script: list[Step] = [LOOK, Says("one"), REFUSED, LOOK, Says("two"), Says("three")]
    async with house(tmp_path, *script, extra_tools=[FakeTool()], sessions=QUIET) as scene:
        await say(scene, "a", "b", "c")
        entries = await scene.gateway.entries(MAIN)
        sent = [request for number, request in enumerate(scene.model.requests) if number != 2]

        assert [replay(entries, one).request for one in past_calls(entries)] == sent


async def test_it_is_asked_once_more_and_then_told(tmp_path: Path) -> None:
    script: list[Step] = [LOOK, REFUSED, REFUSED, Says("alive")]
    async with house(tmp_path, *script, extra_tools=[FakeTool()], sessions=QUIET) as scene:
        with pytest.raises(Refused, match="without `tool_result` blocks"):
            await say(scene, "what is it?")

        assert len(scene.model.requests) == 3
        assert await say(scene, "still there?") == ["alive"]


async def test_finished_turns_keep_theirs_until_that_is_not_enough(tmp_path: Path) -> None:
    script: list[Step] = [LOOK, Says("1"), LOOK, REFUSED, Says("2"), REFUSED, Says("3")]
    async with house(tmp_path, *script, extra_tools=[FakeTool()], sessions=QUIET) as scene:
        await say(scene, "a", "b")
        once = paired(scene)
        await say(scene, "c")

        assert (once, paired(scene)) == (2, 0)
