#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares tally with perf in one run: medians of alternating runs, as ratios.

usage: bench/run.py [--json FILE] [--rounds N] [--seconds S] [--keep]
                    [--recording FILE]
                    [--only report,export,flamegraph,pages,timechart,script,record,live,startup,counting,reading,large,
                            unwind,stacks,lines,debug,library,kernel,waits,trace,fleet]
                    [--hosts N] [--windows N]

Environment: BUILD (build), PERF (perf), CLICKHOUSE (host:port of a server, for fleet). A ratio above 1 means that tally is faster or cheaper, except where the row
says otherwise. The recording is made by perf, so that both read the same file:
record -a -g -F 10000 of a compile loop; system-wide recording takes root or perf_event_paranoid <= 0. --recording takes
one that is there instead.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import time

import debug_program as debug_program_module
import fleet
import kernel_unwinding
import sched_recording
import servers

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get('BUILD', 'build')
WORK = BUILD / 'bench'
TALLY = BUILD / 'src' / 'cli' / 'tally'
ENVIRONMENT = {**os.environ, 'LC_ALL': 'C', 'PAGER': 'cat', 'TERM': 'dumb', 'HOME': str(WORK)}
# What the recorded machine does: compiles a file of this project over and over, with every CPU busy.
COMPILE_LOOP = '''
end=$(($(date +%s) + {seconds}))
for cpu in $(seq $(nproc)); do
	while [ $(date +%s) -lt $end ]; do {compile}; done &
done
wait
'''


def timed(command, output, is_discarded=False):
    """(wall seconds, CPU seconds, exit status) of a command; its output goes to a file, or nowhere."""
    with open(os.devnull if is_discarded else output, 'wb') as out, open(f'{output}.err', 'wb') as err:
        begin = time.perf_counter()
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 env=ENVIRONMENT, cwd=WORK)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    return wall, usage.ru_utime + usage.ru_stime, child.returncode


def alternate(commands, rounds, key=0, is_discarded=False):
    """Median per command; the commands take turns, so that a drift of the machine hits both alike."""
    taken = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            output = WORK / f'{name}.out'
            result = timed(command, output, is_discarded)
            if result[2]:
                text = pathlib.Path(f'{output}.err').read_text(errors='replace').strip()
                raise RuntimeError(f'{" ".join(map(str, command))}: exit status {result[2]}: {text[-300:]}')
            # The first turn warms the page cache and counts for nothing.
            if turn:
                taken[name].append(result[key])
    return {name: statistics.median(values) for name, values in taken.items()}


def compile_command():
    database = json.loads((BUILD / 'compile_commands.json').read_text())
    entry = next(e for e in database if e['file'].endswith('arena.c'))
    command = re.sub(r' -o \S+', ' -o /dev/null', entry['command'])
    command = re.sub(r' -M[DQF] ?\S*( \S+\.o\b)?', '', command)
    return f'(cd {entry["directory"]} && {command})'


def loop_script(seconds):
    path = WORK / f'compile-loop-{seconds}.sh'
    path.write_text(COMPILE_LOOP.format(seconds=seconds, compile=compile_command()))
    return path


def make_recording(perf, seconds):
    data = WORK / f'busy-{seconds}.data'
    if not data.exists():
        print(f'recording a compile loop for {seconds} s with {perf} ...', file=sys.stderr)
        result = timed([perf, 'record', '-a', '-g', '-F', '10000', '-o', f'{data}.tmp', '--', 'sh',
                        loop_script(seconds)], WORK / 'record.out')
        if result[2]:
            raise RuntimeError('perf record failed: ' + (WORK / 'record.out.err').read_text(errors='replace')[-300:])
        os.rename(f'{data}.tmp', data)
    return data


def row(name, unit, perf, tally, note='', ratio=None):
    if ratio is None:
        ratio = perf / tally if tally else None
    return {'name': name, 'unit': unit, 'perf': perf, 'tally': tally, 'ratio': ratio, 'note': note}


# In a small process of its own: what starts a program counts as its peak too, until it is that program.
PEAK_OF = '''
import resource, subprocess, sys
null = subprocess.DEVNULL
status = subprocess.run(sys.argv[1:], stdin=null, stdout=null, stderr=null).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
'''


def peak_resident(command):
    """The most memory a command had at once, files that it mapped included, in bytes."""
    done = subprocess.run([sys.executable, '-S', '-c', PEAK_OF, *map(str, command)], env=ENVIRONMENT, cwd=WORK,
                          text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f'{command[0]}: exit status {done.returncode}')
    return int(done.stdout) * 1024


def bench_report_form(perf, data, rounds, options, bar):
    """One form of the report: beside perf, on one CPU, and its memory. What it prints is not kept: a disk's time is
    not the report's."""
    tail = ['report', '--stdio', *options, '-i', data]
    name = ' '.join(['report', *options])
    both = alternate({'perf': [perf, *tail], 'tally': [TALLY, *tail]}, rounds, is_discarded=True)
    cpus = alternate({cpus: ['taskset', '-c', cpus, TALLY, *tail] for cpus in ('0', '0,1')}, rounds,
                     is_discarded=True)
    peaks = [peak_resident([tool, *tail]) / 1e6 for tool in (perf, TALLY)]
    return [row(name, 's', both['perf'], both['tally'], f'bar: {bar}'),
            row(f'{name}, memory', 'MB', *peaks, 'bar: 2'),
            row(f'{name}, two CPUs', 's', cpus['0'], cpus['0,1'], 'left: one CPU, right: two; bar: 1.7')]


