"""Any ASGI application behind a real uvicorn on a loopback port."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[int]:
    """The port; the server is up inside the block and gone after it."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, lifespan="off", log_config=None, proxy_headers=False, server_header=False)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:  # noqa: ASYNC110 (uvicorn offers a flag and no event)
        await asyncio.sleep(0.005)
    try:
        yield int(listener.getsockname()[1])
    finally:
        server.should_exit = True
        await task
        listener.close()
