# SPDX-License-Identifier: Apache-2.0
"""record's ways to write: compressed, switched, limited, overwritten, commanded while it runs. perf reads each."""
import collections
import os
import re
import select
import signal
import subprocess
import time

import pytest

from conftest import TIMEOUT_S, wait_for, wait_for_command
from perfdata_file import COMM, FEATURES, FINISHED_ROUND, MMAP2, SAMPLE, PerfData, told_size

pytestmark = pytest.mark.usefixtures('live')
CLOCK = ('-e', 'cpu-clock:u', '-F', '999')
COMPRESSED = 81


@pytest.fixture
def data(tmp_path):
    return tmp_path / 'perf.data'


def samples(program, path):
    result = program('script', '-i', path, '-F', 'tid,time', '--ns', check=0)
    return [float(line.split()[1].rstrip(':')) for line in result.stdout.splitlines()]


def stamped(directory, name='perf.data'):
    """The files with a time in their names, oldest first."""
    files = sorted(directory.glob(f'{name}.*'))
    assert all(re.fullmatch(name.replace('.', r'\.') + r'\.\d{16}', f.name) for f in files), files
    return files


@pytest.mark.parametrize('level', ['-z', '-z=3', '-z9', '--compression-level=22', '--compression-level'])
def test_compressed(tally, perf, workload, data, level):
    result = tally('record', '-g', *CLOCK, level, '-o', data, '--', workload('spin').path, 200, check=0)
    file = PerfData(data)
    assert file.count(COMPRESSED) >= 1 and file.count(SAMPLE) == 0
    theirs = samples(perf, data)
    assert theirs == samples(tally, data)
    assert 50 <= len(theirs) <= 300
    found = re.search(r'\((\d+) samples\), compressed \(original ([\d.]+) MB, ratio is ([\d.]+)\) \]', result.stderr)
    assert int(found[1]) == len(theirs) and float(found[3]) > 1.5
    header = perf('report', '--header-only', '-i', data, check=0).stdout
    wanted = {'-z': 1, '--compression-level': 1, '-z=3': 3, '-z9': 9}.get(level, 22)
    assert f'# compressed : Zstd, level = {wanted}, ratio = {round(float(found[3]))}' in header


def test_compressed_stream(tally, perf, workload, data):
    stream = tally('record', *CLOCK, '-z', '-o', '-', '--', workload('spin').path, 100, check=0, text=False)
    data.write_bytes(stream.stdout)
    plain = tally('script', '-i', data, '-F', 'tid,time', check=0).stdout
    assert len(plain.splitlines()) >= 50
    assert perf('script', '-i', '-', '-F', 'tid,time', stdin=stream.stdout, text=False, check=0).stdout == plain.encode()


def test_compressed_without_times(tally, workload, data, tmp_path):
    """Who ran and what was mapped goes by the order of the records, which is that of what was unpacked."""
    tally('record', '-z', '--per-thread', '-e', 'cpu-clock:u', '-F', '2000', '-o', data, '--', workload('spin').path, 200, check=0)
    unpacked = tmp_path / 'unpacked.data'
    tally('inject', '-i', data, '-o', unpacked, check=0)
    assert PerfData(data).count(COMPRESSED) >= 1 and PerfData(unpacked).count(COMPRESSED) == 0
    shown, dumped = ([tally(*words, '-i', path, check=0).stdout.splitlines() for path in (data, unpacked)]
                     for words in (['script'], ['report', '-D']))
    assert shown[0] == shown[1] and {line.split()[0] for line in shown[0]} == {'spin'}
    places = [[line for line in lines if line.startswith((' ... thread: ', ' ...... dso: '))] for lines in dumped]
    assert places[0] == places[1] and len(places[0]) >= 50


def test_size_limit_ends_it(tally, perf, workload, data):
    result = tally('record', *CLOCK, '-F', '9999', '--max-size', '20K', '-o', data, '--', workload('spin').path, 60000)
    assert result.returncode == -signal.SIGTERM  # the command's
    assert re.search(r'size limit reached \(\d+ KB\), stopping session', result.stderr)
    assert 20 << 10 <= data.stat().st_size < 400 << 10
    assert samples(perf, data) == samples(tally, data)


