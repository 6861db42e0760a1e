"""The words of a text as the keyword index knows them: folded, unaccented, stemmed; CJK by pairs."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from memory.stopwords import GRAMMAR, STOP_WORDS

WORDS = "1"  # part of an index's identity: raise it whenever the same text would give other words

_CJK = (
    "\u1100-\u11ff\u3005\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff"
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}](?:[^\W_{_CJK}]|[{_MARKS}])*")
_CJK_START = re.compile(f"[{_CJK}]")
# Snowball's Portuguese leaves reunião and reuniões apart.
_PLURAL = re.compile("(?:õe|ãe|oe)s$")
_ACCENTS = re.compile("[\u0300-\u036f]")


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a question: any of its `forms` in a text is a match.

    `common` marks stop words and CJK pairs with grammar in them, which count only when nothing else is there.
    """

    forms: frozenset[str]
    common: bool


class Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 (Snowball's name)


class Analyzer:
    """Texts to words and questions to terms. It remembers stems, and is for one thread at a time."""

    def __init__(self, *, most_remembered: int = 50_000) -> None:
        self._most_remembered = most_remembered
        self._stemmers: dict[str, Stemmer] = {}
        self._known: dict[str, dict[str, tuple[str, ...]]] = {language: {} for language in STOP_WORDS}

    def words(self, text: str) -> list[tuple[str, ...]]:
        """For each word of a text, in order, the forms it is found under: itself, and its stem if another.

        The stem is that of the language whose stop words are the most frequent in the text.
        """
        tokens = _tokens(text)
        language = _language(tokens)
        forms = self._known[language]
        found: list[tuple[str, ...]] = []
        for token in tokens:
            known = forms.get(token)
            if known is not None:
                found.append(known)
            elif _CJK_START.match(token):
                found.extend((part,) for part in (*_pairs(token), *token))
            else:
                found.append(self._learn(token, language))
        return found

    def terms(self, question: str, *, most: int = 32) -> list[Term]:
        """The different words of a question, at most `most`; common ones only when there are no others."""
        tokens = _tokens(question)
        common = STOP_WORDS[_language(tokens)]
        terms: dict[frozenset[str], Term] = {}
        for token in tokens:
            for term in self._terms_of(token, common):
                terms.setdefault(term.forms, term)
        telling = [term for term in terms.values() if not term.common]
        return (telling or list(terms.values()))[:most]

    def _terms_of(self, token: str, common: frozenset[str]) -> Iterator[Term]:
        if _CJK_START.match(token):
            for part in _pairs(token) if len(token) > 1 else (token,):
                yield Term(frozenset({part}), common=not GRAMMAR.isdisjoint(part))
            return
        plain = _folded(token)
        stems = (self._known[language].get(token) or self._learn(token, language) for language in STOP_WORDS)
        forms = frozenset(form for known in stems for form in known)
        yield Term(forms, common=plain in common)

    def _learn(self, token: str, language: str) -> tuple[str, ...]:
        known = self._known[language]
        if len(known) >= self._most_remembered:
            known.clear()
        plain = _folded(token)
        stem = self._stem(token, language)
        known[token] = (plain,) if stem == plain else (plain, stem)
        return known[token]

    def _stem(self, token: str, language: str) -> str:
        plain = _folded(token)
        if not plain.isalpha():
            return plain
        word = _PLURAL.sub("ão", token) if language == "portuguese" else token
        stem = _folded(self._stemmer(language).stemWord(word))
        return stem if len(stem) >= 3 else plain

    def _stemmer(self, language: str) -> Stemmer:
        # The library imports all of its languages at once, which a start need not wait for.
        if language not in self._stemmers:
            from snowballstemmer import stemmer  # type: ignore[import-untyped]  # noqa: PLC0415

            self._stemmers[language] = stemmer(language)
        return self._stemmers[language]


def has_words(text: str) -> bool:
    """Whether a text has anything that can be searched for: a letter, a digit or a pictograph."""
    return any(
        unicodedata.category(character)[0] in "LN" or unicodedata.category(character) == "So"
        for character in text
    )


def _tokens(text: str) -> list[str]:
    """Words in their accents, case folded; a run of CJK characters is one."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def _folded(token: str) -> str:
    if token.isascii():
        return token
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", token))
    return unicodedata.normalize("NFC", bare)


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _language(tokens: list[str]) -> str:
    """The language whose stop words are the most frequent; English when none are."""
    counts = {name: sum(map(words.__contains__, tokens)) for name, words in STOP_WORDS.items()}
    return max(counts, key=lambda name: counts[name])
