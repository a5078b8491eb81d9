# SPDX-License-Identifier: Apache-2.0
"""Where stat writes its counts (standard error, -o, --log-fd), and where recordings go that are no files."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading

import pytest

from conftest import TIMEOUT_S

pytestmark = pytest.mark.usefixtures('live')
CLOCK = ('-e', 'cpu-clock:u', '-F', '999')
FORMATS = {'text': [], 'CSV': ['-x,'], 'JSON': ['-j']}


@pytest.mark.parametrize('form', FORMATS)
def test_only_the_file_has_a_date(tally, tmp_path, form):
    """--log-fd is for programs that read, as is JSON."""
    tally('stat', *FORMATS[form], '-e', 'page-faults', '-o', tmp_path / 'o', 'true', check=0)
    assert (tmp_path / 'o').read_text().startswith('# started on ') == (form != 'JSON')
    text = tally('stat', *FORMATS[form], '-e', 'page-faults', '--log-fd', 1, 'true', check=0).stdout
    assert 'page-faults' in text and 'started on' not in text
    if form == 'JSON':
        assert json.loads((tmp_path / 'o').read_text())['event'] == json.loads(text)['event'] == 'page-faults'
    if form == 'CSV':
        assert text.split(',')[0].isdigit() and text.count('\n') == 1


@pytest.mark.parametrize('form', FORMATS)
def test_output_dash_is_standard_error(tally, tmp_path, form):
    result = tally('stat', *FORMATS[form], '-e', 'page-faults', '-o', '-', 'true', check=0, cwd=tmp_path)
    assert 'page-faults' in result.stderr and 'started on' not in result.stderr and result.stdout == ''
    assert not (tmp_path / '-').exists()


def test_list_output_dash_is_standard_output(tally, tmp_path):
    result = tally('list', '-o', '-', 'sw', check=0, cwd=tmp_path)
    assert 'page-faults' in result.stdout and not (tmp_path / '-').exists()


def test_stat_record_into_a_pipe(tally, tmp_path):
    """Standard output that is a pipe takes the recording, and the report says where it is from."""
    line = f'"{tally.path}" stat record -e page-faults -- true | "{tally.path}" stat report'
    result = subprocess.run(['sh', '-c', line], capture_output=True, text=True, cwd=tmp_path, timeout=TIMEOUT_S,
                            env=tally.environment, check=True)
    assert "Performance counter stats for 'pipe':" in result.stderr + result.stdout
    assert (result.stderr + result.stdout).count('page-faults') == 1
    assert not (tmp_path / 'perf.data').exists()


def read_all(path, saved):
    """A thread that saves what comes out of the FIFO."""
    def copy():
        with open(path, 'rb') as source:
            saved.write_bytes(source.read())
    thread = threading.Thread(target=copy)
    thread.start()
    return thread


@pytest.fixture
def fifo(tmp_path):
    os.mkfifo(tmp_path / 'fifo')
    return tmp_path / 'fifo'


def test_record_into_a_fifo(tally, perf, workload, fifo, tmp_path):
    saved = tmp_path / 'saved'
    thread = read_all(fifo, saved)
    result = tally('record', *CLOCK, '-o', fifo, '--', workload('spin').path, 100, check=0)
    thread.join(TIMEOUT_S)
    assert 'has all that was recorded' not in result.stderr
    ours = tally('script', '-i', saved, '-F', 'tid,time', check=0).stdout
    assert len(ours.splitlines()) >= 50
    assert perf('script', '-i', '-', '-F', 'tid,time', stdin=saved.read_bytes(), text=False,
                check=0).stdout.decode() == ours
    assert fifo.is_fifo()


def test_stat_record_and_inject_into_a_fifo(tally, workload, fifo, tmp_path):
    saved, data = tmp_path / 'saved', tmp_path / 'data'
    thread = read_all(fifo, saved)
    tally('stat', 'record', '-e', 'page-faults', '-o', fifo, '--', 'true', check=0)
    thread.join(TIMEOUT_S)
    report = tally('stat', 'report', '-i', saved, check=0)
    assert "for 'pipe':" in report.stderr + report.stdout
    tally('record', *CLOCK, '-o', data, '--', workload('spin').path, 100, check=0)
    thread = read_all(fifo, saved)
    tally('inject', '-b', '-i', data, '-o', fifo, check=0)
    thread.join(TIMEOUT_S)
    rows = [tally('script', '-i', path, '-F', 'tid,time', check=0).stdout for path in (data, saved)]
    assert rows[0] and rows[0] == rows[1]


@pytest.mark.parametrize('name', ['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])
def test_record_into_a_named_descriptor(tally, workload, tmp_path, name):
    """What the command prints goes to standard error, as with -o -; the path is not taken for a file to keep."""
    saved = tmp_path / 'saved'
    saved.write_text('old')
    with open(saved, 'wb') as out:
        run = subprocess.run([str(tally.path), 'record', '-q', *CLOCK, '-o', name, '--', 'sh', '-c',
                              f'echo said; {workload("spin").path} 100'], stdout=out, stderr=subprocess.PIPE, text=True,
                             env=tally.environment, timeout=TIMEOUT_S, check=True)
    assert 'said' in run.stderr
    assert len(tally('script', '-i', saved, '-F', 'tid', check=0).stdout.splitlines()) >= 50


def test_record_into_a_socket(tally, workload, tmp_path):
    name, saved, got = tmp_path / 'socket', tmp_path / 'saved', []
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(name))
    server.listen(1)

    def take():
        with server.accept()[0] as connection:
            while part := connection.recv(1 << 16):
                got.append(part)

    thread = threading.Thread(target=take)
    thread.start()
    tally('record', *CLOCK, '-o', name, '--', workload('spin').path, 100, check=0)
    thread.join(TIMEOUT_S)
    server.close()
    saved.write_bytes(b''.join(got))
    assert len(tally('script', '-i', saved, '-F', 'tid', check=0).stdout.splitlines()) >= 50


@pytest.mark.parametrize('options', [['--switch-output=1M'], ['--timestamp-filename'], ['--threads'],
                                     ['--self-contained']])
def test_a_fifo_is_no_file(tally, fifo, options):
    result = tally('record', *options, *CLOCK, '-o', fifo, '--', 'true', check=255)
    assert options[0].partition('=')[0] in result.stderr and fifo.is_fifo()


# No rules of sorting and no classes of characters: most of localedef's time goes to them.
GERMAN = '''comment_char %
escape_char /
LC_CTYPE
copy "POSIX"
END LC_CTYPE
LC_COLLATE
copy "POSIX"
END LC_COLLATE
LC_NUMERIC
copy "de_DE"
END LC_NUMERIC
'''


@pytest.fixture(scope='module')
def german(tmp_path_factory):
    """The environment of a locale with a decimal comma."""
    folder = tmp_path_factory.mktemp('locale')
    if not shutil.which('localedef') or not pathlib.Path('/usr/share/i18n/locales/de_DE').exists():
        pytest.skip('localedef, or the sources of locales, are not installed')
    (folder / 'source').write_text(GERMAN)
    subprocess.run(['localedef', '-c', '-i', folder / 'source', '-f', 'UTF-8', folder / 'de_DE.UTF-8'], capture_output=True, check=False)
    if not (folder / 'de_DE.UTF-8').is_dir():
        pytest.skip('localedef made no locale')
    return {'LOCPATH': str(folder), 'LC_ALL': 'de_DE.UTF-8'}


TEXTS = {
    'runs': ['-r', 3, '--table', '--stats', '-e', 'task-clock,duration_time,page-faults', '--', 'true'],
    'intervals': ['-I', 20, '--summary', '-e', 'task-clock,cs', '--', 'sleep', 0.05],
    'metrics': ['-M', 'cs_per_second', '--', 'true'],
    'metrics only': ['--metric-only', '-M', 'cs_per_second', '--', 'true'],
    'comparison': ['-r', 4, '-e', 'task-clock', '--compare', 'true', 'sleep 0'],
    'passes': ['--passes', '-e', 'task-clock', '--', 'true'],
}


@pytest.mark.parametrize('name', TEXTS)
def test_the_whole_locale_is_used(tally, german, name):
    """No number has C's decimal point; thousands may be behind a dot."""
    text = tally('stat', *TEXTS[name], env=german, check=0).stderr
    text = re.sub(r"stats for '.*'|[AB]: .*|p is the .*", '', text)
    assert re.search(r'\d,\d', text), text
    assert not re.findall(r'(?<![\d.])\d+\.(?!\d{3}(?!\d))\d+', text), text


