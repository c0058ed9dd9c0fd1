"""Both runs of a case side by side, in the order in which things happened."""
