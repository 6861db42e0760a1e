"""What is wrong with a bot's token, for a person."""

import re

from telegram.error import InvalidToken

_FORM = re.compile(r"[A-Za-z0-9_:.-]+")


def form_problem(token: str, where: str) -> str:
    """What is wrong with how a token is written; empty when nothing is. `where` names its setting."""
    if _FORM.fullmatch(token):
        return ""
    return (
        f"the token of {where} is not written like one (a number, a colon, letters and digits, no blanks): "
        "copy it again from BotFather (/mybots, your bot, API Token)"
    )


def refusal(error: InvalidToken, where: str, base_url: str) -> str:
    """A token that the server does not know. The error's own text may hold the token."""
    if "not found" in error.message.lower() and "api.telegram.org" not in base_url:
        return f"{base_url} knows no such bot: check {where}.api_base_url and the token"
    return (
        f"Telegram does not accept the token of {where}: it is mistyped, revoked, or its bot was deleted. "
        "Get it from BotFather (/mybots, your bot, API Token) and put it into token, token_file or "
        "TELEGRAM_BOT_TOKEN"
    )
