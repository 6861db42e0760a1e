"""What the door looks at of a request: who sends it, from where, and with which credentials."""

from dataclasses import dataclass

from starlette.types import Scope

from gateway.http.auth import bearer_of
from gateway.http.rules import HttpRules, client_behind, is_loopback_name, is_trusted_proxy, split_authority
from gateway.views import Refused

_ONCE = (b"host", b"origin", b"authorization", b"x-clawd-token")
_FORWARDING = (
    b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """`peer` is the address of the caller, behind a trusted proxy that of its client. `local`: a caller on
    this machine that also calls the gateway by a name of this machine. `origin` is None for a program and
    never for a page. `bearer` is what Authorization carries, `own` what X-Clawd-Token does."""

    path: str
    host: str
    origin: str | None
    bearer: bytes | None
    own: bytes | None
    peer: str
    local: bool
    content_length: int

    @property
    def exempt(self) -> bool:
        """A program on this machine, to whom no limit on guesses applies."""
        return self.local and self.origin is None


def head_of(scope: Scope, rules: HttpRules) -> Head:
    """Raises Refused: a header that decides came twice, or somebody forwards who is not trusted to."""
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in found and name in _ONCE:
            raise Refused(
                f"The {name.decode()} header came twice. Send it once.", code="bad_header", status=400
            )
        if name == b"x-forwarded-for" and name in found:
            value = found[name] + b"," + value  # noqa: PLW2901 (one list, written in several lines)
        found[name] = value
    client = scope.get("client")
    peer = _peer(client[0] if client else "", found, rules)
    host = found.get(b"host", b"").decode("latin-1")
    origin = found.get(b"origin")
    length = found.get(b"content-length", b"")
    return Head(
        path=scope["path"],
        host=host,
        origin=None if origin is None else origin.decode("latin-1"),
        bearer=bearer_of(found.get(b"authorization", b"")),
        own=found.get(b"x-clawd-token"),
        peer=peer,
        local=(not peer or is_loopback_name(peer)) and is_loopback_name(split_authority(host)[0]),
        content_length=int(length[:19]) if length.isdigit() else 0,
    )


def _peer(peer: str, found: dict[bytes, bytes], rules: HttpRules) -> str:
    """Raises Refused."""
    forwarding = [name.decode() for name in _FORWARDING if name in found]
    if not forwarding:
        return peer
    if not is_trusted_proxy(peer, rules.trusted_proxies):
        raise Refused(
            f"The request came through a proxy ({forwarding[0]}) at {peer or 'a local socket'}, which this "
            "gateway does not trust, so that nobody knows whose it is. Add the proxy's address to "
            "gateway.trusted_proxies if it is yours.",
            code="proxy_refused",
            status=403,
        )
    return client_behind(peer, found.get(b"x-forwarded-for", b"").decode("latin-1"), rules)
