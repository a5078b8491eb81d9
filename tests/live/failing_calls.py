#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets each system call that a verb makes fail, one at a time: nothing may hang, crash, or be empty without a word.

    tests/live/failing_calls.py [--tally PROGRAM] [--seconds N] [--list] [VERB ...]

The calls of a verb are those that strace counts. Each fails with EPERM, ENOSYS, ENOMEM and EINTR: the first one alone, behind
those of the loader (by strace, in the first thread), and all of them (by a seccomp filter, in all threads and in the command that is measured).
A run is wrong if it takes more than 20 s and ten times as long as without the failure, ends by a signal, fails without a message, or succeeds with less output than
without the failure and without a message that the other run does not have. Exit status 1 if one was.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ERRORS = {'EPERM': 1, 'ENOSYS': 38, 'ENOMEM': 12, 'EINTR': 4}
LIMIT_S = 20
# The loader and the C library end a program for these, or the test itself cannot run without them.
NEEDED = {'exit_group', 'exit', 'rt_sigreturn', 'execve', 'restart_syscall', 'arch_prctl', 'set_tid_address', 'brk',
          'futex'}  # of the latter, it says so and aborts
DENY = r'''
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int c, char **v)
{
	unsigned call = (unsigned)atoi(v[1]), error = (unsigned)atoi(v[2]);
	struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog p = {4, f};
	if (c < 4 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 77;
	execv(v[3], v + 3);
	return 77;
}
'''
WORK = r'''
#include <time.h>
/* A tenth of a second of CPU, or with an argument two seconds. */
int main(int c, char **v)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 10;
	time_t late = time(NULL) + 2;
	while (c > 1 ? time(NULL) < late : clock() < end)
		;
	return 0;
}
'''
CORPUS = f'{pathlib.Path(__file__).resolve().parents[1] / "corpus"}/'
RECORD = ['record', '-o', 'new.data']
VERBS = {
    'stat': ['stat', './work'],
    'stat-json': ['stat', '-j', './work'],
    'record-fp': RECORD + ['-g', './work'],
    'record-dwarf': RECORD + ['--call-graph', 'dwarf', './work'],
    'record-bpf': RECORD + ['--call-graph', 'bpf', './work'],
    'record-wall': RECORD + ['--wall', './work'],
    'record-rung': RECORD + ['--rung', 'timer', '-g', './work'],
    'report': ['report', '-i', 'old.data', '--stdio'],
    'script': ['script', '-i', 'old.data'],
    'top': ['top', '--stdio', '-d', '1', '-p', '{pid}'],
    'trace': ['trace', './work'],
    'doctor': ['doctor'],
    'list': ['list'],
    'summary': ['summary', 'old.data'],
    'health': ['health', 'old.data'],
    'flamegraph': ['flamegraph', '--folded', 'old.data'],
    'export': ['export', '-F', 'csv', '-i', 'old.data', '-o', '-'],
    'annotate': ['annotate', '-i', 'old.data', '--stdio', 'main'],
    'diff': ['diff', 'old.data', 'old.data'],
    'evlist': ['evlist', '-i', 'old.data'],
    'inject': ['inject', '-b', '-i', 'old.data', '-o', 'injected.data'],
    'buildid-list': ['buildid-list', '-i', 'old.data'],
    'timechart': ['timechart', '-i', CORPUS + 'sched.data', '-o', 'chart.svg'],
    'archive': ['archive', 'old.data'],
    'buildid-cache': ['buildid-cache', '--list'],
    'check': ['check', 'feature', 'libelf'],
    'completion': ['completion', 'bash'],
    'config': ['config', '--list'],
    'data': ['data', 'convert', '--to-json', 'converted.json', '-i', 'old.data', '--force'],
    'ftrace': ['ftrace', '-t', 'function', '--', './work'],
    'help': ['help', 'report'],
    'kallsyms': ['kallsyms', 'schedule'],
    'kmem': ['kmem', '-i', CORPUS + 'kmem.data', 'stat'],
    'kwork': ['kwork', 'report', '-i', CORPUS + 'sched.data'],
    'lock': ['lock', '-i', CORPUS + 'lock.data', 'contention'],
    'lock-live': ['lock', 'contention', '-a', '-b', '--', './work'],
    'pack': ['pack', 'old.data', '-o', 'packed.data'],
    'probe': ['probe', '--list'],
    'probe-lines': ['probe', '-x', './work', '--line', 'main'],
    'query': ['query', '-i', 'old.data', 'select count(*) from samples'],
    'record-threads': RECORD + ['--threads', '-g', './work'],
    'record-all': RECORD + ['-a', '-g', './work'],
    'sched': ['sched', 'latency', '-i', CORPUS + 'sched.data'],
    'sched-map': ['sched', 'map', '-i', CORPUS + 'sched.data'],
    'stat-all': ['stat', '-a', './work'],
    'stat-intervals': ['stat', '-I', '50', './work'],
    'stat-report': ['stat', 'report', '-i', CORPUS + 'stat.data'],
    'test': ['test', 'list'],
    'trace-sums': ['trace', '-s', './work'],
    'version': ['version', '--build-options'],
}

Result = collections.namedtuple('Result', 'status out err')


def run(command, folder, limit_s=LIMIT_S):
    """Its status (None: too late), standard output and error. {pid} is a process that ends after two seconds."""
    if '{pid}' in command:
        with subprocess.Popen(['./work', 'long'], cwd=folder) as measured:
            try:
                return run([str(measured.pid) if word == '{pid}' else word for word in command], folder, limit_s)
            finally:
                measured.kill()
    environment = dict(os.environ, HOME=str(folder), XDG_CACHE_HOME=f'{folder}/.cache', LC_ALL='C', TERM='dumb')
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as child:
        try:
            out, err = child.communicate(timeout=limit_s)
            return Result(child.returncode, out.decode(errors='replace'), err.decode(errors='replace'))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return Result(None, '', '')


