# SPDX-License-Identifier: Apache-2.0
"""The time of each case: which cases are `long`, what a case may use, and the order in which cases run.

durations.txt lists the cases that used more than QUICK_CPU_S of CPU or took longer than QUICK_WALL_S. They are marked
`long`, beside those that their source marks, unless it marks them `always`: `make check` leaves them to `make check-more`
and to .ci/run. A quick case that uses more than LIMIT_S of CPU fails: the same work takes up to twice as long on a slower
machine, or beside other work on the same core. What a case shares with others (fixtures of a wider scope, what
`shared_work` does) is not counted. A case that does not end is ended after END_AFTER_S, with all that it has started, and
its failure lists those processes: one that hangs never holds up the others.
The CPU time is that of pytest itself and of the processes that ended and were waited for. Each run writes what its cases
used to e2e-durations.json in the build folder; --store-durations updates durations.txt from it. The listed cases run
first, so that the last worker does not end with one of them.
"""
import contextlib
import json
import os
import pathlib
import resource
import signal
import time

import pytest
import run_limits

STORED = pathlib.Path(__file__).with_name('durations.txt')
QUICK_CPU_S, QUICK_WALL_S = 0.3, 2
# Cases with one of these marks may use more.
UNLIMITED = {'long', 'always', 'data'}
# On a slow machine or with a slow build: TALLY_CASE_CPU_S=SECONDS; 0: no limit.
LIMIT_S = float(os.environ.get('TALLY_CASE_CPU_S') or 10)
# Wall-clock seconds that the preparation, the body and the end of a case may each take; 0: no limit. Longer than a
# subprocess may take (TIMEOUT_S of conftest.py), whose own message says more.
END_AFTER_S = float(os.environ.get('TALLY_CASE_WALL_S') or 400)


