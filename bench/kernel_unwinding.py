# SPDX-License-Identifier: Apache-2.0
"""CPU time of the whole machine for a sample with a call chain: by frame pointer, by BPF, and from a copy of the stack.

A program does a fixed number of units of work (calls.c), 20 frames deep, on every CPU, while it is sampled 20,000 times a
second, and again right before that without a recorder. A sample's interrupt counts as CPU time of the program (unless the kernel has CONFIG_IRQ_TIME_ACCOUNTING), so what
the units take more than without a recorder is the kernel's part. The recorder's part is its own CPU time, less that of a
run without units: its start, its reading of unwind tables, its end. Other programs do not count, but they disturb.

usage: bench/kernel_unwinding.py [ROUNDS [UNITS]]
"""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

UNITS = 5_000_000
FREQUENCY = 20000
PLAIN = 'tally record'
RECORDERS = {PLAIN: ('tally', []), 'perf record -g': ('perf', ['-g']), 'tally record -g': ('tally', ['-g']),
             'tally record --call-graph bpf': ('tally', ['--call-graph', 'bpf']),
             'tally record --call-graph dwarf': ('tally', ['--call-graph', 'dwarf'])}


def run(command, units, program):
    """(CPU ns of the units, CPU ns of what ran the program) of one run."""
    words = [str(word) for word in [*command, program, os.cpu_count(), units]]
    with tempfile.TemporaryFile('w+') as out, tempfile.TemporaryFile('w+') as errors:
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if child.returncode:
            raise RuntimeError(f'kernel: {" ".join(words)}: exit status {child.returncode}: {errors.read().strip()[-300:]}')
        of_units, whole = (int(word) for word in re.search(r'^(\d+) (\d+)$', out.read(), re.M).groups())
    return of_units, (usage.ru_utime + usage.ru_stime) * 1e9 - whole


def count_samples(perf, data):
    text = subprocess.run([str(perf), 'report', '--stats', '-i', str(data)], text=True, capture_output=True, check=False).stdout
    return int(re.search(r'SAMPLE events:\s*(\d+)', text)[1])


def sampled(tools, recorder, units, program, data):
    """(CPU ns of the units, CPU ns of the recorder, samples)."""
    tool, options = RECORDERS[recorder]
    taken = run([tools[tool], 'record', '-q', '-e', 'cpu-clock', '-F', FREQUENCY, *options, '-o', data, '--'], units, program)
    samples = count_samples(tools['perf'], data)
    data.unlink()
    return *taken, samples


def measure(tools, program, rounds, folder, units=UNITS, report=lambda *_: None):
    """For each recorder, medians of (us of the kernel, us of the recorder) a sample, and of the samples of a run."""
    data = folder / 'calls.data'
    taken = {recorder: [] for recorder in RECORDERS}
    for _ in range(rounds):
        for recorder, of_rounds in taken.items():
            none = sampled(tools, recorder, 0, program, data)
            alone = run([], units, program)[0]
            some = sampled(tools, recorder, units, program, data)
            samples = some[2] - none[2]
            of_rounds.append(((some[0] - none[0] - alone) / samples / 1e3, (some[1] - none[1]) / samples / 1e3, samples))
            report(recorder, *of_rounds[-1])
    return {recorder: [statistics.median(column) for column in zip(*of_rounds)] for recorder, of_rounds in taken.items()}


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    build = root / os.environ.get('BUILD', 'build')
    tools = {'perf': os.environ.get('PERF') or shutil.which('perf'), 'tally': build / 'src' / 'cli' / 'tally'}
    rounds, units = (int(word) for word in (sys.argv[1:] + ['3', str(UNITS)][len(sys.argv) - 1:])[:2])
    with tempfile.TemporaryDirectory(prefix='tally-bench-') as folder:
        print(f'{"":34}kernel recorder samples   (us a sample)')
        taken = measure(tools, build / 'bench' / 'bench_calls', rounds, pathlib.Path(folder), units,
                        lambda name, *values: print(f'{name:34}{values[0]:6.2f} {values[1]:8.2f} {values[2]:7}', flush=True))
    print('medians:')
    for name, values in taken.items():
        print(f'{name:34}{values[0]:6.2f} {values[1]:8.2f} {values[2]:7.0f}')


if __name__ == '__main__':
    main()
