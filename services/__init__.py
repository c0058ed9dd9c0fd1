"""What both runtimes are given. Knows the contract, knows no runtime."""
