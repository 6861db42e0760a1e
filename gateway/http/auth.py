"""The gateway's token: what may be one, whether a request carries it, and how often one may guess."""

import hmac
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network

from gateway.config.settings import weak_token


class BadToken(ValueError):
    """A configured text that is no secret; the message says why and what to do. It never quotes the text."""


def checked_token(text: str) -> str:
    """The token without the newline that editors and shells put at the end of a file. Raises BadToken."""
    token = text.rstrip("\r\n")
    reason = weak_token(token)
    if reason:
        raise BadToken(
            f"The gateway's token {reason}. Delete credentials/gateway.token in the home directory (or the "
            "setting gateway.token) and start again: a new token is made when there is none."
        )
    return token


def bearer_of(header: bytes) -> bytes | None:
    """The credentials of an Authorization header of the Bearer scheme; None for anything else."""
    scheme, _, credentials = header.strip().partition(b" ")
    return credentials.strip() if scheme.lower() == b"bearer" else None


def same_token(presented: bytes | None, expected: bytes) -> bool:
    """In constant time. Bytes, because the comparison raises on text beyond ASCII."""
    return hmac.compare_digest(presented or b"", expected)


@dataclass(slots=True, kw_only=True)
class FailureLimit:
    """Locks a peer out for `lockout` seconds after `limit` failures within `window` seconds.

    Times are seconds of any clock that only goes forward. An IPv6 peer is its /64 network, since one
    machine owns that many addresses. At most `max_peers` are remembered; the longest unseen is forgotten.
    """

    limit: int = 10
    window: float = 60
    lockout: float = 300
    max_peers: int = 4096
    _failures: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict)
    _locked: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def wait(self, peer: str, now: float) -> float:
        """Seconds until the peer may try again; 0 when it may now."""
        return max(0.0, self._locked.get(_network(peer), now) - now)

    def failed(self, peer: str, now: float) -> None:
        peer = _network(peer)
        times = self._failures.setdefault(peer, deque(maxlen=self.limit))
        self._failures.move_to_end(peer)
        times.append(now)
        if len(times) == self.limit and now - times[0] < self.window:
            self._locked[peer] = now + self.lockout
            del self._failures[peer]
        for known in (self._failures, self._locked):
            while len(known) > self.max_peers:
                known.popitem(last=False)

    def succeeded(self, peer: str) -> None:
        self._failures.pop(_network(peer), None)


def _network(peer: str) -> str:
    try:
        address = ip_address(peer)
    except ValueError:
        return peer
    if address.version == 4:
        return peer
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ip_network((int(address), 64), strict=False))
