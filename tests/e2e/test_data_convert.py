# SPDX-License-Identifier: Apache-2.0
"""tally data convert against perf's: the same samples, byte by byte where perf 6.1 knows all that we know."""
import json
import re
import shutil
import subprocess

import perfdata_build
import pytest

from conftest import TIMEOUT_S

RECORDINGS = ['u', 'k', 'kg', 'ug', 'dyn', 'cxx', 'grp', 'grpS', 'multi', 'thr', 'addr', 'regs', 'zstd', 'tp', 'sched']


def convert(program, recording, output):
    return program('data', 'convert', '--to-json', output, '-i', recording)


KNOWN = {'timestamp', 'pid', 'tid', 'cpu', 'callchain', 'ip', 'symbol', 'dso'}


def own_fields(pairs):
    """Without a tracepoint's fields, which perf 6.1 leaves out in some builds (they may be called as our own are), and
    without comm: perf's converter does not see names that perf script sees."""
    found = {}
    for key, value in pairs:
        if key in KNOWN:
            found.setdefault(key, value)
    return found


def samples_of(text):
    return json.loads(text[text.index('"samples": [') + 11:].rstrip().removesuffix('}'), object_pairs_hook=own_fields)


@pytest.mark.parametrize('name', RECORDINGS)
def test_same_samples_as_perf(tally, perf, shared_recording, perf_recording, tmp_path, name):
    # A fault of ours in this form is in a stub of the C library, which perf gives another name than we do.
    recording = (shared_recording if name == 'addr' else perf_recording)(name)
    said = [convert(program, recording, tmp_path / file) for program, file in ((perf, 'theirs'), (tally, 'ours'))]
    assert [result.returncode for result in said] == [0, 0]
    wrote = [line[line.index('data convert'):] for result in said for line in result.stderr.splitlines()
             if 'and wrote' in line]
    assert name in ('tp', 'sched') or wrote[0] == wrote[1]
    theirs, ours = ((tmp_path / file).read_text() for file in ('theirs', 'ours'))
    headers = json.loads(ours)['headers']
    assert headers == json.loads(theirs)['headers']
    assert json.loads(ours)['linux-perf-json-version'] == 1
    theirs, ours = (samples_of(text) for text in (theirs, ours))
    assert len(ours) > 0 and ours == theirs
    if name in ('u', 'kg', 'grp'):
        assert (tmp_path / 'ours').read_bytes() == (tmp_path / 'theirs').read_bytes()


def test_fields_of_a_tracepoint(tally, shared_recording, tmp_path):
    recording = shared_recording('tpsleep')
    assert convert(tally, recording, tmp_path / 'out').returncode == 0
    first = json.loads((tmp_path / 'out').read_text())['samples'][0]
    assert first['prev_comm'] == 'demo' and first['next_pid'] == '0' and first['prev_state'] == '1'


def test_samples_without_a_time(tally, tmp_path):
    """7.x too: no time is told from time 0."""
    r = perfdata_build.Recording()
    r.event('IP TID')
    r.comm('prog')
    r.sample()
    r.write(tmp_path / 'perf.data')
    tally('data', 'convert', '--to-json', tmp_path / 'out', '-i', tmp_path / 'perf.data', check=0)
    assert [sample['timestamp'] for sample in json.loads((tmp_path / 'out').read_text())['samples']] == [-1]


