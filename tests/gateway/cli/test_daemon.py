"""clawd gateway run, as a process of its own, and the commands that find it."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.home import Home
from tests.gateway.cli.conftest import Clawd

ROOT = Path(__file__).parents[3]
PATIENCE = 30.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@contextmanager
def daemon(home: Home, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-u", "-m", "gateway", "--home", str(home.path), "gateway", "run", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def refused(home: Home, *arguments: str) -> str:
    """What a daemon says that ends at once with exit code 1."""
    with daemon(home, *arguments) as process:
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "Traceback" not in said
    return said


def wait_for_address(home: Home, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE
    while not home.address_file.exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.slow
def test_commands_find_the_running_gateway_on_its_port_and_sigterm_ends_it_with_0(
    clawd: Clawd, home: Home
) -> None:
    port = free_port()
    with daemon(home, "--port", str(port)) as process:
        wait_for_address(home, process)
        told = clawd("chat", "-m", "remember that the tap drips")
        asked = json.loads(clawd("chat", "-m", "what drips?", "--json").out)
        found = json.loads(clawd("memory", "search", "tap", "--json").out)
        indexed = clawd("memory", "index")
        forced = clawd("memory", "index", "--force")
        login = json.loads(clawd("dashboard", "--json").out)
        second = refused(home, "--port", str(free_port()))
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=PATIENCE)

    token = home.token_file.read_text().strip()
    assert process.returncode == 0, said
    assert told.code == 0, told.err
    assert "tap drips" in asked["reply"]
    assert found["results"]
    assert indexed.code == 0
    assert forced.code == 0, forced.err
    assert login == {"url": f"http://127.0.0.1:{port}/#token={token}", "running": True}
    assert f"pid {process.pid}" in second
    assert f"http://127.0.0.1:{port}/" in said
    assert token not in said
    assert not home.address_file.exists()


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        said = refused(home, "--port", str(server.getsockname()[1]))

    assert "cannot listen" in said
    assert "choose another port" in said
