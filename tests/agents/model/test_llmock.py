"""Both wires and the loop against LLMock, a server that none of us wrote, with every fault that it knows."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace

import pytest
from llmock.pytest_plugin import LLMock

from agents.asking import Asker
from agents.loop import Loop
from agents.model import provider
from agents.model.anthropic_messages import AnthropicMessages
from agents.model.cooling import Cooling
from agents.model.failover import Failover, Link
from agents.model.keys import Keys
from agents.model.openai_chat import OpenAIChat
from agents.model.provider import ModelError, ModelProvider, ModelRequest
from sessions.messages import Assistant, Message, Text, ToolResult, User, text_of
from tests.agents.model.talking import answer, anthropic, openai, told
from tests.fakes.protocols import START, FakeClock, FakeTool, turn

Speaker = AnthropicMessages | OpenAIChat


@dataclass(frozen=True, slots=True)
class Wire:
    name: str
    model: str
    make: Callable[..., Speaker]

    def request(self, *messages: Message, tools: tuple[FakeTool, ...] = ()) -> ModelRequest:
        return ModelRequest(
            model=self.model,
            system="You are kind.",
            context="",
            messages=messages or (User(at=START, parts=(Text(text="hello"),)),),
            tools=tuple(tool.spec for tool in tools),
        )


WIRES = [Wire("anthropic", "claude-haiku-5-5", anthropic), Wire("openai", "gpt-5.4-mini", openai)]


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest) -> Wire:
    found: Wire = request.param
    return found


class Speakers:
    """Makes providers that talk to the server; they are closed when the test is over."""

    def __init__(self, llmock: LLMock) -> None:
        self._llmock = llmock
        self.made: list[Speaker] = []

    def __call__(self, wire: Wire, *, timeout: float = 5) -> Speaker:
        base = self._llmock.base_url("anthropic") if wire.name == "anthropic" else self._llmock.url
        self.made.append(wire.make(base, timeout=timeout))
        return self.made[-1]


@pytest.fixture
async def speaker(llmock: LLMock) -> AsyncIterator[Speakers]:
    speakers = Speakers(llmock)
    yield speakers
    for one in speakers.made:
        await one.aclose()


async def test_an_answer_is_streamed_and_counted(llmock: LLMock, speaker: Speakers, wire: Wire) -> None:
    llmock.reply("good morning, and welcome")

    message = await answer(speaker(wire), wire.request())

    assert message.text == "good morning, and welcome"
    assert message.stop == "stop"
    assert message.usage.input > 0
    assert message.usage.output > 0


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, provider.BadRequest),
        (401, provider.AuthFailed),
        (402, provider.QuotaExhausted),
        (403, provider.AuthFailed),
        (404, provider.ModelNotFound),
        (408, provider.TimedOut),
        (413, provider.ContextOverflow),
        (422, provider.BadRequest),
        (429, provider.RateLimited),
        (500, provider.Overloaded),
        (502, provider.Overloaded),
        (503, provider.Overloaded),
        (504, provider.TimedOut),
        (529, provider.Overloaded),
    ],
    ids=str,
)
async def test_each_status_has_its_class(
    llmock: LLMock, speaker: Speakers, wire: Wire, status: int, kind: type[ModelError]
) -> None:
    llmock.fail(status)

    with pytest.raises(ModelError) as raised:
        await told(speaker(wire), wire.request())

    assert type(raised.value) is kind


async def test_a_prompt_that_is_too_long_is_an_overflow(
    llmock: LLMock, speaker: Speakers, wire: Wire
) -> None:
    llmock.context_overflow()

    with pytest.raises(provider.ContextOverflow):
        await told(speaker(wire), wire.request())


async def test_the_window_of_the_server_is_an_overflow_too(
    llmock: LLMock, speaker: Speakers, wire: Wire
) -> None:
    llmock.limits(context_window=50)
    long = User(at=START, parts=(Text(text="many words " * 200),))

    with pytest.raises(provider.ContextOverflow):
        await told(speaker(wire), wire.request(long))


async def test_the_wait_of_a_quota_is_read(llmock: LLMock, speaker: Speakers, wire: Wire) -> None:
    llmock.rate_limit(retry_after=7)

    with pytest.raises(provider.RateLimited) as raised:
        await told(speaker(wire), wire.request())

    assert raised.value.retry_after == 7


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(lambda mock: mock.disconnect(after_chunks=3), provider.Unreachable, id="disconnect"),
        pytest.param(lambda mock: mock.truncate(after_chunks=3), provider.Unreachable, id="truncate"),
        pytest.param(lambda mock: mock.corrupt(after_chunks=3), provider.BadAnswer, id="corrupt"),
        pytest.param(lambda mock: mock.stall(after_chunks=3), provider.TimedOut, id="stall"),
        pytest.param(lambda mock: mock.slow_first_token(30), provider.TimedOut, id="silence"),
    ],
)
async def test_no_broken_stream_is_taken_for_an_answer(
    llmock: LLMock, speaker: Speakers, wire: Wire, fault: Callable[[LLMock], LLMock], kind: type[ModelError]
) -> None:
    fault(llmock)

    with pytest.raises(ModelError) as raised:
        await told(speaker(wire, timeout=0.4), wire.request())

    assert type(raised.value) is kind


@dataclass(slots=True)
class Stage:
    """A loop against the server, with one tool."""

    wire: Wire
    provider: ModelProvider
    tool: FakeTool = field(default_factory=FakeTool)
    recorded: list[Message] = field(default_factory=lambda: [User(at=START, parts=(Text(text="look"),))])
    slept: list[float] = field(default_factory=list)

    async def run(self) -> Assistant:
        loop = Loop(
            provider=self.provider,
            tools={self.tool.name: self.tool},
            request=lambda: self.wire.request(*self.recorded, tools=(self.tool,)),
            record=self._record,
            on_event=lambda _: None,
            clock=FakeClock(),
            max_rounds=6,
            max_retries=3,
            tool_timeout=5,
            sleep=self._sleep,
        )
        return await loop.run(turn())

    async def _record(self, message: Message) -> None:
        self.recorded.append(message)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    @property
    def results(self) -> list[ToolResult]:
        return [message for message in self.recorded if isinstance(message, ToolResult)]


async def test_a_tool_is_called_and_its_result_is_answered(
    llmock: LLMock, speaker: Speakers, wire: Wire
) -> None:
    stage = Stage(wire, speaker(wire))
    llmock.call_tool("look", {}).reply("blue")

    final = await stage.run()

    assert final.text == "blue"
    assert text_of(stage.results[0].parts) == "seen"


@pytest.mark.parametrize(
    ("broken", "told_model"),
    [("malformed_arguments", "no JSON object"), ("unknown_tool", "There is no tool")],
)
async def test_a_broken_call_becomes_a_result_that_the_model_can_act_on(
    llmock: LLMock, speaker: Speakers, wire: Wire, broken: str, told_model: str
) -> None:
    stage = Stage(wire, speaker(wire))
    llmock.call_tool("look", {"where": "at the sky", "how": "slowly"}).reply("sorry").break_tool_call(broken)

    final = await stage.run()

    assert final.text == "sorry"
    assert stage.results[0].is_error
    assert told_model in text_of(stage.results[0].parts)
    assert stage.tool.seen == []


async def test_a_cut_after_a_tool_ran_goes_on_without_running_it_again(
    llmock: LLMock, speaker: Speakers, wire: Wire
) -> None:
    stage = Stage(wire, speaker(wire))
    llmock.tool_mode("off")
    llmock.call_tool("look", {})
    await _first_round(stage)
    llmock.disconnect(after_chunks=2).reply("blue, cut").reply("blue")

    final = await stage.run()

    assert final.text == "blue"
    assert len(stage.tool.seen) == 1
    assert [type(message).__name__ for message in stage.recorded] == [
        "User",
        "Assistant",
        "ToolResult",
        "Assistant",
    ]


async def _first_round(stage: Stage) -> None:
    """Record the call and its result, as a loop does before it asks again."""
    request = stage.wire.request(*stage.recorded, tools=(stage.tool,))
    made = await Asker(provider=stage.provider, max_retries=0).ask(request)
    stage.recorded.append(made)
    for call in made.calls:
        output = await stage.tool.run(call.arguments, turn())
        stage.recorded.append(ToolResult(at=START, call_id=call.id, name=call.name, parts=output.parts))


async def test_the_servers_verdict_on_retries_is_clean(llmock: LLMock, speaker: Speakers, wire: Wire) -> None:
    """With real waits, for it judges them: as long as asked, growing, never for what cannot be mended."""
    llmock.rate_limit(times=1, retry_after=1).fail(503).truncate(after_chunks=2).reply("at last")
    asker = Asker(provider=speaker(wire), max_retries=3)

    message = await asker.ask(wire.request())
    llmock.fail(401)
    with pytest.raises(provider.AuthFailed):
        await asker.ask(replace(wire.request(), system="Other."))

    assert message.stop == "stop"
    llmock.assert_resilient()


async def test_the_other_vendor_answers_while_one_is_out(llmock: LLMock, speaker: Speakers) -> None:
    llmock.outage(provider="anthropic").reply("here I am", provider="openai")
    cooling = Cooling()
    links = [_link(one, speaker(one), cooling) for one in WIRES]
    chain = Failover(links, cooling=cooling, clock=FakeClock())

    message = await Asker(provider=chain, max_retries=0).ask(WIRES[0].request())

    assert (message.provider, message.text) == ("openai", "here I am")
    asked = [record.path for record in llmock.requests]
    assert asked == ["/anthropic/v1/messages", "/v1/chat/completions"]


def _link(wire: Wire, speaker: ModelProvider, cooling: Cooling) -> Link:
    async def opened(_number: int) -> ModelProvider:
        return speaker

    return Link(
        provider=wire.name,
        model=wire.model,
        window=200_000,
        max_output=None,
        spelling=None,
        keys=Keys(provider=wire.name, count=1, cooling=cooling),
        open=opened,
    )
