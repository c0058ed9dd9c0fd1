"""The entry points of this project: the command `parity` and the pytest plugin.

pytest loads the plugin in the interpreter of a user's tests, so this package imports nothing else
of ours. Where the command and the plugin's process need the other packages, they import them below
`parity`, where no package of the user has the same name.
"""
