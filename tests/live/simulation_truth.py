#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the inclusive shares of simulated samples with those that callgrind counts.

usage: tests/live/simulation_truth.py [--tally PATH] [--samples 20000] [--least 1] [--points 1] [PROGRAM...]

Runs each program (sqlite3, xz, libsqlite3, liblzma, rust) under valgrind --tool=callgrind and under tally record --simulate, and compares, for
each function with a share of at least --least percent, how much of all instructions were executed by it and by what it
called. Functions of a recursion are left out, because their calls count several times in callgrind's file; so are those
that leave by a jump to another function, because then callgrind counts what follows as called, and a stack does not have
them any more (--all shows both). A line per program tells the largest difference. Exit status 1: one is larger than
--points.

Needs valgrind with its callgrind, our simulator, and the programs (a C compiler with static libraries for libsqlite3 and
liblzma, rustc for rust).
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ['sqlite3', 'xz', 'libsqlite3', 'liblzma', 'rust']

SQL = """
create table t(a integer primary key, b text, c integer);
with recursive n(x) as (select 1 union all select x+1 from n where x<6000)
  insert into t select x, hex(x*7919 % 10007), x*x % 997 from n;
create index i on t(c, b);
select c, count(*), max(b) from t group by c having count(*)>5 order by 2 desc limit 5;
select count(*) from t x join t y on x.c=y.c where x.a<y.a and y.b like '3%';
"""
RUST = """
use std::collections::{BTreeMap, HashMap};
#[inline(never)] fn words(n: u64) -> Vec<String> {
    let mut x = n; (0..20000).map(|_| { x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        format!("w{}", (x >> 33) % 3000) }).collect() }
#[inline(never)] fn count(words: &[String]) -> BTreeMap<&str, usize> {
    let mut m = BTreeMap::new(); for w in words { *m.entry(w.as_str()).or_insert(0) += 1 } m }
#[inline(never)] fn hash(words: &[String]) -> HashMap<u64, usize> {
    let mut m = HashMap::new();
    for w in words { *m.entry(w.bytes().fold(7u64, |a, b| a.wrapping_mul(31) + b as u64)).or_insert(0) += 1 } m }
#[inline(never)] fn sort(mut words: Vec<String>) -> Vec<String> { words.sort(); words.dedup(); words }
fn main() { let w = words(42); let c = count(&w).len(); let h = hash(&w).len(); println!("{} {} {}", c, h, sort(w).len()); }
"""

SQLITE = r"""
#include <sqlite3.h>
#include <stdio.h>
static int row(void *p, int n, char **values, char **names) { (void)p; (void)n; (void)names; puts(values[0]); return 0; }
int main(void) {
	static char sql[4096]; sqlite3 *db;
	sql[fread(sql, 1, sizeof(sql) - 1, stdin)] = 0;
	return sqlite3_open(":memory:", &db) || sqlite3_exec(db, sql, row, NULL, NULL) || sqlite3_close(db);
}
"""
LZMA = r"""
#include <lzma.h>
#include <stdio.h>
int main(int argc, char **argv) {
	static unsigned char in[1 << 20], out[1 << 20]; size_t used = 0; FILE *f = fopen(argv[argc - 1], "rb");
	size_t n = fread(in, 1, sizeof(in), f);
	printf("%d", lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, in, n, out, &used, sizeof(out)));
	return printf(" %zu\n", used) < 0;
}
"""


