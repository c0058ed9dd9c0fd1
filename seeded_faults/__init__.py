"""Seeded faults: what a package needs to say beside its code how that code can be broken.

A module of faults makes one `Faults` for each kind of its faults and then declares them:

    fault = Faults(Site.SERVICE, Behaviour.TOOLS)

    @fault("services.tools.registry:ToolRegistry.get", origin="an index that keeps the first")
    def aliases_unknown(get: Any, self: Any, name: str) -> Any:
        '''A tool is not found by its alias.'''

A fault has the name of its attribute, with hyphens. A package names the package of such modules in
the entry-point group `parity.faults`; nothing imports them before faults are asked for.
"""

from seeded_faults.fault import Behaviour, Fault, Faults, Site, faults_in

__all__ = ["Behaviour", "Fault", "Faults", "Site", "faults_in"]
