"""The page's own logic, run by node where there is one, and what holds for its files."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).resolve().parents[3] / "gateway" / "web"
SCRIPTS = sorted(Path(__file__).parent.glob("*.test.mjs"))
SOURCES = sorted((WEB / "js").glob("*.js"))
READS_MODULES = ((20, 19), (22, 12))
"""Versions from which node takes a .js file for a module by itself."""


def _node() -> str | None:
    """The program, if it is there and new enough."""
    found = shutil.which("node")
    if found is None:
        return None
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    major, minor = (int(part) for part in re.findall(r"\d+", told)[:2])
    enough = major > 22 or any(major == at and minor >= least for at, least in READS_MODULES)
    return found if enough else None


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_the_logic_of_the_page(script: Path) -> None:
    node = _node()
    if node is None:
        pytest.skip("node 20.19, 22.12 or newer is not here; nothing else needs it")
    ran = subprocess.run([node, "--test", str(script)], capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout[-4_000:] + ran.stderr[-1_000:]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_a_script_stays_small_and_reads_no_html(source: Path) -> None:
    text = source.read_text(encoding="utf-8")

    assert text.startswith("// ")
    assert len(text.splitlines()) <= 300
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function", text)


@pytest.mark.parametrize("sheet", sorted((WEB / "css").glob("*.css")), ids=lambda path: path.name)
def test_a_style_sheet_is_small_and_on_the_page(sheet: Path) -> None:
    page = (WEB / "index.html").read_text(encoding="utf-8")

    assert f'href="/css/{sheet.name}"' in page
    assert len(sheet.read_text(encoding="utf-8").splitlines()) <= 300


def test_the_page_needs_no_exception_of_its_policy() -> None:
    page = (WEB / "index.html").read_text(encoding="utf-8")

    assert not re.search(r"<script(?![^>]*src=)|<style|\bstyle=|\bon[a-z]+=|https?://", page)


def test_what_a_script_imports_is_there() -> None:
    for source in SOURCES:
        for name in re.findall(r"(?:from|import)\(?\s*\"(\.[^\"]+)\"", source.read_text(encoding="utf-8")):
            assert (source.parent / name).is_file(), f"{source.name} imports {name}"


def test_what_the_page_needs_at_first_is_asked_for_at_once() -> None:
    page = (WEB / "index.html").read_text(encoding="utf-8")
    told = {(WEB / name).resolve() for name in re.findall(r'rel="modulepreload" href="/([^"]+)"', page)}

    assert told | {WEB / "js" / "app.js"} == _needed(WEB / "js" / "app.js", set())


def _needed(script: Path, found: set[Path]) -> set[Path]:
    """What it imports at once, at any depth, and itself; what is imported later is not among it."""
    if script not in found:
        found.add(script)
        text = script.read_text(encoding="utf-8")
        for name in re.findall(r'^(?:import|export)\b[^;]*?"(\.[^"]+)";', text, re.MULTILINE):
            _needed((script.parent / name).resolve(), found)
    return found
