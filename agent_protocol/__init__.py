"""The contract: what a client and an agent may say to each other."""
