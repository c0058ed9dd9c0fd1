"""The entry points of this project: the command `parity` and the pytest plugin.

The other packages have names (`harness`, `services` …) that a user's project may have as well. This
package has a unique name, so Python finds it in any folder. `ours_first` then decides where the
other packages are imported from.
"""
