"""What is sent without anybody typing it: after loops, unfinished answers, lost calls."""

from __future__ import annotations

import pytest

from runtimes.adk.continuation import Continuation
from runtimes.adk.conversation import Conversation
from runtimes.adk.plugins.limits import MaxTurnsAdkPlugin
from runtimes.adk.run import End, Run
from services.abort import AbortController
from services.loop_detection.detector import LoopVerdict

CHANT = "This sentence is fifty characters long, I promise! "
READ = ("read_file", {"file_path": "a.txt"})


def chant(kit):
    return [*(kit.text(CHANT) for _ in range(15)), kit.text("never told", "STOP")]


def feedbacks(played):
    said = [
        request.contents[-1]["parts"][-1].get("text") or "" for request in played.model.requests
    ]
    return [text for text in said if text.startswith("System: Potential loop detected.")]


def test_first_loop_is_told_to_the_model_and_its_answer_is_forgotten(kit):
    played = kit.play([chant(kit), [kit.text("* better\n", "STOP")]])
    assert "never told" not in played.texts
    assert 5 < len(played.texts) < 16
    assert len(feedbacks(played)) == 1
    assert played.shapes[1] == ["user:text+text"]
    assert "hello" not in str(played.transcript)
    assert played.errors == []
    assert played.ends == [("completed", None)]
    assert played.model.open_streams == 0


def test_second_loop_is_told_to_the_client_and_the_stream_completes(kit):
    played = kit.play([chant(kit), chant(kit), [kit.text("x", "STOP")]])
    (error,) = played.errors
    assert (error.message, error.fatal) == ("Loop detected, stopping execution", False)
    assert error.meta == {"code": "LOOP_DETECTED"}
    assert played.ends == [("completed", None)]
    assert len(played.model.requests) == 2


def test_calls_told_before_a_loop_are_run_after_the_feedback(kit):
    six = kit.parts_chunk(*(kit.call(*READ) for _ in range(6)), finish="STOP")
    steps = [[six], [kit.text("recovered", "STOP")], [kit.text("final", "STOP")]]
    played = kit.play(steps)
    asked = [event.request_id for event in played.events if event.type == "tool_request"]
    answered = [event.request_id for event in played.events if event.type == "tool_response"]
    assert len(asked) == 4
    assert answered == asked
    assert played.texts == ["recovered", "final"]
    assert played.shapes[2][-1] == "user:" + "+".join(["functionResponse"] * 4)
    assert played.ends == [("completed", None)]


def test_abort_while_lost_calls_run_ends_the_stream(kit):
    slow = ("run_shell_command", {"command": "sleep 30"})
    six = kit.parts_chunk(*(kit.call(*slow) for _ in range(6)), finish="STOP")

    def stop(event, agent):
        if event.type == "message" and event.role == "agent":
            played_agent.append(agent)

    played_agent = []

    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played, stop)
        schedule = played.services.scheduler.schedule

        async def aborting(requests, signal):
            kit.abort(agent)
            return await schedule(requests, signal)

        played.services.scheduler.schedule = aborting
        await agent.send(kit.message("x"))
        await runtime.settled()

    played = kit.run(script, [[six], [kit.text("recovered", "STOP")]])
    assert played_agent
    assert "tool_response" not in played.kinds
    assert played.ends == [("aborted", None)]


def test_repeated_calls_over_tool_rounds_are_a_loop(kit):
    ask = kit.parts_chunk(kit.call(*READ), finish="STOP")
    played = kit.play([*([ask] for _ in range(5)), [kit.text("fine", "STOP")]])
    assert len(feedbacks(played)) == 1
    assert played.kinds.count("tool_request") == 4
    assert played.kinds.count("tool_response") == 4
    assert played.texts == ["fine"]


def test_loops_outlive_a_reset(kit):
    ask = kit.parts_chunk(kit.call(*READ), finish="STOP")

    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("x"))
        await runtime.settled()
        await runtime.reset()
        await agent.send(kit.message("y"))
        await runtime.settled()

    steps = [[ask], [ask], [ask], [ask], [kit.text("a", "STOP")], [ask], [kit.text("b", "STOP")]]
    assert len(feedbacks(kit.run(script, steps))) == 1


