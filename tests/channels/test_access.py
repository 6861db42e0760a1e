"""Who may speak: closed where nothing is said, and by stable ids alone."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.access import OWNERS, PAIRING, Kind, People, Standing, admits, authorise, is_owner, main_name
from channels.account import AccountSettings
from channels.message import Quoted
from channels.platforms import DiscordAccount, TelegramAccount, WhatsAppAccount
from tests.channels.arriving import case, direct, group, message, person

BASE = "channels.telegram.accounts.default"
NOBODY = People()
CALLED = Quoted(id="9", sender="clawd", text="yes?", own=True)


def account(**given: Any) -> TelegramAccount:  # noqa: ANN401 (as a file would say it)
    return TelegramAccount.model_validate(given)


def guilds(**guild: Any) -> DiscordAccount:  # noqa: ANN401 (as a file would say it)
    return DiscordAccount.model_validate({"guilds": {"9": guild}})


@pytest.mark.parametrize(
    ("given", "people", "kind", "standing", "rule"),
    [
        ({}, NOBODY, "pairing", "unknown", f"{BASE}.dm_policy"),
        ({"allow_from": [5]}, NOBODY, "admitted", "known", f"{BASE}.allow_from"),
        ({}, People(paired=frozenset({"5"})), "admitted", "known", PAIRING),
        ({}, People(owners=frozenset({"telegram:5"})), "admitted", "owner", OWNERS),
        ({}, People(owners=frozenset({"discord:5"})), "pairing", "unknown", f"{BASE}.dm_policy"),
        ({"dm_policy": "allowlist", "allow_from": [6]}, NOBODY, "ignored", "unknown", f"{BASE}.dm_policy"),
        ({"dm_policy": "open", "allow_from": ["*"]}, NOBODY, "admitted", "unknown", f"{BASE}.allow_from"),
        ({"dm_policy": "disabled", "allow_from": ["*"]}, NOBODY, "ignored", "unknown", f"{BASE}.dm_policy"),
        (
            {"dm_policy": "disabled"},
            People(owners=frozenset({"telegram:5"}), paired=frozenset({"5"})),
            "ignored",
            "unknown",
            f"{BASE}.dm_policy",
        ),
        ({"enabled": False, "allow_from": [5]}, NOBODY, "ignored", "unknown", f"{BASE}.enabled"),
    ],
    ids=[
        "a stranger is to pair",
        "listed",
        "paired",
        "an owner",
        "another channel's owner",
        "not on the list",
        "open to all",
        "off for all",
        "off for owners",
        "account off",
    ],
)
def test_who_may_write_directly(
    given: dict[str, Any], people: People, kind: Kind, standing: Standing, rule: str
) -> None:
    verdict = admits(message(direct()), account(**given), people)

    assert (verdict.kind, verdict.standing, verdict.rule) == (kind, standing, rule)
    assert verdict.steps[-1].rule == rule


def test_a_message_that_nobody_heard_when_it_came_gets_no_code() -> None:
    assert admits(message(direct(), missed=True), account(), NOBODY).kind == "ignored"
    assert admits(message(direct(), missed=True), account(allow_from=[5]), NOBODY).kind == "admitted"


@given(
    policy=st.sampled_from(["allowlist", "disabled"]),
    sender=st.text("0123456789", min_size=1, max_size=9),
    listed=st.lists(st.text("0123456789", min_size=1, max_size=9), min_size=1),
)
@settings(max_examples=100, deadline=None)
def test_without_pairing_a_stranger_never_gets_a_code(policy: str, sender: str, listed: list[str]) -> None:
    verdict = admits(message(direct(), person(sender)), account(dm_policy=policy, allow_from=listed), NOBODY)

    assert verdict.kind in ("admitted", "ignored")
    assert verdict.kind == "ignored" or sender in listed


@pytest.mark.parametrize("row", case("B63-ids.json")["rows"])
def test_b63_an_entry_matches_however_an_id_is_written(row: dict[str, Any]) -> None:
    settings = account(allow_from=[row["entry"]])
    sender = str(row["id"])

    assert (admits(message(direct(), person(sender)), settings, NOBODY).kind == "admitted") is row["match"]


@pytest.mark.parametrize("entry", case("B63-ids.json")["invalid_with_warning"])
def test_b63_an_invalid_entry_matches_nobody(entry: object) -> None:
    settings = account(allow_from=[entry])

    for sender in ("somebody", "@somebody", "true", "True", "None", "null", "1", "1.5", ""):
        assert admits(message(direct(), person(sender)), settings, NOBODY).kind == "pairing"


@pytest.mark.parametrize("row", case("B57-jids.json")["dm_allow"])
def test_b57_a_person_is_known_by_every_stable_id(row: dict[str, Any]) -> None:
    settings = WhatsAppAccount.model_validate({"allow_from": row["allow"]})
    aliases = (row["senderPn"],) if "senderPn" in row else ()
    said = message(direct("whatsapp", chat=row["remote"]), person(row["remote"], aliases=aliases))

    assert (admits(said, settings, NOBODY).kind == "admitted") is row["want"]


def test_a_personal_number_hears_itself_alone() -> None:
    own = People(own=frozenset({"+15550100200"}))
    to_self = message(direct("whatsapp", chat="15550100200@s.whatsapp.net"), person("+15550100200"))
    to_friend = message(direct("whatsapp", chat="+15550100777"), person("+15550100200"))
    of_friend = message(direct("whatsapp", chat="+15550100777"), person("+15550100777"))

    assert admits(to_self, WhatsAppAccount(), own).standing == "owner"
    assert admits(to_self, WhatsAppAccount(self_chat=False), own).kind == "ignored"
    assert admits(to_friend, WhatsAppAccount(), own).kind == "ignored"
    assert admits(of_friend, WhatsAppAccount(), own).kind == "ignored"


@pytest.mark.parametrize(
    ("given", "kind", "standing", "rule"),
    [
        ({}, "ignored", "unknown", f"{BASE}.groups"),
        ({"groups": {"-100": {}}}, "ignored", "unknown", f"{BASE}.allow_from"),
        ({"groups": {"-100": {}}, "allow_from": [5]}, "admitted", "group", f"{BASE}.allow_from"),
        (
            {"groups": {"-100": {}}, "allow_from": [5], "group_allow_from": [6]},
            "ignored",
            "unknown",
            f"{BASE}.group_allow_from",
        ),
        ({"groups": {"*": {}}, "group_allow_from": ["*"]}, "admitted", "unknown", f"{BASE}.group_allow_from"),
        (
            {"groups": {"-100": {"allow_from": [5]}}},
            "admitted",
            "group",
            f'{BASE}.groups."-100".allow_from',
        ),
        (
            {"groups": {"-100": {"allow_from": []}, "*": {"allow_from": [5]}}, "allow_from": [5]},
            "ignored",
            "unknown",
            f'{BASE}.groups."-100".allow_from',
        ),
        (
            {"groups": {"-100": {}, "*": {"allow_from": [5]}}},
            "admitted",
            "group",
            f'{BASE}.groups."*".allow_from',
        ),
        (
            {"groups": {"-100": {"enabled": False}}, "allow_from": [5]},
            "ignored",
            "unknown",
            f'{BASE}.groups."-100".enabled',
        ),
        (
            {"groups": {"-100": {}, "*": {"enabled": False}}, "allow_from": [5]},
            "admitted",
            "group",
            f"{BASE}.allow_from",
        ),
        ({"groups": {"-1001": {}, "100": {}}, "allow_from": [5]}, "ignored", "unknown", f"{BASE}.groups"),
        ({"group_policy": "open"}, "admitted", "unknown", f"{BASE}.group_policy"),
        (
            {"group_policy": "open", "groups": {"-100": {"allow_from": [6]}}},
            "ignored",
            "unknown",
            f'{BASE}.groups."-100".allow_from',
        ),
        (
            {"group_policy": "open", "groups": {"-100": {"enabled": False}}},
            "ignored",
            "unknown",
            f'{BASE}.groups."-100".enabled',
        ),
        (
            {"group_policy": "disabled", "groups": {"*": {"allow_from": ["*"]}}},
            "ignored",
            "unknown",
            f"{BASE}.group_policy",
        ),
    ],
    ids=[
        "no group is listed",
        "nobody is listed",
        "the direct list holds where groups have none",
        "a list of groups stands instead of it",
        "all groups and everybody",
        "a group's own list",
        "an empty list of its own lets in nobody",
        "the list of *",
        "a group is switched off",
        "* is off, this one is not",
        "other groups",
        "open",
        "open, with a list of its own",
        "open, but off here",
        "no groups at all",
    ],
)
def test_who_may_speak_in_a_group(given: dict[str, Any], kind: Kind, standing: Standing, rule: str) -> None:
    verdict = admits(message(group()), account(**given), NOBODY)

    assert (verdict.kind, verdict.standing, verdict.rule) == (kind, standing, rule)


def test_a_pairing_is_for_direct_messages_alone() -> None:
    paired = People(paired=frozenset({"5"}))

    assert admits(message(group()), account(groups={"*": {}}), paired).kind == "ignored"


def test_an_owner_may_speak_in_every_group_that_is_heard() -> None:
    owner = People(owners=frozenset({"telegram:5"}))

    assert admits(message(group()), account(groups={"-100": {}}), owner).standing == "owner"
    assert admits(message(group()), account(), owner).kind == "ignored"


def test_a_group_that_became_another_one_keeps_its_settings() -> None:
    moved = People(moved={"-1009": "-100"})
    heard = account(groups={"-100": {"allow_from": [5]}})

    assert admits(message(group("-1009")), heard, moved).kind == "admitted"
    assert admits(message(group("-1009")), heard, NOBODY).kind == "ignored"


def test_ids_that_lead_in_a_circle_end() -> None:
    circle = People(moved={"-1": "-2", "-2": "-1"})

    assert admits(message(group("-1")), account(groups={"-3": {}}), circle).kind == "ignored"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"addressed": True}, True),
        ({"addressed": False}, False),
        ({"addressed": False, "quoted": CALLED}, True),
        ({"addressed": False, "mentioned": True}, True),
        ({"addressed": False, "mentioned": True, "names_others": True}, False),
        ({"addressed": False, "command": True}, True),
        ({"addressed": False, "command": True, "names_others": True}, False),
        ({"addressed": True, "names_others": True}, True),
    ],
    ids=[
        "a mention",
        "nothing",
        "an answer to us",
        "our name",
        "our name and somebody else",
        "a command",
        "a command for somebody else",
        "we and somebody else",
    ],
)
def test_what_counts_as_meant_for_us(said: dict[str, Any], meant: bool) -> None:
    heard = account(groups={"-100": {}}, allow_from=[5])
    flags = {name: said.pop(name) for name in ("mentioned", "command") if name in said}
    said = dict(said)

    verdict = admits(message(group(), **said), heard, NOBODY, **flags)

    assert verdict.kind == ("admitted" if meant else "ignored")
    assert verdict.observe is not meant


@pytest.mark.parametrize("flags", [{"mentioned": True}, {"command": True}, {}])
def test_neither_a_quote_nor_a_command_lets_anybody_in(flags: dict[str, bool]) -> None:
    """Quoting us addresses us; it says nothing of who may speak."""
    heard = account(groups={"-100": {}}, allow_from=[6])

    assert admits(message(group(), quoted=CALLED), heard, NOBODY, **flags).kind == "ignored"


@pytest.mark.parametrize(
    ("groups", "thread", "needed"),
    [
        ({"-100": {}}, "", True),
        ({"-100": {"require_mention": False}}, "", False),
        ({"*": {"require_mention": False}, "-100": {}}, "", False),
        ({"*": {"require_mention": False}, "-100": {"require_mention": True}}, "", True),
        ({"-100": {"require_mention": False, "topics": {"7": {"require_mention": True}}}}, "7", True),
        ({"-100": {"require_mention": False, "topics": {"7": {"require_mention": True}}}}, "8", False),
        ({"-100": {"topics": {7: {}}}, "*": {"topics": {"7": {"require_mention": False}}}}, "7", True),
    ],
)
def test_the_most_exact_setting_says_whether_a_mention_is_needed(
    groups: dict[str, Any], thread: str, needed: bool
) -> None:
    heard = account(groups=groups, allow_from=[5])
    verdict = admits(message(group(thread=thread), addressed=False), heard, NOBODY)

    assert verdict.require_mention is needed
    assert verdict.kind == ("ignored" if needed else "admitted")


def test_a_topic_has_people_an_agent_and_words_of_its_own() -> None:
    topic = {"allow_from": [5], "agent": "work", "system_prompt": "Be brief."}
    heard = account(groups={"-100": {"allow_from": [6], "agent": "main", "topics": {"7": topic}}})

    inside = admits(message(group(thread="7")), heard, NOBODY)
    outside = admits(message(group(thread="8")), heard, NOBODY)

    assert (inside.kind, inside.agent, inside.system_prompt) == ("admitted", "work", "Be brief.")
    assert inside.agent_rule == f'{BASE}.groups."-100".topics."7".agent'
    assert outside.kind == "ignored"


@pytest.mark.parametrize("row", case("B56-threads.json")["rows"])
def test_b56_a_thread_follows_the_channel_that_it_hangs_from(row: dict[str, Any]) -> None:
    heard = guilds(users=[5], channels={one: {} for one in case("B56-threads.json")["allow_channels"]})
    place = group(row["channel"], channel="discord", parent=row.get("parent", ""), space="9")

    assert (admits(message(place), heard, NOBODY).kind == "admitted") is row["allowed"]


@pytest.mark.parametrize(
    ("guild", "roles", "kind"),
    [
        ({}, ("31",), "ignored"),
        ({"roles": [31]}, ("31",), "admitted"),
        ({"roles": [31]}, ("32",), "ignored"),
        ({"users": [5]}, (), "admitted"),
        ({"roles": [31], "channels": {"500": {"roles": [32]}}}, ("31",), "ignored"),
        ({"roles": [31], "channels": {"500": {"roles": [32]}}}, ("32",), "admitted"),
        ({"users": [5], "enabled": False}, (), "ignored"),
        ({"users": [5], "channels": {"*": {}}}, (), "admitted"),
        ({"users": [5], "channels": {"500": {"enabled": False}}}, (), "ignored"),
    ],
)
def test_a_server_lists_people_roles_and_channels(
    guild: dict[str, Any], roles: tuple[str, ...], kind: Kind
) -> None:
    place = group("500", channel="discord", space="9")

    assert admits(message(place, person("5", roles=roles)), guilds(**guild), NOBODY).kind == kind


def test_a_server_that_is_not_listed_is_not_heard_unless_groups_are_open() -> None:
    place = group("500", channel="discord", space="8")
    shut = guilds(users=[5])
    wide = shut.model_copy(update={"group_policy": "open"})

    assert admits(message(place), shut, NOBODY).kind == "ignored"
    assert admits(message(place), wide, NOBODY).kind == "admitted"


def test_a_list_of_channels_holds_even_where_groups_are_open() -> None:
    wide = guilds(channels={"500": {}}).model_copy(update={"group_policy": "open"})

    assert admits(message(group("501", channel="discord", space="9")), wide, NOBODY).kind == "ignored"


@pytest.mark.parametrize(
    ("bots", "addressed", "kind", "observe"),
    [
        ("off", True, "ignored", False),
        ("mentions", True, "admitted", False),
        ("mentions", False, "ignored", True),
        ("all", False, "admitted", False),
    ],
)
def test_other_bots(bots: str, addressed: bool, kind: Kind, observe: bool) -> None:
    heard = account(allow_bots=bots, allow_from=[5], groups={"-100": {"require_mention": False}})

    verdict = admits(message(group(), person(bot=True), addressed=addressed), heard, NOBODY, mentioned=True)

    assert (verdict.kind, verdict.observe) == (kind, observe)


def test_a_bot_is_no_owner_and_gets_no_code() -> None:
    owner = People(owners=frozenset({"telegram:5"}))
    heard = account(allow_bots="all")

    assert not is_owner("telegram", person(bot=True), owner.owners)
    assert admits(message(direct(), person(bot=True)), heard, owner).kind == "ignored"


@pytest.mark.parametrize(
    ("visibility", "stranger", "known", "quotes"),
    [("all", True, True, True), ("allowlist", False, True, False), ("allowlist_quote", False, True, True)],
)
def test_whose_words_become_context(visibility: str, stranger: bool, known: bool, quotes: bool) -> None:
    heard = account(context_visibility=visibility, allow_from=[5], groups={"-100": {}})

    assert admits(message(group(), person("6")), heard, NOBODY).observe is stranger
    assert admits(message(group(), addressed=False), heard, NOBODY).observe is known
    assert admits(message(group()), heard, NOBODY).quotes is quotes


def test_nothing_is_kept_where_there_is_no_history() -> None:
    heard = account(history_limit=0, allow_from=[5], groups={"-100": {}})

    assert not admits(message(group(), addressed=False), heard, NOBODY).observe
    assert not admits(message(group(), person("6")), heard, NOBODY).observe


@given(
    names=st.lists(st.sampled_from(["1", "2", "3"]), max_size=2),
    sender=st.sampled_from(["1", "2", "3"]),
    policy=st.sampled_from(["allowlist", "disabled"]),
    group_listed=st.booleans(),
    flags=st.fixed_dictionaries({"mentioned": st.booleans(), "command": st.booleans()}),
)
@settings(max_examples=200, deadline=None)
def test_nobody_speaks_in_a_group_without_being_listed(
    names: list[str], sender: str, policy: str, group_listed: bool, flags: dict[str, bool]
) -> None:
    heard = account(
        group_policy=policy, group_allow_from=names, groups={"-100": {}} if group_listed else {"-200": {}}
    )

    verdict = admits(message(group(), person(sender)), heard, NOBODY, **flags)

    allowed = policy == "allowlist" and group_listed and sender in names
    assert (verdict.kind == "admitted") is allowed


def test_an_account_without_settings_is_closed() -> None:
    assert authorise(direct(), person(), AccountSettings(), NOBODY).kind == "pairing"
    assert authorise(group(), person(), AccountSettings(), NOBODY).kind == "ignored"


@pytest.mark.parametrize(
    ("sender", "aliases", "name"),
    [
        ("98765432109876:3@lid", ("15550100200@s.whatsapp.net",), "+15550100200"),
        ("15550100200@s.whatsapp.net", ("98765432109876@lid",), "+15550100200"),
        ("98765432109876:3@lid", (), "98765432109876@lid"),
    ],
)
def test_b57_a_person_is_kept_under_the_phone_number(
    sender: str, aliases: tuple[str, ...], name: str
) -> None:
    assert main_name("whatsapp", person(sender, aliases=aliases)) == name
    assert main_name("telegram", person("5", aliases=("6",))) == "5"
