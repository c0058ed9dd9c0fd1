from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from services.abort import AbortController
from services.compression.service import (
    ChatCompressionService,
    CompressionResult,
    CompressionStatus,
    compression_config_key,
)
from services.hooks.events import HookEvent
from services.hooks.system import HookSystem
from services.model.errors import ModelError
from services.model.generator import ChunkStream, EmbedRequest, LlmRole, ModelRequest
from services.model.utility import UtilityRequest
from services.settings import Settings
from services.workspace import Workspace
from tests.services.sessions import session_at

Turn = dict[str, Any]
SUMMARY = "<state_snapshot>\nGoal: test\n</state_snapshot>"
BEGIN = (
    "Generate a new <state_snapshot> based on the provided history.\n\nFirst, reason in your "
    "scratchpad. Then, generate the updated <state_snapshot>."
)
UPDATE = (
    "A previous <state_snapshot> exists in the history. You MUST integrate all still-relevant "
    "information from that snapshot into the new one, updating it with the more recent events. "
    "Do not lose established constraints or critical knowledge.\n\nFirst, reason in your "
    "scratchpad. Then, generate the updated <state_snapshot>."
)
VERIFY = (
    "Critically evaluate the <state_snapshot> you just generated. Did you omit any specific "
    "technical details, file paths, tool results, or user constraints mentioned in the history? "
    "If anything is missing or could be more precise, generate a FINAL, improved "
    "<state_snapshot>. Otherwise, repeat the exact same <state_snapshot> again."
)
CONTEXT: Turn = {"role": "user", "parts": [{"text": "<session_context>"}]}
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "x"}}


def said(role: str, text: str) -> Turn:
    return {"role": role, "parts": [{"text": text}]}


def output(text: str) -> Turn:
    answer = {"name": "t", "response": {"output": text}}
    return {"role": "user", "parts": [{"functionResponse": answer}]}


def answer(text: str | None) -> dict[str, Any]:
    parts = [] if text is None else [{"text": text}]
    return {"candidates": [{"content": {"role": "model", "parts": parts}}]}


HISTORY = [
    said("user", "first"),
    said("model", "y" * 400),
    said("user", "second"),
    said("model", "z" * 20),
]


class Chat:
    def __init__(self, history: list[Turn], count: int) -> None:
        self.history, self.last_prompt_token_count = history, count
        self.reads = 0

    def curated_history(self) -> list[Turn]:
        self.reads += 1
        return self.history


class AskedModel:
    """Gives its answers in order; counts tokens as given."""

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[UtilityRequest] = []
        self.counted: list[ModelRequest] = []
        self.total = 0

    async def generate_content(self, request: UtilityRequest) -> dict[str, Any]:
        self.requests.append(request)
        given = self.answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return given

    async def generate_json(
        self, request: UtilityRequest, schema: dict[str, Any]
    ) -> dict[str, Any]:
        raise AssertionError("a summary is no JSON")


class Counter:
    def __init__(self, total: int) -> None:
        self.total = total
        self.requests: list[ModelRequest] = []

    async def count_tokens(self, request: ModelRequest) -> dict[str, Any]:
        self.requests.append(request)
        return {"totalTokens": self.total}

    async def generate_content(self, request: ModelRequest) -> dict[str, Any]:
        raise AssertionError("summaries go through the utility client")

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        raise AssertionError("summaries go through the utility client")

    async def embed_content(self, request: EmbedRequest) -> dict[str, Any]:
        raise AssertionError("nothing is embedded here")


class Hooks:
    """Hooks for PreCompress alone."""

    def __init__(self, triggers: list[str]) -> None:
        self._triggers = triggers

    def has_hooks(self, event: HookEvent) -> bool:
        return event is HookEvent.PRE_COMPRESS

    async def pre_compress(self, *, forced: bool) -> None:
        self._triggers.append("manual" if forced else "auto")


