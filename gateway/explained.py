"""How a hit came to its place, as JSON and back, and as the rows of a table."""

from typing import Literal

from memory.hybrid import HitParts, LevelParts, SearchHit
from sessions.messages import Json, JsonObject

COLUMNS = ("leg", "cosine", "calibrated", "BM25", "text score", "fused", "decay", "mmr", "score")


def parts_json(parts: HitParts) -> JsonObject:
    return {
        "leg": parts.leg,
        "floor": parts.floor,
        "ceiling": parts.ceiling,
        "passage": _level_json(parts.passage),
        "chunk": _level_json(parts.chunk),
        "fused": round(parts.fused, 4),
        "decay": round(parts.decay, 4),
        "mmr": _rounded(parts.mmr),
    }


def parts_of(data: JsonObject) -> HitParts | None:
    """The inverse; None for what is no explanation."""
    passage, chunk = data.get("passage"), data.get("chunk")
    if not isinstance(passage, dict) or not isinstance(chunk, dict):
        return None
    return HitParts(
        leg=_leg(data.get("leg")),
        floor=_number(data.get("floor")),
        ceiling=_number(data.get("ceiling")),
        passage=_level(passage),
        chunk=_level(chunk),
        fused=_number(data.get("fused")) or 0.0,
        decay=_number(data.get("decay")) or 0.0,
        mmr=_number(data.get("mmr")),
    )


def table_row(hit: SearchHit) -> tuple[str, ...]:
    """In the order of COLUMNS; "a / b" are the passage's value and that of the chunk it belongs to."""
    parts = hit.parts
    if parts is None:
        return ("",) * (len(COLUMNS) - 1) + (f"{hit.score:.3f}",)
    passage, chunk = parts.passage, parts.chunk
    return (
        parts.leg,
        _both(passage.cosine, chunk.cosine),
        _both(passage.calibrated, chunk.calibrated),
        _both(passage.bm25, chunk.bm25, digits=1),
        _both(passage.text_score, chunk.text_score),
        f"{parts.fused:.3f}",
        f"{parts.decay:.2f}",
        _said(parts.mmr),
        f"{hit.score:.3f}",
    )


def _both(passage: float | None, chunk: float | None, *, digits: int = 2) -> str:
    return f"{_said(passage, digits=digits)} / {_said(chunk, digits=digits)}"


def _said(value: float | None, *, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _level_json(level: LevelParts) -> Json:
    return {
        "cosine": _rounded(level.cosine),
        "calibrated": _rounded(level.calibrated),
        "bm25": _rounded(level.bm25),
        "text_score": _rounded(level.text_score),
    }


def _level(data: JsonObject) -> LevelParts:
    return LevelParts(
        cosine=_number(data.get("cosine")),
        calibrated=_number(data.get("calibrated")),
        bm25=_number(data.get("bm25")) or 0.0,
        text_score=_number(data.get("text_score")) or 0.0,
    )


def _leg(value: Json) -> Literal["name", "meaning", "words", "both"]:
    if value == "name":
        return "name"
    if value == "meaning":
        return "meaning"
    return "words" if value == "words" else "both"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
