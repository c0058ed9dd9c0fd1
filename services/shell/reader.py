"""Bash's grammar, as far as needed to list the programs that a line starts.

A recursive reader of lists, pipelines, compound commands, expansions and redirections; unknown
syntax is an error. Where upstream's parser (tree-sitter) and Bash differ, the details are
upstream's and `doubtful` is set, so that no permission rests on them.
"""

from __future__ import annotations

import re
from typing import Final

from services.shell.cursor import CommandDetail, Unreadable, unquoted
from services.shell.expansions import HereDocument, WordReader
from services.wire import js_trim

__all__ = ["Reader"]

_REDIRECTION: Final = re.compile(r"(?:\d*(?=[<>]))?(<<<|<<-?|>>|>\||[<>]&|[<>]|&>>?)")
_CASE_END: Final = re.compile(r";;&|;;|;&")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_EMPTY_PARENTHESES: Final = re.compile(r"\([ \t]*\)")
_NAME_END: Final = re.compile(r"\\\n|[\v\f]")
_DECLARATIONS: Final = frozenset({"declare", "typeset", "export", "readonly", "local"})


class Reader(WordReader):
    """Walks the text once and notes its details."""

    def read(self) -> None:
        """Read the whole line into `details`.

        Raises:
            Unreadable: see there.
        """
        self._list()
        if self._heredocs:
            raise Unreadable

    def _list(
        self, closer: str = "", until: tuple[str, ...] = (), *, required: bool = True
    ) -> None:
        """Commands up to `closer` or a reserved word of `until`, which are not consumed."""
        pending, found = False, not required
        heredocs = len(self._heredocs)
        while True:
            self._skip_space()
            if self.place >= len(self.text):
                if closer or pending:
                    raise Unreadable
                return
            if self._at_close(closer, until):
                if pending or not found or len(self._heredocs) > heredocs:
                    raise Unreadable
                return
            before = self.place
            self._command()
            if self.place == before:
                raise Unreadable
            found = True
            if self._at_close(closer, until):
                pending = False
                continue
            pending = self._operator() in ("&&", "||", "|", "|&")

    def _at_close(self, closer: str, until: tuple[str, ...]) -> bool:
        if closer and self._at(closer):
            return True
        if "esac" in until and (self._at(";;") or self._at(";&")):
            return True
        return self._peek_word() in until

    def _operator(self) -> str | None:
        for operator in ("&&", "||", "|&", "|", ";;", ";", "&"):
            if self._at(operator):
                self.place += len(operator)
                return operator
        if not self._at_end_of_command():
            raise Unreadable
        return None

    def _command(self) -> None:
        with self._deeper():
            while self._peek_word() == "!":
                self.place += 1
                self._skip_blank()
                if self._at_end_of_command():
                    raise Unreadable
            if self._compound():
                self._skip_blank()
                while self._redirection():
                    self._skip_blank()
            else:
                self._simple()

    def _compound(self) -> bool:
        start = self.place
        if self._at("(("):
            self.doubtful = True
            self.place += 2
            self._arithmetic()
            self._note(self.text[start : self.place], start, program=True)
            return True
        if self._at("("):
            self.place += 1
            self._list(")")
            self.place += 1
            self._note("subshell", start)
            return True
        match self._peek_word():
            case "[[":
                self._test()
                self._note("[[", start, program=True)
            case "{":
                self._block("{", "}")
            case "if":
                self._if()
            case "while" | "until" as word:
                self._block(word, "do", consume=False)
                self._block("do", "done")
            case "for" | "select" as word:
                self.doubtful = self.doubtful or word == "select"
                self._for(word)
            case "case":
                self.doubtful = True
                self._case()
            case "function":
                self.doubtful = True
                self._function()
            case _:
                return False
        return True

    def _expect(self, word: str) -> None:
        if self._peek_word() != word:
            raise Unreadable
        self.place += len(word)

    def _block(self, opener: str, closer: str, *, consume: bool = True) -> None:
        self._expect(opener)
        self._list(until=(closer,))
        if consume:
            self._expect(closer)

    def _if(self) -> None:
        self._expect("if")
        while True:
            self._list(until=("then",))
            self._expect("then")
            self._list(until=("elif", "else", "fi"))
            if self._peek_word() != "elif":
                break
            self._expect("elif")
        if self._peek_word() == "else":
            self._expect("else")
            self._list(until=("fi",))
        self._expect("fi")

    def _for(self, keyword: str) -> None:
        """`for NAME [in WORDS]` or `for ((…))`, and its body."""
        self._expect(keyword)
        self._skip_blank()
        if self._at("(("):
            self.doubtful = True
            self.place += 2
            self._arithmetic(separated=True)
            self._skip_blank()
        else:
            self._word()
            self._skip_space()
            if self._peek_word() == "in":
                while not self._at_end_of_command():
                    self._word()
                    self._skip_blank()
        if self._at(";"):
            self.place += 1
        self._skip_space()
        if self._peek_word() == "{":
            self._block("{", "}")
        else:
            self._block("do", "done")

    def _case(self) -> None:
        self._expect("case")
        self._skip_blank()
        self._word()
        self._skip_space()
        self._expect("in")
        while True:
            self._skip_space()
            if self._peek_word() == "esac":
                break
            self._case_pattern()
            self._list(until=("esac",), required=False)
            if match := _CASE_END.match(self.text, self.place):
                self.place = match.end()
        self._expect("esac")

    def _case_pattern(self) -> None:
        if self._at("("):
            self.place += 1
        while True:
            self._skip_blank()
            self._word()
            self._skip_blank()
            if self._at(")"):
                break
            if not self._at("|"):
                raise Unreadable
            self.place += 1
        self.place += 1

    def _function(self) -> None:
        self._expect("function")
        self._skip_blank()
        self._word()
        self._skip_blank()
        if match := _EMPTY_PARENTHESES.match(self.text, self.place):
            self.place = match.end()
        self._skip_space()
        self._command()

    def _test(self) -> None:
        """`[[ … ]]`, in which operators and parentheses are not the shell's."""
        while True:
            self._skip_space()
            if self.place >= len(self.text) or self.text[self.place] == ";":
                raise Unreadable
            if self._peek_word() == "]]":
                self._expect("]]")
                return
            if self._at("&") and not self._at("&&"):
                raise Unreadable
            if self._at("&&") or self._at("||"):
                self.place += 2
            elif self.text[self.place] in "|()" or (
                self.text[self.place] in "<>" and not self._process_substitution_here()
            ):
                self.place += 1
            else:
                self._word()

    def _simple(self) -> None:
        """Read a simple command: redirections anywhere, assignments before the name."""
        start = end = self.place
        slot = len(self.details)
        name: str | None = None
        assigned = redirected = False
        arguments: list[str] = []
        while True:
            self._skip_blank()
            if self._at_end_of_command():
                break
            if redirection := self._redirection():
                redirected = True
                if redirection == "<<<":
                    end = self.place
                continue
            if self._at("("):
                self._function_body(name, arguments)
                return
            word = self._word()
            declared = name in _DECLARATIONS and self._at("(")
            if _ASSIGNMENT.match(word) and (name is None or declared):
                if self._at("("):
                    self._array()
                assigned = True
                end = self.place
                continue
            if name is None:
                name = word
                self.doubtful = self.doubtful or word == "coproc"
            else:
                arguments.append(word)
            end = self.place
        if name is not None:
            if name == "[" and arguments[-1:] != ["]"]:
                raise Unreadable
            text = js_trim(self.text[start:end])
            shown = unquoted(name if name[0] in "\"'" else _NAME_END.split(name)[0])
            self.details.insert(slot, CommandDetail(shown, text, start))
        elif assigned and redirected:
            raise Unreadable

    def _function_body(self, name: str | None, arguments: list[str]) -> None:
        match = _EMPTY_PARENTHESES.match(self.text, self.place)
        if match is None or name is None or arguments:
            raise Unreadable
        self.doubtful = True
        self.place = match.end()
        self._skip_space()
        self._command()

    def _array(self) -> None:
        self.doubtful = True
        self.place += 1
        while not self._at(")"):
            self._skip_space()
            if not self._at(")"):
                self._word()
        self.place += 1

    def _redirection(self) -> str:
        """Read one and return its operator; nothing where there is none."""
        match = _REDIRECTION.match(self.text, self.place)
        if match is None or self._at("(", match.end()):
            return ""
        start, operator = self.place, match[1]
        self.place = match.end()
        self._skip_blank()
        if self._at("#"):
            raise Unreadable
        word = self._word()
        if operator == "<<<":
            self._note("herestring (<<<)", start)
        elif operator.startswith("<<"):
            bare = unquoted(word).replace("\\", "")
            self._heredocs.append(HereDocument(bare, tabs=operator == "<<-", quoted=bare != word))
            self._note("heredoc (<<)", start)
        else:
            self._note("redirection (<)" if "<" in operator else "redirection (>)", start)
        return operator
