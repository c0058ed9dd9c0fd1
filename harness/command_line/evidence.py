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
@click.option("--dry-run", is_flag=True, help="Show what would be run and how long, and run none.")
@click.option("--json", "json_file", type=options.FILE, help="Write the gate's answer as JSON.")
@click.option("--html", "html_file", type=options.FILE, help="Write the gate's answer as a page.")
def measure() -> None:
    """Run what the gate lacks for a phase, and ask the gate.

    Asks the gate what is missing, shows what is going to be run and about how long that takes, runs
    it, and asks again. What is there already and still counts is not run again, so that the same
    command goes on after Ctrl-C or a kill: a leg and a sample where they were cut off, the seeded
    faults from their beginning. Journals, the kill matrix and the answer go into the first folder
    that --journal names.

    \b
    parity measure --phase A --dry-run
    parity measure --phase A --profile pull_request
    parity measure --phase A -n 2 --html gate.html

    Exit codes: those of the gate, 0 yes; 1 no; 2 wrong usage, or a file that cannot be read; 3
    unknown; and 130 interrupted. With --dry-run those of the gate as things stand.
    """  # noqa: D301 - click's mark for lines that stay as they are


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
    """Say whether a rollout phase may be flipped, and why.

    Judges what was run and measured before; runs nothing itself. What is missing makes the answer
    unknown, what contradicts makes it no. The output ends with the command that measures what is
    missing, and about how long it takes. Evidence counts only if it is of the code, cassettes and
    rules that are here now.

    \b
    parity gate --phase B
    parity gate --phase A --profile pull_request --journal parity-report
    parity gate --phase A --json answer.json --html answer.html
    parity gate --phase A --policy-from origin/main
    parity gate --phase A --as-of 2026-06-01

    Exit codes: 0 yes; 1 no; 2 wrong usage, or a file that cannot be read; 3 unknown.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("sign:sign")
@click.option("--phase", type=click.Choice(["A", "B", "C"]), help="The rollout phase.")
@options.profile
@options.evidence
@options.key_options
@click.option(
    "--signer",
    metavar="NAME",
    help="Who signs, where gates.toml does not say so: for pull_request only.",
)
@click.option(
    "--add",
    type=options.FILE,
    metavar="RECORD",
    help="Put a second signature to the newest record, after the same checks.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="How many blocks of each generated run are run again.",
)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run only N cases of each leg again, drawn by chance: for pull_request only.",
)
@options.signoffs()
@options.as_of
@options.jobs
@options.trust
@click.option("--yes", is_flag=True, help="Do not ask: for CI.")
def sign() -> None:
    """Sign the gate's yes to a phase, and add it to the records.

    The gate must say yes, the checkout must be as committed, and what was journalled is run again
    here: every case of the legs between the two runtimes, and some blocks of each generated run.
    Then what would be signed is shown, with what it does not say, and you are asked.

    \b
    parity sign --phase A --journal parity-report --key ~/keys/release
    parity sign --phase A --journal parity-report --key-fd 3 --yes 3<release.key
    parity sign --add signoffs/0003-A-release.json \\
        --journal parity-report --key ~/keys/other

    Exit codes: 0 signed; 1 the gate says no, or something does not hold; 2 wrong usage, or a key
    or file that cannot be used; 3 the gate does not know, or something could not be run again;
    130 interrupted. Nothing is written unless it is 0.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("verify:verify")
