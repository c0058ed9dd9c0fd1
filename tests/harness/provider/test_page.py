"""`docs/provider-rules.md` says what the rules say."""

from pathlib import Path

from harness.provider.rules import RULES

PAGE = Path(__file__).parents[3] / "docs" / "provider-rules.md"


def test_the_page_lists_every_rule_as_it_is_and_no_other() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]

    assert rows == [
        f"| `{rule.id}` | {rule.severity} | {rule.says} | {rule.evidence} |"
        for rule in RULES.values()
    ]
