# SPDX-License-Identifier: Apache-2.0
"""tally test: the checks of a machine, and the workloads that perf's scripts record."""
import os
import platform
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import wait_for


def lines(text):
    return re.findall(r'^ *(\d+): (.{65}): (Ok|Skip|FAILED!)(?: \((.*)\))?$', text, re.MULTILINE)


@pytest.mark.alone
def test_nothing_fails_on_this_machine(tally, tmp_path):
    listed = tally('test', 'list', check=0).stdout.splitlines()
    result = tally('test', '-v', '-j', env={'TMPDIR': str(tmp_path)}, cwd=tmp_path)
    found = lines(result.stdout)
    assert result.returncode == 0, result.stdout
    assert [f'{int(number):3}: {name.rstrip()}' for number, name, _, _ in found] == listed
    assert all(reason for _, _, word, reason in found if word == 'Skip')
    skipped = sum(word == 'Skip' for _, _, word, _ in found)
    assert f'Passed main tests : {len(found) - skipped}\nPassed subtests   : 0\nSkipped tests     : {skipped}\n' in result.stdout
    suite = xml.etree.ElementTree.parse(tmp_path / 'test.xml').getroot()[0]
    assert suite.tag == 'testsuite' and int(suite.get('tests')) == len(found) == len(suite)
    assert int(suite.get('skipped')) == skipped and suite.get('failures') == '0'
    assert not list(tmp_path.glob('tally-test.*'))


def test_some_are_chosen(tally):
    assert tally('test', 'list', 'symbols', check=0).stdout.splitlines() == ['  2: Symbols', '  3: Symbols of the kernel']
    result = tally('test', '-s', '1,kernel', '1', 'symbols', '-v', check=1)
    assert [(number, word, reason) for number, _, word, reason in lines(result.stdout)][0] == ('1', 'Skip', 'user override')
    result = tally('test', '-F', '-r', 2, 'Symbols', check=0)
    assert [number for number, *_ in lines(result.stdout)] == ['2', '2', '3', '3']


def test_a_name_that_is_none(tally, tmp_path):
    result = tally('test', f'-j{tmp_path / "x.xml"}', 'nothing', check=1)
    assert "no test has the number or name 'nothing'" in result.stderr and 'Passed main tests : 0' in result.stdout
    assert xml.etree.ElementTree.parse(tmp_path / 'x.xml').getroot()[0].get('tests') == '0'


@pytest.mark.parametrize('name', ['test_test_junit_output.sh', 'annotate.sh', 'pipe_test.sh', 'addr2line_inlines.sh', 'diff.sh'])
def test_perfs_own_tests_with_its_workloads(perfs_own_test, name):
    result = perfs_own_test(name)
    assert result.returncode in (0, 2), result.stdout + result.stderr


def test_a_signal_leaves_no_recordings(tally, tmp_path):
    tally.environment['TMPDIR'] = str(tmp_path)
    process = tally.start('test', '-r', '1000', 'Samples')
    wait_for(lambda: list(tmp_path.glob('tally-test.*/x.data*')))
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGTERM and '=== Test Summary ===' in out
    assert not list(tmp_path.glob('tally-test.*'))


def test_a_reason_is_a_sentence_for_users_without_rights(tally, open_folder):
    copy = open_folder / 'tally'
    shutil.copy(tally.path, copy)
    result = subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs', copy, 'test', '7'],
                            env={**tally.environment, 'HOME': str(open_folder), 'TMPDIR': str(open_folder)}, cwd=open_folder,
                            capture_output=True, text=True, timeout=120, check=False)
    (_, _, word, reason), = lines(result.stdout)
    assert word in ('Ok', 'Skip') and '--event' not in reason and 'Usage' not in reason


def test_symbols_are_listed_for_scripts(tally):
    shown = tally('test', '-vv', '-F', 'Symbols').stdout
    if 'is stripped' in shown:
        pytest.skip('the program is stripped')
    for name in ('noploop', 'test_loop', 'leafloop', 'brstack', 'brstack_bench', 'workload_datasym_buf1', 'sqrtloop'):
        assert re.search(rf'\s{name}$', shown, re.MULTILINE), name


@pytest.mark.parametrize('name', ['noploop', 'thloop', 'named_threads', 'leafloop', 'sqrtloop', 'datasym', 'inlineloop', 'shares'])
def test_workloads_end(tally, name):
    words = ['1', '0.05'] if name == 'named_threads' else ['0.05']
    assert tally('test', '-w', name, *words, check=0).stdout == ''
    assert name in tally('test', '--list-workloads', check=0).stdout.split()