def bench_report(perf, data, rounds):
    rows = bench_report_form(perf, data, rounds, ['--no-children', '-g', 'none'], 15)
    tail = ['report', '--stdio', '--no-children', '-g', 'none', '-i', data]
    times = alternate({'cat': ['cat', data], 'tally': [TALLY, *tail]}, rounds, is_discarded=True)
    rows.append(row('report --no-children -g none', 's', times['cat'], times['tally'], 'left: cat FILE; bar: 0.25'))
    return rows + bench_report_form(perf, data, rounds, ['--children', '-g'], 30)


def bench_script(perf, data, rounds):
    times = alternate({'perf': [perf, 'script', '-i', data], 'tally': [TALLY, 'script', '-i', data]}, rounds)
    return [row('script', 's', times['perf'], times['tally'], 'bar: 3')]


def count_records(perf, data):
    """(samples, lost) of a recording, by perf's own statistics."""
    text = subprocess.run([str(perf), 'report', '--stats', '-i', str(data)], env=ENVIRONMENT, text=True,
                          capture_output=True, check=False).stdout
    samples = re.search(r'SAMPLE events:\s*(\d+)', text)
    script = subprocess.run([str(perf), 'script', '-i', str(data), '--show-lost-events', '-F', 'comm,time,event'],
                            env=ENVIRONMENT, text=True, capture_output=True, check=False).stdout
    lost = sum(int(n) for n in re.findall(r'PERF_RECORD_LOST(?:_SAMPLES)? lost (\d+)', script))
    return int(samples[1]) if samples else 0, lost


def bench_record(perf, rounds, seconds):
    """CPU time of the recorder itself: the compile loop runs beside it, `sleep` is the recorder's own child."""
    tools = {'perf': perf, 'tally': TALLY}
    taken = {name: {'cpu': [], 'lost': []} for name in tools}
    for _ in range(rounds):
        for name, tool in tools.items():
            data = WORK / f'{name}-20k.data'
            load = subprocess.Popen(['sh', loop_script(seconds + 2)], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.5)
            _, cpu, status = timed([tool, 'record', '-a', '-g', '-F', '20000', '-o', data, '--', 'sleep', seconds],
                                   WORK / f'{name}-record.out')
            load.wait()
            if status:
                error = (WORK / f'{name}-record.out.err').read_text(errors='replace')
                raise RuntimeError(f'{tool} record: exit status {status}: {error[-300:]}')
            samples, lost = count_records(perf, data)
            taken[name]['cpu'].append(cpu / max(samples, 1) * 1e6)
            taken[name]['lost'].append(100 * lost / max(samples + lost, 1))
    cpu = {name: statistics.median(values['cpu']) for name, values in taken.items()}
    lost = {name: statistics.median(values['lost']) for name, values in taken.items()}
    return [row('record -a -g, 20 kHz: CPU per sample', 'us', cpu['perf'], cpu['tally'], 'bar: 1'),
            row('record -a -g, 20 kHz: samples lost', '%', lost['perf'], lost['tally'], 'lower is better')]


def count_whole(data):
    """The share of user stacks that end where a thread begins, in percent; of those whose last frame has a name."""
    text = subprocess.run([str(TALLY), 'script', '-i', str(data), '-F', 'ip,sym', '--no-inline'], env=ENVIRONMENT,
                          text=True, capture_output=True, check=False, errors='replace').stdout
    ends = [block.rsplit('\n', 1)[-1].split() for block in text.strip().split('\n\n')]
    user = [end for end in ends if end and not end[0].startswith('ffff') and '[unknown]' not in end]
    whole = sum(end[1:2] and bool(re.match(r'(_start|_dl_start_user|_?_?clone3?|_?_?GI___clone3?)\b', end[1]))
                for end in user)
    return 100 * whole / max(len(user), 1)


def bench_live(perf, rounds, seconds):
    """--call-graph dwarf of a busy C++ job: perf copies stacks into the file, tally unwinds them meanwhile."""
    tools = {'perf': perf, 'tally': TALLY}
    taken = {name: {'cpu': [], 'lost': [], 'bytes': [], 'whole': []} for name in tools}
    for _ in range(rounds):
        for name, tool in tools.items():
            data = WORK / f'{name}-dwarf.data'
            load = subprocess.Popen(['sh', loop_script(seconds + 2)], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.5)
            _, cpu, status = timed([tool, 'record', '-a', '-F', '4000', '--call-graph', 'dwarf', '-o', data, '--',
                                    'sleep', seconds], WORK / f'{name}-dwarf.out')
            load.wait()
            if status:
                raise RuntimeError(f'{tool} record --call-graph dwarf: exit status {status}')
            samples, lost = count_records(perf, data)
            taken[name]['cpu'].append(cpu / max(samples, 1) * 1e6)
            taken[name]['lost'].append(100 * lost / max(samples + lost, 1))
            taken[name]['bytes'].append(data.stat().st_size / max(samples, 1))
            taken[name]['whole'].append(count_whole(data))
            data.unlink()
    median = {key: [statistics.median(taken[name][key]) for name in tools] for key in taken['perf']}
    return [row('record --call-graph dwarf: CPU a sample', 'us', *median['cpu'], '4 kHz, -a; bar: 1'),
            row('record --call-graph dwarf: file a sample', 'B', *median['bytes'], 'bar: 200 bytes'),
            row('record --call-graph dwarf: whole stacks', '%', *median['whole'], 'bar: 99 %'),
            row('record --call-graph dwarf: samples lost', '%', *median['lost'], 'no more than perf')]