class Bench:
    """A service over a model with given answers."""

    def __init__(
        self,
        folder: Path,
        *answers: dict[str, Any] | Exception,
        hook: bool = False,
        threshold: float | None = None,
        total: int = 0,
    ) -> None:
        self.model = AskedModel(*answers)
        self.counter = Counter(total)
        self.triggers: list[str] = []
        self.abort = AbortController()
        session = session_at(
            Workspace(root=folder, home=folder), Settings(compression_threshold=threshold)
        )
        self.state = session.state
        self.service = ChatCompressionService(
            replace(session, content_generator=self.counter),
            model=self.model,
            session_context=lambda: CONTEXT,
            max_chars=lambda: 100,
            hooks=cast("HookSystem", Hooks(self.triggers)) if hook else None,
        )

    async def compress(
        self, chat: Chat, *, force: bool = False, model: str = "gemini-2.5-pro"
    ) -> CompressionResult:
        return await self.service.compress(
            chat, "p", model=model, signal=self.abort.signal, force=force
        )


def figures(result: CompressionResult) -> tuple[CompressionStatus, int, int]:
    info = result.info
    return info.status, info.original_token_count, info.new_token_count


async def test_a_short_conversation_is_left_alone_without_looking_at_it(tmp_path: Path) -> None:
    bench, chat = Bench(tmp_path), Chat(HISTORY, 524_287)

    result = await bench.compress(chat)

    assert figures(result) == (CompressionStatus.NOOP, 524_287, 524_287)
    assert (result.new_history, chat.reads, bench.model.requests) == (None, 0, [])


async def test_from_half_the_window_on_it_is_compressed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer(SUMMARY), answer(" better \n"))

    result = await bench.compress(Chat(HISTORY, 524_288))

    assert figures(result) == (CompressionStatus.COMPRESSED, 524_288, 22)
    assert result.new_history == [
        said("user", "better"),
        said("model", "Got it. Thanks for the additional context!"),
        *HISTORY[2:],
    ]
    assert result.info.as_json() == {
        "originalTokenCount": 524_288,
        "newTokenCount": 22,
        "compressionStatus": 1,
    }


async def test_a_summary_keeps_what_concerns_the_approved_plan(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY), answer(SUMMARY), answer(SUMMARY))

    await bench.compress(Chat(HISTORY, 600_000))
    bench.state.approved_plan = tmp_path / "p.md"
    await bench.compress(Chat(HISTORY, 600_000))

    before, _, after, verified = (each.system_instruction for each in bench.model.requests)
    assert after == verified
    assert before is not None
    assert after is not None
    assert after.startswith(before)
    assert f"an approved plan in {tmp_path}/p.md." in after.removeprefix(before)


async def test_the_window_is_the_models_own(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY))

    result = await bench.compress(Chat(HISTORY, 128_000), model="gemma-4-31b-it")

    assert result.info.status is CompressionStatus.COMPRESSED


@pytest.mark.parametrize(
    ("threshold", "count", "compressed"),
    [(0.25, 262_144, True), (0.25, 262_143, False), (0, 524_287, False), (0, 524_288, True)],
)
@pytest.mark.contract("P-104")
async def test_the_threshold_may_be_set(
    tmp_path: Path, threshold: float, count: int, compressed: bool
) -> None:
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY), threshold=threshold)

    result = await bench.compress(Chat(HISTORY, count))

    assert (result.info.status is CompressionStatus.COMPRESSED) == compressed


async def test_a_forced_compression_ignores_the_length(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY))

    assert figures(await bench.compress(Chat(HISTORY, 1000), force=True))[0] == 1


async def test_an_empty_history_is_not_compressed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, hook=True)

    assert figures(await bench.compress(Chat([], 1000), force=True)) == (
        CompressionStatus.NOOP,
        0,
        0,
    )
    assert bench.triggers == []


async def test_the_hook_fires_even_where_nothing_is_compressed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY), hook=True)

    assert figures(await bench.compress(Chat(HISTORY, 10))) == (CompressionStatus.NOOP, 10, 10)
    await bench.compress(Chat(HISTORY, 1000), force=True)

    assert bench.triggers == ["auto", "manual"]


