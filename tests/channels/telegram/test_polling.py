"""Polling a real server with the real library: nothing lost, nothing twice, and a status that is true."""

import asyncio
import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from telegram.request import HTTPXRequest

from channels.channel import ChannelFailed
from channels.message import Edited, Pressed, Reaction
from channels.telegram.timing import Timing
from tests.channels.telegram.wired import FAST, NOON, Gateway, answer, channel_of, running, until
from tests.fakes.telegram import TOKEN, telegram_server
from tests.fakes.telegram_world import ANNA, BEN, FORUM, GROUP, Json, World

CASES = Path(__file__).parents[2] / "cases"


def offset(folder: Path) -> Json:
    path = folder / "telegram" / "offset-default.json"
    told: Json = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return told


def saved(folder: Path) -> int | None:
    number = offset(folder).get("last_update_id")
    return None if number is None else int(number)


async def test_messages_arrive_in_order_and_the_offset_follows(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        for n in range(5):
            server.world.say(ANNA, f"text {n}")
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(5)
            await until(lambda: saved(tmp_path) == 800000104)
        assert gateway.texts == [f"text {n}" for n in range(5)]
        assert offset(tmp_path)["bot_id"] == 111111111


async def test_polls_ask_for_what_is_needed_and_are_long(tmp_path: Path) -> None:
    async with telegram_server() as server:
        async with running(channel_of(server, tmp_path), Gateway()):
            await until(lambda: server.polls > 1)
        first, asked = server.forms("getUpdates")[:2]
        assert (first.get("timeout", "0"), asked["timeout"]) == ("0", "1")
        assert set(json.loads(asked["allowed_updates"])) == {
            "message",
            "edited_message",
            "message_reaction",
            "callback_query",
            "my_chat_member",
        }
        assert Timing().poll == 30
        assert server.calls[1][0] == "deleteWebhook"


async def test_nothing_is_confirmed_before_it_is_accepted(tmp_path: Path) -> None:
    async with telegram_server() as server:
        hold = asyncio.Event()
        gateway = Gateway(before=lambda _: hold.wait())
        server.world.say(ANNA, "hello")
        async with running(channel_of(server, tmp_path), gateway):
            await until(lambda: server.polls == 1)
            await asyncio.sleep(0.05)
        assert (server.polls, gateway.events, saved(tmp_path)) == (1, [], None)
        hold.set()
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(1)
        assert gateway.texts == ["hello"]


async def test_b48_the_offset_of_another_bot_hides_nothing(tmp_path: Path) -> None:
    """B48: bot 222222222 finds the offset of bot 111111111."""
    fixture = json.loads((CASES / "B48-offset-state.json").read_text(encoding="utf-8"))
    row = fixture["rows"][0]
    store(tmp_path, fixture["stored"])
    world = World(first_update=row["updates"][0])
    world.bot["id"] = row["running_bot"]
    async with telegram_server(world) as server:
        gateway = Gateway()
        world.say(ANNA, "new bot")
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(1)
            await until(lambda: offset(tmp_path)["bot_id"] == row["running_bot"])
        assert {k: offset(tmp_path)[k] for k in row["stored_after"]} == row["stored_after"]


async def test_b48_a_known_update_is_skipped_and_a_new_one_handled(tmp_path: Path) -> None:
    """B48: 800000100 was handled before the restart, 800000101 was not."""
    fixture = json.loads((CASES / "B48-offset-state.json").read_text(encoding="utf-8"))
    store(tmp_path, fixture["stored"])
    async with telegram_server() as server:
        server.knobs.repeat = True
        gateway = Gateway()
        server.world.say(ANNA, "known")
        server.world.say(ANNA, "new")
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(1)
            await until(lambda: saved(tmp_path) == 800000101)
        assert gateway.texts == ["new"]


async def test_b48_a_failed_write_does_not_move_the_durable_offset(tmp_path: Path) -> None:
    """B48: the message is handled all the same, once, and the status tells of the disk."""
    fixture = json.loads((CASES / "B48-offset-state.json").read_text(encoding="utf-8"))
    store(tmp_path, fixture["stored"])
    async with telegram_server(World(first_update=800000102)) as server:
        gateway = Gateway()
        (tmp_path / "telegram" / "offset-default.json.new").mkdir()
        server.world.say(ANNA, "hello")
        channel = channel_of(server, tmp_path)
        async with running(channel, gateway):
            await gateway.until(1)
            polls = server.polls
            await until(lambda: server.polls >= polls + 1)
            assert any("cannot be written" in one for one in channel.status().problems)
        assert gateway.texts == ["hello"]
        assert {k: offset(tmp_path)[k] for k in fixture["stored"]} == fixture["stored"]


def store(folder: Path, told: object) -> None:
    path = folder / "telegram" / "offset-default.json"
    path.parent.mkdir()
    path.write_text(json.dumps(told), encoding="utf-8")


async def test_a_gateway_that_cannot_write_is_told_again(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway(fails=[OSError("disk full"), OSError("disk full")])
        channel = channel_of(server, tmp_path)
        server.world.say(ANNA, "first")
        server.world.say(ANNA, "second")
        async with running(channel, gateway):
            await gateway.until(2)
            assert gateway.texts == ["first", "second"]
            await until(lambda: saved(tmp_path) == 800000101)


async def test_an_album_is_one_message_and_the_offset_waits_for_all_of_it(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        timing = replace(FAST, album=0.6)
        async with running(channel_of(server, tmp_path, timing=timing), gateway):
            await until(lambda: server.polls > 0)
            server.world.album(GROUP, ["", "three views", ""])
            server.world.say(ANNA, "meanwhile")
            await gateway.until(1)
            assert gateway.texts == ["meanwhile"]
            assert saved(tmp_path) is None
            await gateway.until(2)
            await until(lambda: saved(tmp_path) == 800000103)
        assert gateway.texts == ["meanwhile", "three views"]
        assert len(gateway.messages[1].attachments) == 3


async def test_a_stop_in_the_middle_of_an_album_loses_nothing(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        server.world.album(GROUP, ["one", ""])
        slow = replace(FAST, album=30)
        async with running(channel_of(server, tmp_path, timing=slow), gateway):
            await until(lambda: server.polls >= 3)
        assert gateway.events == []
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(1)
        assert len(gateway.messages[0].attachments) == 2


async def test_an_album_that_cannot_be_written_down_comes_again(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway(fails=[OSError("disk full")])
        server.world.album(GROUP, ["one", ""])
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(1)
            await until(lambda: saved(tmp_path) == 800000101)
        assert [len(one.attachments) for one in gateway.messages] == [2]


async def test_a_thousand_waiting_updates_arrive_once_each(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        for n in range(1000):
            server.world.say(ANNA if n % 2 else GROUP, str(n))
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(1000)
            await until(lambda: saved(tmp_path) == 800001099)
        assert gateway.texts == [str(n) for n in range(1000)]


async def test_duplicate_and_disordered_updates_are_put_right(tmp_path: Path) -> None:
    async with telegram_server() as server:
        server.knobs.repeat = True
        server.knobs.upside_down = True
        gateway = Gateway()
        for n in range(4):
            server.world.say(ANNA, str(n))
        async with running(channel_of(server, tmp_path), gateway):
            await until(lambda: server.polls >= 4)
        assert gateway.texts == ["0", "1", "2", "3"]


async def test_a_cut_connection_is_taken_up_again_and_the_status_tells_it(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        channel = channel_of(server, tmp_path)
        async with running(channel, gateway):
            await until(lambda: channel.health.connected)
            await server.down()
            await until(lambda: not channel.health.connected)
            assert channel.status().state == "waiting"
            assert "Telegram" in channel.health.error
            server.world.say(ANNA, "while it was away")
            await server.up()
            await gateway.until(1)
            assert channel.health.connected
            assert channel.health.error == ""
        assert gateway.texts == ["while it was away"]


async def test_a_server_in_trouble_loses_nothing(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        server.knobs.refuse("getMe", 500, "Internal Server Error", times=2)
        server.knobs.refuse("getUpdates", 500, "Internal Server Error", times=5)
        server.knobs.refuse("getUpdates", 502, "Bad Gateway", times=2)
        server.knobs.refuse("getUpdates", 429, "Too Many Requests: retry after 1", retry_after=1)
        server.world.say(ANNA, "hello")
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(1)
        assert gateway.texts == ["hello"]


async def test_an_answer_that_is_lost_on_the_way_is_asked_for_again(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        server.knobs.lost += ["getupdates", "getupdates"]
        server.world.say(ANNA, "hello")
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(1)
        assert gateway.texts == ["hello"]


async def test_a_poll_that_hangs_is_given_up_with_its_connections(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        timing = replace(FAST, silence=0.3, answer=60, poll=0)
        channel = channel_of(server, tmp_path, timing=timing)
        server.knobs.hang.add("getupdates")
        async with running(channel, gateway):
            await until(lambda: server.count("getUpdates") >= 2)
            assert not channel.health.connected
            await channel.send(answer(GROUP, "still here"))
            assert not channel.health.connected
            server.knobs.hang.clear()
            server.world.say(ANNA, "hello")
            await gateway.until(1)
            assert channel.health.connected


async def test_old_connections_that_do_not_end_are_left_and_new_ones_made(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = HTTPXRequest.shutdown

    async def never(request: HTTPXRequest) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await ended(request)

    async with telegram_server() as server:
        gateway = Gateway()
        timing = replace(FAST, silence=0.3, teardown=0.1, answer=60, poll=0)
        channel = channel_of(server, tmp_path, timing=timing)
        server.knobs.hang.add("getupdates")
        with monkeypatch.context() as patched:
            patched.setattr(HTTPXRequest, "shutdown", never)
            async with running(channel, gateway):
                await until(lambda: server.count("getUpdates") >= 3)
                server.knobs.hang.clear()
                server.world.say(ANNA, "hello")
                await gateway.until(1)
                assert channel.health.connected
        assert "old connections did not end" in caplog.text


async def test_sending_is_no_sign_that_polling_lives(tmp_path: Path) -> None:
    async with telegram_server() as server:
        clock = Clock()
        channel = channel_of(server, tmp_path, clock=clock)
        async with running(channel, Gateway()):
            await until(lambda: channel.health.connected)
            server.knobs.hang.add("getupdates")
            await until(lambda: server.count("getUpdates") > server.polls)
            seen = channel.status().last_poll
            clock.now += timedelta(minutes=3)
            await channel.send(answer(GROUP, "still here"))
            assert channel.status().last_poll == seen
            assert channel.status().age_seconds == 180


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.mark.parametrize("jump", [timedelta(days=-400), timedelta(days=5)])
async def test_a_clock_that_jumps_changes_nothing(tmp_path: Path, jump: timedelta) -> None:
    async with telegram_server() as server:
        clock, gateway = Clock(), Gateway()
        channel = channel_of(server, tmp_path, clock=clock)
        async with running(channel, gateway):
            server.world.say(ANNA, "one")
            await gateway.until(1)
            clock.now += jump
            server.world.say(ANNA, "two")
            await gateway.until(2)
            age = channel.status().age_seconds
            assert age is not None
            assert age >= 0
        assert gateway.texts == ["one", "two"]


async def test_after_a_week_of_silence_lower_numbers_are_new_ones(tmp_path: Path) -> None:
    async with telegram_server() as server:
        clock, gateway = Clock(), Gateway()
        async with running(channel_of(server, tmp_path, clock=clock), gateway):
            server.world.say(ANNA, "one")
            await gateway.until(1)
            clock.now += timedelta(days=8)
            polls = server.polls
            await until(lambda: server.polls >= polls + 2)
            server.world._next_update = 77
            server.world.say(ANNA, "two")
            await gateway.until(2)
        assert gateway.texts == ["one", "two"]


async def test_a_second_poller_is_explained_and_lived_with(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        channel = channel_of(server, tmp_path)
        server.knobs.refuse("getUpdates", 409, "Conflict: terminated by other getUpdates request", times=3)
        server.world.say(ANNA, "hello")
        states = []
        async with running(channel, gateway):
            await until(lambda: bool(channel.health.error) or bool(gateway.events))
            states.append(channel.health.error)
            await gateway.until(1)
        assert "another program polls with the same token" in states[0]
        assert gateway.texts == ["hello"]


async def test_two_pollers_of_one_token_get_each_message_once_and_say_so(tmp_path: Path) -> None:
    async with telegram_server() as server:
        one, two = channel_of(server, tmp_path / "one"), channel_of(server, tmp_path / "two")
        errors: set[str] = set()

        def conflict() -> bool:
            errors.update((one.health.error, two.health.error))
            return any("same token" in error for error in errors)

        async with running(one, Gateway()), running(two, Gateway()):
            await until(conflict)


async def test_a_webhook_that_is_left_over_is_taken_away(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        async with running(channel_of(server, tmp_path), gateway):
            await until(lambda: server.polls > 0)
            server.webhook = {"url": "http://127.0.0.1:1/x"}
            await until(lambda: server.webhook == {})
            server.world.say(ANNA, "hello")
            await gateway.until(1)


@pytest.mark.parametrize(
    "token", ["111111111:wrong-token-of-thirty-five-signs_0000", "nonsense", "1:a b\n", ""]
)
async def test_a_token_that_is_not_accepted_ends_the_channel_with_a_word(tmp_path: Path, token: str) -> None:
    async with telegram_server() as server:
        channel = channel_of(server, tmp_path, token=token)
        with pytest.raises(ChannelFailed, match="BotFather") as failed:
            await channel.run(Gateway().deliver)
        assert not token or token not in str(failed.value)
        assert channel.status().state == "failed"
        assert "BotFather" in channel.health.error


async def test_a_token_that_is_revoked_while_it_runs_ends_the_channel(tmp_path: Path) -> None:
    async with telegram_server() as server:
        channel = channel_of(server, tmp_path)
        task = asyncio.create_task(channel.run(Gateway().deliver))
        await until(lambda: server.polls > 0)
        server.token = "111111111:another"
        with pytest.raises(ChannelFailed, match="revoked"):
            await task
        assert TOKEN not in channel.health.error


async def test_an_update_that_the_library_cannot_read_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        server.world.say(ANNA, "before")
        server.world.say(ANNA, "", poll={"question": "broken"})
        server.world.say(ANNA, "after")
        async with running(channel_of(server, tmp_path), gateway):
            await gateway.until(2)
            await until(lambda: saved(tmp_path) == 800000102)
        assert gateway.texts == ["before", "after"]
        assert "800000101" in caplog.text
        assert "before" not in caplog.text


async def test_edits_reactions_and_buttons_arrive(tmp_path: Path) -> None:
    async with telegram_server() as server:
        world, gateway = server.world, Gateway()
        channel = channel_of(server, tmp_path)
        async with running(channel, gateway):
            theirs = world.say(FORUM, "helo", thread=285)
            world.change(FORUM, theirs, "hello")
            ours = int(await channel.send(answer(FORUM, "Well?", thread="285")))
            world.react(FORUM, ours, "👍")
            world.react(FORUM, theirs, "🔥", user=BEN)
            query = world.press(FORUM, ours, "yes")
            await gateway.until(5)
            await world.until(lambda: query in world.answered)
        edited, mine, other, pressed = gateway.others
        assert isinstance(edited, Edited)
        assert isinstance(mine, Reaction)
        assert isinstance(other, Reaction)
        assert isinstance(pressed, Pressed)
        assert (mine.own, mine.address.thread, other.own) == (True, "285", False)
        assert (edited.address.thread, pressed.address.thread, pressed.data) == ("285", "285", "yes")


async def test_a_bot_that_is_removed_says_so_until_it_is_back(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway, channel = Gateway(), channel_of(server, tmp_path)
        async with running(channel, gateway):
            server.world.stand(GROUP, "kicked")
            await gateway.until(1)
            assert any("removed" in one for one in channel.health.problems)
            server.world.stand(GROUP, "member")
            await channel.send(answer(GROUP, "back again"))
            assert channel.health.problems == ()


async def test_privacy_mode_is_explained_where_groups_are_heard(tmp_path: Path) -> None:
    async with telegram_server() as server:
        server.world.bot["can_read_all_group_messages"] = False
        groups: Json = {"groups": {str(GROUP): {}}}
        for settings, told in (({}, False), (groups, True)):
            channel = channel_of(server, tmp_path, settings=settings)
            assert channel.status().privacy is None
            async with running(channel, Gateway()):
                await until(lambda: channel.health.connected)  # noqa: B023
            assert channel.status().privacy is True
            assert any("/setprivacy" in one for one in channel.health.problems) is told


async def test_the_status_names_the_bot_and_the_last_poll(tmp_path: Path) -> None:
    async with telegram_server() as server:
        channel = channel_of(server, tmp_path)
        assert channel.status().state == "stopped"
        async with running(channel, Gateway()):
            await until(lambda: channel.health.connected)
            status = channel.status()
            assert (status.state, status.username, status.last_poll, status.age_seconds) == (
                "connected",
                "clawd_test_bot",
                NOON,
                0.0,
            )
            assert channel.health.name == "@clawd_test_bot"
        assert channel.status().state == "stopped"


async def test_stopping_leaves_no_task_behind(tmp_path: Path) -> None:
    async with telegram_server() as server:
        before = asyncio.all_tasks()
        async with running(channel_of(server, tmp_path), Gateway()):
            await until(lambda: server.polls > 0)
        left = {task for task in asyncio.all_tasks() - before if "telegram" in task.get_name()}
        assert left == set()


def test_the_waits_after_failures_grow_to_half_a_minute() -> None:
    waits = [Timing().wait(failures) for failures in range(7)]
    assert waits[:3] == [2, pytest.approx(3.6), pytest.approx(6.48)]
    assert waits[-1] == 30
    assert Timing().wait(10_000) == 30
