#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tally on a real PMU that every machine can have: an emulated ARM one, in Debian's arm64 kernel, beside Debian's perf.

Cross-compiles tally, boots the guest twice (counters of 32 and of 64 bits), runs `guest` there, and checks what came
back; the last line is "N passed, N failed, N skipped". Nothing is installed unless --install is given: if the emulator
or the cross-compiler is missing, all checks are skipped, and the packages are named. One instruction takes four cycles
there (-icount shift=2), and counts of user mode are exact. What is fetched for the guest stays in
$TALLY_EMULATED_CACHE, or ~/.cache/tally-emulated. Debian's arm64 valgrind, if it was unpacked there (`fetch CACHE
valgrind`), takes the simulator into the guest.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import bpf_checks
import simulation_checks

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / 'build-arm64'
SETUP = ROOT / 'tools' / 'setup'
CACHE = pathlib.Path(os.environ.get('TALLY_EMULATED_CACHE') or
                     pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'tally-emulated')
CPUS = {'32-bit counters': 'cortex-a57,pmu=on', '64-bit counters': 'max,pauth-impdef=on'}
LOOP = 6_000_000  # instructions of `loop 1000000`: two a turn, and four a turn
BOOT_TIMEOUT_S = 1800  # of a machine that has other things to do, too


class Failure(Exception):
    pass


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], text=True, errors='replace', stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    if result.returncode:
        tail = '\n'.join(result.stdout.splitlines()[-30:])
        raise Failure(f'{command[0]} failed ({result.returncode}):\n{tail}')
    return result.stdout


def cross_file():
    sysroot = CACHE / 'sysroot'
    libraries = sysroot / 'usr/lib/aarch64-linux-gnu'
    compiler = "'aarch64-linux-gnu-gcc'"
    return f"""[binaries]
c = [{"'ccache', " if shutil.which('ccache') else ''}{compiler}]
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
[built-in options]
c_args = ['-I{sysroot}/usr/include']
c_link_args = ['-L{libraries}', '-Wl,-rpath-link,{libraries}']
[properties]
sys_root = '{sysroot}'
pkg_config_libdir = '{libraries}/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""


def cross_build():
    with_simulator = simulation_checks.add_headers(CACHE)
    simulator = f'-Dsimulator={"enabled" if with_simulator else "disabled"}'
    if not (BUILD / 'build.ninja').exists():
        file = CACHE / 'cross.ini'
        file.write_text(cross_file())
        # What runs in the guest is stripped anyway.
        run('meson', 'setup', BUILD, '--cross-file', file, '-Ddebug=false', '-Dunity=on', '-Dunity_size=12', simulator, cwd=ROOT)
    elif with_simulator != (BUILD / simulation_checks.TOOL).exists():
        run('meson', 'configure', BUILD, simulator)
    run('ninja', '-C', BUILD)
    if with_simulator:
        run('aarch64-linux-gnu-gcc', '-static', '-nostdlib', '-nostartfiles', '-o', BUILD / 'exact', HERE / 'exact.c')
        run('aarch64-linux-gnu-gcc', '-O2', '-static', '-o', BUILD / 'library_calls', HERE / 'library_calls.c', '-lm')
    run('aarch64-linux-gnu-gcc', '-O1', '-g', '-static', '-no-pie', '-o', BUILD / 'loop', HERE / 'loop.c')
    # As distributions build: no frame pointers.
    run('aarch64-linux-gnu-gcc', '-O2', '-fomit-frame-pointer', '-pthread', '-o', BUILD / 'known_chain', HERE / 'known_chain.c')
    (BUILD / 'library').mkdir(exist_ok=True)
    # Of the library's checks those on counters: a watchpoint that sends signals is hit again and again on arm64.
    run('aarch64-linux-gnu-gcc', '-std=gnu11', '-O1', '-pthread', '-I', ROOT / 'include', '-o', BUILD / 'library' / 'pmu',
        ROOT / 'tests/library/pmu.c', BUILD / 'src/libtally.so',
        f'-Wl,-rpath-link,{CACHE / "sysroot/usr/lib/aarch64-linux-gnu"}')


def try_install():
    """`meson install` of this build, whose program cannot run here."""
    with tempfile.TemporaryDirectory() as folder:
        run('meson', 'install', '-C', BUILD, '--no-rebuild', env={**os.environ, 'DESTDIR': folder})
        names = {path.name for path in pathlib.Path(folder).rglob('*')}
        if not {'tally', 'libtally.so', 'tally.pc', 'libtally.3'} <= names:
            raise Failure('meson install of the cross build left something out')


def needed(path):
    text = run('readelf', '-dlW', path)
    return re.findall(r'\(NEEDED\).*\[(.*)\]', text) + re.findall(r'interpreter: .*/(.*)\]', text)


def add_libraries(root, programs):
    """What the programs' headers ask for, all in /lib."""
    places = [CACHE / 'all/lib', CACHE / 'all/usr/lib']
    todo = list(programs)
    while todo:
        for name in needed(todo.pop()):
            if (root / 'lib' / name).exists():
                continue
            found = next((path for place in places for path in place.rglob(name)), None)
            if not found:
                raise Failure(f'{name} is not among the fetched packages')
            shutil.copy(found.resolve(), root / 'lib' / name)
            todo.append(root / 'lib' / name)


def make_root(root):
    for name in ['bin', 'dev', 'lib', 'out', 'proc', 'sys', 't/examples', 't/library', 't/unit', 'tmp', 'usr/bin']:
        (root / name).mkdir(parents=True)
    shutil.copy(CACHE / 'busybox', root / 'bin/busybox')
    shutil.copy(CACHE / 'guest/usr/bin/perf', root / 'usr/bin/perf')
    shutil.copy(HERE / 'init', root / 'init')
    (root / 'init').chmod(0o755)
    shutil.copy(HERE / 'guest', root / 't/run')
    shutil.copy(BUILD / 'loop', root / 't/loop')
    (root / 't/loop.symbols').write_text(run('aarch64-linux-gnu-nm', BUILD / 'loop'))
    shutil.copy(BUILD / 'known_chain', root / 't/known_chain')
    for name in ('calls', 'known_waits', 'idle_threads', 'traced'):
        shutil.copy(BUILD / 'tests/workloads' / name, root / 't' / name)
    strip = ['aarch64-linux-gnu-strip', '-o']
    run(*strip, root / 't/tally', BUILD / 'src/cli/tally')
    for test in sorted((BUILD / 'tests/unit').glob('test_*')):
        if test.is_file():
            run(*strip, root / 't/unit' / test.name, test)
    examples = ['branch_ratio', 'printf_instructions', 'two_lines']
    for name in examples:
        run(*strip, root / 't/examples' / name, BUILD / 'examples' / name)
    run(*strip, root / 't/library/pmu', BUILD / 'library/pmu')
    library = BUILD / 'src' / 'libtally.so.0'
    run(*strip, root / 'lib' / library.name, library.resolve())
    # The tests look for their data where the source tree is on the host.
    shutil.copytree(ROOT / 'tests/data', root / str(ROOT / 'tests/data').lstrip('/'))
    # These are loaded by name: by the C library for backtrace(), and by tally when code is disassembled.
    for name in 'libgcc_s.so.1', 'libcapstone.so.4':
        shutil.copy(next((CACHE / 'all').rglob(name)).resolve(), root / 'lib' / name)
    simulation_checks.add_valgrind(root, CACHE, BUILD)
    add_libraries(root, [root / 't/tally', root / 't/known_chain', root / 'usr/bin/perf', *(root / 't/unit').iterdir(),
                         *(root / 't/examples').iterdir(), *(root / 't/library').iterdir()])


def boot(cpu, initrd, out):
    """Runs the guest; what its script left in /out is in the folder out.

    Its root is a file system in half of its memory.
    """
    archive = out / 'out.tar'
    console = run('timeout', str(BOOT_TIMEOUT_S), 'qemu-system-aarch64', '-M', 'virt', '-cpu', cpu, '-m', '3072',
                  '-nographic', '-nodefaults', '-rtc', 'clock=vm', '-no-reboot', '-serial', 'stdio',
                  '-chardev', f'file,id=o,path={archive}', '-device', 'pci-serial,chardev=o',
                  '-icount', 'shift=2,sleep=off', '-smp', '1', '-kernel', CACHE / 'vmlinuz', '-initrd', initrd,
                  '-append', 'console=ttyAMA0 quiet panic=-1')
    if 'GUEST-EXIT 0' not in console:
        raise Failure('the guest did not end well:\n' + '\n'.join(console.splitlines()[-20:]))
    with tarfile.open(archive) as tar:
        tar.extractall(out)


class Guest:
    """What one guest brought back."""

    def __init__(self, out):
        self.folder = out

    def text(self, job, stream='out'):
        return (self.folder / f'{job}.{stream}').read_text(errors='replace')

    def good(self, job):
        status = self.text(job, 'rc').strip()
        assert status == '0', f'{job}: exit status {status}: {self.text(job, "err")[-600:]}'
        return self

    def csv(self, job):
        """(count, event, share that it ran) of each line of `stat -x,`, which stat writes to standard error."""
        rows = [line.split(',') for line in self.good(job).text(job, 'err').splitlines() if line.count(',') > 3]
        return [(row[0], row[2], row[4]) for row in rows]

    def counts(self, job):
        return [int(count) for count, _, _ in self.csv(job)]


def check_program_runs(guest):
    assert 'tally' in guest.good('version').text('version')
    listed = guest.good('list').text('list')
    assert re.search(r'cpu-cycles OR cycles +\[Hardware event\]\n.*\n +opens here', listed), listed


def check_user_counts_are_exact(guest):
    first = guest.counts('count-1')
    cycles, instructions = first
    assert LOOP < instructions < LOOP + 20_000, first
    assert cycles == 4 * instructions, first
    again = [guest.counts('count-2'), guest.counts('count-3')]
    assert again == [first, first], (first, again)


def check_counts_are_those_of_perf(guest):
    ours, theirs = guest.counts('count-1'), guest.counts('count-perf')
    # perf gives the command a larger environment, which the C library reads before main.
    for our, their in zip(ours, theirs):
        assert abs(their - our) < 5_000, (ours, theirs)


def check_default_events(guest):
    ours, theirs = guest.good('default').text('default', 'err'), guest.good('default-perf').text('default-perf', 'err')
    pattern = r'^ +[\d.,]+ (?:msec )?\s*([\w-]+)'
    assert re.findall(pattern, ours, re.M)[:7] == re.findall(pattern, theirs, re.M)[:7], (ours, theirs)
    assert '0.25  insn per cycle' in ours, ours


def check_group(guest):
    cycles, instructions, retired = guest.counts('group')
    counts = cycles, instructions, retired
    assert cycles == 4 * instructions and retired == instructions, counts
    assert LOOP < instructions < LOOP + 20_000, counts


def check_more_events_than_counters(guest):
    rows = guest.csv('many')
    assert len(rows) == 16
    for count, event, share in rows:
        assert 0 < float(share) < 100, rows
        assert abs(int(count) / (60 * LOOP) - 1) < 0.01, rows


def check_scaled_counts_tell_their_error(guest):
    text = guest.good('scaled').text('scaled', 'err')
    counts = [int(count) for count in re.findall(r'^ +(\d+) +(?:instructions:u|r08:u) ', text, re.M)]
    errors = [float(error) for error in re.findall(r'\(counted [\d.]+% of the time, \+- ([\d.]+)%\)', text)]
    assert len(counts) == len(errors) == 12 and 'tally: scaled' in text, text
    assert max(errors) < 5, text
    for count, error in zip(counts, errors):
        assert abs(count / (60 * LOOP) - 1) < error / 100 + 0.003, text
    large = guest.text('large-reason', 'err')
    assert 'no counter left for it beside the others of its group (event constraints)' in large, large


def check_groups_take_turns(guest):
    """Whole groups: the members' counts are those of the same turns of the loop."""
    rows = guest.csv('groups')
    for base in (0, 4):
        instructions, retired, cycles, _ = (int(count) for count, _, _ in rows[base:base + 4])
        # Scaled by the time, which has to be that of the loop: within 1 %, and each cycle of it a quarter instruction.
        assert abs(instructions / (40 * LOOP) - 1) < 0.01 and retired == instructions, rows
        assert abs(cycles - 4 * instructions) <= 4, rows
        assert len({share for _, _, share in rows[base:base + 4]}) == 1 and 30 < float(rows[base][2]) < 70, rows


def check_exclusive_group(guest):
    """Both have room at once, yet each has the PMU for itself for half of the time."""
    rows = guest.csv('exclusive')
    assert len(rows) == 4 and all(40 < float(share) < 60 for _, _, share in rows), rows
    assert rows[0][0] == rows[1][0] and rows[2][0] == rows[3][0], rows
    assert abs(int(rows[0][0]) / (20 * LOOP) - 1) < 0.03, rows


def check_group_without_room(guest):
    rows = guest.csv('large')
    counted = [count for count, _, _ in rows if count.isdigit()]
    assert len(rows) == 9 and 0 < len(counted) < 9 and '<not supported>' in [row[0] for row in rows], rows
    assert int(counted[0]) == int(counted[1]) > LOOP, rows
    weak = guest.csv('weak')
    assert all(count.isdigit() for count, _, _ in weak), weak
    assert abs(int(weak[0][0]) / (40 * LOOP) - 1) < 0.01 and any(float(share) < 100 for _, _, share in weak), weak


def check_plan_says_what_fits(guest):
    plan = json.loads(guest.good('plan').text('plan', 'err'))
    rounds = [event.get('round') for event in plan['events']]
    room = rounds.count(1)
    assert plan['multiplexes'] and plan['rounds'] == max(filter(None, rounds)) >= 2, plan
    assert plan['events'][0]['config'] == '0x1' and plan['events'][1]['config'] == '0x8', plan
    assert plan['events'][-1]['state'] == 'needs-no-counter', plan
    # As many as the kernel then counts without taking turns.
    assert room == len([1 for count, _, _ in guest.csv('pinned') if count.isdigit()]), (room, guest.csv('pinned'))
    large = json.loads(guest.good('plan-large').text('plan-large', 'err'))
    assert {event['state'] for event in large['events']} <= {'no-room', 'refused'} and large['rounds'] == 0, large
    assert not guest.text('plan'), 'the command has run'


def check_passes_count_each_event_in_full(guest):
    text = guest.good('passes').text('passes', 'err')
    counts = [int(count) for count in re.findall(r'^ +(\d+) +(?:instructions|r08):u', text, re.M)]
    alone = guest.counts('count-1')[1]
    assert counts == [alone] * 3, (counts, alone)
    assert re.search(r'[2-9] passes; instructions, in each of them, is 0.00% apart', text), text


def check_comparison_finds_the_difference(guest):
    rows = [json.loads(line) for line in guest.good('compare').text('compare', 'err').splitlines() if line[:1] == '{']
    found = {row['event']: row for row in rows if 'event' in row}
    for event, shift in (('instructions:u', LOOP // 10), ('cycles:u', 4 * LOOP // 10)):
        row = found[event]
        assert row['shift'] == row['shift-low'] == row['shift-high'] == shift and row['less'] == 'A', row


def check_cgroup_counts_its_own(guest):
    counts = guest.counts('cgroup')
    assert LOOP < counts[0] < LOOP + 200_000, counts  # the shell's own, and not three times as much


def check_metrics_are_exact(guest):
    rows = [json.loads(line) for line in guest.good('metrics').text('metrics', 'err').splitlines() if line[:1] == '{']
    found = {row['metric-unit'].split()[-1]: row for row in rows if row['metric-unit']}
    assert {name: row['metric-value'] for name, row in found.items()} == {'IPC': 0.25, 'CPI': 4, 'insn_per_cycle': 0.25}, rows
    assert found['insn_per_cycle']['metric-threshold'] == 'bad' and len([row for row in rows if 'event' in row]) == 2, rows
    apart = guest.good('metrics-apart').text('metrics-apart', 'err').splitlines()
    assert apart == ['IPC,CPI,', '0.25,4.00,'], apart


def check_counts_outgrow_the_counters(guest):
    """The clock of the cycles is one of 1 GHz that goes on while the machine idles."""
    counts = guest.counts('wide')
    assert 6_000_000_000 < counts[0] < 7_000_000_000, counts


def check_children_add_up(guest):
    cycles, instructions = guest.counts('threads')
    assert cycles == 4 * instructions and 3 * LOOP < instructions < 3 * LOOP + 300_000, (cycles, instructions)


def check_examples(guest):
    printed = [re.search(r'Used (\d+) instructions$', guest.good(f'printf-{n}').text(f'printf-{n}'), re.M) for n in (1, 2)]
    assert printed[0] and printed[0][0] == printed[1][0] and int(printed[0][1]) > 100, printed
    # This PMU knows neither cache misses nor branches: the examples count faults instead.
    text = guest.good('two-lines').good('branches').text('two-lines') + guest.text('branches')
    assert re.search(r'Current count: \d+ page-faults:u\n(.*\n)?\d+ / \d+ page faults needed the disk\n50$', text, re.M), text


def check_pinned_events_beyond_the_counters(guest):
    rows = guest.csv('pinned')
    failed = [row for row in rows if row[0] == '<not counted>']
    assert len(rows) == 10 and 0 < len(failed) < 10, rows


def check_intervals_add_up(guest):
    rows = [line.split(',') for line in guest.good('interval').text('interval', 'err').splitlines()
            if line.count(',') > 3]
    counts = [int(row[1]) for row in rows if row[1].strip().isdigit()]
    assert len(counts) > 3 and 20 * LOOP < sum(counts) < 20 * LOOP + 50_000, rows


def check_count_by_cpu(guest):
    rows = [line.split(',') for line in guest.good('cpu').text('cpu', 'err').splitlines() if line.count(',') > 3]
    assert rows[0][0] == 'CPU0' and int(rows[0][1]) > LOOP, rows


def samples(guest, job):
    return int(re.search(r'SAMPLE events: +(\d+)', guest.good(job).text(job)).group(1))


def check_period_sampling(guest):
    guest.good('period')
    count = samples(guest, 'stats-period')
    assert abs(count - 4 * 10 * LOOP / 100_000) <= 3, count
    lines = [line.split() for line in guest.text('script-tally-period').splitlines() if line.strip()]
    assert {line[0] for line in lines} == {'100000'}, lines[:3]


def check_frequency_sampling(guest):
    guest.good('frequency')
    # 1 GHz, four cycles an instruction: 0.24 s in the loops.
    count = samples(guest, 'stats-frequency')
    assert 120 < count < 400, count


def check_throttling_is_recorded(guest):
    guest.good('throttle')
    assert re.search(r'\bTHROTTLE events: +[1-9]', guest.text('stats-throttle')), guest.text('stats-throttle')


def rows_of(text):
    return [tuple(line.split()) for line in text.splitlines() if line.strip() and not line.startswith('#')]


def check_reports_are_those_of_perf(guest):
    for file in ['period', 'leader', 'plain', 'plain-perf']:
        ours = rows_of(guest.good(f'report-tally-{file}').text(f'report-tally-{file}'))
        theirs = rows_of(guest.good(f'report-perf-{file}').text(f'report-perf-{file}'))
        assert ours[:2] == theirs[:2], (file, ours[:4], theirs[:4])
        assert ours and ours[0][-1] == 'twice', ours
    # The installed perf leaves out fields of zero, which newer ones print.
    ours = re.sub(r'(type|config): 0 \(\w+\), ', '', guest.text('evlist-tally-plain'))
    assert ours == guest.text('evlist-perf-plain'), (ours, guest.text('evlist-perf-plain'))
    assert guest.text('script-tally-period').split() == guest.text('script-perf-period').split()


def check_rung_timer(guest):
    """Samples without events, of programs that tell what they notice of it; each ends by 7."""
    told = {'signals': 'URG 40\nWINCH 40\nALRM 40\nUSR1 40\nTRAP 40\nCHLD 40\n', 'calls': 'interrupted 0 early 0\n',
            'masked': 'blocked 1\n', 'exec': 'blocked 1\n', 'churn': None}
    for mode, said in told.items():
        assert guest.text(f'rung-{mode}', 'rc').strip() == '7', guest.text(f'rung-{mode}', 'err')
        output = guest.text(f'rung-{mode}')
        assert output == said if said else int(output.split()[1]) < 40, (mode, output)
        assert 'traced_work' in guest.good(f'rung-{mode}-report').text(f'rung-{mode}-report'), mode


def check_breakpoint(guest):
    counts = guest.counts('breakpoint')
    assert counts == [7 * 1000], counts
    counts = guest.counts('watchpoint')
    assert counts == [26, 13, 39], counts  # writes, reads, both


def check_probes(guest):
    # The program loader's own opens come with those of the three files.
    counts = guest.counts('kprobe'), guest.counts('uprobe')
    assert counts[0][0] >= 3 and counts[1] == [11 * 1000], counts
    by_pmu = guest.counts('kprobe-pmu'), guest.counts('uprobe-pmu')
    assert by_pmu == counts, (by_pmu, counts)
    assert 'emulated:open' in guest.good('kprobe-record').good('kprobe-script').text('kprobe-script')


def check_functions_of_the_kernel(guest):
    """On a kernel that has function_graph only at the top of tracefs."""
    assert any('sys_clock_nanosleep' in line for line in guest.good('ftrace-list').text('ftrace-list').splitlines())
    trace = guest.good('ftrace-trace').text('ftrace-trace')
    assert trace.startswith('# tracer: function_graph\n') and re.search(r'sys_clock_nanosleep\(\) \{\n', trace), trace[:1000]
    assert 'hrtimer_nanosleep <-common_nsleep' in guest.good('ftrace-function').text('ftrace-function')
    options = guest.good('ftrace-options').text('ftrace-options')
    assert re.search(r'sleep-\d+ .*\} /\* hrtimer_nanosleep \*/', options) and '() {' not in options, options
    has_btf = (guest.folder / 'bpf-btf.rc').exists()
    for job in ('ftrace-latency', 'ftrace-latency-bpf')[:1 + has_btf]:
        latency = json.loads(guest.good(job).text(job))['latency']
        assert latency['count'] == 1 and 100_000_000 <= latency['total_ns'] < 200_000_000, (job, latency)
    rows = {row['function']: row for row in json.loads(guest.good('ftrace-profile').text('ftrace-profile'))['profile']}
    assert rows['hrtimer_nanosleep']['count'] == 1 and rows['hrtimer_nanosleep']['total_ns'] >= 100_000_000, rows
    assert 'the kernel can trace no function of this name' in guest.text('ftrace-unknown', 'err')


def check_tracefs_is_as_before(guest):
    before, after, during, restored = ((guest.folder / f'ftrace-{when}').read_text() for when in ('before', 'after', 'during', 'restored'))
    assert after == before
    assert 'current_tracer:function_graph' in during and 'max_graph_depth:1' in during and 'tally-ftrace-' in during, during
    assert restored == before
    said = guest.good('ftrace-killed').text('ftrace-killed', 'err')
    assert len(re.findall(r'note: removed .*/tally-ftrace-\d+(?:-top)?, which a killed ftrace', said)) == 2, said


def check_kernel_work(guest):
    bpf_checks.with_btf(guest)

    def softirqs(job, key='runtimes'):
        return {row['name']: row['count'] for row in json.loads(guest.good(job).text(job))[key]}

    measured, recorded = softirqs('kwork-report'), softirqs('kwork-recorded')
    assert recorded and all(measured[name] >= count for name, count in recorded.items()), (measured, recorded)
    assert guest.good('kwork-recorded-perf').text('kwork-recorded-perf') == guest.good('kwork-recorded-text').text('kwork-recorded-text')
    top = json.loads(guest.good('kwork-top').text('kwork-top'))
    cpu, = top['cpus']
    assert cpu['idle_ns'] > cpu['total_ns'] / 2 and 0.8e9 < cpu['total_ns'] < 1.3e9, cpu


def check_modules(guest):
    failed = guest.folder / 'unit-failed'
    assert not failed.exists(), failed.read_text()
    assert len((guest.folder / 'unit-ran').read_text().splitlines()) > 300


def check_library(guest):
    rows = (guest.folder / 'library-ran').read_text().splitlines()
    assert len(rows) >= 8 and all(row.startswith('0 ') for row in rows), rows


CHECKS = [check for name, check in sorted({**vars(bpf_checks), **vars(simulation_checks), **globals()}.items())
          if name.startswith('check_')]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('checks', nargs='*', metavar='CHECK', help='run only these checks, such as "group" (default: all)')
    parser.add_argument('--list', action='store_true', help='print the names of the checks, and do nothing')
    parser.add_argument('--keep', type=pathlib.Path, metavar='DIR', help='copy what the guests brought back into DIR')
    parser.add_argument('--install', action='store_true',
                        help='install missing packages of the host first (tools/setup emulated)')
    options = parser.parse_args()
    by_name = {check.__name__.removeprefix('check_'): check for check in CHECKS}
    names = [name.removeprefix('check_') for name in options.checks]
    unknown = [name for name in names if name not in by_name]
    if unknown:
        parser.error(f'there is no check {", ".join(unknown)}; --list prints the names')
    if options.list:
        print('\n'.join(by_name))
        sys.exit(0)
    options.checks = [by_name[name] for name in dict.fromkeys(names)] or CHECKS
    return options


def skip_all(checks, reason):
    print(f'skipped: {reason}')
    print(f'0 passed, 0 failed, {len(checks) * len(CPUS)} skipped')
    return 0


def main():
    options = parse_arguments()
    passed = failed = skipped = 0
    if not shutil.which('apt-get'):
        return skip_all(options.checks, 'this is not Debian, whose packages the guest is made of')
    try:
        if options.install:
            print(run(SETUP, 'emulated'), end='')
        missing = run(SETUP, 'emulated', '-n').split()
    except Failure as problem:
        print(problem)
        return 1
    if missing:
        return skip_all(options.checks, f'not installed: {" ".join(missing)} (--install, or tools/setup emulated)')
    try:
        run(HERE / 'fetch', CACHE)
    except Failure as problem:
        print(problem)
        return skip_all(options.checks, 'what the guest needs cannot be fetched')
    cross_build()
    try_install()
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder)
        make_root(base / 'root')
        run('sh', '-c', f'cd {base}/root && find . | cpio -o -H newc --quiet >{base}/initrd')
        outs = {label: base / cpu.split(',')[0] for label, cpu in CPUS.items()}
        for out in outs.values():
            out.mkdir()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for done in [pool.submit(boot, cpu, base / 'initrd', outs[label]) for label, cpu in CPUS.items()]:
                done.result()
        for label, out in outs.items():
            if options.keep:
                shutil.copytree(out, options.keep / out.name, dirs_exist_ok=True)
            for check in options.checks:
                try:
                    check(Guest(out))
                    passed += 1
                except bpf_checks.Skipped as reason:
                    skipped += 1
                    print(f'skipped: {check.__name__}, {label}: {reason}')
                except Exception as problem:  # a check that cannot read its files has failed, too
                    failed += 1
                    print(f'FAILED: {check.__name__}, {label}: {type(problem).__name__}: {problem}')
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
