"""Code that others write for ADK works in the adk runtime as in stock ADK."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import google.adk
import pytest
from click.testing import CliRunner
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from parity_tests.adk_probes.catalogue import GROUPS, all_probes
from parity_tests.adk_probes.checks import ALONE
from parity_tests.adk_probes.differences import DIFFERENCES
from parity_tests.adk_probes.editing import PARAMETERS, UNPROBED
from parity_tests.adk_probes.elsewhere import Elsewhere
from parity_tests.adk_probes.judge import Outcome, judged
from parity_tests.adk_probes.page import main, page
from parity_tests.adk_probes.probe import Noting, Probe, text
from parity_tests.adk_probes.shipped import LEFT_OUT
from parity_tests.adk_probes.stated import Watched, Within
from parity_tests.adk_probes.watching import CALLBACKS

PROBES = all_probes()
REPOSITORY = Path(__file__).parents[1]


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_it_works_as_in_stock_adk(probe: Probe) -> None:
    left = judged(probe).left
    if left:  # pytest's own account of such a comparison takes longer than the probe
        pytest.fail("\n".join(left), pytrace=False)


@pytest.mark.parametrize("check", ALONE, ids=lambda check: check.name)
def test_the_runtime_is_as_each_check_states(check: Elsewhere | Within | Watched) -> None:
    assert check.differs() == ()


def test_every_listed_difference_is_there() -> None:
    found = frozenset[str]().union(*(judged(probe).allowed for probe in PROBES))

    assert [each.name for each in DIFFERENCES if each.name not in found] == []


def test_names_and_rows_are_unique() -> None:
    assert len({probe.name for probe in PROBES}) == len(PROBES) >= 40
    for _, probes in GROUPS:
        assert len({probe.row for probe in probes}) == len(probes)


def test_every_callback_is_observed() -> None:
    observed = {name for probe in PROBES for name in CALLBACKS if f"`{name}`" in probe.row}

    assert observed == set(CALLBACKS)


def test_every_generation_parameter_is_edited() -> None:
    assert {*PARAMETERS, *UNPROBED} == set(types.GenerateContentConfig.model_fields)
    assert not PARAMETERS.keys() & UNPROBED


def test_every_shipped_plugin_is_probed_or_left_out() -> None:
    rows = {probe.row.strip("`") for probe in PROBES}

    assert [name for name in _shipped() if name not in rows and name not in LEFT_OUT] == []
    assert not rows & LEFT_OUT.keys()


def _shipped() -> Iterator[str]:
    """The names of the plugin classes in google-adk's source."""
    for file in Path(google.adk.__path__[0]).rglob("*.py"):
        source = file.read_text("utf-8")
        if "(BasePlugin)" in source:
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.ClassDef) and any(
                    isinstance(base, ast.Name) and base.id == "BasePlugin" for base in node.bases
                ):
                    yield node.name


class OtherRequest(Noting):
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.append_instructions(["Be brief."])


class OtherMessage(Noting):
    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> Any:
        return types.Content(role="user", parts=[types.Part(text="something else")])


class OtherEvents(Noting):
    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> Any:
        event.custom_metadata = {"a": 1}
        return event


class OtherState(Noting):
    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        callback_context.state["a"] = 1


class OtherResult(Noting):
    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        if not (llm_response.partial and llm_response.content.parts):
            return None
        content = types.Content(role="model", parts=[types.Part(text="something else")])
        return LlmResponse(content=content, partial=True)


class OtherNotes(Noting):
    def __init__(self) -> None:
        super().__init__()
        self.note("something")


class OtherCallbacks(Noting):
    async def before_run_callback(self, *, invocation_context: Any) -> Any:
        return types.Content(role="model", parts=[types.Part(text="no")])


def _in_turn(*kinds: type[Noting]) -> Callable[[], list[Noting]]:
    """Makes the plugin of one run after the other."""
    runs = iter(kinds)
    return lambda: [next(runs)()]


@pytest.mark.parametrize(
    ("record", "plugin"),
    [
        ("requests", OtherRequest),
        ("asked", OtherMessage),
        ("events", OtherEvents),
        ("session", OtherEvents),
        ("state", OtherState),
        ("result", OtherResult),
        ("callbacks", OtherCallbacks),
        ("notes", OtherNotes),
    ],
)
def test_each_record_is_compared(record: str, plugin: type[Noting]) -> None:
    """A plugin that does something in one run only is found."""
    for kinds in ((plugin, Noting), (Noting, plugin)):
        name = f"{record}, {kinds[0].__name__}"
        probe = Probe(name=name, row="", plugins=_in_turn(*kinds), script=[text("hi")])

        assert any(each.startswith(record) for each in judged(probe).left), name


def test_after_an_operation_the_session_is_compared_with_what_the_probe_says() -> None:
    (probe,) = (each for each in PROBES if each.name == "events-after-reset")

    left = judged(replace(probe, name="session", session=["0 user: something else"])).left

    assert len(left) == 1
    assert left[0].startswith("session: the runtime has ['0 user: and then', ")


def test_what_a_client_sees_is_looked_at() -> None:
    probe = Probe(
        name="client", row="", plugins=tuple, script=[text("hi")], shown=["ho"], hidden=["hi"]
    )

    wanted = "client: the runtime has [\"does not see 'ho'\", \"sees 'hi'\"], stock ADK []"
    assert wanted in judged(probe).left


def test_the_page_is_as_the_probes_find_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    file = tmp_path / "docs" / "adk-plugins.md"

    stale = CliRunner().invoke(main, ["--check"], obj=tmp_path)
    written = CliRunner().invoke(main, [], obj=tmp_path)
    again = CliRunner().invoke(main, ["--check"], obj=tmp_path)

    assert written.exception is None
    assert (stale.exit_code, written.exit_code, again.exit_code) == (1, 0, 0)
    assert "mend it with `python -m parity_tests.adk_probes.page`" in stale.output
    assert file.read_text() == (REPOSITORY / "docs" / "adk-plugins.md").read_text()


def test_the_page_says_why_not() -> None:
    left = ("requests[0].model: the runtime has 1, stock ADK 2", "requests[1].model: likewise")

    found = page(lambda _: Outcome(left, frozenset({"tool order"})))

    assert f"0 of {len(PROBES)} probes work." in found
    assert "| `model` | no: `requests[].model` | tool order |" in found
