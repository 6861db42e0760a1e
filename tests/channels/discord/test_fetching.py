"""Files of people: whole or not at all, also when Discord's address for them has run out."""

from pathlib import Path

import pytest

from channels.channel import FetchError
from channels.message import Attachment
from tests.channels.discord.wired import Live, channel_of, live
from tests.fakes.discord import discord_server
from tests.fakes.discord_world import GENERAL


async def heard(one: Live, data: bytes = b"some data") -> Attachment:
    file = one.world.attachment(GENERAL, "a.bin", data, "application/octet-stream")
    one.world.say(GENERAL, "", attachments=[file])
    await one.gateway.until(1)
    return one.gateway.messages[0].attachments[0]


async def test_a_file_is_fetched_whole_and_private(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        into = tmp_path / "a.bin"
        await one.channel.fetch(await heard(one), into, max_bytes=9)
        assert into.read_bytes() == b"some data"
        assert into.stat().st_mode & 0o777 == 0o600


async def test_a_file_that_is_too_large_is_not_kept(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        into = tmp_path / "a.bin"
        with pytest.raises(FetchError, match="larger than"):
            await one.channel.fetch(await heard(one, b"x" * 3_000_000), into, max_bytes=2_000_000)
        assert not into.exists()


async def test_an_address_that_has_run_out_is_asked_for_again(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        attachment = await heard(one)
        message = next(iter(one.world.messages[GENERAL].values()))
        path = next(iter(one.world.files))
        one.world.files["/attachments/new"] = one.world.files.pop(path)
        message["attachments"][0]["url"] = f"{one.world.base_url}/attachments/new"
        await one.channel.fetch(attachment, tmp_path / "a.bin", max_bytes=100)
        assert (tmp_path / "a.bin").read_bytes() == b"some data"
        del one.world.files["/attachments/new"]
        with pytest.raises(FetchError, match="HTTP 404"):
            await one.channel.fetch(attachment, tmp_path / "b.bin", max_bytes=100)
        one.world.messages[GENERAL].clear()
        with pytest.raises(FetchError, match="no longer has the file"):
            await one.channel.fetch(attachment, tmp_path / "b.bin", max_bytes=100)
        assert not (tmp_path / "b.bin").exists()


@pytest.mark.parametrize("ref", ["1/2/3 http://example.org/x", "1/2/3 file:///etc/passwd", "", "x"])
async def test_only_discords_own_servers_are_asked(tmp_path: Path, ref: str) -> None:
    async with live(tmp_path) as one:
        with pytest.raises(FetchError, match="not on Discord's server"):
            await one.channel.fetch(Attachment(kind="document", ref=ref), tmp_path / "x", max_bytes=10)


async def test_without_a_connection_nothing_is_fetched(tmp_path: Path) -> None:
    async with discord_server() as server:
        channel = channel_of(server, tmp_path)
        with pytest.raises(FetchError, match="not connected"):
            await channel.fetch(Attachment(kind="document", ref="x"), tmp_path / "x", max_bytes=1)
