"""The agent on ADK as it is released: it tries again while the model is busy."""

from google.adk.agents import LlmAgent
from google.adk.models import Gemini
from google.genai import types

from tea_shop.gemini_loop import MODEL, WAITS_S
from tea_shop.shop import INSTRUCTION, TOOLS

BUSY = types.HttpRetryOptions(
    attempts=1 + len(WAITS_S),
    initial_delay=WAITS_S[0],
    exp_base=2,
    http_status_codes=[500, 502, 503, 504],
)

root_agent = LlmAgent(
    name="tea_shop",
    model=Gemini(model=MODEL, retry_options=BUSY),
    instruction=INSTRUCTION,
    tools=list(TOOLS.values()),
)
