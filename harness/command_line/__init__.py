"""What the command line accepts: each command with its options and its help.

These modules import nothing slow, so that every help comes at once. What a command does is in
`harness.commands`, which is imported when the command runs.
"""
