"""Answers in whole blocks, where a message cannot be edited: each once, whatever comes between."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model.provider import ModelError, TextDelta
from agents.turn import Notice, Retrying, ToolFinished, ToolStarted, TurnEvent
from channels.account import LiveMode
from channels.channel import SendError
from channels.text import borders
from gateway.blocks import AGAIN, Block, BlockView, beyond, rest_of
from gateway.preferences import Preference, Verbosity
from gateway.writing import Writer
from sessions.key import SessionKey
from sessions.messages import Assistant, Text, ToolResult, User
from tests.fakes.channel import TRAITS, FakeChannel
from tests.fakes.front import OpenDoor, street
from tests.fakes.house import house
from tests.fakes.protocols import START, Calls, Fails, FakeTool, Hangs, Says, call

MAIN = SessionKey(agent="main", kind="main")
ONE = "The first paragraph, which is whole.\n\n"
TWO = "The second one, which is said after that."
QUICK = replace(TRAITS, block_chars=200, block_seconds=0.02)


@dataclass(slots=True)
class Told:
    """What a view sends."""

    blocks: list[Block] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, block: Block) -> None:
        self.blocks.append(block)
        self.came.set()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.blocks) < count:
                self.came.clear()
                await self.came.wait()


async def seen(*events: TurnEvent | int, said: str = "", secrets: Sequence[str] = ()) -> list[Block]:
    """The blocks of such events; a number waits until there are so many."""
    told = Told()
    view = BlockView(traits=QUICK, send=told.send, divides=Writer(secrets).divides, said=said)
    task = asyncio.create_task(view.run())
    for event in events:
        if isinstance(event, int):
            await told.until(event)
        else:
            view.hear(event)
    view.seal()
    await task
    return told.blocks


def says(text: str) -> TextDelta:
    return TextDelta(text=text)


LOOKS = ToolStarted(call=call("look"))


async def test_a_long_block_goes_out_at_once_and_a_short_one_when_nothing_follows() -> None:
    long = "word " * 50 + "\n\n"
    blocks = await seen(says(long + "and then some more"), 1, says(" words.\n\nThe third paragraph"), 2)
    assert [one.text for one in blocks] == [long, "and then some more words.\n\n"]
    assert "".join(one.said for one in blocks) == long + "and then some more words.\n\n"


async def test_what_is_not_whole_stays() -> None:
    code = "```python\nx = 1\n\ny = 2\n"
    blocks = await seen(says(ONE + code), 1, says("```\n\nThat was the code."), 2)
    assert [one.text for one in blocks] == [ONE, code + "```\n\n"]


async def test_no_heading_is_left_alone() -> None:
    blocks = await seen(says(ONE + "## A heading\n\nwhat it is about"), 1)
    assert [one.text for one in blocks] == [ONE]


async def test_what_is_said_before_a_tool_goes_out_whole_and_ends_there() -> None:
    blocks = await seen(says("Let me look."), LOOKS, LOOKS, ToolFinished(call=call("look"), result=RESULT), 1)
    assert blocks == [Block(text="Let me look.", said="Let me look.", closes=True)]


RESULT = ToolResult(at=START, call_id="c1", name="look", parts=(Text(text="seen"),))


async def test_a_round_without_a_word_is_not_told() -> None:
    assert await seen(LOOKS, says("NO_RE"), says("PLY"), LOOKS) == []


async def test_a_word_of_clawd_stands_before_the_first_block_alone() -> None:
    blocks = await seen(
        Notice(text="*(new)*\n\n"), says("Looking."), LOOKS, 1, says(ONE + "and so it goes on"), 2
    )
    assert [one.text for one in blocks] == ["*(new)*\n\nLooking.", ONE]
    assert [one.said for one in blocks] == ["Looking.", ONE]


async def test_a_try_that_comes_out_the_same_is_not_told_again() -> None:
    again = Retrying(reason="away", seconds=0)
    three = ONE + TWO + "\n\nAnd the third paragraph"
    blocks = await seen(says(ONE + TWO), 1, again, says(ONE[:9]), says(three[9:]), 2)
    assert [(one.text, one.anew) for one in blocks] == [(ONE, False), (TWO + "\n\n", False)]


async def test_a_try_that_comes_out_differently_is_told_whole_and_says_so() -> None:
    again = Retrying(reason="away", seconds=0)
    blocks = await seen(says(ONE + TWO), 1, again, says("Something else.\n\nand then some more"), 2)
    assert blocks[1] == Block(text=AGAIN + "Something else.\n\n", said="Something else.\n\n", anew=True)


async def test_a_try_that_calls_a_tool_instead_is_told_too() -> None:
    again = Retrying(reason="away", seconds=0)
    blocks = await seen(says(ONE + TWO), 1, again, says("Let me look."), LOOKS, 2)
    assert (blocks[1].text, blocks[1].closes) == (f"{AGAIN}Let me look.", True)


async def test_a_round_that_ends_while_a_pause_does_is_not_taken_for_another_try() -> None:
    """The event loop was late: the tool and the next round came in the moment in which the pause was over."""
    told = Told()
    view = BlockView(traits=replace(QUICK, block_seconds=0), send=told.send, divides=Writer().divides)
    task = asyncio.create_task(view.run())
    view.hear(says(ONE + TWO))
    await told.until(1)
    for event in (LOOKS, says("It is blue."), LOOKS):
        view.hear(event)
    await told.until(3)
    view.seal()
    await task
    assert [one.text.strip() for one in told.blocks] == [ONE.strip(), TWO, "It is blue."]


async def test_a_secret_of_several_lines_is_not_torn() -> None:
    secret = "begin of a secret\n\nend of the secret"
    blocks = await seen(
        says(f"{ONE}It is begin of a secret\n\nend of "),
        1,
        says("the secret\n\nNow you know it"),
        2,
        secrets=[secret],
    )
    assert [one.text for one in blocks] == [ONE, f"It is {secret}\n\n"]


@pytest.mark.parametrize(
    "inner",
    ["<think>a\n\nb</think>", "-----BEGIN KEY-----\na\n\nb\n-----END KEY-----", "<think\n\nx>y</think>"],
)
async def test_what_must_not_leave_is_not_torn(inner: str) -> None:
    blocks = await seen(says(ONE + inner[:-3]), 1, says(f"{inner[-3:]}\n\nThis is what can be read."), 2)
    assert [one.text for one in blocks] == [ONE, f"{inner}\n\n"]


@given(
    st.lists(st.sampled_from(["word ", "\n\n", "\n", "# ", "- ", "1. ", "```", "| a | b |", "> ", "<think>"]))
)
def test_divided_at_its_borders_a_text_is_the_same(pieces: list[str]) -> None:
    text = "".join(pieces)
    places = [0, *borders(text), len(text)]
    assert places == sorted(places)
    assert "".join(text[a:b] for a, b in pairwise(places)) == text


def test_what_is_left_of_a_text() -> None:
    assert beyond("", "all") == "all"
    assert beyond("One.\n\n", " One.\n\nTwo.") == "\n\nTwo."
    assert beyond("One.\n\n", "One") is None
    assert rest_of("One.", "One.") == ""
    assert rest_of("One.", "Two.") == f"{AGAIN}Two."


def shown(channel: FakeChannel) -> str:
    return "\n\n".join(channel.texts)


async def test_an_answer_grows_in_blocks_and_is_told_once(tmp_path: Path) -> None:
    channel, gate = FakeChannel().without_edits(), asyncio.Event()
    async with (
        house(tmp_path, Hangs(ONE + TWO, "\n\nThe end.", gate=gate)) as home,
        street(home, channel=channel) as scene,
    ):
        await scene.say("tell")
        await channel.until(lambda it: it.texts == [ONE.strip()])
        gate.set()
        await scene.quiet()
        assert shown(channel) == f"{ONE}{TWO}\n\nThe end."
        assert [(one.message.part, one.edits) for one in channel.bubbles] == [(0, 0), (1, 0)]
        assert len({one.message.key for one in channel.bubbles}) == 1
        assert scene.front.outbox.waiting() == []
        assert scene.front.inbox.waiting() == []


async def test_an_account_may_want_blocks_or_none_though_it_can_edit(tmp_path: Path) -> None:
    ways: tuple[tuple[LiveMode, int], ...] = (("blocks", 2), ("off", 1))
    for mode, expected in ways:
        channel, gate = FakeChannel(traits=replace(QUICK, can_edit=True)), asyncio.Event()
        async with (
            house(tmp_path / mode, Hangs(ONE + TWO, " Yes.", gate=gate)) as home,
            street(home, channel=channel, door=OpenDoor(live_view=mode)) as scene,
        ):
            await scene.say("tell")
            await home.model.hanging.wait()
            if mode == "blocks":
                await channel.until(lambda it: len(it.texts) == 1)
            gate.set()
            await scene.quiet()
            assert shown(channel) == f"{ONE}{TWO} Yes."
            assert len(channel.texts) == expected
            assert sum(one.edits for one in channel.bubbles) == 0


async def test_what_is_said_before_a_tool_stays(tmp_path: Path) -> None:
    channel, tool = FakeChannel().without_edits(), FakeTool(delay=0.05)
    script = (Calls((call("look"),), text="Let me look."), Says("It is blue."))
    async with house(tmp_path, *script, extra_tools=[tool]) as home, street(home, channel=channel) as scene:
        await scene.say("which colour?")
        await scene.quiet()
        assert channel.texts == ["Let me look.", "It is blue."]


@pytest.mark.parametrize(
    ("verbose", "first", "second"),
    [
        ("on", "Let me look.\n\n🔧 look", "🔧 look"),
        ("full", 'Let me look.\n\n🔧 look {"at": "the sky"}', '🔧 look {"at": "the sea"}'),
    ],
)
async def test_who_wants_to_see_the_tools_sees_them_where_nothing_can_be_edited(
    tmp_path: Path, verbose: Verbosity, first: str, second: str
) -> None:
    channel = FakeChannel().without_edits()
    both = (call("look", {"at": "the sky"}), call("look", {"at": "the sea"}, id="c2"))
    script = (Calls(both, text="Let me look."), Says("It is blue."))
    async with (
        house(tmp_path, *script, extra_tools=[FakeTool()]) as home,
        street(home, channel=channel) as scene,
    ):
        scene.preferences.set(MAIN, Preference(verbose=verbose))
        await scene.say("which colour?")
        await scene.quiet()
        assert channel.texts == [first, second, "It is blue."]
        assert scene.front.outbox.waiting() == []


async def test_a_silence_after_that_adds_nothing(tmp_path: Path) -> None:
    channel = FakeChannel().without_edits()
    script = (Calls((call("look"),), text="Let me look."), Says("NO_REPLY"))
    async with (
        house(tmp_path, *script, extra_tools=[FakeTool()]) as home,
        street(home, channel=channel) as scene,
    ):
        await scene.say("hm")
        await scene.quiet()
        assert channel.texts == ["Let me look."]
        assert scene.front.outbox.waiting() == []


async def test_a_turn_that_fails_ends_with_its_sentence_alone(tmp_path: Path) -> None:
    channel = FakeChannel().without_edits()
    script = (
        Calls((call("look"),), text=ONE + TWO),
        Fails(ModelError("The model is away. Try again later."), after="As I said"),
    )
    async with (
        house(tmp_path, *script, extra_tools=[FakeTool()]) as home,
        street(home, channel=channel) as scene,
    ):
        await scene.say("tell")
        await scene.quiet()
        assert shown(channel) == f"{ONE}{TWO}\n\n⚠️ The model is away. Try again later."


@pytest.mark.parametrize("told", [ONE + TWO, TWO])
async def test_a_stop_says_the_rest_and_that_it_was_stopped(tmp_path: Path, told: str) -> None:
    channel = FakeChannel().without_edits()
    async with house(tmp_path, Hangs(after=told)) as home, street(home, channel=channel) as scene:
        await scene.say("tell")
        await home.model.hanging.wait()
        if told.startswith(ONE):
            await channel.until(lambda it: it.texts == [ONE.strip()])
        await scene.say("/stop")
        await scene.quiet()
        assert f"{TWO}\n\n(stopped)" in channel.texts
        assert shown(channel).count(TWO) == 1


async def test_a_stop_while_a_tool_runs_says_nothing_twice(tmp_path: Path) -> None:
    channel, tool = FakeChannel().without_edits(), FakeTool(delay=60)
    script = (Calls((call("look"),), text="Let me look."),)
    async with house(tmp_path, *script, extra_tools=[tool]) as home, street(home, channel=channel) as scene:
        await scene.say("tell")
        await channel.until(lambda it: it.texts == ["Let me look."])
        await scene.say("/stop")
        await scene.quiet()
        assert sorted(channel.texts) == ["(stopped)", "Let me look.", "Stopped."]


@pytest.mark.parametrize(
    ("then", "expected"), [(ONE + TWO, ONE + TWO), ("No.", f"{ONE}{AGAIN}No.".replace("*", ""))]
)
async def test_a_restart_goes_on_behind_what_was_told(tmp_path: Path, then: str, expected: str) -> None:
    channel = FakeChannel().without_edits()
    async with house(tmp_path, Hangs(after=ONE + TWO[:20])) as home, street(home, channel=channel) as scene:
        await scene.say("tell")
        await channel.until(lambda it: it.texts == [ONE.strip()])
    async with (
        house(tmp_path, Says(then), first_session=2) as home,
        street(home, channel=channel) as scene,
    ):
        await scene.quiet()
        assert shown(channel) == expected
        assert scene.front.inbox.waiting() == []


async def test_a_restart_sends_a_block_that_was_ready_and_not_sent(tmp_path: Path) -> None:
    channel = FakeChannel().without_edits()
    hangs = asyncio.Event()

    async def never(_: object) -> None:
        hangs.set()
        await asyncio.Event().wait()

    channel.before_send = never
    async with house(tmp_path, Hangs(after=ONE + TWO)) as home, street(home, channel=channel) as scene:
        await scene.say("tell")
        await hangs.wait()
    channel.before_send = None
    async with (
        house(tmp_path, Says(ONE + TWO), first_session=2) as home,
        street(home, channel=channel) as scene,
    ):
        await scene.quiet()
        assert channel.texts == [f"(possibly repeated)\n{ONE.strip()}", TWO]


async def test_a_restart_after_a_tool_tells_the_rest_of_the_round_before_it(tmp_path: Path) -> None:
    """The process was killed between the transcript's line and the last block."""
    channel, tool = FakeChannel().without_edits(), FakeTool(delay=60)
    script = (Calls((call("look"),), text=ONE + TWO),)
    async with house(tmp_path, *script, extra_tools=[tool]) as home, street(home, channel=channel) as scene:
        await scene.say("tell")
        await channel.until(lambda it: len(it.texts) > 0)
    path = tmp_path / "home/journals/outbox.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["type"] == "grown":
            line |= {"said": ONE, "closes": False, "parts": [line["parts"][0] | {"text": ONE.strip()}]}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    channel.bubbles[0].message = replace(channel.bubbles[0].message, text=ONE.strip())
    async with (
        house(tmp_path, Says("Blue."), first_session=2) as home,
        street(home, channel=channel) as scene,
    ):
        await scene.quiet()
        assert channel.texts == [ONE.strip(), TWO, "Blue."]


