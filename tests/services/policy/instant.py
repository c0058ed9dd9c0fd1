"""A policy engine that can be asked without a loop, where no checker takes its time."""

from __future__ import annotations

from typing import Any

from services.policy.engine import PolicyCheck, PolicyEngine

__all__ = ["InstantEngine"]


class InstantEngine(PolicyEngine):
    def check(self, *args: Any, **more: Any) -> PolicyCheck:
        """`decide`, which must not wait for anything."""
        steps = self.decide(*args, **more)
        try:
            steps.send(None)
        except StopIteration as done:
            found: PolicyCheck = done.value
            return found
        steps.close()
        raise AssertionError("the decision had to be waited for")
