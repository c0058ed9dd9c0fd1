"""Recordings under the real client: ours always, real ones where they are at hand."""

import asyncio
from collections import Counter
from contextlib import aclosing
from pathlib import Path

import httpx
import pytest
import vcr

from harness.cassette.load import build_cassette
from harness.http.exchanges import HttpRecording
from harness.http.record import SCENARIOS, record_http_cassettes
from harness.http.replay import HttpReplayedGenerator
from harness.http.vcr_cassettes import load_recording
from services.abort import AbortController, AbortError
from services.clock import SystemClock, VirtualClock, virtual_loop
from services.model import gemini
from services.model.auth import AuthConfig, AuthType
from services.model.errors import ApiError, ModelError
from services.model.gemini import GeminiContentGenerator
from services.model.generator import EmbedRequest, LlmRole, ModelRequest
from services.model.parts import first_parts
from tests.harness.http.recordings import has_tool_loop, is_streamed, load_recordings

ROOT = Path(__file__).parents[3]
OURS = ROOT / "cassettes" / "http"
SHARED = ROOT / ".." / "shared" / "recordings"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="no real recordings at hand")


def asked(signal=None):
    return ModelRequest(
        model="any-model",
        contents=[{"role": "user", "parts": [{"text": "not what was recorded"}]}],
        role=LlmRole.MAIN,
        prompt_id="p########0",
        signal=signal or AbortController().signal,
    )


async def answer(generator):
    """The chunks, and the error that ended them, if one did."""
    chunks = []
    try:
        async with aclosing(await generator.generate_content_stream(asked())) as stream:
            async for chunk in stream:
                chunks += [chunk]
    except ModelError as error:
        return chunks, error
    return chunks, None


def recorded(file: Path) -> HttpRecording:
    recording = load_recording(file)
    assert isinstance(recording, HttpRecording)
    return recording


def replay(recording):
    """Ask as often as there are answers; in a virtual loop."""

    async def run():
        clock = VirtualClock()
        generator = HttpReplayedGenerator(recording, clock=clock)
        answers = [await answer(generator) for _ in recording.model_exchanges()]
        return answers, generator

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        return runner.run(run())


def seen(part):
    """What of a part a runtime acts on."""
    call = part.get("functionCall", {})
    return part.get("text"), part.get("thought"), call.get("name"), call.get("args")


def parts_of(chunks):
    return [seen(part) for chunk in chunks for part in first_parts(chunk)]


@pytest.mark.parametrize("file", sorted(OURS.glob("*.yaml")), ids=lambda file: file.stem)
def test_our_cassettes_replay_and_say_where_they_come_from(file):
    recording = recorded(file)
    answers, generator = replay(recording)
    assert generator.notes == []
    assert generator.unused_steps() == []
    for exchange, (chunks, error) in zip(recording.exchanges, answers, strict=True):
        fine = [chunk for chunk in exchange.chunks if "error" not in chunk]
        assert parts_of(chunks) == parts_of(fine)
        assert (error is None) == (exchange.status == 200 and fine == list(exchange.chunks))
    assert "stand-in" in file.read_text("utf-8").splitlines()[0]


def test_a_quota_error_comes_back_as_the_api_gave_it():
    (_, error), (chunks, none) = replay(recorded(OURS / "quota_then_answer.yaml"))[0]
    assert isinstance(error, ApiError)
    assert error.status == 429
    assert '"retryDelay":"2s"' in str(error)
    assert (len(chunks), none) == (3, None)


async def test_recording_anew_gives_the_cassettes_that_lie_here(tmp_path):
    files = await record_http_cassettes(tmp_path)
    assert [file.stem for file in files] == [scenario.name for scenario in SCENARIOS]
    for file in files:
        assert file.read_bytes() == (OURS / file.name).read_bytes()
    readme = (OURS / "README.md").read_text("utf-8")
    assert all(file.name in readme for file in OURS.glob("*.yaml"))


