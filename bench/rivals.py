"""Other ways to search the same chunks, as they were described or are usual, with the same local model."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from operator import mul
from typing import TypeAlias

import apsw

from memory.chunks import Chunk
from memory.embed.embedder import Vector
from memory.hybrid import idf, worth
from memory.snippets import best_window
from memory.stopwords import ENGLISH
from memory.words import Analyzer

Ranked: TypeAlias = list[tuple[int, str]]
"""Numbers of chunks, best first, each with the text that is shown of it."""
Procedure: TypeAlias = Callable[[str, Vector], Ranked]

HEAD = 700
CANDIDATES = 24
LEAST = 0.35
VECTOR, TEXT = 0.7, 0.3


class Rivals:
    """Over the chunks of one conversation."""

    def __init__(self, chunks: Sequence[Chunk], vectors: Sequence[Vector]) -> None:
        self.chunks = chunks
        self._vectors = vectors
        self._analyzer = Analyzer()
        self._counts = [Counter(f for word in self._analyzer.words(one.text) for f in word) for one in chunks]
        self._sizes = [len(self._analyzer.words(one.text)) for one in chunks]
        self._having = Counter(form for counts in self._counts for form in counts)
        self._fts = apsw.Connection(":memory:")
        self._fts.execute("CREATE VIRTUAL TABLE f USING fts5(text)")
        self._fts.executemany(
            "INSERT INTO f(rowid, text) VALUES(?, ?)", ((i, one.text) for i, one in enumerate(chunks))
        )

    def january(self, question: str, vector: Vector) -> Ranked:
        """Clawdbot 2026.1: AND of all words, constant text score, raw cosines, minimum 0.35, heads."""
        words = self._match(re.findall(r"[A-Za-z0-9_]+", question), CANDIDATES)
        scores = {i: VECTOR * cosine for i, cosine in self._nearest(vector)}
        for i in words:
            scores[i] = scores.get(i, 0.0) + TEXT
        return self._heads(_above(scores))

    def july(self, question: str, vector: Vector) -> Ranked:
        """OpenClaw 2026.7: a text score by rank; when no chunk has all words, one word after the other."""
        tokens = re.findall(r"\w+", question)
        ranks = self._match(tokens, CANDIDATES)
        if not ranks:
            telling = [word for word in tokens if word.casefold() not in ENGLISH and len(word) > 2]
            for word in telling[:6]:
                for i, rank in self._match([word], CANDIDATES).items():
                    ranks[i] = min(rank, ranks.get(i, 0.0))
        texts = {i: -rank / (1 - rank) if rank < 0 else 1 / (1 + rank) for i, rank in ranks.items()}
        scores = {i: VECTOR * cosine for i, cosine in self._nearest(vector)}
        for i, text in texts.items():
            scores[i] = scores.get(i, 0.0) + TEXT * text
        strict = _above(scores)
        return self._heads(strict or sorted(texts, key=lambda i: -scores[i]))

    def bm25(self, question: str, vector: Vector) -> Ranked:
        """Okapi BM25 of an OR of all words but stop words, stemmed; the best window of the chunk."""
        del vector
        terms = self._analyzer.terms(question)
        having = [max(self._having[form] for form in term.forms) for term in terms]
        weights = [idf(len(self.chunks), count) for count in having]
        mean = sum(self._sizes) / len(self._sizes)
        scores: dict[int, float] = {}
        for i, counts in enumerate(self._counts):
            found = [max(counts[form] for form in term.forms) for term in terms]
            scores[i] = worth(found, weights, words=self._sizes[i], mean_words=mean).bm25

        def weigh(text: str) -> dict[int, float]:
            forms = {form for word in self._analyzer.words(text) for form in word}
            seen = [n for n, term in enumerate(terms) if not forms.isdisjoint(term.forms)]
            return {n: weights[n] for n in seen}

        best = sorted((i for i in scores if scores[i] > 0), key=lambda i: -scores[i])
        return [(i, best_window(self.chunks[i].text, weigh).text) for i in best[:CANDIDATES]]

    def vectors(self, question: str, vector: Vector) -> Ranked:
        """The nearest chunks, whole heads."""
        del question
        return self._heads([i for i, _ in self._nearest(vector)])

    def _nearest(self, vector: Vector) -> list[tuple[int, float]]:
        cosines = ((i, sum(map(mul, one, vector))) for i, one in enumerate(self._vectors))
        return sorted(cosines, key=lambda pair: -pair[1])[:CANDIDATES]

    def _match(self, words: Sequence[str], limit: int) -> dict[int, float]:
        if not words:
            return {}
        match = " AND ".join(f'"{word}"' for word in words)
        rows = self._fts.execute(
            "SELECT rowid, rank FROM f WHERE f MATCH ? ORDER BY rank LIMIT ?", (match, limit)
        )
        return {int(i): float(rank) for i, rank in rows}

    def _heads(self, order: Sequence[int]) -> Ranked:
        return [(i, self.chunks[i].text[:HEAD]) for i in order]


def _above(scores: dict[int, float]) -> list[int]:
    return sorted((i for i in scores if scores[i] >= LEAST), key=lambda i: -scores[i])
