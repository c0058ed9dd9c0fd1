"""Held-out faults of services in long outputs: masked in the history, distilled before it."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.model.tokens import estimate_tokens
from services.wire import js_json

__all__ = ["FAULTS"]

_masking = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.CONTEXT, held_out=True)
_distilling = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.TOOLS, held_out=True)

_TAG: Final = "<tool_output_masked"


def _compact(_: Any) -> Any:
    return js_json


def _counting_masked(measure: Any) -> Any:
    def broken(part: Any) -> Any:
        tokens = measure(part)
        if tokens is None and _TAG in js_json(part["functionResponse"].get("response")):
            return estimate_tokens([part])
        return tokens

    return broken


def _nobody(_: Any) -> Any:
    return frozenset()


def _asked_and_lost(summary: Any) -> Any:
    async def broken(self: Any, *args: Any) -> str:
        await summary(self, *args)
        return ""

    return broken


FAULTS: Final = (
    _masking(
        name="masked-outputs-compact",
        says="Masked outputs are shown and saved without line breaks.",
        origin="a serialiser's other default",
        breaks=lambda: replaced("services.output_masking:js_json_pretty", _compact),
    ),
    _masking(
        name="masked-outputs-counted-again",
        closed_by="masking/masked_not_counted",
        says="Outputs that are masked count towards what there is to mask.",
        origin="a mark that is written and not looked for",
        breaks=lambda: replaced("services.output_masking:_maskable_tokens", _counting_masked),
    ),
    _masking(
        name="commands-masked-like-others",
        says="Of a masked command's output characters are left, not its lines and its exit code.",
        origin="a tool known by an earlier name",
        breaks=lambda: replaced("services.output_masking:_SHELL", lambda _: "shell"),
    ),
    _distilling(
        name="read-files-distilled",
        says="Files that were read are distilled like any other output.",
        origin="a list of exceptions left behind in another module",
        breaks=lambda: replaced("services.tool_distillation:_EXEMPT", _nobody),
    ),
    _distilling(
        name="distillation-limits-in-characters",
        says="Limits of distillation are read as characters where they are tokens.",
        origin="one name for two units",
        breaks=lambda: replaced("services.tool_distillation:_CHARS_PER_TOKEN", lambda _: 1),
    ),
    _distilling(
        name="summary-of-output-lost",
        closed_by="distillation/summed_up",
        says="A model sums up what was cut from an output, and nobody is told.",
        origin="a result that is not handed on",
        breaks=lambda: replaced(
            "services.tool_distillation:ToolDistillation._summary", _asked_and_lost
        ),
    ),
)
