"""Who is let in: the Host, the Origin, the token, and how often one may guess it."""

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

from gateway.http.auth import FailureLimit, same_token
from gateway.http.head import Head
from gateway.http.rules import HttpRules, host_allowed, origin_allowed
from gateway.views import Refused

Credential: TypeAlias = Literal["gateway", "hooks"]

HOW_TO_LOG_IN = (
    "Send it as 'Authorization: Bearer <token>'; `clawd dashboard` prints an address that logs a browser in."
)
HOW_TO_HOOK = "Send the hooks token (gateway.hooks.token) as 'Authorization: Bearer <token>'."


class Locked(Refused):
    """Too many wrong guesses; `seconds` until the next may be made."""

    def __init__(self, seconds: float, advice: str) -> None:
        self.seconds = math.ceil(seconds)
        super().__init__(
            f"Too many attempts without the right token. Wait {self.seconds} seconds, then try again. "
            f"{advice}",
            code="too_many_attempts",
            status=429,
        )


class Door:
    """`hooks_token` gives the token of the webhooks as it is now; None while there are none. `now` is a clock
    that only goes forward. Guesses are counted apart for each address and kind of token."""

    def __init__(
        self,
        rules: HttpRules,
        *,
        token: str,
        hooks_token: Callable[[], str | None],
        now: Callable[[], float],
    ) -> None:
        self.rules = rules
        self._token = token.encode()
        self._hooks_token = hooks_token
        self._now = now
        self._limits: dict[Credential, FailureLimit] = {
            "gateway": FailureLimit(),
            "hooks": FailureLimit(limit=20, lockout=60),
        }

    def check_source(self, head: Head) -> None:
        """Raises Refused for a name that is not ours and for a page that may not call."""
        if not host_allowed(head.host, self.rules):
            raise Refused(
                f"The Host header names {_quoted(head.host)}, which is not this gateway. Open it by its own "
                "address, or add the name to gateway.allowed_hosts if you reach it that way.",
                code="host_refused",
                status=403,
            )
        if head.origin is not None and not origin_allowed(head.origin, head.host, self.rules):
            raise Refused(
                f"A page of {_quoted(head.origin)} may not use this gateway. Add its origin to "
                "gateway.allowed_origins if it is yours.",
                code="origin_refused",
                status=403,
            )

    def check_request(self, head: Head) -> None:
        """Whether the token that the request's path asks for is in its headers. Raises Refused."""
        if head.path.startswith("/hooks/") and self._hooks_token():
            self.check(head, head.bearer or head.own, "hooks")
        else:
            self.check(head, head.bearer, "gateway")

    def check(self, head: Head, presented: bytes | None, kind: Credential) -> None:
        """Raises Refused: 401 for no or a wrong token, 429 (Locked) after too many."""
        limit, now = self._limits[kind], self._now()
        advice = HOW_TO_HOOK if kind == "hooks" else HOW_TO_LOG_IN
        if not head.exempt and (wait := limit.wait(head.peer, now)):
            raise Locked(wait, advice)
        expected = (self._hooks_token() or "").encode() if kind == "hooks" else self._token
        if expected and same_token(presented, expected):
            limit.succeeded(head.peer)
            return
        if not head.exempt:
            limit.failed(head.peer, now)
        what = "is missing" if presented is None else "is wrong"
        raise Refused(f"The token {what}. {advice}", code="unauthorized", status=401)


def _quoted(text: str) -> str:
    return repr(text[:100]) if text else "nothing"
