# SPDX-License-Identifier: Apache-2.0
"""script -l, record NAME, report NAME and NAME: the scripts of an installed perf, which call perf; here that is tally."""
import os
import shutil

import pytest

import perfdata_build

COUNT = '''
import sys
count = 0
def process_event(event):
    global count
    count += 1
def trace_end():
    print('samples', count, 'arguments', sys.argv[1:])
'''
FILES = {
    'counter-record': '#!/bin/bash\nperf record -q -e cpu-clock "$@"\n',
    'counter-report': '#!/bin/bash\n# description: count samples\n# args: [words]\n'
                      'perf script -s "$PERF_EXEC_PATH"/scripts/python/counter.py -- "$@"\n',
    'wanting-record': '#!/bin/sh\nperf record -q -e cpu-clock $@\n',
    'wanting-report': '#!/bin/sh\n#description: wants a word\n#args: <word>\n'
                      'word=$1\nshift\nperf script $@ -s "$PERF_EXEC_PATH"/scripts/python/counter.py $word\n',
    'alone-report': '#!/bin/sh\nexit 7\n',
    '-report': '', 'no-script': '',
}


@pytest.fixture
def folder(tmp_path):
    if not shutil.which('python3'):
        pytest.skip('python3 is not installed')
    core = tmp_path / 'perf core'
    (core / 'scripts' / 'python' / 'bin').mkdir(parents=True)
    for name, text in FILES.items():
        (core / 'scripts' / 'python' / 'bin' / name).write_text(text)
    (core / 'scripts' / 'python' / 'counter.py').write_text(COUNT)
    return {'PERF_EXEC_PATH': str(core)}


@pytest.fixture
def data(tmp_path):
    made = perfdata_build.Recording()
    made.event('IDENTIFIER IP TID TIME CPU PERIOD')
    made.comm('toy')
    for time in range(3):
        made.sample(time=5000000000 + time)
    made.write(tmp_path / 'three.data')
    return tmp_path / 'three.data'


def test_scripts_are_listed(tally, folder, tmp_path):
    lines = tally('script', '-l', env=folder, check=0).stdout.splitlines()
    assert lines == ['List of available trace scripts:', '  ' + 'alone'.ljust(37), '  ' + 'counter [words]'.ljust(37) +
                     'count samples', '  ' + 'wanting <word>'.ljust(37) + 'wants a word']
    none = tally('script', '--list', env={'PERF_EXEC_PATH': str(tmp_path)}, check=0)
    assert none.stdout == '' and 'no scripts' in none.stderr and none.stderr.count('\n') == 1


def test_the_list_is_perfs(tally, perf):
    """But for those in Perl, which are not run, and folders of other versions."""
    core = '/usr/lib/perf-core'
    if not os.path.isdir(core + '/scripts/python/bin'):
        pytest.skip(f'{core} has no scripts')
    theirs, ours = (program('script', '-l', env={'PERF_EXEC_PATH': core}).stdout.splitlines() for program in (perf, tally))
    missing = {line.split()[0] for line in theirs} - {line.split()[0] for line in ours}
    assert missing <= {name.rsplit('-', 1)[0] for name in os.listdir(core + '/scripts/perl/bin')}
    assert len(ours) > 5 and set(map(str.rstrip, ours)) <= set(map(str.rstrip, theirs))


@pytest.mark.parametrize('words', [['report', 'counter', '-i', 'three.data', 'a b'], ['report', 'counter', 'a b', '--input=three.data'],
                                   ['-i', 'three.data', 'report', 'counter', 'a b']], ids=' '.join)
def test_reports_read_the_recording_that_is_named(tally, folder, data, words):
    run = tally('script', *words, env=folder, cwd=data.parent, check=0)
    assert run.stdout == "samples 3 arguments ['a b']\n"


def test_a_report_of_perf_data(tally, folder, data):
    data.rename(data.parent / 'perf.data')
    assert 'samples 3' in tally('script', 'report', 'counter', env=folder, cwd=data.parent, check=0).stdout
    tally('script', 'report', 'alone', env=folder, cwd=data.parent, check=7)  # as the script ends


def test_records(tally, folder, tmp_path):
    tally('script', 'record', 'counter', '-o', tmp_path / 'own.data', '--', 'true', env=folder, check=0)
    header = tally('report', '--header-only', '-i', tmp_path / 'own.data', check=0).stdout
    assert 'name = cpu-clock' in header and ' -a ' not in header
    core = tmp_path / 'echo'
    (core / 'scripts' / 'python' / 'bin').mkdir(parents=True)
    (core / 'scripts' / 'python' / 'bin' / 'echo-record').write_text('#!/bin/sh\nprintf "%s\\n" "$*"\n')
    for words, shown in (([], '-a'), (['-o', 'f'], '-a -o f'), (['-o', 'f', 'ls', '-l'], '-o f ls -l'), (['-p', '7'], '-p 7'),
                         (['--', 'ls'], '-- ls'), (['-c', '5', '-g'], '-a -c 5 -g')):
        run = tally('script', 'record', 'echo', *words, env={'PERF_EXEC_PATH': str(core)}, check=0)
        assert run.stdout == shown + '\n'


def test_record_and_report_through_a_pipe(tally, folder):
    run = tally('script', 'wanting', 'word', 'sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done', env=folder, check=0)
    count, words = run.stdout.split(' arguments ')
    assert words == "['word']\n" and int(count.split()[1]) >= 1
    assert "requires arguments" in tally('script', 'wanting', env=folder, check=255).stderr


@pytest.mark.parametrize('words,message,status', [
    (['nothing'], "no script 'nothing'", 255), (['record', 'alone'], "no script 'alone'", 255), (['alone'], "no script 'alone'", 255),
    (['report', '../counter'], "no script '../counter'", 255), (['report'], 'requires the name', 129), (['record'], 'requires the name', 129)])
def test_refusals(tally, folder, words, message, status):
    assert message in tally('script', *words, env=folder, check=status).stderr
