"""What people and programs touch: one package for each surface, above the runtimes."""
