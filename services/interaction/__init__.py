"""Questions of a session to its user, and the one seam through which a surface answers them.

Confirmations of tool calls are not among them: they travel on the message bus.
"""