async def test_without_a_place_to_cut_no_model_is_asked(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    result = await bench.compress(Chat([said("user", "only")], 1000), force=True)

    assert figures(result) == (CompressionStatus.NOOP, 1000, 1000)


async def test_the_model_summarises_and_then_checks_its_summary(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY))

    await bench.compress(Chat(HISTORY, 600_000))

    first, second = bench.model.requests
    assert first.contents == [*HISTORY[:2], said("user", BEGIN)]
    assert second.contents == [*HISTORY[:2], said("model", SUMMARY), said("user", VERIFY)]
    assert (first.prompt_id, second.prompt_id) == ("p", "p-verify")
    assert {request.role for request in (first, second)} == {LlmRole.UTILITY_COMPRESSOR}
    assert {request.config_key for request in (first, second)} == {"chat-compression-2.5-pro"}
    assert {request.signal for request in (first, second)} == {bench.abort.signal}
    assert first.system_instruction == second.system_instruction
    assert "<state_snapshot>" in (first.system_instruction or "")


async def test_an_earlier_snapshot_is_to_be_carried_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY))
    history = [said("user", SUMMARY), *HISTORY[1:]]

    await bench.compress(Chat(history, 600_000))

    assert bench.model.requests[0].contents[-1] == said("user", UPDATE)


async def test_a_snapshot_in_what_is_kept_is_no_earlier_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY))
    history = [*HISTORY[:2], said("user", SUMMARY), HISTORY[3]]

    await bench.compress(Chat(history, 600_000))

    assert bench.model.requests[0].contents[-1] == said("user", BEGIN)


@pytest.mark.parametrize("second", [None, "", " \n"])
async def test_without_a_second_summary_the_first_counts(
    tmp_path: Path, second: str | None
) -> None:
    bench = Bench(tmp_path, answer(f" {SUMMARY} "), answer(second))

    result = await bench.compress(Chat(HISTORY, 600_000))

    assert result.new_history is not None
    assert result.new_history[0] == said("user", SUMMARY)
    assert bench.model.requests[1].contents[-2] == said("model", f" {SUMMARY} ")


async def test_an_empty_summary_changes_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer(" "), answer(None))

    result = await bench.compress(Chat(HISTORY, 600_000))

    assert figures(result) == (CompressionStatus.FAILED_EMPTY_SUMMARY, 600_000, 600_000)
    assert result.new_history is None
    assert not bench.service.has_failed_attempt


async def test_a_summary_as_long_as_what_it_sums_up_is_one_and_a_longer_one_is_not(
    tmp_path: Path,
) -> None:
    answers = [answer("s" * 40)] * 4
    bench = Bench(tmp_path, *answers, threshold=0.000001)

    assert figures(await bench.compress(Chat(HISTORY, 31)))[0] is CompressionStatus.COMPRESSED
    result = await bench.compress(Chat(HISTORY, 30))

    assert figures(result) == (CompressionStatus.FAILED_INFLATED_TOKEN_COUNT, 30, 31)
    assert result.new_history is None


async def test_after_a_longer_summary_outputs_are_only_cut(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer("s" * 4000), answer("s" * 4000), threshold=0.0001)
    await bench.compress(Chat(HISTORY, 500))
    assert bench.service.has_failed_attempt

    old, new = output("a" * 100_000), output("b" * 150_000)
    result = await bench.compress(Chat([old, new], 70_000))

    assert figures(result)[:2] == (CompressionStatus.CONTENT_TRUNCATED, 70_000)
    assert 37_500 < result.info.new_token_count < 38_000
    assert result.new_history is not None
    assert result.new_history[0] != old
    assert result.new_history[1] is new
    assert bench.service.has_failed_attempt


async def test_cutting_helps_if_the_estimate_is_below_the_count(tmp_path: Path) -> None:
    bench = Bench(tmp_path, threshold=0.000001)
    bench.service.has_failed_attempt = True

    same = await bench.compress(Chat(HISTORY, 107))
    less = await bench.compress(Chat(HISTORY, 108))

    assert figures(same) == (CompressionStatus.NOOP, 107, 107)
    assert same.new_history is None
    assert figures(less) == (CompressionStatus.CONTENT_TRUNCATED, 108, 107)
    assert less.new_history == HISTORY
    assert bench.model.requests == []


