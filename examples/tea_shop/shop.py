"""The shop: its stock and its orders in a database, its confirmations by e-mail."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from email.message import EmailMessage
from typing import Any

PACKETS = {"green": 3, "black": 10, "mint": 0}
WAREHOUSE_S = 0.2
"""Seconds that the warehouse takes to reserve packets."""


class Shop:
    """One shop. A real one would open its database from a file, and send by SMTP."""

    def __init__(self, *, one_at_a_time: bool = True) -> None:
        self.database = sqlite3.connect(":memory:", check_same_thread=False)
        self.database.executescript(
            "CREATE TABLE stock (tea TEXT PRIMARY KEY, packets INTEGER);"
            "CREATE TABLE orders (id TEXT, tea TEXT, packets INTEGER);"
        )
        self.database.executemany("INSERT INTO stock VALUES (?, ?)", PACKETS.items())
        self.sent: list[EmailMessage] = []
        self._reserving = asyncio.Semaphore(1 if one_at_a_time else 100)

    async def stock(self, tea: str) -> dict[str, Any]:
        """Say how many packets of a tea are left."""
        found = self.database.execute("SELECT packets FROM stock WHERE tea = ?", (tea,)).fetchone()
        return {"tea": tea, "packets": found[0]} if found else {"error": f"there is no {tea} tea"}

    async def order(self, tea: str, packets: int) -> dict[str, Any]:
        """Order packets of a tea, and confirm it by e-mail."""
        async with self._reserving:
            found = await self.stock(tea)
            if "error" in found:
                return found
            if found["packets"] < packets:
                return {"error": f"only {found['packets']} packets are left"}
            await asyncio.sleep(WAREHOUSE_S)
            number = uuid.uuid4().hex
            self.database.execute("INSERT INTO orders VALUES (?, ?, ?)", (number, tea, packets))
            self.database.execute(
                "UPDATE stock SET packets = packets - ? WHERE tea = ?", (packets, tea)
            )
        self._confirm(number, tea, packets)
        return {"order": number, "tea": tea, "packets": packets}

    def _confirm(self, number: str, tea: str, packets: int) -> None:
        mail = EmailMessage()
        mail["To"] = "customer@example.org"
        mail["Subject"] = f"Order {number}"
        mail.set_content(f"{packets} x {tea} tea is on its way.")
        self.sent.append(mail)


_opened: list[Shop] = []


def open_shop(shop: Shop) -> Shop:
    """Make `shop` the one that the tools work on."""
    _opened[:] = [shop]
    return shop


async def stock(tea: str) -> dict[str, Any]:
    """Say how many packets of a tea are left."""
    return await _opened[0].stock(tea)


async def order(tea: str, packets: int) -> dict[str, Any]:
    """Order packets of a tea. The customer gets a confirmation by e-mail."""
    return await _opened[0].order(tea, packets)


TOOLS = {"stock": stock, "order": order}
PARAMETERS: dict[str, dict[str, Any]] = {
    "stock": {
        "type": "object",
        "properties": {"tea": {"type": "string"}},
        "required": ["tea"],
    },
    "order": {
        "type": "object",
        "properties": {"tea": {"type": "string"}, "packets": {"type": "integer"}},
        "required": ["tea", "packets"],
    },
}
INSTRUCTION = "You sell tea. Look at the stock before you promise anything."
