"""Words: what counts as the same word, and what a question is made of."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.stopwords import STOP_WORDS
from memory.words import Analyzer, has_words


def found(question: str, text: str) -> list[bool]:
    """For each term of the question, whether the text has it."""
    analyzer = Analyzer()
    forms = {form for word in analyzer.words(text) for form in word}
    return [not term.forms.isdisjoint(forms) for term in analyzer.terms(question)]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("configuracao", "A configuração do servidor"),
        ("CONFIGURAÇÃO", "configuracao"),
        ("reuniões", "A reunião é na quarta"),
        ("running", "She runs every morning"),
        ("databases", "the database was moved"),
        ("fornecedor", "lista de fornecedores"),
        ("canciones", "una canción de mi hija"),
        ("STRASSE", "Die Straße"),
        ("数据库", "我们决定使用 PostgreSQL 数据库"),
        ("ﾗｰﾒﾝ", "東京でラーメンを食べた"),
        ("fullwidth", "\uff46\uff55\uff4c\uff4c\uff57\uff49\uff44\uff54\uff48"),
        ("3.40.1", "version 3.40.1 pinned"),
    ],
)
def test_b16_words_are_found_through_case_accents_endings_and_scripts(question: str, text: str) -> None:
    assert found(question, text) == [True] * len(found(question, text)) != []


def test_different_words_stay_different() -> None:
    assert found("garden", "the guard was warden") == [False]
    assert found("成语接龙", "怀孕检查改到周五") == [False] * 3


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is the name of my son?", {"name", "son"}),
        ("Qual é o nome do meu filho?", {"nome", "filho"}),
        ("¿Cuál es el nombre de mi hijo?", {"nombre", "hijo"}),
        ("who is it", {"who", "is", "it"}),
        ("", set()),
        ("?!", set()),
    ],
)
def test_stop_words_go_when_others_remain(question: str, words: set[str]) -> None:
    terms = Analyzer().terms(question)
    assert len(terms) == len(words)
    assert {form for term in terms for form in term.forms} >= words


def test_a_question_has_a_largest_number_of_terms() -> None:
    assert len(Analyzer().terms(" ".join(f"w{i}" for i in range(1000)), most=32)) == 32


def test_a_pair_with_grammar_in_it_goes_when_others_remain() -> None:
    terms = Analyzer().terms("我们的数据库")
    assert {form for term in terms for form in term.forms} == {"数据", "据库"}


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_forms_are_safe_between_quotes_and_a_text_has_its_own_words(text: str) -> None:
    terms = Analyzer().terms(text)
    for term in terms:
        for form in term.forms:
            assert not re.search(r"[\s\"'\x00*()^:-]", form)
    assert found(text, text) == [True] * len(terms)


@pytest.mark.parametrize("text", ["", "   ", '"', "*", "-", "(", "?!", "\0", "^", ":", "''"])
def test_b06_signs_are_no_words(text: str) -> None:
    assert not has_words(text)


@pytest.mark.parametrize("text", ["a", "7", "語", "- x -", "🎉"])
def test_letters_digits_and_pictographs_are_words(text: str) -> None:
    assert has_words(text)


def test_stop_words_are_written_as_questions_are_compared() -> None:
    for words in STOP_WORDS.values():
        assert all(word == word.casefold() and " " not in word for word in words)


def test_forgetting_stems_changes_nothing() -> None:
    analyzer = Analyzer(most_remembered=2)
    text = "runs running walks walking talks"
    assert analyzer.words(text) == analyzer.words(text) == Analyzer().words(text)
