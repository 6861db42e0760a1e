"""From Discord to the disk: in order, once, and nothing lost when the disk takes nothing for a while."""

import asyncio
import json
from pathlib import Path

from channels.access import People, admits
from channels.message import ChatChanged, Inbound, InboundMessage
from channels.text import pieces
from gateway.routing import Routes, route
from tests.channels.discord.wired import account, answer, in_thread, live, to, until
from tests.fakes.discord_world import (
    ANNA,
    BOT_ID,
    ELSEWHERE,
    GENERAL,
    GUILD,
    OFFICE,
    PUBLIC_THREAD,
    THREAD_700,
    THREAD_701,
)

CASES = Path(__file__).parents[2] / "cases"


async def test_a_thousand_messages_arrive_in_their_order(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        for number in range(1000):
            one.world.say(GENERAL if number % 2 else OFFICE, str(number))
        await one.gateway.until(1000)
        for chat in (GENERAL, OFFICE):
            told = [int(m.text) for m in one.gateway.messages if m.address.chat == str(chat)]
            assert told == sorted(told)


async def test_what_is_told_twice_is_delivered_once(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.server.knobs.twice = True
        one.world.say(GENERAL, "once")
        one.world.say(GENERAL, "again")
        await one.gateway.until(2)
        await asyncio.sleep(0.05)
        assert one.gateway.texts == ["once", "again"]


async def test_messages_out_of_order_are_all_heard(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        first = one.world.say(GENERAL, "first", silent=True)
        one.world.say(GENERAL, "second")
        one.world.emit("MESSAGE_CREATE", one.world.told(first))
        await one.gateway.until(2)
        assert one.gateway.texts == ["second", "first"]


async def test_a_full_disk_is_waited_for_and_other_chats_go_on(tmp_path: Path) -> None:
    full = asyncio.Event()
    tries: list[str] = []

    async def before(event: Inbound) -> None:
        if isinstance(event, InboundMessage) and event.address.chat == str(GENERAL) and not full.is_set():
            tries.append(event.text)
            raise OSError(28, "No space left on device")

    async with live(tmp_path) as one:
        one.gateway.before = before
        one.world.say(GENERAL, "one")
        one.world.say(GENERAL, "two")
        one.world.say(OFFICE, "elsewhere")
        await one.gateway.until(1)
        await until(lambda: len(tries) > 2)
        assert (one.gateway.texts, set(tries)) == (["elsewhere"], {"one"})
        assert "No space left" in str(one.channel.health.problems)
        full.set()
        await one.gateway.until(3)
        assert one.gateway.texts == ["elsewhere", "one", "two"]
        assert one.channel.health.problems == ()


async def test_an_error_of_ours_ends_nothing(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.gateway.fails = [ValueError("a fault")]
        one.world.say(GENERAL, "lost")
        one.world.say(GENERAL, "heard")
        await one.gateway.until(1)
        assert one.gateway.texts == ["heard"]
        assert one.channel.health.connected
        one.gateway.fails = [ValueError("still a fault")]
        await one.server.op(9, data=False)
        await until(lambda: not one.gateway.fails)
        one.world.say(GENERAL, "later")
        await one.gateway.until(2)
        assert one.gateway.texts == ["heard", "later"], "it is given up the second time"


async def test_what_was_not_accepted_is_fetched_by_the_next_session(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.gateway.fails = [ValueError("a fault")]
        one.world.say(GENERAL, "at first not")
        one.world.say(GENERAL, "heard")
        await one.gateway.until(1)
        await one.server.op(9, data=False)
        await one.gateway.until(2)
        assert one.gateway.texts == ["heard", "at first not"]


async def test_an_event_that_cannot_be_read_ends_nothing(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.world.emit("SOMETHING_NEW", {"what": "ever"})
        said = one.world.say(
            GENERAL, "bad", silent=True, poll={"question": {}, "answers": [], "expiry": None}
        )
        one.world.emit("MESSAGE_CREATE", one.world.told(said))
        await until(lambda: one.server.connections >= 1)
        one.world.say(GENERAL, "good")
        await until(lambda: "good" in one.gateway.texts)


async def test_a_server_that_the_bot_left_is_told_for_its_chats(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.world.say(GENERAL, "hello")
        one.world.say(THREAD_700, "hello")
        await one.gateway.until(2)
        one.world.emit("THREAD_DELETE", {"id": "700", "guild_id": str(GUILD), "parent_id": "500", "type": 11})
        one.world.emit("GUILD_DELETE", {"id": str(GUILD)})
        await one.gateway.until(4)
        told = [(e.address.chat, e.gone) for e in one.gateway.others if isinstance(e, ChatChanged)]
        assert told == [("700", "the channel was deleted"), ("500", "the bot was removed from the server")]
        assert "removed from the server" in str(one.channel.health.problems)


async def test_b56_threads_follow_their_channel(tmp_path: Path) -> None:
    """B56: a thread under an allowed channel is heard, answered in the thread, and has its own session; a
    thread under another channel, and a channel whose id only begins alike, are refused."""
    fixture = json.loads((CASES / "B56-threads.json").read_text(encoding="utf-8"))
    allowed = {one: {"require_mention": False} for one in fixture["allow_channels"]}
    rules = {"guilds": {str(GUILD): {"users": ["*"], "channels": allowed}}}
    async with live(tmp_path, settings=rules) as one:
        for row in fixture["rows"]:
            one.world.say(int(row["channel"]), "hello")
        await one.gateway.until(4)
        heard = {message.address.chat: message for message in one.gateway.messages}
        settings = account(one.server, rules)
        verdicts = {chat: admits(message, settings, People()) for chat, message in heard.items()}
        for row in fixture["rows"]:
            assert (verdicts[row["channel"]].kind == "admitted") == row["allowed"], row
        assert heard["700"].address == in_thread()
        number = await one.channel.send(answer(heard["700"].address, "here"))
        assert int(number) in one.world.messages[700]
        keys = {
            chat: route(
                heard[chat].address, heard[chat].sender, verdicts[chat], Routes(default_agent="main"), {}
            ).key
            for chat in ("500", "700")
        }
        assert keys["500"] != keys["700"]


async def test_b56_an_auto_thread_begins_with_its_answer(tmp_path: Path) -> None:
    """B56: named after a first message of 250 characters, 1 to 100 of them; nothing is made unanswered."""
    async with live(tmp_path, settings={"auto_thread": True}) as one:
        asked = one.world.say(GENERAL, f"<@{BOT_ID}> " + "words and more " * 16)
        one.world.say(GENERAL, "not for the bot")
        await one.gateway.until(2)
        message, other = one.gateway.messages
        thread = int(asked["id"])
        assert message.address == in_thread(thread, GENERAL)
        assert other.address == to(GENERAL)
        await one.channel.typing(message.address)
        await one.channel.react(message.address, message.id, "👀")
        assert one.world.typed == [GENERAL]
        assert one.world.reactions[thread] == {(BOT_ID, "👀")}
        assert thread not in one.world.channels
        number = await one.channel.send(answer(message.address, "the answer", reply_to=message.id))
        await one.channel.send(answer(message.address, "more", part=1))
        made = one.world.channels[thread]
        assert 1 <= len(made["name"]) <= 100
        assert (made["name"][:5], made["parent_id"]) == ("words", str(GENERAL))
        assert [m["content"] for m in one.world.messages[thread].values()] == ["the answer", "more"]
        assert one.world.messages[thread][int(number)]["type"] == 0, "it points to nothing above the thread"
        one.world.say(thread, "goes on without a mention")
        await one.gateway.until(3)
        later = one.gateway.messages[-1]
        assert (later.address, later.addressed, later.asides) == (message.address, True, ())


async def test_an_auto_thread_that_a_person_made_meanwhile_is_used(tmp_path: Path) -> None:
    async with live(tmp_path, settings={"auto_thread": True}) as one:
        asked = one.world.say(GENERAL, f"<@{BOT_ID}> hello")
        await one.gateway.until(1)
        thread = int(asked["id"])
        one.world.channel(thread, PUBLIC_THREAD, name="by Anna", parent=GENERAL, owner=ANNA)
        await one.channel.send(answer(one.gateway.messages[0].address, "here"))
        assert [m["content"] for m in one.world.messages[thread].values()] == ["here"]


async def test_where_every_message_is_answered_every_one_begins_a_thread(tmp_path: Path) -> None:
    rules = {"auto_thread": True, "guilds": {"*": {"require_mention": False}}}
    async with live(tmp_path, settings=rules) as one:
        said = one.world.say(GENERAL, "hello")
        one.world.say(THREAD_700, "hello")
        await one.gateway.until(2)
        assert {m.address.chat for m in one.gateway.messages} == {said["id"], "700"}


async def test_an_edit_of_the_message_above_a_thread_is_told_in_the_thread(tmp_path: Path) -> None:
    async with live(tmp_path, settings={"auto_thread": True}) as one:
        asked = one.world.say(GENERAL, f"<@{BOT_ID}> helo")
        one.world.rewrite(asked, "hello")
        await one.gateway.until(2)
        message, edited = one.gateway.events
        assert edited.address == message.address == in_thread(int(asked["id"]), GENERAL)


async def test_an_auto_thread_survives_a_restart_before_its_answer(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        asked = one.world.say(GENERAL, f"<@{BOT_ID}> what is it?")
        number = await one.channel.send(answer(in_thread(int(asked["id"]), GENERAL), "this"))
        assert one.world.channels[int(asked["id"])]["name"] == "what is it?"
        assert int(number) in one.world.messages[int(asked["id"])]


async def test_without_the_right_to_make_threads_the_channel_is_answered(tmp_path: Path) -> None:
    async with live(tmp_path, settings={"auto_thread": True}) as one:
        one.world.denied[GENERAL] = {"create_public_threads"}
        asked = one.world.say(GENERAL, f"<@{BOT_ID}> hello")
        await one.gateway.until(1)
        where = one.gateway.messages[0].address
        number = await one.channel.send(answer(where, "here then"))
        assert int(number) in one.world.messages[GENERAL]
        await one.channel.edit(answer(where, "changed"), number)
        assert one.world.messages[GENERAL][int(number)]["content"] == "changed"
        assert "Create Public Threads" in str(one.channel.health.problems)
        assert int(asked["id"]) not in one.world.channels


def test_b53_parts_fit_discord(tmp_path: Path) -> None:
    """B53: what the gateway sends through this channel's traits fits 2,000 UTF-16 units in every part."""
    from channels.discord.channel import TRAITS  # noqa: PLC0415

    for name in ("fence-tail", "long-info", "emoji"):
        text = (CASES / f"B53-discord-{name}.md").read_text(encoding="utf-8")
        parts = pieces(text, TRAITS)
        assert parts
        for part in parts:
            assert 0 < len(part.text.encode("utf-16-le")) // 2 <= 2000
            assert part.text.strip()
            fences = [line for line in part.text.splitlines() if line.startswith("```")]
            assert len(fences) % 2 == 0, name
    assert {ELSEWHERE, THREAD_701, ANNA}