def bench_startup(perf, rounds):
    commands = {name: ['sh', '-c', f'for i in 1 2 3 4 5 6 7 8 9 10; do {tool} stat true; done']
                for name, tool in (('perf', perf), ('tally', TALLY))}
    rows = []
    for key, label in enumerate(('stat true', 'stat true, CPU time')):
        times = alternate(commands, rounds, key)
        rows.append(row(label, 'ms', times['perf'] * 100, times['tally'] * 100, 'bar: 0.7'))
    return rows


# Sleeps with 500 threads until its input ends; says when they are there.
MANY_THREADS = '''
import sys, threading
end = threading.Event()
threading.stack_size(65536)
for _ in range(499):
    threading.Thread(target=end.wait).start()
print(flush=True)
sys.stdin.read()
end.set()
'''


def interval_count(tool, milliseconds, seconds):
    """How many whole intervals `stat -I` prints in this time."""
    text = subprocess.run([str(tool), 'stat', '-x,', '-I', str(milliseconds), '-a', '-e', 'cpu-clock', 'sleep', str(seconds)],
                          env=ENVIRONMENT, text=True, capture_output=True, check=True).stderr
    return sum(line.count(',') > 3 for line in text.splitlines()) - 1  # the last is what was left at the end


def bench_counting(perf, rounds):
    """Counting beyond start-up, which has its own rows: intervals, many threads, repeats, the list of events."""
    tools = {'perf': perf, 'tally': TALLY}
    rows = []
    times = alternate({name: [tool, 'stat', '-r', '100', '-e', 'page-faults', 'true'] for name, tool in tools.items()},
                      rounds)
    rows.append(row('stat -r 100 true: a run', 'ms', times['perf'] * 10, times['tally'] * 10))
    kept = {name: statistics.median(interval_count(tool, 10, 3) for _ in range(min(rounds, 3))) for name, tool in tools.items()}
    rows.append(row('stat -I 10: intervals in 3 s', '', kept['perf'], kept['tally'], '300 are right; right / left',
                    kept['tally'] / max(kept['perf'], 1)))
    tail = ['stat', '-I', '10', '-a', '-e', 'cpu-clock,page-faults,context-switches', 'sleep', '3']
    times = alternate({name: [tool, *tail] for name, tool in tools.items()}, min(rounds, 3), key=1)
    each = {name: times[name] * 1e6 / max(kept[name], 1) for name in tools}
    rows.append(row('stat -I 10 -a: CPU an interval', 'us', each['perf'], each['tally']))
    with subprocess.Popen([sys.executable, '-c', MANY_THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
        target.stdout.readline()
        tail = ['stat', '-e', 'page-faults,context-switches', '-p', target.pid, 'true']
        for key, label in enumerate(('wall', 'CPU')):
            times = alternate({name: [tool, *tail] for name, tool in tools.items()}, rounds, key)
            rows.append(row(f'stat -p, 1,000 counters: {label}', 'ms', times['perf'] * 1000, times['tally'] * 1000))
        target.stdin.close()
    times = alternate({name: [tool, 'list'] for name, tool in tools.items()}, rounds)
    rows.append(row('list', 'ms', times['perf'] * 1000, times['tally'] * 1000, 'tally also opens each event'))
    return rows


def generated(name, sample_type, block, blocks):
    """A recording of one event whose records are that block over and over."""
    path = WORK / f'{name}.data'
    attr = struct.pack('<IIQQQQQ', 1, 136, 0, 4000, sample_type, 0, 1 << 18).ljust(136, b'\0')
    header = b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, 152, 104, 152, 256, len(block) * blocks, 0, 0) + bytes(32)
    with open(path, 'wb') as out:
        out.write(header + attr + struct.pack('<QQ', 0, 0))
        for _ in range(blocks):
            out.write(block)
    return path


def sideband_block():
    """Context switches, with a name and a mapping now and then; trailer: thread, time."""
    records = []
    for i in range(2000):
        trailer = struct.pack('<IIQ', i % 50, i % 50, 1)
        if i % 200 == 0:
            body = struct.pack('<II', i % 50, i % 50) + b'program\0'
            records.append(struct.pack('<IHH', 3, 0, 24 + len(body)) + body + trailer)
        else:
            records.append(struct.pack('<IHHII', 15, 0, 32, 0, 0) + trailer)
    return b''.join(records)


def sample_block():
    """Samples with address, thread, time and a chain of 20."""
    chain = [2**64 - 512] + [0x400000 + 64 * i for i in range(20)]
    body = struct.pack('<QIIQQ21Q', 0x400000, 7, 7, 1, len(chain), *chain)
    return (struct.pack('<IHH', 9, 2, 8 + len(body)) + body) * 1000


def bench_reading(rounds):
    """One core of tally's library on generated recordings, beside cat on the same bytes; all in CPU time."""
    subprocess.run(['ninja', '-C', str(BUILD), 'bench/bench_reading'], check=True, stdout=subprocess.DEVNULL)
    rows = []
    for part, path, label, bar in (
            ('sideband', generated('sideband', 1 << 1 | 1 << 2, sideband_block(), 2000), 'side-band records', 20),
            ('samples', generated('samples', 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5, sample_block(), 1000),
             'samples with chains of 20', 10)):
        rates, cats = [], []
        for turn in range(rounds + 1):
            text = subprocess.run([BUILD / 'bench' / 'bench_reading', part, path], check=True, text=True,
                                  capture_output=True).stdout.split()
            cat = timed(['sh', '-c', f'exec cat {path} >/dev/null'], WORK / 'cat.out')[1]
            if turn:
                rates.append(int(text[1]) / float(text[0]) / 1e6)
                cats.append(int(text[1]) / cat / 1e6)
        path.unlink()
        rows.append(row(f'{label}, a core', 'M', statistics.median(cats), statistics.median(rates),
                        f'per second; left: cat FILE; bar: {bar}',
                        statistics.median(rates) / statistics.median(cats)))
    return rows


def call_block():
    """50,000 samples with chains of 5, of programs that call functions at random, the same ones in each run."""
    chooser = random.Random(1)
    records = []
    for i in range(50000):
        chain = [2**64 - 512] + [0x400000 + 64 * chooser.randrange(40 * 4**depth) for depth in range(4, -1, -1)]
        body = struct.pack('<QIIQQ6Q', chain[1], i % 50, i % 50, 1, len(chain), *chain)
        records.append(struct.pack('<IHH', 9, 2, 8 + len(body)) + body)
    return b''.join(records)


def bench_large(rounds):
    """Ten times the samples: how much longer, and how much more memory."""
    block = call_block()
    rows = []
    sample_type = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5
    sizes = {count: generated(f'calls-{count}', sample_type, block, count * 20) for count in (1, 10)}
    for options in (['--no-children', '-g', 'none'], ['--children', '-g']):
        commands = {count: [TALLY, 'report', '--stdio', *options, '-i', path] for count, path in sizes.items()}
        times = alternate(commands, rounds, key=1)
        peaks = {count: peak_resident(command) / 1e6 for count, command in commands.items()}
        name = ' '.join(['10 M samples: report', *options])
        rows.append(row(name, 's', 10 * times[1], times[10], 'CPU time; left: ten times that of 1 M; bar: 1'))
        rows.append(row(f'{name}, memory', 'MB', 10 * peaks[1], peaks[10], 'left: ten times that of 1 M'))
    for form in ('folded', 'csv', 'json', 'perfetto'):
        peaks = {count: peak_resident([TALLY, 'export', '-F', form, '-i', path]) / 1e6 for count, path in sizes.items()}
        rows.append(row(f'10 M samples: export -F {form}, memory', 'MB', peaks[1], peaks[10], 'left: of 1 M; bar: 0.5'))
    for path in sizes.values():
        path.unlink()
    return rows


def bench_library(rounds):
    """libtally over the bare system calls, in CPU time; the program alternates the two itself."""
    built = subprocess.run(['ninja', '-C', str(BUILD), 'bench/bench_library'], text=True, capture_output=True, check=False)
    if built.returncode:
        raise RuntimeError('library: ' + built.stdout.strip()[-200:])
    taken = {}
    for _ in range(rounds):
        result = subprocess.run([BUILD / 'bench' / 'bench_library'], text=True, capture_output=True, check=False)
        if result.returncode:
            raise RuntimeError('library: ' + result.stderr.strip())
        for line in result.stdout.splitlines():
            name, *numbers = line.split()
            taken.setdefault(name, []).append([float(number) for number in numbers])
    median = {name: [statistics.median(column) for column in zip(*values)] for name, values in taken.items()}
    region, opening = median['region'], median['opening']
    return [row('library: a region of 4 events', 'ns', region[0], region[1],
                'left: two bare reads; less is better; bar: 1.15', region[2]),
            row('library: 1,000 counters on 500 threads', 'ms', opening[0] / 1e6, opening[1] / 1e6,
                'left: bare system calls; less is better; bar: 1.2', opening[2])]


def flamegraph_stages(perf, data):
    """What makes a picture of perf's samples without tally, as (name, shell command): lines of stacks, then their picture.
    Debian has FlameGraph's flamegraph.pl in libdevel-nytprof-perl, without stackcollapse-perf.pl; perf has its own."""
    collapse = ('perf script report stackcollapse', f'{perf} script report stackcollapse -i {data}')
    if classic := shutil.which('stackcollapse-perf.pl'):
        collapse = (f'perf script | {classic}', f'{perf} script -i {data} | {classic}')
    places = [shutil.which('flamegraph.pl'), '/usr/share/perl5/Devel/NYTProf/flamegraph.pl']
    draw = next((place for place in places if place and os.access(place, os.X_OK)), None)
    return collapse, draw and ('flamegraph.pl', draw)


def bench_flamegraph(perf, data, rounds):
    """A picture of the stacks, beside perf's samples through the scripts that are available: all of it, and by stage."""
    collapse, draw = flamegraph_stages(perf, data)
    lines = WORK / 'collapsed.txt'
    commands = {'text': [perf, 'script', '-i', data], 'folded': [TALLY, 'flamegraph', '--folded', data],
                'svg': [TALLY, 'flamegraph', '--svg', '-o', WORK / 'flame.svg', data]}
    compared = [('flamegraph --svg beside text', 'text', 'svg', 'perf script alone')]
    status = timed(['bash', '-c', f'set -o pipefail; {collapse[1]}'], lines)[2]
    if status:
        print(f'bench: no {collapse[0]}: exit status {status}:',
              pathlib.Path(f'{lines}.err').read_text(errors='replace').strip()[-200:], file=sys.stderr)
    else:
        commands['collapse'] = ['sh', '-c', collapse[1]]
        compared.append(('flamegraph --folded', 'collapse', 'folded', collapse[0]))
    if not draw:
        print('bench: no flamegraph.pl: Debian has it in libdevel-nytprof-perl (tools/setup)', file=sys.stderr)
    elif not status:
        commands |= {'draw': [draw[1], lines], 'pipe': ['sh', '-c', f'{collapse[1]} | {draw[1]}']}
        compared += [('flamegraph --svg beside drawing', 'draw', 'svg', f'{draw[0]} of lines that are there'),
                     ('flamegraph --svg', 'pipe', 'svg', f'{collapse[0]} | {draw[0]}; bar: 50')]
    times = alternate(commands, min(rounds, 3))
    return [row(name, 's', times[left], times[right], f'left: {note}') for name, left, right, note in compared]


def bench_timechart(rounds):
    """An hour of ten million switches."""
    data = WORK / 'hour.data'
    sched_recording.build(data, 10_000_000, 3600)
    outputs = {'svg': ['-o', WORK / 'hour.svg'], 'page': ['--html', WORK / 'hour.html']}
    rows = []
    for name, tail in outputs.items():
        command = [TALLY, 'timechart', '-i', data, *tail]
        times = alternate({name: command}, min(rounds, 3))
        peak = peak_resident(command) / 1e6
        rows.append(row(f'timechart of an hour, {name}', 's', data.stat().st_size / 1e9, times[name], 'left: GB read'))
        rows.append(row(f'timechart of an hour, {name}: memory', 'MB', tail[1].stat().st_size / 1e6, peak,
                        'left: the file written'))
    data.unlink()
    return rows


def bench_export(data, rounds):
    """What other viewers read, beside report, which has the same work up to the writing."""
    output = WORK / 'export.out'
    commands = {'report': [TALLY, 'report', '--stdio', '-i', data]}
    bars = {'folded': 1.2, 'pprof': 1.2, 'html': 2}
    for form in ('folded', 'pprof', 'speedscope', 'perfetto', 'callgrind', 'html'):
        commands[form] = [TALLY, 'export', '-F', form, '-i', data, '-o', output]
    taken = alternate(commands, rounds)
    peak = {name: peak_resident(command) / 1e6 for name, command in commands.items()}
    rows = [row(f'export -F {form}', 's', taken['report'], taken[form],
                'left: report; less is better' + (f'; bar: {bars[form]}' if form in bars else ''),
                taken[form] / taken['report']) for form in commands if form != 'report']
    return [*rows, row('export -F pprof, memory', 'MB', peak['report'], peak['pprof'], 'left: report; less is better',
                       peak['pprof'] / peak['report'])]


def stacks_block():
    """200,000 samples, each with a stack of its own of 9 to 31 functions of 400 files."""
    chooser = random.Random(1)
    records = []
    for i in range(400):
        body = struct.pack('<IIQQQ', 7, 7, i + 1 << 20, 4096, 0) + f'/lib/module_{i:03d}.so'.encode().ljust(24, b'\0')
        records.append(struct.pack('<IHH', 1, 2, 24 + len(body)) + body + struct.pack('<IIQ', 7, 7, 1))
    stacks = set()
    while len(stacks) < 200000:
        at, stack = 1, [1]
        for depth in range(chooser.randint(8, 30)):
            at = (at * 7 + chooser.choice([1, 1, 1, 2, 3, 5, 11]) + depth) % 400
            stack.append(at)
        stacks.add(tuple(reversed(stack)))
    for stack in sorted(stacks):
        chain = [2**64 - 512] + [(i + 1 << 20) + 8 for i in stack]
        body = struct.pack(f'<QIIQQ{len(chain)}Q', chain[1], 7, 7, 1, len(chain), *chain)
        records.append(struct.pack('<IHH', 9, 2, 8 + len(body)) + body)
    return b''.join(records)


def in_browser(page, rounds):
    """Medians of (seconds until it is drawn, milliseconds of a zoom) in headless Chromium."""
    sys.path.insert(0, str(ROOT / 'tests' / 'e2e'))
    from devtools import Browser  # its tests' helper, which wants pytest
    zooms = '''(() => { const taken = [];
        for (let i = 1; i < tree.count; i += Math.ceil(tree.count / 50)) {
            const begin = performance.now(); zoom = i; draw(); taken.push(performance.now() - begin); }
        return taken; })()'''
    opened, zoomed = [], []
    with Browser(WORK) as browser:
        for _ in range(rounds):
            browser.open(page)
            opened.append(browser.value("performance.getEntriesByName('drawn')[0].startTime") / 1000)
            zoomed.append(max(browser.value(zooms)))
    return statistics.median(opened), statistics.median(zoomed)


def bench_pages(rounds):
    """1 M samples in 200,000 distinct stacks as pages: made, their size, and in a browser."""
    data = generated('stacks', 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5, stacks_block(), 5)
    flame, whole = WORK / 'flame.html', WORK / 'report.html'
    taken = alternate({'report': [TALLY, 'report', '--stdio', '-i', data],
                       'flame': [TALLY, 'flamegraph', '-o', flame, data],
                       'html': [TALLY, 'report', f'--html={whole}', '-i', data]}, rounds)
    rows = [row('flamegraph, 200,000 stacks', 's', taken['report'], taken['flame'], 'left: report; less is better',
                taken['flame'] / taken['report']),
            row('report --html, 200,000 stacks', 's', taken['report'], taken['html'],
                'left: report; less is better; bar: 2', taken['html'] / taken['report']),
            row('its flame graph, size', 'MB', 6, flame.stat().st_size / 1e6, 'left: the bar; less is better')]
    try:
        opened, zoomed = in_browser(flame, rounds)
        rows += [row('opened in Chromium', 's', 1, opened, 'left: the bar; less is better'),
                 row('slowest of 50 zooms', 'ms', 50, zoomed, 'left: the bar; less is better')]
    except ImportError as error:
        print('bench: no browser:', error, file=sys.stderr)
    for path in (data, flame, whole):
        path.unlink()
    return rows


def bench_unwind(rounds):
    """One core, the same stacks of 25 frames by libdw's dwfl and by tally; both in CPU time, both warm."""
    built = subprocess.run(['ninja', '-C', str(BUILD), 'bench/bench_unwind'], text=True, capture_output=True, check=False)
    if built.returncode:
        raise RuntimeError('unwind: it needs x86-64 and libdw: ' + built.stdout.strip()[-200:])
    taken = {'libdw': [], 'tally': [], 'ratio': []}
    for _ in range(rounds):
        text = subprocess.run([BUILD / 'bench' / 'bench_unwind'], check=True, text=True, capture_output=True).stdout
        values = {word: float(number) for word, number in (line.split() for line in text.splitlines())}
        if values['different']:
            raise RuntimeError(f'unwind: {values["different"]:.0f} of {values["stacks"]:.0f} stacks differ from libdw')
        for name in ('libdw', 'tally'):
            taken[name].append(values[name] / 1000)
        taken['ratio'].append(values['tally'] / values['libdw'])
    median = {name: statistics.median(values) for name, values in taken.items()}
    return [row('unwinding, a core', 'k', median['libdw'], median['tally'],
                'stacks per second; left: libdw; bar: 20, and 300 k', median['ratio'])]


def bench_stacks(perf, rounds, seconds):
    """report -g of a recording with stack dumps; both unwind by the same files."""
    data = WORK / f'stacks-{seconds}.data'
    subprocess.run([perf, 'record', '-q', '-a', '--call-graph', 'dwarf', '-F', '299', '-e', 'cpu-clock', '-o', data, '--',
                    'sh', loop_script(seconds)], check=True, capture_output=True, env=ENVIRONMENT)
    tail = ['report', '--stdio', '-g', '-i', data]
    times = alternate({'perf': [perf, *tail], 'tally': [TALLY, *tail]}, rounds)
    data.unlink()
    return [row('report -g of stack dumps', 's', times['perf'], times['tally'])]


def debug_program(megabytes):
    """A program of bench/debug_program.py, kept for the next run."""
    program = WORK / f'debug-{megabytes}'
    if not program.exists():
        print(f'building a program with {megabytes} MB of debug sections ...', file=sys.stderr)
        debug_program_module.build(f'{program}.tmp', megabytes)
        os.rename(f'{program}.tmp', program)
    return program


def record_program(perf, program, turns):
    data = WORK / f'{program.name}.data'
    status = timed([perf, 'record', '-e', 'cpu-clock', '-F', '5000', '-g', '-o', data, program, turns],
                   WORK / 'record.out')[2]
    if status:
        raise RuntimeError(f'recording {program.name}: exit status {status}')
    return data


def index_commands(perf, tail):
    """tally without its cache of indexes, with it, and perf."""
    warm = ['env', f'TALLY_CACHE={WORK / "index"}', TALLY, *tail]
    return {'perf': [perf, *tail], 'tally-cold': ['env', 'TALLY_CACHE=', TALLY, *tail], 'tally-warm': warm}


def standard_library_program():
    """What uses the standard library as most programs do; -g of libc and libstdc++ counts too, where it is installed."""
    program = WORK / 'standard_library'
    command = ['g++', '-O2', '-g', '-fno-omit-frame-pointer', '-o', program, ROOT / 'bench' / 'standard_library.cc']
    result = subprocess.run(command, text=True, capture_output=True, check=False)
    if result.returncode:
        raise RuntimeError(f'g++: {result.stderr.strip()[-200:]}')
    return program


def lines_rows(perf, rounds, label, data):
    tail = ['report', '--stdio', '--no-children', '-g', 'caller', '-i', data]
    report = index_commands(perf, tail)
    report['tally-off'] = [*report['tally-warm'], '--no-inline']
    times = alternate(report, rounds)
    script = alternate(index_commands(perf, ['script', '-F', '+srcline', '-i', data]), rounds)
    return [row(f'{label}: report, inlines, no index', 's', times['perf'], times['tally-cold'], 'bar: 5'),
            row(f'{label}: report, inlines, index', 's', times['perf'], times['tally-warm'], 'bar: 20'),
            row(f'{label}: report, inlines off / on, index', 's', times['tally-off'], times['tally-warm'],
                'left: tally --no-inline; right / left, bar: at most 1.3', times['tally-warm'] / times['tally-off']),
            row(f'{label}: script +srcline, no index', 's', script['perf'], script['tally-cold'], 'bar: 5'),
            row(f'{label}: script +srcline, index', 's', script['perf'], script['tally-warm'], 'bar: 20')]


def bench_lines(perf, rounds):
    """Inlined calls and lines, beside perf with the same output asked for: of templates with deep stacks, which cost perf
    most, and of an ordinary program."""
    rows = lines_rows(perf, rounds, 'templates', record_program(perf, debug_program(20), 100))
    return rows + lines_rows(perf, rounds, 'STL', record_program(perf, standard_library_program(), 600000))


def peak_anonymous(command, output):
    """The most anonymous memory of a command, in bytes, looked at each millisecond."""
    peak = 0
    with open(output, 'wb') as out:
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.DEVNULL, env={**ENVIRONMENT, 'TALLY_CACHE': ''}, cwd=WORK)
        while child.poll() is None:
            try:
                text = pathlib.Path(f'/proc/{child.pid}/status').read_text()
            except OSError:
                break
            found = re.search(r'RssAnon:\s*(\d+)', text)
            peak = max(peak, int(found[1]) * 1024 if found else 0)
            time.sleep(0.001)
    if child.wait():
        raise RuntimeError(f'{command[0]}: exit status {child.returncode}')
    return peak


