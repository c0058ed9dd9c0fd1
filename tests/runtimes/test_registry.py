import itertools

import pytest

from runtimes.registry import (
    FLAG_TABLE,
    SessionChoice,
    Surface,
    UnknownRuntime,
    choose_session,
    known_runtimes,
    runtime_factory,
)
from services.settings import AdkFlags

LEGACY_PATH = SessionChoice(agent_session=False, runtime="legacy")
LEGACY_SESSION = SessionChoice(agent_session=True, runtime="legacy")
ADK_SESSION = SessionChoice(agent_session=True, runtime="adk")


def flags(runtime: bool, noninteractive: bool, interactive: bool, subagent: bool) -> AdkFlags:
    return AdkFlags(
        runtime_enabled=runtime,
        agent_session_noninteractive_enabled=noninteractive,
        agent_session_interactive_enabled=interactive,
        agent_session_subagent_enabled=subagent,
    )


@pytest.mark.parametrize("runtime", [False, True])
@pytest.mark.parametrize("own", list(itertools.product([False, True], repeat=3)))
def test_every_combination_of_flags_gives_every_surface_its_runtime(
    runtime: bool, own: tuple[bool, bool, bool]
) -> None:
    for surface, enabled in zip(
        (Surface.NONINTERACTIVE, Surface.INTERACTIVE, Surface.SUBAGENT), own, strict=True
    ):
        expected = LEGACY_PATH
        if enabled:
            expected = ADK_SESSION if runtime else LEGACY_SESSION
        assert choose_session(surface, flags(runtime, *own)) == expected


def test_flag_table_is_complete() -> None:
    assert set(FLAG_TABLE) == set(itertools.product([False, True], repeat=2))


def test_unknown_runtime_names_the_known_ones() -> None:
    with pytest.raises(UnknownRuntime, match=r"unknown runtime 'x'; known: adk, legacy"):
        runtime_factory("x")


def test_own_runtimes_are_known_without_installation() -> None:
    assert {"adk", "legacy"} <= set(known_runtimes())
