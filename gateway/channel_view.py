"""How each configured account is, from evidence; starting one again; a message that tries one out."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from agents.clock import Clock
from channels.account import AccountSettings
from channels.message import Address
from channels.settings import ChannelsSettings
from gateway.deliveries import Delivery, Part
from gateway.outbox import Outbox
from gateway.postman import Postman
from gateway.redact import redact
from gateway.supervisor import ChannelStatus, Name, Supervisor
from gateway.views import Refused, time_json
from sessions.messages import Json, JsonObject

TEST_TEXT = "This is a test message from clawd. All is well."
TEST_SECONDS = 20.0
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelDesk:
    """`settings` gives those that hold now."""

    street: Supervisor
    postman: Postman
    outbox: Outbox
    settings: Callable[[], ChannelsSettings]
    clock: Clock
    new_id: Callable[[], str]

    def listed(self) -> list[JsonObject]:
        """Every configured account, disabled ones as well."""
        known = {(one.channel, one.account): one for one in self.street.status()}
        accounts = self.settings().accounts
        return [self._json(name, accounts[name], known.get(name)) for name in sorted(accounts)]

    def one(self, channel: str, account: str) -> JsonObject:
        """Raises Refused when it is not configured."""
        found = self.settings().accounts.get((channel, account))
        if found is None:
            raise unknown_account(channel, account, self.settings())
        return self._json((channel, account), found, self._status((channel, account)))

    async def restart(self, channel: str, account: str) -> JsonObject:
        """How it is just afterwards. Raises Refused when it does not run here."""
        self.one(channel, account)
        if not await self.street.restart((channel, account)):
            raise _not_run(channel, account)
        return self.one(channel, account)

    async def try_out(self, channel: str, account: str, chat: str) -> JsonObject:
        """Send a message there, and say what became of it within some seconds: `sent`, `dead` or still
        `waiting`. Raises Refused, and OSError when the outbox cannot be written."""
        self.one(channel, account)
        if self._status((channel, account)) is None:
            raise _not_run(channel, account)
        group = channel == "telegram" and chat.startswith("-")
        address = Address(channel=channel, account=account, chat=chat, kind="group" if group else "direct")
        key = f"test:{self.new_id()}"
        part = Part(text=TEST_TEXT, plain=TEST_TEXT)
        await self.postman.post(Delivery(key=key, address=address, at=self.clock(), parts=(part,)))
        until = asyncio.get_running_loop().time() + TEST_SECONDS
        while (found := self.outbox.get(key)) is not None and found.state != "dead":
            if asyncio.get_running_loop().time() >= until:
                return {"key": key, "state": "waiting", "why": self._status_error((channel, account))}
            await asyncio.sleep(_LOOK_SECONDS)
        if found is None:
            return {"key": key, "state": "sent", "why": None}
        return {"key": key, "state": "dead", "why": redact(found.why)}

    def _status(self, name: Name) -> ChannelStatus | None:
        return next((one for one in self.street.status() if (one.channel, one.account) == name), None)

    def _status_error(self, name: Name) -> str | None:
        found = self._status(name)
        told = (found.error or (found.health.error if found.health else "")) if found else ""
        return redact(told) or None

    def _json(self, name: Name, settings: AccountSettings, status: ChannelStatus | None) -> JsonObject:
        health = status.health if status else None
        alive_at = health.alive_at if health else None
        age = max((self.clock() - alive_at).total_seconds(), 0.0) if alive_at else None
        problems: list[Json] = [redact(one) for one in health.problems] if health else []
        return {
            "channel": name[0],
            "account": name[1],
            "enabled": settings.enabled,
            "state": _state(settings, status),
            "connected": bool(health and health.connected),
            "since": time_json(status.since) if status else None,
            "restarts": status.restarts if status else 0,
            "error": _error(name, settings, status),
            "name": health.name if health else "",
            "alive_at": time_json(alive_at) if alive_at else None,
            "age_seconds": age,
            "problems": problems,
        }


def unknown_account(channel: str, account: str, settings: ChannelsSettings) -> Refused:
    there = [one for platform, one in settings.accounts if platform == channel]
    also = f" Its accounts are: {', '.join(there)}." if there else " `clawd channels add` makes one."
    return Refused(f"{channel} has no account {account}.{also}", code="unknown_account", status=404)


def _state(settings: AccountSettings, status: ChannelStatus | None) -> str:
    if status is not None:
        return status.state
    return "absent" if settings.enabled else "disabled"


def _error(name: Name, settings: AccountSettings, status: ChannelStatus | None) -> str | None:
    """What is wrong now; None when nothing is known to be."""
    if status is not None:
        return redact(status.error or (status.health.error if status.health else "")) or None
    if not settings.enabled:
        return None
    return f"this clawd does not run {name[0]} accounts, or it was not restarted since this one was added"


def _not_run(channel: str, account: str) -> Refused:
    return Refused(
        f"{channel}, account {account}, does not run here: it is disabled, or this clawd cannot run it yet. "
        "`clawd channels status` tells which.",
        code="not_running",
        status=409,
    )
