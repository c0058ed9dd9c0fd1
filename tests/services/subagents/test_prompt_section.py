from __future__ import annotations

from services.subagents.prompt_section import agents_section


def test_agents_are_listed_in_their_order() -> None:
    section = agents_section({"b": "does b", "a": "does a"})

    assert section.endswith("\n- b: does b\n- a: does a")
    assert "`invoke_agent`" in section


def test_without_agents_the_section_is_empty() -> None:
    assert agents_section({}) == ""
