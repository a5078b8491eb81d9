# SPDX-License-Identifier: Apache-2.0
"""A wall-clock recording of known waits, with functions that have names: src/abi/wait_record.h says what is in a wait."""
import os
import pathlib
import struct

from perfdata_build import CHAIN_USER, Recording

PROCESS = 5_000_000 + os.getpid()  # above any that can run
NAMES = pathlib.Path(f'/tmp/perf-{PROCESS}.map')
CODE = 0x7f0000000000
MS, SECOND = 10 ** 6, 10 ** 9
BEGIN = 10 * SECOND
SOFTWARE, CPU_CLOCK, BPF_OUTPUT = 1, 0, 10
STATES = 'running runnable sleep uninterruptible stopped disk lock poll io other off-cpu throttled'.split()
SUM, BEGAN_BEFORE, UNFINISHED, WAKER, INTERRUPT, PREEMPTED = 1, 2, 4, 8, 16, 32
MAGIC = 0x54494157
FUNCTIONS = ('start compute lock_it use_it futex_wait unlock release hold work nap clock_sleep read_it sys_read feed sys_write '
             'pool epoll_wait timer').split()
THREADS = {'main': 0, 'computer': 1, 'waiter': 2, 'holder': 3, 'reader': 4, 'feeder': 5, 'pool': 6}
FIELDS = 'IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN'


def address(function):
    return CODE + 0x100 * FUNCTIONS.index(function) + 8


def chain(*functions):
    """The innermost one first."""
    return [CHAIN_USER, *(address(name) for name in functions)]


def tid(thread):
    return PROCESS + THREADS[thread]


def wait_record(state, flags=0, count=1, syscall=-1, waker=None, stack=(), version=1, magic=MAGIC, order='<'):
    pid, comm = (PROCESS, waker.encode()) if waker else (0, b'')
    flags |= WAKER if waker else 0
    ips = chain(*stack) if stack else []
    state = STATES.index(state) if isinstance(state, str) else state
    return struct.pack(order + 'IHBBQiIII16s', magic, version, state, flags, count, syscall, pid, tid(waker) if waker else 0,
                       len(ips), comm) + struct.pack(f'{order}{len(ips)}Q', *ips)


class WallRecording(Recording):
    def __init__(self, order='<', command=('record', '--wall', '--', './program'), raw=True):
        super().__init__(order)
        self.event(FIELDS, kind=SOFTWARE, config=CPU_CLOCK, period=10 * MS)
        self.event(FIELDS + (' RAW' if raw else ''), kind=SOFTWARE, config=BPF_OUTPUT, period=1)
        self.name_events('cpu-clock', 'offcpu-time')
        if command:
            self.feature(11, self.pack('I', len(command)) + b''.join(self.text(word) for word in command))
        for name, number in THREADS.items():
            self.record(3, 0, self.pack('II', PROCESS, PROCESS + number) + self.name(name) + self.trailer())
        self.record(1, 2, self.pack('IIQQQ', PROCESS, PROCESS, CODE, 0x100 * len(FUNCTIONS), 0) + self.name('//anon') +
                    self.trailer())

    def runs(self, thread, start, length, *functions, step=10 * MS):
        for time in range(start, start + length, step):
            self.sample(0, ip=address(functions[0]), tid=(PROCESS, tid(thread)), time=time + step, period=step,
                        callchain=chain(*functions))

    def waits(self, thread, state, start, length, *functions, **more):
        """Raw data begin with what perf reads there."""
        ips = chain(*functions)
        perfs = self.pack('II', PROCESS, tid(thread)) + self.words([length, len(ips), *ips, 0])
        self.sample(1, ip=address(functions[0]), tid=(PROCESS, tid(thread)), time=start + length, period=length, callchain=ips,
                    raw=perfs + wait_record(state, order=self.order, **more))


def known_waits(path, **options):
    """Of five seconds: a thread that computes, one that waits for a lock, whose holder sleeps and then works, one that reads
    what another writes, and a pool that has nothing to do."""
    r = WallRecording(**options)
    r.runs('computer', BEGIN, 2 * SECOND, 'compute', 'start')
    r.waits('holder', 'sleep', BEGIN, 2500 * MS, 'clock_sleep', 'nap', 'hold', 'start', flags=INTERRUPT, waker='computer',
            stack=('compute', 'start'))
    r.runs('holder', BEGIN + 2500 * MS, 500 * MS, 'work', 'hold', 'start')
    r.waits('waiter', 'lock', BEGIN, 3 * SECOND, 'futex_wait', 'lock_it', 'use_it', 'start', waker='holder',
            stack=('unlock', 'release', 'hold', 'start'))
    r.waits('waiter', 'runnable', BEGIN + 3 * SECOND, 20 * MS, 'futex_wait', 'lock_it', 'use_it', 'start', waker='holder',
            stack=('unlock', 'release', 'hold', 'start'))
    r.waits('computer', 'runnable', BEGIN + 2 * SECOND, 100 * MS, 'compute', 'start', flags=PREEMPTED)
    for i in range(4):
        r.waits('reader', 'io', BEGIN + i * 500 * MS, 500 * MS, 'sys_read', 'read_it', 'start', waker='feeder',
                stack=('sys_write', 'feed', 'start'))
    r.waits('pool', 'poll', BEGIN, 4 * SECOND, 'epoll_wait', 'pool', 'start', flags=SUM, count=40)
    NAMES.write_text(''.join(f'{CODE + 0x100 * i:x} 100 {name}\n' for i, name in enumerate(FUNCTIONS)))
    r.write(path)
    return path
