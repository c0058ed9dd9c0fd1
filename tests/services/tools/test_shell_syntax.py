from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.tools.shell_syntax import (
    command_roots,
    detect_substitution,
    has_redirection,
    parse_command,
    strip_shell_wrapper,
)


def names(command: str) -> list[str]:
    parsed = parse_command(command)
    assert parsed is not None
    assert not parsed.has_error
    return [detail.name for detail in parsed.details]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls -la", ["ls"]),
        ("ls && pwd || id; w & x", ["ls", "pwd", "id", "w", "x"]),
        ("echo hi > f 2>&1", ["echo", "redirection (>)", "redirection (>)"]),
        ("cat < f | sort", ["cat", "redirection (<)", "sort"]),
        ("A=1 B=2 make -j4", ["make"]),
        ("(cd x && ls)", ["subshell", "cd", "ls"]),
        ("{ ls; pwd; }", ["ls", "pwd"]),
        ("if [ -f x ]; then cat x; else echo no; fi", ["[", "cat", "echo"]),
        ("for i in 1 2; do echo $i; done", ["echo"]),
        ('while read l; do echo "$l"; done < f', ["read", "echo", "redirection (<)"]),
        ("case $x in a) ls;; b|c) pwd;; esac", ["ls", "pwd"]),
        ("foo() { ls; }; foo", ["ls", "foo"]),
        ("export X=1; unset X", ["export", "unset"]),
        ("[[ -f x && -d y ]] && echo y", ["[[", "echo"]),
        ('echo "a $(date) `id`"', ["echo", "command substitution", "date",
                                   "command substitution", "id"]),
        ("diff <(ls a) b", ["diff", "process substitution", "ls"]),
        ("cat <<EOF\nrm -rf /\nEOF\nls", ["cat", "heredoc (<<)", "ls"]),
        ('grep x <<< "abc"', ["grep", "herestring (<<<)"]),
        ("'git' \"status\"", ["git"]),
        ("ls # rm", ["ls"]),
        ("echo a\\\n b", ["echo"]),
        ("a=(1 2); declare -a b=(3)", ["declare"]),
    ],
)  # fmt: skip
def test_what_a_line_runs(command, expected):
    assert names(command) == expected


@pytest.mark.parametrize(
    "command",
    ['echo "open', "ls &&", "| ls", "ls |", "ls ; ; pwd", "FOO=1", "# note", "ls)", "(ls",
     "echo ${x@P}", "echo $(ls"],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error_and_has_no_roots(command):
    assert parse_command(command).has_error
    assert command_roots(command) == []


def test_a_blank_line_is_nothing():
    assert parse_command(" \n") is None


def test_details_carry_their_text_and_arguments():
    detail = parse_command("X=1 git commit -m 'a; b' > log").details[0]
    assert (detail.text, detail.arguments) == (
        "X=1 git commit -m 'a; b'",
        ("commit", "-m", "'a; b'"),
    )


@pytest.mark.parametrize(
    ("command", "redirects"),
    [
        ("ls", False),
        ("echo '>'", False),
        ("ls > f", True),
        ("cat <<< x", True),
        ('echo "a > b', True),
    ],
)
def test_redirections(command, redirects):
    assert has_redirection(command) is redirects


@pytest.mark.parametrize(
    ("command", "inner"),
    [
        ("bash -c 'ls -l'", "ls -l"),
        ('sh -c "ls \\"a b\\""', 'ls "a b"'),
        ("/bin/zsh -c ls", "ls"),
        ("  ls ", "ls"),
        ("bashful -c 'x'", "bashful -c 'x'"),
    ],
)
def test_shell_wrappers_are_taken_off(command, inner):
    assert strip_shell_wrapper(command) == inner


@pytest.mark.parametrize(
    "command", ["echo $(x)", "echo `x`", 'echo "$(x)"', "cat <(x)", "tee >(x)", 'echo "\\\\`x`"']
)
def test_substitutions_are_seen(command):
    assert detect_substitution(command)


@pytest.mark.parametrize(
    "command", ["echo '$(x)'", "echo \\$(x)", 'echo "\\`x\\`"', 'echo "<(x)"', "echo $x ${y}"]
)
def test_quoted_and_escaped_ones_are_not(command):
    assert not detect_substitution(command)


PIECES = st.sampled_from(
    ["a", " ", "|", "&", ";", "(", ")", '"', "'", "$", "{", "}", "`", "<", ">", "\n", "\\", "#",
     "if ", "fi", "case ", "in ", "esac", "[ ", "]", "=", "<<E\n", "for "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join))
def test_any_text_is_read_to_an_end(command):
    parsed = parse_command(command)
    assert parsed is None or all(detail.text for detail in parsed.details if detail.name)
