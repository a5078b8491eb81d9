# SPDX-License-Identifier: Apache-2.0
"""tally script --dlfilter: the same shared object under perf and tally prints the same, and drops the same samples."""
import pathlib
import re
import shutil
import subprocess

import perfdata_build
import pytest
from test_script_code import AFTER, SAMPLES, SKIP, START, WORK, program, write  # noqa: F401 (a fixture)

HERE = pathlib.Path(__file__).parent
INTERFACE = HERE.parents[1] / 'src' / 'verbs' / 'script'  # its header is written from perf-dlfilter(1)


@pytest.fixture
def shared_object(tmp_path):
    if not shutil.which('gcc'):
        pytest.skip('gcc is absent')
    path = tmp_path / 'show.so'
    subprocess.run(['gcc', '-Wall', '-Werror', '-shared', '-fpic', '-I', INTERFACE, '-o', path, HERE / 'dlfilter.c'], check=True)
    return path


@pytest.fixture
def recording(program, tmp_path):  # noqa: F811
    return write(tmp_path / 'perf.data', program, SAMPLES, more='PHYS_ADDR CALLCHAIN')


def plain(text):
    """Without addresses of chains, the width of threads, what 6.1 leaves out; perf has a word for no line."""
    text = re.sub(r'(?m)^\t *[0-9a-f]+|stage \d+', '', text)
    return re.sub(' +', ' ', text.replace(' ??:0', ' -:0').replace('//- ', '/ '))


def test_a_filter_sees_what_it_sees_under_perf(recording, shared_object, perf, tally):
    arguments = ['script', '-i', recording, '-F', 'tid,ip,sym', '--dlfilter', shared_object, '--dlarg', 'show', '--dlarg', '2 3']
    ours = tally(*arguments, check=0).stdout
    assert plain(ours) == plain(perf(*arguments, check=0).stdout)
    assert ours.startswith("start, 2 arguments: 'show' '2 3', a place: 0\nearly: ip 40100c pid 1000")
    assert 'instruction: b8 3c 00 00 00 w.s:8\n' in ours and ours.endswith(f'stop, {2 * len(SAMPLES)} seen, a place: 0\n')


def test_fields_of_samples(program, shared_object, perf, tally, tmp_path):  # noqa: F811
    """A page fault, whose address has a name, and an event with everything else."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME ADDR CPU PERIOD WEIGHT_STRUCT DATA_SRC TRANSACTION CGROUP RAW DATA_PAGE_SIZE '
            'CODE_PAGE_SIZE IDENTIFIER', kind=1, config=2)
    r.text_feature(6, 'x86_64')
    r.feature(7, r.pack('II', 4, 4))
    r.name_events('faults')
    r.comm('w')
    r.record(1, 2, r.pack('IIQQQ', 1000, 1000, START, 0x1000, 0x1000) + r.name(str(program)) + r.trailer())
    r.sample(ip=SKIP, addr=WORK, cpu=3, period=77, weight_struct=5 | 6 << 32 | 7 << 48, data_src=0x68100142,
             transaction=9, cgroup=4, raw=b'hello', data_page_size=4096, code_page_size=2 << 20)
    r.sample(ip=0x900000, addr=0x5, time=6000000000)
    path = tmp_path / 'perf.data'
    r.write(path)
    arguments = ['script', '-i', path, '-F', 'tid', '--dlfilter', shared_object, '--dlarg', 'show']
    ours = tally(*arguments, check=0).stdout
    assert plain(ours) == plain(perf(*arguments, check=0).stdout)
    assert 'addr: work+0 at 1015' in ours and 'weight 5 latency 6 stage 7' in ours


def test_the_other_byte_order(shared_object, tally, tmp_path):
    """What is handed over is in this machine's."""
    r = perfdata_build.Recording('>')
    r.event('IP TID TIME CALLCHAIN BRANCH_STACK IDENTIFIER', kind=0, period=999, branch=perfdata_build.BRANCH_ANY)
    r.comm('w')
    r.sample(ip=WORK, callchain=[perfdata_build.CHAIN_USER, WORK], branch_stack=[AFTER, WORK, 1 << 62 | 9 << 44])
    r.write(tmp_path / 'perf.data')
    ours = tally('script', '-i', tmp_path / 'perf.data', '-F', 'tid', '--dlfilter', shared_object, '--dlarg', 'show', check=0)
    for told in ('ip 401015 pid 1000 tid 1000 time 5000000000', 'branch 40100c 401015 predicted 1 cycles 9',
                 'caller fffffffffffffe00\n  caller 401015', 'attr: type 0 config 0 sample_type 10827 period 999 branches 8'):
        assert told in ours.stdout


