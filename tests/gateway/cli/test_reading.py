"""`clawd models` of a running gateway: what rests there is shown, with the time and the reason."""

from datetime import UTC, datetime

from gateway.cli.reading import _model_row

UNTIL = datetime(2026, 5, 1, 12, 0, 30, tzinfo=UTC)


def test_a_model_that_rests_shows_from_when_it_is_asked_again() -> None:
    row = _model_row(
        {
            "name": "a/b",
            "usable": True,
            "reason": "rests: rate limited",
            "is_default": True,
            "is_fallback": False,
            "rests_until": UNTIL.isoformat(),
        }
    )

    assert row == ("a/b (default)", f"from {UNTIL.astimezone():%H:%M:%S}", "rests: rate limited")


def test_a_fallback_is_marked() -> None:
    assert _model_row({"name": "a/b", "usable": False, "reason": None, "is_fallback": True}) == (
        "a/b (fallback)",
        "no",
        "",
    )
