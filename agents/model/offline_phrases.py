"""What the offline assistant understands and says, in English, Portuguese and Spanish."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["en", "pt", "es"]
Intent: TypeAlias = Literal["note", "question", "hello"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    hello: str
    noted: str
    found: str
    uncertain: str
    nothing: str
    failed: str
    connect: str


PHRASES: dict[Language, Phrases] = {
    "en": Phrases(
        hello='No language model is connected, so I cannot chat. I can keep notes ("remember that …") and '
        "answer questions by looking them up in your notes.",
        noted="Noted in `{path}`.",
        found="This is what your notes say:",
        uncertain="Nothing in your notes clearly answers that. The nearest passages, which may be unrelated:",
        nothing="I found nothing about that in your notes.",
        failed="That did not work:",
        connect="*No model is connected: set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` and restart, or see "
        "`clawd models`.*",
    ),
    "pt": Phrases(
        hello="Nenhum modelo de linguagem está ligado, por isso não consigo conversar. Posso tomar notas "
        '("lembre que …") e responder a perguntas procurando nas suas notas.',
        noted="Anotado em `{path}`.",
        found="É isto que as suas notas dizem:",
        uncertain="Nada nas suas notas responde claramente. Os trechos mais próximos, talvez sem relação:",
        nothing="Não encontrei nada sobre isso nas suas notas.",
        failed="Não funcionou:",
        connect="*Nenhum modelo ligado: defina `ANTHROPIC_API_KEY` ou `OPENAI_API_KEY` e reinicie, ou veja "
        "`clawd models`.*",
    ),
    "es": Phrases(
        hello="No hay ningún modelo de lenguaje conectado, así que no puedo conversar. Puedo tomar notas "
        '("recuerda que …") y responder preguntas buscando en tus notas.',
        noted="Anotado en `{path}`.",
        found="Esto es lo que dicen tus notas:",
        uncertain="Nada en tus notas lo responde claramente. Los pasajes más cercanos, quizá sin relación:",
        nothing="No encontré nada sobre eso en tus notas.",
        failed="No funcionó:",
        connect="*Ningún modelo conectado: define `ANTHROPIC_API_KEY` o `OPENAI_API_KEY` y reinicia, o mira "
        "`clawd models`.*",
    ),
}

_NOTE: dict[Language, str] = {
    "en": r"(?:please[, ]+|can you |could you )?"
    r"(?:remember|note(?: down)?|write down|don'?t forget|keep in mind|make a note)"
    r"(?: for me)?(?:,? (?:that|this|of this))?",
    "pt": r"(?:por favor[, ]+)?"
    r"(?:lembre(?:-se)?|lembra(?:-te)?|anot[ae]|regist[ae]|guard[ae]|n[aã]o (?:te )?esque[cç]as?|toma nota)"
    r"(?: de)?(?:,? (?:que|isto|isso|a[ií]))?",
    "es": r"(?:por favor[, ]+)?"
    r"(?:recuerd[ae]|acu[eé]rdate(?: de)?|an[oó]ta|apunta|toma nota(?: de)?|no olvides)"
    r"(?:,? (?:que|esto|de que))?",
}
_ASK: dict[Language, str] = {
    "en": r"what|when|where|who|whom|whose|which|why|how|is|are|was|were|do|does|did|can|could|should|will|"
    r"would|have|has|had|am|tell me|show me|find|search|look up|list|remind me|any",
    "pt": r"o que|qual|quais|quando|onde|aonde|quem|por ?que|porqu[eê]|como|quantos?|quantas?|que|procur[ae]|"
    r"busc[ae]|mostr[ae]|diz-me|me diga|encontr[ae]|lembras-te|voc[eê] lembra|ser[aá] que",
    "es": r"qu[eé]|cu[aá]l(?:es)?|cu[aá]ndo|d[oó]nde|qui[eé]n(?:es)?|por qu[eé]|c[oó]mo|cu[aá]nt[oa]s?|"
    r"busca|mu[eé]strame|dime|encuentra|te acuerdas",
}
_HELLO = (
    r"(?:hi|hello|hey|good (?:morning|evening|afternoon|night)|thanks?|thank you|ok(?:ay)?|help|test|"
    r"ol[aá]|oi|bom dia|boa (?:tarde|noite)|obrigad[oa]|hola|buen(?:os|as) (?:d[ií]as|tardes|noches)|gracias)"
    r"\b[\s!.,]*"
)
_STATEMENT = (
    r"\b(?:i|i'm|i've|i'll|we|we're|he|she|they|is|are|was|were|will|has|have|moved|decided|"
    r"eu|n[oó]s|é|s[aã]o|foi|est[aá]|tem|temos|vai|ser[aá]|decidi(?:mos)?|"
    r"yo|nosotros|es|son|fue|est[aá]n?|tiene|tenemos|decidimos)\b"
)
_MARKS: dict[Language, str] = {
    "pt": r"\b(?:o|os|um|uma|do|da|dos|das|não|nao|é|meu|minha|você|eu|em|qual|quando|onde|quem|"
    r"lembre|lembra|anote|que|está|são|foi|com|para|isso|isto)\b|[ãõ]",
    "es": r"\b(?:el|los|las|un|una|del|es|mi|mis|tu|yo|usted|en|cuál|cuándo|dónde|quién|recuerda|anota|"
    r"apunta|que|está|son|fue|con|para|esto|eso|qué)\b|[ñ¿¡]",
    "en": r"\b(?:the|a|an|is|are|my|i|you|of|in|to|what|when|where|who|that|remember|it|and|for|did)\b",
}


def language(text: str) -> Language:
    """The likelier of the three by its commonest words; English when none stands out."""
    lowered = text.lower()
    counts: dict[Language, int] = {code: len(re.findall(marks, lowered)) for code, marks in _MARKS.items()}
    best: Language = max(("en", "pt", "es"), key=lambda code: counts[code])
    return best


def intent(text: str) -> tuple[Intent, str]:
    """What the person wants, and the part of the text that it is about.

    A text that asks to remember is a note; one that asks is a question; of the rest, what reads like a
    statement is noted rather than lost, and bare words are looked up.
    """
    question = text.rstrip().endswith(("?", "\uff1f"))
    for pattern in _NOTE.values():
        told = re.match(
            rf"(?:{pattern})\b[\s:,\u2013\u2014-]+(?P<fact>\S.*)", text, re.IGNORECASE | re.DOTALL
        )
        if told and not question:
            return "note", told["fact"].strip()
    if not text or re.fullmatch(_HELLO, text, re.IGNORECASE):
        return "hello", text
    asks = any(re.match(rf"[¿\s]*(?:{words})\b", text, re.IGNORECASE) for words in _ASK.values())
    if question or asks:
        return "question", text
    statement = len(text.split()) >= 3 and re.search(_STATEMENT, text, re.IGNORECASE)
    return ("note", text) if statement else ("question", text)
