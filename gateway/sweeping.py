"""What is looked after by the clock while nobody writes."""

from collections.abc import Awaitable, Callable

from agents.conversation import in_thread
from gateway.frontage import Frontage
from gateway.gateway import Gateway
from gateway.maintaining import Histories, Maintenance
from gateway.roster import Roster
from gateway.site import Site


def sweeping(
    site: Site, gateway: Gateway, roster: Roster, histories: Histories, street: Frontage | None
) -> Callable[[], Awaitable[None]]:
    """What is looked after by the clock: sessions that are over, then memory that is due, then old files."""
    maintenance = Maintenance(
        roster=roster,
        lifecycle=gateway.lifecycle,
        settings=lambda agent: roster.of(agent).maintenance,
        histories=histories,
        backups=site.home.backups,
        clock=site.clock,
        executor=site.executor,
    )

    async def sweep() -> None:
        await gateway.lifecycle.sweep()
        await maintenance.sweep()
        if street is not None:
            await street.front.undelivered.tell()
            held = street.front.outbox.files()
            await in_thread(site.executor, lambda: site.media.sweep(held))

    return sweep
