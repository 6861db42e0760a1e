"""Which provider is asked, with which key, where."""

import pytest

from agents.settings import ProviderSettings
from gateway.embedding import NotChosen, Plan, fallback_plan, faults, plan
from memory.embed.providers import PROVIDERS
from memory.settings import SearchSettings

DEFAULTS = {
    "openai": ("text-embedding-3-small", 1536, "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "gemini": (
        "gemini-embedding-001",
        3072,
        "https://generativelanguage.googleapis.com/v1beta",
        "GEMINI_API_KEY",
    ),
    "voyage": ("voyage-4-large", 1024, "https://api.voyageai.com/v1", "VOYAGE_API_KEY"),
    "mistral": ("mistral-embed", 1024, "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepinfra": ("BAAI/bge-m3", 1024, "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    "ollama": ("nomic-embed-text", 768, "http://127.0.0.1:11434", "OLLAMA_API_KEY"),
    "lmstudio": (
        "text-embedding-nomic-embed-text-v1.5",
        768,
        "http://127.0.0.1:1234/v1",
        "LMSTUDIO_API_KEY",
    ),
    "github-copilot": ("text-embedding-3-small", 1536, None, "COPILOT_GITHUB_TOKEN"),
    "bedrock": ("amazon.titan-embed-text-v2:0", 1024, None, None),
}


EYES = {"enabled": True}
SEEING = "gemini-embedding-2"


def search(**keys: object) -> SearchSettings:
    return SearchSettings.model_validate(keys)


def entry(**keys: object) -> ProviderSettings:
    return ProviderSettings.model_validate(keys)


def key_of(made: Plan) -> str | None:
    return made.key.get_secret_value() if made.key else None


@pytest.mark.parametrize("name", DEFAULTS)
def test_every_provider_has_its_defaults(name: str) -> None:
    model, dims, address, variable = DEFAULTS[name]
    environ = {variable: "key-of-it"} if variable else {}
    made = plan(search(provider=name), {}, environ)
    assert (made.model, made.known_dims, made.address) == (model, dims, address)
    assert made.dims is None
    assert key_of(made) == ("key-of-it" if variable else None)


def test_no_provider_is_forgotten() -> None:
    assert DEFAULTS.keys() | {"openai-compatible"} == PROVIDERS.keys()


@pytest.mark.parametrize(
    ("name", "query", "batch", "at_once"),
    [("openai", 60, 120, 4), ("ollama", 300, 600, 1), ("lmstudio", 300, 600, 1)],
)
def test_servers_of_ones_own_get_more_patience(name: str, query: float, batch: float, at_once: int) -> None:
    made = plan(search(provider=name), {}, {})
    assert (made.query_seconds, made.batch_seconds, made.concurrency) == (query, batch, at_once)
    hurried = search(
        provider=name,
        query_timeout_seconds=5,
        sync={"embedding_batch_timeout_seconds": 7},
        batch={"concurrency": 9, "max_texts": 3, "max_chars": 11},
    )
    made = plan(hurried, {}, {})
    assert (made.query_seconds, made.batch_seconds, made.concurrency) == (5, 7, 9)
    assert (made.max_texts, made.max_chars) == (3, 11)


def test_the_own_key_comes_before_that_of_the_chat_models_and_the_environment() -> None:
    providers = {"openai": entry(api_key="of-chat")}
    environ = {"OPENAI_API_KEY": "of-environ"}
    assert key_of(plan(search(provider="openai", api_key="own"), providers, environ)) == "own"
    assert key_of(plan(search(provider="openai"), providers, environ)) == "of-chat"
    assert key_of(plan(search(provider="openai"), {}, environ)) == "of-environ"
    assert key_of(plan(search(provider="openai"), {}, {"OPENAI_API_KEY": "  "})) is None


def test_a_key_goes_to_the_address_it_was_given_for() -> None:
    providers = {"openai": entry(api_key="of-proxy", base_url="https://proxy.example/v1")}
    made = plan(search(provider="openai"), providers, {})
    assert (key_of(made), made.address) == ("of-proxy", "https://proxy.example/v1")
    moved = plan(search(provider="openai", base_url="https://else.example/v1"), providers, {})
    assert key_of(moved) is None


@pytest.mark.parametrize(
    ("name", "given", "used"),
    [
        ("ollama", "http://box:11434/v1", "http://box:11434"),
        ("ollama", "http://box:11434/", "http://box:11434"),
        ("gemini", "https://g.example/v1beta/openai", "https://g.example/v1beta"),
        ("openai", "https://o.example/v1/", "https://o.example/v1"),
    ],
)
def test_addresses_of_chat_models_lead_to_the_embeddings_beside_them(
    name: str, given: str, used: str
) -> None:
    assert plan(search(provider=name), {name: entry(base_url=given)}, {}).address == used


@pytest.mark.parametrize(
    ("keys", "version"),
    [
        ({"provider": "openai"}, "1"),
        ({"provider": "openai", "query_input_type": "x"}, "1"),
        ({"provider": "openai", "document_input_type": "passage"}, "1 document=passage"),
        ({"provider": "voyage"}, "1"),
    ],
)
def test_the_version_tells_what_changes_the_vectors_of_notes(keys: dict[str, object], version: str) -> None:
    assert plan(search(**keys), {}, {}).version == version


def test_servers_of_any_kind_are_told_apart_by_their_address() -> None:
    made = [
        plan(search(provider="openai-compatible", model="m", base_url=f"http://{host}/v1"), {}, {}).version
        for host in ("one", "two", "one")
    ]
    assert made[0] == made[2] != made[1]


def test_dimensions_are_asked_for_when_they_are_not_the_models_own() -> None:
    assert plan(search(provider="openai", dimensions=1536), {}, {}).dims is None
    small = plan(search(provider="openai", dimensions=512), {}, {})
    assert (small.dims, small.known_dims) == (512, 512)


def test_the_scale_can_be_set_by_each_end() -> None:
    made = plan(search(provider="openai", floor=0.2), {}, {})
    assert (made.floor, made.ceiling) == (0.2, 0.55)


def test_a_fallback_takes_nothing_of_the_primarys_settings() -> None:
    settings = search(provider="openai", fallback="mistral", model="text-embedding-3-large", api_key="own")
    made = fallback_plan(settings, {"mistral": entry(api_key="of-chat")}, {})
    assert (made.model, key_of(made)) == ("mistral-embed", "of-chat")


def test_any_provider_with_an_embedding_api_can_be_named() -> None:
    providers = {"gpu-box": entry(base_url="http://10.0.0.7:11434/v1", embedding_api="ollama")}
    made = plan(search(provider="gpu-box", model="bge-m3"), providers, {"GPU_BOX_API_KEY": "k"})
    assert (made.wire, made.model, made.address, key_of(made)) == (
        "ollama",
        "bge-m3",
        "http://10.0.0.7:11434",
        "k",
    )


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"provider": "opnai"}, "memory.search.provider: 'opnai' is not one of"),
        ({"provider": "chatty"}, "set models.providers.chatty.embedding_api"),
        ({"provider": "openai-compatible"}, "set memory.search.model"),
        ({"provider": "openai-compatible", "model": "m"}, "set memory.search.base_url"),
        ({"provider": "proxy"}, "set memory.search.model"),
        ({"provider": "openai", "fallback": "proxy"}, "set models.providers.proxy.embedding_model"),
        ({"provider": "openai", "fallback": "openai"}, "is the provider itself"),
        ({"fallback": "local"}, "is the provider itself"),
        ({"provider": "openai", "fallback": "none"}, "leave it out"),
        ({"provider": "openai", "floor": 0.6}, "must lie below the ceiling"),
        ({"floor": 0.5, "ceiling": 0.5}, "must lie below memory.search.ceiling"),
        ({"multimodal": EYES}, "memory.search.provider: gemini"),
        ({"provider": "gemini", "multimodal": EYES}, "memory.search.model: gemini-embedding-2"),
        (
            {"provider": "gemini", "model": SEEING, "multimodal": EYES, "fallback": "local"},
            "would not see pictures",
        ),
    ],
)
def test_what_cannot_be_asked_is_told_with_its_key(keys: dict[str, object], said: str) -> None:
    providers = {
        "chatty": entry(base_url="https://chat.example"),
        "proxy": entry(base_url="https://proxy.example/v1", embedding_api="openai"),
    }
    (fault,) = faults(search(**keys), providers)
    assert fault.startswith("memory.search.")
    assert said in fault


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"provider": "auto"},
        {"provider": "none"},
        {"provider": "openai", "fallback": "local"},
        {"provider": "gemini", "model": SEEING, "multimodal": EYES},
    ],
)
def test_what_can_be_asked_has_no_fault(keys: dict[str, object]) -> None:
    assert list(faults(search(**keys), {})) == []


def test_an_unknown_name_is_not_chosen() -> None:
    with pytest.raises(NotChosen, match="openai-compatible"):
        plan(search(provider="nobody"), {}, {})