def test_files_by_size(tally, perf, workload, data):
    result = tally('record', *CLOCK, '-F', '9999', '--switch-output=30K', '-o', data, '--', workload('spin').path,
                   1200, check=0)
    files = stamped(data.parent)
    assert not data.exists() and len(files) >= 3
    assert result.stderr.count('[ tally record: Dump ') == len(files)
    assert f'{data}.<timestamp> ]' in result.stderr
    times = []
    for file in files:
        assert samples(perf, file) == samples(tally, file)
        times += samples(tally, file)
    for file in files[:-1]:  # the command may have ended when the last began
        assert b'spin' in b''.join(r[2] for r in PerfData(file).records if r[0] == COMM)
        assert PerfData(file).count(MMAP2) >= 3  # each tells what runs by itself
        assert '[unknown] ([unknown])' not in perf('script', '-i', file).stdout
    assert len(set(times)) == len(times) > 1000  # none twice


def test_only_so_many_files_stay(tally, workload, data):
    result = tally('record', *CLOCK, '-F', '9999', '--switch-output=10K', '--switch-max-files=2', '-o', data, '--',
                   workload('spin').path, 1500, check=0)
    names = re.findall(r'Dump (\S+) \]', result.stderr)
    assert len(names) >= 4
    assert [str(file) for file in stamped(data.parent)] == sorted(names)[-2:]


def test_files_by_time_and_signal(tally, workload, data):
    process = tally.start('record', *CLOCK, '--switch-output=1s', '-o', data, '--', workload('spin').path, 1200)
    process.communicate()
    assert process.returncode == 0 and len(stamped(data.parent)) >= 2
    for file in stamped(data.parent):
        file.unlink()
    process = tally.start('record', *CLOCK, '--switch-output', '-q', '-o', data, '--', workload('spin').path, 60000)
    for number in (1, 2):
        wait_for_command(process, 'spin', 0.1)
        process.send_signal(signal.SIGUSR2)
        wait_for(lambda: len(stamped(data.parent)) == number)
    wait_for_command(process, 'spin', 0.1)
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1] == ''
    files = stamped(data.parent)
    assert process.returncode == -signal.SIGTERM and len(files) == 3  # the status is the command's
    assert all(samples(tally, file) for file in files)


@pytest.mark.parametrize('event', ['sched:sched_process_exec', 'context-switches'])
def test_files_by_event(tally, perf, data, system_wide, event):
    if ':' in event and not os.path.isdir('/sys/kernel/tracing/events/' + event.replace(':', '/')):
        pytest.skip('tracefs is not mounted here')
    result = tally('record', *CLOCK, '--switch-output-event', event, '-o', data, '--', 'sh', '-c',
                   'until set -- "$0".2*; [ -e "$2" ]; do sleep 0.05; done', data, check=0)
    files = stamped(data.parent)
    assert len(files) >= 3 and result.stderr.count('Dump ') == len(files)
    assert all(samples(perf, file) == samples(tally, file) for file in files)
    bad = tally('record', '--switch-output-event', 'nonsense', '-o', data, '--', 'true')
    assert bad.returncode == 129 and 'nonsense' in bad.stderr


def test_the_signal_means_nothing_without_the_option(tally, workload, data):
    process = tally.start('record', *CLOCK, '-o', data, '--', workload('spin').path, 300)
    wait_for_command(process, 'spin', 0.1)
    process.send_signal(signal.SIGUSR2)
    process.communicate()
    assert process.returncode == 0 and PerfData(data).count(SAMPLE) > 50


def test_time_in_the_name(tally, workload, data):
    tally('record', *CLOCK, '--timestamp-filename', '-o', data, '--', workload('spin').path, 50, check=0)
    file, = stamped(data.parent)
    assert FEATURES['BUILD_ID'] in PerfData(file).bits


