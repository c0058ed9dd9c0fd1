"""The grammar of sessions, from their settings to the last chunk of the last answer.

Each function takes a `Chooser` and returns a piece of a cassette document. Weights stand where the
choice is made; `harness.scenarios.profiles` overrides them by name.
"""
