# SPDX-License-Identifier: Apache-2.0
"""tally kvm: the tables of exits, devices and ports against perf's, from recordings that are built here."""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import termios

import json_schema
import pytest
from conftest import BUILD, TIMEOUT_S, has_open_events, wait_for, waits_with_counters
from perfdata_build import Recording
from tracing_build import Tracepoint, tracing_data

REASONS = {10: 'CPUID', 12: 'HLT', 30: 'IO_INSTRUCTION', 48: 'EPT_VIOLATION'}
SHOWN = ', '.join(f'{{ {number}, "{name}" }}' for number, name in REASONS.items())
ENTRY = Tracepoint('kvm', 'kvm_entry', 115, [('unsigned int', 'vcpu_id', 4)], '"vcpu %u", REC->vcpu_id')
EXIT = Tracepoint('kvm', 'kvm_exit', 103, [
    ('unsigned int', 'exit_reason', 4), ('unsigned long', 'guest_rip', 8), ('int', 'isa', 4), ('unsigned int', 'vcpu_id', 4)],
    f'"vcpu %u reason %s rip 0x%lx", REC->vcpu_id, __print_symbolic(REC->exit_reason, {SHOWN}), REC->guest_rip')
MMIO = Tracepoint('kvm', 'kvm_mmio', 38, [('unsigned int', 'type', 4), ('unsigned int', 'len', 4), ('unsigned long', 'gpa', 8),
                                         ('unsigned long', 'val', 8)])
PIO = Tracepoint('kvm', 'kvm_pio', 110, [('unsigned int', name, 4) for name in ('rw', 'port', 'size', 'count', 'val')])
MSR = Tracepoint('kvm', 'kvm_msr', 111, [('unsigned int', 'write', 4)])
ALL = [ENTRY, EXIT, MMIO, PIO, MSR]


class Guest(Recording):
    """A recording of kvm stat record; times are microseconds."""

    def __init__(self, tracepoints=ALL):
        super().__init__()
        self.tracepoints = tracepoints
        for tracepoint in tracepoints:
            self.event('IDENTIFIER TID TIME CPU PERIOD RAW', kind=2, config=tracepoint.number, period=1)
        self.feature(1, tracing_data(tracepoints))
        self.name_events(*(f'kvm:{tracepoint.name}' for tracepoint in tracepoints))
        self.text_feature(6, 'x86_64')
        self.text_feature(9, 'GenuineIntel,6,85,4')
        self.comm('qemu')

    def at(self, time, tracepoint, task=(1000, 1001), **values):
        self.sample(self.tracepoints.index(tracepoint), misc=1, time=10**9 + int(time * 1000), tid=task, period=1,
                    raw=tracepoint.payload(**values))

    def exit(self, start, stop, reason, vcpu=0, task=(1000, 1001)):
        self.at(start, EXIT, task, exit_reason=reason, isa=1, vcpu_id=vcpu)
        self.at(stop, ENTRY, task, vcpu_id=vcpu)


@pytest.fixture
def guest(tmp_path):
    """Two processes; the second one's first exit does not count, as its VCPU is not known yet."""
    made = Guest()
    made.at(0, ENTRY, vcpu_id=0)
    made.at(0.5, ENTRY, (1000, 1002), vcpu_id=1)
    for start, stop, reason in ((10, 12, 30), (20, 25, 30), (30, 1030, 12), (1100, 1100.5, 10)):
        made.exit(start, stop, reason)
    made.exit(1200, 1203, 48, 1, (1000, 1002))
    for start, tracepoint, values, stop in ((1400, PIO, {'rw': 1, 'port': 0x70}, 1404), (1500, PIO, {'rw': 0, 'port': 0x71}, 1506),
                                            (1600, MMIO, {'type': 2, 'gpa': 0xfee00380}, 1607),
                                            (1700, MMIO, {'type': 1, 'gpa': 0xfee00390}, 1709),
                                            (1800, MMIO, {'type': 0, 'gpa': 0xfee00394}, 1807.5)):
        made.at(start, EXIT, exit_reason=30 if tracepoint is PIO else 48, isa=1, vcpu_id=0)
        made.at(start + 1, tracepoint, **values)
        made.at(stop, ENTRY, vcpu_id=0)
    made.exit(2000, 2002, 10, 0, (3000, 3001))
    made.exit(2100, 2102.5, 10, 0, (3000, 3001))
    made.at(2200, EXIT, exit_reason=12, isa=1, vcpu_id=0)
    made.write(tmp_path / 'guest.data')
    return tmp_path / 'guest.data'


