"""Strict JSON for records: bounded, without repeated keys and NaN, in canonical form.

So all programs read the same from a record.
"""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from harness.canonical import canonical

__all__ = ["MAX_BYTES", "NotStrict", "parse_strict"]

MAX_BYTES: Final = 16 * 1024 * 1024
"""The longest record that is read: about thirty times the usual size."""


class NotStrict(ValueError):
    """The bytes are no strict JSON. The message is a phrase: `names the key 'x' twice`."""


def parse_strict(raw: bytes) -> Any:
    """The value that `raw` holds.

    Raises:
        NotStrict: too long, not UTF-8, not JSON, a key twice, or not in the one canonical spelling.
    """
    if len(raw) > MAX_BYTES:
        raise NotStrict(f"is longer than {MAX_BYTES} bytes")
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_no_key_twice, parse_constant=_no_number
        )
        same = canonical(value).encode() == raw
    except NotStrict:
        raise
    except UnicodeDecodeError:
        raise NotStrict("is not UTF-8") from None
    except RecursionError:
        raise NotStrict("is nested too deeply") from None
    except ValueError as error:
        raise NotStrict(f"is not JSON: {error}") from None
    if not same:
        raise NotStrict("is not in canonical form: keys sorted, no spaces, ASCII only")
    return value


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotStrict(f"names the key {twice!r} twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise NotStrict(f"holds {name}, which is no JSON number")
