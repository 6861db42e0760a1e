"""Following clawd.yaml: what is applied, what waits, and what is refused."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.config import Config, ConfigError, load
from gateway.config.changes import Changes
from gateway.config.last_good import LastGood, again, started
from gateway.home import Home
from gateway.reload import Hot, NotApplied, Reload
from tests.fakes.protocols import START

CASES = Path(__file__).parents[1] / "cases"
BASE = "gateway:\n  log_level: info\nmodels:\n  default: offline/notes\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.ensure()
    home.config_file.write_text(BASE, encoding="utf-8")
    return home


@pytest.fixture(autouse=True)
def _level() -> Iterator[None]:
    logger = logging.getLogger("clawd")
    before = logger.level
    yield
    logger.setLevel(before)


class Heard:
    """What was told of changes."""

    def __init__(self) -> None:
        self.found: list[Changes] = []
        self.configs: list[Config] = []
        self.reason: str | None = None
        self.cannot = ""

    async def take(self, found: Changes, config: Config) -> None:
        if self.cannot:
            raise NotApplied(self.cannot)
        self.found.append(found)
        self.configs.append(config)

    @property
    def hot(self) -> Hot:
        return Hot(apply=self.take, refuse=lambda _: self.reason)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def reload(home: Home, heard: Heard) -> Reload:
    return Reload(
        started=load(home, {}),
        read=lambda: load(home, {}),
        clock=lambda: START,
        hot=heard.hot,
        good=LastGood(home),
    )


def _write(home: Home, text: str) -> None:
    home.config_file.write_text(text, encoding="utf-8")


async def test_a_log_level_holds_at_once(home: Home, reload: Reload) -> None:
    _write(home, BASE.replace("info", "debug"))

    await reload.look()

    assert logging.getLogger("clawd").level == logging.DEBUG
    assert reload.status() == {
        "config": {
            "reloaded_at": START.isoformat(),
            "applied": ["gateway.log_level"],
            "problem": None,
            "needs_restart": [],
            "notice": None,
        }
    }


async def test_a_budget_and_a_default_model_are_handed_on(home: Home, reload: Reload, heard: Heard) -> None:
    _write(home, BASE + "  daily_budget_usd: 2.5\n")

    await reload.look()

    assert [one.models.daily_budget_usd for one in heard.configs] == [2.5]
    assert reload.waiting == ()
    assert reload.told() == "changed while it ran: models.daily_budget_usd"


async def test_what_cannot_be_applied_waits_for_a_restart_and_stops_waiting_when_it_is_taken_back(
    home: Home, reload: Reload, caplog: pytest.LogCaptureFixture
) -> None:
    _write(home, BASE.replace("gateway:\n", "gateway:\n  port: 19000\n"))
    await reload.look()
    waiting, told = reload.waiting, reload.told()
    _write(home, BASE)
    await reload.look()

    assert waiting == ("gateway.port",)
    assert "needs a restart: gateway.port" in caplog.text
    assert told == "waits for a restart: gateway.port"
    assert reload.waiting == ()


@pytest.mark.parametrize(
    "name", ["B60-unknown-key.yaml", "B60-extra-brace.yaml", "B60-wrong-type.yaml", "B60-empty.yaml"]
)
async def test_b60_on_hot_reload_the_old_configuration_stays_in_force(
    home: Home, reload: Reload, heard: Heard, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = reload.config
    _write(home, (CASES / name).read_text(encoding="utf-8"))

    await reload.look()
    await reload.look()

    assert reload.config is before
    assert "clawd.yaml" in reload.problem
    assert caplog.text.count("what held before goes on") == 1
    assert heard.found == []
    assert reload.told().startswith("⚠️ ")
    _write(home, BASE)
    await reload.look()
    assert reload.problem == ""


async def test_a_configuration_that_the_gateway_itself_refuses_is_not_taken(
    home: Home, reload: Reload, heard: Heard
) -> None:
    heard.reason = "hooks.token is the gateway's own token."
    _write(home, BASE.replace("info", "debug"))

    await reload.look()

    assert reload.problem == heard.reason
    assert reload.config.gateway.log_level == "info"


async def test_what_cannot_be_put_in_place_changes_nothing_and_is_told(
    home: Home, reload: Reload, heard: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    heard.cannot = "The workspace /srv/x cannot be made."
    _write(home, BASE.replace("info", "debug"))

    await reload.look()

    assert reload.problem == heard.cannot
    assert reload.config.gateway.log_level == "info"
    assert heard.cannot in caplog.text
    heard.cannot = ""
    await reload.look()
    assert (reload.problem, reload.config.gateway.log_level) == ("", "debug")


async def test_a_file_that_is_gone_is_not_one_that_says_nothing(home: Home, heard: Heard) -> None:
    reload = Reload(
        started=load(home, {}),
        read=lambda: again(home, {}, was_there=True),
        clock=lambda: START,
        hot=heard.hot,
    )
    home.config_file.unlink()

    await reload.look()

    assert "is gone" in reload.problem
    assert heard.found == []


async def test_a_notice_of_the_start_ends_when_the_file_is_right_again(home: Home, reload: Reload) -> None:
    reload.notice = "clawd.yaml has a problem."

    assert "the last good one stands in" in reload.told()
    await reload.look()

    assert (reload.notice, reload.told()) == ("", "")


async def test_a_secret_in_a_broken_file_is_in_no_status(home: Home, reload: Reload) -> None:
    _write(home, BASE.replace("gateway:\n", "gateway:\n  token: sk-short\n"))

    await reload.look()

    assert "gateway.token" in reload.problem
    assert "sk-short" not in str(reload.status())


async def test_one_account_s_change_names_that_account_alone(
    home: Home, reload: Reload, heard: Heard
) -> None:
    text = BASE + (
        "channels:\n  telegram:\n    accounts:\n"
        '      one: {token: "1234567:abcdefghijklmnopqrstuvwxyz-0123456789"}\n'
        '      two: {token: "7654321:abcdefghijklmnopqrstuvwxyz-0123456789"}\n'
    )
    _write(home, text)
    await reload.look()
    _write(home, text.replace("1234567:a", "1234567:b"))
    await reload.look()

    assert heard.found[0].accounts == {("telegram", "one"), ("telegram", "two")}
    assert heard.found[1].accounts == {("telegram", "one")}
    assert heard.found[1].channels == ("channels.telegram.accounts.one.token",)
    assert not heard.found[1].everyone


def test_a_good_start_leaves_a_copy_that_only_the_owner_reads(home: Home) -> None:
    good = LastGood(home)

    good.keep()
    good.keep()

    assert good.file.read_text(encoding="utf-8") == BASE
    assert good.file.stat().st_mode & 0o777 == 0o600


def test_a_start_with_a_broken_key_goes_on_with_the_last_good_text_and_says_so(home: Home) -> None:
    LastGood(home).keep()
    _write(home, BASE + "sessions:\n  open_limitz: 3\n")

    begun = started(home, {})

    assert begun.config.models.default == "offline/notes"
    assert "open_limitz" in begun.notice
    assert "last good configuration" in begun.notice


@pytest.mark.parametrize(
    "text",
    [
        BASE + "}\n",
        "",
        BASE.replace("log_level", "log_levelz"),
        BASE.replace("gateway:\n", "gateway:\n  token: short\n"),
        BASE + "channels:\n  telegram:\n    accounts:\n      one: {allow_fromz: [1]}\n",
        BASE.replace("info", "debug") + "sessions:\n  open_limitz: 3\n",
    ],
    ids=["no YAML", "empty", "gateway", "token", "allow list", "another gateway section beside a fault"],
)
def test_b60_a_start_that_could_open_more_than_the_owner_wants_is_refused(home: Home, text: str) -> None:
    LastGood(home).keep()
    _write(home, text)

    with pytest.raises(ConfigError):
        started(home, {})


def test_b60_without_a_good_copy_a_broken_file_is_refused(home: Home) -> None:
    _write(home, BASE + "sessions:\n  open_limitz: 3\n")

    with pytest.raises(ConfigError, match="open_limitz"):
        started(home, {})
