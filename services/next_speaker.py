"""Who should speak next, after an answer without tool calls: the user, or the model once more.

Source: core `utils/nextSpeakerChecker.ts`. The check is off unless `skip_next_speaker_check` is
set to false. The user-role text is upstream's, the schema's descriptions are our own words.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, Protocol

from services.abort import AbortSignal
from services.bundle import Services
from services.history.transforms import has_function_response
from services.model.generator import LlmRole
from services.model.utility import UtilityModel, UtilityRequest
from services.wire import Content, JsonObject

__all__ = [
    "CONTINUE_REQUEST",
    "SpokenChat",
    "check_next_speaker",
    "model_goes_on",
]

logger = logging.getLogger(__name__)

CONTINUE_REQUEST: Final = "Please continue."
"""The user-role text that makes the model go on. Source: core `core/client.ts`."""

_QUESTION: Final = """\
Analyze *only* the content and structure of your immediately preceding response (your last turn in \
the conversation history). Based *strictly* on that response, determine who should logically speak \
next: the 'user' or the 'model' (you).
**Decision Rules (apply in order):**
1.  **Model Continues:** If your last response explicitly states an immediate next action *you* \
intend to take (e.g., "Next, I will...", "Now I'll process...", "Moving on to analyze...", \
indicates an intended tool call that didn't execute), OR if the response seems clearly incomplete \
(cut off mid-thought without a natural conclusion), then the **'model'** should speak next.
2.  **Question to User:** If your last response ends with a direct question specifically addressed \
*to the user*, then the **'user'** should speak next.
3.  **Waiting for User:** If your last response completed a thought, statement, or task *and* does \
not meet the criteria for Rule 1 (Model Continues) or Rule 2 (Question to User), it implies a \
pause expecting user input or reaction. In this case, the **'user'** should speak next."""
_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "reasoning": {
            "type": "string",
            "description": "In short: which rule applies to the last turn, and why.",
        },
        "next_speaker": {
            "type": "string",
            "enum": ["user", "model"],
            "description": "Who speaks next by these rules, judged by the last turn alone.",
        },
    },
    "required": ["reasoning", "next_speaker"],
}


class SpokenChat(Protocol):
    """A conversation as this check reads it; both lists oldest first."""

    def curated_history(self) -> Sequence[Content]:
        """The turns that are fit to be sent."""
        ...

    def shown_history(self) -> Sequence[Content]:
        """All turns, invalid ones included."""
        ...


async def check_next_speaker(
    chat: SpokenChat, model: UtilityModel, signal: AbortSignal, prompt_id: str
) -> str | None:
    """Decide who speaks next; asks a model only where the history is not enough.

    Returns:
        `user` or `model`; `None` without a history, after a turn that is not the model's, and where
        the question failed.
    """
    curated = chat.curated_history()
    if not curated:
        return None
    shown = chat.shown_history()
    if not shown:
        return None
    last = shown[-1]
    if last.get("role") == "user" and has_function_response(last):
        return "model"
    if last.get("role") == "model" and last.get("parts") == []:
        return "model"
    if curated[-1].get("role") != "model":
        return None
    request = UtilityRequest(
        config_key="next-speaker-checker",
        contents=[*curated, {"role": "user", "parts": [{"text": _QUESTION}]}],
        role=LlmRole.UTILITY_NEXT_SPEAKER,
        prompt_id=prompt_id,
        signal=signal,
    )
    try:
        answer = await model.generate_json(request, _SCHEMA)
    except Exception as error:  # noqa: BLE001 - a failed check ends the turn, as if there were none
        logger.debug("could not ask who should speak next: %s", error)
        return None
    speaker = answer.get("next_speaker")
    return speaker if speaker in ("user", "model") else None


async def model_goes_on(
    services: Services,
    chat: SpokenChat,
    signal: AbortSignal,
    prompt_id: str,
    finish_reason: str | None,
) -> bool:
    """Whether a model that asked for no tools was not done, as another model sees it.

    Nothing is asked where the settings say so, or after an exhausted quota. A check is logged;
    source: core `telemetry/types.ts` (`NextSpeakerCheckEvent`).
    """
    state = services.state
    if state.quota_error_occurred or services.settings.skip_next_speaker_check:
        return False
    speaker = await check_next_speaker(chat, services.utility, signal, prompt_id)
    fields = {"prompt_id": prompt_id, "finish_reason": finish_reason or "", "result": speaker or ""}
    state.log("next_speaker_check", "Next speaker check.", fields)
    return speaker == "model"
