"""Why Discord will not have a bot, for whoever can change it."""

from collections.abc import Sequence

from channels.discord.me import PORTAL

BAD_TOKEN, BAD_INTENTS, REFUSED_INTENTS = 4004, 4013, 4014
_OTHERS = {
    4010: "it names a shard that does not exist",
    4011: "the bot is in so many servers that Discord wants several connections, which clawd does not make",
    4012: "the API version is no longer served: update clawd",
}


def fatal_close(code: int | None, account: str, intents: Sequence[tuple[str, str]]) -> str | None:
    """Why a connection that was closed with this code need not be tried again; None when it may be.

    `intents` are those that Discord may have refused: the setting and the portal's name of each.
    """
    where = f"channels.discord.accounts.{account}"
    match code:
        case 4004:
            return bad_token(account)
        case 4014:
            titles = " and ".join(title for _, title in intents) or "the privileged intents"
            names = ", ".join(f"{where}.intents.{name}: false" for name, _ in intents)
            other = f" Or do without: {names}." if names else ""
            return (
                f"Discord refuses the intents of {where} (close code 4014): switch on {titles} at {PORTAL} "
                f"(your application, Bot, Privileged Gateway Intents), then run clawd again.{other}"
            )
        case 4013:
            return (
                f"Discord does not understand the intents of {where} (close code 4013): check its intents "
                "and gateway_url, and update clawd"
            )
        case _ if code in _OTHERS:
            return f"Discord will not let {where} in (close code {code}): {_OTHERS[code]}"
        case _:
            return None


def bad_token(account: str) -> str:
    return (
        f"Discord does not accept the token of channels.discord.accounts.{account}: it is mistyped or was "
        f"reset. Get a new one at {PORTAL} (your application, Bot, Reset Token) and put it into token, "
        "token_file or DISCORD_BOT_TOKEN"
    )
