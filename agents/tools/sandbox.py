"""A command in a box of its own (bubblewrap): it sees a system it cannot change, and the workspace."""

import asyncio
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROGRAM = "bwrap"
PROBE_SECONDS = 10.0

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
_ETC = (
    "alternatives",
    "ca-certificates",
    "group",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
    "passwd",
    "pki/tls/certs",
    "ssl/certs",
    "ssl/openssl.cnf",
)
_APART = (
    "--unshare-user-try",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is seen from inside. `workspace` may be changed, but for `fixed`; `hidden` files and folders in
    it are empty; `readable` are further folders. All paths are absolute and of the machine."""

    workspace: Path
    cwd: Path
    network: bool = False
    readable: tuple[Path, ...] = ()
    fixed: tuple[Path, ...] = ()
    hidden_files: tuple[Path, ...] = ()
    hidden_folders: tuple[Path, ...] = ()


def boxed(words: Sequence[str], view: View, *, program: str = PROGRAM) -> tuple[str, ...]:
    """The same command in a box: no processes, no homes, no temporary files of the machine, and a network
    only where the view has one."""
    etc = (*_ETC, "resolv.conf") if view.network else _ETC
    seen = [*_SYSTEM, *(f"/etc/{name}" for name in etc)]
    return (
        program,
        *_APART,
        *(() if view.network else ("--unshare-net",)),
        *_each("--ro-bind-try", seen),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),  # noqa: S108 (the box's own)
        *_each("--ro-bind-try", [str(path) for path in view.readable]),
        *("--bind", str(view.workspace), str(view.workspace)),
        *_each("--ro-bind-try", [str(path) for path in view.fixed]),
        *(word for path in view.hidden_folders for word in ("--tmpfs", str(path))),
        *(word for path in view.hidden_files for word in ("--ro-bind", "/dev/null", str(path))),
        *("--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp"),  # noqa: S108
        *("--chdir", str(view.cwd), "--"),
        *words,
    )


def _each(option: str, paths: Sequence[str]) -> list[str]:
    return [word for path in paths for word in (option, path, path)]


class Sandbox:
    """Whether there are boxes on this machine; tried once, when it first matters."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._path = environ.get("PATH")
        self._program = ""
        self._problem: str | None = None
        self._lock = asyncio.Lock()

    async def problem(self) -> str | None:
        """Why there are none, as a sentence for a person; None when they work."""
        async with self._lock:
            if not self._program and self._problem is None:
                self._program, self._problem = await asyncio.to_thread(probe, self._path)
        return self._problem

    def boxed(self, words: Sequence[str], view: View) -> tuple[str, ...]:
        """After `problem` has said None."""
        return boxed(words, view, program=self._program)


def probe(path: str | None) -> tuple[str, str | None]:
    """The program, and what is the matter with it. Runs it for a moment."""
    program = shutil.which(PROGRAM, path=path)
    if program is None:
        return "", "bubblewrap (the program bwrap) is not installed; the package is called bubblewrap."
    folder = Path(program).parent
    try:
        done = subprocess.run(  # noqa: S603 (a program of the system)
            boxed(["/bin/sh", "-c", ":"], View(workspace=folder, cwd=folder), program=program),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"bubblewrap ({program}) does not run: {error}."
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[:300]
        return "", f"bubblewrap ({program}) cannot make a sandbox here: {said or 'no reason given'}."
    return program, None
