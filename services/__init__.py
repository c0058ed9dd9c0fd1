"""What both runtimes are given. Depends on the contract, not on a runtime."""