class Truth:
    """callgrind's file: self costs, and the costs of calls."""

    def __init__(self, path):
        self.own = collections.Counter()
        self.calls = collections.defaultdict(collections.Counter)  # caller -> callee -> inclusive cost
        self.jumps = set()
        self.names = {}
        self.read(path)
        self.total = sum(self.own.values())

    def name(self, kind, text):
        """Compressed names: "(3) name" the first time, "(3)" afterwards."""
        found = re.match(r'\((\d+)\)(?: (.*))?$', text)
        if not found:
            return text
        if found[2] is not None:
            self.names[kind, found[1]] = found[2]
        return self.names[kind, found[1]]

    def read(self, path):
        ob = cob = fn = cfn = None
        is_call = False
        for line in path.read_text().splitlines():
            key, equals, value = line.partition('=')
            if equals and key in ('ob', 'fn', 'cob', 'cfn', 'calls', 'fl', 'fi', 'fe', 'cfi', 'cfl'):
                if key == 'ob':
                    ob = self.name('ob', value)
                elif key == 'cob':
                    cob = self.name('ob', value)
                elif key == 'fn':
                    fn = self.function(ob, self.name('fn', value))
                    cob = None
                elif key == 'cfn':
                    cfn = self.function(cob or ob, self.name('fn', value))
                elif key == 'calls':
                    is_call = True
                continue
            words = line.split()
            if line.startswith(('jump=', 'jcnd=')) or not words or not re.match(r'[+\-*\d]', line) or ':' in words[0]:
                continue
            cost = int(words[1]) if len(words) > 1 else 0
            if is_call:
                self.calls[fn][cfn] += cost
                cob = None
            else:
                self.own[fn] += cost
            is_call = False

    @staticmethod
    def function(ob, name):
        return os.path.basename(ob or '???'), unversioned(re.sub(r"'\d+$", '', name))

    def recursive(self):
        """All functions on a circle of calls (Tarjan's algorithm, without recursion)."""
        index, low, on, stack, found = {}, {}, set(), [], set()
        for root in list(self.calls):
            if root in index:
                continue
            work = [(root, iter(self.calls[root]))]
            index[root] = low[root] = len(index)
            stack.append(root)
            on.add(root)
            while work:
                node, rest = work[-1]
                for callee in rest:
                    if callee not in index:
                        index[callee] = low[callee] = len(index)
                        stack.append(callee)
                        on.add(callee)
                        work.append((callee, iter(self.calls.get(callee, ()))))
                        break
                    if callee in on:
                        low[node] = min(low[node], index[callee])
                else:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[node])
                    if low[node] == index[node]:
                        part = []
                        while True:
                            part.append(stack.pop())
                            on.discard(part[-1])
                            if part[-1] == node:
                                break
                        if len(part) > 1 or node in self.calls.get(node, ()):
                            found.update(part)
        return found

    def inclusive(self):
        functions = set(self.own) | set(self.calls)
        return {f: self.own[f] + sum(self.calls[f].values()) for f in functions}


