"""An agent's command cannot read the keys in its gateway's environment."""

import subprocess
import sys
from pathlib import Path

import pytest

READ = """
import ctypes, os, sys
from gateway.harden import hide_from_children
if os.geteuid() == 0:  # root may read everything
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # setuid has closed it already
if sys.argv[1] == "hide":
    assert hide_from_children()
if os.fork() == 0:
    try:
        print(open(f"/proc/{os.getppid()}/environ").read(), flush=True)
    finally:
        os._exit(0)
os.wait()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="prctl is Linux's")
@pytest.mark.parametrize(("mode", "readable"), [("hide", False), ("show", True)])
def test_the_environment_is_closed_to_children(tmp_path: Path, mode: str, readable: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ, mode],
        env={"PYTHONPATH": str(Path.cwd()), "ANTHROPIC_API_KEY": "secret-key"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ("secret-key" in done.stdout) is readable
