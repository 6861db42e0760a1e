"""A whole clawd whose Telegram account wants whole blocks: what a person reads, over a kill as well."""

import signal
from pathlib import Path

import pytest

from tests.e2e.running import running, until
from tests.e2e.test_telegram import answered, config
from tests.fakes.model_script import Call, Hang, Say
from tests.fakes.modelserver import ModelServer
from tests.fakes.telegram import telegram_server
from tests.fakes.telegram_world import ANNA

pytestmark = pytest.mark.slow
LONG = "\n\n".join(f"Paragraph {number} of a long answer. " + "word " * 60 for number in range(9))


async def test_an_answer_in_blocks_is_read_once_also_over_a_kill(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with ModelServer(delay_ms=30) as models, telegram_server() as server:
        told = config(models, server)
        told["channels"]["telegram"]["accounts"]["default"]["live_view"] = "blocks"
        world = server.world
        async with running(home, told) as daemon:
            models.script += [Call("list", text="Let me look."), Hang()]
            world.say(ANNA, "what is there?")
            await answered(server, "Let me look.")
            await until(
                lambda: b'"type":"sent"' in (home / "journals/outbox.jsonl").read_bytes().replace(b" ", b"")
            )
            await daemon.end(signal.SIGKILL)
        models.script.clear()
        models.script.append(Say("Not much."))
        async with running(home, told):
            await answered(server, "Not much.")
            models.script.append(Say(LONG))
            world.say(ANNA, "tell me a story")
            await world.until(lambda: any("Paragraph 8" in one.text for one in world.from_bot(ANNA)))
        texts = [one.text for one in world.from_bot(ANNA)]
        assert texts[:2] == ["Let me look.", "Not much."]
        assert " ".join(" ".join(texts[2:]).split()) == " ".join(LONG.split())
        assert server.count("editMessageText") == 0
