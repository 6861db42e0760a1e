"""What is known of models: windows, limits, abilities and list prices, as their vendors publish them.

Sources: platform.claude.com/docs (models overview, each model's page), developers.openai.com/api/docs/models;
read in November 2026. Prices are US dollars for a million tokens.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agents.model.prices import LongPrompt, Price

Thinking: TypeAlias = Literal["switch", "between_tools", "always", "budget", "unknown"]
"""How Anthropic's models take thinking. switch: adaptive or disabled; between_tools: adaptive or only between
tools; always: adaptive, and off means the lowest effort; budget: a number of tokens (models of 2025)."""

Effort: TypeAlias = Literal["plain", "none_with_tools", "never_none"]
"""How OpenAI's chat API takes reasoning. plain: any level or none given; none_with_tools: tools only with
reasoning off; never_none: reasoning cannot be off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Facts about one model."""

    context_window: int
    max_output: int
    price: Price
    vision: bool = True
    thinking: Thinking = "unknown"
    effort: Effort = "plain"


def _claude(
    input_: float, output: float, read: float, thinking: Thinking, long: LongPrompt | None = None
) -> Known:
    price = Price(
        input=input_,
        output=output,
        cache_read=read,
        cache_write=input_ * 1.25,
        cache_write_1h=input_ * 2,
        long=long,
    )
    return Known(context_window=1_000_000, max_output=128_000, price=price, thinking=thinking)


def _gpt(input_: float, output: float, read: float, effort: Effort) -> Known:
    long = LongPrompt(above=272_000, prompt=2, output=1.5)
    price = Price(input=input_, output=output, cache_read=read, cache_write=input_ * 1.25, long=long)
    return Known(context_window=1_050_000, max_output=128_000, price=price, effort=effort)


KNOWN: dict[str, dict[str, Known]] = {
    "anthropic": {
        "claude-sonnet-5-5": _claude(2, 10, 0.2, "between_tools"),
        "claude-opus-5-5": _claude(4, 20, 0.2, "always"),
        "claude-haiku-5-5": _claude(0.1, 0.5, 0.01, "switch", LongPrompt(above=100_000, prompt=5, output=5)),
    },
    "openai": {
        "gpt-6.1-terra": _gpt(1, 5, 0.05, "none_with_tools"),
        "gpt-6-luna": _gpt(0.1, 0.5, 0.01, "none_with_tools"),
        "gpt-6.2-sol": _gpt(2, 10, 0.1, "never_none"),
        "gpt-6.2-astra": _gpt(8, 40, 0.4, "never_none"),
        "gpt-5.4-mini": Known(
            context_window=400_000,
            max_output=128_000,
            price=Price(input=0.75, output=4.5, cache_read=0.075, cache_write=0.75),
            effort="none_with_tools",
        ),
    },
}
