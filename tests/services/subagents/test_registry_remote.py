"""Remote agents in the registry, with a stand-in for the reader of cards."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from services.policy.rules import Decision
from services.subagents.definition import RemoteAgentDefinition
from services.subagents.loader import load_agents
from services.subagents.registry import AgentRegistry
from services.subagents.remote_loading import RemoteCard, RemoteLoadError
from tests.services.subagents.registries import Place


class Cards:
    """Cards by name of agent; or what is raised instead. A name may have to wait for another."""

    def __init__(self, **cards: RemoteCard | Exception) -> None:
        self.cards = cards
        self.asked: list[str] = []
        self.cleared = 0
        self.after: dict[str, str] = {}
        self.done: dict[str, asyncio.Event] = {}

    async def load(self, definition: RemoteAgentDefinition) -> RemoteCard:
        self.asked.append(definition.name)
        if definition.name in self.after:
            await self.done.setdefault(self.after[definition.name], asyncio.Event()).wait()
        self.done.setdefault(definition.name, asyncio.Event()).set()
        card = self.cards[definition.name]
        if isinstance(card, Exception):
            raise card
        return card

    def clear(self) -> None:
        self.cleared += 1


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def remote(place: Place, *names: str, description: str = "") -> None:
    for name in names:
        place.write(
            place.user, name, f"agent_card_url: https://h/{name}\ndescription: '{description}'"
        )


def decided(place: Place, name: str) -> Decision:
    check = place.policy.decide("invoke_agent", {"agent_name": name, "prompt": "p"})
    return asyncio.run(check).decision


def definition(registry: AgentRegistry, name: str) -> RemoteAgentDefinition:
    agent = registry.definition(name)
    assert isinstance(agent, RemoteAgentDefinition)
    return agent


def test_a_remote_agents_description_is_the_users_and_its_cards(place: Place) -> None:
    remote(place, "far", description=" mine ")
    card = RemoteCard(description=" its own ", skills=(("s", "does s"), ("t", None)))

    agent = definition(place.loaded(remote=Cards(far=card)), "far")

    assert agent.description == (
        "User Description: mine\nAgent Description: its own\n"
        "Skills:\ns: does s\nt: No description provided"
    )
    assert agent.original_description == " mine "
    assert agent.hash == "https://h/far"


def test_only_calls_of_remote_agents_need_a_confirmation(place: Place) -> None:
    remote(place, "far")
    place.write(place.user, "near")
    place.loaded(remote=Cards(far=RemoteCard()))

    assert (decided(place, "far"), decided(place, "near")) == (Decision.ASK_USER, Decision.ALLOW)


def test_a_reload_takes_old_rules_back_and_forgets_cards(place: Place) -> None:
    remote(place, "far")
    cards = Cards(far=RemoteCard())
    registry = place.loaded(remote=cards)
    (place.user / "far.md").unlink()

    result = asyncio.run(registry.reload())

    assert (result.deleted_agents, cards.cleared) == (["far"], 1)
    assert decided(place, "far") is Decision.ALLOW


def test_a_missing_card_affects_only_its_agent(place: Place) -> None:
    remote(place, "a", "b", "c")
    cards = Cards(
        a=RemoteLoadError("Connection failed for https://h/a: refused"),
        b=RuntimeError("odd"),
        c=RemoteCard(),
    )

    registry = place.loaded(remote=cards)

    assert registry.names() == ["c"]
    assert registry.discovered_names() == ["a", "b", "c"]
    assert place.feedback == [
        ("error", "[a] Connection failed for https://h/a: refused"),
        ("error", "[b] Failed to load remote agent: odd"),
    ]
    assert decided(place, "a") is Decision.ALLOW


def test_an_agent_without_credentials_is_registered_with_a_warning(place: Place) -> None:
    remote(place, "far")

    registry = place.loaded(remote=Cards(far=RemoteCard(required_auth="an API key")))

    assert registry.names() == ["far"]
    assert place.feedback == [("warning", "[far] Agent requires authentication: an API key")]


def test_cards_are_fetched_together_and_agents_keep_their_order(place: Place) -> None:
    remote(place, "a", "b")
    cards = Cards(a=RemoteCard(), b=RemoteCard())
    cards.after["a"] = "b"

    assert place.loaded(remote=cards).names() == ["a", "b"]


def test_disabled_and_duplicate_agents_are_not_fetched(place: Place) -> None:
    remote(place, "off", "twice")
    (place.user / "unlike.md").write_text((place.user / "twice.md").read_text())
    cards = Cards(twice=RemoteCard())
    parameters = {"agents": {"overrides": {"off": {"enabled": False}}}}

    registry = place.loaded(remote=cards, parameters=parameters)

    assert (registry.names(), cards.asked) == (["twice"], ["twice"])
    assert [severity for severity, _ in place.feedback] == ["warning"]


def test_without_a_reader_of_cards_remote_agents_are_left_out(place: Place) -> None:
    remote(place, "far")
    place.write(place.user, "near")

    assert place.loaded().names() == ["near"]


def test_a_projects_remote_agent_is_known_by_its_card(place: Place) -> None:
    place.write(place.project, "far", "agent_card_url: https://h/far")
    place.write(place.project, "inline", "agent_card_json: '{}'")
    cards = Cards(far=RemoteCard(), inline=RemoteCard())
    registry = place.loaded(remote=cards)
    assert (registry.names(), place.unknown) == ([], ["far", "inline"])
    digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

    registry.acknowledged.add("far", "https://h/far")
    registry.acknowledged.add("inline", digest)

    assert place.loaded(remote=cards).names() == ["far", "inline"]


def test_an_unknown_remote_agent_is_acknowledged_by_name_and_card(place: Place) -> None:
    place.write(place.project, "far", "agent_card_url: https://h/far")
    registry = place.loaded(remote=Cards(far=RemoteCard()))

    asyncio.run(registry.acknowledge("far"))

    assert registry.names() == ["far"]
    assert registry.acknowledged.knows("far", "https://h/far")
    assert load_agents(place.project).agents[0].hash != "https://h/far"