async def test_an_answer_that_was_recorded_is_told_from_where_it_stopped(tmp_path: Path) -> None:
    channel = FakeChannel().without_edits()
    async with house(tmp_path, Hangs(after=ONE + TWO)) as home, street(home, channel=channel) as scene:
        await scene.say("tell")
        await channel.until(lambda it: it.texts == [ONE.strip()])
    async with house(tmp_path, first_session=2) as home:
        record = home.registry.get(MAIN)
        assert record is not None
        answer = Assistant(
            at=START, parts=(Text(text=ONE + TWO),), stop="stop", provider="s", api="s", model="script"
        )
        conversations = home.roster.of(None).runtime.conversations
        async with conversations.use(record.session_id, cwd=home.workspace) as conversation:
            assert isinstance(conversation.said[0], User)
            await conversation.record(answer)
        async with street(home, channel=channel) as scene:
            await scene.quiet()
            assert channel.texts == [ONE.strip(), TWO]
            assert home.model.requests == []


async def test_a_block_that_is_refused_waits_for_the_end_and_is_one_dead_letter_with_it(
    tmp_path: Path,
) -> None:
    channel, gate = FakeChannel().without_edits(), asyncio.Event()
    refused, refusals = asyncio.Event(), 2

    async def refuse(_: object) -> None:
        nonlocal refusals
        refusals -= 1
        if refusals >= 0:
            refused.set()
            raise SendError("blocked", gone=True)

    channel.before_send = refuse
    async with (
        house(tmp_path, Hangs(ONE + TWO, " Yes.", gate=gate)) as home,
        street(home, channel=channel) as scene,
    ):
        await scene.say("tell")
        await refused.wait()
        gate.set()
        await scene.quiet()
        (dead,) = scene.front.outbox.dead_letters()
        assert [part.plain for part in dead.parts] == [ONE.strip(), f"{TWO} Yes."]
        assert await scene.front.postman.revive(dead.key)
        await scene.quiet()
        assert shown(channel) == f"{ONE}{TWO} Yes."


async def test_a_secret_that_lies_across_blocks_does_not_leave(tmp_path: Path) -> None:
    """The street's own secret is one line; a key of several is known by its shape."""
    channel, gate = FakeChannel().without_edits(), asyncio.Event()
    first = f"{ONE}-----BEGIN A KEY-----\nabc\n\ndef"
    script = Hangs(first, "\n-----END A KEY-----\n\nsesame-opens-the-door", gate=gate)
    async with house(tmp_path, script) as home, street(home, channel=channel) as scene:
        await scene.say("tell")
        await channel.until(lambda it: it.texts == [ONE.strip()])
        gate.set()
        await scene.quiet()
        assert channel.texts == [ONE.strip(), "[redacted]\n\n[redacted]"]
