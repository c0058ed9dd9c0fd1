"""Seeded faults: packages declare beside their code how that code can be broken.

A module makes a `Faults` for each kind of its faults, and declares them with it:

    fault = Faults(Site.SERVICE, Behaviour.TOOLS)

    @fault("services.tools.registry:ToolRegistry.get", origin="an index that keeps the first")
    def aliases_unknown(get: Any, self: Any, name: str) -> Any:
        '''A tool is not found by its alias.'''

A fault has the name of its attribute, with hyphens. The entry-point group `parity.faults` names the
packages of such modules, which are imported when faults are used first.
"""

from seeded_faults.fault import Behaviour, Fault, Faults, Site, faults_in

__all__ = ["Behaviour", "Fault", "Faults", "Site", "faults_in"]
