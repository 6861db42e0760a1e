"""The whole path between a person on Telegram and a model, while Telegram, the network, the clock and people
misbehave: no message is lost, none is answered twice, nothing falls over, and the status tells the truth."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from channels.telegram.channel import TelegramChannel
from sessions.messages import Text, User
from tests.channels.telegram.wired import FAST, channel_of, until
from tests.fakes.front import OpenDoor, Street, steering, street
from tests.fakes.house import House, house
from tests.fakes.protocols import Hangs, Says, Step
from tests.fakes.telegram import TelegramServer, telegram_server
from tests.fakes.telegram_world import ANNA, BEN, FORUM, GROUP, Chat, World


@dataclass(slots=True)
class Scene:
    """`server` is Telegram, `channel` the bot, `street` what clawd does of it."""

    server: TelegramServer
    channel: TelegramChannel
    street: Street
    house: House

    @property
    def world(self) -> World:
        return self.server.world

    def texts(self, chat: int = ANNA) -> list[str]:
        return [one.text for one in self.world.from_bot(chat)]

    async def answered(self, *texts: str, chat: int = ANNA) -> None:
        """These stand in the chat, each once, and nothing else of ours comes."""
        await until(lambda: len(self.texts(chat)) >= len(texts), 60)
        await self.street.quiet()
        assert self.texts(chat) == list(texts)

    def asked(self) -> Counter[str]:
        """What people said, as the model was given it: how often it came in as something new."""
        last = self.house.model.requests[-1].messages if self.house.model.requests else ()
        said = [
            part.text for one in last if isinstance(one, User) for part in one.parts if isinstance(part, Text)
        ]
        return Counter(text.split(": ", 1)[-1] for text in said)


@asynccontextmanager
async def clawd(
    folder: Path, *script: Step, world: World | None = None, door: OpenDoor | None = None, answer: float = 5
) -> AsyncIterator[Scene]:
    timing = replace(FAST, answer=answer)
    async with telegram_server(world) as server, house(folder, *script) as home:
        channel = channel_of(server, folder / "home", clock=home.clock, timing=timing)
        async with street(home, channel=channel, door=door) as made:  # type: ignore[arg-type]
            running = asyncio.create_task(channel.run(partial(made.front.reception.receive, channel)))
            try:
                yield Scene(server, channel, made, home)
                assert not running.done(), "the channel has fallen over"
                assert made.front.outbox.waiting() == []
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)


def own_turns() -> OpenDoor:
    """Each message is a turn of its own."""
    return steering(mode="followup", cap=1_000)


async def test_two_minutes_without_a_network(tmp_path: Path) -> None:
    """An answer is made meanwhile, and people go on writing."""
    slow = Hangs(then="The first answer.")
    async with clawd(tmp_path, slow, Says("The second answer."), door=own_turns()) as scene:
        scene.world.say(ANNA, "first")
        await scene.house.model.hanging.wait()
        await scene.server.down()
        slow.gate.set()
        await until(lambda: "Telegram cannot be reached" in scene.channel.health.error)
        assert scene.channel.status().state == "waiting"
        scene.world.say(ANNA, "second")
        scene.house.clock.now += timedelta(minutes=2)
        assert scene.channel.status().age_seconds == 120
        await until(lambda: bool(scene.street.front.outbox.waiting()))
        await scene.server.up()
        await scene.answered("The first answer.", "The second answer.")
        assert (scene.channel.health.connected, scene.channel.health.error) == (True, "")
        assert scene.channel.health.alive_at == scene.house.clock.now


async def test_a_server_that_answers_500_for_a_while(tmp_path: Path) -> None:
    async with clawd(tmp_path, Says("Hello.")) as scene:
        await until(lambda: scene.channel.health.connected)
        for method in ("getUpdates", "sendMessage", "editMessageText", "sendChatAction"):
            scene.server.knobs.refuse(method, 500, "Internal Server Error", times=2)
        scene.world.say(ANNA, "hello")
        await scene.answered("Hello.")
        await until(lambda: scene.channel.health.connected)


async def test_a_server_that_asks_to_wait(tmp_path: Path) -> None:
    """Neither the growing message nor its last form is sent before the time is up; it stands there once."""
    slow = Hangs(after="It is a long ", then="story.")
    async with clawd(tmp_path, slow) as scene:
        asked = {"retry_after": 1}
        scene.server.knobs.refuse("sendMessage", 429, "Too Many Requests: retry after 1", **asked)
        scene.server.knobs.refuse(
            "editMessageText", 429, "Too Many Requests: retry after 1", times=2, **asked
        )
        scene.world.say(ANNA, "tell me")
        await until(lambda: bool(scene.texts()))
        slow.gate.set()
        await scene.answered("It is a long story.")
        assert scene.server.count("sendMessage") == 2
        assert scene.server.count("editMessageText") <= 4


async def test_a_server_whose_answers_are_slow(tmp_path: Path) -> None:
    async with clawd(tmp_path, Says("Hello."), Says("Again.")) as scene:
        scene.server.knobs.slow |= {"getupdates": 0.2, "sendmessage": 0.3, "editmessagetext": 0.3}
        scene.world.say(ANNA, "hello")
        await scene.answered("Hello.")
        scene.world.say(ANNA, "and now?")
        await scene.answered("Hello.", "Again.")


async def test_an_answer_of_which_nobody_hears_whether_it_arrived_is_seen_once(tmp_path: Path) -> None:
    """So slow that the connection is given up, after Telegram has taken the message."""
    async with clawd(tmp_path, Says("Hello."), Says("Again."), answer=1) as scene:
        scene.server.knobs.lost.append("sendmessage")
        scene.world.say(ANNA, "hello")
        await until(lambda: len(scene.texts()) == 1)
        await scene.street.quiet()
        shown = [one for one in scene.texts() if "Hello." in one]
        assert shown == ["Hello."] or shown[-1].startswith("(possibly repeated)")
        scene.world.say(ANNA, "and now?")
        await until(lambda: "Again." in scene.texts()[-1])
        await scene.street.quiet()


async def test_updates_that_come_twice_and_in_disorder(tmp_path: Path) -> None:
    replies = [Says(f"answer {n}") for n in range(5)]
    world = World()
    for n in range(5):
        world.say(ANNA, f"question {n}")
    async with clawd(tmp_path, *replies, world=world, door=own_turns()) as scene:
        scene.server.knobs.repeat = scene.server.knobs.upside_down = True
        await scene.answered(*(f"answer {n}" for n in range(5)))
        await until(lambda: scene.server.polls > 6)
        assert scene.asked() == Counter({f"question {n}": 1 for n in range(5)})


@pytest.mark.parametrize("jump", [timedelta(days=-400), timedelta(hours=-1), timedelta(days=3)])
async def test_a_clock_that_jumps(tmp_path: Path, jump: timedelta) -> None:
    # Days later the first session has ended: its note asks the model as well, before the turn or after it.
    async with clawd(tmp_path, Says("one"), Says("two"), Says("two")) as scene:
        scene.world.say(ANNA, "first")
        await scene.answered("one")
        scene.house.clock.now += jump
        scene.world.say(ANNA, "second")
        await until(lambda: len(scene.texts()) == 2)
        await scene.street.quiet()
        assert scene.texts()[0] == "one"
        assert scene.texts()[1].endswith("two")
        age = scene.channel.status().age_seconds
        assert age is not None
        assert age >= 0


@pytest.mark.slow
async def test_a_thousand_messages_that_waited(tmp_path: Path) -> None:
    """Of ten people, a hundred each: every one is in a turn once, in its order, and everybody is answered."""
    world = World()
    people = range(5001, 5011)
    for number in people:
        world.users[number] = {"id": number, "is_bot": False, "first_name": f"P{number}"}
        world.chats[number] = Chat(number, "private", f"P{number}")
    for turn in range(100):
        for number in people:
            world.say(number, f"{number} says {turn:03}", user=number)
    replies: Sequence[Step] = [Says("ok")] * 1_000
    async with clawd(tmp_path, *replies, world=world, door=steering(cap=1_000)) as scene:
        await until(lambda: not world.updates or scene.server.polls > 11, 120)
        await until(lambda: all(scene.texts(number) for number in people), 120)
        await scene.street.quiet()
        new = [request.messages[-1] for request in scene.house.model.requests]
        told = "\n".join(
            part.text for one in new if isinstance(one, User) for part in one.parts if isinstance(part, Text)
        )
        for number in people:
            places = [told.find(f"{number} says {turn:03}") for turn in range(100)]
            assert -1 not in places
            assert places == sorted(places)
            assert all(told.count(f"{number} says {turn:03}") == 1 for turn in range(100))
            assert set(scene.texts(number)) == {"ok"}


async def test_a_question_that_is_deleted_while_it_is_answered(tmp_path: Path) -> None:
    slow = Hangs(then="Here it is.")
    async with clawd(tmp_path, slow) as scene:
        question = scene.world.say(GROUP, "@clawd_test_bot where?")
        await scene.house.model.hanging.wait()
        scene.world.take_away(GROUP, question)
        slow.gate.set()
        await scene.answered("Here it is.", chat=GROUP)
        assert scene.world.from_bot(GROUP)[0].answers is None


async def test_a_growing_answer_that_is_deleted_comes_anew_once(tmp_path: Path) -> None:
    slow = Hangs(after="It is a long ", then="story.")
    async with clawd(tmp_path, slow) as scene:
        scene.world.say(ANNA, "tell me")
        await until(lambda: bool(scene.texts()))
        scene.world.take_away(ANNA, scene.world.from_bot(ANNA)[0].id)
        slow.gate.set()
        await scene.answered("It is a long story.")


async def test_a_bot_that_is_removed_while_it_answers_and_let_in_again(tmp_path: Path) -> None:
    """The answer is given up with a reason; other chats and later messages notice nothing."""
    slow = Hangs(then="Too late.")
    async with clawd(tmp_path, slow, Says("Here."), Says("Back again.")) as scene:
        scene.world.say(FORUM, "@clawd_test_bot where?", thread=285)
        await scene.house.model.hanging.wait()
        scene.world.stand(FORUM, "kicked")
        slow.gate.set()
        await until(lambda: bool(scene.street.front.outbox.dead_letters()))
        [dead] = scene.street.front.outbox.dead_letters()
        assert "not in the group any more" in dead.why
        assert any(f"chat {FORUM}" in one for one in scene.channel.health.problems)
        assert scene.channel.health.connected
        scene.world.say(ANNA, "are you there?")
        await scene.answered("Here.")
        scene.world.stand(FORUM, "member")
        scene.world.say(FORUM, "@clawd_test_bot and now?", thread=285)
        await scene.answered("Back again.", chat=FORUM)
        assert scene.channel.health.problems == ()


async def test_a_person_who_blocks_the_bot_while_it_answers(tmp_path: Path) -> None:
    slow = Hangs(then="Too late.")
    world = World()
    world.chats[BEN].started = True
    async with clawd(tmp_path, slow, Says("Welcome back."), world=world) as scene:
        world.say(BEN, "hello", user=BEN)
        await scene.house.model.hanging.wait()
        world.stand(BEN, "kicked", user=BEN)
        slow.gate.set()
        await until(lambda: bool(scene.street.front.outbox.dead_letters()))
        assert "blocked the bot" in scene.street.front.outbox.dead_letters()[0].why
        assert scene.server.count("sendMessage") <= 2
        world.stand(BEN, "member", user=BEN)
        world.say(BEN, "hello again", user=BEN)
        await scene.answered("Welcome back.", chat=BEN)
        assert scene.channel.health.problems == ()
