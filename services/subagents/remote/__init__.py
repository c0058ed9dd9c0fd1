"""Remote agents: asked over A2A, the same in both runtimes.

Only this package knows the A2A library, and `client.py` alone imports it, when the first remote
agent is loaded. Source: core `agents/a2a-client-manager.ts`, `agents/remote-*.ts`,
`agents/auth-provider/`.
"""
