"""Files that an agent sends where a session is read over HTTP: for its readers, and no others."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.turn import ToolFinished, TurnEvent
from gateway.http.answers import message_json
from gateway.http.events import event_json
from gateway.media.serving import SentFiles, sending_in
from gateway.views import Beside, Refused
from sessions.key import SessionKey
from sessions.messages import ToolResult
from tests.fakes.protocols import Says
from tests.gateway.tools.test_send_file import answered, desk, sends

MAIN = SessionKey(agent="main", kind="main")
TAKES = Beside(takes_files=True)


async def test_a_caller_that_takes_files_gets_what_was_sent_in_its_session(tmp_path: Path) -> None:
    heard: list[TurnEvent] = []
    async with desk(tmp_path, sends("report.pdf", "for you"), Says("here"), Says("hi")) as (home, files):
        gateway = home.gateway
        gateway.outgoing = files.outgoing
        await gateway.chat(agent=None, session=None, text="send it", on_event=heard.append, beside=TAKES)
        await gateway.chat(agent=None, session="other", text="hello", beside=TAKES)
        said = (await gateway.session(MAIN)).messages
        (result,) = [one for one in said if isinstance(one, ToolResult)]
        (finished,) = [one for one in heard if isinstance(one, ToolFinished)]
        told = message_json(result)["file"]
        assert isinstance(told, dict)
        served = SentFiles(entries=gateway.entries, outgoing=files.outgoing)
        found = await served.find(MAIN, str(told["ref"]))
        other = SessionKey(agent="main", kind="api", peer="other")
        with pytest.raises(Refused, match="No file of that name was sent in agent:main:api:other"):
            await served.find(other, str(told["ref"]))
        with pytest.raises(Refused, match="No file of that name"):
            await served.find(MAIN, "../../clawd.yaml")
        with pytest.raises(Refused, match="There is no session"):
            await served.find(replace(other, peer="never"), str(told["ref"]))
        content = found.path.read_bytes()
        found.path.unlink()
        with pytest.raises(Refused, match="no longer kept") as gone:
            await served.find(MAIN, str(told["ref"]))

    assert told == event_json(finished)[1]["file"]
    assert (told["name"], told["mime"], told["caption"]) == ("report.pdf", "application/pdf", "for you")
    assert told["size"] == len(content)
    assert content == (tmp_path / "workspace-main" / "report.pdf").read_bytes()
    assert gone.value.status == 410


async def test_a_caller_that_takes_none_is_told_where_the_file_is(tmp_path: Path) -> None:
    async with desk(tmp_path, sends("report.pdf"), Says("there")) as (home, files):
        home.gateway.outgoing = files.outgoing
        await home.gateway.chat(agent=None, session=None, text="send it")
        text, failed = answered(home)

    assert "No file can be sent in this conversation" in text
    assert not failed
    assert list((tmp_path / "home" / "media").rglob("*.pdf")) == []


async def test_files_can_be_sent_only_while_the_turn_runs(tmp_path: Path) -> None:
    async with desk(tmp_path) as (_, files):
        with sending_in(files.outgoing, MAIN, TAKES):
            during = files.outgoing.slot(MAIN)
        after = files.outgoing.slot(MAIN)
        with sending_in(None, MAIN, TAKES):
            nowhere = files.outgoing.slot(MAIN)

    assert during is not None
    assert (after, nowhere) == (None, None)