@pytest.mark.parametrize('wish', ['early drops', 'late drops', ''])
@pytest.mark.parametrize('others', [[], ['-c', 'w'], ['--tid', '1000'], ['-S', 'work']])
def test_what_it_drops(recording, shared_object, perf, tally, wish, others):
    arguments = ['script', '-i', recording, '-F', 'tid,ip,brstack', *others, '--dlfilter', shared_object, '--dlarg', wish]
    ours = tally(*arguments, check=0).stdout
    assert plain(ours) == plain(perf(*arguments, check=0).stdout)
    dropped = [line for line in ours.split('\n') if line.strip().startswith('1001')]
    assert bool(dropped) == (not wish and '--tid' not in others)


@pytest.mark.parametrize('wish,said', [('no start', 'start of {} returned -5'), ('early fails', 'filter_event_early of {} returned -4'),
                                       ('late fails', 'filter_event of {} returned -4')])
def test_a_filter_that_fails_ends_it(recording, shared_object, perf, tally, wish, said):
    arguments = ['script', '-i', recording, '-F', 'tid', '--dlfilter', shared_object, '--dlarg', wish]
    ours = tally(*arguments, check=255)
    assert said.format(shared_object) in ours.stderr
    assert plain(ours.stdout) == plain(perf(*arguments).stdout) and ours.stdout.endswith('seen, a place: 0\n')


def test_a_full_disk_is_told(recording, shared_object, tally):
    with open('/dev/full', 'w', encoding='utf-8') as full:
        arguments = [tally.path, 'script', '-i', recording, '--dlfilter', shared_object, '--dlarg', 'show']
        result = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 255 and 'cannot write to standard output: No space left' in result.stderr


def test_where_filters_are_found(recording, shared_object, tally, tmp_path):
    arguments = ['script', '-i', recording, '-F', 'tid', '--dlarg', '']
    folder = tmp_path / 'exec' / 'dlfilters'
    folder.mkdir(parents=True)
    env = {'PERF_EXEC_PATH': str(folder.parent)}
    here = tally(*arguments, '--dlfilter', 'show.so', cwd=tmp_path, env=env, check=0).stdout
    assert here.startswith('start, 1 arguments')
    listed = tally('script', '--list-dlfilters', cwd=tmp_path, env=env, check=0).stdout
    assert listed == f'List of available dlfilters:\n  {"show.so":36} prints all that it sees\n'
    shared_object.rename(folder / 'show.so')
    (folder / 'text.so').write_text('filter_event')
    assert tally(*arguments, '--dlfilter', 'show.so', cwd=tmp_path, env=env, check=0).stdout == here
    listed = tally('script', '-v', '--list-dlfilters', cwd=tmp_path, env=env, check=0).stdout
    assert listed.split('\n')[1:3] == [f'  {"show.so":36} prints all that it sees', f'{"":39}for tests of what a filter is given']
    missing = tally(*arguments, '--dlfilter', 'none.so', cwd=tmp_path, env=env, check=255)
    assert "dlopen failed for: 'none.so'" in missing.stderr and missing.stdout == ''
    assert 'cannot be used with -s or -d' in tally('script', '-d', '--dlfilter', 'show.so', check=255).stderr


def test_a_filter_of_perf(recording, perf, tally):
    """One that perf is packaged with, built against its own header."""
    arguments = ['script', '-i', recording, '-F', 'tid,ip', '--dlfilter', 'dlfilter-show-cycles.so']
    theirs = perf(*arguments)
    if theirs.returncode:
        pytest.skip('perf comes without filters')
    assert plain(tally(*arguments, check=0).stdout) == plain(theirs.stdout)
