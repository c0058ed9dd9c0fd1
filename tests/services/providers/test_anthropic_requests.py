"""Requests to Messages: there and back, and what they lose."""

import json

from hypothesis import given
from hypothesis import strategies as st

from services.providers.anthropic.request_losses import request_losses
from services.providers.anthropic.requests import messages_body, read_messages_body
from services.providers.anthropic.traits import MessagesTraits
from services.providers.losing import reduced
from tests.services.providers.drawn import ASKED

TRAITS = st.builds(MessagesTraits, adaptive=st.booleans(), always_thinks=st.booleans())


@given(ASKED, TRAITS)
def test_what_the_rules_leave_goes_there_and_back(asked, traits):
    body = json.loads(json.dumps(messages_body(asked, traits)))
    assert read_messages_body(body).asked == reduced(asked, request_losses(traits))


@given(ASKED, TRAITS)
def test_a_second_time_nothing_is_lost(asked, traits):
    once = reduced(asked, request_losses(traits))
    assert reduced(once, request_losses(traits)) == once
