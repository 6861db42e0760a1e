"""Folders as lines of text: sorted, with sizes, never through a link and never without end."""

from pathlib import Path

from agents.paths import Confined
from agents.tools.listing import MOST_ENTRIES, describe, entries


def listed(root: Path, *, path: str = ".", depth: int = 1, forbidden: tuple[Path, ...] = ()) -> str:
    paths = Confined(root, forbidden=forbidden)
    with paths.locate(path) as place:
        return describe(entries(paths, place, depth=depth), folder=place.shown)


def test_entries_are_sorted_with_sizes_and_folders_before_what_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "b.md").write_text("12345")
    (tmp_path / "memory" / "a.md").write_text("")
    (tmp_path / "z.md").write_text("1")
    (tmp_path / "A.md").write_text("1")

    assert listed(tmp_path) == "A.md  1\nmemory/\nz.md  1"
    assert listed(tmp_path, depth=2) == "A.md  1\nmemory/\nmemory/a.md  0\nmemory/b.md  5\nz.md  1"
    assert listed(tmp_path, path="memory") == "a.md  0\nb.md  5"


def test_links_are_shown_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("")
    (tmp_path / "work" / "out").symlink_to("../secret")

    assert listed(tmp_path / "work", depth=5) == "out -> ../secret"


def test_a_folder_that_is_closed_is_named_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "home" / "credentials").mkdir(parents=True)

    assert listed(tmp_path, depth=5, forbidden=(tmp_path / "home",)) == "home/"


def test_repositories_are_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / ".git" / "objects").mkdir(parents=True)

    assert listed(tmp_path, depth=3) == ".git/"


def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    assert listed(tmp_path) == ". is empty."


def test_names_stay_on_their_line_and_are_text(tmp_path: Path) -> None:
    (tmp_path / "a\nb").write_text("")
    (tmp_path / "\udcff").write_text("")

    assert listed(tmp_path) == "a\\nb  0\n\ufffd  0"


def test_a_long_list_ends_and_says_so(tmp_path: Path) -> None:
    for number in range(MOST_ENTRIES + 1):
        (tmp_path / f"{number:04}").touch()

    lines = listed(tmp_path).splitlines()

    assert len(lines) == MOST_ENTRIES + 1
    assert "only the first 400" in lines[-1]
    (tmp_path / "0000").unlink()
    assert len(listed(tmp_path).splitlines()) == MOST_ENTRIES
