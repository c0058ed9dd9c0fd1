"""What other programs start of this project: the command `parity` and the pytest plugin.

The other packages have names (`harness`, `services` …) that a user's project may have as well, and
one Python process can hold only one module of a name. This package has a name of its own, so Python
finds it in any folder. `ours_first` then decides where the other names come from.
"""
