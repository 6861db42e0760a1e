"""What is missing in groups stands in the status before anybody misses it, and is asked for rarely."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from channels.channel import SendError
from channels.message import ChatChanged
from channels.telegram.channel import TelegramChannel
from tests.channels.telegram.wired import FAST, Gateway, answer, channel_of, running, until
from tests.fakes.telegram import TelegramServer, telegram_server
from tests.fakes.telegram_world import ANNA, FORUM, GROUP, Json

BOTH: Json = {"groups": {str(GROUP): {}, str(FORUM): {}}}


def problems(channel: TelegramChannel, word: str) -> list[str]:
    return [one for one in channel.health.problems if word in one]


def told(channel: TelegramChannel, word: str) -> Callable[[], bool]:
    return lambda: bool(problems(channel, word))


async def looked(server: TelegramServer, times: int = 2) -> None:
    await until(lambda: server.count("getChat") + server.count("getChatMember") >= 2 * times)


async def test_rights_that_are_missing_are_told_at_the_start(tmp_path: Path) -> None:
    async with telegram_server() as server:
        server.world.chats[GROUP].denied = {"can_send_messages"}
        server.world.chats[FORUM].bot = "left"
        channel = channel_of(server, tmp_path, settings=BOTH)
        async with running(channel, Gateway()):
            await until(told(channel, "not in the group"))
            [silent] = problems(channel, "may not write")
            assert silent.startswith(f'group "Friends" ({GROUP}): ')
            assert server.count("getChatMember") == 2


async def test_all_is_well_where_nothing_is_missing(tmp_path: Path) -> None:
    async with telegram_server() as server:
        channel = channel_of(server, tmp_path, settings=BOTH)
        async with running(channel, Gateway()):
            await looked(server)
            await until(lambda: channel.health.connected)
            assert channel.health.problems == ()


async def test_it_is_asked_once_and_then_heard_of(tmp_path: Path) -> None:
    """Neither messages nor changes of its standing lead to a question; a day later it is asked again."""
    async with telegram_server() as server:
        gateway, channel = Gateway(), channel_of(server, tmp_path, settings=BOTH)
        async with running(channel, gateway):
            await looked(server)
            server.world.stand(GROUP, "restricted")
            await gateway.until(1)
            assert len(problems(channel, "may not write")) == 1
            server.world.stand(GROUP, "administrator")
            server.world.say(GROUP, "there it is")
            await gateway.until(2)
            assert problems(channel, "may not write") == []
            assert server.count("getChatMember") == 2
        assert FAST.look == 86_400
        soon = channel_of(server, tmp_path, settings=BOTH, timing=replace(FAST, look=0.01))
        async with running(soon, Gateway()):
            await until(lambda: server.count("getChatMember") > 6)


async def test_a_bot_without_groups_asks_nothing(tmp_path: Path) -> None:
    async with telegram_server() as server:
        async with running(channel_of(server, tmp_path), Gateway()):
            await until(lambda: server.polls > 0)
        assert server.count("getChatMember") == server.count("getChat") == 0


async def test_a_trouble_is_no_finding_and_is_asked_again(tmp_path: Path) -> None:
    async with telegram_server() as server:
        server.knobs.refuse("getChatMember", 500, "Internal Server Error", times=2)
        server.knobs.refuse("getChat", 429, "Too Many Requests: retry after 0", retry_after=0)
        server.world.chats[GROUP].denied = {"can_send_messages"}
        timing = replace(FAST, look_again=0.05)
        channel = channel_of(server, tmp_path, settings={"groups": {str(GROUP): {}}}, timing=timing)
        async with running(channel, Gateway()):
            await until(told(channel, "may not write"))
            assert len(channel.health.problems) == 1


async def test_a_group_that_telegram_does_not_know_is_told(tmp_path: Path) -> None:
    async with telegram_server() as server:
        channel = channel_of(server, tmp_path, settings={"groups": {"-1004711": {}}})
        async with running(channel, Gateway()):
            await until(told(channel, "-1004711"))
            assert "the bot is not in it, or the id is wrong" in channel.health.problems[0]


async def test_a_group_that_moved_is_found_under_its_new_id(tmp_path: Path) -> None:
    async with telegram_server() as server:
        server.world.upgrade(GROUP, -1005)
        server.world.updates.clear()
        server.world.chats[-1005].denied = {"can_send_photos"}
        gateway = Gateway()
        channel = channel_of(server, tmp_path, settings={"groups": {str(GROUP): {}}})
        async with running(channel, gateway):
            await until(told(channel, "pictures"))
            await gateway.until(1)
            await channel.send(answer(GROUP, "hello"))
        [moved] = gateway.others
        assert isinstance(moved, ChatChanged)
        assert moved.moved_to == "-1005"
        assert [one.text for one in server.world.from_bot(-1005)] == ["hello"]


async def test_an_admin_of_a_group_that_moved_is_one_under_its_old_id_too(tmp_path: Path) -> None:
    async with telegram_server() as server:
        server.world.bot["can_read_all_group_messages"] = False
        server.world.upgrade(GROUP, -1005)
        server.world.chats[-1005].bot = "administrator"
        channel = channel_of(server, tmp_path, settings={"groups": {str(GROUP): {}}})
        async with running(channel, Gateway()):
            await until(lambda: len(channel._evidence._groups) == 2 and channel.health.connected)
            assert channel.health.problems == ()


@pytest.mark.parametrize(("standing", "told_of"), [("member", True), ("administrator", False)])
async def test_an_admin_reads_all_whatever_its_privacy_mode(
    tmp_path: Path, standing: str, told_of: bool
) -> None:
    async with telegram_server() as server:
        server.world.bot["can_read_all_group_messages"] = False
        for chat in (GROUP, FORUM):
            server.world.chats[chat].bot = standing
        channel = channel_of(server, tmp_path, settings=BOTH)
        async with running(channel, Gateway()):
            await until(lambda: len(channel._evidence._groups) == 2)
            assert bool(problems(channel, "privacy mode")) is told_of


async def test_a_topic_that_is_closed_is_told_until_it_is_open(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway, channel = Gateway(), channel_of(server, tmp_path, settings=BOTH)
        async with running(channel, gateway):
            await looked(server)
            server.world.close(FORUM, 285)
            await until(told(channel, "topic 285 is closed"))
            with pytest.raises(SendError, match="closed"):
                await channel.send(answer(FORUM, "hello", thread="285"))
            server.world.close(FORUM, 285, closed=False)
            await until(lambda: not channel.health.problems)
            await channel.send(answer(FORUM, "hello", thread="285", key="again"))
            assert gateway.events == []


async def test_a_closed_topic_is_found_out_by_sending_and_is_none_for_who_manages_topics(
    tmp_path: Path,
) -> None:
    async with telegram_server() as server:
        server.world.chats[FORUM].closed = {285}
        channel = channel_of(server, tmp_path, settings=BOTH)
        async with running(channel, Gateway()):
            await looked(server)
            with pytest.raises(SendError, match="closed"):
                await channel.send(answer(FORUM, "hello", thread="285"))
            assert len(problems(channel, "topic 285")) == 1
            server.world.stand(FORUM, "administrator")
            await until(lambda: not channel.health.problems)
            await channel.send(answer(FORUM, "hello", thread="285", key="again"))


async def test_a_message_that_arrives_contradicts_what_was_missing(tmp_path: Path) -> None:
    async with telegram_server() as server:
        server.world.chats[GROUP].denied = {"can_send_messages"}
        channel = channel_of(server, tmp_path, settings=BOTH)
        async with running(channel, Gateway()):
            await until(told(channel, "may not write"))
            server.world.chats[GROUP].denied = set()
            await channel.send(answer(GROUP, "hello"))
            assert channel.health.problems == ()


async def test_groups_that_are_not_heard_are_not_judged(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        channel = channel_of(server, tmp_path, settings={"groups": {str(FORUM): {}}})
        async with running(channel, gateway):
            await looked(server, 1)
            server.world.stand(GROUP, "administrator")
            server.world.say(ANNA, "hello")
            await gateway.until(1)
            assert set(channel._evidence._groups) == {str(FORUM)}
