"""ADK plugins of third parties: found by name, shared by every agent, closed with the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk import check, open_runtime, variant
from runtimes.adk.agent import AdkAgentProtocol
from runtimes.adk.plugins.named import named_plugins
from runtimes.adk.runtime import AdkRuntime
from runtimes.contract import RuntimeUnavailable
from services.model.aliases import ModelAlias
from services.subagents.child import ChildRequest
from services.subagents.definition import AgentPrompt, LocalAgentDefinition

SOURCE = """
from google.adk.plugins.base_plugin import BasePlugin

class Watch(BasePlugin):
    def __init__(self, name="watch"):
        super().__init__(name)

class Picky(BasePlugin):
    def __init__(self, name):
        super().__init__(name)

class Held:
    inner = Watch("inner")

async def later():
    return Watch()

made = Watch("made")
number = 5
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "strangers_plugins.py").write_text(SOURCE)
    (tmp_path / "strangers_broken.py").write_text("raise SystemExit('no licence')")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_an_attribute_is_a_plugin_its_class_or_what_makes_one() -> None:
    names = "strangers_plugins:Watch, strangers_plugins:made,strangers_plugins:Held.inner"

    assert [plugin.name for plugin in named_plugins(names)] == ["watch", "made", "inner"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("no_such_package.x:y", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("strangers_broken:x", "SystemExit: no licence"),
        ("strangers_plugins:nope", "module 'strangers_plugins' has no attribute 'nope'"),
        ("strangers_plugins:number", "it is no BasePlugin but of type int"),
        ("strangers_plugins:later", "it is no BasePlugin but of type coroutine"),
        ("strangers_plugins:Picky", r"TypeError: Picky\.__init__\(\) missing 1 required"),
        ("strangers_plugins", "it is no BasePlugin but of type module"),
        ("strangers_plugins:", "it is no BasePlugin but of type module"),
        ("strangers plugins", "ValueError: invalid format: 'strangers plugins'"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(name: str, problem: str) -> None:
    with pytest.raises(RuntimeUnavailable, match=problem) as caught:
        check(name)

    assert str(caught.value).startswith(f"the ADK plugin {name!r} cannot be used: ")
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("folder")
def test_two_plugins_of_one_name_are_refused() -> None:
    with pytest.raises(RuntimeUnavailable, match="two ADK plugins are called 'watch'; give one"):
        named_plugins("strangers_plugins:Watch,strangers_plugins:Watch")


class Noting(BasePlugin):
    """Notes the agents that begin, and that it was closed."""

    def __init__(self, name: str, notes: list[str]) -> None:
        super().__init__(name)
        self.notes = notes

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        self.notes.append(f"{self.name} runs")

    async def close(self) -> None:
        self.notes.append(f"{self.name} closes")


def test_every_agent_has_the_plugins_in_order_and_the_engine_closes_them_once(kit: Any) -> None:
    notes: list[str] = []
    one, other = Noting("one", notes), Noting("other", notes)

    async def go() -> None:
        async with (
            kit.services([[kit.text("hi", "STOP")], [kit.text("ho", "STOP")]]) as played,
            open_runtime(played.services, plugins=[one, other]) as runtime,
        ):
            for agent in (runtime.agent(), runtime.agent()):
                await agent.send(kit.message("hello"))
                await runtime.settled()
            notes.append("leaving")

    kit.in_loop(go)

    runs = ["one runs", "other runs"]
    assert notes == [*runs, *runs, "leaving", "one closes", "other closes"]


@pytest.mark.usefixtures("folder")
def test_a_named_variant_of_the_runtime_has_the_plugins(kit: Any) -> None:
    import strangers_plugins  # type: ignore[import-not-found]

    notes: list[str] = []
    strangers_plugins.noting = lambda: Noting("named", notes)

    async def go() -> None:
        async with (
            kit.services([[kit.text("hi", "STOP")]]) as played,
            variant("strangers_plugins:noting")(played.services) as runtime,
        ):
            await runtime.agent().send(kit.message("hello"))
            await runtime.settled()

    kit.in_loop(go)

    assert notes == ["named runs", "named closes"]


def test_children_have_the_same_plugins_and_leave_them_open(kit: Any) -> None:
    notes: list[str] = []
    task = kit.call("complete_task", {"result": "done"})

    async def go() -> None:
        async with (
            kit.services([[kit.parts_chunk(task, finish="STOP")]]) as played,
            open_runtime(played.services, plugins=[Noting("one", notes)]) as runtime,
        ):
            models = played.services.models
            models.register_runtime_alias("helper-config", ModelAlias(model="gemini-2.5-flash"))
            prompt = AgentPrompt(system="You help.", query="${query}")
            helper = LocalAgentDefinition(name="helper", description="", prompt=prompt)
            request = ChildRequest(
                definition=helper, parent_call_id="c", on_activity=lambda activity: None
            )
            assert isinstance(runtime, AdkRuntime)
            child = runtime._factory.child(request)
            await child.start({"query": "go"})
            await child.result()
            notes.append("child ends")

    kit.in_loop(go)

    assert notes == ["one runs", "child ends", "one closes"]


def test_a_name_that_ours_have_is_refused(kit: Any) -> None:
    async def go() -> None:
        async with kit.services() as played, open_runtime(played.services) as plain:
            agent = plain.agent()
            assert isinstance(agent, AdkAgentProtocol)
            taken = agent._runner.plugin_manager.plugins[0].name
        async with (
            kit.services() as played,
            open_runtime(played.services, plugins=[Noting(taken, [])]) as runtime,
        ):
            with pytest.raises(RuntimeUnavailable, match=f"two ADK plugins are called '{taken}'"):
                runtime.agent()

    kit.in_loop(go)
