"""Requests and answers in the Gemini API's JSON, drawn by Hypothesis, odd ones included."""

from __future__ import annotations

from hypothesis import strategies as st

from services.providers.carried import packed
from services.providers.exchange import Asked
from services.providers.provider import Provider

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = st.one_of(
    st.sampled_from(["read_file", "list", "mcp_a.b:c", "a" * 70, "é"]), st.text("ab_.-", max_size=5)
)
IDS = st.one_of(
    st.none(), st.sampled_from(["", "call_1", "x" * 60, "a b"]), st.text("ab1", max_size=3)
)
BLOCKS = [
    {"type": "thinking", "thinking": "a", "signature": "s"},
    {"type": "redacted_thinking", "data": "d"},
]
SIGNATURES = st.sampled_from(
    [
        None,
        None,
        "c2ln",
        "skip_thought_signature_validator",
        packed(Provider.OPENAI, {"google": {"thought_signature": "c2ln"}}),
        packed(Provider.ANTHROPIC, BLOCKS),
    ]
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 10**16), st.floats(-2, 2), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=5,
)
OBJECTS = st.dictionaries(WORDS, VALUES, max_size=3)
MEDIA = st.fixed_dictionaries(
    {
        "mimeType": st.sampled_from(
            ["image/png", "audio/wav", "audio/mpeg", "application/pdf", "video/mp4"]
        ),
        "data": st.sampled_from(["QUJD", "+/+/"]),
    }
)
RESULTS = st.one_of(
    OBJECTS,
    st.fixed_dictionaries(
        {"output": st.one_of(WORDS, st.sampled_from(['{"a":1}', "[1]", "null"]))}
    ),
    st.fixed_dictionaries({"error": WORDS}),
    st.none(),
)


def _present(fields):
    return {name: value for name, value in fields.items() if value is not None}


TEXTS = st.builds(
    lambda text, thought, signature: _present(
        {"text": text, "thought": thought, "thoughtSignature": signature}
    ),
    WORDS,
    st.sampled_from([None, None, True]),
    SIGNATURES,
)
CALLS = st.builds(
    lambda call_id, name, args, signature: _present(
        {
            "functionCall": _present({"id": call_id, "name": name, "args": args}),
            "thoughtSignature": signature,
        }
    ),
    IDS,
    NAMES,
    st.one_of(st.none(), OBJECTS),
    SIGNATURES,
)
ANSWERS = st.builds(
    lambda call_id, name, response, media: {
        "functionResponse": _present(
            {"id": call_id, "name": name, "response": response, "parts": media}
        )
    },
    IDS,
    NAMES,
    RESULTS,
    st.one_of(st.none(), st.lists(MEDIA.map(lambda data: {"inlineData": data}), max_size=2)),
)
ODD = st.sampled_from(
    [
        {},
        {"executableCode": {"code": "1"}},
        {"fileData": {"mimeType": "image/png", "fileUri": "gs://b/a"}},
        {"text": "a", "partMetadata": {}},
        {"functionCall": {"name": "a", "args": {}}, "text": "b"},
    ]
)
PARTS = st.one_of(TEXTS, CALLS, ANSWERS, MEDIA.map(lambda data: {"inlineData": data}), ODD)
CONTENTS = st.lists(
    st.builds(
        lambda role, parts: _present({"role": role, "parts": parts}),
        st.sampled_from(["user", "model", "model", "function", None]),
        st.lists(PARTS, max_size=4),
    ),
    max_size=4,
)
SCHEMAS = st.sampled_from(
    [
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        {"type": "OBJECT", "properties": {"n": {"type": "INTEGER", "nullable": True}}},
        {"type": "ARRAY", "items": {"anyOf": [{"type": "STRING"}]}},
    ]
)
DECLARATIONS = st.builds(
    lambda name, words, schema, own: _present(
        {
            "name": name,
            "description": words,
            "parameters" if own else "parametersJsonSchema": schema,
        }
    ),
    NAMES,
    st.one_of(st.none(), WORDS),
    st.one_of(st.none(), SCHEMAS),
    st.booleans(),
)
CONFIGS = st.builds(
    _present,
    st.fixed_dictionaries(
        {
            "systemInstruction": st.one_of(
                st.none(),
                WORDS,
                st.just({"parts": [{"text": "a"}, {"text": "b"}]}),
            ),
            "tools": st.one_of(
                st.none(),
                st.lists(
                    st.lists(DECLARATIONS, max_size=2).map(
                        lambda found: {"functionDeclarations": found}
                    ),
                    max_size=2,
                ),
            ),
            "toolConfig": st.one_of(
                st.none(),
                st.builds(
                    lambda mode, names: {
                        "functionCallingConfig": _present(
                            {"mode": mode, "allowedFunctionNames": names}
                        )
                    },
                    st.sampled_from(["AUTO", "ANY", "NONE", "VALIDATED"]),
                    st.one_of(st.none(), st.lists(NAMES, max_size=2)),
                ),
            ),
            "temperature": st.sampled_from([None, 0, 0.5]),
            "topP": st.sampled_from([None, 0.95]),
            "topK": st.sampled_from([None, 64]),
            "seed": st.sampled_from([None, 7]),
            "maxOutputTokens": st.sampled_from([None, 100, 40_000]),
            "stopSequences": st.sampled_from([None, ["a", "b"]]),
            "responseMimeType": st.sampled_from([None, "application/json", "text/plain"]),
            "responseSchema": st.one_of(st.none(), SCHEMAS),
            "responseJsonSchema": st.one_of(st.none(), SCHEMAS),
            "thinkingConfig": st.sampled_from(
                [
                    None,
                    {"includeThoughts": True},
                    {"thinkingBudget": 0},
                    {"thinkingBudget": 8192, "includeThoughts": True},
                    {"thinkingLevel": "HIGH"},
                ]
            ),
            "safetySettings": st.sampled_from([None, []]),
        }
    ),
)
ASKED = st.builds(
    lambda contents, config: Asked(model="m", contents=contents, config=config), CONTENTS, CONFIGS
)
"""What a request may ask for."""

