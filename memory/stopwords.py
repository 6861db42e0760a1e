"""Words that carry no meaning of their own, by language, with and without their accents."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ENGLISH = _set(
    """
    a about after again all also am an and any are as at be because been before being between both
    but by can could d did do does doing don down each few for from further get got had has have
    having he her here hers him his how i if in into is isn it its itself just let ll m me more most
    my no nor not now of off on once only or other our ours out over own please re s same she should
    so some such t tell than that the their theirs them then there these they this those through to
    too up us ve very was we were what when where which while who whom whose why will with would you
    your yours
    """
)
PORTUGUESE = _set(
    """
    a ao aos aquela aquele aquilo as ate até com como da das de dela dele deles depois do dos e é
    ela elas ele eles em entre era essa esse esta está estao estão estar estava este eu foi foram ha
    há isso isto ja já lhe mais mas me mesmo meu meus minha minhas muito na nao não nas nem no nos
    nossa nosso num numa o onde os ou para pela pelo por porque qual quais quando quanto que quem
    sao são se sem ser seu seus so só sobre sua suas tambem também te tem ter teu tu tua um uma voce
    você voces vocês vos
    """
)
SPANISH = _set(
    """
    a al algo ante antes como cómo con contra cual cuál cuales cuáles cuando cuándo cuanto cuánto de
    del desde donde dónde e el él ella ellas ellos en entre era eres es esa ese eso esta está estaba
    estan están estar este esto estos fue ha han hasta hay la las le les lo los mas más me mi mis
    mucho muy nada ni no nos nosotros o os otra otro para pero poco por porque que qué quien quién
    se ser si sí sin sobre son soy su sus tambien también te tiene tu tus un una uno y ya yo
    """
)
STOP_WORDS = {"english": ENGLISH, "portuguese": PORTUGUESE, "spanish": SPANISH}

# Characters that Chinese, Japanese and Korean build their grammar with; a pair that holds one tells little.
GRAMMAR = frozenset(
    "的了吗呢吧我你他她它们什么是在有和与也都这那哪个几谁怎のはがをにへとでもかだですまたるい은는이가을를의에"
)
