"""Settings of gateway.media: what is taken of the files that people send."""

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from agents.model.catalog import address, api_of
from agents.settings import ModelsSettings, ProviderSettings

PATH = "{path}"
_OPENAI = "https://api.openai.com/v1"


class TranscriptionSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str | None = Field(
        None, description="a name of models.providers that offers /audio/transcriptions, such as openai"
    )
    model: str = Field("whisper-1", min_length=1, description="the provider's model for it")
    command: tuple[str, ...] = Field(
        (), description="instead of a provider: a program and its arguments, {path} being the recording"
    )
    language: str | None = Field(
        None, pattern=r"^[a-z]{2,3}$", description="what is spoken, such as pt; null: found out by the model"
    )
    usd_per_minute: NonNegativeFloat | None = Field(
        None, description="what the provider asks for a minute of sound; null: not known"
    )
    seconds: PositiveFloat = Field(120, description="a transcription that takes longer is given up")

    @model_validator(mode="after")
    def _one_way(self) -> "TranscriptionSettings":
        if self.command and self.provider:
            raise ValueError("give provider or command, not both")
        if self.command and not any(PATH in word for word in self.command):
            raise ValueError(f"command has no {PATH}; write it where the program takes the recording")
        return self


class MediaSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    keep_days: PositiveInt = Field(30, description="files that came or went are deleted after so long")
    max_files: PositiveInt = Field(10, description="files of one message that are fetched")
    image_mb: PositiveInt = Field(6, description="a larger picture is not taken, in millions of bytes")
    audio_mb: PositiveInt = Field(16, description="the same for sound and voice messages")
    video_mb: PositiveInt = Field(16, description="the same for videos")
    document_mb: PositiveInt = Field(100, description="the same for all other files")
    fetch_seconds: PositiveFloat = Field(120, description="fetching a file is given up after so long")
    shown_kb: PositiveInt = Field(
        1_000,
        ge=50,
        le=3_500,
        description="a picture is shrunk below it for the model, in thousands of bytes",
    )
    document_pages: PositiveInt = Field(100, description="pages of a PDF whose text is taken")
    document_chars: PositiveInt = Field(
        30_000, description="what a message shows of a document; a longer text is kept beside it as a file"
    )
    document_seconds: PositiveFloat = Field(30, description="reading a document is given up after so long")
    transcription: TranscriptionSettings = Field(
        default_factory=TranscriptionSettings, description="how voice messages become text; off by default"
    )


def listener_address(name: str, models: ModelsSettings) -> str | None:
    """Where a provider transcribes; None when nothing is known of it, or it speaks another language."""
    provider = models.providers.get(name, ProviderSettings())
    if api_of(name, provider) != "openai_chat":
        return None
    return address(name, provider) or (_OPENAI if name == "openai" else None)


def listener_fault(settings: MediaSettings, models: ModelsSettings) -> str | None:
    """Why the provider of the settings cannot transcribe; None when nothing speaks against it."""
    name = settings.transcription.provider
    if name is None or listener_address(name, models):
        return None
    return (
        f"gateway.media.transcription.provider is {name!r}, of which no transcription is known; give "
        "openai, groq, or a name of models.providers with a base_url"
    )