def bench_debug(perf, rounds):
    """Half a gigabyte of debug sections, all units hit: seconds with the index, memory without."""
    program = debug_program(500)
    data = record_program(perf, program, 20)
    # Without chains no inlined calls are shown, and no debug information is opened.
    tail = ['report', '--stdio', '--no-children', '-g', 'caller', '-i', data]
    commands = index_commands(perf, tail)
    del commands['perf']
    times = alternate(commands, rounds)
    peak = statistics.median(peak_anonymous([TALLY, *tail], WORK / 'memory.out') for _ in range(rounds))
    size = debug_program_module.debug_bytes(program)
    return [row('500 MB of debug sections: report', 's', times['tally-cold'], times['tally-warm'],
                'left: no index, right: index; bar: 1 s'),
            row('500 MB of debug sections: memory, no index', 'MB', size / 1e6, peak / 1e6,
                'left: the sections, right: peak anonymous; bar: 1')]


def require_bpf(part):
    tried = subprocess.run([TALLY, 'record', '-q', '--off-cpu', '-a', '-e', 'dummy', '-o', WORK / 'try.data', '--', 'true'],
                           text=True, capture_output=True, check=False, env=ENVIRONMENT)
    if tried.returncode:
        raise RuntimeError(f'{part}: skipped: {tried.stderr.strip().splitlines()[-1]}')


