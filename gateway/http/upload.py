"""A message with files: as JSON with Base64, or as a form."""

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from fastapi import Request
from starlette.datastructures import FormData, UploadFile

from channels.kinds import kind_of
from channels.message import Attachment
from gateway.http.requests import ChatBody, File, chat_body, form_of, worded
from gateway.http.rules import HttpRules
from gateway.http.wiring import Attachments
from gateway.views import OWNER, Beside, Refused

MOST_FILES = 10

_SWITCHES = ("stream", "takes_files")
_MIME = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A file as it came: `name` and `mime` are what the caller says."""

    name: str
    mime: str
    data: bytes


async def chat_of(request: Request, rules: HttpRules) -> tuple[ChatBody, list[Raw]]:
    """What was sent to POST /api/chat, by its content type. Raises Refused."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _form(request, rules)
    body = chat_body(await request.body(), rules)
    return body, [_decoded(file) for file in body.attachments]


async def beside_of(files: Sequence[Raw], attachments: Attachments | None) -> Beside:
    """The files, stored. Raises Refused."""
    if not files:
        return OWNER
    if attachments is None:
        raise Refused(
            "This gateway takes no files here. Put the file into the agent's workspace and name it.",
            code="unsupported",
            status=501,
        )
    stored: list[Attachment] = []
    for file in files:
        ref = await attachments.store(file.name, file.mime, file.data)
        stored.append(
            Attachment(kind=kind_of(file.mime), ref=ref, name=file.name, mime=file.mime, size=len(file.data))
        )
    return Beside(files=tuple(stored))


async def _form(request: Request, rules: HttpRules) -> tuple[ChatBody, list[Raw]]:
    """Raises Refused, and the HTTPException of a form that cannot be read."""
    async with request.form(max_files=MOST_FILES, max_fields=20, max_part_size=1024 * 1024) as form:
        values: dict[str, object] = {}
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                continue
            if name in values:
                raise Refused(f"{name} is given twice. Give it once.", code="bad_request", status=400)
            values[name] = value == "true" if name in _SWITCHES else value
        body, files = form_of(ChatBody, {"text": "", **values}), await _files(form)
        return worded(body, rules, files=bool(files)), files


async def _files(form: FormData) -> list[Raw]:
    return [
        Raw(name=_name(value.filename), mime=_mime(value.content_type), data=await value.read())
        for _, value in form.multi_items()
        if isinstance(value, UploadFile)
    ]


def _decoded(file: File) -> Raw:
    """Raises Refused."""
    try:
        data = base64.b64decode(file.data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused(
            f"The data of {_name(file.name)!r} is not Base64.", code="bad_request", status=400
        ) from error
    return Raw(name=_name(file.name), mime=_mime(file.mime), data=data)


def _name(text: str | None) -> str:
    """The last part of what may be a path, without what a terminal or a file system takes amiss."""
    last = PurePosixPath((text or "").replace("\\", "/")).name
    return "".join(char for char in last if char.isprintable())[:120] or "file"


def _mime(text: str | None) -> str:
    kind = (text or "").partition(";")[0].strip().lower()
    return kind if _MIME.fullmatch(kind) else "application/octet-stream"
