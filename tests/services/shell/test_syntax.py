from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shell.syntax import (
    ShellSyntaxError,
    command_roots,
    detect_substitution,
    has_redirection,
    parse_command,
    parse_shell,
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


def test_details_carry_their_text():
    detail = parse_command("X=1 git commit -m 'a; b' > log").details[0]
    assert detail.text == "X=1 git commit -m 'a; b'"


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


@pytest.mark.parametrize(
    ("command", "commands"),
    [
        ("ls -la", ["ls -la"]),
        ("ls && pwd; id", ["ls", "pwd", "id"]),
        ("a | b |& c || d & e", ["a", "b", "c", "d", "e"]),
        ("npm --version >/dev/null; echo ok", ["npm --version", "echo ok"]),
        ("echo $(whoami) `date`", ["echo $(whoami) `date`", "whoami", "date"]),
        ('echo "$(whoami)"', ['echo "$(whoami)"', "whoami"]),
        ("echo '$(whoami) && x'", ["echo '$(whoami) && x'"]),
        ("(cd x && ls)", ["cd x", "ls"]),
        ("FOO=1 make -j4", ["FOO=1 make -j4"]),
        ("X=$(date) y", ["X=$(date) y", "date"]),
        ("diff <(a) <(b)", ["diff <(a) <(b)", "a", "b"]),
        ("for i in 1 2; do echo $i; done", ["echo $i"]),
        ("if [ -f x ]; then a; elif b; then c; else d; fi", ["[ -f x ]", "a", "b", "c", "d"]),
        ("while a; do { b; }; done > f", ["a", "b"]),
        ("cat <<EOF > f\n$x ; y\nEOF\nls", ["cat", "ls"]),
        ("cat <<'EOF'\n$(x)\nEOF", ["cat"]),
        ("cat <<< word", ["cat <<< word"]),
        ("echo $((1+2)) $'a\\'b' ${X:-y}", ["echo $((1+2)) $'a\\'b' ${X:-y}"]),
        ("ls # rm -rf /", ["ls"]),
        ('echo "$\'"; evil "\'"', ['echo "$\'"', 'evil "\'"']),
        ("a \\\n  b", ["a \\\n  b"]),
        ("! grep x", ["grep x"]),
        ("do ls; done", ["do ls", "done"]),  # a reserved word out of place is a program's name
    ],
)
def test_simple_commands_are_found(command: str, commands: list[str]) -> None:
    assert [found.text for found in parse_shell(command)] == commands


@pytest.mark.parametrize(
    "command",
    [
        "", "  ", "# only", "X=1", "ls &&", "&& ls", "ls | ", "echo 'open", 'echo "open',
        "echo )", "(ls", "if a; then b", "echo ${x@P}", "a=(1 2)", "echo `a", "echo $(a",
        "cat <<EOF\nx", "echo >", "( " * 60 + "a" + " )" * 60, "x" * 100_001,
        "for x in < f; do ls; done", "[ -f x", "[[ -f x; evil ]]", "(ls) evil", "{ ls", "a || ! ",
        "if a; then; fi", "echo $()", "echo a=(b)", "ls \\", "echo ${ evil; }",
        "cat <<EOF", "echo $((ls); evil)", "> #f", "echo $(cat <<EOF)\nx\nEOF",
        "case x in a ls;; esac", "echo ${x:-y;b}", "echo ${x=y|b}", "echo ${x:-${y};b}",
        "echo ${x-y.;b}", "echo ${x+;'q'}",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error(command: str) -> None:
    with pytest.raises(ShellSyntaxError):
        parse_shell(command)
    assert command_roots(command) == []


@pytest.mark.parametrize(
    ("command", "roots"),
    [
        ("case x in a) b;; esac", ["b"]),
        ("f() { ls; }", ["ls"]),
        ("function f { ls; }; f", ["ls", "f"]),
        ("cat <<EOF\n$(x)\nEOF", ["cat", "x"]),
        ("cat <<EOF\n`x`\nEOF", ["cat"]),
        ("cat <<EOF\n  EOF\n'\nEOF\nevil #'", ["cat", "\nEOF\nevil #"]),
        ("((1))", ["((1))"]),
        ("for ((i=0;i<3;i++)); do a; done", ["a"]),
        ("select x in a b; do c; done", ["c"]),
        ("coproc a", ["coproc"]),
        ("a=($(x)); b", ["x", "b"]),
        ("echo `echo \\`evil\\``", ["echo", "echo"]),
        ("echo ${x:-`evil`}", ["echo"]),
        ("echo ${x:-<(evil)}", ["echo"]),
        ('echo "${x:-\'}"', ["echo"]),
        ("ls\r#x; evil", ["ls"]),
        ("i\\\nf evil", ["i"]),
    ],
)
def test_what_is_read_as_upstream_does_but_may_run_more_is_not_vouched_for(
    command: str, roots: list[str]
) -> None:
    assert command_roots(command) == roots
    with pytest.raises(ShellSyntaxError):
        parse_shell(command)


@pytest.mark.parametrize(
    ("command", "commands"),
    [
        ('echo "${x:-$(evil)}"', ['echo "${x:-$(evil)}"', "evil"]),
        ("echo $((1+$(evil)))", ["echo $((1+$(evil)))", "evil"]),
        ("echo $(( (1+2)*3 )) ${x@Q} ${a:-${b}}", ["echo $(( (1+2)*3 )) ${x@Q} ${a:-${b}}"]),
        ("echo ${x:-${y} b;c}", ["echo ${x:-${y} b;c}"]),
        ("echo ${x:-;b} ${x-y-;b} ${x#y;b}", ["echo ${x:-;b} ${x-y-;b} ${x#y;b}"]),
        ("echo ${x:-'a}b'} ; ls", ["echo ${x:-'a}b'}", "ls"]),
        ("[[ a =~ ^(x|y)$ && $(evil) ]] || b", ["[[ a =~ ^(x|y)$ && $(evil) ]]", "evil", "b"]),
        ("[ a ] && evil", ["[ a ]", "evil"]),
        ("> f ls 2>&1", ["> f ls"]),
        ("$(a) x", ["$(a) x", "a"]),
        ("A[0]=1 ls {fd}>f", ["A[0]=1 ls {fd}"]),
        ("ls; subshell", ["ls", "subshell"]),
        ("ls\r\npwd\r\n", ["ls", "pwd"]),
        ("echo a\\\n b", ["echo a\\\n b"]),
        ("echo a\\\n#b; evil", ["echo a\\\n#b", "evil"]),
        ("!\\\n x; !\\\ny", ["x", "!\\\ny"]),
        ("until a\ndo\nb # c\ndone | d", ["a", "b", "d"]),
    ],
)
def test_every_command_of_a_line_that_is_vouched_for_is_found(
    command: str, commands: list[str]
) -> None:
    assert [found.text for found in parse_shell(command)] == commands


def test_a_name_ends_at_a_line_continuation_as_it_does_upstream() -> None:
    assert command_roots("l\\\ns x") == ["l"]


def test_a_program_named_like_a_detail_is_overlooked_only_where_upstream_does_so() -> None:
    assert command_roots("ls; subshell") == ["ls"]


@given(st.text(alphabet="ab \n;&|()<>$`'\"\\{}#=!", max_size=40))
def test_any_text_is_read_or_refused_in_no_time(command: str) -> None:
    try:
        found = parse_shell(command)
    except ShellSyntaxError:
        return
    assert all(part.text and part.text in command for part in found)


@pytest.mark.parametrize(
    ("command", "redirects"),
    [
        ("echo hi > f", True),
        ("a 2>&1", True),
        ("a &> f", True),
        ("cat < f", True),
        ("cat <<< x", True),
        ("echo 'a > b'", False),
        ('echo "->"', False),
        ("diff <(a) b", False),
        ("echo 'open >", True),
        ('echo "a > b', True),
        ("echo '>'", False),
        ("[[ a < b ]]", False),
        ("ls", False),
    ],
)
def test_redirections_are_found(command: str, redirects: bool) -> None:
    assert has_redirection(command) is redirects


@pytest.mark.parametrize(
    ("command", "inside"),
    [
        ("bash -c 'ls -la'", "ls -la"),
        ('/bin/sh -c "echo \\"$X\\""', 'echo "$X"'),
        ("bash -c ls", "ls"),
        ("zsh   -c   'a; b' ", "a; b"),
        ("  ls  ", "ls"),
        ("bash script.sh", "bash script.sh"),
        ("bash -c 'ls -l'", "ls -l"),
        ('sh -c "ls \\"a b\\""', 'ls "a b"'),
        ("/bin/zsh -c ls", "ls"),
        ("bashful -c 'x'", "bashful -c 'x'"),
        ('bash -c "a" "b"', 'a" "b'),
    ],
)
def test_a_shell_wrapper_is_taken_off(command: str, inside: str) -> None:
    assert strip_shell_wrapper(command) == inside


@pytest.mark.parametrize("command", ['""', "''", '"" x'])
def test_an_empty_word_is_no_command(command: str) -> None:
    assert command_roots(command) == []
    with pytest.raises(ShellSyntaxError):
        parse_shell(command)
