"""The Gemini API, for clients of google-genai under `services.providers.wire`."""
