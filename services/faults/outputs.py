"""Faults of the services in long outputs: masked in the history, distilled before it."""

from __future__ import annotations

from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import result
from services.model.tokens import estimate_tokens
from services.wire import js_json

held_out = Faults(Site.SERVICE, Behaviour.CONTEXT, held_out=True)
held_out_tools = Faults(Site.SERVICE, Behaviour.TOOLS, held_out=True)
_TAG: Final = "<tool_output_masked"

masked_outputs_compact = held_out.wrap(
    "services.output_masking:js_json_pretty",
    lambda _: js_json,
    says="Masked outputs are shown and saved without line breaks.",
    origin="a serialiser's other default",
)
commands_masked_like_others = held_out.wrap(
    "services.output_masking:_SHELL",
    lambda _: "shell",
    says="A masked command output keeps characters, not its lines and exit code.",
    origin="a tool known by an earlier name",
)
read_files_distilled = held_out_tools.wrap(
    "services.tool_distillation:_EXEMPT",
    lambda _: frozenset(),
    says="File contents are distilled like any other output.",
    origin="a list of exceptions left in another module",
)
distillation_limits_in_characters = held_out_tools.wrap(
    "services.tool_distillation:_CHARS_PER_TOKEN",
    lambda _: 1,
    says="The limits of distillation are in characters instead of tokens.",
    origin="one name for two units",
)
summary_of_output_lost = held_out_tools.wrap(
    "services.tool_distillation:ToolDistillation._summary",
    result(lambda _: ""),
    says="A model summarises the removed output, but no notice mentions it.",
    origin="a result that is not passed on",
    closed_by="distillation/summed_up",
)


@held_out(
    "services.output_masking:_maskable_tokens",
    origin="a mark that is written but not read",
    closed_by="masking/masked_not_counted",
)
def masked_outputs_counted_again(measure: Any, part: Any) -> Any:
    """Outputs already masked count towards the masking threshold."""
    tokens = measure(part)
    if tokens is None and _TAG in js_json(part["functionResponse"].get("response")):
        return estimate_tokens([part])
    return tokens
