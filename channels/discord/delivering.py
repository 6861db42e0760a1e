"""Putting messages into chats: one request after the other, with the second tries that Discord wants."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from discord import (
    AllowedMentions,
    Client,
    DiscordException,
    File,
    ForumChannel,
    HTTPException,
    Message,
    MessageReference,
    NotFound,
    PartialMessageable,
)
from discord.ui import View

from channels.channel import SendError
from channels.discord.answers import Answers, Waiting
from channels.discord.errors import NO_ACCESS, UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, not_heard, send_error
from channels.discord.permissions import missing_in
from channels.discord.rooms import Rooms, number
from channels.discord.sending import LIVE, Call, check, is_too_long, to_wire, view_of
from channels.discord.sent import Sent
from channels.discord.status import Evidence
from channels.discord.threads import thread_name
from channels.message import Address, OutboundFile, OutboundMessage


class Delivering:
    """The verbs of a channel. `client` gives the one that is logged in, and raises SendError while there is
    none; `seconds` is how long a request may take."""

    def __init__(
        self,
        *,
        client: Callable[[], Client],
        rooms: Rooms,
        answers: Answers,
        evidence: Evidence,
        suppress_embeds: bool,
        seconds: float,
    ) -> None:
        self._client = client
        self._rooms = rooms
        self._answers = answers
        self._evidence = evidence
        self._suppress_embeds = suppress_embeds
        self._seconds = seconds
        self.sent = Sent()

    async def send(self, message: OutboundMessage) -> str:
        """The id of the message that holds the text, else of the first one. Raises SendError.

        A message of several requests that failed in the middle goes on from there when it is sent again.
        Where nobody knows whether the live view's message arrived, it is changed into this one.
        """
        live = message.key.endswith(LIVE)
        calls = _calls(message, anew=not live and self.sent.was_live(message.key, message.part))
        done = self.sent.begun(message.key, message.part)
        for call in calls[len(done) :]:
            async with self._asking(message.address):
                done.append(await self._put(call, message))
            self.sent.add(done[-1])
        if live:
            self.sent.is_live(message.key.removesuffix(LIVE), message.part)
        self.sent.ended(message.key, message.part)
        self._evidence.wrote(message.address.chat)
        return done[0]

    async def edit(self, message: OutboundMessage, message_id: str) -> None:
        """The message is then as if it had been sent so. Raises SendError."""
        _calls(message)
        told: dict[str, Any] = {
            "content": message.text,
            "view": view_of(message.choices),
            "allowed_mentions": AllowedMentions.none(),
        }
        async with self._asking(message.address):
            if message.files:
                told["attachments"] = await _opened(message.files)
            waiting = self._answers.by_message(message_id)
            if waiting is not None:
                await waiting.command.followup.edit_message(number(message_id), **told)
                return
            room = self._rooms.known(self._client(), message.address)
            await room.get_partial_message(number(message_id)).edit(**told)

    async def delete(self, address: Address, message_id: str) -> None:
        async with self._asking(address):
            waiting = self._answers.by_message(message_id)
            try:
                if waiting is not None:
                    await waiting.command.followup.delete_message(number(message_id))
                else:
                    room = self._rooms.known(self._client(), address)
                    await room.get_partial_message(number(message_id)).delete()
            except NotFound as error:
                if error.code != UNKNOWN_MESSAGE:
                    raise

    async def react(self, address: Address, message_id: str, emoji: str | None) -> None:
        """Our one reaction to a message; None takes it away. A command has nothing to put it on."""
        if self._answers.is_command(message_id):
            return
        client = self._client()
        async with self._asking(address, more=("add_reactions",)):
            room = self._rooms.above(client, address, message_id)
            before = self.sent.reaction(message_id, emoji)
            message = room.get_partial_message(number(message_id))
            old = [before] if before else [] if emoji else await _own_reactions(room, message.id)
            for one in old:
                if one != emoji and client.user is not None:
                    await message.remove_reaction(one, client.user)
            if emoji:
                await message.add_reaction(emoji)

    async def typing(self, address: Address) -> None:
        async with self._asking(address):
            await self._rooms.known(self._client(), address).typing()

    async def _put(self, call: Call, message: OutboundMessage) -> str:
        waiting = self._answers.taking(message.key, message.address.chat, message.reply_to)
        if waiting is not None:
            try:
                return await self._answer(waiting, call)
            except NotFound:  # Discord takes no answer to that command any more
                waiting.open = False
        try:
            return await self._request(call, message)
        except HTTPException as error:
            again = error.code in (UNKNOWN_CHANNEL, NO_ACCESS)
            if not again or not await self._rooms.otherwise(self._client(), message.address):
                raise
        return await self._request(call, message)

    async def _request(self, call: Call, message: OutboundMessage) -> str:
        client = self._client()
        room = await self._rooms.enter(client, message.address)
        told = await self._told(call)
        if isinstance(room, ForumChannel):
            made = await room.create_thread(name=thread_name(message.plain or call.text), **told)
            return str(made.message.id)
        if call.reply_to is not None:
            told["reference"] = MessageReference(
                message_id=call.reply_to, channel_id=room.id, fail_if_not_exists=False
            )
        sent = await room.send(nonce=call.nonce, silent=message.silent, **told)
        if sent.content.strip() != call.text.strip():
            await self._change(sent, call)
        return str(sent.id)

    async def _change(self, sent: Message, call: Call) -> None:
        """Discord knew the nonce, and has shown something else under it."""
        told = await self._told(call)
        files, suppressed = told.pop("files", []), told.pop("suppress_embeds", False)
        await sent.edit(attachments=files, suppress=suppressed, **told)

    async def _answer(self, waiting: Waiting, call: Call) -> str:
        """To a slash command: first in the place that was kept for it, then below."""
        told = await self._told(call)
        if waiting.open:
            told.pop("suppress_embeds", None)
            files = told.pop("files", [])
            done = await waiting.command.edit_original_response(attachments=files, **told)
            self._answers.answered(str(done.id), waiting)
            return str(done.id)
        more = await waiting.command.followup.send(wait=True, ephemeral=not waiting.direct, **told)
        self._answers.answered(str(more.id), waiting)
        return str(more.id)

    async def _told(self, call: Call) -> dict[str, Any]:
        told: dict[str, Any] = {"content": call.text or None, "allowed_mentions": AllowedMentions.none()}
        view: View | None = view_of(call.choices)
        if view is not None:
            told["view"] = view
        if call.files:
            told["files"] = await _opened(call.files)
        if self._suppress_embeds:
            told["suppress_embeds"] = True
        return told

    @asynccontextmanager
    async def _asking(self, address: Address, *, more: tuple[str, ...] = ()) -> AsyncIterator[None]:
        """Raises SendError and nothing else for what a request can raise."""
        try:
            async with asyncio.timeout(self._seconds):
                yield
        except DiscordException as error:
            raise self._refused(error, address, more) from error
        except (aiohttp.ClientError, OSError) as error:
            raise not_heard(error) from error
        except RuntimeError as error:  # the library's session was closed meanwhile
            raise SendError("the account is not connected", retryable=True, ambiguous=True) from error

    def _refused(self, error: DiscordException, address: Address, more: tuple[str, ...]) -> SendError:
        chat = address.chat if address.chat.isdigit() else "0"
        missing = missing_in(self._client(), int(chat), thread=bool(address.thread), more=more)
        refused = send_error(error, missing=missing)
        if refused.gone:
            self._evidence.lost(address.chat, str(refused))
        return refused


def _calls(message: OutboundMessage, *, anew: bool = False) -> list[Call]:
    """Raises SendError for what Discord would not take."""
    try:
        check(message)
        calls = to_wire(message, anew=anew)
    except ValueError as error:
        raise SendError(str(error)) from error
    if not calls:
        raise SendError("there is nothing to send")
    if is_too_long(message.text):
        raise SendError("the text is longer than Discord's 2,000 characters", too_long=True)
    return calls


async def _own_reactions(room: PartialMessageable, message_id: int) -> list[str]:
    found = await room.fetch_message(message_id)
    return [str(one.emoji) for one in found.reactions if one.me]


async def _opened(files: tuple[OutboundFile, ...]) -> list[File]:
    """Raises SendError when one cannot be read."""
    try:
        return await asyncio.to_thread(lambda: [File(one.path, filename=one.name) for one in files])
    except OSError as error:
        raise SendError(f"a file could not be read: {error.strerror or error}") from error
