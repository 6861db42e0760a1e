"""Speech to text: by a provider's API, or by a program on this machine. Off unless it is configured."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from agents.model.catalog import PLACEHOLDER_KEY, facts, keys_of
from agents.model.prices import cost_of
from agents.model.provider import ModelError
from agents.settings import ModelsSettings, ProviderSettings
from agents.tools.process import started
from gateway.media.settings import PATH, TranscriptionSettings, listener_address
from sessions.messages import Json, Usage

if TYPE_CHECKING:
    import httpx

MOST_CHARS = 60_000
OFF = (
    "voice messages are not turned into text here. The owner can switch it on with "
    "gateway.media.transcription.provider or .command in clawd.yaml (docs/media.md)"
)

# The program's own messages are not part of what was said; its words are never read by the shell.
_APART = 'exec 2>"$1"; shift; exec "$@"'

logger = logging.getLogger("clawd.media")


class NotHeard(Exception):
    """A recording that was not turned into text; the text says why, for a person and the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a provider has charged for: its tokens, where it counts them. `model` is provider/model, `cost` US
    dollars, None when the price is unknown."""

    model: str
    usage: Usage
    cost: float | None


def _unpaid(_: Charge) -> None:
    """Nobody keeps an account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """`models` are the providers and `environ` the variables among which keys are looked up; `child_environ`
    is what a program may see. `check` raises ModelError when no vendor may be asked now, `charged` hears of
    each answer that one has given."""

    settings: TranscriptionSettings
    models: ModelsSettings
    environ: Mapping[str, str]
    child_environ: Mapping[str, str]
    check: Callable[[], None] = lambda: None
    charged: Callable[[Charge], None] = _unpaid

    @property
    def on(self) -> bool:
        return bool(self.settings.command or self.settings.provider)

    async def text_of(self, path: Path, mime: str) -> str:
        """What is said in the recording. Raises NotHeard, and tells the log why."""
        try:
            async with asyncio.timeout(self.settings.seconds):
                heard = await (self._run(path) if self.settings.command else self._ask(path, mime))
        except TimeoutError as error:
            raise _told(f"it took longer than {self.settings.seconds:g} s") from error
        text = heard.strip()
        if not text:
            raise _told("no words were found in it")
        return text[:MOST_CHARS]

    async def _run(self, path: Path) -> str:
        complaints = path.with_name(f"{path.name}.log.part")
        command = [word.replace(PATH, str(path)) for word in self.settings.command]
        argv = ("/bin/sh", "-c", _APART, "sh", str(complaints), *command)
        try:
            async with started(argv, cwd=path.parent, env=self.child_environ) as child:
                printed = await child.output.read(8 * MOST_CHARS)
                code = await child.exited()
            if code == 0:
                return printed.decode("utf-8", "replace")
            why = await asyncio.to_thread(_last_line, complaints)
            missing = code in (126, 127)
        except OSError as error:
            raise _told(f"{command[0]} could not be started ({error.strerror or error})") from error
        finally:
            await asyncio.to_thread(complaints.unlink, missing_ok=True)
        if missing:
            raise _told(f"{command[0]} could not be started; check gateway.media.transcription.command", why)
        raise _told(f"{Path(command[0]).name} failed with exit code {code}", why)

    async def _ask(self, path: Path, mime: str) -> str:
        import httpx  # noqa: PLC0415 (a tenth of a second that a start without it saves)

        name = self.settings.provider or ""
        provider = self.models.providers.get(name, ProviderSettings())
        base = listener_address(name, self.models)
        key = next(iter(keys_of(name, provider, self.environ)), PLACEHOLDER_KEY)
        if not base:
            raise _told(f"nothing is known of the provider {name}; set models.providers.{name}.base_url")
        try:
            self.check()
            answer = await self._post(f"{base.rstrip('/')}/audio/transcriptions", key, path, mime)
        except ModelError as error:
            raise _told(str(error).rstrip(".")) from error
        except httpx.HTTPError as error:
            raise _told(f"{name} could not be reached ({type(error).__name__})") from error
        except OSError as error:
            raise _told(f"the recording cannot be read ({error.strerror or error})") from error
        if answer.status_code != HTTPStatus.OK:
            raise _told(_refused(name, self.settings.model, answer.status_code))
        try:
            found = answer.json()
        except ValueError as error:
            raise _told(f"{name} gave no readable answer") from error
        self.charged(self._charge(name, found))
        match found:
            case {"text": str(text)}:
                return text
        raise _told(f"{name} gave an answer without a text")

    def _charge(self, name: str, answer: Json) -> Charge:
        """By the tokens or the length that the answer tells of, whichever has a known price."""
        model, usage, cost, rate = self.settings.model, Usage(), None, self.settings.usd_per_minute
        match answer:
            case {"usage": {"input_tokens": int(heard), "output_tokens": int(said)}} if min(heard, said) >= 0:
                usage = Usage(input=heard, output=said)
                known = cost_of(usage, facts(name, model, self.models).price)
                cost = known.total if known else None
            case {"usage": {"seconds": int() | float() as seconds}} if rate is not None and seconds >= 0:
                cost = seconds / 60 * rate
        return Charge(model=f"{name}/{model}", usage=usage, cost=cost)

    async def _post(self, url: str, key: str, path: Path, mime: str) -> "httpx.Response":
        import httpx  # noqa: PLC0415

        language = {"language": self.settings.language} if self.settings.language else {}
        form = {"model": self.settings.model, "response_format": "json", **language}
        data = await asyncio.to_thread(path.read_bytes)
        async with httpx.AsyncClient(timeout=self.settings.seconds) as client:
            return await client.post(
                url,
                headers={"authorization": f"Bearer {key}"},
                data=form,
                files={"file": (path.name, data, mime)},
            )


def _refused(name: str, model: str, status: int) -> str:
    match status:
        case 401 | 403:
            return f"{name} refused the key (HTTP {status}); check models.providers.{name}.api_key"
        case 404:
            return f"{name} does not know {model}, or transcribes nothing (HTTP 404)"
        case 413:
            return f"the recording is too long for {name} (HTTP 413)"
        case 429:
            return f"{name} takes no more now (HTTP 429); try again later"
        case _:
            return f"{name} answered with HTTP {status}"


def _told(why: str, detail: str = "") -> NotHeard:
    logger.warning("a recording was not turned into text: %s%s", why, f" ({detail})" if detail else "")
    return NotHeard(why)


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace")[-2_000:].strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:300] if lines else ""
