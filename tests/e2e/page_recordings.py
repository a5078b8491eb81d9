# SPDX-License-Identifier: Apache-2.0
"""Recordings that the tests of several pictures and exports look at."""
from page import HOSTILE, raw_name
from perfdata_build import CHAIN_USER, Recording

MS = 1_000_000
STEPS = 300
OBJECTS = ('first', 'second', 'third')


def sampled(path, period=lambda i: 1000):
    """Two threads, three files, two events, 3 s: "third" only in the last second, called by "first"."""
    recording = Recording()
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN')
    recording.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN', config=1)
    recording.name_events('cycles', 'instructions')
    recording.comm('worker')
    recording.record(3, 0, recording.pack('II', 1000, 1001) + recording.name('worker') + recording.trailer())
    for index, name in enumerate(OBJECTS):
        recording.mmap(0x10000 * (index + 1), 0x1000, '/' + name)
    for i in range(STEPS):
        leaf = 0x30008 if i >= 200 else 0x10000 * (i % 2 + 1) + 8
        recording.sample(event=i % 3 == 0, ip=leaf, tid=(1000, 1000 + i % 2), time=10 ** 9 + i * 10 * MS, cpu=i % 2,
                         period=period(i), callchain=[CHAIN_USER, leaf, 0x10000 + 16])
    recording.write(path)


def hostile(path):
    """A thread and a file for each name, with a sample of period 10, 11, ... in it; all end in the first file."""
    recording = Recording()
    recording.event('IP TID TIME CPU PERIOD CALLCHAIN')
    for i, name in enumerate(HOSTILE):
        start, raw = 0x10000000 * (i + 1), raw_name(name)[:3000]
        file = raw + b'\0'
        file += bytes(-len(file) % 8)
        recording.record(3, 0, recording.pack('II', 1000, 1000 + i) + raw[:15].ljust(16, b'\0') + recording.trailer())
        recording.record(1, 2, recording.pack('IIQQQ', 1000, 1000, start, 0x1000, 0) + file + recording.trailer())
        recording.sample(ip=start + 0x10, tid=(1000, 1000 + i), time=5_000_000_000 + i, period=10 + i,
                         callchain=[CHAIN_USER, start + 0x10, start + 0x20, 0x10000000 + 0x30])
    recording.write(path)