def table(text):
    """From the blank lines on; perf warns above."""
    return text[text.index('\n\nAnalyze events'):]


@pytest.mark.parametrize('options', ['', '--event vmexit', '--event mmio', '--event ioport', '-k time', '-p 3000', '-p 3000,1000'])
def test_tables_are_perfs(tally, newest_perf, guest, options):
    words = ['kvm', '-i', guest, 'stat', 'report', *options.split()]
    theirs = newest_perf(*words)
    # Rows of equal counts have no order that means something.
    ours = table(tally(*words, check=0).stdout)
    assert sorted(ours.splitlines()) == sorted(table(theirs.stdout + theirs.stderr).splitlines())
    assert ours.splitlines()[:6] == table(theirs.stdout + theirs.stderr).splitlines()[:6]


def test_one_vcpu(tally, guest):
    shown = tally('kvm', 'stat', 'report', '-i', guest, '--vcpu', 1, check=0).stdout
    assert 'Analyze events for all VMs, VCPU 1:\n' in shown
    assert re.search(r'^ +EPT_VIOLATION +1   100.00%   100.00% +3.00us +3.00us +3.00us \( \+-   0.00% \)$', shown, re.MULTILINE)
    nothing = tally('kvm', '-i', guest, 'stat', 'report', '--vcpu', 7, check=0)
    assert 'Total Samples:0' in nothing.stdout and 'exits is of this kind, process and VCPU' in nothing.stderr


def test_json(tally, guest):
    found = json.loads(tally('kvm', '-i', guest, 'stat', 'report', '--json', check=0).stdout)
    json_schema.check(found, json.loads((pathlib.Path(__file__).parents[2] / 'docs/schema/kvm.json').read_text()))
    assert found['unfinished'] == 1 and found['samples'] == sum(row['samples'] for row in found['rows']) == 11
    halted = next(row for row in found['rows'] if row['name'] == 'HLT')
    assert halted == {'name': 'HLT', 'samples': 1, 'time_ns': 10**6, 'min_ns': 10**6, 'max_ns': 10**6, 'mean_ns': 10**6,
                      'error_percent': 0}


def test_unknown_reasons_and_hostile_values(tally, tmp_path):
    made = Guest()
    made.at(0, ENTRY, vcpu_id=-1)
    made.exit(1, 2, 99, -1)
    made.exit(10, 5, 12, -1)  # sorted by time: an entry without an exit, then an exit that stays open
    made.sample(1, misc=1, time=2 * 10**9, raw=b'')
    made.sample(0, misc=1, time=2 * 10**9 + 1, raw=b'\1\2')
    made.write(tmp_path / 'x.data')
    assert re.search(r'^ +UNKNOWN \(99\) +1 ', tally('kvm', '-i', tmp_path / 'x.data', 'stat', 'report').stdout, re.MULTILINE)


def test_without_exits_it_says_so(tally, tmp_path):
    made = Guest([MMIO, PIO])
    made.at(0, PIO, rw=1, port=1)
    made.write(tmp_path / 'x.data')
    result = tally('kvm', '-i', tmp_path / 'x.data', 'stat', 'report', check=0)
    assert 'the recording has no kvm:kvm_exit and kvm:kvm_entry' in result.stderr and 'Total Samples:0' in result.stdout