@pytest.mark.parametrize('form', [['-x;'], ['-j'], ['-j', '--metric-only', '-M', 'cs_per_second']], ids=' '.join)
def test_formats_for_programs_have_no_locale(tally, german, form):
    words = ['stat', *form, '-r', 2, *([] if '-M' in form else ['-e', 'task-clock,page-faults']), '--', 'true']
    text = tally(*words, env=german, check=0).stderr
    if form[0] == '-j':
        assert all(json.loads(line) for line in text.splitlines())
    else:
        assert re.match(r'\d+\.\d\d;msec;task-clock;', text) and ',' not in text, text


def test_a_report_has_the_locale_too(tally, german, tmp_path):
    tally('stat', 'record', '-o', tmp_path / 'data', '-e', 'task-clock', '--', 'true', check=0)
    result = tally('stat', 'report', '-i', tmp_path / 'data', env=german, check=0)
    assert re.search(r'\d,\d\d msec task-clock', result.stdout + result.stderr)


@pytest.mark.parametrize('words', [['-e', 'page-faults,cs,duration_time', '--', 'true'],
                                   ['-a', '-I', 20, '-e', 'cs', '--', 'sleep', 0.05]], ids=['command', 'intervals'])
@pytest.mark.parametrize('way', ['file', 'pipe'])
def test_script_of_counts_is_perfs(tally, perf, tmp_path, words, way):
    data = tmp_path / 'data'
    stream = tally('stat', 'record', '-o', '-' if way == 'pipe' else data, *words, text=False, check=0).stdout
    if way == 'pipe':
        data.write_bytes(stream)
    ours = tally('script', '-i', data, check=0).stdout
    assert ours.split()[:7] == ['CPU', 'THREAD', 'VAL', 'ENA', 'RUN', 'TIME', 'EVENT'] and len(ours.splitlines()) > 1
    if way == 'file':
        assert ours == perf('script', '-i', data, check=0).stdout


