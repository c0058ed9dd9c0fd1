"""OpenAI's Chat Completions, which OpenAI and every compatible server take.

The newer Responses API is not built: no compatible server is sure to have it, and Chat Completions
has all that the runtimes use, except the reasoning of OpenAI's own models (docs/providers.md).
"""
