"""The names of sides that are played through a surface."""

import pytest

from harness.sides import (
    base_names,
    engines_of,
    surface_name,
    with_adk_plugins,
    with_surface,
)


def test_a_surface_is_no_part_of_the_engines() -> None:
    assert engines_of("terminal:adk+legacy") == ("adk", "legacy")
    assert base_names("terminal:adk@x:y") == {"adk"}
    assert surface_name("terminal:adk") == "terminal"
    assert surface_name("adk@plugin.module:name") is None
    assert surface_name("baseline:terminal") is None


def test_plugins_and_a_surface_go_together() -> None:
    assert with_adk_plugins("terminal:adk", ["x:y"]) == "terminal:adk@x:y"


@pytest.mark.parametrize("side", ["baseline:folder", "terminal:adk"])
def test_what_no_surface_can_show(side: str) -> None:
    with pytest.raises(ValueError, match="cannot be played"):
        with_surface(side, "terminal")
