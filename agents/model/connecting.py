"""How the vendors' SDKs connect."""

import httpx2

CONNECT_SECONDS = 10.0

# Kept longer than the 5 s of the SDKs: a new connection takes two to three round trips, and a slow tool or a
# quick person comes later. No longer, as one that was cut silently is only known by the silence. Few, as each
# request looks at all of them.
LIMITS = httpx2.Limits(max_connections=1_000, max_keepalive_connections=8, keepalive_expiry=30.0)


def timeouts(silence: float) -> httpx2.Timeout:
    """The longest silence in seconds, and less for a server that is not there."""
    return httpx2.Timeout(silence, connect=min(CONNECT_SECONDS, silence))
