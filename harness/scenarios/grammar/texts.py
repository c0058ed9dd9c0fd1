"""Texts: mostly a few words, sometimes known troublemakers."""

from __future__ import annotations

from typing import Final

from harness.scenarios.chooser import Chooser

__all__ = ["answer_text", "cut", "prompt_text", "thought_text"]

_WORDS: Final = (
    "ok",
    "The file says alpha.",
    "I looked at both, and they differ in one line.",
    "Done.",
    "Let me check that first.",
    "Shall I go on?",
    "# Title\n\n- one\n- two\n",
    "```py\nprint('x')\n```",
)
_ODD: Final = (
    "naïve café — “quoted”",
    "\U0001f469\u200d\U0001f4bb types \U0001f680\U0001f680",
    "\u202eright to left\u202c",
    "line\u2028separator and \x00 nul",
    "\x1b[31mred\x1b[0m",
    '{"looks": "like json", "n": [1, 2.5e-9]}',
    "<session_context> not really",
    "</script><b>&amp;",
    "e\u0301 and \u00e9",
    "tab\tand\r\nreturn",
    "   ",
    "0",
    "\u200b\ufeff",
    "\ud7ff\ue000 \uffff",
    "```py\nnever closed",
    "A repeated sentence, of just the length that counts. ",
)
_ROUND: Final = "This sentence comes again, all of it, and once more.  "
"""A little longer than the pieces that loop detection compares: ten of them are a loop."""

_PROMPTS: Final = (
    "go",
    "what is in a.txt?",
    "please change b.txt",
    "run it",
    "and now?",
    "thanks, once more",
)


def prompt_text(choose: Chooser) -> str:
    """A user's prompt."""
    if choose.chance("odd_text", 60):
        return choose.among([text for text in _ODD if text.strip()])
    return choose.among(_PROMPTS)


def answer_text(choose: Chooser) -> str:
    """A text of the model."""
    kind = choose.option("answer_text", {"words": 20, "odd": 4, "long": 2, "around": 1})
    if kind == "odd":
        return choose.among(_ODD)
    if kind == "long":
        return choose.among((*_WORDS, *_ODD)) * choose.whole(2, 60)
    if kind == "around":
        return _ROUND * choose.whole(8, 12)
    return choose.among(_WORDS)


def thought_text(choose: Chooser) -> str:
    """A thought of the model, with or without a bold subject."""
    return choose.among(
        (
            "**Plan** read the file first",
            "just thinking",
            "**Only a subject**",
            "a **b** c **d** e",
            "**never closed",
            "",
            "****",
        )
    )


def cut(choose: Chooser, text: str) -> list[str]:
    """`text` cut into one or more pieces between code points."""
    pieces: list[str] = []
    start = 0
    for _ in choose.times("cut", 4, 250):
        if start >= len(text) - 1:
            break
        end = choose.whole(start + 1, len(text) - 1)
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]