async def test_plain_vcrpy_plays_our_cassettes_under_the_plain_client():
    file = OURS / "tool_call_and_answer.yaml"
    with vcr.VCR(record_mode="none").use_cassette(str(file)) as cassette:
        auth = AuthConfig(type=AuthType.USE_GEMINI, api_key="k")
        generator = GeminiContentGenerator(auth, SystemClock(), http_client=httpx.AsyncClient())
        (first, _), (second, _) = [
            await answer(_OneModel(generator)),
            await answer(_OneModel(generator)),
        ]
    assert cassette.all_played
    assert (
        first[1]["candidates"][0]["content"]["parts"][0]["thoughtSignature"] == "c2lnbmF0dXJlLTE="
    )
    assert parts_of(second) == [("Only README.md.", None, None, None)]


class _OneModel:
    """Asks for the recorded model: plain vcrpy matches by address."""

    def __init__(self, inner):
        self.inner = inner

    async def generate_content_stream(self, request):
        return await self.inner.generate_content_stream(
            ModelRequest(
                model="gemini-2.5-flash",
                contents=request.contents,
                role=request.role,
                prompt_id=request.prompt_id,
                signal=request.signal,
            )
        )


async def test_a_request_too_many_is_a_bad_request_and_a_note():
    generator = HttpReplayedGenerator(recorded(OURS / "stream_text.yaml"), clock=VirtualClock())
    await answer(generator)
    for call in (generator.generate_content_stream, generator.generate_content):
        with pytest.raises(ApiError) as caught:
            await call(asked())
        assert caught.value.status == 400
        assert "INVALID_ARGUMENT" in str(caught.value)
    with pytest.raises(ApiError):
        await generator.count_tokens(asked())
    embed = EmbedRequest(model="e", contents=["a"], signal=AbortController().signal)
    with pytest.raises(ApiError):
        await generator.embed_content(embed)
    assert [note.request_index for note in generator.notes] == [1, 2, 3, 4]
    assert generator.notes[0].message == (
        "no exchange of the recording is left for request 1 (streamGenerateContent): "
        "every exchange is used"
    )


async def test_the_note_of_a_request_of_the_wrong_kind_names_the_unused_exchange():
    generator = HttpReplayedGenerator(recorded(OURS / "stream_text.yaml"), clock=VirtualClock())
    with pytest.raises(ApiError):
        await generator.count_tokens(asked())
    (note,) = generator.notes
    assert note.step_index == 0
    assert note.message.endswith(
        "the nearest is exchange 0: method: the exchange answers streamGenerateContent, "
        "the request is countTokens"
    )


async def test_unused_exchanges_are_listed():
    recording = recorded(OURS / "tool_call_and_answer.yaml")
    generator = HttpReplayedGenerator(recording, clock=VirtualClock())
    await answer(generator)
    assert generator.unused_steps() == [1]


async def test_a_request_takes_a_millisecond_and_is_reported_to_the_hooks():
    clock, requests, chunks = VirtualClock(), [], []
    start = clock.now_ms()
    generator = HttpReplayedGenerator(
        recorded(OURS / "stream_text.yaml"),
        clock=clock,
        on_request=requests.append,
        on_chunk=lambda request, chunk: chunks.append((request, chunk)),
    )
    await answer(generator)
    assert clock.now_ms() - start == 1
    assert [(each.index, each.method, each.role) for each in requests] == [
        (0, "generateContentStream", LlmRole.MAIN)
    ]
    assert chunks == [(0, 0), (0, 1), (0, 2)]


async def test_an_abort_between_chunks_ends_the_stream():
    generator = HttpReplayedGenerator(recorded(OURS / "stream_text.yaml"), clock=VirtualClock())
    controller = AbortController()
    stream = await generator.generate_content_stream(asked(controller.signal))
    await anext(stream)
    controller.abort()
    with pytest.raises(AbortError):
        await anext(stream)


