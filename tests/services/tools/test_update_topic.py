from __future__ import annotations

from agent_protocol.events import ToolDisplay


async def test_a_new_topic_is_a_notice_with_summary_and_intent(bench):
    result = await bench.run(
        "update_topic", title=" New\nline ", summary="S", strategic_intent="go"
    )
    assert result.llm_content == (
        'Current topic: "New line"\nTopic summary: S\n\nStrategic Intent: go'
    )
    assert result.return_display == (
        "## 📂 Topic: **New line**\n\n**Summary:**\nS\n\n> [!STRATEGY]\n> **Intent:** go"
    )
    assert result.display == ToolDisplay(
        name=" New\nline ",
        description='Update topic to: " New\nline "',
        format="notice",
    )
    assert bench.state.topic_title == "New line"


async def test_without_a_new_topic_only_the_intent_is_shown(bench):
    registry = bench.registry
    for params, said in [
        ({"title": "T", "strategic_intent": ""}, 'Current topic: "T"\nTopic summary: ...'),
        ({"title": "T", "strategic_intent": "next"}, "Strategic Intent: next"),
        ({"strategic_intent": ""}, "Strategic Intent: next"),
        ({"title": " ", "strategic_intent": " "}, "Strategic Intent:  "),
    ]:
        result = await bench.execute(registry.get("update_topic").build(params))
        assert result.llm_content == said


async def test_without_a_title_the_display_has_the_tools_name(bench):
    result = await bench.run("update_topic", strategic_intent="")
    assert result.llm_content == "Strategic Intent: ..."
    assert result.display.name == "Update Topic Context"
    assert result.display.description == 'Update tactical intent: "..."'


def test_the_intent_is_required_and_waiting_is_offered(bench):
    assert bench.fault("update_topic", title="T") == (
        "params must have required property 'strategic_intent'"
    )
    declared = bench.registry.get("update_topic").declaration()["parametersJsonSchema"]
    assert declared["properties"]["wait_for_previous"]["type"] == "boolean"
    assert bench.build("update_topic", strategic_intent="x").confirmation_details().title == (
        "Confirm: update_topic"
    )
