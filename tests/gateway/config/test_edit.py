"""Changing clawd.yaml: the change and nothing else, comments and order stay."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateway.config import ConfigError, load
from gateway.config.document import parse
from gateway.config.edit import HEAD, CannotEdit, append, put, rename, rewrite
from gateway.config.explain import value_at
from gateway.home import Home

NOW = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
ACCOUNT = ("channels", "telegram", "accounts", "work")
OWNERS = ("channels", "owners")

COMMENTED = """\
# top
gateway: {port: 18789}   # eol

channels:
    owners: ["telegram:1"]   # me
    telegram:
        accounts:
            # my bot
            default:
                token: "not-this"   # secret

# ---- memory
memory:
  search: {provider: none}
"""

FORMS = [
    "",
    "# only a comment\n",
    "channels:\n",
    "channels: # nothing yet\nmemory: {}\n",
    "channels: null\n",
    "channels: {}\n",
    "{}\n",
    "gateway:\n  port: 1",
    "channels: {telegram: {accounts: {default: {}}}}",
    "channels:\n  telegram: {\n    accounts: {a: {enabled: false}, # c\n    }\n  }\n",
    "---\ngateway:\n  host: |\n    x\n    y\n",
    "channels:\n  owners:\n  - 'telegram:1' # x\n  # y\n",
    "channels:\n  owners:\n    - telegram:1",
    '{"channels": {"telegram": {"accounts": {}}}}',
    "gateway:\n  host: a\n    b\n",
    "gateway: {port: 1}\r\nmemory: {}\r\n",
]


def test_what_stood_there_stays_byte_for_byte() -> None:
    new = put(COMMENTED, ACCOUNT, {"token_file": "credentials/w.token"})
    new = append(new, OWNERS, "telegram:2")
    new = rename(new, ("channels", "telegram", "accounts", "default", "token"), "token_file", "d.token")

    assert new == COMMENTED.replace('["telegram:1"]', '["telegram:1", "telegram:2"]').replace(
        'token: "not-this"   # secret\n',
        "token_file: d.token   # secret\n            work:\n              token_file: credentials/w.token\n",
    )


@pytest.mark.parametrize("text", FORMS)
def test_every_way_to_write_it_can_be_added_to(text: str) -> None:
    new = append(put(text, ACCOUNT, {"token_file": "a.token"}), OWNERS, "telegram:2")

    data = parse(new).data
    owners = value_at(data, OWNERS)
    assert value_at(data, ACCOUNT) == {"token_file": "a.token"}
    assert isinstance(owners, list)
    assert owners[-1] == "telegram:2"
    for line in text.splitlines():
        _, sign, comment = line.partition("#")
        assert f"{sign}{comment}" in new


def test_a_value_that_is_there_is_replaced_in_its_place() -> None:
    assert put("a: {b: 1} # c\nd: 2\n", ("a", "b"), "x y") == 'a: {b: "x y"} # c\nd: 2\n'
    assert put("a:\n  b: |\n    1\n    2\nd: 2\n", ("d",), None) == "a:\n  b: |\n    1\n    2\nd: null\n"


def test_an_item_that_is_there_is_not_added_again() -> None:
    assert append(COMMENTED, OWNERS, "telegram:1") == COMMENTED


@pytest.mark.parametrize(
    "text",
    [
        "base: &base {accounts: {}}\nchannels: {telegram: *base}\n",
        "channels: 5\n",
        "channels: {telegram: {accounts: [a]}}\n",
    ],
)
def test_what_cannot_be_changed_alone_is_told_with_what_to_write(text: str) -> None:
    with pytest.raises(CannotEdit, match=r"token_file: a\.token"):
        put(text, ACCOUNT, {"token_file": "a.token"})


def test_a_list_that_is_none_is_left_alone() -> None:
    with pytest.raises(CannotEdit):
        append("channels: {owners: telegram:1}\n", OWNERS, "telegram:2")
    with pytest.raises(CannotEdit):
        rename("a: {b: 1}\n", ("a", "c"), "d", 2)


words = st.text("abcdefgh", min_size=1, max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.text("ab #:'\"{}[],\n-é", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(words, values, max_size=4), st.lists(words, min_size=1, max_size=3), st.booleans())
def test_the_change_is_made_alone_or_not_at_all(data: dict[str, object], keys: list[str], flow: bool) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True)
    before = parse(text).data
    try:
        new = put(text, tuple(keys), "here")
    except CannotEdit:
        return

    after = parse(new).data
    assert value_at(after, tuple(keys)) == "here"
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert {k: v for k, v in after.items() if k != keys[0]} == {
        k: v for k, v in before.items() if k != keys[0]
    }


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.ensure()
    return home


def test_a_file_is_replaced_as_a_whole_and_the_former_one_kept(home: Home) -> None:
    home.config_file.write_text("gateway: {port: 1} # mine\n", encoding="utf-8")
    home.config_file.chmod(0o644)

    done = rewrite(home, {}, lambda text: put(text, ("gateway", "port"), 2), now=NOW)

    assert home.config_file.read_text() == "gateway: {port: 2} # mine\n"
    assert home.config_file.stat().st_mode & 0o777 == 0o600
    assert done.backup is not None
    assert done.backup.read_text() == "gateway: {port: 1} # mine\n"
    assert done.backup.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in home.path.glob("clawd.yaml*")] == ["clawd.yaml"]


def test_a_missing_file_is_made(home: Home) -> None:
    done = rewrite(home, {}, lambda text: append(text, OWNERS, "telegram:1"), now=NOW)

    assert home.config_file.read_text() == f'{HEAD}channels:\n  owners: ["telegram:1"]\n'
    assert (done.backup, done.changed) == (None, True)
    assert load(home, {}).channels.owners == ("telegram:1",)


def test_line_ends_stay_as_they_are(home: Home) -> None:
    home.config_file.write_bytes(b"gateway: {port: 1}\r\nmemory: {}\r\n")

    rewrite(home, {}, lambda text: append(text, OWNERS, "telegram:1"), now=NOW)

    new = home.config_file.read_bytes()
    assert new == b'gateway: {port: 1}\r\nmemory: {}\r\nchannels:\r\n  owners: ["telegram:1"]\r\n'


def test_a_link_stays_a_link(home: Home, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.yaml"
    real.write_text("gateway: {port: 1}\n")
    home.config_file.symlink_to(real)

    rewrite(home, {}, lambda text: put(text, ("gateway", "port"), 2), now=NOW)

    assert home.config_file.is_symlink()
    assert real.read_text() == "gateway: {port: 2}\n"


def test_a_text_that_would_be_wrong_never_takes_its_place(home: Home) -> None:
    home.config_file.write_text("gateway: {port: 1}\n")

    with pytest.raises(ConfigError, match=r"clawd\.yaml has a problem") as told:
        rewrite(home, {}, lambda text: put(text, ("gateway", "prot"), 2), now=NOW)

    assert told.value.file == home.config_file
    assert home.config_file.read_text() == "gateway: {port: 1}\n"
    assert [one.name for one in home.path.glob("clawd.yaml*")] == ["clawd.yaml"]
    assert not home.backups.exists()


def test_a_file_that_is_wrong_already_is_left_to_its_owner(home: Home) -> None:
    home.config_file.write_text("gateway: {prot: 1}\n")

    with pytest.raises(ConfigError):
        rewrite(home, {}, lambda text: text, now=NOW)

    assert home.config_file.read_text() == "gateway: {prot: 1}\n"


def test_what_somebody_else_wrote_meanwhile_is_not_lost(home: Home) -> None:
    home.config_file.write_text("gateway: {port: 1}\n")

    def change(text: str) -> str:
        home.config_file.write_text("gateway: {port: 7}\n")
        return put(text, ("gateway", "port"), 2)

    with pytest.raises(CannotEdit, match="somebody else"):
        rewrite(home, {}, change, now=NOW)

    assert home.config_file.read_text() == "gateway: {port: 7}\n"
