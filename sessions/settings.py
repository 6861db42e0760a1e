"""Settings of the sessions section."""

from pydantic import BaseModel, ConfigDict, Field, PositiveInt


class SessionsSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    max_line_bytes: PositiveInt = Field(
        64 * 1024 * 1024, description="a longer transcript line stays on disk and is skipped with a warning"
    )
    open_limit: PositiveInt = Field(
        64, description="conversations kept in memory, least recently used out first"
    )
