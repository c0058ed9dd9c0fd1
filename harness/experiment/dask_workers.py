"""Workers of a Dask cluster, for runs on many machines. Needs the extra `dask`.

The user starts the scheduler with `dask scheduler --no-dashboard`, and a worker on each machine
with `dask worker --nthreads 1`, from the same build. Any program that can connect to a scheduler
can run code on its workers, so a connection to another machine must be encrypted.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harness.config import code_digest
from harness.errors import ReplayFailure, UsageError
from harness.experiment.pool import Workers

if TYPE_CHECKING:  # an extra
    from distributed import Client

__all__ = ["check_address", "dask_workers"]

_TIMEOUT_S = 10
_START = "start its workers with `dask worker --nthreads 1`"


def check_address(address: str) -> None:
    """Check that the connection is encrypted or stays on this machine.

    Raises:
        UsageError: The protocol is neither `tls` nor `tcp`, or is `tcp` to another machine.
    """
    try:
        split = urlsplit(address)
        host, port = split.hostname, split.port
    except ValueError:
        host, port, split = None, None, urlsplit("")
    if split.scheme not in ("tls", "tcp") or not host or port is None:
        raise UsageError(f"{address!r} is no scheduler's address", "write it as tls://HOST:PORT")
    if split.scheme == "tcp" and not _is_loopback(host):
        problem = f"{address}: tcp:// is not encrypted, and {host} is not this machine"
        raise UsageError(problem, "use tls://, with the certificates that Dask's settings name")


def dask_workers(address: str) -> tuple[Workers, int]:
    """Return the workers of the scheduler at `address`, and their number.

    Raises:
        UsageError: The address is refused, the extra is not installed, no scheduler answers, or
            its workers cannot run this build.
    """
    check_address(address)
    try:
        from distributed.scheduler import KilledWorker
    except ImportError as error:
        problem = "--executor needs Dask, which is not installed"
        raise UsageError(problem, "install the extra: pip install 'parity[dask]'") from error
    count = _checked_workers(address)
    return Workers(partial(_executor, address), deaths=(BrokenExecutor, KilledWorker)), count


def _checked_workers(address: str) -> int:
    ours = code_digest()
    with _client(address) as client:
        workers = client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            raise UsageError(f"the scheduler at {address} has no workers", _START)
        if any(worker["nthreads"] != 1 for worker in workers.values()):
            problem = f"workers of {address} run several tasks at once in one process"
            raise UsageError(problem, _START)
        try:
            theirs: dict[str, Any] = client.run(code_digest)
        except Exception as error:
            problem = f"the workers of {address} cannot run this program: {error}"
            raise UsageError(problem, "install the same build of parity there") from error
        others = sorted(worker for worker, digest in theirs.items() if digest != ours)
        if others:
            problem = f"{others[0]} runs other code than this machine"
            raise UsageError(problem, "install the same build of parity there")
        return len(workers)


@contextmanager
def _client(address: str) -> Iterator[Client]:
    from distributed import Client

    try:
        client = Client(address, timeout=_TIMEOUT_S, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        problem = f"there is no scheduler to talk to at {address}: {error}"
        raise UsageError(problem, "check the address, and the certificates for tls://") from error
    with client:
        yield client


@contextmanager
def _executor(address: str, jobs: int) -> Iterator[Executor]:
    """Open an executor over all workers of the cluster, whatever `jobs` is."""
    del jobs
    with _client(address) as client:
        # Not pure: Dask must run a repeated task again instead of reusing its result.
        executor: Executor = client.get_executor(pure=False, retries=0)
        try:
            yield executor
        except (OSError, CancelledError) as error:
            problem = f"the connection was lost: {error}"
            raise ReplayFailure(address, problem, "go on with --resume") from error
        finally:
            executor.shutdown(wait=False)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
