"""Messages as channels hand them over, in few words."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from channels.message import Address, InboundMessage, Quoted, Sender

CASES = Path(__file__).parents[1] / "cases"
NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def case(name: str) -> Any:  # noqa: ANN401 (a table of the case)
    return json.loads((CASES / name).read_text(encoding="utf-8"))


def direct(channel: str = "telegram", *, chat: str = "5", account: str = "default") -> Address:
    return Address(channel=channel, account=account, chat=chat, kind="direct")


def group(
    chat: str = "-100", *, channel: str = "telegram", thread: str = "", parent: str = "", space: str = ""
) -> Address:
    return Address(
        channel=channel,
        account="default",
        chat=chat,
        kind="group",
        thread=thread,
        parent=parent,
        space=space,
    )


def person(
    sender: str = "5", *, bot: bool = False, aliases: tuple[str, ...] = (), roles: tuple[str, ...] = ()
) -> Sender:
    return Sender(id=sender, name=f"name of {sender}", is_bot=bot, aliases=aliases, roles=roles)


def message(
    address: Address,
    sender: Sender | None = None,
    text: str = "hello",
    *,
    addressed: bool = True,
    names_others: bool = False,
    quoted: Quoted | None = None,
    missed: bool = False,
    number: str = "1",
    at: datetime = NOON,
) -> InboundMessage:
    return InboundMessage(
        id=number,
        address=address,
        sender=sender or person(),
        text=text,
        at=at,
        addressed=addressed,
        names_others=names_others,
        quoted=quoted,
        missed=missed,
    )