def bench_kernel(perf, rounds):
    """CPU of kernel and recorder for a sample with a call chain of 20 functions."""
    require_bpf('kernel')
    built = subprocess.run(['ninja', '-C', str(BUILD), 'bench/bench_calls'], text=True, capture_output=True, check=False)
    if built.returncode:
        raise RuntimeError('kernel: ' + built.stdout.strip()[-200:])
    taken = kernel_unwinding.measure({'perf': perf, 'tally': TALLY}, BUILD / 'bench' / 'bench_calls', rounds, WORK)
    cost = {name: values[0] + values[1] for name, values in taken.items()}
    samples = {name: values[2] for name, values in taken.items()}
    bpf, few = 'tally record --call-graph bpf', min(samples, key=samples.get)
    rows = [row(f'--call-graph bpf beside {left}: CPU', 'us', cost[left], cost[bpf],
                f'kernel and recorder; right / left; bar: at most {bar}', cost[bpf] / cost[left])
            for left, bar in (('perf record -g', 2), ('tally record -g', 2), ('tally record --call-graph dwarf', 0.3))]
    # Half of a sample's cost is the timer and the sample itself.
    added = {name: value - cost[kernel_unwinding.PLAIN] for name, value in cost.items()}
    dwarf = 'tally record --call-graph dwarf'
    rows.append(row('added by the call graph: bpf beside dwarf', 'us', added[dwarf], added[bpf],
                    'less what a sample without one costs; right / left', added[bpf] / added[dwarf]))
    return [*rows, row('fewest samples of these', 'k', max(samples.values()) / 1e3, samples[few] / 1e3, f'left: most; right: {few}',
                       samples[few] / max(samples.values()))]


