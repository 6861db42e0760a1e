"""The lines of the pairing journal and what they come to: a pure fold."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from gateway.views import time_json
from sessions.messages import Json, JsonObject

HOUR = timedelta(hours=1)


class BadRecord(Exception):
    """A line that cannot be understood; the text names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A stranger who was given a code. `hash` is of the code with `salt`, both in hexadecimal digits."""

    id: str
    channel: str
    account: str
    sender: str
    name: str
    salt: str
    hash: str
    at: datetime

    @property
    def until(self) -> datetime:
        return self.at + HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Somebody who may write directly to an account; `owner`: and owns this clawd."""

    channel: str
    account: str
    sender: str
    name: str
    at: datetime
    owner: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """`asked` is when a person last got a code; `wrong` are the times of wrong codes since the last right
    one; `moved` leads from new ids of chats to old ones. `torn`: the last line was cut by a kill."""

    requests: Mapping[str, Request] = field(default_factory=dict)
    approvals: Mapping[tuple[str, str, str], Approval] = field(default_factory=dict)
    asked: Mapping[tuple[str, str, str], datetime] = field(default_factory=dict)
    wrong: tuple[datetime, ...] = ()
    moved: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    lines: int = 0
    torn: bool = False

    def pending(self, now: datetime) -> list[Request]:
        """A request ends exactly one hour after it began."""
        return [one for one in self.requests.values() if now < one.until]

    def locked_until(self, now: datetime, most: int) -> datetime | None:
        """When approving is possible again; None when it is now. So many wrong codes within an hour lock it
        for an hour."""
        wrong = self.wrong
        for last in range(most, len(wrong) + 1):
            if wrong[last - 1] - wrong[last - most] < HOUR and now < wrong[last - 1] + HOUR:
                return wrong[last - 1] + HOUR
        return None


def fold(lines: Iterable[tuple[int, JsonObject | None]]) -> State:
    """Raises BadRecord for a line that is unreadable, unknown or not whole."""
    folding = _Folding()
    for number, obj in lines:
        if obj is None:
            raise BadRecord(f"line {number} is not readable")
        try:
            folding.take(obj)
        except (KeyError, TypeError, ValueError) as error:
            raise BadRecord(f"line {number} is not understood") from error
        folding.lines += 1
    return State(
        requests=folding.requests,
        approvals=folding.approvals,
        asked=folding.asked,
        wrong=tuple(folding.wrong),
        moved=folding.moved,
        lines=folding.lines,
    )


@dataclass(slots=True)
class _Folding:
    requests: dict[str, Request] = field(default_factory=dict)
    approvals: dict[tuple[str, str, str], Approval] = field(default_factory=dict)
    asked: dict[tuple[str, str, str], datetime] = field(default_factory=dict)
    wrong: list[datetime] = field(default_factory=list)
    moved: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    lines: int = 0

    def take(self, obj: JsonObject) -> None:
        """Raises KeyError, TypeError, ValueError."""
        at = _time(obj["at"])
        match obj["kind"]:
            case "request":
                request = _request(obj, at)
                self.requests[request.id] = request
                self.asked[request.channel, request.account, request.sender] = at
            case "approved":
                approval = _approval(obj, at)
                self.requests.pop(_text(obj["id"]), None)
                self.approvals[approval.channel, approval.account, approval.sender] = approval
                self.wrong = []
            case "denied":
                self.requests.pop(_text(obj["id"]), None)
            case "revoked":
                key = _text(obj["channel"]), _text(obj["account"]), _text(obj["sender"])
                self.approvals.pop(key, None)
            case "wrong":
                self.wrong.append(at)
            case "moved":
                place = _text(obj["channel"]), _text(obj["account"])
                self.moved.setdefault(place, {})[_text(obj["new"])] = _text(obj["old"])
            case _:
                raise ValueError


def lasting(lines: Iterable[JsonObject], horizon: datetime) -> Iterator[JsonObject]:
    """What a compaction keeps: all that lets people in or out, and what is younger than `horizon`."""
    for obj in lines:
        passing = obj.get("kind") in ("request", "denied", "wrong")
        if not passing or _time(obj["at"]) >= horizon:
            yield obj


def request_line(request: Request) -> JsonObject:
    return {
        "kind": "request",
        "id": request.id,
        "channel": request.channel,
        "account": request.account,
        "sender": request.sender,
        "name": request.name,
        "salt": request.salt,
        "hash": request.hash,
        "at": time_json(request.at),
    }


def approved_line(approval: Approval, request_id: str) -> JsonObject:
    return {
        "kind": "approved",
        "id": request_id,
        "channel": approval.channel,
        "account": approval.account,
        "sender": approval.sender,
        "name": approval.name,
        "owner": approval.owner,
        "at": time_json(approval.at),
    }


def wrong_line(at: datetime) -> JsonObject:
    return {"kind": "wrong", "at": time_json(at)}


def _request(obj: JsonObject, at: datetime) -> Request:
    bytes.fromhex(_text(obj["salt"]))
    return Request(
        id=_text(obj["id"]),
        channel=_text(obj["channel"]),
        account=_text(obj["account"]),
        sender=_text(obj["sender"]),
        name=_text(obj["name"]),
        salt=_text(obj["salt"]),
        hash=_text(obj["hash"]),
        at=at,
    )


def _approval(obj: JsonObject, at: datetime) -> Approval:
    return Approval(
        channel=_text(obj["channel"]),
        account=_text(obj["account"]),
        sender=_text(obj["sender"]),
        name=_text(obj["name"]),
        at=at,
        owner=obj["owner"] is True,
    )


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _time(value: Json) -> datetime:
    at = datetime.fromisoformat(_text(value))
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