def test_workloads_of_a_number_of_turns(tally):
    for name, turns in (('brstack', 10), ('traploop', 10), ('landlock', '')):
        tally('test', '-w', name, *([turns] if turns else []), check=0)


    for name, turns in (('callchain', 10), ('callchain', ''), ('context_switch_loop', 10), ('context_switch_loop', ''),
                        ('deterministic', '')):
        tally('test', '-w', name, *([turns] if turns else []), check=0)
        assert name in tally('test', '--list-workloads', check=0).stdout.split()


def test_workload_of_generated_code(live, tally, tmp_path):
    if platform.machine() not in ('x86_64', 'aarch64'):
        assert 'has no code for this machine' in tally('test', '-w', 'jitdump', check=1).stderr
        return
    tally('record', '-q', '-k', 'mono', '-e', 'cpu-clock:u', '-o', 'd', '--', tally.path, 'test', '-w', 'jitdump', '0.3', cwd=tmp_path,
          check=0)
    assert [file.name.startswith('jit-') for file in tmp_path.glob('*.dump')] == [True]
    shown = tally('report', '-i', 'd', '--stdio', '--sort', 'sym', cwd=tmp_path, check=0).stdout
    assert re.search(r'^ +[0-9.]+% +\[\.\] jit_workload *$', shown, re.MULTILINE), shown
    assert 'cannot write and map' in tally('test', '-w', 'jitdump', cwd='/proc', check=1).stderr


def test_workload_of_two_processes(live, tally, tmp_path):
    data = tmp_path / 'd'
    tally('record', '-q', '-e', 'cpu-clock:u', '-F', 20000, '-o', data, '--',
          tally.path, 'test', '-w', 'context_switch_loop', 3000, check=0)
    script = tally('script', '-F', 'comm,ip,sym', '-i', data, check=0).stdout
    shown = set(re.findall(r'(proc[12]) .*context_switch_loop_(proc[12])', script))
    assert shown == {('proc1', 'proc1'), ('proc2', 'proc2')}


def test_lines_of_the_deterministic_workload(tally):
    if not shutil.which('objdump'):
        pytest.skip('no objdump')
    lines = []
    for function in ('workload_deterministic', 'deterministic_first', 'deterministic_second'):
        shown = subprocess.run(['objdump', '-dl', f'--disassemble={function}', tally.path], text=True, capture_output=True, check=True)
        lines += [int(line) for line in re.findall(r'/deterministic\.c:(\d+)', shown.stdout)]
    if not lines:
        pytest.skip('the program has no lines')
    # perf's test leaves out braces and calls.
    wanted = [line for line in lines if line not in (8, 12, 15, 19, 23, 28, 34, 36, 37)]
    assert wanted == [24, 25, 26, 30, 31, 32, 9, 10, 11, 16, 17, 18]


def test_record_ctl(tally, tmp_path):
    for name in ('control', 'ack'):
        os.mkfifo(tmp_path / name)
    fds = [os.open(tmp_path / name, os.O_RDWR) for name in ('control', 'ack')]
    process = subprocess.Popen([tally.path, 'test', '--record-ctl', 'fifo:control,ack', '-w', 'brstack', '1'], cwd=tmp_path)
    for command in (b'enable\n', b'disable\n'):
        assert os.read(fds[0], 64) == command
        os.write(fds[1], b'ack\n')
    assert process.wait(60) == 0
    for fd in fds:
        os.close(fd)


@pytest.mark.parametrize(('words', 'status', 'said'), [
    ('-w nothing', 1, 'No workload found: nothing'),
    ('-w noploop x', 1, "'x' is not a number of seconds"),
    ('-w noploop -- -1', 1, 'is not a number of seconds'),
    ('-w thloop 1 0', 1, "threads '0' is not in the range"),
    ('-w callchain x', 1, "'x' is not a number of turns"),
    ('-w context_switch_loop 0', 1, "'0' is not a number of turns"),
    ('-w jitdump x', 1, "'x' is not a number of seconds"),
    ('-r 0', 129, 'once at least'),
    ('--record-ctl fifo:x', 129, 'goes with --workload'),
    ('--record-ctl x -w brstack', 255, 'takes fifo:FILE'),
    ('--dso x', 129, "belongs to a test of perf's own code"),
])
def test_refusals(tally, words, status, said):
    assert said in tally('test', *words.split(), check=status).stderr
