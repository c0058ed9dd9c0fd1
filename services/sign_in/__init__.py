"""The user's Google account: tokens, where they are stored, and how the user signs in."""
