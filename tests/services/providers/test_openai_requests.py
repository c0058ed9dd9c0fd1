"""Requests to Chat Completions: there and back, and what they lose."""

import json

from hypothesis import given
from hypothesis import strategies as st

from services.providers.losing import reduced
from services.providers.openai.request_losses import request_losses
from services.providers.openai.requests import chat_body, read_chat_body
from services.providers.openai.traits import ChatTraits
from tests.services.providers.drawn import ASKED

TRAITS = st.builds(ChatTraits, reasoning=st.booleans(), new_limit=st.booleans())


@given(ASKED, TRAITS)
def test_what_the_rules_leave_goes_there_and_back(asked, traits):
    body = json.loads(json.dumps(chat_body(asked, traits)))
    assert read_chat_body(body).asked == reduced(asked, request_losses(traits))


@given(ASKED, TRAITS)
def test_a_second_time_nothing_is_lost(asked, traits):
    once = reduced(asked, request_losses(traits))
    assert reduced(once, request_losses(traits)) == once
