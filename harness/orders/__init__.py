"""Completion orders: parallel work is made to complete in one order after another."""