@pytest.mark.parametrize('option', ['--tail-synthesize', '--overwrite'])
def test_what_runs_is_told_at_the_end(tally, perf, workload, data, option):
    tally('record', *CLOCK, option, '-o', data, '--', workload('spin').path, 200, check=0)
    kinds = [record[0] for record in PerfData(data).records]
    assert kinds.index(SAMPLE) < kinds.index(69) < kinds.index(82)  # ID_INDEX ... FINISHED_INIT
    script = tally('script', '-i', data, check=0)
    assert script.stderr == '' and 'spin' in script.stdout
    assert len(samples(perf, data)) == len(samples(tally, data)) > 100


def test_rings_keep_what_is_newest(tally, perf, workload, data):
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})  # what runs there inherits it: another ring would keep what is older
    try:
        begin = time.clock_gettime(time.CLOCK_MONOTONIC)
        tally('record', '-e', 'cpu-clock:u', '-F', '9999', '-k', 'CLOCK_MONOTONIC', '-m', '1', '--overwrite', '-o', data,
              '--', workload('spin').path, 500, check=0)
    finally:
        os.sched_setaffinity(0, cpus)
    times = samples(tally, data)
    assert times == sorted(samples(perf, data))
    assert 20 < len(times) < 250  # a page
    assert times[0] > begin + 0.4 and times[-1] > begin + 0.45


def test_snapshots_on_a_signal(tally, perf, workload, data):
    process = tally.start('record', *CLOCK, '--overwrite', '--switch-output', '-o', data, '--', workload('spin').path,
                          60000)
    wait_for_command(process, 'spin', 0.2)
    process.send_signal(signal.SIGUSR2)
    wait_for(lambda: stamped(data.parent))
    wait_for_command(process, 'spin', 0.2)
    process.send_signal(signal.SIGINT)
    process.communicate()
    first, last = stamped(data.parent)
    assert process.returncode == -signal.SIGTERM  # the command's
    assert len(samples(perf, first)) > 20 and len(samples(perf, last)) > 20
    assert not set(samples(tally, first)) & set(samples(tally, last))


def test_ranges_of_time(tally, data, system_wide):
    """Of one CPU, whoever runs there: as many samples as there was time."""
    process = tally.start('record', '-e', 'cpu-clock', '-F', '999', '-C', '0', '-D', '200-300,800-900', '-o', data, '--',
                          'sleep', '600')
    said = []
    while len(said) < 5 and (line := process.stderr.readline()):
        said += re.findall(r'Events (\w+)', line)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert said == ['disabled', *['enabled', 'disabled'] * 2]
    times = samples(tally, data)
    # 200 ms, with 500 between.
    assert max(b - a for a, b in zip(times, times[1:])) > 0.25 and len(times) < 700 * (times[-1] - times[0])


class Control:
    """The two FIFOs of --control."""

    def __init__(self, directory):
        self.names = [directory / 'ctl', directory / 'ack']
        for name in self.names:
            os.mkfifo(name)
        self.command, self.answer = (os.open(name, os.O_RDWR) for name in self.names)

    def __call__(self, text):
        """Sends a command; the answer, empty if none comes."""
        os.write(self.command, text.encode())
        ready, _, _ = select.select([self.answer], [], [], TIMEOUT_S if 'bogus' not in text else 0.3)
        return os.read(self.answer, 100) if ready else b''