def bench_waits(perf, rounds, seconds):
    """What servers keep of their throughput while waits are recorded."""
    require_bpf('waits')
    rows, failures = [], []
    for name, rates in servers.measure(TALLY, perf, rounds, seconds).items():
        if isinstance(rates, RuntimeError):
            failures.append(str(rates))
            continue
        for recorder in list(rates)[1:]:
            note = 'left: undisturbed' + ('; right / left; bar: 0.97' if recorder == servers.WALL else '')
            rows.append(row(f'{name}: {recorder}', 'k', statistics.median(rates['undisturbed']) / 1e3,
                            statistics.median(rates[recorder]) / 1e3, note, servers.kept(rates, recorder)))
    for failure in failures:
        print('bench:', failure, file=sys.stderr)
    return rows


def bench_trace(perf, rounds):
    """How many small system calls a second a program makes while it is traced."""
    built = subprocess.run(['ninja', '-C', str(BUILD), 'bench/bench_syscalls'], text=True, capture_output=True, check=False)
    if built.returncode:
        raise RuntimeError('trace: ' + built.stdout.strip()[-200:])
    program = [str(BUILD / 'bench' / 'bench_syscalls'), '2000000']
    tracers = {f'{name} {" ".join(form)}'.strip(): [str(path), 'trace', *form, '-o', str(WORK / 'trace.lines')]
               for name, path in (('perf', perf), ('tally', TALLY)) for form in ([], ['-s'])}
    rates = {name: [] for name in ('alone', *tracers)}
    for _ in range(rounds):
        for name, taken in rates.items():
            ran = subprocess.run([*tracers.get(name, []), *program], text=True, capture_output=True, check=False, env=ENVIRONMENT,
                                 cwd=WORK)
            if ran.returncode or not ran.stdout.strip().isdigit():
                raise RuntimeError(f'trace: {name}: {(ran.stderr.strip() or ran.stdout.strip())[-200:]}')
            taken.append(int(ran.stdout) / 1e3)
    kept = {name: statistics.median(taken) for name, taken in rates.items()}
    return [row('calls of a traced program: lines', 'k', kept['perf'], kept['tally'], 'a second; right / left; bar: 1',
                kept['tally'] / kept['perf']),
            row('calls of a traced program: -s', 'k', kept['perf -s'], kept['tally -s'], 'a second; right / left; bar: 1',
                kept['tally -s'] / kept['perf -s']),
            row('calls of a program that tally trace -s counts', 'k', kept['alone'], kept['tally -s'],
                'left: not traced; right / left', kept['tally -s'] / kept['alone'])]


