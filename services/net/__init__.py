"""The network: the only package that makes HTTP clients or resolves names.

Each request and each look-up first asks `services.confinement` whether the session may connect. A
client has `Terms`: how large one answer may be, and where requests with credentials may go. The
transports here enforce them, so that no caller can leave a check out.
"""
