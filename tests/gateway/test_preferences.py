"""What people choose for one conversation, and what that changes."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateway.commands.obey import Hooks
from gateway.preference_commands import PreferenceCommands
from gateway.preferences import Preference, Preferences, tool_line
from gateway.restart import Restart
from gateway.views import Refused
from gateway.writing import Writer
from sessions.key import SessionKey
from tests.fakes.front import street
from tests.fakes.house import house
from tests.fakes.protocols import Calls, FakeTool, Hangs, Says, call

MAIN = SessionKey(agent="main", kind="main")


def test_a_choice_is_kept_over_a_restart(tmp_path: Path) -> None:
    chosen = Preferences.open(tmp_path / "p.jsonl")
    chosen.set(MAIN, Preference(queue="steer", verbose="full"))
    chosen.close()
    again = Preferences.open(tmp_path / "p.jsonl")
    assert again.of(MAIN) == Preference(queue="steer", verbose="full")
    assert again.of(SessionKey(agent="main", kind="api", peer="x")) == Preference()
    again.close()


def test_many_choices_do_not_grow_the_file_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    chosen = Preferences.open(path)
    for _ in range(300):
        chosen.set(MAIN, Preference(verbose="on"))
    chosen.close()
    Preferences.open(path).close()
    assert path.read_bytes().count(b"\n") == 1


def test_lines_of_another_version_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"key": "nonsense"}\n{"key": "agent:main:main", "queue": "dream", "verbose": 3}\n')
    chosen = Preferences.open(path)
    assert chosen.of(MAIN) == Preference()
    chosen.close()


async def test_commands_say_what_holds_and_refuse_what_is_unknown(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        preferences = Preferences.open(tmp_path / "p.jsonl")
        said = PreferenceCommands(preferences=preferences, executor=executor, default=lambda: "collect")
        assert "Queue mode collect" in await said.queue(MAIN, "")
        assert "Queue mode steer" in await said.queue(MAIN, "Steer")
        assert preferences.of(MAIN).queue == "steer"
        assert "as the settings say" in await said.queue(MAIN, "reset")
        assert preferences.of(MAIN).queue is None
        assert "Verbose off" in await said.verbose(MAIN, "")
        assert "Verbose full" in await said.verbose(MAIN, "full")
        with pytest.raises(Refused, match="collect, followup, steer, interrupt"):
            await said.queue(MAIN, "sideways")
        with pytest.raises(Refused, match="off, on, full"):
            await said.verbose(MAIN, "louder")
        preferences.close()


async def test_a_chosen_queue_mode_holds_in_the_next_turn(tmp_path: Path) -> None:
    async with house(tmp_path, Hangs(), Says("to both")) as home, street(home) as scene:
        scene.preferences.set(MAIN, Preference(queue="interrupt"))
        await scene.say("one")
        await home.model.hanging.wait()
        await scene.say("two")
        await scene.quiet()
        assert scene.channel.texts == ["to both"]


@pytest.mark.parametrize(("verbose", "shown"), [("on", "🔧 look"), ("full", '🔧 look {"at": "it"}')])
async def test_tools_are_shown_while_they_run_and_not_in_the_end(
    tmp_path: Path, verbose: str, shown: str
) -> None:
    tool = FakeTool(delay=0.3)
    script = (Calls((call("look", {"at": "it"}),)), Says("Seen."))
    async with house(tmp_path, *script, extra_tools=[tool]) as home, street(home) as scene:
        scene.preferences.set(MAIN, Preference(verbose=verbose))  # type: ignore[arg-type]
        await scene.say("look")
        await scene.channel.until(lambda it: it.texts == [shown])
        await scene.quiet()
        assert scene.channel.texts == ["Seen."]


async def test_a_restart_is_asked_for_once_and_told_by_the_next_start(tmp_path: Path) -> None:
    restart = Restart()
    hooks = Hooks(restart=restart.hook)
    async with house(tmp_path, hooks=hooks) as home:
        async with street(home) as scene:
            await scene.say("/restart")
            await scene.quiet()
            assert "cannot begin again by itself" in scene.channel.texts[0]
            restart.possible = True
            await scene.say("/restart")
            await scene.quiet()
            assert restart.asked.is_set()
            assert len(scene.channel.texts) == 1
        async with street(home) as scene:
            await scene.quiet()
            assert scene.channel.texts == ["clawd was restarted and runs again."]


def test_half_a_secret_is_not_shown_either() -> None:
    secret = "s3cret-" * 12
    asked = call("look", {"at": "x" * 90 + secret})
    line = tool_line(asked, verbose="full", clean=Writer([secret]).outward)
    assert "s3cret" not in line
    assert tool_line(asked, verbose="on", clean=str) == "🔧 look"
