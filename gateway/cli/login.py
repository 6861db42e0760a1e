"""The work of clawd dashboard."""

import asyncio

import typer

from gateway.cli.backend import running, told_address
from gateway.cli.output import print_json
from gateway.cli.place import Place
from gateway.config import Config
from gateway.credentials import known_token
from gateway.home import HomeError


def login(place: Place, *, as_json: bool) -> None:
    """Raises ConfigError, and HomeError when there is no token yet."""
    config = place.config()
    token = known_token(place.home, config.gateway)
    if token is None:
        raise HomeError(
            f"There is no gateway token in {place.home.path} yet. `clawd init` makes one, and so does "
            "`clawd gateway run`."
        )
    alive = asyncio.run(_answers(place, config))
    url = f"{told_address(place.home) or config.gateway.url}/#token={token}"
    if as_json:
        print_json({"url": url, "running": alive})
        return
    typer.echo(url)
    if not alive:
        typer.echo("No gateway runs now; start it with `clawd gateway run`.", err=True)


async def _answers(place: Place, config: Config) -> bool:
    client = await running(place.home, config)
    if client is None:
        return False
    await client.aclose()
    return True
