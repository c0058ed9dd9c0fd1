"""Runs over another provider: `openai:adk` is adk over OpenAI's SDK.

The runtime asks the provider's SDK, and the SDK's network is the model of the run, which answers in
the provider's wire format (`services.providers.wire`). What that format cannot carry is removed
from a cassette before it is compared with a run over another one.
"""
