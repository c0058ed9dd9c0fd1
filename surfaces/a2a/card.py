"""The agent card: what clients learn before they send a message.

Source: `packages/a2a-server` `http/app.ts` (`coderAgentCard`).
"""

from __future__ import annotations

from services.wire import JsonObject
from surfaces.a2a.extension.negotiation import card_entry

__all__ = ["agent_card"]


def agent_card(url: str, version: str, *, needs_token: bool) -> JsonObject:
    """The card of protocol 0.3 for the server at `url`."""
    card: JsonObject = {
        "name": "parity",
        "description": "An agent that works on the code of a folder and asks before it acts.",
        "url": url,
        "preferredTransport": "JSONRPC",
        "protocolVersion": "0.3.0",
        "version": version,
        "capabilities": {
            "streaming": True,
            "pushNotifications": False,
            "stateTransitionHistory": True,
            "extensions": [card_entry()],
        },
        "defaultInputModes": ["text"],
        "defaultOutputModes": ["text"],
        "skills": [
            {
                "id": "code_generation",
                "name": "Code Generation",
                "description": "Reads, writes and runs code, and reports each step.",
                "tags": ["code", "development", "programming"],
                "examples": ["Fix the failing test.", "Explain what this folder holds."],
                "inputModes": ["text"],
                "outputModes": ["text"],
            }
        ],
        "supportsAuthenticatedExtendedCard": False,
    }
    if needs_token:
        card["securitySchemes"] = {"bearerAuth": {"type": "http", "scheme": "bearer"}}
        card["security"] = [{"bearerAuth": []}]
    return card