class Binary:
    """The functions of a file: aliases, and which of them leave by a jump."""

    def __init__(self, path):
        self.path = path
        self.extents, self.names = {}, collections.defaultdict(list)
        for file in [path, *self.debug_files()]:
            self.read_symbols(file)
        self.canonical = {name: min(names) for names in self.names.values() for name in names}

    def debug_files(self):
        notes = subprocess.run(['readelf', '-nW', self.path], stdout=subprocess.PIPE, text=True).stdout
        found = re.search(r'Build ID: ([0-9a-f]{2})([0-9a-f]+)', notes)
        path = pathlib.Path(f'/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug') if found else None
        return [str(path)] if path and path.exists() else []

    def read_symbols(self, file):
        out = subprocess.run(['readelf', '-sW', '--demangle', file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        for line in out.splitlines():
            words = line.split(None, 7)
            if len(words) < 8 or words[3] not in ('FUNC', 'IFUNC') or words[6] == 'UND':
                continue
            address, size, name = int(words[1], 16), int(words[2], 0), unversioned(words[7])
            self.extents[name] = address, address + size
            if name not in self.names[address]:
                self.names[address].append(name)

    def jumpers(self, wanted):
        """Those whose code jumps out of it, other than to its own cold part, or to wherever a register says."""
        extents = sorted((*self.extents[name], name) for name in wanted if name in self.extents)
        found = set()
        for start, end, name in extents:
            out = subprocess.run(['objdump', '-d', '--no-show-raw-insn', f'--start-address={start}',
                f'--stop-address={end}', self.path], stdout=subprocess.PIPE, text=True).stdout
            for jump in re.finditer(r'\sj\w+\s+(?:([0-9a-f]+)(?: <([^>+]*))?|(\*))', out):
                if jump[3] or not start <= int(jump[1], 16) < end and not (jump[2] or '').startswith(name + '.cold'):
                    found.add(name)
        return found


def unversioned(name):
    """Without a version of C libraries, and without the hash of Rust."""
    return re.sub(r'@@?[\w.]+( \(\d+\))?$|::h[0-9a-f]{16}$', '', name)


def samples_of(tally, recording):
    """{(binary, function): samples that have it in their stacks}, how many samples there are, and {binary: its path}."""
    out = subprocess.run([tally, 'script', '--no-inline', '-F', 'comm,ip,sym,dso', '-i', recording], check=True,
        stdout=subprocess.PIPE, text=True, errors='replace').stdout
    counts, total, paths = collections.Counter(), 0, {}
    for block in out.split('\n\n'):
        seen = set()
        for line in block.splitlines():
            frame = re.match(r'\s+[0-9a-f]+ (.*) \((.*)\)$', line)
            if frame:
                paths[os.path.basename(frame[2])] = frame[2]
                seen.add((os.path.basename(frame[2]), unversioned(frame[1])))
        if seen:
            total += 1
            counts.update(seen)
    return counts, total, paths


def prime_from(n):
    while any(n % i == 0 for i in range(2, int(n**0.5) + 1)):
        n += 1
    return n


def run(command, text, **more):
    # callgrind counts each repetition of `rep movsb` as an instruction, and we count one, as a CPU does.
    without_rep = {**os.environ, 'GLIBC_TUNABLES': 'glibc.cpu.hwcaps=-ERMS,-FSRM'}
    subprocess.run(command, input=text, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=without_rep, **more)


def compare(name, command, text, args, folder):
    out, recording = folder / f'{name}.callgrind', folder / f'{name}.data'
    run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', *command], text)
    truth = Truth(out)
    period = prime_from(max(2, truth.total // args.samples))
    run([args.tally, 'record', '--simulate', '-e', 'instructions', '-c', str(period), '-g', '-N', '-o', str(recording), '--', *command], text)
    counts, total, paths = samples_of(args.tally, recording)
    inclusive, recursive = truth.inclusive(), truth.recursive()
    wanted = {f: 100 * cost / truth.total for f, cost in inclusive.items() if 100 * cost / truth.total >= args.least}
    binaries = {b: Binary(paths[b]) for b in {b for b, _ in wanted} if os.path.exists(paths.get(b, ''))}
    leaves = {(b, f) for b, binary in binaries.items() for f in binary.jumpers({f for x, f in wanted if x == b})}
    shares = collections.Counter()
    for (b, function), count in counts.items():
        shares[b, binaries[b].canonical.get(function, function) if b in binaries else function] += 100 * count / total
    worst, compared = (0.0, None), 0
    for function, share in sorted(wanted.items(), key=lambda item: -item[1]):
        b, text = function
        left_out = 'recursive' if function in recursive else 'jumps' if function in leaves else \
            'no name' if b not in binaries or text not in binaries[b].canonical else None
        found = 0 if left_out == 'no name' else shares[b, binaries[b].canonical.get(text, text)]
        difference = found - share
        if args.all:
            print(f'  {share:7.2f} {found:7.2f} {difference:+7.2f} {left_out or "":9} {b}: {text}')
        if left_out:
            continue
        compared += 1
        if abs(difference) > abs(worst[0]):
            worst = difference, function
    print(f'{name}: {compared} functions of {truth.total} instructions compared with {total} samples: '
        f'largest difference {worst[0]:+.2f} points{" (%s)" % worst[1][1] if worst[1] else ""}; '
        f'{len(wanted) - compared} left out')
    return compared > 0 and abs(worst[0]) <= args.points


def programs(folder, wanted):
    """{name: (command, standard input)} of those that this machine has."""
    data = folder / 'input'
    data.write_bytes(b''.join(b'%d %d\n' % (i, i * i % 977) for i in range(60000)))
    found = {}
    if shutil.which('sqlite3'):
        found['sqlite3'] = ([shutil.which('sqlite3'), ':memory:'], SQL)
    if shutil.which('xz'):
        found['xz'] = ([shutil.which('xz'), '-1', '-k', '-c', '-T1', str(data)], None)
    # The same code with the names of all its functions, which the installed libraries do not have.
    for name, code, argument, text in ('sqlite3', SQLITE, [], SQL), ('lzma', LZMA, [str(data)], None):
        library = next(pathlib.Path('/usr/lib').glob(f'*/lib{name}.a'), None)
        if f'lib{name}' in wanted and library and shutil.which('cc'):
            (folder / f'lib{name}.c').write_text(code)
            subprocess.run(['cc', '-O2', '-g', '-o', folder / f'lib{name}', folder / f'lib{name}.c', library, '-lm',
                '-lpthread', '-ldl', '-lz'], check=True)
            found[f'lib{name}'] = ([str(folder / f'lib{name}'), *argument], text)
    if 'rust' in wanted and shutil.which('rustc'):
        source, program = folder / 'words.rs', folder / 'words'
        source.write_text(RUST)
        subprocess.run(['rustc', '-O', '-g', '-o', program, source], check=True)
        found['rust'] = ([str(program)], None)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tally', default=str(ROOT / 'build/src/cli/tally'))
    parser.add_argument('--samples', type=int, default=20000)
    parser.add_argument('--least', type=float, default=1)
    parser.add_argument('--points', type=float, default=1)
    parser.add_argument('--all', action='store_true')
    parser.add_argument('program', nargs='*')
    args = parser.parse_args()
    is_right = True
    with tempfile.TemporaryDirectory(prefix='tally-simulation-truth-') as folder:
        found = programs(pathlib.Path(folder), args.program or PROGRAMS)
        for name in args.program or found:
            if name not in found:
                sys.exit(f'{name} is missing')
            is_right &= compare(name, *found[name], args, pathlib.Path(folder))
    return 0 if is_right else 1


if __name__ == '__main__':
    sys.exit(main())
