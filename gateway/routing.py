"""Which agent answers a message, and which session it belongs to: a pure decision."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agents.settings import AgentsSettings, BindingSettings
from channels.access import Verdict, main_name, names_of
from channels.message import Address, Sender
from channels.peer import canonical_peer, person_of
from channels.places import original
from sessions.key import SessionKey
from sessions.settings import DmScope, SessionsSettings

ANY_CHANNEL = "any"

Fits: TypeAlias = Callable[[BindingSettings], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Routes:
    """What routing goes by. `links` are identity links: a person's name, and ids written channel:id."""

    default_agent: str
    bindings: Sequence[BindingSettings] = ()
    dm_scope: DmScope = "main"
    links: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, agents: AgentsSettings, sessions: SessionsSettings) -> "Routes":
        return cls(
            default_agent=agents.default_id,
            bindings=agents.bindings,
            dm_scope=sessions.dm_scope,
            links=sessions.identity_links,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """`rule` names the setting that chose the agent, `scope` the one that chose the session."""

    key: SessionKey
    rule: str
    scope: str

    @property
    def agent(self) -> str:
        return self.key.agent


def api_session(agent: str, name: str | None) -> SessionKey:
    """The session of a caller who holds the gateway's token: the agent's main one, or one of that name.

    A name that is itself a session key of this agent (`agent:<id>:…`) means that session. Raises
    BadSessionKey.
    """
    if name is None or name == "main":
        return SessionKey(agent=agent, kind="main")
    if name.startswith(f"agent:{agent}:"):
        return SessionKey.parse(name)
    return SessionKey(agent=agent, kind="api", peer=name)


def route(
    address: Address,
    sender: Sender,
    verdict: Verdict,
    routes: Routes,
    moved: Mapping[str, str] | None = None,
) -> Route:
    """The session of what this sender says or does at this address.

    The most exact binding chooses the agent: thread, chat, parent, roles of a space, space, account,
    channel; among equals the first one that is written. `moved` leads from a chat's present id to its
    former one; its session keeps the first.
    """
    home = original(address.chat, moved or {})
    agent, rule = _agent(address, home, sender, verdict, routes)
    if address.kind == "direct":
        key, scope = _direct(agent, address, sender, verdict, routes)
        return Route(key=key, rule=rule, scope=scope)
    return Route(
        key=channel_session(agent, address, sender.id, chat=home), rule=rule, scope="the group itself"
    )


def channel_session(agent: str, address: Address, sender: str, *, chat: str = "") -> SessionKey:
    """The session of a message from a channel: one a person in direct chats, one a group otherwise.

    A channel of a server is of kind `channel`. A thread that is a chat of its own needs no `thread`.
    """
    place = chat or address.chat
    peer = sender if address.kind == "direct" else place
    kind = "channel" if address.kind == "group" and address.space else address.kind
    return SessionKey(
        agent=agent,
        kind=kind,
        channel=address.channel,
        peer=canonical_peer(address.channel, peer),
        thread="" if address.thread == address.chat else address.thread,
    )


def _agent(address: Address, home: str, sender: Sender, verdict: Verdict, routes: Routes) -> tuple[str, str]:
    """The agent and the setting that chose it. What a group's own settings say stands between bindings of
    that chat and all less exact ones."""
    fitting = [
        (number, binding)
        for number, binding in enumerate(routes.bindings)
        if _fits(binding, address, home, sender)
    ]
    ranked = sorted(fitting, key=lambda one: _tier(one[1]))
    best = ranked[0] if ranked else None
    if verdict.agent is not None and (best is None or _tier(best[1]) > _CHAT):
        return verdict.agent, verdict.agent_rule
    if best is None:
        return routes.default_agent, "agents.list (the default agent)"
    return best[1].agent, f"agents.bindings[{best[0]}]"


_THREAD, _CHAT, _PARENT, _ROLES, _SPACE, _ACCOUNT, _CHANNEL = range(7)


def _tier(binding: BindingSettings) -> int:
    """How exact a binding is, 0 the most."""
    given = (
        (_THREAD, binding.thread is not None),
        (_CHAT, binding.chat is not None),
        (_PARENT, binding.parent is not None),
        (_ROLES, bool(binding.roles)),
        (_SPACE, binding.space is not None),
        (_ACCOUNT, binding.account not in (None, "*")),
    )
    return next((tier for tier, is_given in given if is_given), _CHANNEL)


def _fits(binding: BindingSettings, address: Address, home: str, sender: Sender) -> bool:
    """Whether every key that the binding gives fits."""
    channel = address.channel
    chats = {canonical_peer(channel, one) for one in (address.chat, home)}
    if address.kind == "direct":
        chats |= names_of(channel, sender)
    given = (
        (binding.account not in (None, "*"), binding.account == address.account),
        (binding.chat is not None, canonical_peer(channel, binding.chat or "") in chats),
        (binding.thread is not None, binding.thread == address.thread),
        (binding.parent is not None, binding.parent == address.parent),
        (binding.space is not None, binding.space == address.space),
        (bool(binding.roles), bool({*binding.roles} & {*sender.roles})),
    )
    return binding.channel == channel and all(fits for is_given, fits in given if is_given)


def _direct(
    agent: str, address: Address, sender: Sender, verdict: Verdict, routes: Routes
) -> tuple[SessionKey, str]:
    """The session of a direct chat. Only an owner is ever in the main one."""
    scope = f"sessions.dm_scope: {routes.dm_scope}"
    thread = address.thread
    if routes.dm_scope == "main":
        if verdict.standing == "owner":
            return SessionKey(agent=agent, kind="main", thread=thread), scope
        name = main_name(address.channel, sender)
        return channel_session(agent, address, name), f"{scope} (for others: a person and channel)"
    linked = _linked(address.channel, sender, routes.links)
    name = linked or main_name(address.channel, sender)
    channel, peer = address.channel, name
    if routes.dm_scope == "per_peer":
        channel, peer = ANY_CHANNEL, linked or f"{address.channel}:{name}"
    elif routes.dm_scope == "per_account_channel_peer":
        peer = f"{address.account}:{name}"
    return SessionKey(agent=agent, kind="direct", channel=channel, peer=peer, thread=thread), scope


def _linked(channel: str, sender: Sender, links: Mapping[str, Sequence[str]]) -> str | None:
    """The name under which this person is known on several channels; by stable ids alone."""
    ids = {(channel, name) for name in names_of(channel, sender)}
    for name, identities in links.items():
        if any(person_of(one) in ids for one in identities):
            return name
    return None
