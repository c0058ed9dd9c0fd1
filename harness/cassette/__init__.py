"""The cassette file format: loading, validation, macros."""
