"""Who a bot is, as Telegram says, and what it may hear of."""

from dataclasses import dataclass

from telegram import User

ALLOWED_UPDATES = ("message", "edited_message", "message_reaction", "callback_query", "my_chat_member")


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """The bot of one account. `reads_groups`: privacy mode is off, so that it hears all of a group;
    `topics`: its direct chats have topics."""

    account: str
    id: int
    username: str = ""
    name: str = ""
    reads_groups: bool = False
    joins_groups: bool = True
    topics: bool = False


def me_of(user: User, account: str) -> Me:
    return Me(
        account=account,
        id=user.id,
        username=user.username or "",
        name=user.full_name,
        reads_groups=bool(user.can_read_all_group_messages),
        joins_groups=user.can_join_groups is not False,
        topics=bool(user.has_topics_enabled),
    )


def privacy_problem(me: Me) -> str:
    """What a bot in groups misses, and how to change it; empty when it hears everything."""
    if not me.joins_groups:
        return "BotFather has switched groups off for this bot: send it /setjoingroups and choose Enable"
    if me.reads_groups:
        return ""
    return (
        "privacy mode is on: in groups the bot is only told of commands, mentions and answers to it, and "
        "knows nothing of what else was said. To change it, send /setprivacy to BotFather, choose Disable, "
        "then take the bot out of the group and add it again; or make it an admin of the group"
    )
