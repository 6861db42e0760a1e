"""The app around a fake gateway, and a client of it inside the process."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from gateway.http.app import create_app
from gateway.http.rules import HttpRules
from tests.fakes.gateway import FakeGateway

TOKEN = "abc-0123456789abcdef"
BASE = "http://localhost:18789"


@pytest.fixture
def gateway() -> FakeGateway:
    return FakeGateway()


@pytest.fixture
def app(gateway: FakeGateway) -> FastAPI:
    return create_app(
        gateway, token=f"{TOKEN}\n", settings=HttpRules(max_body_bytes=2_000, max_text_chars=500)
    )


@pytest.fixture
async def anyone(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A caller on this machine who has no token."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        yield client


@pytest.fixture
async def owner(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """The same with the right token."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers) as client:
        yield client
