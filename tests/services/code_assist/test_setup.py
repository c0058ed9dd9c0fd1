"""An account becomes known to Code Assist: its tier, its project, its onboarding."""

from __future__ import annotations

from typing import Any

import pytest

from services.clock import SystemClock
from services.code_assist.errors import IneligibleTierError, ProjectIdRequiredError
from services.code_assist.server import CodeAssistServer, service_address
from services.code_assist.setup import UserData, project_of, set_up_user
from services.interaction.interaction import Handlers, Interaction
from services.interaction.questions import ValidationIntent, ValidationQuestion
from services.model.errors import FatalAuthenticationError, ModelError, ValidationRequiredError
from services.sign_in.accounts import MetadataAccount
from tests.services.sign_in.stand_ins import PROJECT, Google, google, refused

FREE = {"id": "free-tier", "name": "Free", "isDefault": True}
STANDARD = {"id": "standard-tier", "name": "Standard", "isDefault": True}
TOO_YOUNG = {"reasonCode": "RESTRICTED_AGE", "reasonMessage": "Too young."}
VERIFY = {
    "reasonCode": "VALIDATION_REQUIRED",
    "reasonMessage": "Verify the account.",
    "validationUrl": "https://verify.example",
}
METADATA = {
    "ideType": "IDE_UNSPECIFIED",
    "platform": "PLATFORM_UNSPECIFIED",
    "pluginType": "GEMINI",
}