@click.argument("record", required=False, type=options.PLACE)
@options.signoffs("the record's, or ./signoffs")
@click.option(
    "--gates",
    "gates_file",
    type=options.FILE,
    help="Whose signatures count: trust this gates.toml instead of the one here.",
)
@options.policy_from
@click.option(
    "--also-trust",
    multiple=True,
    metavar="NAME=FILE",
    help="Trust this public key too, for this call and for pull_request records only.",
)
@options.expect_head
@click.option(
    "--replay",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Run N of the record's cases again and compare their traces.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Choose the same cases again.")
@click.option("--json", "json_file", type=options.FILE, help="Write what was found as JSON.")
@options.jobs
@options.trust
def verify() -> None:
    """Say whether a signed record holds here and now.

    If it does not, each reason is one line. RECORD is a record's file, or its name in the folder;
    without one, the newest. It must be signed by enough of those whom the gates here trust (never
    by a key that it brings along), be exactly of its type, stand in an unbroken chain, and be over
    the files that are here: each cassette, waiver, source file and rule that is no longer the same
    is named.

    The gates must be those of the last commit, unless --gates or --policy-from names others, and
    git must be able to say that no record was taken away. RECORD does not hold where the newest
    record of its phase was revoked. Without RECORD, the newest records of all phases count.

    \b
    parity verify
    parity verify 0003-A-release.json --replay 20
    parity verify --expect-head 1f3a9c0e --json verified.json
    parity verify --policy-from origin/main
    parity verify --also-trust ci=ci.key.pub

    Exit codes: 0 it holds; 1 it does not, or it was revoked; 2 wrong usage, or a file that cannot
    be read; 3 there is no record, git cannot say whether records are missing, or a case could not
    be run again; 130 interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("revoke:revoke")
@click.argument("record", type=options.PLACE)
@click.option("--reason", required=True, metavar="TEXT", help="Why it holds no longer.")
@options.key_options
@options.signoffs("the record's, or ./signoffs")
@options.gates
@click.option("--yes", is_flag=True, help="Do not ask.")
def revoke() -> None:
    """Revoke a signed record.

    Appends a signed statement that the record holds no longer.

    RECORD is a record's file, or its name in the folder. Nothing is taken away: the revocation is
    one more record of the chain. One signer whom the gates trust for what the record is about is
    enough. `parity verify` and `parity can-flip` refuse the record from then on, and no older one
    takes its place.

    \b
    parity revoke 0003-A-release.json --key ~/keys/release \\
        --reason "the corpus left out hooks"

    Exit codes: 0 revoked; 1 it cannot be revoked: not there, revoked already, or the chain does not
    hold; 2 wrong usage, or a key that cannot be used; 130 interrupted. Nothing is written unless it
    is 0.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("keygen:keygen")
@click.option(
    "--out",
    type=options.FILE,
    required=True,
    metavar="FILE",
    help="Where the private key goes; the public one goes beside it, as FILE.pub.",
)
@click.option(
    "--name",
    default="release-manager",
    show_default=True,
    metavar="NAME",
    help="What the signer is called in gates.toml: a role.",
)
@options.passphrase_options
@click.option("--no-passphrase", is_flag=True, help="Leave the private key unencrypted.")
def keygen() -> None:
    """Make a pair of Ed25519 keys.

    The private key can be read by its owner only, and is encrypted with the passphrase that is
    asked for (or read from a file or a descriptor). A folder that is missing is made, for its owner
    only. Nothing is ever written over. What is printed is public: the block that makes the key a
    trusted one, to be put into gates.toml.

    \b
    parity keygen --out ~/keys/release --name release-manager
    parity keygen --out ~/keys/ci --name ci --no-passphrase
    parity keygen --out key --passphrase-fd 3 3<passphrase.txt

    Exit codes: 0 both files are written; 2 wrong usage, or a place where something is already;
    130 interrupted, with nothing left behind.
    """  # noqa: D301 - click's mark for lines that stay as they are


@command("can_flip:can_flip", "can-flip")
@click.argument("flag", metavar="FLAG")
@click.option(
    "--surface",
    "surfaces",
    type=click.Choice(["noninteractive", "interactive", "subagent"]),
    multiple=True,
    help="Only this surface; again for more.  [default: all that the flag flips]",
)
@click.option(
    "--settings",
    "settings_file",
    type=options.FILE,
    help="The settings that it would be turned on in: surfaces whose own flag is off stay.",
)
@click.option(
    "--signoffs",
    type=options.PLACE,
    metavar="DIR",
    help="Where the records are; ./signoffs if there is one, else the checkout's.",
)
@options.expect_head
@options.gates
@options.as_of
@options.policy_from
def can_flip() -> None:
    """Say whether the signed records allow a flag.

    The newest record of each phase that FLAG moves counts. `experimental.adk.runtimeEnabled` moves
    every surface whose own flag is on, and without --settings that may be any;
    `experimental.adk.agentSession…Enabled` moves its own. A record counts if trusted signers signed
    it, its profile is `release`, and all that it rests on is what is here now.

    The gates must be those of the last commit, or with --policy-from those of REV; the records must
    lie in the same repository, in no repository of their own and behind no link. Git must be able
    to say that none was taken away: where it cannot, the answer is unknown.

    \b
    parity can-flip experimental.adk.agentSessionNoninteractiveEnabled
    parity can-flip runtimeEnabled --surface noninteractive
    parity can-flip runtimeEnabled --settings .gemini/settings.json
    parity can-flip runtimeEnabled --policy-from origin/main

    Exit codes: 0 yes; 1 no, also where the gates are not the committed ones; 2 wrong usage, or a
    file that cannot be read; 3 unknown: there is no record of what is here, or git cannot answer.
    """  # noqa: D301 - click's mark for lines that stay as they are
