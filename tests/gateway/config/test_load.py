"""gateway/config/load.py: from a file to settings, or to every problem in it."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gateway.config import Config, ConfigError, load, load_with_sources
from gateway.config.load import MAX_FILE_BYTES
from gateway.home import Home

CASES = Path(__file__).parents[2] / "cases"
TOKEN = "abc-0123456789abcdef"
TWO_WEIGHTS = """{
  list: [{id: a, memory: {search: {text_weight: 0}}}],
  defaults: {memory: {search: {vector_weight: 0}}}}"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home")


def read(home: Home, text: str, **environ: str) -> Config:
    home.config_file.write_text(text, encoding="utf-8")
    return load(home, environ)


def problems(home: Home, text: str | bytes, **environ: str) -> dict[str, str]:
    home.config_file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ConfigError) as caught:
        load(home, environ)
    assert str(home.config_file) in str(caught.value)
    return {problem.path: problem.message for problem in caught.value.problems}


def test_without_a_file_every_default_holds_and_nothing_is_made(tmp_path: Path) -> None:
    home = Home(tmp_path / "none")

    assert load(home, {}) == Config()
    assert not home.path.exists()


def test_an_unknown_key_is_named_with_its_path(home: Home) -> None:
    """B60"""
    found = problems(home, (CASES / "B60-unknown-key.yaml").read_text(encoding="utf-8"))

    assert list(found) == ["agents.defaults.suppressToolErrorWarningz"]


def test_a_brace_too_many_is_named_with_its_line(home: Home) -> None:
    """B60"""
    home.config_file.write_bytes((CASES / "B60-extra-brace.yaml").read_bytes())
    with pytest.raises(ConfigError) as caught:
        load(home, {})

    assert caught.value.problems[0].line in (5, 6)
    assert "not valid YAML" in str(caught.value)


def test_wrong_types_are_all_named_at_once(home: Home) -> None:
    """B60"""
    found = problems(home, (CASES / "B60-wrong-type.yaml").read_text(encoding="utf-8"))

    assert found["gateway.port"] == "'eighteen' is not a whole number from 1 to 65535"
    assert "IANA" in found["agents.defaults.time_zone"]
    assert len(found) == 2


@pytest.mark.parametrize("text", [(CASES / "B60-empty.yaml").read_text(), " \n\t\n", "\ufeff"])
def test_an_empty_file_is_an_error(home: Home, text: str) -> None:
    """B60"""
    assert "is empty" in problems(home, text)[""]


