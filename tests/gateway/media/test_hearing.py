"""Voice to text: by a program without a shell, or by a provider; each failure has its reason."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import FastAPI, Form, Response, UploadFile

from agents.model.provider import ModelError
from agents.settings import ModelsSettings
from gateway.config import Config
from gateway.media.hearing import Charge, Hearing, NotHeard
from gateway.media.settings import TranscriptionSettings
from tests.fakes.files import OGG, transcriber
from tests.fakes.httpserver import served

ENVIRON = {"PATH": "/usr/bin:/bin"}


def hearing(
    command: list[str] | None = None, *, models: Mapping[str, object] | None = None, **settings: object
) -> Hearing:
    told = {"command": command} if command else {}
    return Hearing(
        settings=TranscriptionSettings.model_validate({"seconds": 60, **told, **settings}),
        models=ModelsSettings.model_validate({"providers": models or {}}),
        environ={"OPENAI_API_KEY": "sk-secret-of-the-owner"},
        child_environ=ENVIRON,
    )


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    path = tmp_path / "20261130-voice; rm -rf x.ogg"
    path.write_bytes(OGG)
    return path


async def test_a_program_turns_a_recording_into_text(voice: Path) -> None:
    script = (
        "import sys; sys.stderr.write('loading model'); "
        "print(' ', len(open(sys.argv[1],'rb').read()), 'bytes heard')"
    )
    assert await hearing(transcriber(script)).text_of(voice, "audio/ogg") == f"{len(OGG)} bytes heard"
    assert [path.name for path in voice.parent.iterdir()] == [voice.name]


async def test_a_program_sees_no_secrets(voice: Path) -> None:
    script = "import os; print(sorted(name for name in os.environ if 'KEY' in name), 'end')"
    assert await hearing(transcriber(script)).text_of(voice, "audio/ogg") == "[] end"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (transcriber("import sys; sys.exit('no model file')"), "exit code 1"),
        (transcriber("print('   ')"), "no words"),
        (["/nowhere/whisper", "{path}"], "could not be started"),
        (["sh", "-c", "exit 127", "{path}"], "could not be started"),
    ],
)
async def test_a_program_that_fails_is_told_with_its_reason(
    voice: Path, caplog: pytest.LogCaptureFixture, command: list[str], why: str
) -> None:
    with caplog.at_level(logging.WARNING, "clawd.media"), pytest.raises(NotHeard, match=why):
        await hearing(command).text_of(voice, "audio/ogg")
    assert why in caplog.text
    if "exit code 1" in why:
        assert "no model file" in caplog.text


async def test_a_program_that_takes_too_long_is_ended(voice: Path) -> None:
    with pytest.raises(NotHeard, match=r"longer than 0\.5 s"):
        await hearing(transcriber("import time; time.sleep(600)"), seconds=0.5).text_of(voice, "audio/ogg")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"command": ["whisper"]}, "has no {path}"),
        ({"command": ["whisper", "{path}"], "provider": "openai"}, "not both"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        TranscriptionSettings.model_validate(settings)


@pytest.mark.parametrize(
    ("name", "fits"), [("openai", True), ("groq", True), ("anthropic", False), ("x", False)]
)
def test_a_provider_that_cannot_transcribe_is_an_error_of_the_configuration(name: str, *, fits: bool) -> None:
    text = {"gateway": {"media": {"transcription": {"provider": name}}}}
    if fits:
        Config.model_validate(text)
    else:
        with pytest.raises(ValueError, match="no transcription is known"):
            Config.model_validate(text)


def test_it_is_off_unless_it_is_configured() -> None:
    assert not hearing().on
    assert hearing(["x", "{path}"]).on
    assert hearing(provider="openai").on


class Ears:
    """A provider's /audio/transcriptions."""

    def __init__(self, answer: str = '{"text": " Buy tiles. "}', status: int = 200) -> None:
        self.app = FastAPI()
        self.seen: list[tuple[str, str, str | None, bytes]] = []

        @self.app.post("/v1/audio/transcriptions")
        async def hear(
            file: UploadFile,
            model: str = Form(),
            response_format: str = Form(),
            language: str | None = Form(None),
        ) -> Response:
            self.seen.append((model, response_format, language, await file.read()))
            return Response(answer, status, media_type="application/json")


async def ask(port: int, voice: Path, *, model: str = "whisper-1", language: str | None = None) -> str:
    url = f"http://127.0.0.1:{port}/v1"
    models = {"ears": {"base_url": url, "api_key": "sk-secret-of-the-owner"}}
    listener = hearing(provider="ears", models=models, model=model, language=language)
    return await listener.text_of(voice, "audio/ogg")


