"""Addresses on the web that a model may have fetched: public ones, under whatever spelling.

A name is judged by every address that it resolves to, and one of these is connected to, not the name again;
each redirect is judged anew.
"""

import ipaddress
import re
import socket
import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import SplitResult, urljoin, urlsplit

MAX_REDIRECTS = 5
MAX_CHARS = 4_000

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a name and port. Raises OSError."""

_PORTS = {"http": 80, "https": 443}
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))+")
_INNER = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa", "onion")
_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")
_CARRYING = (  # an address of the old kind inside, or a relay to one
    ipaddress.IPv6Network("2001::/32"),
    ipaddress.IPv6Network("2002::/16"),
    ipaddress.IPv4Network("192.88.99.0/24"),
)


class UrlRefused(Exception):
    """An address that is not fetched; the text says why, for a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What may be fetched: `host` and `port` of `url`, and the `addresses` that were judged. Connect to one
    of these, with `host` for TLS and the Host header."""

    url: str
    host: str
    port: int
    addresses: tuple[Address, ...]


async def checked(url: str, *, resolve: Resolve) -> Target:
    """Raises UrlRefused, also when the name has no address."""
    parts = _split(url)
    host = _host(parts, url)
    port = _port(parts, url)
    literal = _literal(host)
    if literal is None:
        _check_name(host, url)
        addresses = await _resolved(host, port, resolve)
    else:
        addresses = (literal,)
    for address in addresses:
        if not is_public(address):
            raise UrlRefused(f"{url} leads to {address}, which is not on the public internet.")
    return Target(url=url, host=host, port=port, addresses=addresses)


async def followed(url: str, *, resolve: Resolve, visit: Callable[[Target], Awaitable[str | None]]) -> Target:
    """Visit, and go where `visit` is sent on to (None: nowhere), as far as each step may be fetched.

    Raises UrlRefused, also after too many steps, and what `visit` raises.
    """
    for _ in range(MAX_REDIRECTS + 1):
        target = await checked(url, resolve=resolve)
        location = await visit(target)
        if location is None:
            return target
        url = urljoin(target.url, location)
    raise UrlRefused(f"{url} was not fetched: there were more than {MAX_REDIRECTS} redirects.")


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could be meant, and nobody nearer."""
    if any(address.version == network.version and address in network for network in _CARRYING):
        return False
    if address.is_multicast or address.is_reserved or not address.is_global:
        return False
    return address.version == 4 or address in _GLOBAL_6


def _split(url: str) -> SplitResult:
    if len(url) > MAX_CHARS or re.search(r"[\s\\\x00-\x1f\x7f]", url):
        raise UrlRefused("The address is too long, or holds a blank, a backslash or a control character.")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UrlRefused(f"{url} is no address of the web.") from error
    if parts.scheme.lower() not in _PORTS:
        raise UrlRefused(f"{url}: only http and https are fetched.")
    if "@" in parts.netloc:
        raise UrlRefused("An address with a name or password in it is not fetched.")
    return parts


def _host(parts: SplitResult, url: str) -> str:
    """As a browser would read it: wide and circled digits are digits, capitals and a last dot are nothing."""
    try:
        host = unicodedata.normalize("NFKC", parts.hostname or "").lower().removesuffix(".")
        return host if ":" in host else host.encode("idna").decode("ascii")
    except (UnicodeError, ValueError) as error:
        raise UrlRefused(f"{url} names no host.") from error


def _port(parts: SplitResult, url: str) -> int:
    try:
        return parts.port or _PORTS[parts.scheme.lower()]
    except ValueError as error:
        raise UrlRefused(f"{url} has no valid port.") from error


def _literal(host: str) -> Address | None:
    """The address that a host is; None for a name. 127.1, 0x7f.1, 0177.0.0.1 and 2130706433 are addresses."""
    if ":" in host:
        try:
            return ipaddress.IPv6Address(host)
        except ValueError as error:
            raise UrlRefused(f"{host} is no address.") from error
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError as error:
        raise UrlRefused(f"{host} is no address.") from error


def _check_name(host: str, url: str) -> None:
    inner = any(host == name or host.endswith(f".{name}") for name in _INNER)
    if inner or not _NAME.fullmatch(host):
        raise UrlRefused(f"{url}: {host or 'nothing'} is no name of the public internet.")


async def _resolved(host: str, port: int, resolve: Resolve) -> tuple[Address, ...]:
    try:
        found = tuple(ipaddress.ip_address(one.partition("%")[0]) for one in await resolve(host, port))
    except (OSError, ValueError) as error:
        raise UrlRefused(f"{host} has no address that could be found.") from error
    if not found:
        raise UrlRefused(f"{host} has no address.")
    return found