def test_a_file_of_comments_gives_the_defaults(home: Home) -> None:
    assert read(home, "# gateway:\n") == Config()


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("tokn", "did you mean token?"),
        ("maxTextChars", "did you mean max_text_chars?"),
        ("max-text-chars", "did you mean max_text_chars?"),
        ("maxtextchars", "did you mean max_text_chars?"),
        ("Port", "did you mean port?"),
        ("min_score", "stands at memory.search.min_score"),
        ("zzz", "known here: host, port"),
    ],
)
def test_an_unknown_key_comes_with_the_right_one(home: Home, key: str, hint: str) -> None:
    assert hint in problems(home, f"gateway:\n  {key}: 1\n")[f"gateway.{key}"]


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("gateway: {port: 0}", "gateway.port", "0 is not a whole number from 1 to 65535"),
        ("gateway: {port: 65536}", "gateway.port", "65536 is not a whole number from 1 to 65535"),
        ("gateway: {port: true}", "gateway.port", "true is not a whole number from 1 to 65535"),
        ("gateway: {port: 1.5}", "gateway.port", "1.5 is not a whole number from 1 to 65535"),
        ("gateway: {port: '18789'}", "gateway.port", "'18789' is not a whole number from 1 to 65535"),
        (
            "gateway: {log_level: loud}",
            "gateway.log_level",
            "'loud' is not one of debug, info, warning, error",
        ),
        ("gateway:", "gateway", "null (nothing) is not a section of keys and values"),
        ("gateway: []", "gateway", "a list is not a section of keys and values"),
        ("gateway: {drain_seconds: -1}", "gateway.drain_seconds", "-1 is not a number of at least 0"),
        ("gateway: {allowed_hosts: [1]}", "gateway.allowed_hosts[0]", "1 is not a text"),
        ("gateway: {allowed_hosts: x}", "gateway.allowed_hosts", "'x' is not a list of texts"),
        ("memory: {search: {min_score: 1.1}}", "memory.search.min_score", "1.1 is not a number from 0 to 1"),
        (
            "agents: {defaults: {cache_ttl: 2h}}",
            "agents.defaults.cache_ttl",
            "'2h' is not one of 5m, 1h or null",
        ),
        ("agents: {list: [{default: true}]}", "agents.list[0].id", "is missing; it must be a text"),
        ("agents: {list: [5]}", "agents.list[0]", "5 is not a section of keys and values"),
        ("models: {providers: {x: 1}}", "models.providers.x", "1 is not a section of keys and values"),
        (
            "channels: {console: {markdown: 'no'}}",
            "channels.console.markdown",
            "'no' is not true or false",
        ),
        ("- a", "", "must hold sections such as `gateway:`, not a single value"),
    ],
)
def test_a_wrong_value_says_what_it_is_and_what_is_allowed(
    home: Home, text: str, path: str, message: str
) -> None:
    assert problems(home, text) == {path: message}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("list: []", "at least one agent"),
        ("list: [{id: a}, {id: a}]", "'a' more than once"),
        ("list: [{id: a, default: true}, {id: b, default: true}]", "more than one agent with default"),
        (
            TWO_WEIGHTS,
            "agent 'a' over the defaults does not fit",
        ),
    ],
)
def test_agents_must_fit_together(home: Home, text: str, message: str) -> None:
    assert message in problems(home, f"agents: {text if text[0] == '{' else '{' + text + '}'}")["agents"]


def test_an_agents_memory_goes_over_the_section_field_by_field(home: Home) -> None:
    config = read(
        home,
        "memory: {search: {max_results: 9, min_score: 0.2}}\n"
        "agents: {list: [{id: a, memory: {search: {min_score: 0.5}}}, {id: b}]}\n",
    )

    assert config.memory_of("a").search.max_results == 9
    assert config.memory_of("a").search.min_score == 0.5
    assert config.memory_of("b").search.min_score == 0.2


def test_names_with_dots_are_quoted_in_paths(home: Home) -> None:
    text = "models: {providers: {x: {models: {gpt-4.1: {max_output: 0}}}}}"

    assert list(problems(home, text)) == ['models.providers.x.models."gpt-4.1".max_output']


def test_bad_references_stop_the_start_with_path_and_name(home: Home) -> None:
    """B61"""
    case = json.loads((CASES / "B61-env.json").read_text(encoding="utf-8"))
    rows = case["must_report_path_and_name"]
    providers = ", ".join(f"p{n}: {{base_url: '{row}'}}" for n, row in enumerate(rows))
    text = f"models: {{providers: {{{providers}}}}}"

    found = problems(home, text, **case["env"])

    assert list(found) == [f"models.providers.p{n}.base_url" for n in range(len(rows))]
    assert "MISSING" in found["models.providers.p0.base_url"]


def test_variables_may_hold_numbers_and_truth_values(home: Home) -> None:
    config = read(
        home,
        "gateway: {port: '${PORT}'}\nmemory: {search: {min_score: '${S}'}}\n"
        "channels: {console: {markdown: '${M}'}}\n",
        PORT="18000",
        S="0.5",
        M="false",
    )

    assert (config.gateway.port, config.memory.search.min_score) == (18000, 0.5)
    assert config.channels.console.markdown is False


def test_a_variable_that_holds_no_number_is_shown_as_written(home: Home) -> None:
    found = problems(home, "gateway: {port: '${KEY}'}", KEY="hunter2hunter2")

    assert found == {"gateway.port": "${KEY} is not a whole number from 1 to 65535"}