MODES = {'dwarf': 'call-graph dwarf', 'fp': 'call-graph fp'}


@pytest.mark.parametrize('section', ['[call-graph]\n\trecord-mode = {}', '[record]\n\tcall-graph = {}'])
@pytest.mark.parametrize('mode', ['dwarf', 'fp', 'lbr'])
def test_the_configuration_says_how_stacks_are_unwound(tally, tmp_path, section, mode):
    """For -g, which asks for them; --call-graph goes before it."""
    (tmp_path / '.perfconfig').write_text(section.format(mode) + '\n')
    words = ['record', *CLOCK, '-o', tmp_path / 'data']
    said = f'recording call graphs by {mode}, as configured'
    assert said in tally(*words, '-g', '--', 'true').stderr
    for other in ([], ['--call-graph', 'fp']):
        assert 'as configured' not in tally(*words, *other, '--', 'true', check=0).stderr
    (tmp_path / '.perfconfig').write_text(section.format('nonsense') + '\n')
    assert 'wrong config key-value pair' in tally(*words, '-g', '--', 'true', check=255).stderr


def test_the_configuration_says_what_build_ids_are_for(tally, tmp_path):
    counts = []
    for value in ('cache', 'skip'):
        (tmp_path / '.perfconfig').write_text(f'[record]\n\tbuild-id = {value}\n\taio = 2\n')
        result = tally('record', '-e', 'cpu-clock', '-o', tmp_path / 'data', '--', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do '
                       'i=$((i+1)); done', check=0)
        assert 'the configuration setting record.aio = 2 is ignored' in result.stderr
        counts.append((tmp_path / '.debug' / '.build-id').exists())
        shutil.rmtree(tmp_path / '.debug', ignore_errors=True)
    assert counts == [True, False]


def test_the_configuration_says_how_numbers_are_grouped(tally, german, tmp_path):
    words = ['stat', '-e', 'duration_time', '--', 'sleep', 0.01]
    assert re.search(r'\d\.\d{3}\.\d{3} ', tally(*words, env=german, check=0).stderr)
    (tmp_path / '.perfconfig').write_text('[stat]\n\tbig-num = false\n')
    assert re.search(r' \d{8,} ', tally(*words, env=german, check=0).stderr)
    assert re.search(r'\d\.\d{3}\.\d{3} ', tally('stat', '-B', *words[1:], env=german, check=0).stderr)


@pytest.fixture
def counts(tally, tmp_path):
    path = tmp_path / 'counts.data'
    tally('stat', 'record', '-e', 'task-clock', '-o', path, '--', 'true', check=0)
    return path


FOR_SAMPLES = {
    'report --stdio': 0, 'report --json': 0, 'report -g': 255, 'annotate --stdio': 0, 'annotate --json': 0, 'export -F folded': 255,
    'export -F json -o made': 0, 'export -F html -o made': 0, 'export -F sqlite -o made': 0, 'flamegraph -o made': 255,
    'sched latency': 255, 'sched map': 255, 'sched timehist': 255, 'lock report': 255, 'lock contention': 255, 'kmem stat': 255,
    'c2c report --stdio': 255, 'mem report --stdio': 255, 'mem report -D': 255, 'timechart -o made': 255,
    'data convert --to-json made': 0, 'pack -o made': 0}


@pytest.mark.parametrize('line', FOR_SAMPLES)
def test_verbs_for_samples_name_the_one_for_counts(tally, counts, tmp_path, line):
    result = tally(*line.split(), '-i', counts, cwd=tmp_path, check=FOR_SAMPLES[line])
    assert result.stderr.count(f"is a recording of stat, which has counts and no samples: 'tally stat report -i {counts}' shows them") == 1


def test_comparing_and_asking_name_the_verb_for_counts(tally, counts):
    for line in (['diff', counts, counts], ['query', '-i', counts, 'select * from samples']):
        assert f"'tally stat report -i {counts}' shows them" in tally(*line, check=0).stderr
    for verb in ('script', 'evlist', 'health'):
        assert 'stat report' not in tally(verb, *([] if verb == 'health' else ['-i']), counts, check=0).stderr


def test_streams_of_perfs_stat_are_known(tally, newest_perf):
    """They have no header that would say so."""
    stream = newest_perf('stat', 'record', '-e', 'task-clock', '-o', '-', '--', 'true', text=False).stdout
    shown = subprocess.run([tally.path, 'script', '-i', '-'], input=stream, capture_output=True, timeout=TIMEOUT_S, check=True)
    assert shown.stdout.split()[:3] == [b'CPU', b'THREAD', b'VAL'] and shown.stdout.count(b'task-clock') == 1
    shown = subprocess.run([tally.path, 'report', '-i', '-'], input=stream, capture_output=True, timeout=TIMEOUT_S, check=True)
    assert b'standard input is a recording of stat' in shown.stderr
