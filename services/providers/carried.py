"""Opaque data of a provider inside thought signatures.

Some providers return data that the next request must contain again: Anthropic's thinking blocks,
the `extra_content` of a call. The runtimes keep a part's `thoughtSignature` unread, so that is
where it travels. A signature names its provider; another provider's is not sent.
"""

from __future__ import annotations

import base64
import binascii

from services.json_values import parse_json
from services.providers.provider import Provider
from services.providers.shape import compact
from services.wire import Json

__all__ = ["packed", "unpacked"]


def packed(provider: Provider, data: Json) -> str:
    """Return `data` as a thought signature: base64 of `{provider: data}`."""
    return base64.b64encode(compact({str(provider): data}).encode()).decode("ascii")


def unpacked(provider: Provider, signature: Json) -> Json:
    """Return the data of `provider` in a thought signature; `None` in any other."""
    if not isinstance(signature, str):
        return None
    try:
        found = parse_json(base64.b64decode(signature, validate=True))
    except (binascii.Error, ValueError):
        return None
    return found.get(str(provider)) if isinstance(found, dict) and len(found) == 1 else None
