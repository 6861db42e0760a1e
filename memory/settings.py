"""Settings of the memory section."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator


class Section(BaseModel):
    """Base of every settings model of this room: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SearchSettings(Section):
    provider: Literal["auto", "local", "none"] | None = Field(
        None, description="local: the built-in model; none: keywords only; null or auto: local, else keywords"
    )
    max_results: int = Field(6, ge=1, le=50, description="passages that a search gives back")
    min_score: float = Field(0.35, ge=0, le=1, description="weaker passages are left out")
    vector_weight: float = Field(0.7, ge=0, le=1, description="share of meaning in the ranking")
    text_weight: float = Field(0.3, ge=0, le=1, description="share of words in the ranking")
    idle_seconds: float = Field(300, gt=0, description="the local model leaves memory after this time unused")

    @model_validator(mode="after")
    def _some_weight(self) -> "SearchSettings":
        if self.vector_weight + self.text_weight == 0:
            raise ValueError("vector_weight and text_weight cannot both be 0")
        return self


class ChunkingSettings(Section):
    tokens: PositiveInt = Field(400, ge=8, description="largest chunk, by our own estimate")
    overlap: int = Field(80, ge=0, description="tokens that a chunk repeats of the one before")


class MemorySettings(Section):
    search: SearchSettings = Field(default_factory=SearchSettings, description="how passages are ranked")
    chunking: ChunkingSettings = Field(
        default_factory=ChunkingSettings, description="how files are cut into passages"
    )
    max_file_bytes: PositiveInt = Field(
        8 * 1024 * 1024, description="a larger memory file is reported and not indexed"
    )
