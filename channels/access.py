"""Who may speak to an agent: a pure decision over one account's settings, closed where they say nothing.

Who may speak is decided before whether they addressed us; nothing that a sender can see or quote decides
the first.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Literal, TypeAlias

from channels.account import AccountSettings
from channels.message import Address, InboundMessage, Sender
from channels.peer import ANYONE, canonical_peer, entry_of
from channels.places import Place, account_path, place_of
from channels.platforms import WhatsAppAccount

Standing: TypeAlias = Literal["owner", "known", "group", "unknown"]
Kind: TypeAlias = Literal["admitted", "pairing", "ignored"]
Ids: TypeAlias = frozenset[str]

OWNERS = "channels.owners"
PAIRING = "clawd pairing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One rule on the way: the setting's path, whether it lets the message on, and what it says."""

    rule: str
    passed: bool
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What becomes of a message, and the setting that decided (`rule`, with `said` for a person).

    `observe`: it is no message to us, but context of the group's conversation. `quotes`: what it quotes of
    other people may be shown. `agent` answers here whatever the less exact bindings say. `standing` is
    `owner` by the owner list alone, `known` by an allow list or a pairing, `group` by a group's list, else
    `unknown`, also when everybody is let in.
    """

    kind: Kind
    standing: Standing
    rule: str
    said: str
    observe: bool = False
    require_mention: bool = False
    mention_rule: str = ""
    quotes: bool = True
    agent: str | None = None
    agent_rule: str = ""
    system_prompt: str | None = None
    history_limit: int = 0
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who is known beside the settings. `paired` are ids of this account's channel, `owners` are written
    channel:id, `own` are the account's own ids; `moved` leads from a chat's id to its former one."""

    paired: Ids = frozenset()
    owners: Ids = frozenset()
    own: Ids = frozenset()
    moved: Mapping[str, str] = field(default_factory=dict)


def admits(
    message: InboundMessage,
    settings: AccountSettings,
    people: People,
    *,
    mentioned: bool = False,
    command: bool = False,
) -> Verdict:
    """`mentioned`: a mention pattern matches the text; `command`: the text is a control command of ours."""
    verdict = authorise(message.address, message.sender, settings, people)
    if message.missed and verdict.kind == "pairing":
        said = "it came while nobody listened; strangers get a code for fresh messages only"
        return replace(verdict, kind="ignored", said=said)
    if verdict.kind != "admitted" or message.address.kind == "direct":
        return verdict
    return _addressed(message, settings, verdict, mentioned=mentioned, command=command)


def authorise(address: Address, sender: Sender, settings: AccountSettings, people: People) -> Verdict:
    """Whether this person may speak here at all; for reactions, buttons and edits it is all there is.

    Of kind `pairing` only for a stranger's direct chat.
    """
    base = account_path(address)
    if not settings.enabled:
        return _no(f"{base}.enabled", "the account is switched off")
    if sender.is_bot and settings.allow_bots == "off":
        return _no(f"{base}.allow_bots", "other bots are not heard")
    if address.kind == "direct":
        return _direct(address, sender, settings, people)
    return _group(address, sender, settings, people)


def names_of(channel: str, sender: Sender) -> Ids:
    """Every stable id of a sender, canonical."""
    return frozenset(canonical_peer(channel, one) for one in (sender.id, *sender.aliases) if one)


def main_name(channel: str, sender: Sender) -> str:
    """The id that a sender is kept under: on WhatsApp the phone number, where one is known."""
    phones = [name for name in names_of(channel, sender) if channel == "whatsapp" and name.startswith("+")]
    return min(phones) if phones else canonical_peer(channel, sender.id)


def is_owner(channel: str, sender: Sender, owners: Ids) -> bool:
    return not sender.is_bot and any(f"{channel}:{name}" in owners for name in names_of(channel, sender))


def _direct(address: Address, sender: Sender, settings: AccountSettings, people: People) -> Verdict:
    policy = f"{account_path(address)}.dm_policy"
    if settings.dm_policy == "disabled":
        return _no(policy, "direct messages are switched off")
    verdict = _acquainted(address, sender, settings, people)
    if verdict is None and settings.dm_policy == "pairing" and not sender.is_bot:
        said = "the sender is a stranger and gets a pairing code"
        verdict = replace(_no(policy, said), kind="pairing")
    elif verdict is None:
        verdict = _no(policy, "strangers get no answer")
    return replace(verdict, steps=(*_before(verdict.rule, address), *verdict.steps))


def _before(rule: str, address: Address) -> Iterator[Step]:
    """What was looked at before the rule that decided about a direct message."""
    tried = (
        (OWNERS, "the sender is no owner"),
        (f"{account_path(address)}.allow_from", "the sender is not listed"),
        (PAIRING, "the sender was not approved"),
    )
    yield from (
        Step(rule=one, passed=False, said=said) for one, said in takewhile(lambda t: t[0] != rule, tried)
    )