def test_a_number_in_a_variable_stays_text_where_text_is_wanted(home: Home) -> None:
    key = (
        read(home, "models: {providers: {x: {api_key: '${K}'}}}", K="12345678").models.providers["x"].api_key
    )

    assert key is not None
    assert key.get_secret_value() == "12345678"


def test_a_file_of_keys_holds_one_on_each_line(home: Home) -> None:
    (home.path / "keys").write_text("k-1\n\n  k-2  \r\n")

    keys = read(home, "models: {providers: {x: {api_keys_file: keys}}}").models.providers["x"].api_keys

    assert [key.get_secret_value() for key in keys] == ["k-1", "k-2"]


@pytest.mark.parametrize(("text", "why"), [("\n \n", "is blank"), ("k-1\nchangeme\n", "placeholder")])
def test_a_file_of_keys_without_a_real_one_on_each_line_is_refused(home: Home, text: str, why: str) -> None:
    (home.path / "keys").write_text(text)

    found = problems(home, "models: {providers: {x: {api_keys_file: keys}}}")

    assert why in found["models.providers.x.api_keys_file"]


def test_keys_in_the_file_and_beside_it_are_one_too_many(home: Home) -> None:
    (home.path / "keys").write_text("k-1\n")

    found = problems(home, "models: {providers: {x: {api_keys: [k-2], api_keys_file: keys}}}")

    assert "keep one" in found["models.providers.x.api_keys"]


@pytest.mark.parametrize("value", json.loads((CASES / "B64-tokens.json").read_text())["refuse_to_start"])
def test_placeholders_are_no_tokens(home: Home, value: str) -> None:
    """B64"""
    found = problems(home, f"gateway:\n  token: {json.dumps(value)}\n")

    assert "is blank" in found["gateway.token"] or "placeholder" in found["gateway.token"]


@pytest.mark.parametrize("value", json.loads((CASES / "B64-tokens.json").read_text())["refuse_to_start"])
def test_placeholders_in_a_token_file_are_no_tokens(home: Home, value: str) -> None:
    """B64"""
    (home.path / "t").write_text(f"{value}\n")

    assert "t holds is" in problems(home, "gateway: {token_file: t}")["gateway.token_file"]


@pytest.mark.parametrize(("length", "fits"), [(15, False), (16, True), (17, True)])
def test_a_token_has_at_least_sixteen_characters(home: Home, length: int, fits: bool) -> None:
    text = f"gateway: {{token: {'k' * length}}}"

    if fits:
        assert read(home, text).gateway.token
    else:
        assert "shorter than 16" in problems(home, text)["gateway.token"]


def test_the_last_newline_of_a_secret_file_is_stripped(home: Home) -> None:
    """B64"""
    (home.path / "t").write_text(TOKEN + "\n")
    config = read(home, "gateway: {token_file: t}")

    assert config.gateway.token is not None
    assert config.gateway.token.get_secret_value() == TOKEN
    assert TOKEN not in repr(config)


def test_secret_files_may_lie_below_tilde_or_anywhere(home: Home, tmp_path: Path) -> None:
    (tmp_path / "k").write_text("key-one\r\n")
    config = read(
        home,
        f"models: {{providers: {{a: {{api_key_file: ~/k}}, b: {{api_key_file: '{tmp_path}/k'}}}}}}",
        HOME=str(tmp_path),
    )

    for provider in config.models.providers.values():
        assert provider.api_key is not None
        assert provider.api_key.get_secret_value() == "key-one"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda file: None, "No such file"),
        (lambda file: file.mkdir(), "not a regular file"),
        (lambda file: file.write_text(""), "is blank"),
        (lambda file: file.write_text("one\ntwo\n"), "line break"),
        (lambda file: file.write_bytes(b"\xff\xfe"), "not UTF-8"),
        (os.mkfifo, "not a regular file"),
        (lambda file: file.write_text("k" * 70_000), "larger than 64 KB"),
    ],
    ids=["missing", "folder", "empty", "two lines", "not text", "pipe", "huge"],
)
def test_a_secret_file_that_cannot_be_used_is_named(home: Home, make: object, message: str) -> None:
    assert callable(make)
    make(home.path / "k")
    found = problems(home, "models: {providers: {x: {api_key_file: k}}}")

    assert message in found["models.providers.x.api_key_file"]
    assert str(home.path / "k") in found["models.providers.x.api_key_file"]