async def test_a_forced_compression_neither_stores_nor_reads_a_failure(tmp_path: Path) -> None:
    bench = Bench(tmp_path, *[answer("s" * 4000)] * 4)
    await bench.compress(Chat(HISTORY, 500), force=True)
    assert not bench.service.has_failed_attempt

    bench.service.has_failed_attempt = True
    await bench.compress(Chat(HISTORY, 500), force=True)

    assert bench.service.has_failed_attempt
    assert len(bench.model.requests) == 4


async def test_a_new_chat_forgets_the_failure(tmp_path: Path) -> None:
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY))
    bench.service.has_failed_attempt = True
    await bench.compress(Chat(HISTORY, 1000), force=True)
    assert not bench.service.has_failed_attempt

    bench.service.has_failed_attempt = True
    bench.service.chat_started()
    assert not bench.service.has_failed_attempt


async def test_the_summariser_sees_whole_outputs_and_the_new_history_cut_ones(
    tmp_path: Path,
) -> None:
    history = [
        said("user", "x" * 1_000_000),
        output("a" * 150_000),
        said("user", "second"),
        output("b" * 100_000),
        output("c" * 150_000),
    ]
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY))

    result = await bench.compress(Chat(history, 600_000))

    assert bench.model.requests[0].contents[:2] == history[:2]
    assert result.new_history is not None
    assert result.new_history[3]["parts"][0]["functionResponse"]["response"]["output"].startswith(
        "Output too large."
    )
    assert result.new_history[4] is history[4]


async def test_a_history_too_long_for_the_summariser_is_sent_cut(tmp_path: Path) -> None:
    history = [
        said("user", "x"),
        output("a" * 5_000_000),
        said("user", "second"),
        output("b" * 150_000),
    ]
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY))

    await bench.compress(Chat(history, 1_300_000))

    (_, cut, *_) = bench.model.requests[0].contents
    assert len(cut["parts"][0]["functionResponse"]["response"]["output"]) < 400


async def test_media_that_is_kept_is_counted_by_the_model(tmp_path: Path) -> None:
    history = [*HISTORY[:2], {"role": "user", "parts": [{"text": "see"}, IMAGE]}]
    bench = Bench(tmp_path, answer(SUMMARY), answer(SUMMARY), total=17)

    result = await bench.compress(Chat(history, 600_000))

    assert figures(result) == (CompressionStatus.COMPRESSED, 600_000, 17)
    (request,) = bench.counter.requests
    assert request.model == "gemini-2.5-pro"
    assert [part for turn in request.contents for part in turn["parts"]] == [
        *CONTEXT["parts"],
        {"text": SUMMARY},
        {"text": "Got it. Thanks for the additional context!"},
        {"text": "see"},
        IMAGE,
    ]


async def test_a_summary_that_cannot_be_got_is_an_error(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ModelError("Failed to generate content: x"))

    with pytest.raises(ModelError, match=r"^Failed to generate content: x$"):
        await bench.compress(Chat(HISTORY, 600_000))
    assert not bench.service.has_failed_attempt


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("gemini-3-pro-preview", "3-pro"),
        ("gemini-3.1-pro-preview", "3-pro"),
        ("gemini-3.1-pro-preview-customtools", "default"),
        ("gemini-3-flash-preview", "3-flash"),
        ("gemini-3-flash", "3-flash"),
        ("gemini-3.5-flash", "3-flash"),
        ("gemini-3.8-flash", "3-flash"),
        ("none", "3.1-flash-lite"),
        ("gemini-3.1-flash-lite", "3.1-flash-lite"),
        ("gemini-3.5-flash-lite", "3.1-flash-lite"),
        ("gemini-3.1-flash-lite-preview", "default"),
        ("gemini-2.5-pro", "2.5-pro"),
        ("gemini-2.5-flash", "2.5-flash"),
        ("gemini-2.5-flash-lite", "2.5-flash-lite"),
        ("a-model", "default"),
    ],
)
def test_the_config_of_the_summarising_model(model: str, key: str) -> None:
    assert compression_config_key(model) == f"chat-compression-{key}"