def numbers():
    """Call -> number, by the C library's header."""
    text = subprocess.run(['gcc', '-E', '-dM', '-include', 'sys/syscall.h', '-x', 'c', '/dev/null'], check=True,
                          capture_output=True, text=True).stdout
    return {name: int(number) for name, number in re.findall(r'#define __NR_(\w+) (\d+)', text)}


def judge(base, result, produced):
    """What is wrong with it, or nothing; produced: the file that the verb makes is there."""
    if result.status is None:
        return 'hang'
    if result.status < 0 or result.status in (134, 135, 136, 139):
        return 'crash'
    known = set(base.err.splitlines())
    words = [line for line in result.err.splitlines() if line.strip() and line not in known]
    if result.status != 0:
        says = words or result.err.strip() or result.out.strip() not in ('', base.out.strip())  # doctor's result is its output
        return None if says else 'fails without a word'
    is_less = len(result.out.splitlines()) < 0.5 * len(base.out.splitlines()) or not produced
    return 'empty without a word' if is_less and not words else None


class Sweep:
    """The runs of all verbs, and what was wrong."""

    def __init__(self, tally, folder, seconds):
        self.tally, self.folder, self.end = tally, folder, time.monotonic() + seconds
        self.runs, self.wrong, self.unfinished = collections.Counter(), [], []
        self.numbers = numbers()
        self.limit_s = LIMIT_S
        self.loaded = self.calls_of(['--version'])

    def output_of(self, words):
        """The file that it makes."""
        return self.folder / words[words.index('-o') + 1] if '-o' in words and words[words.index('-o') + 1] != '-' else None

    def calls_of(self, words):
        """Call -> how often the first thread makes it."""
        run(['strace', '-qq', '-c', '-o', 'calls', self.tally] + words, self.folder)
        rows = [line.split() for line in (self.folder / 'calls').read_text().splitlines()]
        return {row[-1]: int(row[3]) for row in rows if len(row) >= 5 and row[3].isdigit() and row[-1] != 'total'}

    def one(self, command, words, base, label):
        """One run."""
        made = self.output_of(words)
        if made and made.is_dir():  # of record --threads
            shutil.rmtree(made)
        elif made:
            made.unlink(missing_ok=True)
        result = run(command, self.folder, self.limit_s)
        produced = not made or (made.exists() and made.stat().st_size > 0)
        fault = judge(base, result, produced)
        at = command.index(self.tally)
        if fault and command[0] == './deny' and run(command[:at] + [shutil.which('true')], self.folder).status != 0:
            fault = None  # no program can start so
        if fault == 'fails without a word' and label.split()[1:3] == ['all', 'write']:
            fault = None  # nor can it say anything
        if fault:
            self.wrong.append((label, fault, result.status, result.err.strip().splitlines()[-1:]))
            print(f'{label}: {fault} (status {result.status}) {result.err.strip()[-200:]!r}', flush=True)

    def verb(self, name):
        """All calls of a verb."""
        words = VERBS[name]
        begin = time.monotonic()
        base = run([self.tally] + words, self.folder, 10 * LIMIT_S)
        self.limit_s = LIMIT_S + 10 * (time.monotonic() - begin)
        if base.status != 0:
            print(f'{name}: not possible here: {base.err.strip()[-200:]}', flush=True)
            return
        calls = self.calls_of(words)
        for call in sorted(set(calls) - NEEDED):
            for error, number in ERRORS.items():
                if time.monotonic() > self.end:
                    self.unfinished.append(name)
                    return
                if call in self.numbers:
                    self.one(['./deny', str(self.numbers[call]), str(number), self.tally] + words, words, base,
                             f'{name}: all {call} {error}')
                    self.runs[name] += 1
                when = self.loaded.get(call, 0) + 1
                if when <= calls[call]:
                    self.one(['strace', '-qq', '-o', '/dev/null', '-e', f'trace={call}', '-e',
                              f'inject={call}:error={error}:when={when}', self.tally] + words, words, base,
                             f'{name}: first {call} {error}')
                    self.runs[name] += 1
        print(f'{name}: {len(set(calls) - NEEDED)} calls, {self.runs[name]} runs', flush=True)


def main():
    """The exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--tally', default='build/src/cli/tally')
    parser.add_argument('--seconds', type=float, default=float('inf'))
    parser.add_argument('--list', action='store_true')
    parser.add_argument('verbs', nargs='*')
    options = parser.parse_args()
    if options.list:
        print(*VERBS)
        return 0
    if not shutil.which('strace') or not shutil.which('gcc'):
        print('SKIP: strace or gcc is not installed')
        return 77
    tally = str(pathlib.Path(options.tally).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for program, text in (('deny', DENY), ('work', WORK)):
            (folder / f'{program}.c').write_text(text)
            subprocess.run(['gcc', '-O1', '-g', '-o', folder / program, folder / f'{program}.c'], check=True)
        if run([tally, 'record', '-g', '-o', 'old.data', './work'], folder).status != 0:
            run([tally, 'record', '--rung', 'timer', '-g', '-o', 'old.data', './work'], folder)
        sweep = Sweep(tally, folder, options.seconds)
        for verb in options.verbs or VERBS:
            sweep.verb(verb)
    print(f'{len(sweep.runs)} verbs, {sum(sweep.runs.values())} runs, {len(sweep.wrong)} wrong:',
          dict(collections.Counter(fault for _, fault, _, _ in sweep.wrong)), 'unfinished:', sweep.unfinished)
    return 1 if sweep.wrong else 0


if __name__ == '__main__':
    sys.exit(main())
