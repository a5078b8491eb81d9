# SPDX-License-Identifier: Apache-2.0
"""The ways of recording a random program, and the laws of what they measured against the program's own truth."""
import collections
import json
import math
import re
import subprocess

import laws
import truth_machine
from laws import NotHere, expect, law

MS = 1_000_000
RATE = 997
# name: words of record
WAYS = {
    'fp': ['-F', str(RATE), '-g', '-e', 'cpu-clock'],
    'dwarf': ['-F', str(RATE), '--call-graph', 'dwarf', '-e', 'cpu-clock'],
    'bpf': ['-F', str(RATE), '--call-graph', 'bpf', '-e', 'cpu-clock'],
    'kept': ['-F', str(RATE), '--call-graph', 'dwarf', '--keep-stacks', '-e', 'cpu-clock:u'],
    'wall-bpf': ['--wall', '--wall-source', 'bpf'],
    'wall-tracepoints': ['--wall', '--wall-source', 'tracepoints'],
    'wall-switches': ['--wall', '--wall-source', 'switches'],
    'timer': ['-F', str(RATE), '--rung', 'timer', '-g'],
    'events': ['-e', f'cpu-clock/freq={RATE}/,page-faults/period=1/,context-switches/period=1/', '-g'],
}
OTHERS = ['trace', 'stat']


def of_seed(seed):
    """Two ways, so that all come up as seeds go on."""
    names = [*WAYS, *OTHERS]
    return [names[seed % len(names)], names[(seed * 5 + 3) % len(names)]] if seed % len(names) != (seed * 5 + 3) % len(names) else [names[seed % len(names)]]


def build(program, folder):
    (folder / 'p.c').write_text(program.text)
    subprocess.run(['gcc', *program.options, 'p.c', '-o', f'prog{program.seed}'], cwd=folder, check=True)
    return folder / f'prog{program.seed}'


def check_recording(tally, path, folder, forms, thorough, **more):
    look = laws.Look(tally, path, folder, **more)
    look.forms, look.thorough = forms, thorough
    results = [(one[1], laws.check(one, look)) for one in laws.of_recordings()]
    if look.truth:
        results += [(one[1], laws.check(one, look)) for one in laws.of_truth()]
    return results


def check_seed(tally, seed, way, folder, forms, thorough):
    """[(name of a law, None or what is wrong)]"""
    program = truth_machine.make(seed)
    path = build(program, folder)
    written = folder / 'truth'
    tally.environment['TRUTH'] = str(written)
    if way in OTHERS:
        return [check_trace(tally, path, written, folder) if way == 'trace' else check_stat(tally, path, written, folder)]
    done = tally('record', *WAYS[way], '-o', folder / 'perf.data', path, cwd=folder)
    if done.returncode:
        return [('record', f'record {" ".join(WAYS[way])}: exit status {done.returncode}: {done.stderr[-300:]}')]
    return check_recording(tally, folder / 'perf.data', folder, forms, thorough, truth=truth_machine.read(written), way=way,
                           program=program)


def check_trace(tally, path, written, folder):
    """All calls of each thread are counted."""
    done = tally('trace', '-s', '--json', '-e', 'getppid', '-o', folder / 'trace.json', path, cwd=folder)
    text = (folder / 'trace.json').read_text() if (folder / 'trace.json').exists() else ''
    if done.returncode or not text:
        return 'calls_are_counted', f'calls_are_counted: trace: exit status {done.returncode}: {done.stderr[-300:]}'
    truth = truth_machine.read(written)
    counted = {thread['tid']: sum(call['calls'] for call in thread['syscalls'] if call['syscall'] == 'getppid')
               for thread in json.loads(text)['threads']}
    counted = {tid: count for tid, count in counted.items() if count}
    return 'calls_are_counted', None if counted == dict(truth.calls) else f'calls_are_counted: trace {counted}, truth {dict(truth.calls)}'