def test_a_secret_and_its_file_together_are_an_error(home: Home) -> None:
    (home.path / "t").write_text(TOKEN)
    found = problems(home, f"gateway: {{token: {TOKEN}, token_file: t}}")

    assert found == {"gateway.token": "is given, and token_file as well; keep one"}


def test_no_message_holds_a_secret(home: Home) -> None:
    home.config_file.write_text(
        "gateway: {token: s3cret, port: sk-s3cret0123456789, sk-s3cret0123456789: 1}\n"
        "models:\n  providers:\n    a: {api_key: [s3cret], apikey: s3cret}\n    b: {api_key: {s3cret: 1}}\n"
        "    c: {api_key: 5550123, base_url: {a: s3cret}}\n    d: token=s3cret\n    e: {api_key: '${S}'}\n"
        "memory: password=s3cret\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as caught:
        load(home, {"S": "s3cret\n"})

    assert "s3cret" not in str(caught.value)
    assert "5550123" not in str(caught.value)
    assert len(caught.value.problems) >= 8


def test_relative_paths_lie_in_the_home_and_tilde_is_the_users(home: Home) -> None:
    config = read(
        home, "agents: {defaults: {workspace: notes}, list: [{id: a}, {id: b, workspace: ~/w}]}", HOME="/u"
    )

    assert config.agents.defaults.workspace == home.path / "notes"
    assert config.agents.list[1].workspace == Path("/u/w")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"gateway:\n  host: \xff\n", "is not UTF-8 text"),
        (b"gateway: \x00", "a character that YAML does not allow"),
        (b"#" * (MAX_FILE_BYTES + 1), "larger than 1024 KB"),
    ],
    ids=["latin", "nul", "huge"],
)
def test_a_file_that_is_no_text_is_an_error(home: Home, raw: bytes, message: str) -> None:
    assert message in problems(home, raw)[""]


def test_a_folder_in_place_of_the_file_is_an_error(home: Home) -> None:
    home.config_file.mkdir()
    with pytest.raises(ConfigError, match="not a regular file"):
        load(home, {})


def test_a_file_in_place_of_the_home_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="Not a directory"):
        load(Home(tmp_path / "file"), {})


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_file_without_permission_is_an_error() -> None:
    code = (
        "import os, sys; from pathlib import Path; from gateway.home import Home\n"
        "from gateway.config import load, ConfigError\n"
        "os.setuid(65534)\n"
        "try: load(Home(Path(sys.argv[1])), {})\n"
        "except ConfigError as error: print(error)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "clawd.yaml").touch(mode=0o600)
        done = subprocess.run(
            [sys.executable, "-c", code, folder], capture_output=True, text=True, check=True
        )

    assert "cannot be read: Permission denied" in done.stdout


def test_sources_name_lines_variables_and_files(home: Home) -> None:
    (home.path / "t").write_text(TOKEN)
    home.config_file.write_text("gateway:\n  host: '${H}'\n  port: 1\n  token_file: t\n", encoding="utf-8")

    sources = load_with_sources(home, {"H": "localhost"}).sources

    assert sources["gateway.host"] == "line 2, ${H}"
    assert sources["gateway.port"] == "line 3"
    assert sources["gateway.token"] == str(home.path / "t")


def test_problems_stand_in_the_order_of_lines(home: Home) -> None:
    home.config_file.write_text("memory: 1\nsessions: 1\ngateway: 1\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(home, {})

    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]
    assert "has 3 problems" in str(caught.value)