def test_samples_without_a_cpu_beside_others(tally, tmp_path):
    """As 7.x: where some event knows CPUs, those of the others are -1."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME IDENTIFIER')
    r.event('IP TID TIME CPU IDENTIFIER')
    r.comm('prog')
    for event in (0, 1):
        r.sample(event=event, time=1000 + event, cpu=3)
    r.write(tmp_path / 'perf.data')
    tally('data', 'convert', '--to-json', tmp_path / 'out', '-i', tmp_path / 'perf.data', check=0)
    assert [sample['cpu'] for sample in json.loads((tmp_path / 'out').read_text())['samples']] == [-1, 3]


def test_every_recording_gives_valid_json(tally, shared, tmp_path):
    files = sorted((shared / 'corpus' / 'files').glob('*/*'))
    if not files:
        pytest.skip('TALLY_TEST_DATA/corpus is absent')
    samples = 0
    for file in files:
        output = tmp_path / 'out'
        output.unlink(missing_ok=True)
        convert(tally, file, output)
        if output.exists():
            samples += len(json.loads(output.read_bytes())['samples'])
    assert samples > 40000


def test_an_output_that_exists(tally, perf, perf_recording, tmp_path):
    recording = perf_recording('u')
    output = tmp_path / 'out'
    output.write_text('mine')
    for program in (perf, tally):
        result = convert(program, recording, output)
        assert result.returncode == 255 and '--force' in result.stderr
        assert output.read_text() == 'mine'
    tally('data', 'convert', '--force', '--to-json', output, '-i', recording, check=0)
    assert json.loads(output.read_text())['samples']


@pytest.mark.parametrize('words, status', [
    (['data'], 129), (['data', 'bake'], 129), (['data', 'convert', 'more'], 129), (['data', 'convert'], 255),
    (['data', 'convert', '--to-json', 'x', '--all'], 255), (['data', 'convert', '--to-json', 'x', '--tod'], 255)])
def test_wrong_usage(tally, perf, tmp_path, words, status):
    for program in (perf, tally):
        if program is perf and words == ['data', 'bake']:
            continue  # perf names it and fails otherwise
        assert program(*words, cwd=tmp_path).returncode == status
    assert not list(tmp_path.iterdir())


SPANS = ['@1,@5', '@3,', ',@3', '@1,@2 @4,@5', '10%', '10%/2', '0%-10%,30%-40%',
         '100%', '33.3%/2', ',']


@pytest.mark.parametrize('span', SPANS)
def test_spans_of_time(tally, perf, perf_recording, tmp_path, span):
    """perf script 6.1 knows --time too: it is the judge. @4 is the time of the sample behind four tenths of them."""
    recording = perf_recording('u')
    times = [float(word.rstrip(':')) for word in perf('script', '-F', 'time', '-i', recording, check=0).stdout.split()]
    span = re.sub(r'@(\d)', lambda at: f'{times[int(at[1]) * len(times) // 10]:.6f}', span)
    expected = perf('script', '--time', span, '-F', 'time', '--ns', '-i', recording, check=0).stdout
    assert tally('script', '--time', span, '-F', 'time', '--ns', '-i', recording, check=0).stdout == expected
    reports = [program('report', '--stdio', '--time', span, '-i', recording, check=0).stdout
               for program in (perf, tally)]
    theirs, ours = ([line for line in report.splitlines() if '(Tip:' not in line] for report in reports)
    assert ours == theirs
    tally('data', 'convert', '--time', span, '--to-json', tmp_path / 'out', '-i', recording, check=0)
    times = [sample['timestamp'] for sample in json.loads((tmp_path / 'out').read_text())['samples']]
    assert times and times == [int(line.strip(' :').replace('.', '')) for line in expected.splitlines()]


def test_a_span_that_is_none(tally, perf, perf_recording, tmp_path):
    recording = perf_recording('u')
    for program in (perf, tally):
        result = program('script', '--time', 'garbage', '-i', recording)
        assert result.returncode == 234 and 'Invalid time string' in result.stderr
    result = tally('data', 'convert', '--time', '2,1', '--to-json', tmp_path / 'out', '-i', recording)
    assert result.returncode == 234 and not (tmp_path / 'out').exists()


def test_places_that_take_no_file(tally, perf_recording, tmp_path):
    recording = perf_recording('u')
    result = convert(tally, recording, tmp_path / 'absent' / 'x')
    assert result.returncode == 255 and 'No such file' in result.stderr
    result = tally('data', 'convert', '--force', '--to-json', '/dev/full', '-i', recording)
    assert result.returncode == 255 and 'No space left' in result.stderr
    result = convert(tally, tmp_path / 'absent.data', tmp_path / 'out')
    assert result.returncode == 255 and not (tmp_path / 'out').exists()


@pytest.fixture
def babeltrace(tmp_path):
    """babeltrace(DIRECTORY): the trace as text."""
    path = shutil.which('babeltrace2')
    if not path:
        pytest.skip('babeltrace2 is not installed')

    def show(directory):
        result = subprocess.run([path, directory], capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
                                env={'TZ': 'UTC', 'LC_ALL': 'C', 'HOME': str(tmp_path)})
        assert result.returncode == 0, result.stderr
        return result.stdout.splitlines()
    return show


@pytest.mark.parametrize('name', RECORDINGS + ['trace', 'tpsleep'])
def test_same_trace_as_perf(tally, perf, perf_recording, babeltrace, tmp_path, name):
    recording = perf_recording(name)
    theirs = perf('data', 'convert', '--to-ctf', tmp_path / 'theirs', '-i', recording)
    if theirs.returncode != 0:
        pytest.skip('this perf has no CTF')
    tally('data', 'convert', '--to-ctf', tmp_path / 'ours', '-i', recording, check=0)
    lines = babeltrace(tmp_path / 'ours')
    assert lines and lines == babeltrace(tmp_path / 'theirs')


def test_trace_with_mappings_and_names(tally, perf, shared_recording, babeltrace, tmp_path):
    recording = shared_recording('kg')
    tally('data', 'convert', '--all', '--to-ctf', tmp_path / 'ours', '-i', recording, check=0)
    lines = babeltrace(tmp_path / 'ours')
    assert sum('perf_mmap2:' in line for line in lines) == 4
    assert any('perf_comm:' in line and 'comm = "dd"' in line for line in lines)
    if perf('data', 'convert', '--all', '--to-ctf', tmp_path / 'theirs', '-i', recording).returncode == 0:
        assert lines == babeltrace(tmp_path / 'theirs')
    again = tally('data', 'convert', '--to-ctf', tmp_path / 'ours', '-i', recording)
    assert again.returncode == 255 and '--force' in again.stderr
    tally('data', 'convert', '--force', '--to-ctf', tmp_path / 'ours', '-i', recording, check=0)
    assert len(babeltrace(tmp_path / 'ours')) == 172


def test_time_of_day(tally, perf, live, workload, babeltrace, tmp_path):
    recording = tmp_path / 'clock.data'
    if perf('record', '-k', 'CLOCK_MONOTONIC', '-e', 'cpu-clock:u', '-o', recording,
            workload('spin').path, '100').returncode != 0:
        pytest.skip('perf cannot record here')
    tally('data', 'convert', '--tod', '--to-ctf', tmp_path / 'ours', '-i', recording, check=0)
    lines = babeltrace(tmp_path / 'ours')
    assert lines
    if perf('data', 'convert', '--tod', '--to-ctf', tmp_path / 'theirs', '-i', recording).returncode == 0:
        assert lines == babeltrace(tmp_path / 'theirs')


def test_time_of_day_without_a_clock(tally, perf_recording, tmp_path):
    recording = perf_recording('kg')
    result = tally('data', 'convert', '--tod', '--to-ctf', tmp_path / 'ours', '-i', recording)
    assert result.returncode == 255 and 'clockid' in result.stderr
    assert not (tmp_path / 'ours').exists()
