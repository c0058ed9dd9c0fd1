"""The hand-written loop: client, chat, turn, scheduler."""
