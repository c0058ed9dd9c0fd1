"""The commands of the gates and of signed records."""

from __future__ import annotations

import click

from harness.command_line import options
from harness.command_line.deferred import command

__all__ = ["can_flip", "gate", "keygen", "measure", "revoke", "sign", "verify"]


@command("measure:measure")
@options.phase_required
@options.profile
@options.evidence
@options.gates
@options.waivers
@options.policy_from
@click.option(
    "-n",
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Worker processes; 0 for one per core. The results are the same.",
)
@options.trust
@click.option(
    "--dry-run", is_flag=True, help="List the runs and their estimated time, and run none."
)
@click.option("--json", "json_file", type=options.FILE, help="Write the gate's answer as JSON.")
@click.option("--html", "html_file", type=options.FILE, help="Write the gate's answer as a page.")
def measure() -> None:
    """Run the missing measurements of a phase, then judge the gate.

    Lists the missing measurements with an estimated time, runs them, and judges the gate. Valid
    results are not measured again, so the same command continues after Ctrl-C or a kill: a leg or a
    sample where it stopped, the seeded faults from the beginning. Journals, the kill matrix and the
    answer are written to the first folder of --journal.

    \b
    parity measure --phase A --dry-run
    parity measure --phase A --profile pull_request
    parity measure --phase A -n 2 --html gate.html

    Exit codes: those of the gate, 0 yes; 1 no; 2 wrong usage, or a file that cannot be read; 3
    unknown; and 130 interrupted. With --dry-run, the exit code of the gate now.
    """


@command("gate:gate")
@options.phase_required
@options.profile
@options.evidence
@options.gates
@options.waivers
@options.as_of
@options.policy_from
@click.option("--json", "json_file", type=options.FILE, help="Write the answer as JSON.")
@click.option("--html", "html_file", type=options.FILE, help="Write the answer as a page.")
def gate() -> None:
    """Judge whether a rollout phase may be switched on, and why.

    Judges earlier runs and measurements; runs nothing. Missing evidence makes the answer unknown,
    contrary evidence makes it no. The output ends with the command for the missing measurements and
    their estimated time. Evidence counts only for the current code, cassettes and rules.

    \b
    parity gate --phase B
    parity gate --phase A --profile pull_request --journal parity-report
    parity gate --phase A --json answer.json --html answer.html
    parity gate --phase A --policy-from origin/main
    parity gate --phase A --as-of 2026-06-01

    Exit codes: 0 yes; 1 no; 2 wrong usage, or a file that cannot be read; 3 unknown.
    """


@command("sign:sign")
@options.phase_of_gates
@options.profile
@options.evidence
@options.key_options
@click.option(
    "--signer",
    metavar="NAME",
    help="The signer, if gates.toml does not name one; for pull_request only.",
)
@click.option(
    "--add",
    type=options.FILE,
    metavar="RECORD",
    help="Add a second signature to the newest record, after the same checks.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="Number of blocks of each generated run to run again.",
)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run only N random cases of each leg again; for pull_request only.",
)
@options.signoffs()
@options.as_of
@options.jobs
@options.trust
@click.option("--yes", is_flag=True, help="Do not ask for confirmation, for CI.")
def sign() -> None:
    """Sign the gate's yes for a phase, and add the record.

    The gate must answer yes, and the checkout must be clean. The command runs the journals again:
    every case of the legs between the two runtimes, and some blocks of each generated run. Then it
    shows the statement with its limits, and asks for confirmation.

    \b
    parity sign --phase A --journal parity-report --key ~/keys/release
    parity sign --phase A --journal parity-report --key-fd 3 --yes 3<release.key
    parity sign --add signoffs/0003-A-release.json \\
        --journal parity-report --key ~/keys/other

    Exit codes: 0 signed; 1 the gate answers no, or a check fails; 2 wrong usage, or a key or file
    that cannot be used; 3 the gate answers unknown, or a case could not be run again; 130
    interrupted. A record is written only with exit code 0.
    """


