"""May a flag be turned on? The gate, evaluated on what was signed."""
