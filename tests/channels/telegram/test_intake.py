"""Updates on their way: in order, albums whole, and accepted only when they are."""

import asyncio
import itertools

import pytest
from telegram import Update

from channels.message import Inbound
from channels.telegram.intake import Intake
from channels.telegram.receiving import to_inbound
from tests.channels.telegram.wired import ME, NOON, Gateway, newest
from tests.fakes.telegram_world import ANNA, GROUP, World


def translate(update: Update) -> list[Inbound]:
    return to_inbound(update, ME, now=NOON)


def album(world: World, *captions: str, name: str = "g") -> list[Update]:
    before = len(world.updates)
    world.album(GROUP, captions, name=name)
    return [Update.de_json(one, None) for one in world.updates[before:]]


async def test_an_album_is_one_message_and_each_part_is_accepted_with_it() -> None:
    gateway, world = Gateway(), World()
    intake = Intake(translate, gateway.deliver, patience=0.05)
    parts = [await intake.put(one) for one in album(world, "", "look", "")]
    assert intake.busy
    assert not any(one.done() for one in parts)
    await asyncio.gather(*parts)
    assert gateway.texts == ["look"]
    assert len(gateway.messages[0].attachments) == 3
    assert not intake.busy


async def test_what_follows_in_the_chat_ends_the_album_before_it() -> None:
    gateway, world = Gateway(), World()
    intake = Intake(translate, gateway.deliver, patience=60)
    [first] = [await intake.put(one) for one in album(world, "one")]
    world.say(ANNA, "elsewhere")
    await intake.put(newest(world))
    assert not first.done()
    world.say(GROUP, "well?")
    await intake.put(newest(world))
    assert first.done()
    assert gateway.texts == ["elsewhere", "one", "well?"]


async def test_two_albums_side_by_side_stay_apart() -> None:
    gateway, world = Gateway(), World()
    intake = Intake(translate, gateway.deliver, patience=0.05)
    pairs = zip(album(world, "a", "", name="a"), album(world, "b", "", name="b"), strict=True)
    await asyncio.gather(*[await intake.put(one) for one in itertools.chain(*pairs)])
    assert sorted(gateway.texts) == ["a", "b"]
    assert [len(one.attachments) for one in gateway.messages] == [2, 2]


async def test_an_album_that_is_refused_is_not_accepted() -> None:
    gateway, world = Gateway(fails=[OSError("disk full")]), World()
    intake = Intake(translate, gateway.deliver, patience=0.05)
    [part] = [await intake.put(one) for one in album(world, "one")]
    with pytest.raises(OSError, match="disk full"):
        await part


async def test_a_single_update_that_is_refused_raises() -> None:
    gateway, world = Gateway(fails=[OSError("disk full")]), World()
    intake = Intake(translate, gateway.deliver, patience=0.05)
    world.say(ANNA, "hello")
    with pytest.raises(OSError, match="disk full"):
        await intake.put(newest(world))


async def test_closing_forgets_what_is_not_accepted() -> None:
    gateway, world = Gateway(), World()
    intake = Intake(translate, gateway.deliver, patience=60)
    [part] = [await intake.put(one) for one in album(world, "one")]
    intake.close()
    assert part.cancelled()
    assert gateway.events == []
