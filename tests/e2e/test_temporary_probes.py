# SPDX-License-Identifier: Apache-2.0
"""Probes of user programs that exist for one run: -e uprobe:FILE:PLACE(ARGUMENT,...) and -e sdt_PROVIDER:NAME."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from conftest import wait_for

TRACING = pathlib.Path('/sys/kernel/tracing')
PROBES = TRACING / 'uprobe_events'
TURNS = 7


@pytest.fixture
def uprobes(live):
    if os.geteuid() != 0 or not os.access(PROBES, os.W_OK):
        pytest.skip('needs tracefs with uprobe_events, and root')


@pytest.fixture
def program(workload, tmp_path):
    """tests/workloads/sdt, in a folder of its own."""
    return pathlib.Path(shutil.copy(workload('sdt').path, tmp_path / 'app'))


def probes_of(path):
    return [line for line in PROBES.read_text().splitlines() if f' {path}:' in line]


def append(text):
    handle = os.open(PROBES, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def samples(tally, data):
    """[(event, {argument: value})]"""
    rows = tally('script', '-i', data, '-F', 'event,trace', check=0).stdout.splitlines()
    found = []
    for row in rows:
        event, fields = re.match(r' *(\S+): +\([0-9a-f]+\) ?(.*)$', row).groups()
        found.append((event, dict(re.findall(r'(\w+)=("[^"]*"|\S+)', fields))))
    return found


@pytest.mark.parametrize('event, why', [
    ('uprobe:/bin/ls', 'uprobe:FILE:PLACE'),
    ('uprobe:/nosuch/file:main', '/nosuch/file: the file does not exist'),
    ('uprobe:/bin/ls:main(x', "the closing ')' is missing"),
])
def test_mistakes_are_no_matter_of_the_list(tally, event, why):
    for verb in ('record', 'stat'):
        said = tally(verb, '-e', event, 'true', check=129).stderr
        assert 'no such probe\n' in said and why in said and 'list of valid events' not in said


def test_programs_are_found_as_commands_are(tally, tmp_path):
    """Not what cannot be run, such as a folder of the name."""
    (tmp_path / 'first' / 'tool').mkdir(parents=True)
    (tmp_path / 'second').mkdir()
    (tmp_path / 'second' / 'tool').write_text('#!/bin/sh\n')
    (tmp_path / 'second' / 'tool').chmod(0o755)
    path = f'{tmp_path}/first:{tmp_path}/second'
    said = subprocess.run([tally.path, 'stat', '-e', 'uprobe:tool:main', '/bin/true'], env={**tally.environment, 'PATH': path},
                          capture_output=True, text=True, check=False).stderr
    assert f'{tmp_path}/second/tool is not an ELF file' in said


def test_arguments_have_their_values(tally, uprobes, program, tmp_path):
    data = tmp_path / 'data'
    event = f'uprobe:{program}:turn(number,text=name:string)'
    result = tally('record', '-o', data, '-e', event, '--', program, TURNS, check=0)
    assert samples(tally, data) == [
        ('probe_app:turn', {'number': str(i), 'text': '"name of it"'}) for i in range(TURNS)], result.stderr
    assert not probes_of(program)


def test_threads_and_children_are_counted(tally, uprobes, program):
    event = f'uprobe:{program}:turn'
    rows = tally('stat', '-x', ';', '-e', event, '--', program, TURNS, 3, check=0).stderr.splitlines()
    assert [row.split(';')[0] for row in rows if 'probe_app:turn' in row] == [str(4 * TURNS)]
    rows = tally('stat', '-x', ';', '-e', event, '--', 'sh', '-c', f'{program} 5; {program} 6', check=0).stderr.splitlines()
    assert [row.split(';')[0] for row in rows if 'probe_app:turn' in row] == ['11']
    assert not probes_of(program)


def test_perf_reads_their_names_and_fields(tally, perf, uprobes, program, tmp_path):
    data = tmp_path / 'data'
    tally('record', '-o', data, '-e', f'uprobe:{program}:mine=turn(number)', '--', program, 2, check=0)
    rows = perf('script', '-i', data).stdout.splitlines()
    assert [row.split()[4:][0] for row in rows] == ['probe_app:mine:'] * 2
    assert [row.split()[-1] for row in rows] == ['number=0', 'number=1']


def test_groups_terms_and_modifiers(tally, uprobes, program, tmp_path):
    data = tmp_path / 'data'
    event = f'{{uprobe:{program}:turn(number)/call-graph=fp/,uprobe:{program}:turn%return($retval:s32):u}},page-faults'
    tally('record', '-o', data, '-e', event, '--', program, 3, check=0)
    events = tally('evlist', '-i', data, check=0).stdout.split()
    assert events[:2] == ['probe_app:turn', 'probe_app:turn__return']
    rows = tally('script', '-i', data, '-F', 'event,trace', check=0).stdout
    assert re.findall(r'turn__return:.*=(\d+)', rows) == ['0', '2', '4']


def test_sdt_probes_by_name(tally, uprobes, program, tmp_path):
    """The semaphore is raised: the program says how often the guarded probe ran."""
    data = tmp_path / 'data'
    tally('buildid-cache', '--add', program, check=0)
    result = tally('record', '-o', data, '-e', 'sdt_app:guarded,sdt_app:twice', '--', program, 5, check=0)
    assert result.stdout.split() == ['5']
    found = samples(tally, data)
    guarded = [fields for event, fields in found if event == 'sdt_app:guarded']
    assert [fields['arg1'] for fields in guarded] == [str(3 * i) for i in range(5)]
    if os.uname().machine == 'x86_64':
        assert [(fields['arg2'], fields['arg3']) for fields in guarded] == [('17', str(i)) for i in range(5)]
    assert sum(event.startswith('sdt_app:twice') for event, _ in found) == 5
    assert not probes_of(program)


def test_sdt_probes_of_a_named_program_need_no_cache(tally, uprobes, program):
    result = tally('stat', '-x', ';', '-e', f'uprobe:{program}:sdt_app:guarded', '--', program, 4, check=0)
    assert result.stdout.split() == ['4']
    assert [row.split(';')[0] for row in result.stderr.splitlines() if 'sdt_app:guarded' in row] == ['4']
    missing = tally('stat', '-e', f'uprobe:{program}:sdt_app:none', '--', program, 1)
    assert missing.returncode != 0 and "sdt_app:none" in missing.stderr
    unknown = tally('stat', '-e', 'sdt_app:guarded', '--', program, 1)
    assert unknown.returncode != 0 and 'buildid-cache --add FILE' in unknown.stderr


def test_arguments_of_sdt_probes_are_chosen_and_typed(tally, uprobes, program, tmp_path):
    data = tmp_path / 'data'
    event = f'uprobe:{program}:sdt_app:turn(text=arg2:string,arg1:x8)'
    tally('record', '-o', data, '-e', event, '--', program, 3, check=0)
    assert samples(tally, data) == [('sdt_app:turn', {'text': '"name of it"', 'arg1': hex(i)}) for i in range(3)]
    # Only what concerns the probe is said of arguments.
    stripped = program.with_name('stripped')
    subprocess.run(['strip', '--remove-section=.note.gnu.build-id', '-o', stripped, program], check=True)
    result = tally('stat', '-e', f'uprobe:{stripped}:sdt_app:turn', '--', stripped, 1, check=0)
    assert 'left out' not in result.stderr
    result = tally('stat', '-e', f"uprobe:'{stripped}':sdt_app:guarded", '--', stripped, 1, check=0)
    assert 'arg3 is 8@counter' in result.stderr or os.uname().machine != 'x86_64'
    # One of its two places has no argument.
    result = tally('stat', '-x', ';', '-e', f'uprobe:{program}:sdt_app:twice(arg1)', '--', program, 4, check=0)
    assert 'left out' in result.stderr
    assert [row.split(';')[0] for row in result.stderr.splitlines() if ';sdt_app:twice' in row] == ['2']
    missing = tally('stat', '-e', f'uprobe:{program}:sdt_app:turn(arg9)', '--', program, 1)
    assert missing.returncode != 0 and "sdt_app:turn has no 'arg9'" in missing.stderr
    assert not probes_of(program)


def test_trace_shows_them_among_system_calls(tally, uprobes, program):
    result = tally('trace', '-e', f'uprobe:{program}:turn(number,text=name:string),write', '--', program, 2, check=0)
    rows = [re.sub(r'^.*?/\d+ |__probe_ip: \w+, ', '', row) for row in result.stderr.splitlines()]
    assert rows[:2] == ['probe_app:turn(text: "name of it")', 'probe_app:turn(number: 1, text: "name of it")']
    assert len(rows) == 4 and rows[2].startswith('write(fd: 1') and rows[3] == '+++ exited with 0 +++'
    # Not the system call of that name.
    result = tally('trace', '-e', f'uprobe:{program}:turn(number, write, name)', '--', program, 2)
    assert result.returncode != 0 and "'write' variable" in result.stderr


def test_a_changed_program_is_not_probed_by_what_the_cache_says(tally, uprobes, program):
    tally('buildid-cache', '--add', program, check=0)
    shutil.copy('/bin/true', program)
    result = tally('stat', '-e', 'sdt_app:guarded', '--', 'true')
    assert result.returncode != 0 and 'changed since' in result.stderr and str(program) in result.stderr
    assert not probes_of(program)


def test_a_killed_recorder_leaves_none(tally, uprobes, program, tmp_path):
    recorder = tally.start('record', '-o', tmp_path / 'data', '-e', f'uprobe:{program}:turn(number)', '--', 'cat')
    wait_for(lambda: probes_of(program))
    os.kill(recorder.pid, signal.SIGKILL)
    recorder.wait()
    wait_for(lambda: not probes_of(program))
    recorder.stdin.close() # ends cat, if it has started
    recorder.stdout.close()
    recorder.stderr.close()


def test_what_others_left_is_removed(tally, uprobes, program):
    """The group says which process made a probe; of another PID namespace, nobody here can know."""
    space = os.stat('/proc/self/ns/pid').st_ino
    ended = subprocess.run(['sh', '-c', 'echo $$'], capture_output=True, text=True, check=True).stdout.strip()
    left, foreign = f'tally_{ended}_1_{space}_0/turn', f'tally_{ended}_1_{space + 1}_0/turn'
    for name in (left, foreign):
        append(f'p:{name} {program}:0x100\n')
    try:
        tally('stat', '-e', f'uprobe:{program}:turn', '--', program, 1, check=0)
        assert [line.split()[0] for line in probes_of(program)] == [f'p:{foreign}']
    finally:
        append(f'-:{foreign}\n')
    assert not probes_of(program)


def test_a_read_only_tracefs_leaves_the_pmu(tally, uprobes, program):
    script = 'mount -o remount,ro,bind /sys/kernel/tracing && exec "$@"'
    inside = ['unshare', '-m', '--propagation', 'private', 'sh', '-c',
              'mount --bind /sys/kernel/tracing /sys/kernel/tracing && ' + script, '-']
    if not shutil.which('unshare') or subprocess.run([*inside, 'true'], capture_output=True, check=False).returncode:
        pytest.skip('needs unshare, and the right to mount')
    tally.prefix = inside
    result = tally('stat', '-x', ';', '-e', f'uprobe:{program}:turn():u', '--', program, 4, check=0)
    assert 'read-only' in result.stderr and 'uprobe PMU' in result.stderr
    assert [row.split(';')[2] for row in result.stderr.splitlines() if row.startswith('4;')] == ['probe_app:turn']
    refused = tally('stat', '-e', f'uprobe:{program}:turn(number)', '--', program, 4)
    assert refused.returncode != 0 and 'read-only' in refused.stderr


@pytest.mark.parametrize('event, column, words', [
    ('uprobe:{}:nosuch', 0, 'nosuch'),
    ('uprobe:{}:turm', 0, "\n Did you mean 'turn'?\n"),
    ('page-faults,uprobe:{}:turn(nosuch)', 12, 'nosuch'),
    ('uprobe:{}', 0, 'uprobe:FILE:PLACE'),
    ('uprobe:/no/such/file:turn', 0, '/no/such/file'),
    ('uprobe:{}:turn(number),nosuchevent', -1, 'nosuchevent'),
    ('uprobe:{}:turn(number,page-faults', 0, "the closing ')' is missing"),
])
def test_mistakes_are_said_and_leave_none(tally, uprobes, program, event, column, words):
    event = event.format(program)
    result = tally('stat', '-e', event, '--', program, 1)
    assert result.returncode != 0 and words in result.stderr
    shown, arrow = result.stderr.splitlines()[:2]
    start = column if column >= 0 else event.rindex(',') + 1
    assert arrow.index('\\___') - shown.index(event) == start
    assert not probes_of(program)


def test_without_rights_the_reason_is_said(tally, live, program):
    if os.geteuid() != 0:
        result = tally('stat', '-e', f'uprobe:{program}:turn', '--', program, 1)
    else:
        if not shutil.which('setpriv'):
            pytest.skip('needs setpriv')
        for folder in (program.parent, program.parent.parent, program.parent.parent.parent):
            if folder != pathlib.Path('/tmp'):
                folder.chmod(0o755)
        result = subprocess.run(['setpriv', '--reuid', '65534', '--clear-groups', str(tally.path), 'stat', '-e',
                                 f'uprobe:{program}:turn', '--', str(program), '1'], capture_output=True, text=True,
                                check=False)
        if result.returncode in (126, 127):
            pytest.skip('the program cannot be run by another user here')
    assert result.returncode != 0 and 'root' in result.stderr
