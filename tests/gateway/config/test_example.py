"""gateway/config/example.py and manual.py: what is written from the settings stays true."""

from pathlib import Path

import pytest

from gateway.config import Config, load
from gateway.config.example import example, plain
from gateway.config.manual import manual
from gateway.config.schema import walk
from gateway.home import Home

ROOT = Path(__file__).parents[3]
EXAMPLE, MANUAL = example(), manual()
KEYS = [(loc, key) for loc, key in walk(Config) if key.description or key.name]


def test_the_example_on_disk_is_the_generated_one() -> None:
    """When this fails: python -m gateway config example > clawd.yaml.example"""
    assert (ROOT / "clawd.yaml.example").read_text(encoding="utf-8") == example()


def test_the_manual_on_disk_is_the_generated_one() -> None:
    """When this fails: python -m gateway config example --markdown > docs/configuration.md"""
    assert (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") == manual()


def test_loading_the_example_gives_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "clawd.yaml").write_text(example(), encoding="utf-8")

    assert load(Home(tmp_path), {}).model_dump() == Config().model_dump()


def test_the_commented_entries_of_the_example_can_be_used(tmp_path: Path) -> None:
    text = example().replace("  providers: {}", "  providers:").replace("  bindings: []", "  bindings:")
    lines = text.splitlines()
    entries = [line.replace("  #  ", "    ", 1) if line.startswith("  #  ") else line for line in lines]
    (tmp_path / "clawd.yaml").write_text("\n".join(entries), encoding="utf-8")

    config = load(Home(tmp_path), {"ANTHROPIC_API_KEY": "key-of-mine"})

    assert set(config.models.providers) == {"anthropic", "ollama"}
    assert config.models.providers["ollama"].api == "openai_chat"
    assert config.agents.bindings[0].channel == "telegram"


@pytest.mark.parametrize("platform", ["telegram", "discord", "whatsapp"])
def test_a_commented_account_of_the_example_is_the_default_one(tmp_path: Path, platform: str) -> None:
    lines = example().splitlines()
    start = lines.index(next(line for line in lines if line.startswith(f"  {platform}:")))
    entry = [line for line in lines[start + 2 :] if line.startswith("    #  ")]
    own = entry[: next((place for place, line in enumerate(entry[1:], 1) if line == entry[0]), len(entry))]
    account = "\n".join(line.replace("#  ", "   ", 1) for line in own)
    text = f"channels:\n  {platform}:\n    accounts:\n{account}\n"
    (tmp_path / "clawd.yaml").write_text(text, encoding="utf-8")

    found = load(Home(tmp_path), {}).channels.accounts[platform, "default"]

    assert found.model_copy(update={"groups": {}, "guilds": {}}).model_dump(
        exclude={"groups", "guilds"}
    ) == type(found)().model_dump(exclude={"groups", "guilds"})


@pytest.mark.parametrize(("loc", "key"), KEYS, ids=[".".join(map(str, loc)) for loc, _ in KEYS])
def test_every_key_is_described_and_named_in_both(loc: tuple[str | int, ...], key: object) -> None:
    name = str(loc[-1])

    assert getattr(key, "description")  # noqa: B009 (an object in the table)
    assert f"{name}:" in EXAMPLE
    assert f"`{name}`" in MANUAL or f".{name}" in MANUAL or f"## {name}" in MANUAL


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (0.35, "0.35"),
        ("off", '"off"'),
        ("5m", '"5m"'),
        ("127.0.0.1", "127.0.0.1"),
        ("~/clawd", "~/clawd"),
        (["a", 1], "[a, 1]"),
        ({"a": None}, "{a: null}"),
    ],
)
def test_defaults_are_written_as_yaml(value: object, text: str) -> None:
    assert plain(value) == text
