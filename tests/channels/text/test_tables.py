"""Tables: aligned by what is seen, or a list; no cell is left out."""

from channels.text import pieces, plain
from tests.channels.text.showing import traits


def test_columns_stand_below_each_other_also_where_characters_are_wide() -> None:
    assert plain("| name | n |\n|---|--:|\n| 日本 | 5 |\n| é | 10 |") == (
        "name |  n\n-----+---\n日本 |  5\né    | 10"
    )


def test_a_row_with_more_cells_than_the_header_keeps_them() -> None:
    assert plain("|a|\n|-|\n|1|2|") == "a |\n--+--\n1 | 2"
    assert plain("> |a|\n> |-|\n> |1|2|3|").splitlines()[-1] == "> 1 | 2 | 3"


def test_a_table_that_is_too_wide_for_code_becomes_a_list() -> None:
    table = f"|a|b|\n|-|-|\n|{'x ' * 40}|{'y ' * 40}|"
    (piece,) = pieces(table, traits("telegram"))
    assert piece.text.startswith("• a: <b>x x")
    assert "\n  b: y y" in piece.text


def test_a_table_without_rows_shows_its_header() -> None:
    (piece,) = pieces("|a|b|\n|-|-|", traits("whatsapp", tables="list"))
    assert piece.text == "*a* | *b*"


def test_an_address_in_a_cell_stands_behind_its_text() -> None:
    assert "t (https://x.y)" in plain("|a|\n|-|\n|[t](https://x.y)|")
