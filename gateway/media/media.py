"""Everything that has to do with files of messages, put together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from agents.clock import Clock
from agents.tools.exec import environment
from channels.channel import Channel
from channels.message import Attachment, InboundMessage
from channels.settings import ChannelsSettings
from gateway.config import Config
from gateway.media.documents import Documents
from gateway.media.hearing import Charge, Hearing
from gateway.media.sending import Outgoing
from gateway.media.settings import MediaSettings
from gateway.media.store import Store
from gateway.media.taken import Taken
from gateway.media.taking import Taker


@dataclass(slots=True)
class AccountLimits:
    """The largest file that an account takes, in millions of bytes; `channels` may become another."""

    channels: ChannelsSettings
    unknown: int

    def __call__(self, channel: str, account: str) -> int:
        known = self.channels.accounts.get((channel, account))
        return known.media_max_mb if known else self.unknown


@dataclass(slots=True, kw_only=True)
class Media:
    """`taker` takes what comes in, `outgoing` knows the turns whose answers can carry files. `settings` and
    `taker` may become others: whoever is given `fetch` or `stored` has those of the moment."""

    settings: MediaSettings
    store: Store
    taker: Taker
    outgoing: Outgoing
    limits: AccountLimits

    def change(self, config: Config) -> None:
        """Other settings of files, models and channels hold for what comes from now on."""
        settings = self.settings = config.gateway.media
        self.limits.channels, self.limits.unknown = config.channels, settings.document_mb
        taker = self.taker
        self.taker = replace(
            taker,
            settings=settings,
            documents=taker.documents.under(settings),
            hearing=replace(taker.hearing, settings=settings.transcription, models=config.models),
        )

    async def fetch(self, channel: Channel, message: InboundMessage) -> Taken:
        """As Taker.fetch."""
        return await self.taker.fetch(channel, message)

    async def stored(self, files: Sequence[Attachment]) -> Taken:
        """As Taker.stored."""
        return await self.taker.stored(files)

    def sweep(self, held: frozenset[Path]) -> int:
        """Delete what is old and not `held`. Blocks; raises OSError."""
        return self.store.sweep(timedelta(days=self.settings.keep_days), held=held)


def media_of(
    config: Config,
    folder: Path,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    token: Callable[[int], bytes],
    check: Callable[[], None] = lambda: None,
    charged: Callable[[Charge], None] = lambda _: None,
) -> Media:
    """`folder` is that of all media; `token` gives so many random bytes; `check` and `charged` are as those
    of Hearing."""
    settings = config.gateway.media
    store = Store(folder, clock=clock, token=token)
    child_environ = environment(environ, ())
    limits = AccountLimits(config.channels, unknown=settings.document_mb)
    taker = Taker(
        store=store,
        settings=settings,
        documents=Documents(settings, environ=child_environ),
        hearing=Hearing(
            settings=settings.transcription,
            models=config.models,
            environ=environ,
            child_environ=child_environ,
            check=check,
            charged=charged,
        ),
        account_mb=limits,
        mark=lambda: token(8).hex(),
    )
    outgoing = Outgoing(store.is_copy)
    return Media(settings=settings, store=store, taker=taker, outgoing=outgoing, limits=limits)
