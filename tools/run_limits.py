# SPDX-License-Identifier: Apache-2.0
"""How long a run of the tests may take, and how the processes of what exceeds that are found and ended.

BEGIN_UNTIL: seconds since the epoch, after which nothing begins. END_BY: seconds since the epoch, at which what runs is
ended. Both are infinite unless the environment has them. pytest names the running case in the environment variable PYTEST_CURRENT_TEST as "NODEID (PHASE)", and what the case
starts inherits it. Children of pytest that were given another environment belong to the case that runs.
"""
import contextlib
import os
import pathlib
import signal
import time

# Why a case was skipped that would have begun after BEGIN_UNTIL.
TOO_LATE = 'BEGIN_UNTIL has passed'


def seconds_until(name):
    """How long it is until the time that this variable has; not below 0."""
    return max(0, float(os.environ.get(name) or 'inf') - time.time())


def running_cases():
    """{case: [pid]} of all processes that name a case in their environment and may be read."""
    found = {}
    for entry in pathlib.Path('/proc').glob('[0-9]*/environ'):
        with contextlib.suppress(OSError):
            for variable in entry.read_bytes().split(b'\0'):
                if variable.startswith(b'PYTEST_CURRENT_TEST='):
                    case = variable.split(b'=', 1)[1].decode(errors='replace').rpartition(' (')[0]
                    found.setdefault(case, []).append(int(entry.parent.name))
    return found


def descendants(parent):
    """The PIDs of all children of a process, and of theirs."""
    children = {}
    for entry in pathlib.Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):
            fields = entry.read_text(errors='replace').rpartition(')')[2].split()
            children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    found, to_visit = [], [parent]
    while to_visit:
        found += (mine := children.get(to_visit.pop(), []))
        to_visit += mine
    return found


def described(pid):
    """One line about a process: its number, state, what it waits for in the kernel, and its command line."""
    def read(name):
        with contextlib.suppress(OSError):
            return pathlib.Path(f'/proc/{pid}/{name}').read_text(errors='replace')
        return ''

    state = read('stat').rpartition(')')[2].split()[:1]
    words = read('cmdline').replace('\0', ' ').strip()
    return f'{pid} {"".join(state) or "gone"} {read("wchan") or "-"} {words[:200]}'


def end_processes(pids):
    """Kills them, stopped ones too; this process is spared."""
    for pid in set(pids) - {os.getpid()}:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
