"""The versions of the published core that are installed on this machine, side by side.

`runtimes.upstream` drives one of them; `parity upstream` installs, lists and removes them. Only
`install` uses the network, through npm.
"""

from runtimes.published.install import install
from runtimes.published.installed import (
    InstalledVersion,
    check_available,
    details,
    install_command,
    installed_versions,
    package_folder,
    remove,
)
from runtimes.published.node import find_node, node_version
from runtimes.published.places import upstream_folder
from runtimes.published.problems import UpstreamUnavailable
from runtimes.published.versions import DEFAULT_VERSION, MINIMUM_NODE, PACKAGE, checked_version

__all__ = [
    "DEFAULT_VERSION",
    "MINIMUM_NODE",
    "PACKAGE",
    "InstalledVersion",
    "UpstreamUnavailable",
    "check_available",
    "checked_version",
    "details",
    "find_node",
    "install",
    "install_command",
    "installed_versions",
    "node_version",
    "package_folder",
    "remove",
    "upstream_folder",
]
