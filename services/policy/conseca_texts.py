"""The requests to a model for the `conseca` checker. These are contents of the user's role.

Source: core `safety/conseca/policy-generator.ts`, `policy-enforcer.ts`.
"""

from __future__ import annotations

from typing import Final

from services.wire import JsonObject

__all__ = ["JUDGE_CALL", "MAKE_POLICY", "POLICY_SCHEMA", "VERDICT_SCHEMA"]

_DECISION: Final[JsonObject] = {"type": "string", "enum": ["allow", "deny", "ask_user"]}
_TEXT: Final[JsonObject] = {"type": "string"}


def _object(**properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


VERDICT_SCHEMA: Final = _object(decision=_DECISION, reason=_TEXT)
"""The verdict on one call."""

_POLICY: Final = _object(permissions=_DECISION, constraints=_TEXT, rationale=_TEXT)
POLICY_SCHEMA: Final = _object(
    policies={"type": "array", "items": _object(tool_name=_TEXT, policy=_POLICY)}
)
"""A policy: what each tool may do."""

JUDGE_CALL: Final = """\

You are a security enforcement engine. Your goal is to check if a specific tool call complies \
with a given security policy.

Input:
1.  **Security Policy:** A set of rules defining allowed and denied actions for this specific \
tool.
2.  **Tool Call:** The actual function call the system intends to execute.

Security Policy:
{{policy}}

Tool Call:
{{tool_call}}

Evaluate the tool call against the policy.
1. Check if the tool is allowed.
2. Check if the arguments match the constraints.
3. Output a JSON object with:
   - "decision": "allow", "deny", or "ask_user".
   - "reason": A brief explanation.

Output strictly JSON.
"""
"""`{{policy}}` and `{{tool_call}}` are JSON."""

MAKE_POLICY: Final = """\

You are a security expert responsible for generating fine-grained security policies for a large \
language model integrated into a command-line tool. Your role is to act as a "policy generator" \
that creates temporary, context-specific rules based on a user's prompt and the tools available \
to the main LLM.

Your primary goal is to enforce the principle of least privilege. The policies you create \
should be as restrictive as possible while still allowing the main LLM to complete the user's \
requested task.

For each tool that is relevant to the user's prompt, you must generate a policy object.

### Output Format
You must return a JSON object with a "policies" key, which is an array of objects. Each object \
must have:
- "tool_name": The name of the tool.
- "policy": An object with:
  - "permissions": "allow" | "deny" | "ask_user"
  - "constraints": A detailed description of conditions (e.g. allowed files, arguments).
  - "rationale": Explanation for the policy.

Example JSON:
```json
{
  "policies": [
    {
      "tool_name": "read_file",
      "policy": {
        "permissions": "allow",
        "constraints": "Only allow reading 'main.py'.",
        "rationale": "User asked to read main.py"
      }
    },
    {
      "tool_name": "run_shell_command",
      "policy": {
        "permissions": "deny",
        "constraints": "None",
        "rationale": "Shell commands are not needed for this task"
      }
    }
  ]
}
```

### Guiding Principles:
1.  **Permissions:**
    *   **allow:** Required tools for the task.
    *   **deny:** Tools clearly outside the scope.
    *   **ask_user:** Destructive actions or ambiguity.

2.  **Constraints:**
    *   Be specific! Restrict file paths, command arguments, etc.

3.  **Rationale:**
    *   Reference the user's prompt.

User Prompt: "{{user_prompt}}"

Trusted Tools (Context):
{{trusted_content}}
"""
"""`{{user_prompt}}` is text, `{{trusted_content}}` the declarations of all tools as JSON."""
