"""Decides by signed records whether a flag may be turned on."""
