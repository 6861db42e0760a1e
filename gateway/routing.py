"""Which session a message belongs to: a pure decision."""

from channels.message import Address
from channels.peer import canonical_peer
from sessions.key import SessionKey


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


def channel_session(agent: str, address: Address, sender: str) -> SessionKey:
    """The session of a message from a channel: one a person in direct chats, one a group otherwise."""
    peer = sender if address.kind == "direct" else address.chat
    return SessionKey(
        agent=agent,
        kind=address.kind,
        channel=address.channel,
        peer=canonical_peer(address.channel, peer),
        thread=address.thread,
    )
