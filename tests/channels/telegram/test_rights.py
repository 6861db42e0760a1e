"""What a bot may do in a group, from what Telegram says of it."""

import pytest

from channels.platforms import TelegramAccount
from channels.telegram.rights import Rights, Wish, any_group, named_groups, rights_of, wish_of
from tests.fakes.telegram_world import Json

CHAT: Json = {"title": "Friends", "permissions": {"can_send_messages": True, "can_send_photos": True}}
SILENT: Json = {"title": "Friends", "permissions": {"can_send_messages": False}}


def account(**settings: object) -> TelegramAccount:
    return TelegramAccount.model_validate(settings)


@pytest.mark.parametrize(
    ("member", "chat", "silent", "said"),
    [
        ({"status": "member"}, CHAT, False, None),
        ({"status": "member"}, {}, False, None),
        ({"status": "member"}, SILENT, True, "may not write"),
        ({"status": "administrator"}, SILENT, False, None),
        ({"status": "creator"}, SILENT, False, None),
        ({"status": "left"}, {}, True, "not in the group"),
        ({"status": "kicked"}, CHAT, True, "not in the group"),
        ({"status": "restricted", "is_member": False, "can_send_messages": True}, CHAT, True, "not in the"),
        ({"status": "restricted", "is_member": True, "can_send_messages": True}, SILENT, False, None),
        (
            {"status": "restricted", "is_member": True, "can_send_messages": False},
            CHAT,
            True,
            "may not write",
        ),
        (
            {"status": "restricted", "can_send_messages": True, "can_send_photos": False},
            CHAT,
            False,
            "may not send pictures there",
        ),
    ],
)
def test_whether_it_may_write(member: Json, chat: Json, silent: bool, said: str | None) -> None:
    rights = rights_of(member, chat, Wish())
    assert rights.silent is silent
    assert [said in one for one in rights.problems] == ([True] if said else [])  # type: ignore[operator]


def test_what_members_may_not_send_is_named_in_one_sentence() -> None:
    denied = {"can_send_photos": False, "can_send_documents": False, "can_send_voice_notes": False}
    [said] = rights_of({"status": "member"}, {"permissions": denied}, Wish()).problems
    assert "pictures, files, voice notes" in said


@pytest.mark.parametrize(
    ("member", "admin", "topics"),
    [
        ({"status": "member"}, False, False),
        ({"status": "administrator"}, True, False),
        ({"status": "administrator", "can_manage_topics": True}, True, True),
        ({"status": "creator"}, True, True),
    ],
)
def test_admins_and_what_they_manage(member: Json, admin: bool, topics: bool) -> None:
    rights = rights_of(member, {}, Wish())
    assert (rights.admin, rights.manages_topics) == (admin, topics)


def test_reactions_need_an_admin_where_they_are_asked_for_in_so_many_words() -> None:
    assert wish_of(account()).reactions is False
    assert wish_of(account(reactions="off")).reactions is False
    wish = wish_of(account(reactions="all"))
    assert ["admins only" in one for one in rights_of({"status": "member"}, CHAT, wish).problems] == [True]
    assert rights_of({"status": "administrator"}, CHAT, wish).problems == ()


@pytest.mark.parametrize(
    ("allowed", "told"), [(None, False), (["👀"], False), (["👍", "👀"], False), (["👍"], True), ([], True)]
)
def test_the_reaction_that_says_seen_must_be_allowed(allowed: list[str] | None, told: bool) -> None:
    chat = CHAT if allowed is None else CHAT | {"available_reactions": [{"emoji": one} for one in allowed]}
    problems = rights_of({"status": "member"}, chat, wish_of(account())).problems
    assert any("👀" in one for one in problems) is told
    for scope in ("off", "direct"):
        wish = wish_of(account(ack_reaction={"scope": scope}))
        assert rights_of({"status": "member"}, chat, wish).problems == ()


def test_the_groups_that_settings_name() -> None:
    groups: Json = {"-1001": {}, "tg:-1002": {}, "-1003": {"enabled": False}, "12": {}, "*": {}, "@name": {}}
    assert named_groups(account(groups=groups)) == ("-1001", "-1002")
    assert named_groups(account(groups=groups, group_policy="disabled")) == ()
    assert len(named_groups(account(groups={f"-{n}": {} for n in range(1, 99)}))) == 50


@pytest.mark.parametrize(
    ("settings", "any_one"),
    [
        ({}, False),
        ({"groups": {"-1001": {}}}, False),
        ({"groups": {"*": {}}}, True),
        ({"group_policy": "open"}, True),
        ({"groups": {"*": {}}, "group_policy": "disabled"}, False),
    ],
)
def test_whether_unlisted_groups_are_heard(settings: Json, any_one: bool) -> None:
    assert any_group(account(**settings)) is any_one


def test_nothing_is_missing_where_nothing_is_known() -> None:
    assert rights_of({}, {}, Wish(ack="👀")) == Rights()