def bench_fleet(hosts, windows, rounds):
    """Stores of many machines: left SQLite, right ClickHouse."""
    facts, sqlite, clickhouse = fleet.measure(TALLY, WORK, hosts, windows, rounds, ENVIRONMENT)
    batches = hosts * windows
    print(f'fleet: {hosts} hosts, {windows} windows of 10 s each; a window has {facts["samples"]} samples in {facts["rows"]} rows and '
          f'{facts["bytes"] / 1e3:.1f} kB with all symbols; the service is {facts["service"]}')
    def both(name, unit, value, note):
        return row(name, unit, value(*sqlite), value(*clickhouse) if clickhouse else 0, f'left: SQLite, right: ClickHouse; {note}')
    return [both('batches taken by a store', '/s', lambda taken, top, flame, size: batches / taken, 'by tally push'),
            both('a sample row in a store', 'B', lambda taken, top, flame, size: size / batches / facts['rows'], 'with all tables'),
            both('an hour of a host in a store', 'MB', lambda taken, top, flame, size: size / batches * 360 / 1e6, '360 windows'),
            both('fleet top of a service', 'ms', lambda taken, top, flame, size: top * 1e3, 'all hosts'),
            both('fleet flamegraph of a service', 'ms', lambda taken, top, flame, size: flame * 1e3, 'all hosts')]