def check_stat(tally, path, written, folder):
    done = tally('stat', '-j', '-e', 'context-switches,page-faults,task-clock', '-o', folder / 'stat.json', path, cwd=folder)
    text = (folder / 'stat.json').read_text() if (folder / 'stat.json').exists() else ''
    if done.returncode or not text:
        return 'counts_are_true', f'counts_are_true: stat: exit status {done.returncode}: {done.stderr[-300:]}'
    truth = truth_machine.read(written)
    counts = {}
    for line in text.splitlines():
        if line.startswith('{'):
            one = json.loads(line)
            if 'event' in one:
                counts[one['event'].split(':')[0]] = float(one['counter-value'])
    ran = sum(one['ran'] for one in truth.threads.values()) / MS
    switches = sum(one['voluntary'] + one['involuntary'] for one in truth.processes)
    faults = sum(one['faults'] for one in truth.processes)
    wrong = []
    if not ran * 0.95 - 2 <= counts['task-clock'] <= ran * 1.3 + 20 + 3 * len(truth.steps):
        wrong.append(f'task-clock {counts["task-clock"]} ms, the threads ran {ran:.1f} ms')
    if not switches <= counts['context-switches'] <= switches + 3 * len(truth.steps) + 20:
        wrong.append(f'context-switches {counts["context-switches"]}, getrusage {switches}')
    if not faults * 0.9 - 50 <= counts['page-faults'] <= faults * 1.2 + 200 * len(truth.processes):
        wrong.append(f'page-faults {counts["page-faults"]}, getrusage {faults}')
    return 'counts_are_true', 'counts_are_true: ' + '; '.join(wrong) if wrong else None


def app_paths(look, event_of):
    """(thread, names of its stack, outermost first, period) of each sample of such events."""
    for sample in look.script():
        if event_of(sample['event']):
            frames = sample.get('callchain') or [sample]
            yield sample['tid'], [frame.get('sym') or '' for frame in reversed(frames)], sample['period']


def path_of(look, names):
    """The generated functions of a stack, outermost first, and the leaf; None if the stack does not begin in thread_main."""
    if 'thread_main' not in names:
        return None
    inner = names[names.index('thread_main') + 1:]
    return tuple(name for name in inner if name in look.program.functions), next((name for name in inner if name.startswith('leaf_')), None)


def is_clock(name):
    return re.match(r'(cpu|task)-clock|wall-timer', name) is not None


@law('a thread has as much CPU time as the kernel counted', truth=True)
def cpu_time_is_true(look):
    sums = collections.Counter()
    counts = collections.Counter()
    for tid, _, period in app_paths(look, is_clock):
        sums[tid] += period
        counts[tid] += 1
    if not sums:
        raise NotHere('no CPU clock')
    if ':u' in ' '.join(WAYS[look.way]) or look.way == 'timer':
        raise NotHere('user mode only')
    for tid, one in look.truth.threads.items():
        period = sums[tid] / counts[tid] if counts[tid] else MS
        slack = 4 * math.sqrt(max(counts[tid], 1)) * period * 0.5 + 3 * period + 0.04 * one['ran'] + 4 * MS
        # The first thread of a process does more than its script.
        more = 60 * MS if tid == one['pid'] else 0
        expect(-slack <= sums[tid] - one['ran'] <= slack + more, f'thread {tid} ({one["comm"]}) ran {one["ran"] / MS:.1f} ms, samples say {sums[tid] / MS:.1f} ms')


@law('each event of period 1 is a sample, or counted as lost', truth=True)
def events_are_kept_or_lost(look):
    if look.way != 'events':
        raise NotHere('no event of period 1')
    lost = sum(int(n) for n in re.findall(r'LOST(?:_SAMPLES)? events:\s+(\d+)', look.run('report', '--stats', '-i', look.path).stdout))
    kept = collections.Counter()
    for sample in look.script():
        kept[sample['event'].split('/')[0].split(':')[0], sample['pid']] += sample['period']
    for one in look.truth.processes:
        for event, count in (('context-switches', one['voluntary'] + one['involuntary']), ('page-faults', one['faults'])):
            expect(kept[event, one['pid']] >= count * 0.97 - 3 or lost, f'process {one["pid"]} had {count} {event}, {kept[event, one["pid"]]} are recorded, none lost')


@law('no call path is in a profile that the program never took', truth=True)
def no_path_is_invented(look):
    paths = look.truth.paths() | {tuple(step['path'][:-1]) for step in look.truth.steps}
    prefixes = {path[:n] for path in paths for n in range(len(path) + 1)}
    # Calls that only make system calls are not among the steps.
    wrong = collections.Counter()
    has_calls = bool(look.truth.calls)
    total = 0
    for tid, names, period in app_paths(look, lambda name: True):
        found = path_of(look, names)
        total += 1
        if found is None or found[1] == 'leaf_calls':
            continue
        path, leaf = found
        if path in prefixes:
            continue
        # By frame pointer the caller of a function that is just entered, or being left, is missing.
        if any(path[:i] + (f,) + path[i:] in prefixes for i in range(max(0, len(path) - 2), len(path) + 1) for f in look.program.functions):
            continue
        if has_calls and leaf is None:
            continue
        wrong[path] += 1
    limit = 0 if look.program.has_frame_pointers or look.way not in ('fp', 'timer', 'events') else total
    expect(sum(wrong.values()) <= limit, f'{sum(wrong.values())} of {total} samples have paths that never were: {wrong.most_common(2)}')


