"""A request to the real service that the environment names."""

from __future__ import annotations

import os
from contextlib import aclosing

import pytest

from services.interaction.interaction import Interaction
from services.model.auth import auth_type_from_environment
from surfaces.headless.machine import Machine
from surfaces.headless.model import choose_model, open_model
from tests.security.asking import prompt

pytestmark = pytest.mark.slow


async def test_the_service_of_the_environment_answers() -> None:
    kind = auth_type_from_environment(os.environ)
    if kind is None:
        pytest.skip("the environment names no way to sign in (docs/sign_in.md)")
    machine = Machine.here()
    source = choose_model(machine.environment.variables, fake=None, record=None)
    async with open_model(
        source,
        machine,
        model="gemini-2.5-flash",
        session_id="smoke",
        interaction=Interaction(),
        warn=pytest.fail,
    ) as model:
        assert (await model.generator.generate_content(prompt()))["candidates"]
        stream = await model.generator.generate_content_stream(prompt())
        async with aclosing(stream):
            assert [chunk async for chunk in stream]
        assert (await model.generator.count_tokens(prompt()))["totalTokens"] > 0
