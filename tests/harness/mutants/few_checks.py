"""Two checks of the adk runtime: one holds, one is wrong already."""

import runtimes.adk.plugins.named as named

NAMES = ("holds", "wrong")


def check(name: str) -> tuple[str, ...]:
    if name == "wrong":
        return ("names: always wrong",)
    left = named.without_namesakes([])
    return () if left == [] else (f"names: the runtime has {left}, stock ADK []",)
