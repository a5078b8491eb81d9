# SPDX-License-Identifier: Apache-2.0
"""What the guest's kernel made of each BPF program of src/bpf: check.py calls every check_ function with a Guest.

The guest has one CPU whose time advances by instructions, so times here do not depend on how busy the host is.
"""
import collections
import json
import re

KNOWN_CHAIN = ['burn', 'variable', 'large', 'floats', *(f'level_{n}' for n in range(9, 0, -1)), 'main']
LOOP = 6_000_000  # instructions of `loop 1000000`
KERNEL_HALF = 0xffff000000000000
MS = 1_000_000
UNIT_NS = 200 * MS  # of known_waits


class Skipped(Exception):
    pass


def with_btf(guest):
    if not (guest.folder / 'bpf-btf.rc').exists():
        raise Skipped("the guest's kernel has no BTF (/sys/kernel/btf/vmlinux), which BPF programs need")
    return guest


def chains(text):
    """Of each sample the names of its frames, innermost first; of the kernel's frames none."""
    blocks = [re.findall(r'^\s+([0-9a-f]+) (\S+)', block, re.M) for block in text.split('\n\n')]
    return [[name for address, name in block if int(address, 16) < KERNEL_HALF] for block in blocks if block]


def assert_known_chains(text, least):
    found = [chain for chain in chains(text) if chain[:1] == ['burn']]
    assert len(found) >= least, text[:2000]
    other = [chain for chain in found if chain[:len(KNOWN_CHAIN)] != KNOWN_CHAIN or '_start' not in chain[-1]]
    # A program's first samples may come before its unwind tables have been read.
    assert len(other) <= len(found) / 50 and found[-1] not in other, other[:3]


def check_bpf_stacks(guest):
    """sample_stacks: call chains of a program without frame pointers, of a timer's samples and of the PMU's."""
    with_btf(guest).good('bpf-stacks').good('bpf-pmu-stacks')
    assert_known_chains(guest.good('bpf-stacks-script').text('bpf-stacks-script'), 100)
    assert_known_chains(guest.good('bpf-stacks-perf').text('bpf-stacks-perf'), 100)
    assert_known_chains(guest.good('bpf-pmu-stacks-script').text('bpf-pmu-stacks-script'), 100)
    assert re.search(r'\[ stacks: \d+\.\d % complete', guest.text('bpf-stacks', 'err')), guest.text('bpf-stacks', 'err')


def ns_by(text, *keys):
    return {tuple(row[key] for key in keys): row['values'][0]['period'] for row in json.loads(text)['tables'][0]['rows']}


def told(text):
    """What known_waits measured: by thread its ID, and ns waited, on a CPU and ready to run."""
    rows = [line.split() for line in text.splitlines() if re.fullmatch(r'\w+( \d+){5}', line)]
    return {row[0]: dict(zip(('tid', 'waited', 'ran', 'ready', 'least_ready'), map(int, row[1:]))) for row in rows}


def check_bpf_wall(guest):
    """off_cpu: waits of known length, state and waker."""
    threads = told(with_btf(guest).good('bpf-wall').text('bpf-wall'))
    assert set(threads) == set('computer sleeper holder waiter reader feeder left right'.split()), threads
    states = ns_by(guest.good('bpf-wall-states').text('bpf-wall-states'), 'comm', 'state')
    for name, state in (('sleeper', 'sleep'), ('waiter', 'lock'), ('reader', 'io')):
        both = states[name, state] + states.get((name, 'runnable'), 0)
        assert states[name, state] <= threads[name]['waited'] * 1.01 and both >= threads[name]['waited'] * 0.99, (threads, states)
    # A sum that a thread began under its name counts for its next name, if it goes on then.
    for name, thread in threads.items():
        assert thread['least_ready'] - 0.1 * UNIT_NS < states[name, 'runnable'] < thread['ready'] * 1.01 + 0.05 * UNIT_NS, (name, threads, states)
    ready = sum(thread['ready'] for thread in threads.values())
    runnable = sum(ns for (comm, state), ns in states.items() if state == 'runnable' and comm in threads)
    assert 0.95 * ready < runnable < 1.05 * ready, (ready, runnable, states)
    assert 3 * UNIT_NS <= states['holder', 'sleep'] <= 3.1 * UNIT_NS, states
    wakers = ns_by(guest.good('bpf-wall-wakers').text('bpf-wall-wakers'), 'comm', 'state', 'waker')
    longest = collections.defaultdict(lambda: (0, None))
    for (comm, state, waker), ns in wakers.items():
        longest[comm, state] = max(longest[comm, state], (ns, waker))
    assert longest['waiter', 'lock'][1] == f'holder:{threads["holder"]["tid"]}', wakers
    assert longest['reader', 'io'][1] == f'feeder:{threads["feeder"]["tid"]}', wakers
    assert longest['sleeper', 'sleep'][1] == '[interrupt]', wakers
    tree = guest.good('bpf-wall-tree').text('bpf-wall-tree')
    assert re.search(r'wait_for_mutex(.*\n)+?.*woken by holder(.*\n)+?.*\bhold\b', tree), tree


