"""How a verdict is shown: terminal, JSON, JUnit, journal."""
