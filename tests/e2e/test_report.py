# SPDX-License-Identifier: Apache-2.0
"""report: the rows and graphs that perf shows of the same recording, and what is said of bad input."""
import re
import shutil
import struct
import subprocess

import perfdata_file
import pytest

ROW = re.compile(r'^ +(?P<percents>(?:[0-9.]+% +)+)(?P<rest>.*\S)')
NOTICEABLE = 0.1  # percent
# Names of libc's own PLT, which 6.1 does not know: a page fault of its start may be there.
BINDING = re.compile(r'@plt\b|\] \.plt$')


def rows(text):
    """(percentages, the other columns) of each row, blanks normalised, in order."""
    found = [ROW.match(line) for line in text.splitlines()]
    return [([float(p.rstrip('%')) for p in row['percents'].split()], ' '.join(row['rest'].split()))
            for row in found if row]


def assert_same_rows(perf_text, tally_text):
    expected = {rest: percents for percents, rest in rows(perf_text) if not BINDING.search(rest)}
    got = {rest: percents for percents, rest in rows(tally_text) if not BINDING.search(rest)}
    assert expected, perf_text
    for rest, percents in expected.items():
        if percents[0] <= NOTICEABLE:
            continue
        assert rest in got, f'{percents} {rest} is missing'
        for a, b in zip(percents, got[rest]):
            assert abs(a - b) <= 0.02, f'{rest}: {percents} and {got[rest]}'
    for rest, percents in got.items():
        assert percents[0] <= NOTICEABLE or rest in expected, f'{percents} {rest} is too much'


def home_of(path):
    """Where perf keeps what it needs to name the vdso: the same for record and report."""
    return {'HOME': str(path.parent)}


@pytest.fixture(scope='module')
def recordings(tmp_path_factory):
    return tmp_path_factory.mktemp('report')


@pytest.fixture
def recording(recordings, perf, tally, live, workload):
    """recording(WORKLOAD, OPTIONS...): the path of perf's own recording of it, made once."""

    def make(name, milliseconds, *options):
        path = recordings / f'{name}{"".join(options)}.data'
        if not path.exists():
            result = perf('record', '-o', path, '-e', 'cpu-clock', '-F', '1999', *options, '--', workload(name).path,
                          milliseconds, env=home_of(path))
            if result.returncode:
                pytest.skip(f'perf record fails here: {result.stderr.strip().splitlines()[-1]}')
            if '-g' in options:
                perfdata_file.move_into_first_call(path, tally)
        return path

    return make


def text_of(program, path, *options):
    result = program('report', '--stdio', *options, '-i', path, check=0, env=home_of(path))
    # perf calls the rest of a fractal level inlined at times: it reads what it never set
    return [line.replace('[...] (inlined)', '[...]') for line in result.stdout.splitlines() if '(Tip:' not in line]


@pytest.mark.parametrize('options', [
    [], ['-s', 'comm'], ['-s', 'dso,sym'], ['-s', 'sym'], ['-s', 'pid'], ['-n'], ['-F', 'overhead,sample,sym'],
    ['-t', ';'], ['--percent-limit', '5'], ['-w', '9,20'], ['-q'], ['-U'],
], ids=lambda options: ' '.join(options) or 'default')
def test_flat_report_is_perfs(options, recording, perf, tally):
    path = recording('threads', 150)
    expected, got = text_of(perf, path, *options), text_of(tally, path, *options)
    assert expected[:8] == got[:8]
    assert_same_rows('\n'.join(expected), '\n'.join(got))


@pytest.mark.parametrize('name,options', [
    ('deep', []), ('recursion', []), ('deep', ['--no-children']), ('recursion', ['--no-children', '-G']),
    ('deep', ['-g', 'fractal']), ('deep', ['--no-children', '-g', 'folded,count']), ('deep', ['-g', 'flat']),
    ('recursion', ['--max-stack', '4']), ('deep', ['-g', 'caller,20,1']), ('deep', ['-s', 'sym']),
    ('deep', ['-g', 'none']),
], ids=lambda value: ' '.join(value) if isinstance(value, list) else value)
def test_call_graphs_are_perfs(name, options, recording, perf, tally):
    path = recording(name, 200, '-g')
    # 6.1 knows few inlined calls, and not those of libc.
    options = (*options, '--no-inline')
    expected, got = text_of(perf, path, *options), text_of(tally, path, *options)
    assert_same_rows('\n'.join(expected), '\n'.join(got))
    # below what is worth a row, ties may fall either way
    head = next((i for i, line in enumerate(expected) if ROW.match(line) and rows(line)[0][0][0] < 5), len(expected))
    assert expected[:head] == got[:head]


def test_a_filter_on_nobody_leaves_the_titles(recording, perf, tally):
    path = recording('threads', 150)
    assert text_of(perf, path, '-c', 'nobody') == text_of(tally, path, '-c', 'nobody')


def test_recursion_counts_once(recording, tally):
    path = recording('recursion', 200, '-g')
    top = {rest.split()[-1]: percents for percents, rest in rows('\n'.join(text_of(tally, path, '-g', 'none')))}
    assert 90 < top['descend'][0] <= 100