def test_abort_in_a_chunk_leaves_the_rest_of_its_calls_uncounted(kit):
    four = [*(kit.call(*READ) for _ in range(4))]
    chunk = kit.parts_chunk({"text": "t"}, *four, finish="STOP")

    def stop(event, agent):
        if event.type == "message" and event.role == "agent" and event.content[0].text == "t":
            kit.abort(agent)

    again = kit.parts_chunk(*four[:3], finish="STOP")
    steps = [[chunk], [again], [kit.text("fine", "STOP")]]
    played = kit.play(steps, "one", "two", on_event=stop)
    assert feedbacks(played) == []
    assert played.kinds.count("tool_response") == 3


def test_switched_off_detection_finds_nothing(kit):
    played = kit.play([chant(kit)], disable_loop_detection=True)
    assert played.texts[-1] == "never told"


def test_unfinished_answer_goes_on_by_itself(kit):
    steps = [
        [kit.text("Next, I will", "STOP")],
        kit.json(reasoning="unfinished", next_speaker="model"),
        [kit.text("Done.", "STOP")],
        kit.json(reasoning="done", next_speaker="user"),
    ]
    payload = kit.message("x", "shown")
    played = kit.play(steps, payload, skip_next_speaker_check=False)
    assert played.model.requests[1].contents[-1]["parts"] == [{"text": "Please continue."}]
    assert played.texts == ["Next, I will", "Done."]
    assert played.ends == [("completed", None)]
    shown = [line.get("displayContent") for line in played.lines if line.get("type") == "user"]
    assert shown == [[{"text": "shown"}]] * 2


def test_answer_with_calls_is_not_asked_about(kit):
    ask = kit.parts_chunk(kit.call(*READ), finish="STOP")
    steps = [[ask], [kit.text("x", "STOP")], kit.json(reasoning="", next_speaker="user")]
    played = kit.play(steps, skip_next_speaker_check=False)
    assert len(played.model.utility) == 1
    assert played.ends == [("completed", None)]


def test_requests_that_follow_each_other_are_one_turn_of_the_loop(kit):
    steps = [
        [kit.text("a", "STOP")],
        kit.json(reasoning="", next_speaker="model"),
        [kit.text("b", "STOP")],
        kit.json(reasoning="", next_speaker="user"),
    ]
    played = kit.play(steps, skip_next_speaker_check=False, max_session_turns=1)
    assert played.ends == [("max_turns", {"code": "MAX_TURNS_EXCEEDED"})]


@pytest.mark.parametrize(
    ("left", "aborted", "expected"),
    [
        (1, False, End("max_turns", {"code": "MAX_TURNS_EXCEEDED"})),
        (1, True, End("aborted")),
        (2, True, None),
    ],
)
def test_loop_without_turns_left_is_the_limits_business(kit, left, aborted, expected):
    async def go():
        async with kit.services() as played:
            controller = AbortController()
            run = Run(prompt_id="p", signal=controller.signal)
            run.turn.left, run.step.loop = left, LoopVerdict(count=1)
            if aborted:
                controller.abort()
            following = Continuation(
                played.services, Conversation(played.services), None, MaxTurnsAdkPlugin(-1)
            )
            after = await following.after(None, run)
            if expected is None:
                assert isinstance(after, list)
                assert (run.follows_up, run.turn.left) == (True, 1)
            else:
                assert after == expected

    kit.in_loop(go)


def test_chain_of_requests_ends_silently_when_none_is_left(kit):
    steps = []
    for _ in range(100):
        steps += [[kit.text("a", "STOP")], kit.json(reasoning="", next_speaker="model")]
    played = kit.play(steps, skip_next_speaker_check=False, disable_loop_detection=True)
    assert len(played.model.requests) == 100
    assert played.ends == [("completed", None)]
    assert played.errors == []
