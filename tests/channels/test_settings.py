"""What clawd.yaml may say about channels, and what of it is an error."""

from typing import Any

import pytest
from pydantic import ValidationError

from channels.settings import ChannelsSettings
from tests.channels.arriving import case


def telegram(**given: Any) -> dict[str, Any]:  # noqa: ANN401 (as a file would say it)
    return {"telegram": {"accounts": {"default": given}}}


def read(given: dict[str, Any]) -> ChannelsSettings:
    return ChannelsSettings.model_validate(given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (telegram(dm_policy="open"), "needs allow_from"),
        (telegram(dm_policy="open", allow_from=[5]), "needs allow_from"),
        (telegram(dm_policy="allowlist"), "nobody may write"),
        (telegram(mode="webhook"), "webhook.url and webhook.secret"),
        (
            telegram(mode="webhook", webhook={"url": "https://a.example", "secret": "no blanks"}),
            "webhook.secret may hold",
        ),
        (telegram(token_of_bot="x"), "Extra inputs"),
        (telegram(groups={"-100": {"mention": True}}), "Extra inputs"),
        ({"owners": ["bob"]}, "channel:id"),
        ({"owners": ["telegram:*"]}, "channel:id"),
        ({"owners": ["telegram:@bob"]}, "channel:id"),
        ({"whatsapp": {"accounts": {"default": {"transport": "cloud"}}}}, "needs phone_number_id"),
        (
            {"discord": {"accounts": {"a": {}, "b": {"api_base_url": "http://127.0.0.1:1"}}}},
            "share one server",
        ),
        ({"telegram": {"accounts": {"a:b": {}}}}, "a-z, 0-9"),
    ],
)
def test_what_cannot_be_meant_is_an_error(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        read(given)


def test_an_owner_makes_an_empty_allow_list_meaningful() -> None:
    given = telegram(dm_policy="allowlist") | {"owners": ["telegram:5"]}

    assert read(given).owners == ("telegram:5",)
    assert (
        read({"whatsapp": {"accounts": {"default": {}}}}).accounts["whatsapp", "default"].dm_policy
        == "allowlist"
    )


def test_owners_are_kept_as_their_channel_writes_them() -> None:
    assert read({"owners": ["whatsapp:15550100200"]}).owners == ("whatsapp:+15550100200",)


def test_ids_may_be_numbers() -> None:
    account = read(telegram(allow_from=[5, " 6 "], groups={"-100": {"allow_from": [7]}})).accounts[
        "telegram", "default"
    ]

    assert account.allow_from == ("5", "6")
    assert account.groups["-100"].allow_from == ("7",)


def test_b63_every_invalid_entry_is_told_once() -> None:
    invalid = case("B63-ids.json")["invalid_with_warning"]

    strays = list(read(telegram(allow_from=[*invalid, 5, "*", "tg:6"])).strays())

    assert len(strays) == len(invalid)
    assert all("matches nobody" in stray for stray in strays)


def test_invalid_entries_are_found_everywhere() -> None:
    account = {
        "groups": {"my group": {"topics": {"7": {"allow_from": ["bob"]}}}},
        "group_allow_from": ["eve"],
    }
    guild = {"users": ["@a"], "roles": ["admins"], "channels": {"general": {"roles": ["mods"]}}}
    given = telegram(**account) | {"discord": {"accounts": {"default": {"guilds": {"home": guild}}}}}

    found = [stray.split(": ")[1].split(" is no id")[0] for stray in read(given).strays()]

    assert found == ["'eve'", "'my group'", "'bob'", "'home'", "'@a'", "'admins'", "'general'", "'mods'"]


def test_secrets_are_not_shown() -> None:
    settings = read(telegram(token="123:very-secret"))

    assert "very-secret" not in repr(settings)


def test_every_agent_that_a_place_names_is_found() -> None:
    topics = {"7": {"agent": "b"}}
    given = telegram(groups={"-100": {"agent": "a", "topics": topics}}) | {
        "discord": {"accounts": {"x": {"guilds": {"9": {"agent": "c", "channels": {"5": {"agent": "d"}}}}}}}
    }

    assert dict(read(given).answerers()) == {
        'telegram.accounts.default.groups."-100"': "a",
        'telegram.accounts.default.groups."-100".topics."7"': "b",
        'discord.accounts.x.guilds."9"': "c",
        'discord.accounts.x.guilds."9".channels."5"': "d",
    }


def test_b55_what_discord_may_refuse_to_tell_is_a_setting_each() -> None:
    accounts = {"plain": {}, "less": {"intents": {"message_content": False, "members": True}}}
    discord = read({"discord": {"accounts": accounts}}).discord.accounts

    assert discord["plain"].intents.model_dump() == {
        "message_content": True,
        "members": False,
        "presences": False,
    }
    assert discord["less"].intents.model_dump() == {
        "message_content": False,
        "members": True,
        "presences": False,
    }
    with pytest.raises(ValidationError, match="Extra inputs"):
        read({"discord": {"accounts": {"x": {"intents": {"everything": True}}}}})


@pytest.mark.parametrize(("written", "meant"), [(False, "off"), (True, "all"), ("mentions", "mentions")])
def test_bots_may_be_switched_like_a_lamp(written: object, meant: str) -> None:
    assert read(telegram(allow_bots=written)).accounts["telegram", "default"].allow_bots == meant