@command("verify:verify")
@click.argument("record", required=False, type=options.PLACE)
@options.signoffs("the record's, or ./signoffs")
@click.option(
    "--gates",
    "gates_file",
    type=options.FILE,
    help="Trust the keys of this gates.toml instead of the one here.",
)
@options.policy_from
@click.option(
    "--also-trust",
    multiple=True,
    metavar="NAME=FILE",
    help="Also trust this public key, for this call and for pull_request records only.",
)
@options.expect_head
@click.option(
    "--replay",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Run N cases of the record again and compare their traces.",
)
@click.option("--seed", type=click.IntRange(min=0), help="The seed that selects the cases.")
@click.option("--json", "json_file", type=options.FILE, help="Write the result as JSON.")
@options.jobs
@options.trust
def verify() -> None:
    """Check that a signed record is valid here and now.

    Prints each reason why it is not valid on one line. RECORD is a file, or a name in the folder of
    records; by default the newest. Enough signers that the gates here trust must have signed it (a
    key in the record itself never counts). It must have exactly its type, belong to an unbroken
    chain, and match the current files: each changed cassette, waiver, source file and rule is
    named.

    The gates must be those of the last commit, unless --gates or --policy-from names others, and
    git must show that no record was removed. RECORD is not valid if the newest record of its phase
    was revoked. Without RECORD, the newest records of all phases count.

    \b
    parity verify
    parity verify 0003-A-release.json --replay 20
    parity verify --expect-head 1f3a9c0e --json verified.json
    parity verify --policy-from origin/main
    parity verify --also-trust ci=ci.key.pub

    Exit codes: 0 valid; 1 not valid, or revoked; 2 wrong usage, or a file that cannot be read; 3
    there is no record, git cannot show whether records are missing, or a case could not be run
    again; 130 interrupted.
    """


@command("revoke:revoke")
@click.argument("record", type=options.PLACE)
@click.option("--reason", required=True, metavar="TEXT", help="Why the record is no longer valid.")
@options.key_options
@options.signoffs("the record's, or ./signoffs")
@options.gates
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def revoke() -> None:
    """Revoke a signed record.

    Appends a signed statement that the record is no longer valid.

    RECORD is a file, or a name in the folder of records. Nothing is removed: the revocation is a
    new record of the chain. One signer that the gates trust for this phase and profile is enough.
    `parity verify` and `parity can-flip` then refuse the record, and no older record replaces it.

    \b
    parity revoke 0003-A-release.json --key ~/keys/release \\
        --reason "the corpus left out hooks"

    Exit codes: 0 revoked; 1 it cannot be revoked: missing, already revoked, or the chain is broken;
    2 wrong usage, or a key that cannot be used; 130 interrupted. Nothing is written unless it is 0.
    """


@command("keygen:keygen")
@click.option(
    "--out",
    type=options.FILE,
    required=True,
    metavar="FILE",
    help="The file for the private key; the public key is written to FILE.pub.",
)
@click.option(
    "--name",
    default="release-manager",
    show_default=True,
    metavar="NAME",
    help="The name of the signer in gates.toml: a role.",
)
@options.passphrase_options
@click.option("--no-passphrase", is_flag=True, help="Leave the private key unencrypted.")
def keygen() -> None:
    """Create a pair of Ed25519 keys.

    Only the owner can read the private key. A passphrase (prompted, or read from a file or a
    descriptor) encrypts it. A missing folder is created, for its owner only. Existing files are
    never overwritten. The output is public: the block for gates.toml that makes the key trusted.

    \b
    parity keygen --out ~/keys/release --name release-manager
    parity keygen --out ~/keys/ci --name ci --no-passphrase
    parity keygen --out key --passphrase-fd 3 3<passphrase.txt

    Exit codes: 0 both files are written; 2 wrong usage, or a file exists already; 130 interrupted,
    without files.
    """


@command("can_flip:can_flip", "can-flip")
@click.argument("flag", metavar="FLAG")
@click.option(
    "--surface",
    "surfaces",
    type=click.Choice(["noninteractive", "interactive", "subagent"]),
    multiple=True,
    help="Only this surface; repeatable.  [default: all that the flag switches]",
)
@click.option(
    "--settings",
    "settings_file",
    type=options.FILE,
    help="The settings in which to turn it on; surfaces whose own flag is off do not count.",
)
@click.option(
    "--signoffs",
    type=options.PLACE,
    metavar="DIR",
    help="The folder of records.  [default: ./signoffs, else that of the checkout]",
)
@options.expect_head
@options.gates
@options.as_of
@options.policy_from
def can_flip() -> None:
    """Check whether the signed records allow a flag.

    The newest record of each phase that FLAG switches counts. `experimental.adk.runtimeEnabled`
    switches every surface whose own flag is on (without --settings, every surface);
    `experimental.adk.agentSession…Enabled` switches its own. A record counts if trusted signers
    signed it, its profile is `release`, and it matches the current files.

    The gates must be those of the last commit, or with --policy-from those of REV; the records must
    be in the same repository, not in a nested one and not behind a link. If git cannot show that no
    record was removed, the answer is unknown.

    \b
    parity can-flip experimental.adk.agentSessionNoninteractiveEnabled
    parity can-flip runtimeEnabled --surface noninteractive
    parity can-flip runtimeEnabled --settings .gemini/settings.json
    parity can-flip runtimeEnabled --policy-from origin/main

    Exit codes: 0 yes; 1 no, or the gates are not the committed ones; 2 wrong usage, or a file that
    cannot be read; 3 unknown: there is no record, or git cannot answer.
    """
