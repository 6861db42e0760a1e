"""Who may speak to the gateway: rules on the Host, the Origin, the proxies and the size of a request."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRules:
    """`host` and `port` are what the server is bound to. `allowed_hosts` are further names by which it is
    reached (a proxy, a name in the local network), without port. `allowed_origins` are whole origins
    (https://name:port) of pages that a proxy serves under another name than the Host it sends here.
    `trusted_proxies` are addresses or networks whose forwarding headers are believed."""

    host: str = "127.0.0.1"
    port: int = 18789
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    max_body_bytes: int = 2 * 1024 * 1024
    max_upload_bytes: int = 20 * 1024 * 1024
    max_text_chars: int = 200_000


def host_allowed(header: str, rules: HttpRules) -> bool:
    """Whether a Host header names this gateway: a loopback name, the bound host, or an allowed one.

    A page that rebinds its own DNS name to this machine still sends that name, and is refused. When bound
    to all addresses any literal address passes: an address cannot be rebound.
    """
    host = split_authority(header)[0]
    if not host:
        return False
    if is_loopback_name(host) or host in {_name(name) for name in (rules.host, *rules.allowed_hosts)}:
        return True
    bound = _address(_name(rules.host))
    return bound is not None and bound.is_unspecified and _address(host) is not None


def origin_allowed(header: str, host_header: str, rules: HttpRules) -> bool:
    """Whether a page of this origin may call: the same host and port as the Host header, or an allowed one.

    `null` (a sandboxed frame, a local file) never passes. The scheme is not compared, because TLS may end
    at a proxy.
    """
    if header.rstrip("/").lower() in {origin.rstrip("/").lower() for origin in rules.allowed_origins}:
        return header.lower() != "null"
    try:
        parts = urlsplit(header)
    except ValueError:
        return False
    default = _DEFAULT_PORTS.get(parts.scheme)
    if default is None or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        return False
    origin_host, origin_port = split_authority(parts.netloc)
    host, port = split_authority(host_header)
    return bool(host) and (origin_host, origin_port or default) == (host, port or default)


def split_authority(text: str) -> tuple[str, int | None]:
    """Host (lower case, no brackets, no last dot) and port; an empty host when the text is neither."""
    text = text.strip()
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        colon, port = rest[:1], rest[1:]
        if not bracket or (rest and colon != ":") or not isinstance(_address(host), IPv6Address):
            return "", None
    else:
        host, colon, port = text.partition(":")
    if colon and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65_536 and len(port) < 6):
        return "", None
    if not host or any(char in "/\\@?#,% \t\r\n" for char in host):
        return "", None
    return _name(host), int(port) if colon else None


def client_behind(peer: str, forwarded_for: str, rules: HttpRules) -> str:
    """The address that a trusted proxy speaks for: the last one of X-Forwarded-For that is no trusted proxy
    itself; the proxy's own when there is none, or something that is no address stands there."""
    for text in reversed(forwarded_for.split(",")):
        host = _name(text) if _address(_name(text)) else split_authority(text)[0]
        if _address(host) is None:
            return peer
        if not is_trusted_proxy(host, rules.trusted_proxies):
            return host
    return peer


def is_trusted_proxy(peer: str, proxies: Sequence[str]) -> bool:
    address = _address(peer)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address is not None and any(address in ip_network(proxy, strict=False) for proxy in proxies)


def is_loopback_name(host: str) -> bool:
    """localhost, a name below it (RFC 6761), or an address of the loopback network."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def _name(text: str) -> str:
    return text.strip().strip("[]").lower().removesuffix(".")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
