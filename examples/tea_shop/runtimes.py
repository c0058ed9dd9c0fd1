"""The agent's forms as runtimes for `parity.toml`, and the custom channels that they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import openai
from google import genai
from parity.adapters import AgentSession, adk_runtime, agent_runtime

from tea_shop.gemini_loop import GeminiAgent
from tea_shop.openai_loop import OpenAIAgent
from tea_shop.shop import PARAMETERS, Shop, open_shop


def orders(session: AgentSession) -> list[dict[str, Any]]:
    """Return the rows of the table of orders."""
    rows = session.state["shop"].database.execute("SELECT id, tea, packets FROM orders")
    return [{"id": number, "tea": tea, "packets": packets} for number, tea, packets in rows]


def mails(session: AgentSession) -> list[dict[str, Any]]:
    """Return the e-mails that were sent."""
    sent = session.state["shop"].sent
    return [
        {"to": mail["To"], "subject": mail["Subject"], "text": mail.get_content()} for mail in sent
    ]


SHOWS = {"orders": orders, "mails": mails}


def new_shop(session: AgentSession) -> None:
    """Open the shop of a conversation."""
    session.state["shop"] = open_shop(Shop())


def shop_as_it_was(session: AgentSession) -> None:
    """Open the shop as it was before the migration: it reserves for several callers at once."""
    session.state["shop"] = open_shop(Shop(one_at_a_time=False))


def gemini(session: AgentSession) -> Callable[[str], Any]:
    """Begin a conversation with the loop over google-genai."""
    new_shop(session)
    return GeminiAgent(genai.Client(api_key="not used")).answer


def first_openai(session: AgentSession) -> Callable[[str], Any]:
    """Begin a conversation with the loop over OpenAI's SDK, as it was first moved."""
    new_shop(session)
    return OpenAIAgent(openai.AsyncOpenAI(api_key="not used")).answer


def openai_without_retries(session: AgentSession) -> Callable[[str], Any]:
    """Begin a conversation with the loop over OpenAI's SDK; only the loop tries again."""
    new_shop(session)
    return OpenAIAgent(openai.AsyncOpenAI(api_key="not used", max_retries=0)).answer


loop = agent_runtime(gemini, tools=PARAMETERS, shows=SHOWS)
first_on_adk = adk_runtime(
    "tea_shop.first_adk_agent:root_agent",
    streaming=True,
    tools=PARAMETERS,
    shows=SHOWS,
    begin=shop_as_it_was,
)
on_adk = adk_runtime(
    "tea_shop.adk_agent:root_agent", streaming=True, tools=PARAMETERS, shows=SHOWS, begin=new_shop
)
first_on_openai = agent_runtime(first_openai, tools=PARAMETERS, shows=SHOWS)
on_openai = agent_runtime(openai_without_retries, tools=PARAMETERS, shows=SHOWS)
