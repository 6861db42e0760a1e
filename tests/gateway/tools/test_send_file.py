"""send_file through the whole path: sent after the text, once, over a restart; nothing else leaves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agents.model.provider import ModelError
from channels.channel import SendError
from channels.message import Address, OutboundFile
from gateway.media.media import Media
from gateway.media.sending import Sending, together
from gateway.tools.send_file import send_file_tool
from sessions.messages import Text, ToolResult
from tests.fakes.channel import TRAITS, FakeChannel
from tests.fakes.files import media, pdf, picture
from tests.fakes.front import ADDRESS, Street, street
from tests.fakes.house import House, house
from tests.fakes.protocols import Calls, Fails, Hangs, Says, Step, call

GROUP = Address(channel="telegram", account="default", chat="-100", kind="group")


def sends(path: str, caption: str | None = None, *, id: str = "c1") -> Calls:  # noqa: A002
    return Calls((call("send_file", {"path": path, **({"caption": caption} if caption else {})}, id=id),))


@asynccontextmanager
async def desk(tmp_path: Path, *script: Step, first_session: int = 1) -> AsyncIterator[tuple[House, Media]]:
    """A house whose agent can send files."""
    folder = tmp_path / "home" / "media"
    files, workspace = media(folder), tmp_path / "workspace-main"
    tool = send_file_tool(files, workspace=workspace, folder=folder, forbidden=(tmp_path / "home",))
    async with house(tmp_path, *script, extra_tools=[tool], first_session=first_session) as home:
        (workspace / "report.pdf").write_bytes(pdf("quarter"))
        yield home, files


@asynccontextmanager
async def scene(
    tmp_path: Path, *script: Step, channel: FakeChannel | None = None, first_session: int = 1
) -> AsyncIterator[tuple[Street, House, Media]]:
    async with (
        desk(tmp_path, *script, first_session=first_session) as (home, files),
        street(home, channel=channel, outgoing=files.outgoing) as made,
    ):
        yield made, home, files


async def ask(made: Street, *, address: Address = ADDRESS) -> None:
    await made.say("send it", address=address)
    await made.quiet()


def answered(home: House) -> tuple[str, bool]:
    """What the tool told the model."""
    result = [one for one in home.model.requests[-1].messages if isinstance(one, ToolResult)][-1]
    return "".join(part.text for part in result.parts if isinstance(part, Text)), result.is_error


async def test_a_file_goes_out_after_the_text(tmp_path: Path) -> None:
    async with scene(tmp_path, sends("report.pdf", "The *quarter*"), Says("Here it is.")) as (made, _, files):
        await ask(made)
        text, file = (bubble.message for bubble in made.channel.bubbles)
        assert (text.text, text.files) == ("Here it is.", ())
        (out,) = file.files
        assert (file.text, out.name, out.kind, out.mime) == (
            "The quarter", "report.pdf", "document", "application/pdf"
        )  # fmt: skip
        assert out.path.parent == files.store.outbound
        assert out.path.read_bytes() == (tmp_path / "workspace-main/report.pdf").read_bytes()
        assert out.path.stat().st_mode & 0o777 == 0o600
        assert made.front.outbox.files() == frozenset()


async def test_several_files_go_in_their_order_and_of_their_kinds(tmp_path: Path) -> None:
    script = (sends("a.png"), sends("report.pdf", id="c2"), Says("NO_REPLY"))
    async with scene(tmp_path, *script) as (made, _, _):
        (tmp_path / "workspace-main/a.png").write_bytes(picture(kind="PNG"))
        await ask(made)
        kinds = [file.kind for bubble in made.channel.bubbles for file in bubble.message.files]
        assert kinds == ["image", "document"]
        assert made.channel.texts == ["", ""]


def in_albums() -> FakeChannel:
    return FakeChannel(traits=replace(TRAITS, album_files=3, album_of=lambda file: file.kind))


async def test_files_of_one_kind_go_as_albums_where_there_are_some(tmp_path: Path) -> None:
    """A caption begins another album; so does what is more than one holds."""
    calls = [sends(f"{n}.png", "more" if n == 6 else None, id=f"c{n}") for n in range(8)]
    script: tuple[Step, ...] = (*calls[:2], sends("report.pdf", id="r"), *calls[2:], Says("ok"))
    async with scene(tmp_path, *script, channel=in_albums()) as (made, _, _):
        for n in range(8):
            (tmp_path / f"workspace-main/{n}.png").write_bytes(picture(kind="PNG"))
        await ask(made)
        sent = [bubble.message for bubble in made.channel.bubbles]
        assert [[file.name for file in one.files] for one in sent] == [
            [],
            ["0.png", "1.png"],
            ["report.pdf"],
            ["2.png", "3.png", "4.png"],
            ["5.png"],
            ["6.png", "7.png"],
        ]
        assert [one.text for one in sent] == ["ok", "", "", "", "", "more"]
        assert all(file.size == file.path.stat().st_size for one in sent for file in one.files)


@pytest.mark.parametrize(("bytes_each", "albums"), [(450_000, 1), (450_001, 2), (0, 2)])
def test_an_album_is_no_larger_than_a_file_may_be(bytes_each: int, albums: int) -> None:
    """A size that is not known may be any."""
    traits = replace(TRAITS, max_file_bytes=1_000_001, album_files=10, album_of=lambda file: file.kind)
    file = OutboundFile(path=Path("a"), name="a", kind="image", mime="image/png", size=bytes_each)
    assert len(together([Sending(file=file)] * 2, traits)) == albums


async def test_a_live_view_is_edited_to_text_and_the_file_stands_below(tmp_path: Path) -> None:
    long = "\n\n".join("word " * 60 for _ in range(4))
    script = (Calls(sends("report.pdf").calls, text=long), Says("Short."))
    async with scene(tmp_path, *script) as (made, _, _):
        await ask(made)
        assert made.channel.texts == ["Short.", ""]
        assert [len(bubble.message.files) for bubble in made.channel.bubbles] == [0, 1]


async def test_a_caption_that_is_too_long_for_the_platform_stands_before_the_file(tmp_path: Path) -> None:
    async with scene(tmp_path, sends("report.pdf", "word " * 50), Says("ok")) as (made, _, _):
        await ask(made)
        assert [len(bubble.message.files) for bubble in made.channel.bubbles] == [0, 0, 1]
        assert all(len(text) <= TRAITS.max_text for text in made.channel.texts)


async def test_the_next_answer_does_not_send_it_again(tmp_path: Path) -> None:
    async with scene(tmp_path, sends("report.pdf"), Says("one"), Says("two")) as (made, _, _):
        await ask(made)
        await ask(made)
        assert [len(bubble.message.files) for bubble in made.channel.bubbles] == [0, 1, 0]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../home/clawd.yaml", "outside the workspace"),
        ("/etc/passwd", "outside the workspace"),
        ("link.txt", "outside the workspace"),
        ("away/passwd", "outside the workspace"),
        ("missing.pdf", "does not exist"),
        ("folder", "is a folder"),
        ("empty.txt", "is empty"),
        ("~/x", "not expanded"),
    ],
)
async def test_nothing_but_files_of_the_workspace_leaves(tmp_path: Path, path: str, why: str) -> None:
    async with scene(tmp_path, sends(path), Says("I cannot.")) as (made, home, files):
        workspace = tmp_path / "workspace-main"
        (workspace / "link.txt").symlink_to("/etc/passwd")
        (workspace / "away").symlink_to("/etc")
        (workspace / "folder").mkdir()
        (workspace / "empty.txt").touch()
        await ask(made)
        assert answered(home) == (answered(home)[0], True)
        assert why in answered(home)[0]
        assert made.channel.texts == ["I cannot."]
        assert not list(files.store.outbound.glob("*"))


async def test_a_file_that_somebody_sent_can_be_sent_on(tmp_path: Path) -> None:
    async with desk(tmp_path) as (home, files):
        kept = files.store.keep("photo.jpg", picture())
        home.model.script += [sends(str(kept.path)), Says("ok")]
        async with street(home, outgoing=files.outgoing) as made:
            await ask(made)
            assert [file.kind for file in made.channel.bubbles[1].message.files] == ["image"]


@pytest.mark.parametrize(("more", "sent"), [(-1, 1), (0, 1), (1, 0)])
async def test_a_file_that_is_too_large_for_the_platform_is_refused_with_the_limit(
    tmp_path: Path, more: int, sent: int
) -> None:
    channel = FakeChannel(traits=replace(TRAITS, max_file_bytes=5_000))
    async with scene(tmp_path, sends("big.txt"), Says("ok"), channel=channel) as (made, home, _):
        (tmp_path / "workspace-main/big.txt").write_bytes(b"x" * (5_000 + more))
        await ask(made)
        assert sum(len(bubble.message.files) for bubble in channel.bubbles) == sent
        assert ("at most 5 KB can be sent here" in answered(home)[0]) == (not sent)


async def test_private_notes_do_not_go_to_a_group(tmp_path: Path) -> None:
    async with scene(tmp_path, sends("MEMORY.md"), Says("no")) as (made, home, _):
        (tmp_path / "workspace-main/MEMORY.md").write_text("secret")
        await ask(made, address=GROUP)
        assert "owner's own conversations" in answered(home)[0]


async def test_where_no_channel_answers_the_path_is_told(tmp_path: Path) -> None:
    async with desk(tmp_path, sends("report.pdf"), Says("It is there.")) as (home, files):
        await home.gateway.chat(agent=None, session=None, text="send it")
        assert str(tmp_path / "workspace-main/report.pdf") in answered(home)[0]
        assert not answered(home)[1]
        assert not list(files.store.outbound.glob("*"))


async def test_a_turn_that_fails_sends_what_it_had_promised(tmp_path: Path) -> None:
    async with scene(tmp_path, sends("report.pdf"), Fails(ModelError("The model is away."))) as (made, _, _):
        await ask(made)
        assert "The model is away." in made.channel.texts[0]
        assert len(made.channel.bubbles[1].message.files) == 1


async def test_a_turn_that_a_kill_cut_off_sends_its_file_once(tmp_path: Path) -> None:
    channel = FakeChannel()
    async with scene(tmp_path, sends("report.pdf"), Hangs(), channel=channel) as (made, home, _):
        await made.say("send it")
        await home.model.hanging.wait()
        home.gateway.draining = True
        await home.gateway.lanes.drain(0)
    (tmp_path / "workspace-main/report.pdf").unlink()
    async with scene(tmp_path, Says("Here."), channel=channel, first_session=2) as (made, _, _):
        await made.quiet()
        assert [len(bubble.message.files) for bubble in channel.bubbles] == [0, 1]
        assert channel.bubbles[1].message.files[0].path.is_file()


async def test_a_file_that_waits_for_its_platform_is_kept_by_the_sweep(tmp_path: Path) -> None:
    channel = FakeChannel()
    channel.fails.extend([None, SendError("blocked")])
    async with scene(tmp_path, sends("report.pdf"), Says("ok"), channel=channel.without_edits()) as (
        made,
        _,
        files,
    ):
        await ask(made)
        (dead,) = made.front.outbox.dead_letters()
        files.store.sweep(timedelta(0), held=made.front.outbox.files())
        assert dead.parts[1].files[0].path.is_file()
        assert await made.front.postman.revive(dead.key)
        await made.quiet()
        assert len(channel.bubbles[-1].message.files) == 1
