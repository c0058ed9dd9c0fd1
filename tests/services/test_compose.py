from __future__ import annotations

from dataclasses import replace

import pytest

from harness.replay.envelope import open_envelope
from services.compose import open_services
from services.environment import Environment
from services.model.replay.generator import ReplayedContentGenerator
from services.settings import Settings


@pytest.mark.parametrize(
    ("settings", "inherited"),
    [
        (Settings(), {"PATH", "DB_AUTH", "PLAIN"}),
        (Settings(redact_environment_variables=True), {"PATH", "PLAIN"}),
        (
            Settings(
                redact_environment_variables=True,
                allowed_environment_variables=("db_auth",),
                blocked_environment_variables=("plain",),
            ),
            {"PATH", "DB_AUTH"},
        ),
    ],
)
async def test_settings_keep_more_variables_from_child_processes(
    settings: Settings, inherited: set[str]
) -> None:
    variables = {"PATH": "/bin", "DB_AUTH": "x", "PLAIN": "y"}
    with open_envelope() as envelope:
        setup = replace(
            envelope.setup("m", ReplayedContentGenerator((), clock=envelope.clock)),
            settings=settings,
            environment=Environment(variables=variables, child_variables=variables),
        )
        async with open_services(setup) as services:
            assert set(services.environment.child_variables) == inherited
            assert services.environment.variables == variables
