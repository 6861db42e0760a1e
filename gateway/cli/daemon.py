"""The work of clawd gateway run."""

import asyncio
import gc
import logging
import os
import secrets
import sys
from contextlib import suppress
from functools import partial

import typer

from agents.clock import system_clock
from gateway import log
from gateway.cli.place import Place
from gateway.config import Config
from gateway.config.last_good import LastGood, again, started
from gateway.credentials import gateway_token
from gateway.frontage import secrets_in
from gateway.home import HomeError
from gateway.reload import Hot, Reload
from gateway.restart import EXIT_RESTART
from gateway.serve import serve
from gateway.watching import stamp
from gateway.webside import same_as

logger = logging.getLogger("clawd.config")


def run(place: Place, *, host: str | None, port: int | None) -> int:
    """The daemon's exit code. Raises ConfigError before anything is made, then HomeError, AlreadyRunning,
    WorkspaceError, PortInUse."""
    home, seen = place.home, stamp(place.home.config_file)
    begun = started(home, place.environ)
    config = _over(begun.config, host, port)
    home.ensure()
    token = gateway_token(home, config.gateway, make=lambda: secrets.token_urlsafe(32))
    secret = [token, *secrets_in(config)]
    log.set_up(home.logs, level=config.gateway.log_level, secrets=secret)
    typer.echo(f"clawd: starting on {home.path} ...")
    if begun.notice:
        logger.error(begun.notice)

    def read() -> Config:
        new = _over(again(home, place.environ, was_there=any(seen)), host, port)
        secret.extend({*secrets_in(new)} - {*secret})
        return new

    reload = Reload(
        started=config,
        read=read,
        seen=seen,
        clock=system_clock,
        hot=Hot(refuse=partial(same_as, token)),
        good=LastGood(home),
        notice=begun.notice,
    )

    def on_ready(_: str) -> None:
        gc.freeze()
        gc.enable()
        url = config.gateway.url
        _tell_address(place, url)
        typer.echo(f"clawd: ready. Web chat at {url}/")
        if sys.stdout.isatty():  # not into the log of a service manager
            typer.echo(f"clawd: log in with {url}/#token={token}")
        else:
            typer.echo(f"clawd: `{place.command} dashboard` prints the address that logs a browser in.")

    try:
        code = asyncio.run(serve(config, home, token=token, on_ready=on_ready, reload=reload))
    finally:
        with suppress(OSError):
            if home.address_file.read_text(encoding="utf-8").startswith(f"{os.getpid()} "):
                home.address_file.unlink()
    if code == EXIT_RESTART:
        typer.echo("clawd: beginning again ...")
        os.execv(sys.executable, [sys.executable, "-m", "gateway", *sys.argv[1:]])  # noqa: S606 (ourselves)
    return code


def _over(config: Config, host: str | None, port: int | None) -> Config:
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return config.model_copy(update={"gateway": config.gateway.model_copy(update=given)})


def _tell_address(place: Place, url: str) -> None:
    """Other commands find the gateway by this file, also when its port was given on the command line."""
    file = place.home.address_file
    try:
        file.touch(mode=0o600)
        file.write_text(f"{os.getpid()} {url}\n", encoding="utf-8")
    except OSError as error:
        raise HomeError(f"{file} cannot be written: {error.strerror or error}.") from error
