"""Requests to Chat Completions: there and back, and what they lose."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from services.providers.losing import reduced
from services.providers.openai.counting import count_body, read_count_body
from services.providers.openai.request_losses import REQUEST_LOSSES, request_losses
from services.providers.openai.requests import chat_body, read_chat_body
from services.providers.openai.traits import ChatTraits
from tests.services.providers.drawn import ASKED

TRAITS = st.builds(ChatTraits, reasoning=st.booleans(), new_limit=st.booleans())


@given(ASKED, TRAITS)
def test_what_the_rules_leave_goes_there_and_back(asked, traits):
    body = json.loads(json.dumps(chat_body(asked, traits)))
    assert read_chat_body(body).asked == reduced(asked, request_losses(traits))


@given(ASKED)
def test_a_request_for_a_count_goes_there_and_back(asked):
    kept = reduced(asked, REQUEST_LOSSES)
    counted = {"systemInstruction", "tools"}
    config = {name: value for name, value in kept.config.items() if name in counted}
    found = read_count_body(json.loads(json.dumps(count_body(asked))))
    assert found == replace(without_audio_and_signatures(kept), config=config)


def without_audio_and_signatures(asked):
    """The form of the count has no place for either."""

    def counted(part):
        kind = part.get("inlineData", {}).get("mimeType", "")
        if kind.startswith("audio/"):
            return {"text": f"[{kind}: this model cannot read it]"}
        return {key: value for key, value in part.items() if key != "thoughtSignature"}

    contents = [{**each, "parts": [counted(p) for p in each["parts"]]} for each in asked.contents]
    return replace(asked, contents=contents)


@given(ASKED, TRAITS)
def test_a_second_time_nothing_is_lost(asked, traits):
    once = reduced(asked, request_losses(traits))
    assert reduced(once, request_losses(traits)) == once
