"""Runs a scenario at byte level: its answers over a socket, cut anywhere, with the real client.

Each runtime is compared with itself: once with the scripted model, as the client would read its
steps (`harness.http.reading`), and once over a socket, where the stand-in sends the same steps as
event streams cut at drawn bytes. The cuts must make no difference.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.coverage.probes import shared_probes
from harness.experiment.announcing import case_begins
from harness.http.reading import read_source
from harness.http.standin import stream_body
from harness.parity.compare import compare
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers
from harness.replay.observation import Observation
from harness.replay.runner import observe_cassette, run_cassette
from harness.scenarios.trial import Trial
from runtimes.contract import RuntimeTraits
from runtimes.registry import runtime_traits
from services.clock import virtual_loop
from services.model.generator import LlmRole
from services.model.parts import function_calls
from services.model.replay.steps import ErrorSpec, Hang, ModelStep, Sleep, StepKind, StepMethod
from services.wire import JsonObject

__all__ = ["OVER_BYTES", "byte_trial", "cut_at_random", "fits_bytes"]

OVER_BYTES: Final = " over bytes"
"""Suffix of the labels of divergences that only bytes show; it changes their fingerprints."""

_ROOT: Final = Path("generated")
_FEW_CUTS: Final = 4
_MOST_CUTS: Final = 40
_STRETCH: Final = 150
_OWN_WORDS: Final = RuntimeTraits().words
_TENDER: Final = re.compile(rb"data: |\r\n|[\xc2-\xf4][\x80-\xbf]+|\\u[0-9a-f]{4}|\"[a-zA-Z]+\":")
"""Places that a reader may get wrong: half of the cuts are drawn inside these."""


def fits_bytes(document: JsonObject) -> bool:
    """Whether the stand-in can serve every answer of a cassette document.

    It cannot serve answers that never come or pause, connections that fail before the answer, and
    errors among the chunks. Calls that are begun and never ended do not fit, since the client
    refuses to send them back. No call in pieces fits beside a loop check, which sends the pieces
    of each call back. Actions after a delay do not fit, since virtual time passes only
    while no real work goes on.

    Raises:
        CassetteFormatError: the document is no cassette.
    """
    answers = (document.get("answers") or {}).get("confirmations") or ()
    late = (*document.get("during", ()), *(each for each in answers if isinstance(each, dict)))
    if any(action.get("delay_ms") for action in late):
        return False
    steps = _built(document).steps
    checks_loops = any(step.role == LlmRole.UTILITY_LOOP_DETECTOR for step in steps)
    in_pieces = any(call.get("willContinue") for step in steps for call in _calls(step))
    if checks_loops and in_pieces:
        return False
    return all(_can_be_served(step) for step in steps)


def byte_trial(
    document: JsonObject,
    cuts: int,
    control: str,
    candidate: str,
    waivers: Waivers,
    *,
    deadline_s: float = 60,
) -> Trial:
    """Run a document that fits, scripted and over a socket, in each runtime with our client.

    The result is that of the first runtime that differs from itself, else of the last. The
    published core has its own client, so it is left out.

    Args:
        document: The cassette.
        cuts: The seed of the cuts in the event streams.
        control: A runtime's name.
        candidate: The other runtime's name.
        waivers: The accepted differences.
        deadline_s: Real seconds for each run.

    Raises:
        CassetteFormatError: the document is no cassette.
    """
    case_begins()
    cassette = _built(document)
    sides = [
        side
        for side in dict.fromkeys((control, candidate))
        if runtime_traits(side).words == _OWN_WORDS
    ]
    result = CaseResult.undecided(cassette.name, "neither runtime asks google-genai's client")
    runs: list[Observation] = []
    run_s = compare_s = 0.0
    for side in sides:
        begun = time.process_time()
        fired: Counter[str] = Counter()
        source = read_source(fired)
        scripted = run_cassette(cassette, side, deadline_s=deadline_s, model=source)
        over_bytes = _run_over_bytes(cassette, side, cuts, deadline_s)
        ran = time.process_time()
        declared = replace(cassette, unused=tuple(scripted.unused_steps))
        # Over a socket the delays within an answer take no virtual time.
        timeless = replace(over_bytes, times={})
        result = _marked(compare(scripted, timeless, declared, waivers), fired)
        run_s += ran - begun
        compare_s += time.process_time() - ran
        runs += [scripted, over_bytes]
        if result.verdict is not CaseVerdict.PARITY:
            break
    return Trial(
        document={**document, "unused": list(runs[0].unused_steps if runs else ())},
        result=result,
        reached=shared_probes(runs),
        run_s=run_s,
        compare_s=compare_s,
    )


def cut_at_random(step: JsonObject, rng: random.Random) -> JsonObject:
    """A step of the stand-in with a drawn line end and drawn cuts.

    The cuts are none, each byte of a stretch, or up to 40 places. A reset stays at the stream's
    end.
    """
    if "stream" not in step:
        return step
    cut = {**step, "line_end": rng.choice(("\r\n", "\n"))}
    body = stream_body(cut)
    manner = rng.choice(("few", "many", "every", "none"))
    anywhere = range(1, max(len(body), 2))
    if manner == "every":
        start = rng.choice(anywhere)
        places: Sequence[int] = range(start, start + _STRETCH)
    elif manner == "none":
        places = ()
    else:
        tender = [place for found in _TENDER.finditer(body) for place in _inside(found)]
        count = rng.randint(1, _FEW_CUTS if manner == "few" else _MOST_CUTS)
        places = [rng.choice(rng.choice((tender or anywhere, anywhere))) for _ in range(count)]
    if "reset_at" in cut:
        cut["reset_at"] = len(body)
    return {**cut, "cuts": list(places)}


def _inside(found: re.Match[bytes]) -> range:
    return range(found.start() + 1, found.end())


def _can_be_served(step: ModelStep) -> bool:
    if step.kind is StepKind.HANG or step.method is StepMethod.EMBED:
        return False
    if any(isinstance(chunk, (Hang, Sleep)) or "error" in chunk for chunk in step.chunks):
        return False
    if _leaves_a_call_open(step):
        return False
    if step.error is not None and not _refuses(step.error):
        return False
    error = step.then_error
    return error is None or error.status is None or _refuses(error)


def _calls(step: ModelStep) -> Iterator[JsonObject]:
    for chunk in step.chunks:
        if isinstance(chunk, dict):
            yield from function_calls(chunk)


def _leaves_a_call_open(step: ModelStep) -> bool:
    begun = False
    for call in _calls(step):
        if begun and call.get("name"):  # a chunk that continues a call has no name
            return True
        begun = bool(call.get("willContinue"))
    return begun


def _refuses(error: ErrorSpec) -> bool:
    return error.status is not None and error.status >= 400


def _built(document: JsonObject) -> Cassette:
    return build_cassette(document, _ROOT / f"{document['name']}.yaml", _ROOT)


def _run_over_bytes(cassette: Cassette, runtime: str, cuts: int, deadline_s: float) -> Observation:
    from harness.http.wire_model import open_wire

    rng = random.Random(cuts)  # noqa: S311 - a seeded draw, not a secret

    async def run() -> Observation:
        async with open_wire(lambda step: cut_at_random(step, rng)) as source:
            return await observe_cassette(cassette, runtime, deadline_s=deadline_s, model=source)

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        seen = runner.run(run())
    return replace(seen, runtime=f"{runtime}{OVER_BYTES}")


def _marked(result: CaseResult, fired: Counter[str]) -> CaseResult:
    divergences = tuple(
        replace(found, label=f"{found.label}{OVER_BYTES}") for found in result.divergences
    )
    return replace(result, divergences=divergences, rules={**result.rules, **fired})