def check_bpf_early_waits(guest):
    """waiting_threads: the states and stacks of threads that waited before the recording began, and all its time."""
    assert 'innermost frame' not in with_btf(guest).good('bpf-early').text('bpf-early', 'err'), guest.text('bpf-early', 'err')
    rows = [line.rsplit(' ', 1) for line in guest.good('bpf-early-folded').text('bpf-early-folded').splitlines()]
    stacks = {stack.split(';')[0]: (stack.split(';')[1:], int(ns)) for stack, ns in rows}
    assert set(stacks) == set('idle_threads pool pipe nap poll timed'.split()) and len(rows) == len(stacks), rows
    for name, state in (('pool', 'lock'), ('pipe', 'io'), ('nap', 'sleep'), ('poll', 'poll'), ('timed', 'lock')):
        stack, ns = stacks[name]
        assert stack[-1] == f'[{state}]' and 1000 * MS <= ns < 2000 * MS, (name, stacks[name])
        found = [frame for frame in stack if frame in ('idle_thread', f'{name}_wait', 'el0_svc')]
        assert found == ['idle_thread', f'{name}_wait', 'el0_svc'], stacks[name]
    assert [frame for frame in stacks['idle_threads'][0] if frame in ('_start', 'main', 'nap_wait')] == ['_start', 'main', 'nap_wait'], stacks['idle_threads']
    chains_of_perf = chains(guest.good('bpf-early-perf').text('bpf-early-perf'))
    assert any('pool_wait' in chain and 'idle_thread' in chain for chain in chains_of_perf), chains_of_perf


def check_bpf_off_cpu(guest):
    """The same program for --off-cpu, whose samples Debian's perf reads."""
    with_btf(guest).good('bpf-off-cpu')
    for job in ('bpf-off-cpu-script', 'bpf-off-cpu-perf'):
        slept = [int(ns) for ns in re.findall(r'sleep +(\d+) +offcpu-time:', guest.good(job).text(job))]
        assert slept and 1000 * MS <= max(slept) <= 1020 * MS, guest.text(job)


def check_bpf_filter(guest):
    """sample_filter: only samples of kernel addresses pass, and the others are counted."""
    with_btf(guest).good('bpf-unfiltered').good('bpf-filter')
    addresses = {name: [int(ip, 16) for ip in guest.good(f'bpf-{name}-script').text(f'bpf-{name}-script').split()]
                 for name in ('unfiltered', 'filter')}
    of_kernel = len([ip for ip in addresses['unfiltered'] if ip >= KERNEL_HALF])
    assert 0 < of_kernel < len(addresses['unfiltered']), addresses
    assert addresses['filter'] and min(addresses['filter']) >= KERNEL_HALF, addresses['filter'][:9]
    event = json.loads(guest.good('bpf-filter-stats').text('bpf-filter-stats'))['stats']['events'][0]
    assert event['samples'] == len(addresses['filter']) and event['filtered_samples'] > 0, event
    total = event['samples'] + event['filtered_samples']
    assert abs(total / len(addresses['unfiltered']) - 1) < 0.1, (event, len(addresses['unfiltered']))


def check_bpf_filter_is_pinned(guest):
    """pinned_filter: needs Linux 6.3, and says so."""
    with_btf(guest)
    if guest.text('bpf-filter-pin', 'rc').strip() != '0':
        assert 'record --setup-filter needs Linux 6.3' in guest.text('bpf-filter-pin', 'err')


def check_bpf_counters(guest):
    """shared_counter: the counts of the PMU that one program shares out are those of counters of one's own."""
    cycles, instructions = with_btf(guest).counts('bpf-count')
    assert LOOP < instructions < LOOP + 200_000 and cycles == 4 * instructions, (cycles, instructions)
    own, shared = guest.counts('bpf-beside')
    assert 2 * LOOP < own < 2 * LOOP + 300_000 and abs(shared - own) < 100_000, (own, shared)


def check_bpf_cgroups(guest):
    """cgroup_counter: the counts of the PMU for two cgroups by one counter are those of counters of their own."""
    own, shared, own_root, shared_root = with_btf(guest).counts('bpf-cgroups')
    assert LOOP < own < LOOP + 300_000 and abs(shared - own) < 100_000, (own, shared)
    assert own_root > 4 * LOOP and abs(shared_root - own_root) < 200_000, (own_root, shared_root)