def _acquainted(
    address: Address, sender: Sender, settings: AccountSettings, people: People
) -> Verdict | None:
    """Who may write directly whatever the policy is for strangers."""
    names = names_of(address.channel, sender)
    listed = f"{account_path(address)}.allow_from"
    match = _match(address.channel, names, settings.allow_from)
    if is_owner(address.channel, sender, people.owners):
        return _yes("owner", OWNERS, "the sender is an owner")
    if _is_self_chat(address, settings, names, people.own):
        rule = f"{account_path(address)}.self_chat"
        return _yes("owner", rule, "the account's own number writes to itself")
    if match == "named":
        return _yes("known", listed, "the sender is listed")
    if names & people.paired:
        return _yes("known", PAIRING, "the sender was approved")
    return _yes("unknown", listed, '"*" lets everybody write') if match == "anyone" else None


def _is_self_chat(address: Address, settings: AccountSettings, names: Ids, own: Ids) -> bool:
    chat = canonical_peer(address.channel, address.chat)
    return isinstance(settings, WhatsAppAccount) and settings.self_chat and bool(names & own) and chat in own


def _group(address: Address, sender: Sender, settings: AccountSettings, people: People) -> Verdict:
    base = account_path(address)
    if settings.group_policy == "disabled":
        return _no(f"{base}.group_policy", "groups are switched off")
    place = place_of(address, settings, people.moved)
    if not place.heard:
        said = "it is switched off" if place.listed else "this group is not listed"
        return _no(place.rule, said)
    heard = Step(rule=place.rule, passed=True, said="this group is heard")
    visible = settings.context_visibility == "all" and place.history_limit > 0
    standing, rule, said = _speaker(address, sender, settings, people, place)
    verdict = Verdict(
        kind="admitted" if standing is not None else "ignored",
        standing=standing or "unknown",
        rule=rule,
        said=said,
        observe=standing is None and visible,
        require_mention=place.require_mention,
        mention_rule=place.mention_rule,
        quotes=settings.context_visibility != "allowlist",
        agent=place.agent,
        agent_rule=place.agent_rule,
        system_prompt=place.system_prompt,
        history_limit=place.history_limit,
    )
    return replace(verdict, steps=(heard, Step(rule=rule, passed=standing is not None, said=said)))


def _speaker(
    address: Address, sender: Sender, settings: AccountSettings, people: People, place: Place
) -> tuple[Standing | None, str, str]:
    """The sender's standing in a group that is heard, None when they may not speak; rule and reason."""
    names = names_of(address.channel, sender)
    if is_owner(address.channel, sender, people.owners):
        return "owner", OWNERS, "the sender is an owner"
    rule, listed, roles = _lists(address, settings, place)
    match = _match(address.channel, names, listed)
    if match == "named":
        return "group", rule, "the sender is listed"
    if {entry_of(address.channel, role) for role in roles} & set(sender.roles):
        return "group", rule, "a role of the sender is listed"
    if match == "anyone":
        return "unknown", rule, '"*" lets everybody speak'
    restricted = place.people is not None or place.roles is not None
    if settings.group_policy == "open" and not restricted:
        return "unknown", f"{account_path(address)}.group_policy", "groups are open to everybody"
    return None, rule, "the sender is not listed" if (listed or roles) else "nobody is listed"


def _lists(
    address: Address, settings: AccountSettings, place: Place
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Who may speak in a group: the most exact list. Approved pairings are for direct chats alone."""
    if place.people is not None or place.roles is not None:
        return place.people_rule, place.people or (), place.roles or ()
    base = account_path(address)
    if settings.group_allow_from:
        return f"{base}.group_allow_from", settings.group_allow_from, ()
    return f"{base}.allow_from", settings.allow_from, ()


def _addressed(
    message: InboundMessage, settings: AccountSettings, verdict: Verdict, *, mentioned: bool, command: bool
) -> Verdict:
    """The verdict on an authorised sender's group message, by whether it is meant for us."""
    base = account_path(message.address)
    native = message.addressed or (message.quoted is not None and message.quoted.own)
    if message.sender.is_bot and settings.allow_bots == "mentions":
        meant, rule = native, f"{base}.allow_bots"
    else:
        meant = native or ((mentioned or command) and not message.names_others) or not verdict.require_mention
        rule = verdict.mention_rule
    said = "it is meant for us" if meant else "it does not address us"
    steps = (*verdict.steps, Step(rule=rule, passed=meant, said=said))
    if meant:
        return replace(verdict, steps=steps)
    observe = verdict.history_limit > 0
    return replace(verdict, kind="ignored", rule=rule, said=said, observe=observe, steps=steps)


def _match(channel: str, names: Ids, entries: Iterable[str]) -> Literal["named", "anyone", "no"]:
    wanted = {entry_of(channel, entry) for entry in entries}
    if wanted & names:
        return "named"
    return "anyone" if ANYONE in wanted else "no"


def _yes(standing: Standing, rule: str, said: str) -> Verdict:
    step = Step(rule=rule, passed=True, said=said)
    return Verdict(kind="admitted", standing=standing, rule=rule, said=said, steps=(step,))


def _no(rule: str, said: str) -> Verdict:
    step = Step(rule=rule, passed=False, said=said)
    return Verdict(kind="ignored", standing="unknown", rule=rule, said=said, steps=(step,))
