# SPDX-License-Identifier: Apache-2.0
"""record on real workloads: what is in the file, how it ends, and that perf reads it."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

import pytest

from conftest import NEWEST_PERF, TIMEOUT_S, child_named, wait_for, wait_for_work, without_build_id_request
from perfdata_file import (COMM, CPU_MAP, EXIT, FEATURES, FINISHED_INIT, FINISHED_ROUND, FORK, ID_INDEX, MMAP, MMAP2,
                           SAMPLE, THREAD_MAP, PerfData)

pytestmark = pytest.mark.usefixtures('live')
CLOCK = ('-e', 'cpu-clock:u', '-F', '999')


@pytest.fixture
def data(tmp_path):
    return tmp_path / 'perf.data'


def test_samples_of_a_command(tally, workload, data):
    """Each page is a sample, and loading the program some more."""
    result = tally('record', '-e', 'page-faults:u', '-c', '1', '-o', data, '--', workload('faults').path, 1000, check=0)
    file = PerfData(data)
    assert 1000 <= file.count(SAMPLE) <= 1200
    assert {'faults'} <= file.comms()
    assert file.count(EXIT) == 1
    assert re.search(r'^\[ tally record: Woken up \d+ times to write data \]$', result.stderr, re.M)
    assert re.search(rf'^\[ tally record: Captured and wrote [\d.]+ MB {data} \({file.count(SAMPLE)} samples\) \]$',
                     result.stderr, re.M)


def test_file_describes_itself(tally, workload, data):
    tally('record', *CLOCK, '-o', data, '--', workload('spin').path, 50, check=0)
    file = PerfData(data)
    for kind in (ID_INDEX, THREAD_MAP, CPU_MAP, FINISHED_INIT):
        assert file.count(kind) == 1
    assert file.count(FINISHED_ROUND) >= 1
    for name in ('HOSTNAME', 'OSRELEASE', 'VERSION', 'ARCH', 'NRCPUS', 'TOTAL_MEM', 'CMDLINE', 'EVENT_DESC',
                 'PMU_MAPPINGS', 'SAMPLE_TIME', 'BUILD_ID'):
        assert FEATURES[name] in file.bits, name
    assert os.uname().nodename.encode() in file.feature('HOSTNAME')
    assert b'spin' in file.feature('CMDLINE')


def test_cycles_stand_in_is_said_in_one_line(tally, workload, data, hardware_absent):
    result = tally('record', '-o', data, '--', workload('spin').path, 50, check=0)
    notes = [line for line in result.stderr.splitlines() if 'cpu-clock' in line]
    assert len(notes) == 1 and 'cycles' in notes[0]
    assert b'cpu-clock' in PerfData(data).feature('EVENT_DESC')


def test_children_are_recorded(tally, workload, data):
    tally('record', *CLOCK, '-o', data, '--', workload('forks').path, 5, check=0)
    file = PerfData(data)
    assert file.count(FORK) == 5
    assert file.count(EXIT) == 6
    assert file.count(SAMPLE) >= 5  # 10 ms each


def test_children_of_a_group_are_recorded(tally, workload, data):
    """With the counts of their own; a kernel that cannot is told of."""
    said = tally('record', '-e', '{cpu-clock:u,task-clock:u}:S', '-F', 999, '-o', data, '--', workload('forks').path, 5, check=0).stderr
    shown = tally('report', '--json', '-s', 'pid', '-i', data, check=0).stdout
    rows = json.loads(shown)['tables'][0]['rows']
    if 'this kernel lacks samples of new threads and children' in said:
        assert len(rows) <= 1
        return
    assert len(rows) >= 3  # 10 ms each
    for row in rows:  # nothing of a child's is told apart from what another counted before
        assert all(value['period'] < 5 * 10**9 for value in row['values'])


def test_no_inherit(tally, workload, data):
    tally('record', *CLOCK, '-i', '-o', data, '--', workload('forks').path, 5, check=0)
    assert PerfData(data).count(SAMPLE) <= 10


def test_threads_have_their_names(tally, workload, data):
    tally('record', *CLOCK, '-o', data, '--', workload('threads').path, 50, check=0)
    assert {f'worker-{n}' for n in range(4)} <= PerfData(data).comms()


@pytest.mark.parametrize('code', [0, 1, 7, 255])
def test_exit_status_is_the_commands(tally, workload, data, code):
    tally('record', *CLOCK, '-q', '-o', data, '--', workload('exits').path, code, check=code)
    assert PerfData(data).count(EXIT) == 1


def test_death_by_signal_is_the_commands(tally, workload, data):
    result = tally('record', *CLOCK, '-o', data, '--', workload('exits').path, '-', int(signal.SIGKILL))
    assert result.returncode == -signal.SIGKILL
    assert PerfData(data).count(EXIT) == 1


def test_quiet_says_nothing(tally, workload, data):
    assert tally('record', '-q', '-o', data, '--', workload('spin').path, 20, check=0).stderr == ''


def test_old_file_is_kept(tally, workload, data):
    tally('record', *CLOCK, '-o', data, '--', workload('spin').path, 20, check=0)
    first = data.read_bytes()
    tally('record', *CLOCK, '-o', data, '--', workload('spin').path, 20, check=0)
    assert data.with_name('perf.data.old').read_bytes() == first
    assert data.read_bytes() != first


def test_default_name(tally, workload, tmp_path):
    with open(tmp_path / 'out', 'wb') as out:  # a file: on a pipe the recording itself would go there
        subprocess.run([tally.path, 'record', *CLOCK, '-q', '--', workload('spin').path, '20'], cwd=tmp_path,
                       stdout=out, check=True)
    assert PerfData(tmp_path / 'perf.data').count(SAMPLE) >= 5


def test_a_clock_ticks_as_often_as_asked(tally, workload, data):
    tally('record', *CLOCK, '-o', data, '--', workload('spin').path, 300, check=0)
    assert 30 <= PerfData(data).count(SAMPLE) <= 400  # 300 ms of CPU time; a virtual CPU that waits misses ticks


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(tally, workload, data, number):
    waits = workload('waits').start(30)
    pid = int(waits.stdout.readline().split()[1])
    recorder = tally.start('record', *CLOCK, '-p', str(pid), '-o', str(data))
    wait_for(lambda: data.exists() and data.stat().st_size > 200)
    wait_for_work(pid, 0.5)
    recorder.send_signal(number)
    _, stderr = recorder.communicate(timeout=TIMEOUT_S)
    assert recorder.returncode == -number
    assert 'Captured and wrote' in stderr
    assert PerfData(data).count(SAMPLE) >= 100
    assert waits.poll() is None  # the target goes on
    waits.kill()
    waits.communicate()


def test_end_of_the_target_ends_it(tally, workload, data):
    waits = workload('waits').start(30)
    pid = int(waits.stdout.readline().split()[1])
    recorder = tally.start('record', *CLOCK, '-p', str(pid), '-o', str(data))
    wait_for(lambda: data.exists() and data.stat().st_size > 200)
    wait_for_work(pid, 0.3)
    waits.kill()
    waits.communicate()
    recorder.communicate(timeout=TIMEOUT_S)
    assert recorder.returncode == 0
    file = PerfData(data)
    assert file.count(SAMPLE) >= 50
    assert 'waits' in file.comms()
    assert any(b'waits' in body for kind, _, body in file.records if kind == MMAP2)


def test_interrupted_command_is_ended_too(tally, workload, data):
    recorder = tally.start('record', *CLOCK, '-o', str(data), '--', str(workload('waits').path), '30')
    wait_for_work(wait_for(lambda: child_named(recorder.pid, 'waits')), 0.3)
    recorder.send_signal(signal.SIGINT)
    recorder.wait(timeout=TIMEOUT_S)  # before its input, which ends the command too, is closed
    recorder.communicate(timeout=TIMEOUT_S)
    assert recorder.returncode == -signal.SIGTERM  # as the command, which is told to end
    assert PerfData(data).count(SAMPLE) >= 50


def test_a_killed_recording_opens(tally, workload, data):
    waits = workload('waits').start(30)
    pid = int(waits.stdout.readline().split()[1])
    recorder = tally.start('record', '-e', 'cpu-clock:u', '-F', '20000', '-m', '8', '-p', str(pid), '-o', str(data))
    wait_for(lambda: data.exists() and data.stat().st_size > 100_000)
    recorder.kill()
    recorder.communicate()
    waits.kill()
    waits.communicate()
    header = PerfData(data)  # its size may lag behind, the records up to it are whole
    assert header.count(SAMPLE) == 0 or header.data_size > 0
    result = tally('evlist', '-i', data, check=0)
    assert 'cpu-clock:u' in result.stdout


def test_system_wide(tally, workload, data, system_wide):
    tally('record', '-a', '-e', 'cpu-clock', '-F', '99', '-o', data, '--', workload('spin').path, 200, check=0)
    file = PerfData(data)
    processes = sum(name.isdigit() for name in os.listdir('/proc'))
    assert file.count(COMM) >= processes * 0.8
    assert file.count(MMAP) + file.count(MMAP2) >= 1  # the kernel
    assert b'dummy' in file.feature('EVENT_DESC')
    assert {'spin', os.path.basename(os.readlink('/proc/self/exe'))} & file.comms()


def test_one_cpu(tally, data, system_wide):
    tally('record', '-C', '0', '-e', 'cpu-clock', '-F', '99', '-o', data, '--', 'sleep', '0.3', check=0)
    assert PerfData(data).count(SAMPLE) >= 5


def test_delay_starts_later(tally, workload, data):
    begin = time.monotonic_ns()
    result = tally('record', *CLOCK, '-k', 'monotonic', '-D', '200', '-o', data, '--', workload('spin').path, 400, check=0)
    assert 'Events disabled\n' in result.stderr and 'Events enabled\n' in result.stderr
    # IP, TID, TIME
    times = [struct.unpack_from('=Q', body, 16)[0] for kind, _, body in PerfData(data).records if kind == SAMPLE]
    assert times and min(times) >= begin + 200_000_000


def test_pipe(tally, workload, data, perf):
    result = tally('record', *CLOCK, '-o', '-', '--', 'sh', '-c', f'echo to-stderr; {workload("spin").path} 100',
                   check=0, text=False)
    assert result.stdout.startswith(b'PERFILE2\x10\0\0\0\0\0\0\0')
    assert b'to-stderr' in result.stderr
    data.write_bytes(result.stdout)
    shown = perf('script', '-i', data, check=0)
    assert 5 <= shown.stdout.count('cpu-clock:u:') <= 150


def test_build_ids_of_what_was_hit(tally, workload, data):
    tally('record', *CLOCK, '-o', data, '--', workload('spin').path, 100, check=0)
    hit = PerfData(data).build_ids()
    tally('record', *CLOCK, '--buildid-all', '-o', data, '--', workload('spin').path, 100, check=0)
    everything = PerfData(data).build_ids()
    name = str(workload('spin').path.resolve())
    assert hit[name] == everything[name]
    assert set(hit) < set(everything)
    tally('record', *CLOCK, '-B', '-o', data, '--', workload('spin').path, 100, check=0)
    assert PerfData(data).build_ids() == {}


def test_max_size(tally, workload, data):
    tally('record', '-e', 'cpu-clock:u', '-F', '20000', '-m', '4', '--max-size', '64K', '-o', data, '--',
          workload('spin').path, 5000)
    assert 64 << 10 <= PerfData(data).data_size <= 160 << 10


@pytest.mark.alone  # all of that user have so much together
def test_small_locked_memory_halves_the_rings(tally, workload, open_folder):
    program, spin = open_folder / 'tally', open_folder / 'spin'
    shutil.copy(tally.path, program)
    shutil.copy(workload('spin').path, spin)
    script = (f'ulimit -l 64; exec setpriv --reuid=65534 --regid=65534 --clear-groups {program} record -e cpu-clock:u '
              f'-F 999 -m 16M -o {open_folder}/perf.data -- {spin} 100')
    result = subprocess.run(['sh', '-c', script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert re.search(r'rings of \d+ KiB instead of 16384 KiB', result.stderr)
    assert PerfData(open_folder / 'perf.data').count(SAMPLE) >= 5


COMMAND_LINES = [
    '-e cpu-clock', '-e cpu-clock -F 999 -g', '-e cpu-clock:u -F 999 -g', '-e page-faults -c 1 -d',
    '-e cpu-clock:u,page-faults,context-switches -F 999', '-e {cpu-clock:u,task-clock:u} -F 999',
    '-e {cpu-clock,page-faults}:S -F 999', '-e cpu-clock:u -F 499 -T -P --sample-cpu --sample-identifier',
    '-e cpu-clock:u -F 99 --call-graph dwarf,4096', '-a -e cpu-clock -F 499 -g', '-a -e cpu-clock:u', '-s -e cpu-clock',
    '--per-thread -e cpu-clock:u', '-i -e cpu-clock', '-n -e cpu-clock:u', '-W -e cpu-clock',
    '--switch-events -e cpu-clock', '--namespaces -e cpu-clock', '--all-cgroups -e cpu-clock', '-R -e cpu-clock',
    '-k CLOCK_MONOTONIC -e cpu-clock', '--user-regs=ip,sp -e cpu-clock', '-I -e cpu-clock', '-D 10 -e cpu-clock',
    '-c 100000 -e cpu-clock', '-C 0 -e cpu-clock', '--all-user -e cpu-clock', '--all-kernel -e cpu-clock',
    '--no-bpf-event -e cpu-clock', '--buildid-mmap -e cpu-clock', '--group -e cpu-clock,page-faults',
    '--phys-data -d --data-page-size --code-page-size -e cpu-clock', '--kernel-callchains -g -e cpu-clock',
    '--user-callchains -g -e cpu-clock', '-e cpu-clock/freq=100/ -e page-faults/period=3/', '--running-time -e cpu-clock',
    '--no-buffering -e cpu-clock', '-e sched:sched_switch,cpu-clock', '',
]


@pytest.mark.parametrize('options', COMMAND_LINES)
def test_attrs_are_those_of_perf(tally, perf, tmp_path, options, system_wide, hardware_absent):
    if '6.1' not in perf('--version').stdout:
        pytest.skip('only perf 6.1 asks for just these attrs')
    if os.geteuid() != 0:
        pytest.skip('needs root')
    shown = []
    for number, program in enumerate((perf, tally)):
        data = tmp_path / f'{number}.data'
        kept = ['--keep-stacks'] if program is tally and '--call-graph' in options else []
        program('record', *options.split(), *kept, '-o', data, '--', 'true', check=0)
        shown.append(without_build_id_request(perf('evlist', '-v', '-i', data, check=0).stdout))
    # On Intel's CPUs perf 6.1 leaves guests out of its default event, newer ones and tally do not.
    if not options:
        shown[0] = shown[0].replace('pppH:', 'ppp:').replace(' exclude_guest: 1,', '')
    if ':S' in options:  # which 7.x and tally inherit, where the kernel can
        shown[1] = shown[1].replace(' inherit: 1,', '')
    assert shown[1] == shown[0]


# What perf says of the machine: its own addr2line, /proc/schedstat, and mount namespaces that it finds in a chroot.
UNCONCERNED = ('addr2line', 'schedstat', 'util/namespaces.c')


def perfs():
    found = [path for path in (shutil.which('perf'), NEWEST_PERF) if path]
    return list(dict.fromkeys(found)) or [None]


@pytest.mark.parametrize('path', perfs())
@pytest.mark.parametrize('options', ['-e cpu-clock', '-e cpu-clock -g', '-a -g', '-e cpu-clock,page-faults',
                                     '-e cpu-clock:u --call-graph dwarf'])
def test_perf_reads_it_without_a_warning(tally, workload, data, tmp_path, path, options, system_wide):
    if not path:
        pytest.skip('perf is not installed')
    tally('record', *options.split(), '-o', data, '--', workload('forks').path, 3, check=0)
    samples = PerfData(data).count(SAMPLE)
    environment = {**os.environ, 'HOME': str(tmp_path), 'LC_ALL': 'C', 'PAGER': 'cat'}
    for arguments in (('script', '-i', data, '-F', 'ip'), ('report', '--stdio', '-i', data), ('report', '--header-only',
                      '-i', data), ('evlist', '-v', '-i', data), ('buildid-list', '-i', data)):
        result = subprocess.run([path, *map(str, arguments)], env=environment, capture_output=True, text=True,
                                timeout=TIMEOUT_S, check=False)
        complaints = [line for line in result.stderr.splitlines()
                      if line.strip() and not any(word in line for word in UNCONCERNED)]
        assert result.returncode == 0 and not complaints, (arguments, complaints)
    counted = subprocess.run([path, 'report', '--stats', '-i', str(data)], env=environment, capture_output=True, text=True,
                             timeout=TIMEOUT_S, check=False).stdout
    assert re.search(rf'SAMPLE events: +{samples}\b', counted)