@pytest.mark.parametrize('kind', ['fifo', 'fd'])
def test_commands_while_it_runs(tally, workload, data, kind):
    control = Control(data.parent)
    spec = (f'fifo:{control.names[0]},{control.names[1]}' if kind == 'fifo'
            else f'fd:{control.command},{control.answer}')
    process = tally.start('record', *CLOCK, '-D', '-1', '--control', spec, '-o', data, '--', workload('spin').path,
                          60000, pass_fds=(control.command, control.answer))
    ack = b'ack\n\0'
    assert control('ping\n') == ack
    assert control('enable\n') == ack
    wait_for_command(process, 'spin', 0.1)
    for command in ('disable', 'evlist', 'evlist -v\n', 'evlist -F\n', 'snapshot\n', 'enable cpu-clock:u\n',
                    'disable nothing\n'):
        assert control(command) == ack, command
    assert control('bogus\n') == b''
    assert control('stop\n') == ack
    error = process.communicate()[1].splitlines()
    assert process.returncode == -signal.SIGTERM  # the command's
    assert error[:4] == ['Events disabled', 'Events enabled', 'Events disabled', 'cpu-clock:u']
    assert error[5].startswith('cpu-clock:u: type: 1 (PERF_TYPE_SOFTWARE), size: ')
    assert 'cpu-clock:u: sample_freq=999' in error
    assert 'Event cpu-clock:u enabled' in error and "failed: can't find 'nothing' event" in error
    assert PerfData(data).count(SAMPLE) > 10


@pytest.mark.parametrize('options, status, text', [
    (['--switch-output=5'], 129, '--switch-output takes'), (['--switch-output=0s'], 129, '--switch-output takes'),
    (['--switch-max-files', 'x'], 129, '--switch-max-files'), (['-z=x'], 129, '--compression-level takes'),
    (['--control', 'fd:'], 129, '--control takes'), (['--control', 'fifo:/none'], 255, "Failed to open '/none'"),
    (['--control', 'fd:77'], 255, 'the control descriptor 77'), (['-D', '5-1'], 129, '--delay takes'),
    (['-D', '1-5,4-6'], 129, '--delay takes'), (['-D', '1-'], 129, '--delay takes'),
    (['--switch-output', '-o', '-'], 255, 'need a file'), (['--threads=x'], 129, '--threads takes'),
    (['--threads', '--overwrite'], 255, '--threads writes a directory'), (['--threads', '-o', '-'], 255, '--threads writes a directory'), (['--affinity', 'x'], 129, 'takes node or cpu'),
    (['-r', '100'], 129, '--realtime takes'), (['--max-size', '1X'], 129, '--max-size takes'),
    (['--mmap-flush', 'x'], 129, '--mmap-flush takes'), (['--proc-map-timeout', '0'], 129, 'takes milliseconds'),
])
def test_what_cannot_be(tally, data, options, status, text):
    result = tally('record', '-e', 'cpu-clock:u', '-o', data, *options, '--', 'true')
    assert result.returncode == status and text in result.stderr
    assert not data.exists()


def processes():
    return {int(name) for name in os.listdir('/proc') if name.isdigit()}


@pytest.mark.alone  # looks at what runs on the machine, twice
@pytest.mark.parametrize('synth, kinds', [
    ('no', set()), ('task', {'COMM'}), ('mmap', {'COMM', 'MMAP2'}), ('cgroup', {'CGROUP'}),
    ('task,cgroup', {'COMM', 'CGROUP'}), ('all', {'COMM', 'MMAP2', 'CGROUP'})])
def test_what_is_told_of_what_runs(tally, perf, data, system_wide, synth, kinds):
    """What perf tells of what is there all the time (others come and go); it has the time 0."""
    def told(program):
        program('record', '-e', 'cpu-clock:u', '-a', '--all-cgroups', '--synth', synth, '-o', data, '--', 'true', check=0)
        text = perf('script', '-i', data, '--show-mmap-events', '--show-task-events', '--show-cgroup-events', check=0).stdout
        found = collections.defaultdict(list)
        for kind, rest in re.findall(r' 0\.000000: PERF_RECORD_(\w+)(.*)', text):
            kind = 'MMAP' if '[kernel.kallsyms]' in rest else kind  # of 6.1 without a build id
            who = re.search(r'(\d+/\d+)(?:: \[|$)', rest)
            found[kind].append(who[1] if who else rest)
        return found

    before = processes()
    ours, theirs = told(tally), told(perf)
    there = {f'{pid}/{pid}' for pid in before & processes()}
    for kind in ('COMM', 'MMAP2', 'CGROUP'):
        if kind not in kinds:
            assert len(ours[kind]) <= 1, (kind, ours[kind])  # of the command itself
        elif kind == 'CGROUP':
            assert abs(len(ours[kind]) - len(theirs[kind])) <= 20
        else:
            apart = (set(ours[kind]) ^ set(theirs[kind])) & there
            assert set(ours[kind]) & there and len(apart) <= len(there) // 20 + 2, (kind, apart)
    kernel = [sum(who == '1/0' for kind in ('MMAP', 'MMAP2') for who in found[kind]) for found in (ours, theirs)]
    assert kernel[0] == kernel[1]  # with its build id, as 7.x, or without


