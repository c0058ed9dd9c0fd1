"""Completion orders: what runs side by side is made to complete in one order after another."""
