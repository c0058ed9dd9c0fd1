"""Remote agents over A2A, the same in both runtimes.

Only this package uses the A2A library, which is imported when the first remote agent is loaded.
Source: core `agents/a2a-client-manager.ts`, `agents/remote-*.ts`,
`agents/auth-provider/`.
"""
