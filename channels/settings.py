"""Settings of the channels section."""

from pydantic import BaseModel, ConfigDict, Field


class ConsoleSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    markdown: bool = Field(True, description="render Markdown in the terminal chat")
    show_tools: bool = Field(True, description="show a line for each tool that runs")


class ChannelsSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    console: ConsoleSettings = Field(
        default_factory=ConsoleSettings, description="the terminal, `clawd chat`"
    )
