"""Who was let in by a code: requests, approvals and the owners found that way, in journals/pairing.jsonl.

A code is known to the stranger alone: the file holds a salted hash of it. When the file cannot be read
whole, nobody counts as approved.
"""

import hashlib
import hmac
import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from agents.clock import Clock
from gateway.pairing_file import PairingFile
from gateway.pairing_state import (
    HOUR,
    Approval,
    Request,
    State,
    approved_line,
    lasting,
    request_line,
    wrong_line,
)
from gateway.views import Refused, time_json
from sessions.messages import JsonObject

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_CHARS = 8
MAX_PENDING = 3
MAX_WRONG = 5
MAX_LINES = 2_000

logger = logging.getLogger("clawd.pairing")


class PairingStore:
    """Thread-safe; several processes may have the same file open. Codes cost time by design: call
    `request`, `approve` and `deny` in a thread. `random` gives that many secret bytes.
    """

    def __init__(self, file: PairingFile, *, clock: Clock, random: Callable[[int], bytes]) -> None:
        self._file = file
        self._clock = clock
        self._random = random

    @classmethod
    def open(cls, path: Path, *, clock: Clock, random: Callable[[int], bytes], create: bool = True) -> Self:
        """Without `create`, a missing file is an empty store. Never raises: see `problem`."""
        file = PairingFile(path, create=create)
        if create and file.read().lines > MAX_LINES:
            horizon = clock() - 2 * HOUR
            file.compact(lambda lines: lasting(lines, horizon))
        return cls(file, clock=clock, random=random)

    @property
    def problem(self) -> str | None:
        """Why nobody counts as approved now; None when all is well."""
        self._file.read()
        return self._file.problem

    def close(self) -> None:
        self._file.close()

    def paired(self, channel: str, account: str) -> frozenset[str]:
        """Ids of whom was approved for direct messages to this account."""
        found = self._file.read().approvals.values()
        return frozenset(one.sender for one in found if (one.channel, one.account) == (channel, account))

    def owners(self) -> frozenset[str]:
        """Owners that were approved as such, written channel:id."""
        found = self._file.read().approvals.values()
        return frozenset(f"{one.channel}:{one.sender}" for one in found if one.owner)

    def moved(self, channel: str, account: str) -> Mapping[str, str]:
        """From the present ids of chats to their former ones."""
        return self._file.read().moved.get((channel, account), {})

    def approvals(self) -> list[Approval]:
        return list(self._file.read().approvals.values())

    def pending(self) -> list[Request]:
        """Requests that can still be approved, oldest first."""
        return self._file.read().pending(self._clock())

    def request(self, channel: str, account: str, sender: str, name: str) -> str | None:
        """A new code for a stranger; None when no answer is due.

        None within an hour of the last one, with three strangers waiting at this account, and while the
        file cannot be read or written.
        """
        now = self._clock()
        code = "".join(ALPHABET[byte % len(ALPHABET)] for byte in self._random(CODE_CHARS))
        salt = self._random(16)
        request = Request(
            id=self._random(4).hex(),
            channel=channel,
            account=account,
            sender=sender,
            name=name[:64],
            salt=salt.hex(),
            hash=_hash(code, salt),
            at=now,
        )

        def decide(state: State) -> tuple[list[JsonObject], str | None]:
            return ([request_line(request)], code) if _is_due(state, request) else ([], None)

        try:
            if self._file.problem is not None or not _is_due(self._file.read(), request):
                return None
            given = self._file.write(decide)
        except (Refused, OSError) as error:
            logger.error("no pairing code for a stranger on %s: %s", channel, error)  # noqa: TRY400 (says it all)
            return None
        logger.info(
            "a stranger asks to be paired on %s, account %s (request %s)", channel, account, request.id
        )
        return given

    def approve(self, code: str, *, owner: bool = False) -> Approval:
        """Let in whom the code was given to, for direct messages alone; `owner`: as an owner as well.

        Raises Refused: no such code, locked after five wrong ones, or a file that cannot be read; OSError.
        """
        now = self._clock()
        found = self._find(code)

        def decide(state: State) -> tuple[list[JsonObject], Approval]:
            request = _still(state, found, now)
            before = state.approvals.get((request.channel, request.account, request.sender))
            approval = Approval(
                channel=request.channel,
                account=request.account,
                sender=request.sender,
                name=request.name,
                at=now,
                owner=owner or (before is not None and before.owner),
            )
            return [approved_line(approval, request.id)], approval

        approval = self._file.write(decide)
        logger.info("%s:%s was approved%s", approval.channel, approval.sender, " as owner" if owner else "")
        return approval

    def deny(self, code_or_id: str) -> Request:
        """End a request. The stranger hears nothing. Raises Refused, OSError."""
        now = self._clock()
        named = [one for one in self.pending() if one.id == code_or_id.strip().lower()]
        found = named[0] if named else self._find(code_or_id)

        def decide(state: State) -> tuple[list[JsonObject], Request]:
            request = _still(state, found, now)
            return [{"kind": "denied", "id": request.id, "at": time_json(now)}], request

        return self._file.write(decide)

    def revoke(self, channel: str, sender: str, *, account: str | None = None) -> list[Approval]:
        """Undo approvals, and the ownership that came with them. Raises Refused (there are none), OSError."""
        now = self._clock()

        def decide(state: State) -> tuple[list[JsonObject], list[Approval]]:
            gone = [
                one
                for one in state.approvals.values()
                if (one.channel, one.sender) == (channel, sender) and account in (None, one.account)
            ]
            if not gone:
                raise Refused(
                    f"Nobody with the id {sender} was approved on {channel}. `clawd pairing list` shows who "
                    "was; whom clawd.yaml lets in is taken out there.",
                    code="unknown_person",
                    status=404,
                )
            return [
                {
                    "kind": "revoked",
                    "channel": channel,
                    "account": one.account,
                    "sender": sender,
                    "at": time_json(now),
                }
                for one in gone
            ], gone

        return self._file.write(decide)

    def chat_moved(self, channel: str, account: str, *, old: str, new: str) -> None:
        """A group has a new id, for which the old one's settings hold. Raises Refused, OSError."""
        line: JsonObject = {
            "kind": "moved",
            "channel": channel,
            "account": account,
            "old": old,
            "new": new,
            "at": time_json(self._clock()),
        }
        known = self.moved(channel, account).get(new) == old
        if not known and old != new:
            self._file.write(lambda _: ([line], None))

    def _find(self, code: str) -> Request:
        """The request of a code. Raises Refused: wrong (which is counted), or locked; OSError."""
        now = self._clock()
        state = self._file.read()
        until = state.locked_until(now, MAX_WRONG)
        if until is not None:
            minutes = max(1, round((until - now) / timedelta(minutes=1)))
            raise Refused(
                f"Five wrong codes were tried. Approving is locked for {minutes} more minutes.",
                code="locked",
                status=429,
            )
        plain = "".join(code.split()).replace("-", "").upper()
        for request in state.pending(now):
            if hmac.compare_digest(_hash(plain, bytes.fromhex(request.salt)), request.hash):
                return request
        self._file.write(lambda _: ([wrong_line(now)], None))
        raise _unknown_code()


def _is_due(state: State, request: Request) -> bool:
    """Whether a stranger gets a code: not twice in an hour, and not with three waiting already."""
    asked = state.asked.get((request.channel, request.account, request.sender))
    place = request.channel, request.account
    waiting = [one for one in state.pending(request.at) if (one.channel, one.account) == place]
    return len(waiting) < MAX_PENDING and (asked is None or request.at >= asked + HOUR)


def _still(state: State, found: Request, now: datetime) -> Request:
    """The request, unless somebody else has ended it meanwhile. Raises Refused."""
    if found not in state.pending(now):
        raise _unknown_code()
    return found


def _unknown_code() -> Refused:
    return Refused(
        "No stranger waits with this code. Codes hold for one hour and count once; "
        "`clawd pairing list` shows who waits.",
        code="unknown_code",
        status=404,
    )


def _hash(code: str, salt: bytes) -> str:
    return hashlib.scrypt(code.encode(), salt=salt, n=2**14, r=8, p=1, dklen=32).hex()