async def test_a_provider_turns_a_recording_into_text(voice: Path) -> None:
    ears = Ears()
    async with served(ears.app) as port:
        assert await ask(port, voice, model="whisper-x", language="pt") == "Buy tiles."
    assert ears.seen == [("whisper-x", "json", "pt", OGG)]


@pytest.mark.parametrize(
    ("status", "answer", "why"),
    [
        (401, "{}", "refused the key"),
        (404, "{}", "does not know whisper-1"),
        (413, "{}", "too long"),
        (429, "{}", "no more now"),
        (500, "oops", "HTTP 500"),
        (200, "no json", "no readable answer"),
        (200, "[]", "without a text"),
        (200, '{"text": " "}', "no words"),
    ],
)
async def test_a_provider_that_fails_is_told_with_its_reason_and_without_the_key(
    voice: Path, caplog: pytest.LogCaptureFixture, status: int, answer: str, why: str
) -> None:
    with caplog.at_level(logging.WARNING, "clawd.media"):
        async with served(Ears(answer, status).app) as port:
            with pytest.raises(NotHeard, match=why):
                await ask(port, voice)
    assert why in caplog.text
    assert "sk-secret" not in caplog.text


async def test_a_provider_that_is_away_is_told(voice: Path) -> None:
    with pytest.raises(NotHeard, match="could not be reached"):
        await ask(9, voice)


async def test_a_provider_that_nobody_knows_is_told(voice: Path) -> None:
    with pytest.raises(NotHeard, match="base_url"):
        await hearing(provider="nobody").text_of(voice, "audio/ogg")


async def test_no_provider_is_asked_once_the_budget_is_spent(voice: Path) -> None:
    def spent() -> None:
        raise ModelError("The budget of today is spent.")

    ears = Ears()
    async with served(ears.app) as port:
        models = {"ears": {"base_url": f"http://127.0.0.1:{port}/v1"}}
        listener = replace(hearing(provider="ears", models=models), check=spent)
        with pytest.raises(NotHeard, match="budget"):
            await listener.text_of(voice, "audio/ogg")
    assert ears.seen == []


BY_LENGTH = '{"text": "x", "usage": {"type": "duration", "seconds": 90}}'
BY_TOKENS = '{"text": "", "usage": {"type": "tokens", "input_tokens": 1000, "output_tokens": 100}}'
PRICED = {
    "whisper-1": {
        "context_window": 16_000,
        "max_output": 2_000,
        "price": {"input": 2.0, "output": 10.0, "cache_read": 0, "cache_write": 0},
    }
}


@pytest.mark.parametrize(
    ("answer", "rate", "known", "tokens", "cost"),
    [
        (BY_LENGTH, 0.006, {}, 0, 0.009),
        (BY_LENGTH, None, {}, 0, None),
        (BY_TOKENS, 0.006, {}, 1_100, None),
        (BY_TOKENS, None, PRICED, 1_100, 0.003),
        ('{"text": "x"}', 0.006, PRICED, 0, None),
        ('{"text": "x", "usage": {"seconds": -1}}', 0.006, {}, 0, None),
        ('{"text": "x", "usage": {"input_tokens": -5, "output_tokens": 1}}', 0.006, PRICED, 0, None),
    ],
)
async def test_what_a_provider_charges_is_told_as_far_as_it_is_known(
    voice: Path, answer: str, rate: float | None, known: dict[str, object], tokens: int, cost: float | None
) -> None:
    charges: list[Charge] = []
    async with served(Ears(answer).app) as port:
        models = {"ears": {"base_url": f"http://127.0.0.1:{port}/v1", "models": known}}
        listener = replace(
            hearing(provider="ears", models=models, usd_per_minute=rate), charged=charges.append
        )
        with suppress(NotHeard):
            await listener.text_of(voice, "audio/ogg")
    (charge,) = charges
    assert (charge.model, charge.usage.total) == ("ears/whisper-1", tokens)
    assert charge.cost == (None if cost is None else pytest.approx(cost))


async def test_who_refuses_charges_nothing(voice: Path) -> None:
    charges: list[Charge] = []
    async with served(Ears("{}", 429).app) as port:
        models = {"ears": {"base_url": f"http://127.0.0.1:{port}/v1"}}
        listener = replace(hearing(provider="ears", models=models), charged=charges.append)
        with pytest.raises(NotHeard):
            await listener.text_of(voice, "audio/ogg")
    assert charges == []
