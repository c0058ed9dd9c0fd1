"""Models of other providers behind the model seam, and their wire formats in both directions.

The seam (`services.model.generator`) and everything above it speak the Gemini API's JSON. Here are
the formats of the other providers:

    provider.py       the providers: their packages, keys and addresses
    exchange.py       a request as the converters see it, and chunks joined to one answer
    losing.py         named rules for what a format cannot carry
    openai/           Chat Completions: requests, answers, streams, refusals, the generator
    anthropic/        Messages: the same
    gemini/           the Gemini API itself, for `wire`
    wire/             a server of any of these formats, in this process, over the model seam

A pair of modules converts each kind of message there and back. What cannot be carried is removed
first, by the rules of `losses.py` of the provider; the rest is carried exactly. docs/providers.md
lists the rules.
"""