class Polled(SystemClock):
    """Counts the waits, and does not wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now_ms(self) -> int:
        return 1_000_000 + int(sum(self.waits))

    async def sleep(self, delay_ms: float) -> None:
        self.waits.append(delay_ms)


async def set_up(
    server: Google,
    project: str | None = None,
    interaction: Interaction | None = None,
    clock: SystemClock | None = None,
) -> UserData:
    clock = clock or SystemClock()
    account = MetadataAccount(server.variables, clock)
    code_assist = CodeAssistServer(account, service_address(server.variables), {}, clock)
    try:
        return await set_up_user(code_assist, project, interaction or Interaction(), clock)
    finally:
        await code_assist.aclose()


@pytest.mark.parametrize(
    ("loaded", "project", "found"),
    [
        (
            {"currentTier": {"id": "free-tier", "name": "Free"}, "cloudaicompanionProject": "p"},
            "mine",
            UserData(project="p", tier="free-tier", tier_name="Free"),
        ),
        (
            {"currentTier": {"id": "free-tier"}, "paidTier": {"id": "g1-pro", "name": "Pro"}},
            "mine",
            UserData(project="mine", tier="g1-pro", tier_name="Pro"),
        ),
        ({"currentTier": {}}, "mine", UserData(project="mine", tier="standard-tier")),
    ],
)
async def test_a_known_account_is_not_onboarded(
    loaded: dict[str, Any], project: str | None, found: UserData
) -> None:
    async with google() as server:
        server.loaded = loaded
        assert await set_up(server, project) == found
        assert server.bodies(":loadCodeAssist") == [
            {"cloudaicompanionProject": "mine", "metadata": {**METADATA, "duetProject": "mine"}}
        ]
        assert not server.asked(":onboardUser")


async def test_the_onboarding_is_polled_until_it_is_done() -> None:
    clock = Polled()
    async with google() as server:
        server.loaded, server.polls = {"allowedTiers": [{"id": "other"}, FREE]}, 2
        user = await set_up(server, "mine", clock=clock)
        # The free tier has a project of its own.
        assert server.bodies(":onboardUser") == [{"tierId": "free-tier", "metadata": METADATA}]
        polls = server.asked("/v1internal/operations/onboarding-1")
    assert [poll.method for poll in polls] == ["GET", "GET"]
    assert clock.waits == [5000, 5000]
    assert (user.project, user.tier) == (PROJECT, "free-tier")
    assert user.onboarding is not None
    assert (user.onboarding.tier_name, user.onboarding.duration_ms) == ("Free", 10_000)


@pytest.mark.parametrize(
    ("loaded", "tier"),
    [({"allowedTiers": [STANDARD]}, "standard-tier"), ({}, "legacy-tier")],
)
async def test_other_tiers_are_onboarded_with_the_users_project(
    loaded: dict[str, Any], tier: str
) -> None:
    async with google() as server:
        server.loaded = loaded
        await set_up(server, "mine")
        [sent] = server.bodies(":onboardUser")
    metadata = {**METADATA, "duetProject": "mine"}
    assert sent == {"tierId": tier, "cloudaicompanionProject": "mine", "metadata": metadata}


@pytest.mark.parametrize(
    ("loaded", "error", "sentence"),
    [
        ({"currentTier": STANDARD}, ProjectIdRequiredError, "requires setting the GOOGLE_CLOUD"),
        (
            {"currentTier": STANDARD, "ineligibleTiers": [TOO_YOUNG, TOO_YOUNG]},
            IneligibleTierError,
            r"^Too young\., Too young\.$",
        ),
        (
            {"ineligibleTiers": [TOO_YOUNG, VERIFY]},
            ValidationRequiredError,
            r"^Account validation required: Verify the account\.$",
        ),
    ],
)
async def test_an_account_that_cannot_be_used_is_one_sentence(
    loaded: dict[str, Any], error: type[ModelError], sentence: str
) -> None:
    async with google() as server:
        server.loaded = loaded
        with pytest.raises(error, match=sentence):
            await set_up(server)


@pytest.mark.parametrize(
    ("intent", "sentence"),
    [
        (ValidationIntent.CANCEL, "User cancelled account validation"),
        (ValidationIntent.CHANGE_AUTH, "Choose another way to sign in"),
    ],
)
async def test_the_user_does_not_verify(intent: ValidationIntent, sentence: str) -> None:
    async def answer(_: ValidationQuestion) -> ValidationIntent:
        return intent

    async with google() as server:
        server.loaded = {"ineligibleTiers": [VERIFY]}
        with pytest.raises(FatalAuthenticationError, match=sentence):
            await set_up(server, interaction=Interaction(Handlers(validation=answer)))


async def test_the_user_verifies_the_account() -> None:
    async with google() as server:
        server.loaded, asked = {"ineligibleTiers": [VERIFY]}, []

        async def answer(question: ValidationQuestion) -> ValidationIntent:
            asked.append((question.link, question.description))
            server.loaded = {"currentTier": STANDARD, "cloudaicompanionProject": "p"}
            return ValidationIntent.VERIFY

        user = await set_up(server, interaction=Interaction(Handlers(validation=answer)))
    assert asked == [("https://verify.example", "Verify the account.")]
    assert user.project == "p"


async def test_a_perimeter_that_hides_the_account_is_the_standard_tier() -> None:
    async with google() as server:
        answer = refused(403, "Prohibited", "SECURITY_POLICY_VIOLATED")
        server.methods["loadCodeAssist"] = lambda _: answer
        assert await set_up(server, "mine") == UserData(project="mine", tier="standard-tier")


@pytest.mark.parametrize(
    ("project", "sentence"),
    [("cloudshell-gca", "^Access to the default Cloud Shell"), ("mine", '"message":"No"')],
)
async def test_a_refusal_names_the_project_of_cloud_shell(project: str, sentence: str) -> None:
    async with google() as server:
        server.methods["loadCodeAssist"] = lambda _: refused(403, "No")
        with pytest.raises(ModelError, match=sentence.replace(":", ": ?")):
            await set_up(server, project)


@pytest.mark.parametrize(
    ("variables", "project"),
    [
        ({}, None),
        ({"GOOGLE_CLOUD_PROJECT_ID": "b"}, "b"),
        ({"GOOGLE_CLOUD_PROJECT_ID": "b", "GOOGLE_CLOUD_PROJECT": "a"}, "a"),
    ],
)
def test_the_environment_names_the_project(variables: dict[str, str], project: str | None) -> None:
    assert project_of(variables) == project


def test_a_projects_number_is_refused() -> None:
    with pytest.raises(FatalAuthenticationError, match=r'^Invalid Google Cloud Project ID: "123"'):
        project_of({"GOOGLE_CLOUD_PROJECT": "123"})