@pytest.mark.parametrize(('words', 'status', 'said'), [
    ('', 129, 'kvm needs a command'),
    ('walk', 129, 'Unknown command: walk'),
    ('stat report --event x', 234, 'Unknown report event: x'),
    ('stat report -k x', 234, 'Unsupported sort key: x'),
    ('stat report word', 129, "unexpected argument 'word'"),
    ('stat report', 255, 'perf.data.guest'),
    ('--host stat report', 255, 'perf.data.kvm'),
    ('--host --no-guest report --stdio', 255, 'perf.data.host'),
    ('report --stdio', 255, 'perf.data.guest'),
    ('buildid-list', 255, 'perf.data.guest'),
    ('stat live --event x', 234, 'Unknown report event: x'),
    ('stat live -k x', 234, 'Unsupported sort key: x'),
    ('stat live word', 129, "unexpected argument 'word'"),
    ('stat live -d 0', 129, 'one second at least'),
    ('stat live -d 86401', 129, 'a day at most'),
    ('stat live --proc-map-timeout x', 129, 'expects a number'),
    ('stat live -m x', 129, 'mmap'),
    ('--guestmount /x report', 129, "guests' symbols are not supported"),
])
def test_refusals(tally, tmp_path, words, status, said):
    result = tally('kvm', *words.split(), cwd=tmp_path)
    assert result.returncode == status and said in result.stderr


def test_other_commands_are_the_verbs(tally, tmp_path, perf_recording):
    recording = perf_recording('u')
    for words in (['report', '--stdio'], ['buildid-list']):
        assert tally('kvm', '-i', recording, *words, check=0).stdout == tally(*words, '-i', recording, check=0).stdout
    result = tally('kvm', '--host', 'record', '-q', '-e', 'cpu-clock', '--', 'true', cwd=tmp_path)
    if result.returncode:
        pytest.skip(result.stderr)
    assert (tmp_path / 'perf.data.kvm').exists()
    assert 'task-clock' in tally('kvm', 'stat', '-e', 'task-clock', '--', 'true', cwd=tmp_path, check=0).stderr
    assert 'task-clock: ' in tally('kvm', '-v', 'stat', '-e', 'task-clock', '--', 'true', cwd=tmp_path, check=0).stderr


def test_a_guest_of_this_machine(tally, tmp_path):
    guest = BUILD / 'tests/workloads/kvm_guest'
    if not guest.exists() or not os.access('/dev/kvm', os.R_OK | os.W_OK):
        pytest.skip('this machine has no /dev/kvm, or kvm_guest is not built')
    result = tally('kvm', 'stat', 'record', '-o', 'k.data', '--', guest, 50, cwd=tmp_path)
    if result.returncode:
        pytest.skip(f'no virtual machine can be recorded here: {result.stderr}')
    recorded = tally('script', '-i', tmp_path / 'k.data', check=0).stdout
    assert recorded.count('kvm:kvm_pio') == 50 and recorded.count('kvm:kvm_mmio') == 50
    shown = tally('kvm', '-i', tmp_path / 'k.data', 'stat', 'report', '--event', 'ioport', check=0)
    # Some hypervisors have no exits that Linux sees.
    if 'kvm:kvm_exit' in recorded:
        assert re.search(r'0x10:POUT +50 ', shown.stdout)
    else:
        assert 'the recording has no kvm:kvm_exit' in shown.stderr


EVENTS = pathlib.Path('/sys/kernel/tracing/events')


@pytest.fixture
def live_kvm():
    if os.geteuid() != 0 or not (EVENTS / 'kvm/kvm_exit').exists():
        pytest.skip('no root, or this kernel has no kvm:kvm_exit')


def test_record_without_ports(live_kvm, tally, tmp_path):
    """Only x86 has kvm_pio."""
    hide = f'mount -t tmpfs none {EVENTS}/kvm/kvm_pio 2>/dev/null || exit 77; exec "$@"'
    result = subprocess.run(['unshare', '-m', 'sh', '-c', hide, 'sh', tally.path, 'kvm', 'stat', 'record', '-o', 'k.data', 'true'],
                            cwd=tmp_path, capture_output=True, text=True, check=False)
    if result.returncode == 77:
        pytest.skip('nothing can be mounted here')
    assert result.returncode == 0, result.stderr
    events = tally('evlist', '-i', tmp_path / 'k.data', check=0).stdout
    assert 'kvm:kvm_mmio' in events and 'kvm_pio' not in events


def test_live_says_what_has_no_effect(live_kvm, tally):
    process = tally.start('kvm', 'stat', 'live', '--proc-map-timeout', '100')
    assert 'note: --proc-map-timeout limits nothing here' in process.stderr.readline()
    wait_for(lambda: waits_with_counters(process.pid))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize(('words', 'title', 'column'), [
    ([], 'all VMs, all VCPUs', 'VM-EXIT'), (['-a', '--event', 'mmio', '--vcpu', '1', '-v'], 'all VMs, VCPU 1', 'MMIO Access'),
    (['--event', 'ioport', '-k', 'time', '-m', '16', '--duration', '5'], 'all VMs, all VCPUs', 'IO Port Access')])
