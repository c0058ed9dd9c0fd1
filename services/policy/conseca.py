"""The safety checker `conseca`: a model derives a policy from the prompt, and judges calls by it.

Off unless `Settings.enable_conseca`. Where the model fails, or its answer is invalid, a call is
allowed. Source: core `safety/conseca/`.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import jsonschema

from services.abort import AbortSignal
from services.model.generator import ContentGenerator, LlmRole, ModelRequest
from services.model.parts import response_text
from services.policy.conseca_texts import JUDGE_CALL, MAKE_POLICY, POLICY_SCHEMA, VERDICT_SCHEMA
from services.policy.rules import Decision
from services.policy.safety import SafetyRequest, SafetyVerdict
from services.wire import JsonObject, js_json_pretty

__all__ = ["Conseca"]

logger = logging.getLogger(__name__)

_PLACEHOLDER: Final = re.compile(r"\{\{(\w+)\}\}", re.ASCII)
_POLICY_KEYS: Final = ("permissions", "constraints", "rationale")


class Conseca:
    """One session's checker; each new prompt has a new policy.

    `model` is the session's default flash model.
    """

    def __init__(
        self,
        *,
        enabled: bool,
        model: str,
        generator: ContentGenerator,
        declarations: Callable[[], Sequence[JsonObject]],
        log: Callable[[str, str, Mapping[str, Any], Mapping[str, Any]], None] | None = None,
    ) -> None:
        self._log = log or (lambda _name, _body, _attributes, _texts: None)
        self._enabled = enabled
        self._model = model
        self._generator = generator
        self._declarations = declarations
        self._policy: dict[str, JsonObject] | None = None
        self._prompt: str | None = None

    @property
    def waits(self) -> bool:
        """Whether there is a call to a model."""
        return self._enabled

    async def check(self, request: SafetyRequest) -> SafetyVerdict:
        """Judge a call by the policy for the last prompt."""
        if not self._enabled:
            return SafetyVerdict(Decision.ALLOW)
        turns = request.context.get("history", {}).get("turns", [])
        prompt = turns[-1]["user"]["text"] if turns else ""
        if prompt and (prompt != self._prompt or self._policy is None):
            self._policy = await self._make_policy(prompt)
            self._prompt = prompt
        if self._policy is None:
            return SafetyVerdict(Decision.ALLOW)
        return await self._judge(request, self._policy.get(request.tool_name, {}))

    async def _make_policy(self, prompt: str) -> dict[str, JsonObject]:
        tools = js_json_pretty(list(self._declarations()))
        texts = {"user_prompt": prompt, "trusted_content": tools}
        answer = await self._ask(MAKE_POLICY, texts, POLICY_SCHEMA, "conseca-policy-generation")
        self._log(
            "conseca.policy_generation",
            "Conseca Policy Generation.",
            {"error": "no policy came back" if answer is None else None},
            {**texts, "policy": answer},
        )
        return {
            entry["tool_name"]: {key: entry["policy"][key] for key in _POLICY_KEYS}
            for entry in (answer or {}).get("policies", [])
        }

    async def _judge(self, request: SafetyRequest, policy: JsonObject) -> SafetyVerdict:
        call = js_json_pretty(request.call())
        texts = {"policy": js_json_pretty(policy), "tool_call": call}
        answer = await self._ask(JUDGE_CALL, texts, VERDICT_SCHEMA, "conseca-policy-enforcement")
        if answer is None:
            verdict = SafetyVerdict(Decision.ALLOW, "Policy enforcement failed")
        else:
            verdict = SafetyVerdict(Decision(answer["decision"]), answer["reason"])
        self._log(
            "conseca.verdict",
            f"Conseca Verdict: {verdict.decision}.",
            {"verdict": str(verdict.decision)},
            {**texts, "user_prompt": self._prompt, "verdict_rationale": verdict.reason},
        )
        return verdict

    async def _ask(
        self, template: str, texts: Mapping[str, str], schema: JsonObject, prompt_id: str
    ) -> JsonObject | None:
        """The answer; `None` if it is invalid."""
        text = _PLACEHOLDER.sub(lambda found: texts.get(found.group(1), found.group()), template)
        request = ModelRequest(
            model=self._model,
            contents=[{"role": "user", "parts": [{"text": text}]}],
            role=LlmRole.SUBAGENT,
            prompt_id=prompt_id,
            signal=AbortSignal(),
            config={"responseMimeType": "application/json", "responseSchema": schema},
        )
        try:
            said = response_text(await self._generator.generate_content(request))
            answer: Any = json.loads(said) if said else None
            jsonschema.validate(answer, _lenient(schema))
        except Exception as problem:  # noqa: BLE001 - the border: a failing model allows, as upstream
            logger.warning("%s: %s", prompt_id, problem)
            return None
        found: JsonObject = answer
        return found


def _lenient(schema: Any) -> Any:
    """`schema` that also allows other properties, which are then ignored."""
    if isinstance(schema, dict):
        return {
            key: _lenient(value) for key, value in schema.items() if key != "additionalProperties"
        }
    return schema
