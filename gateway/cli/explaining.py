"""The work of clawd access explain and clawd route explain: decided as the gateway decides, from what lies
on disk."""

from dataclasses import dataclass

from rich.table import Table

from channels.access import People, Verdict, authorise
from channels.account import AccountSettings
from channels.message import Address, Sender
from channels.peer import ANYONE, entry_of
from channels.places import account_path
from gateway.cli.letting_in import store_of
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.config import Config
from gateway.routing import Route, Routes
from gateway.routing import route as routed
from gateway.views import Refused
from sessions.messages import Json, JsonObject

_ENDS = {
    "admitted": "is heard",
    "pairing": "is a stranger: gets a pairing code, and is not heard",
    "ignored": "is not heard, and is not told",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Somebody at a place, as it was typed."""

    channel: str
    sender: str
    group: str | None
    account: str | None
    thread: str | None
    parent: str | None
    space: str | None
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    address: Address
    sender: Sender
    verdict: Verdict
    route: Route
    problem: str | None


def access(place: Place, asked: Asked, *, as_json: bool) -> None:
    """Raises Refused, ConfigError."""
    found = _found(place, asked)
    if as_json:
        print_json(_json(found))
        return
    screen = console(color=place.color)
    verdict = found.verdict
    standing = f", as {verdict.standing}" if verdict.kind == "admitted" else ""
    screen.print(f"{_who(found)} {_ENDS[verdict.kind]}{standing}.", soft_wrap=True)
    screen.print(f"Decided by {verdict.rule}: {verdict.said}.", soft_wrap=True)
    base = f"{account_path(found.address)}."
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "rule", "says"):
        table.add_column(name, overflow="fold")
    for step in verdict.steps:
        table.add_row("yes" if step.passed else "no", clean(step.rule.removeprefix(base)), clean(step.said))
    if found.address.kind == "group" and verdict.kind == "admitted":
        need = (
            "only messages that address clawd are answered"
            if verdict.require_mention
            else "every message is answered"
        )
        table.add_row("", clean(verdict.mention_rule.removeprefix(base)), need)
    screen.print(table)
    if verdict.observe:
        screen.print("Their messages are kept as context of the group's conversation.", soft_wrap=True)
    _warned(place, found)


def route(place: Place, asked: Asked, *, as_json: bool) -> None:
    """Raises Refused, ConfigError."""
    found = _found(place, asked)
    if as_json:
        print_json(_json(found))
        return
    screen = console(color=place.color)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("agent", clean(found.route.agent), f"by {clean(found.route.rule)}")
    table.add_row("session", clean(str(found.route.key)), f"by {clean(found.route.scope)}")
    screen.print(table)
    if found.verdict.kind != "admitted":
        screen.print(f"But {_who(found)} {_ENDS[found.verdict.kind]}: {found.verdict.rule}.", soft_wrap=True)
    _warned(place, found)


def _found(place: Place, asked: Asked) -> _Found:
    config = place.config()
    account, settings = _account(config, asked)
    address = Address(
        channel=asked.channel,
        account=account,
        chat=_id(asked, asked.group if asked.group is not None else asked.sender),
        kind="direct" if asked.group is None else "group",
        thread=asked.thread or "",
        parent=asked.parent or "",
        space=asked.space or "",
    )
    sender = Sender(id=_id(asked, asked.sender), name="", roles=asked.roles)
    store = store_of(place, create=False)
    try:
        people = People(
            paired=store.paired(asked.channel, account),
            owners=frozenset(config.channels.owners) | store.owners(),
            moved=store.moved(asked.channel, account),
        )
        problem = store.problem
    finally:
        store.close()
    verdict = authorise(address, sender, settings, people)
    where = routed(address, sender, verdict, Routes.of(config.agents, config.sessions), people.moved)
    return _Found(address=address, sender=sender, verdict=verdict, route=where, problem=problem)


def _account(config: Config, asked: Asked) -> tuple[str, AccountSettings]:
    """Raises Refused."""
    names = {
        name: one for (channel, name), one in config.channels.accounts.items() if channel == asked.channel
    }
    if not names:
        raise Refused(
            f"No account of {asked.channel!r} is in clawd.yaml, so that nobody is heard there. "
            f"It would stand at channels.{asked.channel}.accounts.",
            code="unknown_account",
            status=404,
        )
    name = asked.account or ("default" if "default" in names else next(iter(names)))
    if name not in names:
        raise Refused(
            f"{asked.channel} has no account {name!r}. Its accounts are: {', '.join(names)}.",
            code="unknown_account",
            status=404,
        )
    return name, names[name]


def _id(asked: Asked, text: str) -> str:
    """Raises Refused for what can be nobody's id."""
    name = entry_of(asked.channel, text)
    if name is None or name == ANYONE:
        raise Refused(
            f"{text!r} is no id of {asked.channel}. People and groups go by their ids there, for names can "
            "change hands; /whoami in a chat tells an id.",
            code="bad_id",
            status=400,
        )
    return name


def _who(found: _Found) -> str:
    place = "directly" if found.address.kind == "direct" else f"in {found.address.chat}"
    return clean(f"{found.sender.id} {place} on {found.address.channel}, account {found.address.account},")


def _warned(place: Place, found: _Found) -> None:
    if found.problem:
        console(color=place.color, stderr=True).print(found.problem, soft_wrap=True)


def _json(found: _Found) -> JsonObject:
    verdict, where = found.verdict, found.route
    steps: list[Json] = [{"rule": one.rule, "passed": one.passed, "said": one.said} for one in verdict.steps]
    return {
        "channel": found.address.channel,
        "account": found.address.account,
        "sender": found.sender.id,
        "group": found.address.chat if found.address.kind == "group" else None,
        "kind": verdict.kind,
        "standing": verdict.standing,
        "rule": verdict.rule,
        "said": verdict.said,
        "require_mention": verdict.require_mention,
        "observed": verdict.observe,
        "steps": steps,
        "agent": where.agent,
        "agent_rule": where.rule,
        "session": str(where.key),
        "session_rule": where.scope,
        "problem": found.problem,
    }
