"""The agent as it was first moved to ADK: the same instruction, the same tools."""

from google.adk.agents import LlmAgent

from tea_shop.gemini_loop import MODEL
from tea_shop.shop import INSTRUCTION, TOOLS

root_agent = LlmAgent(
    name="tea_shop", model=MODEL, instruction=INSTRUCTION, tools=list(TOOLS.values())
)