@law('the share of each call path is the one that the program measured', truth=True)
def shares_are_true(look):
    if look.way in ('fp', 'timer', 'events') and not look.program.has_frame_pointers:
        raise NotHere('no frame pointers')
    truth = collections.Counter()
    for step in look.truth.steps:
        if step['kind'] == 'cpu':
            truth[tuple(step['path'][:-1])] += step['ns']
    found, samples = collections.Counter(), 0
    broken = 0
    for _, names, period in app_paths(look, is_clock):
        if 'leaf_cpu' not in names:
            continue
        samples += 1
        one = path_of(look, names)
        if one is None:
            broken += 1
            continue
        found[one[0]] += period
    if not truth or samples < 20:
        raise NotHere('hardly any samples')
    expect(broken <= 0.05 * samples + 2, f'{broken} of {samples} samples in leaf_cpu do not begin in thread_main')
    whole_truth, whole = sum(truth.values()), sum(found.values())
    for path, ns in truth.items():
        wanted = ns / whole_truth
        slack = 5 * math.sqrt(wanted * (1 - wanted) / samples) + 0.02
        expect(abs(found[path] / whole - wanted) <= slack, f'{"/".join(path)}: {100 * wanted:.1f} % by its own clock, {100 * found[path] / whole:.1f} % in {samples} samples')


STATES = {'nap': 'sleep', 'lock': 'lock', 'pipe': 'io'}


@law('waits have the length, the state and the callers that the thread measured', truth=True)
def waits_are_true(look):
    if not look.way.startswith('wall'):
        raise NotHere('no waits')
    truth = collections.defaultdict(lambda: [0, 0])
    for step in look.truth.steps:
        if step['kind'] in STATES:
            truth[step['tid'], tuple(step['path'][:-1]), step['kind']][0] += step['ns']
            truth[step['tid'], tuple(step['path'][:-1]), step['kind']][1] += 1
    if not truth:
        raise NotHere('no waits')
    leaves = {'nap': 'leaf_nap', 'lock': 'wait_for_lock', 'pipe': 'wait_for_pipe'}
    found = collections.Counter()
    for tid, names, period in app_paths(look, lambda name: 'offcpu' in name):
        one = path_of(look, names)
        for kind, leaf in leaves.items():
            if one and leaf in names:
                found[tid, one[0], kind] += period
    if look.way == 'wall-switches' and not found:
        raise NotHere('waits have no stacks')
    for (tid, path, kind), (ns, count) in truth.items():
        got = found[tid, path, kind]
        expect(ns * 0.97 - 1.5 * MS * count <= got <= ns * 1.02 + 0.5 * MS * count,
               f'{kind} of {tid} below {"/".join(path)}: {ns / MS:.2f} ms by its own clock, {got / MS:.2f} ms recorded')


@law('a thread is in one state at each time, and in one all of its life', truth=True)
def states_fill_a_life(look):
    if not look.way.startswith('wall'):
        raise NotHere('no states')
    sums, last = collections.Counter(), collections.Counter()
    for key, (_, period) in look.sums('pid,state').items():
        sums[int(key[1])] += period
    for tid, names, period in app_paths(look, lambda name: True):
        # Who waits for a thread is woken before it has gone.
        last[tid] += period if 'do_exit' in names else 0
    for tid, one in look.truth.threads.items():
        most = look.truth.lives.get(tid, math.inf)
        expect(sums[tid] - last[tid] <= most * 1.02 + 3 * MS,
               f'thread {tid} lived at most {most / MS:.1f} ms, its states have {(sums[tid] - last[tid]) / MS:.1f} ms')
        expect(sums[tid] >= one['lived'] * 0.95 - 6 * MS, f'thread {tid} lived {one["lived"] / MS:.1f} ms, its states have {sums[tid] / MS:.1f} ms')


@law('threads have the names that they gave themselves', truth=True)
def names_are_true(look):
    shown = collections.defaultdict(set)
    for key in look.sums('pid,comm'):
        shown[int(key[1])].add(key[2])
    for tid, one in look.truth.threads.items():
        if tid in shown and one['ran'] > 25 * MS:
            comm = ''.join(c if c >= ' ' else f'\\x{ord(c):02x}' for c in one['comm'])  # as names are spelled everywhere
            expect(comm in shown[tid], f'thread {tid} is "{one["comm"]}", report has {shown[tid]}')
