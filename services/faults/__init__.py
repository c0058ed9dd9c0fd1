"""Faults of the services, which both runtimes have. Modules by behaviour or by service."""