def test_event_after_event(recordings, perf, live, workload, tally):
    path = recordings / 'two.data'
    result = perf('record', '-o', path, '-e', 'cpu-clock:u,page-faults', '-F', '1999', '--', workload('threads').path,
                  '100', env=home_of(path))
    if result.returncode:
        pytest.skip('perf record fails here')
    expected, got = text_of(perf, path), text_of(tally, path)
    titles = [line for line in expected if line.startswith('# Samples')]
    assert len(titles) == 2
    assert titles == [line for line in got if line.startswith('# Samples')]
    assert_same_rows('\n'.join(expected), '\n'.join(got))


def test_header_and_counts(recording, perf, tally):
    path = recording('threads', 150)
    for options in (['--header-only'], ['--stats']):
        expected, got = perf('report', *options, '-i', path).stdout, tally('report', *options, '-i', path).stdout
        assert expected.splitlines()[1:5] == got.splitlines()[1:5]
        assert len(expected.splitlines()) == len(got.splitlines())


def test_pipe(recordings, perf, live, workload, tally):
    command = [perf.path, 'record', '-o', '-', '-e', 'cpu-clock:u', '-g', '--', workload('spin').path, '60']
    stream = subprocess.run(command, capture_output=True, check=False).stdout
    if not stream:
        pytest.skip('perf record fails here')
    path = recordings / 'pipe.data'
    path.write_bytes(stream)
    with path.open('rb') as file:
        got = subprocess.run([tally.path, 'report', '--stdio', '-i', '-'], stdin=file, capture_output=True, text=True,
                             check=True).stdout
    assert rows(got)
    assert '---' in got


def test_cut_file_is_reported_and_told(recording, tally, tmp_path):
    whole = recording('threads', 150)
    begin, size = struct.unpack_from('=QQ', whole.read_bytes(), 40)  # of the records
    cut = tmp_path / 'cut.data'
    shutil.copy(whole, cut)
    with cut.open('r+b') as file:
        file.truncate(begin + size // 2 + 3)
    result = tally('report', '--stdio', '-i', cut)
    assert result.returncode == 255
    assert rows(result.stdout)
    assert 'offset 0x' in result.stderr
    assert '# Samples:' in result.stdout


def test_every_short_file_ends_well(recording, tally, tmp_path):
    data = recording('threads', 150).read_bytes()
    for size in [*range(0, 400, 13), 1000, 4000, len(data) - 1]:
        (tmp_path / 'short.data').write_bytes(data[:size])
        result = tally('report', '--stdio', '-i', tmp_path / 'short.data')
        assert result.returncode in (0, 255), result.stderr
        assert result.returncode == 0 or len(result.stderr.strip().splitlines()) >= 1


@pytest.mark.parametrize('arguments,words,status', [
    (['-i', '/nonexistent'], 'failed to open /nonexistent: No such file or directory', 255),
    (['-s', 'nope'], "Unknown --sort key: `nope'", 255),
    (['-g', 'bogus'], 'bogus', 129),
    (['-w', 'wide'], "'wide' is not a column width", 129),
    (['--percentage', 'both'], 'relative or absolute', 129),
    (['--percent-limit', '12x'], "'12x' is not a percentage", 129),
    (['-C', '0'], 'does not contain CPU events', 255),
    (['-g', 'caller'], 'call chains', 255),
    (['--pid', 'x'], 'not a process or thread id', 255),
    (['--nosuch'], 'nosuch', 129),
], ids=lambda value: ' '.join(value) if isinstance(value, list) else None)
def test_refusals(arguments, words, status, recording, tally):
    path = recording('threads', 150)
    extra = [] if '-i' in arguments else ['-i', path]
    result = tally('report', '--stdio', *arguments, *extra)
    assert words in result.stderr
    assert result.returncode == status


def test_no_file_suggests_record(tally, tmp_path):
    result = tally('report', check=255, cwd=tmp_path)
    assert "failed to open perf.data: No such file or directory  (try 'tally record' first)" in result.stderr


def test_no_samples_is_no_failure(tally, perf, live, tmp_path):
    path = tmp_path / 'none.data'
    if perf('record', '-o', path, '-e', 'alignment-faults', '--', 'true').returncode:
        pytest.skip('perf record fails here')
    result = tally('report', '--stdio', '-i', path, check=0)
    assert f'The {path} data has no samples!' in result.stderr


def test_script_has_the_same_header(recording, tally):
    path = recording('spin', 300)
    header = tally('report', '--header-only', '-i', path, check=0).stdout
    assert header.startswith('# ========\n')
    assert tally('script', '--header-only', '-i', path, check=0).stdout == header
    samples = tally('script', '-i', path, check=0).stdout
    assert tally('script', '--header', '-i', path, check=0).stdout == header + samples
    assert tally('script', '-I', '-i', path, check=0).stdout == samples
    assert len(tally('script', '--header-only', '-I', '-i', path, check=0).stdout) > len(header)