def test_live_shows_tables_until_a_signal(live_kvm, tally, tmp_path, words, title, column):
    with open(tmp_path / 'out', 'w') as out, open(tmp_path / 'err', 'w') as err:
        process = subprocess.Popen([tally.path, 'kvm', 'stat', 'live', '-d', '1', *words], stdout=out, stderr=err)
        wait_for(lambda: (tmp_path / 'out').read_text().count('Total Samples:') >= 2)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    shown = (tmp_path / 'out').read_text()
    assert re.match(rf'\d\d:\d\d:\d\d\.\d{{6}}\n\nAnalyze events for {title}:\n\n +{column}    Samples  Samples%', shown)
    said = (tmp_path / 'err').read_text()
    if 'Total Samples:0' in shown.splitlines():  # other programs may run guests
        assert said.count('no kvm:kvm_exit and kvm:kvm_entry so far: no guest runs here') == 1
    assert ('counters of' in said) == ('-v' in words)


def test_live_ends_with_the_process(live_kvm, tally):
    with subprocess.Popen(['sleep', '1000']) as process:
        running = tally.start('kvm', 'stat', 'live', '-a', '-p', process.pid)
        try:
            wait_for(lambda: has_open_events(running.pid) or running.poll() is not None)
        finally:
            process.kill()
    out, err = running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == 0, err
    assert f'Analyze events for pid(s) {process.pid}, all VCPUs:' in out and 'PID/TID switch overriding SYSTEM' in err
    assert 'no guest runs here in these processes' in err
    assert 'no process 99999999' in tally('kvm', 'stat', 'live', '-p', '99999999', check=255).stderr


def test_live_ends_with_a_key_and_restores_the_terminal(live_kvm, tally):
    fresh = os.openpty()
    before = termios.tcgetattr(fresh[0])
    for fd in fresh:
        os.close(fd)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(tally.path, [tally.path, 'kvm', 'stat', 'live'])
    shown = b''
    while b'Total Samples:' not in shown:
        shown += os.read(terminal, 4096)
    assert not termios.tcgetattr(terminal)[3] & (termios.ICANON | termios.ECHO) and b'\x1b[2J' in shown
    os.write(terminal, b'xq')
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # its other end is closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert termios.tcgetattr(terminal) == before
    os.close(terminal)


def test_live_without_the_tracepoints(live_kvm, tally, tmp_path):
    hidden = subprocess.run(['unshare', '-m', 'sh', '-c', f'mount -t tmpfs none {EVENTS}/kvm || exit 99; exec "$@"', 'sh', tally.path,
                             'kvm', 'stat', 'live'], text=True, capture_output=True, check=False, cwd=tmp_path, timeout=300)
    if hidden.returncode == 99 or 'unshare' in hidden.stderr:
        pytest.skip(f'no mount namespace here: {hidden.stderr}')
    assert hidden.returncode == 255 and "modprobe kvm_intel" in hidden.stderr and 'kvm_entry' in hidden.stderr


def test_live_of_a_guest_of_this_machine(live_kvm, tally, tmp_path):
    guest = BUILD / 'tests/workloads/kvm_guest'
    if not guest.exists() or not os.access('/dev/kvm', os.R_OK | os.W_OK):
        pytest.skip('this machine has no /dev/kvm, or kvm_guest is not built')
    with open(tmp_path / 'out', 'w') as out, open(tmp_path / 'err', 'w') as err:
        process = subprocess.Popen([tally.path, 'kvm', 'stat', 'live', '--event', 'ioport'], stdout=out, stderr=err)
        wait_for(lambda: 'Total Samples:' in (tmp_path / 'out').read_text())
        subprocess.run([guest, '50'], check=False, capture_output=True)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    if 'no kvm:kvm_exit' in (tmp_path / 'err').read_text():
        pytest.skip('this hypervisor has no exits that Linux sees')
    counts = [int(count) for count in re.findall(r' 0x10:POUT +(\d+) ', (tmp_path / 'out').read_text())]
    assert sum(counts) == 50