def cpu_used():
    """CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(times.ru_utime + times.ru_stime for times in used)


class CaseBudget:
    """Measures the cases of one pytest process, and refuses those that use too much."""

    def __init__(self):
        self.shared_cpu_s = self.shared_wall_s = 0.0
        self.depth = 0
        self.case_begin = (0.0, 0.0)

    @contextlib.contextmanager
    def shared_work(self):
        """What happens inside is work for many cases, and not counted for the one during which it happens."""
        cpu_s, wall_s = cpu_used(), time.monotonic()
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            if self.depth == 0:
                self.shared_cpu_s += cpu_used() - cpu_s
                self.shared_wall_s += time.monotonic() - wall_s

    def now(self):
        return cpu_used() - self.shared_cpu_s, time.monotonic() - self.shared_wall_s

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        with contextlib.nullcontext() if fixturedef.scope == 'function' else self.shared_work():
            yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        """Marks the long cases, before pytest selects by marks."""
        stored = read_stored()
        for item in items:
            if item.nodeid in stored and not item.get_closest_marker('always'):
                item.add_marker('long')

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.case_begin = self.now()
        if run_limits.seconds_until('BEGIN_UNTIL') == 0:
            pytest.skip(run_limits.TOO_LATE)
        with ended_in_time(item):
            yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        with ended_in_time(item):
            yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item):
        with ended_in_time(item):
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        if call.when != 'call':
            return
        cpu_s, wall_s = (after - before for after, before in zip(self.now(), self.case_begin))
        report.user_properties.append(('cpu_s', round(cpu_s, 3)))
        report.user_properties.append(('wall_s', round(wall_s, 3)))
        if report.passed and 0 < LIMIT_S < cpu_s and not UNLIMITED & {mark.name for mark in item.iter_markers()}:
            report.outcome = 'failed'
            report.longrepr = (f'the case used {cpu_s:.1f} s of CPU, more than the {LIMIT_S:g} s that a quick case may use; make '
                               'it cheaper, or add it to the long ones of make check-more by --store-durations')


@contextlib.contextmanager
def ended_in_time(item):
    """What happens inside is interrupted after a while, and again and again while it waits for something else."""
    limit_s = END_AFTER_S * (4 if UNLIMITED & {mark.name for mark in item.iter_markers()} else 1)

    def end_case(_number, _frame):
        # What pytest itself started besides, such as the browser that cases share, may be what hangs.
        pids = set(run_limits.descendants(os.getpid())).union(run_limits.running_cases().get(item.nodeid, []))
        seen = '\n'.join(run_limits.described(pid) for pid in sorted(pids))
        run_limits.end_processes(pids)
        pytest.fail(f'the case was ended, as it took more than {limit_s:g} s (TALLY_CASE_WALL_S); its processes were\n{seen}')

    before = signal.signal(signal.SIGALRM, end_case)
    signal.setitimer(signal.ITIMER_REAL, limit_s, 10)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


BUDGET = CaseBudget()
shared_work = BUDGET.shared_work


class Durations:
    """Collects what each case used, writes the list at the end of the run, and orders the cases by the stored list."""

    def __init__(self, config, folder):
        self.config = config
        self.list = folder / 'e2e-durations.json'
        self.used = {}

    def pytest_runtest_logreport(self, report):
        properties = dict(report.user_properties)
        if report.when == 'call' and 'cpu_s' in properties:
            self.used[report.nodeid] = (properties['cpu_s'], properties['wall_s'])

    def pytest_sessionfinish(self):
        if hasattr(self.config, 'workerinput') or not self.used:
            return
        # The cases of `make check` run in two sessions, and a developer runs a few: the list keeps the others.
        with contextlib.suppress(OSError, ValueError):
            self.used = {**json.loads(self.list.read_text()), **self.used}
        by_cpu = sorted(self.used.items(), key=lambda entry: -entry[1][0])
        self.list.write_text('{\n' + ',\n'.join(f'{json.dumps(case)}: {json.dumps(used)}' for case, used in by_cpu) + '\n}\n')
        if self.config.getoption('--store-durations'):
            stored = {**read_stored(), **{case: wall_s for case, (_, wall_s) in self.used.items()}}
            is_quick = {case: cpu_s <= QUICK_CPU_S and wall_s <= QUICK_WALL_S for case, (cpu_s, wall_s) in self.used.items()}
            slowest = sorted((case for case in stored if not is_quick.get(case)), key=lambda case: (-stored[case], case))
            STORED.write_text(''.join(f'{stored[case]:.1f} {case}\n' for case in slowest))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        """The slowest first. xdist hands each worker a block of the list: the slow cases begin all of the blocks."""
        slowest = read_stored()
        slow = sorted((item for item in items if item.nodeid in slowest), key=lambda item: -slowest[item.nodeid])
        rest = [item for item in items if item.nodeid not in slowest]
        workers = getattr(self.config, 'workerinput', {}).get('workercount', 1)
        blocks = blocks_of(self.config, workers, len(items))
        size = len(items) // blocks
        ordered = []
        for block in range(blocks):
            mine = slow[block::blocks]
            ordered += mine
            ordered += [rest.pop(0) for _ in range(min(len(rest), max(0, size - len(mine))))]
        items[:] = ordered + rest


def blocks_of(config, workers, count):
    """How many blocks begin at once: with `load`, each worker first gets a quarter of its share, otherwise all of it."""
    if workers == 1:
        return 1
    how = config.getoption('dist', 'load')
    return min(workers if how == 'worksteal' else 4 * workers, max(1, count))


def read_stored():
    if not STORED.exists():
        return {}
    pairs = (line.split(' ', 1) for line in STORED.read_text().splitlines())
    return {case: float(seconds) for seconds, case in pairs}


def add_options(parser):
    parser.addoption('--store-durations', action='store_true', help='update the list of long cases, tests/e2e/durations.txt')


def configure(config, folder):
    config.addinivalue_line('markers', 'long: runs in make check-more, and in .ci/run (slow, or redundant)')
    config.addinivalue_line('markers', 'always: runs in make check, however long it takes')
    config.pluginmanager.register(BUDGET, 'case-budget')
    config.pluginmanager.register(Durations(config, folder), 'case-durations')
