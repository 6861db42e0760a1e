"""The human side of the fake Discord, in a terminal: what is typed is said, what the bot does is shown."""

import asyncio
import sys
from datetime import UTC, datetime

from tests.fakes.discord import TOKEN, discord_server
from tests.fakes.discord_world import ANNA, BOT_ID, GENERAL, Json, World

HELP = """You are Anna. Where you are: a direct chat with the bot.
  TEXT              say it                        /dm, /general   go there
  /slash NAME TEXT  a slash command               /press N        press the bot's Nth button
  /react EMOJI      to the bot's last message     /file PATH      send a file
  /cut, /anew       the gateway's connection ends; its session as well
  /quit             """


class Terminal:
    """Shows what changes since the last look."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.chat = world.dm(ANNA)
        self._shown: dict[str, str] = {}

    def buttons(self) -> list[Json]:
        message = self.last()
        rows = message["components"] if message else []
        return [one for row in rows for one in row["components"]]

    def last(self) -> Json | None:
        ours = [
            m for m in self.world.messages.get(self.chat, {}).values() if m["author"]["id"] == str(BOT_ID)
        ]
        return ours[-1] if ours else None

    def messages(self) -> list[Json]:
        chats = [one for chat in self.world.messages.values() for one in chat.values()]
        return chats + [one for kept in self.world.interactions.values() for one in kept["messages"].values()]

    async def tick(self) -> None:
        """Time passes here as it does outside."""
        while True:
            self.world.now = datetime.now(UTC)  # noqa: TID251 (a person sits before it)
            await asyncio.sleep(0.2)

    async def watch(self) -> None:
        while True:
            await self.world.changed.wait()
            await asyncio.sleep(0.05)
            for message in self.messages():
                text = self.text(message)
                if self._shown.get(message["id"]) == text or message["author"]["id"] != str(BOT_ID):
                    continue
                again = " (edited)" if message["id"] in self._shown else ""
                self._shown[message["id"]] = text
                name = self.world.channels[int(message["channel_id"])].get("name", "dm")
                print(f"\033[36mbot in {name}{again}:\033[0m {text}", flush=True)

    @staticmethod
    def text(message: Json) -> str:
        files = "".join(f" [{one['filename']}]" for one in message["attachments"])
        rows = [one for row in message["components"] for one in row["components"]]
        buttons = "".join(f" <{n + 1}: {one.get('label', 'list')}>" for n, one in enumerate(rows))
        private = " (only you see this)" if message["flags"] & 64 else ""
        return f"{message['content']}{files}{buttons}{private}"

    def obey(self, line: str) -> str:
        """What the person typed; what to tell them about it."""
        verb, _, rest = line.partition(" ")
        match verb:
            case "/dm":
                self.chat = self.world.dm(ANNA)
            case "/general":
                self.chat = GENERAL
                return f"say <@{BOT_ID}> to mention the bot"
            case "/slash":
                name, _, text = rest.partition(" ")
                self.world.slash(self.chat, name, text)
            case "/press":
                message, buttons = self.last(), self.buttons()
                if message is None or not rest.isdigit() or not 0 < int(rest) <= len(buttons):
                    return "there is no such button"
                self.world.press(message, buttons[int(rest) - 1]["custom_id"])
            case "/react":
                message = self.last()
                if message is not None:
                    self.world.react(message, rest or "👍")
            case "":
                return HELP
            case _:
                self.world.say(self.chat, line)
        return ""


async def main() -> int:
    async with discord_server() as server:
        terminal = Terminal(server.world)
        print(
            f"api_base_url: {server.url}\ntoken: {TOKEN}\nyour id: {ANNA}, the server's: 400\n\n{HELP}",
            flush=True,
        )
        watching = [asyncio.create_task(work) for work in (terminal.watch(), terminal.tick())]
        try:
            while (line := await asyncio.to_thread(sys.stdin.readline)) and line.strip() != "/quit":
                verb, _, rest = line.strip().partition(" ")
                if verb in ("/cut", "/anew"):
                    server.knobs.resumable = verb == "/cut"
                    await server.drop()
                elif verb == "/file":
                    data = await asyncio.to_thread(lambda path: open(path, "rb").read(), rest)  # noqa: PTH123, SIM115
                    file = server.world.attachment(terminal.chat, rest.rsplit("/", 1)[-1], data, "text/plain")
                    server.world.say(terminal.chat, "", attachments=[file])
                elif told := terminal.obey(line.strip()):
                    print(told, flush=True)
        finally:
            for task in watching:
                task.cancel()
    return 0
