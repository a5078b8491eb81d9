# SPDX-License-Identifier: Apache-2.0
"""A recording of the scheduler of any length: switches and wake-ups of a few CPUs, one block of records over and over with
times that go on."""
import array
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'tests' / 'e2e'))

from perfdata_build import Recording  # noqa: E402
from tracing_build import Tracepoint, tracing_data  # noqa: E402

CPUS, TASKS_A_CPU, BLOCK = 4, 15, 12000  # records in a block: five switches to one wake-up
SWITCH = Tracepoint('sched', 'sched_switch', 300, [
    ('char', 'prev_comm[16]', 16), ('int', 'prev_pid', 4), ('int', 'prev_prio', 4), ('long', 'prev_state', 8),
    ('char', 'next_comm[16]', 16), ('int', 'next_pid', 4), ('int', 'next_prio', 4)])
WAKEUP = Tracepoint('sched', 'sched_wakeup', 301, [
    ('char', 'comm[16]', 16), ('int', 'pid', 4), ('int', 'prio', 4), ('int', 'success', 4), ('int', 'target_cpu', 4),
    ('char', 'room[24]', 24)])  # as large as a switch, so that a block is a table of words


def name_of(task):
    return f'task{task}' if task else 'swapper'


def next_task(chooser, cpu, task):
    """Another one; every other time nothing is to do."""
    if task and chooser.random() < 0.5:
        return 0
    return chooser.choice([t for t in range(100 + cpu * 100, 100 + cpu * 100 + TASKS_A_CPU) if t != task])


def block(recording):
    """The records of a block, all of one size, and how many of them are switches. It ends as it begins: the CPUs idle."""
    chooser, running, switches = random.Random(1), [0] * CPUS, 0
    recording.records = b''
    for i in range(BLOCK):
        cpu = i % CPUS
        task = running[cpu]
        if i % 6 == 5:
            payload = WAKEUP.payload(pid=100 + cpu * 100 + chooser.randrange(TASKS_A_CPU), comm='woken')
        else:
            running[cpu] = comes = 0 if i >= BLOCK - 2 * CPUS and task else next_task(chooser, cpu, task)
            payload = SWITCH.payload(prev_pid=task, prev_comm=name_of(task), prev_state=chooser.choice([0, 1, 1, 2]),
                                     next_pid=comes, next_comm=name_of(comes))
            switches += 1
        recording.sample(event=int(i % 6 == 5), tid=(task, task), time=0, cpu=cpu, raw=payload)
    return recording.records, switches


def names(recording):
    """Who the tasks are, before all else."""
    recording.records = b''
    for cpu in range(CPUS):
        for task in range(100 + cpu * 100, 100 + cpu * 100 + TASKS_A_CPU):
            recording.record(3, 0, recording.pack('II', task, task) + recording.name(name_of(task)) + recording.trailer())
    return recording.records


def build(path, switches, seconds):
    """At least so many switches in that time."""
    recording = Recording()
    for tracepoint in (SWITCH, WAKEUP):
        recording.event('IDENTIFIER TID TIME CPU RAW', kind=2, config=tracepoint.number, period=1)
    recording.name_events('sched:sched_switch', 'sched:sched_wakeup')
    recording.feature(1, tracing_data([SWITCH, WAKEUP]))
    words, switches_a_block = block(recording)
    words = array.array('Q', words)
    width, time_word = len(words) // BLOCK, 3  # header, identifier, thread, time
    blocks = -(-switches // switches_a_block)
    step = seconds * 1_000_000_000 // (blocks * BLOCK)
    comms = names(recording)
    data = len(comms) + len(words) * 8 * blocks
    recording.records = b''
    recording.write(path)
    head = path.read_bytes()
    first = struct.unpack_from('<Q', head, 40)[0]
    # The size of the data, and the sections behind it that far on.
    head = bytearray(head)
    struct.pack_into('<Q', head, 48, data)
    for i in range(len(recording.features)):
        where = struct.unpack_from('<Q', head, first + 16 * i)[0]
        struct.pack_into('<Q', head, first + 16 * i, where + data)
    with open(path, 'wb') as out:
        out.write(head[:first])
        out.write(comms)
        for i in range(blocks):
            begin = 1_000_000_000 + i * BLOCK * step
            words[time_word::width] = array.array('Q', range(begin, begin + BLOCK * step, step))
            words.tofile(out)
        out.write(head[first:])
    return blocks * switches_a_block


if __name__ == '__main__':
    print(build(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])), 'switches')