async def test_an_answer_that_nothing_closes_is_noted():
    generator = HttpReplayedGenerator(recorded(OURS / "stream_text.yaml"), clock=VirtualClock())
    stream = await generator.generate_content_stream(asked())
    await anext(stream)
    assert [note.message for note in generator.notes] == ["1 of 1 answers were never closed"]
    await stream.aclose()
    assert generator.notes == []


async def test_a_request_that_the_client_sends_otherwise_than_asked_is_noted(monkeypatch):
    monkeypatch.setattr(gemini, "_contents", lambda request: "another text")
    generator = HttpReplayedGenerator(recorded(OURS / "stream_text.yaml"), clock=VirtualClock())
    await answer(generator)
    (note,) = generator.notes
    assert note.message == (
        "the client sent request 0 otherwise than asked: contents[0].parts[0].text is "
        "'another text' instead of 'not what was recorded'"
    )


def test_two_replays_at_once_are_independent():
    async def run():
        one = HttpReplayedGenerator(recorded(OURS / "stream_text.yaml"), clock=VirtualClock())
        two = HttpReplayedGenerator(
            recorded(OURS / "tool_call_and_answer.yaml"), clock=VirtualClock()
        )
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(answer(each)) for each in (one, two, two)]
        return [parts_of(task.result()[0])[-1] for task in tasks], one.notes + two.notes

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        last, notes = runner.run(run())
    assert [text for text, *_ in last] == ["こんにちは 👋", None, "Only README.md."]
    assert notes == []


@needs_shared
def test_real_recordings_are_replayed_or_skipped_with_reasons():
    loaded, skipped = load_recordings(SHARED)
    of_set = lambda item: item.file.relative_to(SHARED).parts[0]  # noqa: E731 - a key
    replayable = Counter(map(of_set, loaded))
    streamed = Counter(of_set(each) for each in loaded if is_streamed(each))
    tool_loops = Counter(of_set(each) for each in loaded if has_tool_loop(each))
    counts = {
        name: (replayable[name], streamed[name], tool_loops[name])
        for name in sorted(set(map(of_set, [*loaded, *skipped])))
    }
    assert counts == {
        "crewai": (19, 3, 7),
        "gemini-cli": (0, 0, 0),
        "llm-gemini": (0, 0, 0),
        "newrelic-adk": (55, 7, 16),
        "openinference": (23, 8, 5),
        "pydantic-ai": (125, 12, 53),
        "rig": (161, 64, 55),
        "ruby-llm": (26, 8, 20),
        "vercel-ai": (0, 0, 0),
    }
    reasons = Counter((of_set(each), each.reason) for each in skipped)
    assert reasons["openinference", "Interactions API"] == 8
    no_stream = "the stream is not an event stream (called without alt=sse)"
    assert reasons["llm-gemini", no_stream] == 9
    assert not any(each.reason.startswith("damaged") for each in skipped)
    partly = Counter((of_set(each), reason) for each in loaded for reason in each.skipped)
    assert partly["ruby-llm", "other host: oauth2.googleapis.com"] == 10


@needs_shared
@pytest.mark.slow
def test_every_real_recording_replays_through_the_real_client():
    recordings, _ = load_recordings(SHARED)
    assert len(recordings) >= 400
    for recording in recordings:
        answers, generator = replay(recording)
        assert generator.notes == [], recording.file
        for exchange, (chunks, error) in zip(recording.model_exchanges(), answers, strict=True):
            if exchange.status == 200:
                assert error is None, recording.file
                assert parts_of(chunks) == parts_of(exchange.chunks), recording.file
            else:
                assert isinstance(error, ApiError)
                assert error.status == exchange.status


@needs_shared
def test_the_users_side_of_a_real_recording_is_a_valid_cassette():
    recordings, _ = load_recordings(SHARED / "ruby-llm")
    for recording in recordings:
        document = recording.document()
        path = Path("/corpus") / f"{document['name']}.yaml"
        cassette = build_cassette(document, path, Path("/corpus"))
        assert len(cassette.script) == len(recording.sends()) >= 1
