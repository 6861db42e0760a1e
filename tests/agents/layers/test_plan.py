"""What leaves a file of layer 1, in which order, and what stays in its place."""

from agents.layers.budget import tokens
from agents.layers.plan import FilePlan, plan


def planned(
    text: str, *, budget: int, shelf: dict[str, str | None] | None = None
) -> tuple[FilePlan, dict[str, str]]:
    """The plan for MEMORY.md alone, and the files below that change."""
    made = plan({"MEMORY.md": text}, shelf or {}, budget=budget)
    changed = {one.path: one.after for one in made.changes if one.path != "MEMORY.md"}
    return made.files[0], changed


def fact(name: str, size: int) -> str:
    """A line of so many characters, its end included."""
    return f"- {name} ".ljust(size - 1, "x") + "\n"


def test_a_file_within_its_budget_stays_as_it_is() -> None:
    text = "# T\n\n## A\n\n" + fact("a", 400)
    exact = tokens(text)

    kept, _ = planned(text, budget=exact)
    trimmed, changed = planned(text, budget=exact - 1)

    assert kept.after == text
    assert kept.moves == ()
    assert trimmed.after == "# T\n\n## A\n\n→ Deep dive: memory/a.md\n"
    assert changed == {"memory/a.md": "# A (from MEMORY.md)\n\n" + fact("a", 400)}


def test_the_largest_section_leaves_first_and_no_more_than_needed() -> None:
    text = "# T\n\n## A\n\n" + fact("a", 200) + "\n## B\n\n" + fact("b", 400) + "\n## C\n\n" + fact("c", 300)

    file, _ = planned(text, budget=150)

    assert [one.title for one in file.moves] == ["B"]
    assert file.after == text.replace(fact("b", 400), "→ Deep dive: memory/b.md\n")
    assert (file.moves[0].first, file.moves[0].last) == (9, 9)


def test_of_equal_sections_the_last_leaves_first() -> None:
    text = "# T\n\n## A\n\n" + fact("a", 400) + "\n## B\n\n" + fact("b", 400)

    assert [one.title for one in planned(text, budget=150)[0].moves] == ["B"]


def test_a_section_takes_what_is_below_it_along() -> None:
    text = "# T\n\n## A\n\n### One\n\n" + fact("a", 300) + "\n### Two\n\n" + fact("b", 300)

    _, changed = planned(text, budget=50)

    assert changed["memory/a.md"] == "# A (from MEMORY.md)\n\n" + text.partition("## A\n\n")[2]


def test_a_long_section_goes_to_reference() -> None:
    file, changed = planned("# T\n\n## A\n\n" + fact("a", 5000), budget=1000)

    assert file.after.endswith("→ Deep dive: reference/a.md\n")
    assert list(changed) == ["reference/a.md"]


def test_the_introduction_never_leaves_and_the_reason_is_told() -> None:
    text = "# T\n\n" + fact("intro", 800) + "\n## A\n\n" + fact("a", 400)

    file, _ = planned(text, budget=100)

    assert file.after == text.replace(fact("a", 400), "→ Deep dive: memory/a.md\n")
    assert file.why == "what stands before its first section takes 201 tokens: shorten that by hand"


def test_a_file_without_sections_cannot_be_trimmed() -> None:
    file, changed = planned("# T\n\n" + fact("a", 800), budget=100)

    assert file.after == file.before
    assert changed == {}
    assert file.why
    assert "no sections" in file.why


def test_a_section_shorter_than_its_pointer_stays() -> None:
    text = "# T\n\n" + fact("intro", 800) + "\n## A\n\n- a\n"

    assert planned(text, budget=100)[0].after == text


def test_where_pointers_alone_are_too_much_all_sections_go_into_one_file() -> None:
    sections = "".join(f"## Section number {n}\n\n" + fact(str(n), 200) + "\n" for n in range(40))

    file, changed = planned("# T\n\nhello\n\n" + sections, budget=100)

    assert file.after == "# T\n\nhello\n\n→ Deep dive: reference/memory-sections.md\n"
    assert file.why is None
    assert sections.strip() in changed["reference/memory-sections.md"]


def test_pointers_below_a_heading_stay_and_what_came_since_is_added_to_the_same_file() -> None:
    text = "# T\n\n## A\n\n→ Mergulho profundo: memory/a.md\n\n" + fact("new", 400)

    file, changed = planned(text, budget=50, shelf={"memory/a.md": "# A\n\n- old\n"})

    assert file.after == "# T\n\n## A\n\n→ Mergulho profundo: memory/a.md\n"
    assert changed == {"memory/a.md": "# A\n\n- old\n\n## A (from MEMORY.md)\n\n" + fact("new", 400)}


def test_sections_of_the_same_name_in_two_files_share_a_topic_file() -> None:
    text = "# T\n\n## Safety\n\n" + fact("x", 400)

    made = plan({"AGENTS.md": text, "TOOLS.md": text.replace("x", "y")}, {}, budget=50)

    assert [(one.path, one.before) for one in made.changes][2:] == [("memory/safety.md", None)]
    assert [one.moves[0].new for one in made.files] == [True, False]
    assert "from AGENTS.md" in made.changes[2].after
    assert "from TOOLS.md" in made.changes[2].after


def test_line_ends_of_the_file_are_kept() -> None:
    text = "# T\r\n\r\n## A\r\n\r\n" + fact("a", 400).replace("\n", "\r\n") + "\r\n## B\r\n"

    assert planned(text, budget=50)[0].after == (
        "# T\r\n\r\n## A\r\n\r\n→ Deep dive: memory/a.md\r\n\r\n## B\r\n"
    )


def test_bootstrap_is_never_planned() -> None:
    assert plan({"BOOTSTRAP.md": "# T\n## A\n" + fact("a", 9000)}, {}).files == ()
