"""docs/providers.md lists every rule of the converters, in the words of the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.providers_page import tables

PAGE = Path(__file__).parents[2] / "docs" / "providers.md"


@pytest.mark.parametrize("title", tables())
def test_the_page_has_the_rules(title: str) -> None:
    assert f"### {title}\n\n{tables()[title]}\n" in PAGE.read_text("utf-8")