def print_table(rows, rounds):
    print(f'{"":42}{"perf":>12}{"tally":>12}{"ratio":>9}')
    for entry in rows:
        ratio = f'{entry["ratio"]:.2f}' if entry['ratio'] is not None else '-'
        print(f'{entry["name"]:42}{entry["perf"]:9.3f} {entry["unit"]:2}{entry["tally"]:9.3f} {entry["unit"]:2}'
              f'{ratio:>9}  {entry["note"]}'.rstrip())
    print(f'medians of {rounds}, perf and tally taking turns; ratio: perf / tally')


def main():
    parser = argparse.ArgumentParser(description='Compares tally with perf.')
    parser.add_argument('--json', help='write the rows to this file too')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=int, default=20, help='length of the recording (default 20)')
    parser.add_argument('--only', default='report,export,flamegraph,pages,timechart,script,record,live,startup,counting,'
                                          'reading,large,unwind,stacks,lines,debug,library,kernel,waits,trace,fleet')
    parser.add_argument('--recording', type=pathlib.Path,
                        help='of report, export, flamegraph and script, instead of one that is made')
    parser.add_argument('--hosts', type=int, default=20, help='of fleet: simulated hosts (default 20)')
    parser.add_argument('--windows', type=int, default=30, help='of fleet: windows of each, of 10 s (default 30)')
    parser.add_argument('--keep', action='store_true', help='use the recording of the last run')
    options = parser.parse_args()
    perf = os.environ.get('PERF') or shutil.which('perf')
    if not perf:
        print('bench: perf is not installed; set PERF to its path', file=sys.stderr)
        return 1
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = options.only.split(',')
    recorded = {'report', 'export', 'flamegraph', 'script'}  # of the recording
    rows, failures = [], []
    data = None
    if not options.keep:
        for old in WORK.glob('busy-*.data'):
            old.unlink()
    parts = {
        'report': lambda: bench_report(perf, data, options.rounds),
        'export': lambda: bench_export(data, options.rounds),
        'flamegraph': lambda: bench_flamegraph(perf, data, options.rounds),
        'pages': lambda: bench_pages(options.rounds),
        'timechart': lambda: bench_timechart(options.rounds),
        'script': lambda: bench_script(perf, data, options.rounds),
        'record': lambda: bench_record(perf, options.rounds, 4),
        'stacks': lambda: bench_stacks(perf, options.rounds, 2),
        'live': lambda: bench_live(perf, options.rounds, 4),
        'startup': lambda: bench_startup(perf, options.rounds),
        'counting': lambda: bench_counting(perf, options.rounds),
        'reading': lambda: bench_reading(options.rounds),
        'large': lambda: bench_large(options.rounds),
        'unwind': lambda: bench_unwind(options.rounds),
        'lines': lambda: bench_lines(perf, options.rounds),
        'debug': lambda: bench_debug(perf, options.rounds),
        'library': lambda: bench_library(options.rounds),
        'kernel': lambda: bench_kernel(perf, options.rounds),
        'waits': lambda: bench_waits(perf, options.rounds, 2),
        'trace': lambda: bench_trace(perf, options.rounds),
        'fleet': lambda: bench_fleet(options.hosts, options.windows, options.rounds),
    }
    try:
        if recorded & set(wanted):
            data = options.recording.resolve() if options.recording else make_recording(perf, options.seconds)
            samples, _ = count_records(perf, data)
            print(f'{os.path.relpath(data, ROOT)}: {data.stat().st_size / 1e6:.1f} MB, {samples} samples')
    except RuntimeError as error:
        failures.append(str(error))
        wanted = [name for name in wanted if name not in recorded]
    for name in wanted:
        try:
            rows += parts[name]()
        except RuntimeError as error:
            failures.append(str(error))
    print_table(rows, options.rounds)
    for failure in failures:
        print('bench:', failure, file=sys.stderr)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({'rounds': options.rounds, 'rows': rows}, indent=1) + '\n')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
