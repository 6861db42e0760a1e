"""The life of the daemon: start, serve, drain, end. A part that crashes ends the process with a message."""

import asyncio
import gc
import importlib
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import uvicorn
from fastapi import FastAPI

from agents.clock import system_clock
from gateway.build import Parts, built
from gateway.config import Config
from gateway.frontage import Makers
from gateway.home import Home
from gateway.http.app import create_app, talk_of
from gateway.http.hub import Hub
from gateway.http.talk import Talk
from gateway.reload import Reload
from gateway.restart import EXIT_RESTART, Restart
from gateway.watching import stamp, watched
from gateway.webside import rules_of, wiring_of

logger = logging.getLogger("clawd.serve")


class PortInUse(Exception):
    """The address cannot be listened on; the text says why and what to do."""


class Server(uvicorn.Server):
    """uvicorn under our TaskGroup: the signals are ours, and `up` tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    config: Config,
    home: Home,
    *,
    token: str,
    on_ready: Callable[[str], None],
    makers: Makers | None = None,
    reload: Reload | None = None,
) -> int:
    """Run until SIGTERM, SIGINT or /restart; 0 after an orderly end, 1 after a crash, EXIT_RESTART when it is
    to begin again. `on_ready` is told the address; `makers` stand in for the platforms; `reload` follows the
    configuration file.

    Raises PortInUse, AlreadyRunning, HomeError, WorkspaceError before anything is served.
    """
    settings, code, restart = config.gateway, 0, Restart()
    restart.possible = True
    held = reload or Reload(started=config, read=lambda: config, clock=system_clock)
    hub = Hub()
    with listen(settings.host, settings.port) as listener:
        async with built(config, home, token=token, makers=makers, restart=restart) as parts:
            held.hot = replace(held.hot, apply=parts.apply)
            parts.gateway.configured = held.told
            if parts.frontage is not None:
                parts.frontage.front.turns.listen(hub)
            wiring = wiring_of(parts.gateway, parts.frontage, held, hub)
            talk = talk_of(parts.gateway, wiring)
            app = create_app(parts.gateway, token=token, settings=rules_of(config), wiring=wiring, talk=talk)
            server, taken_up = _server(app, config), asyncio.Event()
            try:
                async with asyncio.TaskGroup() as group:
                    address = _address(listener)
                    beside = [
                        group.create_task(
                            _watch_signals(parts, server, settings.drain_seconds, restart, hub)
                        ),
                        group.create_task(_start(parts, taken_up, address, on_ready)),
                        group.create_task(parts.gateway.memory_watch()),
                        group.create_task(_keep_channels(parts, server, talk, taken_up)),
                        group.create_task(_follow(reload, home, config)),
                    ]
                    await _serve_http(server, listener, parts)
                    for task in beside:
                        task.cancel()
            except* Exception as crash:
                code = 1
                for error in crash.exceptions:
                    logger.critical("clawd ends because a part of it failed: %s", error, exc_info=error)
    return EXIT_RESTART if restart.asked.is_set() and code == 0 else code


@contextmanager
def listen(host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket. Raises PortInUse with a text for a person."""
    with ExitStack() as stack:
        try:
            family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            # asyncio turns Nagle's algorithm off only where the protocol is named: else answers wait 40 ms
            listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(256)
        except OSError as error:
            raise PortInUse(
                f"clawd cannot listen on {host} port {port}: {error.strerror or error}. "
                "Another program may have it; choose another port with --port or gateway.port."
            ) from error
        listener.setblocking(False)
        yield listener


def _server(app: FastAPI, config: Config) -> Server:
    return Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=5,
            proxy_headers=False,  # the door decides whom to believe
            ws_max_size=rules_of(config).max_body_bytes,
            server_header=False,
            date_header=False,
        )
    )


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def _serve_http(server: Server, listener: socket.socket, parts: Parts) -> None:
    await server.serve(sockets=[listener])
    if not parts.gateway.draining:
        raise RuntimeError("the HTTP server ended by itself")


async def _start(
    parts: Parts, taken_up: asyncio.Event, address: str, on_ready: Callable[[str], None]
) -> None:
    await taken_up.wait()
    parts.gateway.ready = True
    on_ready(address)
    await parts.gateway.catch_up()
    await parts.warm_up()
    schedule = await asyncio.to_thread(importlib.import_module, "gateway.schedule")
    gc.freeze()  # hundreds of thousands of objects that stay: to look through them holds everybody up
    async with schedule.scheduled(parts.sweep):
        await asyncio.Event().wait()


async def _keep_channels(parts: Parts, server: Server, talk: Talk, taken_up: asyncio.Event) -> None:
    """What an earlier process left is in its lanes before anybody is heard."""
    await server.up.wait()
    await talk.take_up(parts.gateway.entries)
    if parts.frontage is not None:
        await parts.frontage.front.take_up()
    taken_up.set()
    if parts.frontage is not None:
        await parts.frontage.street.run()


async def _follow(reload: Reload | None, home: Home, config: Config) -> None:
    """The start was good; from now on the file is watched. One that was edited meanwhile is not known yet."""
    same = reload is not None and reload.seen in (None, stamp(home.config_file))
    if same and reload is not None and reload.good is not None and not reload.notice:
        await asyncio.to_thread(reload.good.keep)
    if reload is not None and config.gateway.reload:
        await reload.run(watched(home.config_file, known=reload.seen))


async def _watch_signals(
    parts: Parts, server: Server, drain_seconds: float, restart: Restart, hub: Hub
) -> None:
    """Wait for a signal or /restart, let running turns end, then stop. A second signal stops at once."""
    asked = asyncio.Event()
    again = asyncio.Event()

    def on_signal() -> None:
        (again if asked.is_set() else asked).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    either = [asyncio.create_task(one.wait()) for one in (asked, restart.asked)]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    for one in either:
        one.cancel()
    asked.set()
    parts.gateway.draining = True
    hub.shutting_down(
        reason="restart" if restart.asked.is_set() else "stop", restart_ms=int(drain_seconds * 1000)
    )
    running = parts.gateway.lanes.running
    logger.info("stopping; waiting for %d turns (a second signal stops at once)", running)
    impatient = asyncio.create_task(again.wait())
    drained = asyncio.create_task(parts.gateway.lanes.drain(drain_seconds))
    await asyncio.wait({impatient, drained}, return_when=asyncio.FIRST_COMPLETED)
    if not drained.done():
        drained.cancel()
        await parts.gateway.lanes.drain(0)
    if parts.frontage is not None and not again.is_set():
        await parts.frontage.front.postman.drain(min(drain_seconds, 10))
    impatient.cancel()
    hub.leave()
    server.should_exit = True
