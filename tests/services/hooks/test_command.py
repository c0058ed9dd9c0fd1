from __future__ import annotations

import subprocess

import pytest

from services.hooks.command import HookPlaces, expand_command, hook_variables, shell_quoted

PLACES = HookPlaces(cwd="/w o", plans="/it's/plans", session_id="s-1")


# What escapeShellArg of the published core makes of each.
@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", ""),
        ("/plain/path-1.0_x", "/plain/path-1.0_x"),
        ("/w o", "'/w o'"),
        ('say "hi"', "'say \"hi\"'"),
        ("back\\slash", "'back\\slash'"),
        ("it's", '"it\'s"'),
        ("it's $HOME `x` !", '"it\'s \\$HOME \\`x\\` \\!"'),
        ("a$b;c&d|e", "a\\$b\\;c\\&d\\|e"),
        ("C:/x", "C\\:/x"),
        ("C:;x", "C:\\;x"),
        ("a:b", "a\\:b"),
        ("x=y,z", "x\\=y\\,z"),
        ("nb\u00a0sp", "'nb\u00a0sp'"),
        ("~{}[]#", "~\\{\\}\\[\\]\\#"),
    ],
)
def test_a_word_is_quoted_as_upstream_quotes_it(text: str, quoted: str) -> None:
    assert shell_quoted(text) == quoted


def test_a_hostile_folder_name_stays_one_word_of_the_command() -> None:
    hostile = "/tmp/a b; touch x; $(touch y) 'z"
    line = expand_command("printf %s $GEMINI_CWD", HookPlaces(cwd=hostile, plans="", session_id=""))

    shown = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)

    assert shown.stdout == hostile


def test_five_names_are_replaced_even_within_longer_ones() -> None:
    command = "$GEMINI_PROJECT_DIR|$GEMINI_CWDX|$GEMINI_PLANS_DIR|$GEMINI_SESSION_ID"
    command += "|$CLAUDE_PROJECT_DIR|${GEMINI_CWD}|$HOME"

    assert expand_command(command, PLACES) == (
        "'/w o'|'/w o'X|\"/it's/plans\"|s-1|'/w o'|${GEMINI_CWD}|$HOME"
    )


def test_a_hooks_own_variables_go_before_the_sessions() -> None:
    variables = hook_variables({"PATH": "/bin", "GEMINI_CWD": "x"}, PLACES, {"PATH": "/mine"})

    assert variables == {
        "PATH": "/mine",
        "GEMINI_PROJECT_DIR": "/w o",
        "GEMINI_PLANS_DIR": "/it's/plans",
        "GEMINI_CWD": "/w o",
        "GEMINI_SESSION_ID": "s-1",
        "CLAUDE_PROJECT_DIR": "/w o",
    }
