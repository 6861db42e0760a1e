"""Telegram calls: only with the secret, and answered only when what it says is accepted."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from channels.channel import ChannelFailed
from channels.telegram.channel import TelegramChannel
from channels.telegram.webhook import MAX_BODY_BYTES
from tests.channels.telegram.wired import Gateway, channel_of, running, until
from tests.fakes.telegram import TelegramServer, telegram_server
from tests.fakes.telegram_world import ANNA, GROUP, Json, World

SECRET = "s3cret_of_ours"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def settings(port: int) -> Json:
    url = f"http://127.0.0.1:{port}/telegram-webhook"
    return {"mode": "webhook", "webhook": {"url": url, "secret": SECRET, "port": port}}


@asynccontextmanager
async def listening(
    server: TelegramServer, folder: Path, gateway: Gateway
) -> AsyncIterator[tuple[TelegramChannel, str]]:
    port = free_port()
    channel = channel_of(server, folder, settings=settings(port))
    async with running(channel, gateway):
        await until(lambda: bool(server.webhook) and channel.health.connected)
        yield channel, f"http://127.0.0.1:{port}/telegram-webhook"


async def call(
    url: str, body: bytes | str, secret: str | None = SECRET, method: str = "POST"
) -> httpx.Response:
    headers = {} if secret is None else {"X-Telegram-Bot-Api-Secret-Token": secret}
    async with httpx.AsyncClient(verify=False, trust_env=False) as client:  # noqa: S501 (plain http)
        return await client.request(method, url, content=body, headers=headers)


async def test_messages_and_albums_arrive_through_the_webhook(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        async with listening(server, tmp_path, gateway):
            assert server.webhook["secret_token"] == SECRET
            server.world.say(ANNA, "hello")
            await gateway.until(1)
            server.world.album(GROUP, ["three", "", ""])
            await gateway.until(2)
            await server.world.until(lambda: not server.world.updates)
        assert gateway.texts == ["hello", "three"]
        assert len(gateway.messages[1].attachments) == 3
        assert server.polls == 0


@pytest.mark.parametrize("secret", [None, "", "wrong", SECRET[:-1], f"{SECRET}x", "sécret"])
async def test_a_call_without_the_secret_is_nobody_s(tmp_path: Path, secret: str | None) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        async with listening(server, tmp_path, gateway) as (_, url):
            header = None if secret is None else secret
            body = json.dumps({"update_id": 1, "message": {}})
            if header is not None and not header.isascii():
                async with httpx.AsyncClient(verify=False, trust_env=False) as client:  # noqa: S501 (plain http)
                    raw = [(b"X-Telegram-Bot-Api-Secret-Token", header.encode())]
                    answer = await client.post(url, content=body, headers=raw)
            else:
                answer = await call(url, body, header)
            assert answer.status_code == 401
        assert gateway.events == []


async def test_only_post_and_no_more_than_an_update(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        async with listening(server, tmp_path, gateway) as (_, url):
            assert (await call(url, "", method="GET")).status_code == 405
            assert (await call(url, "x" * (MAX_BODY_BYTES + 1))).status_code == 413
            assert (await call(url, "{")).status_code == 400
            assert (await call(url, "[]")).status_code == 400
            assert (await call(url, '{"update_id": "x"}')).status_code == 400
            assert (await call(url.replace("telegram-webhook", "healthz"), "", method="GET")).text == "ok\n"
            assert (await call(url.replace("telegram-webhook", "other"), "")).status_code == 404
        assert gateway.events == []


async def test_an_update_is_answered_when_it_is_accepted_and_told_again_when_not(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway(fails=[OSError("disk full"), OSError("disk full")])
        async with listening(server, tmp_path, gateway):
            server.world.say(ANNA, "hello")
            await gateway.until(1)
            await server.world.until(lambda: not server.world.updates)
        assert gateway.texts == ["hello"]


async def test_what_telegram_tells_twice_is_delivered_once(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        async with listening(server, tmp_path, gateway) as (_, url):
            server.world.say(ANNA, "hello")
            body = json.dumps(server.world.updates[0])
            await gateway.until(1)
            for _ in range(2):
                assert (await call(url, body)).status_code == 200
        assert gateway.texts == ["hello"]


async def test_updates_that_arrive_in_disorder_are_all_taken(tmp_path: Path) -> None:
    """Telegram calls on several connections: a lower number is no sign of a known update here."""
    async with telegram_server() as server:
        gateway = Gateway()
        async with listening(server, tmp_path, gateway) as (_, url):
            world = World()
            for n in range(3):
                world.say(ANNA, str(n))
            for update in (world.updates[2], world.updates[0], world.updates[1], world.updates[0]):
                assert (await call(url, json.dumps(update))).status_code == 200
        assert gateway.texts == ["2", "0", "1"]


async def test_an_update_that_cannot_be_read_is_not_asked_for_again(tmp_path: Path) -> None:
    async with telegram_server() as server:
        gateway = Gateway()
        async with listening(server, tmp_path, gateway) as (_, url):
            assert (await call(url, '{"update_id": 5, "message": {"poll": {}}}')).status_code == 200
        assert gateway.events == []


async def test_the_status_tells_that_telegram_cannot_reach_us(tmp_path: Path) -> None:
    async with telegram_server() as server, listening(server, tmp_path, Gateway()) as (channel, _):
        server.webhook["url"] = "http://127.0.0.1:9/nowhere"
        server.world.time = int(channel._clock().timestamp())
        server.world.say(ANNA, "hello")
        await until(lambda: "cannot deliver" in channel.health.error)
        assert not channel.health.connected


async def test_a_port_that_is_taken_ends_the_channel_with_a_word(tmp_path: Path) -> None:
    async with telegram_server() as server:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = int(taken.getsockname()[1])
            channel = channel_of(server, tmp_path, settings=settings(port))
            with pytest.raises(ChannelFailed, match=f"port {port}"):
                await asyncio.wait_for(channel.run(Gateway().deliver), 30)


async def test_the_port_is_free_again_after_the_end(tmp_path: Path) -> None:
    async with telegram_server() as server:
        async with listening(server, tmp_path, Gateway()) as (_, url):
            port = int(url.split(":")[2].split("/")[0])
        with socket.create_server(("127.0.0.1", port)):
            pass
