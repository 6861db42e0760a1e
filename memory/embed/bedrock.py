"""Amazon Bedrock through boto3 (the extra `bedrock`): Titan takes one text a request, Cohere many."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any  # boto3 types nothing

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
)

from memory.embed.embedder import Kind
from memory.embed.faults import BadAnswer, Fault, Passing, Refused, fault_of
from memory.embed.wire import Json, counted, member

_COHERE_KINDS = {"query": "search_query", "document": "search_document"}
_CONNECT_SECONDS = 10


class BedrockSender:
    """Implements Sender. Credentials and region come from AWS's own chain; making one takes a second, so it
    is to be made in a thread. Raises Refused when there is no region.

    A request that is given up goes on in its thread for `read_seconds` at the most.
    """

    def __init__(
        self, *, model: str, dims: int | None, address: str | None = None, read_seconds: float = 120
    ) -> None:
        self._model = model
        self._dims = dims
        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=read_seconds,
            retries={"total_max_attempts": 1},
        )
        try:
            self._client: Any = boto3.client("bedrock-runtime", endpoint_url=address, config=config)
        except (NoRegionError, BotoCoreError, ValueError) as error:
            raise Refused(f"cannot be asked: {str(error).rstrip('.')}", cause="key") from error

    async def send(self, texts: Sequence[str], kind: Kind) -> list[Json]:
        if "cohere." in self._model:
            body: dict[str, Json] = {"texts": list(texts), "input_type": _COHERE_KINDS[kind]}
            body |= {"truncate": "END", "embedding_types": ["float"]}
            return _cohere(await asyncio.to_thread(self._invoke, body), len(texts))
        return [await asyncio.to_thread(self._titan, text) for text in texts]

    async def aclose(self) -> None:
        await asyncio.to_thread(self._client.close)

    def _titan(self, text: str) -> Json:
        body: dict[str, Json] = {"inputText": text}
        if "titan-embed-text-v2" in self._model:
            body["normalize"] = True
            if self._dims is not None:
                body["dimensions"] = self._dims
        return member(self._invoke(body), "embedding")

    def _invoke(self, body: dict[str, Json]) -> Json:
        try:
            answer = self._client.invoke_model(
                modelId=self._model,
                body=json.dumps(body),
                accept="application/json",
                contentType="application/json",
            )
            found: Json = json.loads(answer["body"].read())
        except ClientError as error:
            raise _fault(error) from error
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise Refused(f"has no credentials ({error})", cause="key") from error
        except BotoCoreError as error:
            raise Passing(f"cannot be reached: {type(error).__name__}") from error
        except (ValueError, RecursionError) as error:
            raise BadAnswer("it is no JSON") from error
        return found


def _cohere(body: Json, count: int) -> list[Json]:
    rows = member(body, "embeddings")
    rows = member(rows, "float") if isinstance(rows, dict) else rows
    if not isinstance(rows, list):
        raise BadAnswer("it holds no list named embeddings")
    counted(len(rows), count)
    return rows


def _fault(error: ClientError) -> Fault:
    """AWS names its refusals; the names say more than the status."""
    code = str(error.response.get("Error", {}).get("Code", ""))
    said = str(error.response.get("Error", {}).get("Message", ""))
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500))
    if code == "ThrottlingException":
        return Passing(f"takes no more requests for now ({code})", busy=True)
    if code == "ResourceNotFoundException" or "model identifier is invalid" in said:
        return Refused(f"does not know the model ({code}: {said[:200]})", cause="model")
    return fault_of(status, {}, json.dumps({"message": f"{code}: {said}"}))