def check_bpf_program(guest):
    """program_counter: what runs of shared_counter's program cost, beside the time that the kernel takes of them itself."""
    if 'Linux 6.0' in with_btf(guest).text('bpf-program-once', 'err'):
        raise Skipped("the guest's kernel runs no BPF programs around others (Linux 6.0 on aarch64)")
    # Runs and nanoseconds up to the beginning and the end of each load. An instruction takes four nanoseconds.
    taken = {}
    for job in ('plain', 'once', 'three', 'twice'):
        numbers = [int(number) for number in re.findall(r'run_\w+:\s*(\d+)', guest.good(f'bpf-program-{job}').text(f'bpf-program-{job}'))]
        taken[job] = {'ns': (numbers[0], numbers[2]), 'runs': (numbers[1], numbers[3])}
    runs, ns = taken['plain']['runs'], taken['plain']['ns']
    assert runs[1] - runs[0] >= 100, taken
    true = (ns[1] - ns[0]) / (runs[1] - runs[0]) / 4
    costs = {}
    for before, job in (('plain', 'once'), ('three', 'twice')):
        counted, = guest.counts(f'bpf-program-{job}')
        least, most = taken[job]['runs'][1] - taken[job]['runs'][0], taken[job]['runs'][1] - taken[before]['runs'][1]
        costs[job] = counted / most, counted / least
        # A part of the reading before and after each run counts.
        assert costs[job][1] > true * 0.9 and costs[job][0] < true + 1000, (job, counted, true, taken)
    assert costs['twice'][0] < costs['once'][1] * 1.2, costs  # the same program, named twice
    instructions, cycles, faults = guest.counts('bpf-program-three')
    assert abs(cycles / (4 * instructions) - 1) < 0.05 and faults == 0, (instructions, cycles, faults)
    assert 'there is no BPF program with this ID' in guest.text('bpf-program-absent', 'err')


def check_bpf_lock_contention(guest):
    """lock_contention: one thread waits once, and so long, for a mutex of the kernel."""
    if 'no tracepoint system' in with_btf(guest).text('bpf-lock', 'err'):
        raise Skipped("the guest's kernel has no tracepoints of lock contention (Linux 5.19)")
    rows = [line.split(';') for line in guest.good('bpf-lock').text('bpf-lock', 'err').splitlines()
            if line[:1].isdigit()]
    waits = {row[-1].split()[-1]: (int(row[0]), int(row[1])) for row in rows}
    assert waits.get('waiter', (0, 0))[0] == 1 and 49 * MS < waits['waiter'][1] < 60 * MS, guest.text('bpf-lock', 'err')
    caller = guest.good('bpf-lock-caller').text('bpf-lock-caller', 'err')
    assert re.search(r'mutex +devkmsg_read', caller), caller


def check_bpf_trace(guest):
    """syscall_trace: what calls read and fill, by this architecture's numbers, flags and structs; and the sums."""
    with_btf(guest).good('bpf-trace').good('bpf-trace-sums')
    text = (guest.folder / 'bpf-trace.txt').read_text(errors='replace')
    for line in (r'execve\(filename: "./calls", argv: \["./calls"\], envp: 0x[0-9a-f]+\) += 0',
                 r'openat\(dfd: CWD, filename: "file", flags: RDWR\|CLOEXEC\|CREAT\|TRUNC, mode: 0640\) += \d+',
                 r'write\(fd: \d+\S*, buf: "hello\\n\\"q\\\\\\1\\377", count: 11\) += 11',
                 r'newfstatat\(dfd: CWD, filename: "file", statbuf: \{ \.st_mode: S_IFREG\|0600, \.st_size: 5, \.\.\. \}\) += 0',
                 r'newfstatat\(.*"/dev/null", statbuf: \{ \.st_mode: S_IFCHR\|\d+, \.st_rdev: makedev\(0x1, 0x3\), \.\.\. \}\) += 0',
                 r'accept4\(.*\.addr: 127\.0\.0\.1 \}, upeer_addrlen: \[16\], flags: CLOEXEC\) += \d+',
                 r'readv\(fd: \d+\S*, vec: \[\{ \.iov_base: "onea", \.iov_len: 4 \}',
                 r'epoll_pwait\(.*events: \[\{ \.events: IN, \.data: 77 \}\]',
                 r'rt_sigaction\(sig: USR1, act: \{ \.sa_handler: 0x[0-9a-f]+, \.sa_mask: \[USR2\], \.sa_flags: RESTART',
                 r'clone\(clone_flags: CHILD_CLEARTID\|CHILD_SETTID\|SIGCHLD.*child_tidptr: 0x[0-9a-f]+\) += \d+',
                 r'wait4\(.*stat_addr: \[WIFEXITED\(s\) && WEXITSTATUS\(s\) == 3\]'):
        assert re.search(line, text), (line, text)
    sums = (guest.folder / 'bpf-trace-sums.txt').read_text(errors='replace')
    for name, count in (('sendmsg', 1), ('unlinkat', 3), ('futex', 1)):
        lines = len(re.findall(rf' {name}\(', text))
        assert lines >= count and re.search(rf'^ +{name} +{lines} ', sums, re.M), (name, lines, sums)
