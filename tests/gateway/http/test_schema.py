"""The description of the API holds: whatever it allows is answered, and never with a 500."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeAlias

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from gateway.build import opened
from gateway.config import Config
from gateway.home import Home
from gateway.http.app import create_app
from gateway.http.rules import HttpRules
from gateway.http.wiring import ApprovalDesk, HookRules, Wiring
from tests.fakes.httpserver import served
from tests.gateway.http.conftest import TOKEN

Case: TypeAlias = "schemathesis.Case[Any]"
HOOKS = "hooks-0123456789abcdef"
CONFIG = Config.model_validate(
    {
        "models": {"default": "offline/notes"},
        "memory": {"search": {"provider": "none"}},
    }
)


class Folder:
    """Stores nothing."""

    async def store(self, name: str, mime: str, data: bytes) -> str:
        return f"media/{len(data)}"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A whole gateway with the offline model, on a loop of its own."""
    home = Home(tmp_path_factory.mktemp("schema") / "home")
    address: Future[str] = Future()
    over = threading.Event()

    async def life() -> None:
        async with opened(CONFIG, home) as gateway:
            assert gateway.approvals is not None
            wiring = Wiring(
                hooks=lambda: HookRules(token=HOOKS, per_minute=10_000),
                openai_api=True,
                attachments=Folder(),
                approvals=ApprovalDesk(approvals=gateway.approvals, clock=gateway.clock),
            )
            app = create_app(gateway, token=TOKEN, settings=HttpRules(), wiring=wiring)
            async with served(app) as port:
                address.set_result(f"http://127.0.0.1:{port}")
                await asyncio.to_thread(over.wait)

    def work() -> None:
        try:
            asyncio.run(life())
        except BaseException as error:
            if not address.done():
                address.set_exception(error)
            raise

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield address.result(60)
    finally:
        over.set()
        thread.join(60)


def _token(path: str) -> str:
    return HOOKS if path.startswith("/hooks/") else TOKEN


def test_every_address_is_described(url: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    told = httpx.get(f"{url}/openapi.json", headers=headers, trust_env=False).json()

    assert told["openapi"].startswith("3.1")
    assert len(told["paths"]) >= 25
    for path, methods in told["paths"].items():
        for one in methods.values():
            assert one["operationId"], path
            assert any(status.startswith("2") for status in one["responses"]), path


@pytest.mark.slow
def test_nothing_that_the_description_allows_ends_in_a_500(url: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    raw = httpx.get(f"{url}/openapi.json", headers=headers, trust_env=False).json()
    schema = schemathesis.openapi.from_dict(raw)
    asked = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        for case in _cases(result.ok()):
            asked += 1
            _check(case, url)

    assert asked >= 100


def _cases(operation: object) -> list[Case]:
    """A few of what the operation may be asked, good and bad."""
    found: list[Case] = []
    for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
        strategy = operation.as_strategy(generation_mode=mode)  # type: ignore[attr-defined]

        @settings(
            max_examples=4,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            derandomize=True,
            suppress_health_check=[*HealthCheck],
        )
        @given(strategy)
        def take(case: Case) -> None:
            found.append(case)

        with suppress(Unsatisfiable):  # what takes nothing cannot be asked wrongly
            take()
    return found


def _check(case: Case, url: str) -> None:
    answer = case.call_and_validate(
        base_url=url,
        headers={"authorization": f"Bearer {_token(case.path)}"},
        checks=[content_type_conformance, response_schema_conformance],
    )
    assert answer.status_code != 500, (case, answer.text)
