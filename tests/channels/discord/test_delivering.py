"""Sending to a server with Discord's limits, refusals and rate limits."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from channels.channel import SendError
from channels.message import Choice, OutboundFile
from tests.channels.discord.wired import FAST, a_file, answer, in_thread, live, to, until
from tests.fakes.discord_rest import SUPPRESS_EMBEDS
from tests.fakes.discord_world import ANNA, BOT_ID, FORUM, GENERAL, OFFICE, THREAD_700


async def test_a_message_calls_nobody_and_shows_no_preview(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        number = await one.channel.send(answer(text="@everyone <@101> https://example.org"))
        shown = one.world.messages[GENERAL][int(number)]
        assert shown["allowed"] == {"parse": []}
        assert shown["flags"] & SUPPRESS_EMBEDS
    async with live(tmp_path, settings={"suppress_embeds": False}) as one:
        number = await one.channel.send(answer(silent=True))
        assert one.world.messages[GENERAL][int(number)]["flags"] == 1 << 12


async def test_a_message_sent_twice_is_shown_once(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        first = await one.channel.send(answer(text="once", key="a"))
        again = await one.channel.send(answer(text="once", key="a"))
        other = await one.channel.send(answer(text="twice", key="a", part=1))
        assert first == again != other
        assert [m["content"] for m in one.world.messages[GENERAL].values()] == ["once", "twice"]


async def test_an_answer_that_was_lost_may_be_sent_again(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.server.knobs.lost = ["POST /channels/500/messages"]
        with pytest.raises(SendError) as caught:
            await one.channel.send(answer(text="hello"))
        assert (caught.value.retryable, caught.value.ambiguous) == (True, True)
        assert one.channel.traits.has_nonce
        await one.channel.send(answer(text="hello"))
        assert [m["content"] for m in one.world.messages[GENERAL].values()] == ["hello"]


async def test_a_request_that_is_given_up_during_a_global_limit_holds_nobody_back(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        knobs = one.server.knobs
        knobs.refuse("POST /channels/500/messages", 429, 0, "Slow down.", retry_after=20, **{"global": True})
        first = asyncio.create_task(one.channel.send(answer(text="given up", key="a")))
        await until(lambda: not knobs.refusals["POST /channels/500/messages"])
        second = asyncio.create_task(one.channel.send(answer(text="goes on", key="b")))
        await asyncio.sleep(0.1)
        first.cancel()

        async with asyncio.timeout(15):
            await second

        assert [m["content"] for m in one.world.messages[GENERAL].values()] == ["goes on"]


async def test_a_message_that_is_answered_may_be_gone(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        number = await one.channel.send(answer(reply_to="123456"))
        assert one.world.messages[GENERAL][int(number)]["type"] == 0


async def test_files_go_with_the_text_ten_at_a_time(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        files = tuple(a_file(tmp_path, f"{n}.txt", "document", "text/plain") for n in range(11))
        first = await one.channel.send(answer(text="look", files=files))
        shown = list(one.world.messages[GENERAL].values())
        assert [(m["content"], len(m["attachments"])) for m in shown] == [("look", 10), ("", 1)]
        assert first == shown[0]["id"]
        again = await one.channel.send(answer(text="look", files=files))
        assert (again, len(one.world.messages[GENERAL])) == (first, 2)


async def test_what_failed_in_the_middle_goes_on_from_there(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        files = tuple(a_file(tmp_path, f"{n}.txt", "document", "text/plain") for n in range(11))
        message = answer(text="look", files=files)
        send = one.channel._out._put

        async def once(call: object, told: object) -> str:
            if call == calls[-1] and not done:
                done.append(True)
                raise SendError("broken", retryable=True)
            return await send(call, told)  # type: ignore[arg-type]

        from channels.discord.sending import to_wire  # noqa: PLC0415

        calls, done = to_wire(message), list[bool]()
        one.channel._out._put = once  # type: ignore[method-assign, assignment]
        with pytest.raises(SendError):
            await one.channel.send(message)
        await one.channel.send(message)
        assert one.server.count("POST /channels/500/messages") == 2


async def test_edits_replace_text_and_buttons(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        choices = ((Choice(label="Yes", data="y", style="good"), Choice(label="No", data="n")),)
        number = await one.channel.send(answer(text="sure?", choices=choices))
        shown = one.world.messages[GENERAL][int(number)]
        buttons = shown["components"][0]["components"]
        assert [(b["label"], b["custom_id"], b["style"]) for b in buttons] == [
            ("Yes", "clawd:y", 3),
            ("No", "clawd:n", 2),
        ]
        await one.channel.edit(answer(text="done"), number)
        assert (shown["content"], shown["components"]) == ("done", [])
        picture = a_file(tmp_path, "a.png", "image", "image/png")
        await one.channel.edit(answer(text="and a file", files=(picture,)), number)
        assert [a["filename"] for a in shown["attachments"]] == ["a.png"]
        one.world.messages[GENERAL].clear()
        with pytest.raises(SendError, match="no such message") as caught:
            await one.channel.edit(answer(text="late"), number)
        assert not caught.value.retryable


async def test_more_buttons_than_fit_become_a_list(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        choices = tuple((Choice(label=str(n), data=f"d{n}"),) for n in range(30))
        number = await one.channel.send(answer(text="which?", choices=choices))
        rows = one.world.messages[GENERAL][int(number)]["components"]
        assert [len(row["components"][0]["options"]) for row in rows] == [25, 5]


async def test_deleting_twice_is_no_failure(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        number = await one.channel.send(answer())
        await one.channel.delete(to(GENERAL), number)
        await one.channel.delete(to(GENERAL), number)
        assert one.world.messages[GENERAL] == {}


async def test_one_reaction_of_ours_takes_the_place_of_another(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        said = one.world.say(GENERAL, "hello")
        where, number = to(GENERAL), int(said["id"])
        await one.channel.react(where, said["id"], "👀")
        await one.channel.react(where, said["id"], "✅")
        assert one.world.reactions[number] == {(BOT_ID, "✅")}
        await one.channel.react(where, said["id"], None)
        assert one.world.reactions[number] == set()
        one.world.messages[GENERAL][number]["reactions"] = [
            {
                "emoji": {"id": None, "name": "🎉"},
                "count": 1,
                "me": True,
                "burst_colors": [],
                "me_burst": False,
            }
        ]
        one.world.reactions[number] = {(BOT_ID, "🎉")}
        await one.channel.react(where, said["id"], None)
        assert one.world.reactions[number] == set(), "one of an earlier process"


async def test_typing_is_shown_where_the_answer_comes(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        await one.channel.typing(to(GENERAL))
        await one.channel.typing(in_thread())
        assert one.world.typed == [GENERAL, THREAD_700]


async def test_a_person_is_written_to_by_their_id(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        first = await one.channel.send(answer(to(f"user:{ANNA}", kind="direct"), "hello", key="a"))
        second = await one.channel.send(answer(to(ANNA, kind="direct"), "and again", key="b"))
        chat = one.world.dm(ANNA)
        assert [m["id"] for m in one.world.messages[chat].values()] == [first, second]
        await one.channel.edit(answer(to(ANNA, kind="direct"), "changed"), second)
        assert one.world.messages[chat][int(second)]["content"] == "changed"


async def test_a_forum_takes_a_post(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        number = await one.channel.send(answer(to(FORUM), "The weekly report\n\nAll is well."))
        assert one.world.channels[int(number)]["name"] == "The weekly report All is well."
        assert one.world.messages[int(number)][int(number)]["content"].startswith("The weekly")


async def test_a_rate_limit_is_waited_for_and_a_long_one_is_told(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        path = "POST /channels/500/messages"
        one.server.knobs.refuse(path, 429, 0, "limited", retry_after=0.05, **{"global": False})
        await one.channel.send(answer(text="after a moment"))
        assert one.server.count(path) == 2
        one.server.knobs.refuse(path, 429, 0, "limited", retry_after=77.5, **{"global": False})
        with pytest.raises(SendError) as caught:
            await one.channel.send(answer(text="later", key="b"))
        assert (caught.value.retryable, caught.value.retry_after) == (True, 77.5)


async def test_buckets_are_kept_to(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.server.knobs.limit = 3
        await asyncio.gather(*(one.channel.send(answer(text=str(n), key=str(n))) for n in range(7)))
        assert sorted(m["content"] for m in one.world.messages[GENERAL].values()) == list("0123456")
        assert one.server.count("POST /channels/500/messages") <= 8


async def test_trouble_of_discord_may_be_tried_again(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.server.knobs.refuse("POST /channels/500/messages", 503, 0, "overloaded")
        with pytest.raises(SendError, match="HTTP 503") as caught:
            await one.channel.send(answer())
        assert (caught.value.retryable, caught.value.ambiguous) == (True, True)
        await one.channel.send(answer())
        assert len(one.world.messages[GENERAL]) == 1


async def test_a_slow_answer_is_given_up(tmp_path: Path) -> None:
    async with live(tmp_path, timing=replace(FAST, answer=0.5)) as one:
        one.server.knobs.slow["POST /channels/500/messages"] = 60
        with pytest.raises(SendError, match="TimeoutError") as caught:
            await one.channel.send(answer())
        assert (caught.value.retryable, caught.value.ambiguous) == (True, True)


async def test_a_server_that_is_gone_may_come_back(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        await one.server.down()
        with pytest.raises(SendError, match=r"cannot be reached|did not come") as caught:
            await one.channel.send(answer())
        assert caught.value.retryable
        await one.server.up()
        await one.channel.send(answer())
        assert len(one.world.messages[GENERAL]) == 1


async def test_missing_rights_are_named(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.world.denied[OFFICE] = {"send_messages"}
        channel = one.world._seen(one.world.channels[OFFICE])
        one.world.emit("CHANNEL_UPDATE", channel)
        one.world.say(OFFICE, "hello")
        await one.gateway.until(1)
        with pytest.raises(SendError, match="give its role Send Messages in the channel") as caught:
            await one.channel.send(answer(to(OFFICE)))
        assert (caught.value.gone, caught.value.retryable) == (True, False)
        assert f"chat {OFFICE}" in one.channel.health.problems[0]
        one.world.denied.clear()
        await one.channel.send(answer(to(OFFICE)))
        assert one.channel.health.problems == ()


async def test_chats_that_cannot_be_written_to(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.world.dms_closed.add(ANNA)
        chat = one.world.dm(ANNA)
        one.world.denied[OFFICE] = {"view_channel"}
        for where, said in (
            (to(chat, kind="direct"), "takes no direct messages"),
            (to(12345), "no such channel"),
            (to(12345, kind="direct"), "no such user|Invalid Recipient"),
            (to(OFFICE), "cannot see that channel"),
        ):
            with pytest.raises(SendError, match=said) as caught:
                await one.channel.send(answer(where))
            assert not caught.value.retryable
        with pytest.raises(SendError, match="no id of Discord"):
            await one.channel.send(answer(to("general")))


async def test_what_discord_would_not_take_is_not_sent(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        await one.channel.send(answer(text="x" * 2000, key="a"))
        with pytest.raises(SendError) as caught:
            await one.channel.send(answer(text="x" * 2001, key="b"))
        assert caught.value.too_long
        with pytest.raises(SendError, match="nothing to send"):
            await one.channel.send(answer(text=" "))
        gone = OutboundFile(path=tmp_path / "none", name="n", kind="document", mime="x/y")
        with pytest.raises(SendError, match="could not be read"):
            await one.channel.send(answer(files=(gone,)))
        with pytest.raises(SendError, match="more than 64 bytes"):
            await one.channel.send(answer(choices=((Choice(label="x", data="y" * 65),),)))
        assert len(one.world.messages[GENERAL]) == 1


async def test_a_message_deleted_while_it_is_answered_is_answered(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        said = one.world.say(GENERAL, "never mind")
        await one.gateway.until(1)
        del one.world.messages[GENERAL][int(said["id"])]
        number = await one.channel.send(answer(text="too late", reply_to=said["id"]))
        with pytest.raises(SendError, match="no such message"):
            await one.channel.react(to(GENERAL), said["id"], "👀")
        assert list(one.world.messages[GENERAL]) == [int(number)]
        await until(lambda: one.channel.health.connected)
