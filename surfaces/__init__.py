"""The surfaces, above the runtimes: one package each."""