def test_times_without_build_ids(tally, perf, workload, data):
    tally('record', *CLOCK, '-B', '--timestamp-boundary', '-o', data, '--', workload('spin').path, 100, check=0)
    file = PerfData(data)
    assert FEATURES['SAMPLE_TIME'] in file.bits and FEATURES['BUILD_ID'] not in file.bits
    assert 'time of first sample' in perf('report', '--header-only', '-i', data).stdout


@pytest.mark.parametrize('options', [['--affinity', 'cpu'], ['--affinity=node'], ['--mmap-flush=4K'],
                                     ['--proc-map-timeout', '100'], ['--no-buffering']])
def test_how_rings_are_read(tally, perf, workload, data, system_wide, options):
    tally('record', *CLOCK, '-a', *options, '-o', data, '--', workload('spin').path, 200, check=0)
    assert samples(perf, data) == samples(tally, data)
    assert len(samples(perf, data)) > 100
    assert PerfData(data).count(FINISHED_ROUND) >= 1


@pytest.mark.parametrize('options', [['--threads'], ['--threads=core'], ['--threads=package', '-z'],
                                     ['--threads=numa']])
def test_several_threads_write_a_directory(tally, perf, workload, data, system_wide, options):
    result = tally('record', *CLOCK, '-a', *options, '-o', data, '--', workload('spin').path, 300, check=0)
    names = {file.name for file in data.iterdir()}
    assert names == {'data', *(f'data.{i}' for i in range(os.cpu_count()))}
    ours, theirs = samples(tally, data), samples(perf, data)
    assert sorted(ours) == sorted(theirs) and len(ours) > 100
    assert f'({len(ours)} samples)' in result.stderr and f' {data} (' in result.stderr
    main = PerfData(data / 'data')
    assert main.count(SAMPLE) == 0 and {24, FEATURES['BUILD_ID'], FEATURES['SAMPLE_TIME']} <= main.bits  # DIR_FORMAT
    tally('record', *CLOCK, '-o', data, '--', 'true', check=0)
    assert data.is_file() and (data.parent / 'perf.data.old' / 'data.0').exists()
    tally('record', *CLOCK, '-a', '--threads', '-o', data, '--', 'true', check=0)
    assert data.is_dir() and (data.parent / 'perf.data.old').is_file()


def test_a_directory_that_is_no_recording_stays(tally, data):
    data.mkdir()
    (data / 'mine').write_text('x')
    for options in ([], ['--threads']):
        result = tally('record', *CLOCK, *options, '-o', data, '--', 'true')
        assert result.returncode != 0 and 'failed to open' in result.stderr
        assert (data / 'mine').read_text() == 'x'


def test_a_running_recording_can_be_read(tally, perf, workload, data):
    process = tally.start('record', *CLOCK, '-o', data, '--', workload('spin').path, 60000)
    wait_for(lambda: told_size(data))
    seen = []

    def has_more():
        times = samples(perf, data)
        assert times[:len(seen)] == seen
        return len(times) > len(seen) and times

    for _ in range(3):
        seen = wait_for(has_more)
        # The features move with the end of the samples, and are not there while they do.
        wait_for(lambda: 'hostname' in perf('report', '--header-only', '-i', data).stdout)
    process.terminate()
    process.communicate()


def test_output_directory_is_gone(tally, workload, tmp_path):
    result = subprocess.run([tally.path, 'record', *CLOCK, '-o', tmp_path / 'none' / 'x', 'true'],
                            capture_output=True, text=True, check=False)
    assert result.returncode != 0 and 'failed to open' in result.stderr
