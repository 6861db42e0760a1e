"""The one table of slash commands, and how a message is read as one of them."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Who: TypeAlias = Literal["owner", "known", "anyone"]
"""Who may use a command. known: everyone whom a channel admits; anyone: also who is not yet admitted."""

_FORM = re.compile(r"/([A-Za-z][A-Za-z0-9_-]*):?(?:\s+(.*))?", re.DOTALL)
_RANKS: Mapping[Who, int] = {"anyone": 0, "known": 1, "owner": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`arguments` is how they are shown, empty when none are taken; `control` overtakes what runs in the
    session. `hooked`: the command exists only where something stands behind it."""

    name: str
    arguments: str
    who: Who
    control: bool
    help: str
    hooked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A command as a person wrote it; `rest` is all after its name, trimmed."""

    command: Command
    rest: str


TABLE = (
    Command(name="help", arguments="", who="anyone", control=True, help="this list"),
    Command(
        name="status",
        arguments="",
        who="known",
        control=True,
        help="model, session, context, memory, and how long clawd has been running",
    ),
    Command(name="whoami", arguments="", who="anyone", control=True, help="as whom clawd knows you"),
    Command(name="stop", arguments="", who="known", control=True, help="end the answer that is being made"),
    Command(
        name="new",
        arguments="[model] [text]",
        who="known",
        control=False,
        help="a new session; the old one is saved",
        hooked=True,
    ),
    Command(
        name="reset",
        arguments="",
        who="known",
        control=False,
        help="the same as /new, with nothing to begin with",
        hooked=True,
    ),
    Command(
        name="resume",
        arguments="[session]",
        who="known",
        control=False,
        help="back to an earlier session",
        hooked=True,
    ),
    Command(
        name="compact",
        arguments="[instructions]",
        who="known",
        control=False,
        help="summarise the older part of the conversation now",
        hooked=True,
    ),
    Command(
        name="approve",
        arguments="[ID [once|always]]",
        who="owner",
        control=True,
        help="let through what was asked for; alone: what waits for you, and what is kept for good",
        hooked=True,
    ),
    Command(
        name="deny",
        arguments="ID",
        who="owner",
        control=True,
        help="refuse what was asked for, or take back what was kept for good",
        hooked=True,
    ),
    Command(
        name="model",
        arguments="[name]",
        who="owner",
        control=False,
        help="the model of this session; with a name, another one",
    ),
    Command(
        name="models",
        arguments="",
        who="owner",
        control=False,
        help="which models there are, and which can be used",
    ),
    Command(
        name="think",
        arguments="[off|low|medium|high|default]",
        who="owner",
        control=False,
        help="how much the model reasons in this session",
        hooked=True,
    ),
    Command(
        name="queue",
        arguments="[collect|followup|steer|interrupt|reset]",
        who="known",
        control=True,
        help="what happens to what you write while an answer is being made",
        hooked=True,
    ),
    Command(
        name="verbose",
        arguments="[off|on|full]",
        who="known",
        control=True,
        help="whether tools are shown while they run",
        hooked=True,
    ),
    Command(
        name="restart",
        arguments="",
        who="owner",
        control=True,
        help="start clawd again; running answers are finished first",
        hooked=True,
    ),
    Command(
        name="context",
        arguments="[list|detail|json]",
        who="owner",
        control=False,
        help="what fills the model's window",
    ),
    Command(
        name="usage",
        arguments="",
        who="owner",
        control=False,
        help="tokens and money: this session, today, the last 30 days",
    ),
    Command(name="memory", arguments="QUERY", who="owner", control=False, help="search the notes"),
    Command(name="sessions", arguments="", who="owner", control=False, help="the conversations so far"),
    Command(name="agents", arguments="", who="owner", control=False, help="who can answer"),
)


def commands(*, hooks: Collection[str]) -> dict[str, Command]:
    """All commands by name; of those that need a hook, the ones that have one."""
    return {row.name: row for row in TABLE if not row.hooked or row.name in hooks}


def parse(text: str, table: Mapping[str, Command]) -> Typed | None:
    """`/name`, `/name rest` or `/name: rest` at the very start, upper case or not.

    None for everything else: it is for the model. So is a command that takes no arguments, with some.
    """
    form = _FORM.fullmatch(text.rstrip())
    command = table.get(form[1].lower()) if form else None
    if form is None or command is None:
        return None
    rest = (form[2] or "").strip()
    return Typed(command=command, rest=rest) if command.arguments or not rest else None


def may(who: Who, command: Command) -> bool:
    """Whether a person of this standing may use the command."""
    return _RANKS[who] >= _RANKS[command.who]