ANSWER_PARTS = st.one_of(TEXTS, CALLS, ODD, MEDIA.map(lambda data: {"inlineData": data}))
FINISHES = st.sampled_from(
    [None, None, "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "MALFORMED_FUNCTION_CALL", "OTHER"]
)
COUNT = st.one_of(st.none(), st.integers(0, 9))
USAGES = st.one_of(
    st.none(),
    st.builds(
        lambda fields: _present(fields),
        st.fixed_dictionaries(
            {
                "promptTokenCount": COUNT,
                "candidatesTokenCount": COUNT,
                "totalTokenCount": COUNT,
                "cachedContentTokenCount": COUNT,
                "thoughtsTokenCount": COUNT,
                "toolUsePromptTokenCount": COUNT,
            }
        ),
    ),
)


def _chunk(parts, finish, usage, model, response_id, extra):
    candidate = _present(
        {
            "content": None if parts is None else {"role": "model", "parts": parts},
            "finishReason": finish,
            "index": 0,
            **extra,
        }
    )
    return _present(
        {
            "candidates": [candidate] if parts is not None or finish else None,
            "usageMetadata": usage,
            "modelVersion": model,
            "responseId": response_id,
        }
    )


CHUNKS = st.lists(
    st.one_of(
        st.builds(
            _chunk,
            st.one_of(st.none(), st.lists(ANSWER_PARTS, max_size=3)),
            FINISHES,
            USAGES,
            st.sampled_from([None, "m-1", "m-2"]),
            st.sampled_from([None, "r-1"]),
            st.sampled_from(
                [{}, {"safetyRatings": [{}]}, {"citationMetadata": {"citations": [{"uri": "u"}]}}]
            ),
        ),
        st.just({"promptFeedback": {"blockReason": "SAFETY"}}),
    ),
    max_size=4,
)
"""The chunks of an answer."""
