"""What is sent without anybody typing it: after loops, unfinished answers, lost calls."""

from __future__ import annotations

from typing import Any, cast

import pytest

from runtimes.adk.continuation import Continuation
from runtimes.adk.conversation import Conversation
from runtimes.adk.run import End, Run
from services.abort import AbortController
from services.loop_detection.detector import LoopVerdict

CHANT = "This sentence is fifty characters long, I promise! "
READ = ("read_file", {"file_path": "a.txt"})


@pytest.mark.parametrize(
    ("left", "aborted", "expected"),
    [
        (1, False, End("max_turns", {"code": "MAX_TURNS_EXCEEDED"})),
        (1, True, End("aborted")),
        (2, True, None),
    ],
)
def test_loop_without_turns_left_is_the_limits_business(kit, left, aborted, expected):
    async def go():
        async with kit.services() as played:
            controller = AbortController()
            run = Run(prompt_id="p", signal=controller.signal)
            run.left, run.step.loop = left, LoopVerdict(count=1)
            if aborted:
                controller.abort()
            unused: Any = None
            conversation = Conversation(played.services)
            following = Continuation(played.services, conversation, *[unused] * 5)
            after = await following.after(cast("Any", None), run)
            if expected is None:
                assert isinstance(after, list)
                assert (run.follows_up, run.left) == (True, 1)
            else:
                assert after == expected

    kit.in_loop(go)
