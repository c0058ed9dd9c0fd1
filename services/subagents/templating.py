"""`${name}` in an agent's prompts. Source: core `agents/utils.ts` (`templateString`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from services.wire import Json, js_text

__all__ = ["MissingInputs", "fill_template"]

_PLACE: Final = re.compile(r"\$\{(\w+)\}", re.ASCII)


class MissingInputs(ValueError):
    """Inputs of a template are missing. `name` is the wire's."""

    name = "Error"


def fill_template(template: str, inputs: Mapping[str, Json]) -> str:
    """Replace each `${name}` by the input's value, once.

    Raises:
        MissingInputs: an input is missing.
    """
    wanted = dict.fromkeys(match[1] for match in _PLACE.finditer(template))
    missing = [name for name in wanted if name not in inputs]
    if missing:
        raise MissingInputs(
            "Template validation failed: Missing required input parameters: "
            f"{', '.join(missing)}. Available inputs: {', '.join(inputs)}"
        )
    return _PLACE.sub(lambda match: js_text(inputs[match[1]]), template)
