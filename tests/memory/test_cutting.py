"""What an index takes in of a note."""

from memory.cutting import new_chunks
from memory.settings import ChunkingSettings
from memory.words import Analyzer


def words_of(path: str, text: str) -> set[str]:
    (new,) = new_chunks(text, path=path, settings=ChunkingSettings(), analyzer=Analyzer())
    return {form for forms in new.words for form in forms}


def test_name_day_and_text_are_among_the_words() -> None:
    words = words_of("memory/2026-01-05-budget.md", "We saved a little.")
    assert {"2026", "01", "05", "budget", "saved"} <= words


def test_the_name_of_a_conversation_is_no_word() -> None:
    assert "4711" not in words_of("sessions/4711.jsonl", "We saved a little.")


def test_headings_are_words_of_the_chunks_below_them() -> None:
    text = "# Lighthouse\n\n" + "\n".join(f"line {number} of some text" for number in range(200))
    chunks = new_chunks(text, path="memory/a.md", settings=ChunkingSettings(), analyzer=Analyzer())
    assert len(chunks) > 1
    assert all(("lighthouse", "lighthous") in new.words for new in chunks)
    assert all(("lighthouse", "lighthous") in words for new in chunks for _, words in new.passages)


def test_a_blank_note_has_no_chunks() -> None:
    assert new_chunks(" \n\n", path="memory/a.md", settings=ChunkingSettings(), analyzer=Analyzer()) == []
