"""What holds of any text, as one function of bytes: for a fuzzer that looks for bytes of which it does not.

With atheris: `atheris.instrument_all(); atheris.Setup(sys.argv, one_input); atheris.Fuzz()`.
"""

from channels.text import growing, pieces, plain
from tests.channels.text.showing import MARKUPS, traits
from tests.fakes.telegram_html import parse, units

LIMITS = (40, 64, 333, 2000, 4096)


def one_input(data: bytes) -> None:
    """The first two bytes choose the platform and the limit, the rest is the text."""
    head, markdown = data[:2].ljust(2, b"\0"), data[2:].decode("utf-8", "replace")
    markup, limit = MARKUPS[head[0] % len(MARKUPS)], LIMITS[head[1] % len(LIMITS)]
    to = traits(markup, limit, soft_lines=17, tables="list" if head[0] & 16 else "code")
    for piece in [*pieces(markdown, to), *growing(markdown, to)]:
        assert units(piece.text) <= limit
        assert units(piece.plain) <= limit
        assert piece.plain.strip()
        if markup == "telegram":
            assert parse(piece.text)[0].strip()
    plain(markdown)
