"""Slash commands within Discord's limits."""

import pytest

from channels.discord.menu import MAX_COMMANDS, MAX_DESCRIPTION, payload_of


def test_a_command_takes_a_text_and_is_for_servers_and_direct_chats() -> None:
    [told] = payload_of([("new", "begin\n  anew")])
    assert (told["name"], told["description"], told["contexts"]) == ("new", "begin anew", [0, 1])
    assert [(o["name"], o["type"], o["required"]) for o in told["options"]] == [("text", 3, False)]


@pytest.mark.parametrize("name", ["New", "a b", "x" * 33, "", "/new"])
def test_names_that_discord_does_not_take_are_left_out(name: str) -> None:
    assert [one["name"] for one in payload_of([(name, "x"), ("ok", "x"), ("ok", "twice")])] == ["ok"]


@pytest.mark.parametrize(("count", "kept"), [(MAX_COMMANDS, MAX_COMMANDS), (MAX_COMMANDS + 1, MAX_COMMANDS)])
def test_the_first_hundred_are_offered(count: int, kept: int) -> None:
    told = payload_of([(f"c{n}", "x") for n in range(count)])
    assert [one["name"] for one in told] == [f"c{n}" for n in range(kept)]


@pytest.mark.parametrize("length", [0, 1, MAX_DESCRIPTION, MAX_DESCRIPTION + 1])
def test_a_description_has_1_to_100_characters(length: int) -> None:
    [told] = payload_of([("new", "x" * length)])
    assert 1 <= len(told["description"]) <= MAX_DESCRIPTION
