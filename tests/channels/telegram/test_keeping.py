"""Messages of ours are known as such over a restart, and only so many of them."""

import json
from pathlib import Path

import pytest

from channels.message import Reaction
from channels.telegram.keeping import Keeping, SentFile
from channels.telegram.sent import Ours, Sent, Standing
from tests.channels.telegram.wired import Gateway, answer, channel_of, running, until
from tests.fakes.telegram import telegram_server
from tests.fakes.telegram_world import ANNA, BOT_ID, FORUM


def one(number: int) -> Standing:
    return ("5", str(number), Ours("", caption=False))


async def test_a_reaction_to_a_message_of_before_a_restart_is_one_to_ours(tmp_path: Path) -> None:
    async with telegram_server() as server:
        world, gateway = server.world, Gateway()
        async with running(channel_of(server, tmp_path), gateway) as channel:
            await until(lambda: channel.health.connected)
            ours = int(await channel.send(answer(FORUM, "Well?", thread="285")))
            theirs = world.say(ANNA, "hello")
            await gateway.until(1)
        world.react(FORUM, ours, "👍")
        world.react(ANNA, theirs, "👍")
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(3)
        first, second = gateway.others
        assert isinstance(first, Reaction)
        assert isinstance(second, Reaction)
        assert (first.own, first.address.thread, second.own) == (True, "285", False)


async def test_what_is_sent_is_on_disk_without_a_stop(tmp_path: Path) -> None:
    async with telegram_server() as server, running(channel_of(server, tmp_path), Gateway()) as channel:
        await until(lambda: channel.health.connected)
        number = await channel.send(answer(ANNA, "hello"))
        path = tmp_path / "telegram" / "sent-default.jsonl"
        await until(lambda: path.exists() and bool(path.read_text()))
        assert json.loads(path.read_text()) == [BOT_ID, str(ANNA), number, "", False]
        assert path.stat().st_mode & 0o777 == 0o600


def test_another_bots_messages_and_broken_lines_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "sent.jsonl"
    assert SentFile(path, 1, most=10).load() == []
    SentFile(path, 1, most=10).append([one(1)])
    SentFile(path, 2, most=10).append([one(2)])
    path.write_text(path.read_text() + '[1, "5", "3", "", fal')
    assert SentFile(path, 1, most=10).load() == [one(1)]
    path.write_bytes(b'\xff\n{"a": 1}\n' + path.read_bytes())
    assert SentFile(path, 2, most=10).load() == [one(2)]


def test_the_file_holds_at_most_twice_what_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "telegram" / "sent.jsonl"
    file = SentFile(path, 1, most=10)
    for number in range(200):
        file.append([one(number)])
        assert len(path.read_text().splitlines()) <= 20
    assert SentFile(path, 1, most=10).load() == [one(number) for number in range(190, 200)]
    again = SentFile(path, 1, most=10)
    again.load()
    again.append([one(number) for number in range(200, 215)])
    assert len(path.read_text().splitlines()) == 10


def test_memory_is_bounded_whatever_is_added_or_restored() -> None:
    sent = Sent(most=3)
    for number in range(10):
        sent.add("5", str(number), thread="")
    sent.restore([one(number) for number in range(100, 110)])
    assert [number for number in range(120) if sent.find("5", str(number))] == [7, 8, 9]
    assert sent.unsaved() == [one(7), one(8), one(9)]
    assert sent.unsaved() == []


async def test_a_disk_that_fails_is_only_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "sent.jsonl").mkdir()
    sent = Sent()
    keeping = Keeping(sent, SentFile(tmp_path / "sent.jsonl", 1, most=10))
    await keeping.remember()
    sent.add("5", "1", thread="")
    await keeping.save()
    assert "could not be read" in caplog.text
    assert "could not be written" in caplog.text
    assert sent.find("5", "1") is not None
