"""The work of clawd pairing: through the running gateway, else on the file itself with the home's lock."""

import asyncio
import secrets
from collections.abc import Callable
from datetime import datetime

from rich.table import Table

from agents.clock import system_clock
from channels.peer import entry_of
from gateway.cli.backend import STARTING_SECONDS, running
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.lock import HomeLock
from gateway.pairing import PairingStore
from gateway.pairing_view import approval_json, pairing_json, request_json
from gateway.views import Refused
from sessions.messages import Json, JsonObject


def store_of(place: Place, *, create: bool) -> PairingStore:
    return PairingStore.open(
        place.home.pairing_file, clock=system_clock, random=secrets.token_bytes, create=create
    )


def show(place: Place, *, as_json: bool) -> None:
    """Read without any lock. Raises Refused when the file cannot be read whole."""
    store = store_of(place, create=False)
    try:
        found = pairing_json(store)
        pending, approvals = store.pending(), store.approvals()
    finally:
        store.close()
    if as_json:
        print_json(found)
        return
    if problem := found["problem"]:
        raise Refused(str(problem), code="pairing_store", status=503)
    screen = console(color=place.color)
    if not pending and not approvals:
        screen.print("Nobody waits, and nobody was let in by a code.")
        return
    if pending:
        table = _table("waiting", "id of the sender", "name", "request", "until")
        for one in pending:
            table.add_row(
                _account(one.channel, one.account),
                clean(one.sender),
                clean(one.name),
                one.id,
                _local(one.until),
            )
        screen.print(table)
        screen.print(
            f"Ask them for their code: {place.command} pairing approve CODE", style="dim", soft_wrap=True
        )
    if approvals:
        table = _table("let in", "id of the sender", "name", "owner", "since")
        for known in approvals:
            owner = "yes" if known.owner else ""
            where = _account(known.channel, known.account)
            table.add_row(where, clean(known.sender), clean(known.name), owner, _local(known.at))
        screen.print(table)


def approve(place: Place, code: str, *, owner: bool, as_json: bool) -> None:
    """Raises Refused, ConfigError, AlreadyRunning, OSError."""
    body: JsonObject = {"code": code, "owner": owner}
    answer = _changed(
        place, "approve", body, lambda store: {"approved": approval_json(store.approve(code, owner=owner))}
    )
    if as_json:
        print_json(answer)
        return
    person = _person(answer.get("approved"))
    where = f"{person['channel']}, account {person['account']}"
    screen = console(color=place.color)
    screen.print(f"{_named(person)} may write to clawd on {where}.", soft_wrap=True)
    if person.get("owner") is True:
        screen.print("They are an owner of this clawd.")
    elif not _owners(place):
        screen.print(
            f'If this is you, add "{person["channel"]}:{person["sender"]}" to channels.owners in clawd.yaml: '
            "an owner's messages belong to the main conversation, with all tools.",
            soft_wrap=True,
        )


def deny(place: Place, code: str, *, as_json: bool) -> None:
    """Raises Refused, ConfigError, AlreadyRunning, OSError."""
    answer = _changed(place, "deny", {"code": code}, lambda store: {"denied": request_json(store.deny(code))})
    if as_json:
        print_json(answer)
        return
    person = _person(answer.get("denied"))
    console(color=place.color).print(f"{_named(person)} was not let in, and is not told.", soft_wrap=True)


def revoke(place: Place, channel: str, sender: str, *, account: str | None, as_json: bool) -> None:
    """Raises Refused, ConfigError, AlreadyRunning, OSError."""
    name = entry_of(channel, sender) or sender

    def work(store: PairingStore) -> JsonObject:
        return {"revoked": [approval_json(one) for one in store.revoke(channel, name, account=account)]}

    body: JsonObject = {"channel": channel, "sender": name}
    answer = _changed(place, "revoke", body | ({"account": account} if account else {}), work)
    if as_json:
        print_json(answer)
        return
    gone = answer.get("revoked")
    for one in gone if isinstance(gone, list) else []:
        person = _person(one)
        where = f"{person['channel']}, account {person['account']}"
        text = f"{_named(person)} may no longer write to clawd on {where}."
        console(color=place.color).print(text, soft_wrap=True)


def _changed(
    place: Place, verb: str, body: JsonObject, work: Callable[[PairingStore], JsonObject]
) -> JsonObject:
    """What the running gateway answers, or what is done on the file when none runs."""
    answer = asyncio.run(_asked(place, verb, body))
    if answer is not None:
        return answer
    place.home.ensure()
    with HomeLock(place.home.lock_file):
        store = store_of(place, create=True)
        try:
            return work(store)
        finally:
            store.close()


async def _asked(place: Place, verb: str, body: JsonObject) -> JsonObject | None:
    client = await running(place.home, place.config(), patience=STARTING_SECONDS)
    if client is None:
        return None
    async with client:
        return await client.pairing_change(verb, body)


def _owners(place: Place) -> bool:
    store = store_of(place, create=False)
    try:
        return bool(place.config().channels.owners or store.owners())
    finally:
        store.close()


def _person(value: Json) -> JsonObject:
    if not isinstance(value, dict):
        raise Refused("The gateway's answer is not understood.", code="bad_answer", status=502)
    return value


def _named(person: JsonObject) -> str:
    name, sender = clean(str(person.get("name") or "")), clean(str(person.get("sender") or ""))
    return f"{name} ({sender})" if name else sender


def _account(channel: str, account: str) -> str:
    return clean(channel if account == "default" else f"{channel}, {account}")


def _local(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table
