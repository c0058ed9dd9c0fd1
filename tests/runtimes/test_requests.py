"""What the model is asked: its name, its tools, masked and summarised history."""

from __future__ import annotations

from runtimes.contract import Runtime
from services.model.generator import ModelRequest
from services.state import ApprovalMode
from tests.runtimes.kit import Kit, Played


def test_model_sticks_to_a_prompt_until_it_is_changed(inner_kit: Kit) -> None:
    answer = [inner_kit.text("x", "STOP")]

    async def script(played: Played, runtime: Runtime) -> None:
        agent = runtime.agent()
        inner_kit.listen(agent, played)
        for number in range(3):
            if number == 2:
                played.services.state.set_model("gemini-2.5-pro")
            await agent.send(inner_kit.message("x"))
            await runtime.settled()

    played = inner_kit.run(script, [answer, answer, answer])
    assert [e.model for e in played.events if e.type == "session_update"] == [
        "gemini-2.5-flash",
        "gemini-2.5-pro",
    ]
    assert [request.model for request in played.model.requests] == [
        "gemini-2.5-flash",
        "gemini-2.5-flash",
        "gemini-2.5-pro",
    ]
    assert played.services.state.sequence_model == "gemini-2.5-pro"


def test_alias_is_announced_and_asked_as_the_model_it_stands_for(kit: Kit) -> None:
    played = kit.play([[kit.text("x", "STOP")]], model="flash")
    assert played.events[2].model == played.model.requests[0].model == "gemini-3.8-flash"


def test_approval_mode_decides_the_declared_tools(kit: Kit) -> None:
    def names(request: ModelRequest) -> set[str]:
        return {d["name"] for d in request.config["tools"][0]["functionDeclarations"]}

    answer = [kit.text("x", "STOP")]

    async def script(played: Played, runtime: Runtime) -> None:
        agent = runtime.agent()
        kit.listen(agent, played)
        for mode in (ApprovalMode.DEFAULT, ApprovalMode.YOLO):
            played.services.state.set_approval_mode(mode)
            await agent.send(kit.message("x"))
            await runtime.settled()

    played = kit.run(script, [answer, answer])
    careful, trusting = (names(request) for request in played.model.requests)
    assert "write_file" not in careful
    assert "write_file" in trusting


def test_thoughts_follow_the_configured_models_family(kit: Kit) -> None:
    thinking = kit.parts_chunk({"text": "t", "thought": True}, {"text": "x"}, finish="STOP")
    played = kit.play([[thinking], [kit.text("y", "STOP")]], "1", "2", model="gemini-1.5-pro")
    assert played.shapes[1] == ["user:text+text", "model:text", "user:text"]


def test_masked_outputs_stay_masked_in_history_request_and_recording(kit: Kit) -> None:
    long = "".join(f"line {number}\n" for number in range(3000))

    async def script(played: Played, runtime: Runtime) -> None:
        (played.services.workspace.root / "long.txt").write_text(long)
        agent = runtime.agent()
        kit.listen(agent, played)
        for words in ("one", "two", "three"):
            await agent.send(kit.message(words))
            await runtime.settled()

    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "long.txt"}), finish="STOP")
    steps = [[ask], [kit.text("a", "STOP")], [kit.text("b", "STOP")], [kit.text("c", "STOP")]]
    settings = {"masking_protection_tokens": 100, "masking_min_prunable_tokens": 100}
    played = kit.run(script, steps, **settings)
    outputs = [
        [
            part["functionResponse"]["response"]["output"]
            for content in request.contents
            for part in content["parts"]
            if "functionResponse" in part
        ]
        for request in played.model.requests
    ]
    assert len(outputs[1][0]) > 10_000
    assert outputs[2][0].startswith("<tool_output_masked>")
    assert outputs[3] == outputs[2]
    stored = played.transcript[2]["parts"][0]["functionResponse"]["response"]["output"]
    assert stored == outputs[2][0]
    checkpoints = [
        line["$set"]["messages"] for line in played.lines if "messages" in str(line)[:30]
    ]
    assert "<tool_output_masked>" in str(checkpoints[-1])


def test_long_history_is_summarised_before_the_request_and_measured_after_it(kit: Kit) -> None:
    used = {"promptTokenCount": 600_000}
    steps = [
        [kit.text("a", "STOP", usageMetadata=used)],
        kit.text("short", "STOP"),
        kit.text("verified", "STOP"),
        [kit.text("b", "STOP")],
    ]
    played = kit.play(steps, "one", "two")
    assert len(played.model.utility) == 2
    last = played.model.requests[-1].contents
    assert [kit.shape(content) for content in last][-1] == "user:text"
    assert "verified" in str(last)
    assert played.services.state.last_prompt_tokens < 600_000
    assert [kind for kind in played.kinds if kind == "error"] == []
    assert len(list((played.services.workspace.project_temp / "chats").glob("*.jsonl"))) == 1


def test_context_management_leaves_compression_to_others(kit: Kit) -> None:
    used = {"promptTokenCount": 600_000}
    steps = [[kit.text("a", "STOP", usageMetadata=used)], [kit.text("b", "STOP")]]
    played = kit.play(steps, "one", "two", context_management=True)
    assert played.model.utility == []
    assert len(played.model.requests) == 2
