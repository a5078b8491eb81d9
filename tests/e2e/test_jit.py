# SPDX-License-Identifier: Apache-2.0
"""Names of generated code: maps and dumps of runtimes, real ones too."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from conftest import compiled, wait_for

MS = 150
SAMPLING = ['-e', 'cpu-clock:u', '-F', '1000']
PLAIN = ['--stdio', '--no-children', '-g', 'none']
HOT = """
function hotInner(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function hotOuter(n) { let t = 0; for (let i = 0; i < n; i++) t += hotInner(1000); return t; }
const spent = () => process.cpuUsage().user / 1000;
const end = spent() + Number(process.argv[2]);
let x = 0;
while (spent() < end) x += hotOuter(50);
"""


def shares(text):
    """{what follows the percentage: percentage} of a report; equal rows add up."""
    rows = {}
    for line in text.splitlines():
        if match := re.match(r'\s+([\d.]+)%\s+(.*\S)', line):
            rows[match[2]] = rows.get(match[2], 0) + float(match[1])
    return rows


def report(tool, data, *options):
    return shares(tool('report', *PLAIN, '-i', data, *options, check=0).stdout)


def recorded(tally, workload, tmp_path, *options):
    data = tmp_path / 'perf.data'
    tally('record', *options, *SAMPLING, '-o', data, '--', workload('jitcode').path, tmp_path, MS, 'move', check=0)
    remove_maps(data, tally)  # which an older process of the same number may have left
    return data


def is_near(share, wanted):
    return wanted - 8 < share < wanted + 8


def test_functions_at_one_address_are_told_apart_by_time(live, tally, workload, tmp_path):
    rows = report(tally, recorded(tally, workload, tmp_path, '-k', 'mono'), '-s', 'sym')
    assert is_near(rows['[.] jit_first'], 33) and is_near(rows['[.] jit_second'], 67)


def test_without_comparable_times_the_last_function_is_named(live, tally, workload, tmp_path):
    data = recorded(tally, workload, tmp_path)
    rows = report(tally, data, '-s', 'sym')
    assert is_near(rows['[.] jit_second'], 100) and '[.] jit_first' not in rows
    assert 'record with -k mono' in tally('report', *PLAIN, '-i', data, check=0).stderr


def test_lines_of_generated_code(live, tally, workload, tmp_path):
    data = recorded(tally, workload, tmp_path, '-k', 'mono')
    rows = report(tally, data, '-s', 'srcline')
    assert is_near(rows['first.js:11'], 33) and is_near(rows['second.js:21'], 67)
    text = tally('script', '-i', data, '-F', 'ip,sym,srcline', '--full-source-path', check=0).stdout
    assert '/src/first.js:11' in text and '/src/second.js:21' in text


def test_stacks_through_generated_code_without_frame_pointers(live, tally, workload, tmp_path):
    data = recorded(tally, workload, tmp_path, '-k', 'mono', '--call-graph', 'dwarf,4096', '--keep-stacks')
    stacks = tally('script', '-i', data, '-F', 'ip,sym', check=0).stdout.strip().split('\n\n')
    names = [re.findall(r'^\s+[0-9a-f]+ (\S+)', stack, re.M) for stack in stacks]
    generated = [stack for stack in names if stack and stack[0].startswith('jit_')]
    whole = [stack for stack in generated if stack[1:3] == ['call_generated', 'main']]
    assert len(generated) > 100 and len(whole) > 0.98 * len(generated)


def test_names_are_those_that_perf_writes_into_files(live, tally, perf, workload, tmp_path):
    data, written = recorded(tally, workload, tmp_path, '-k', 'mono'), tmp_path / 'perf.jit.data'
    result = perf('inject', '--jit', '-i', data, '-o', written)
    if result.returncode or not list(tmp_path.glob('jitted-*.so')):
        pytest.skip('this perf does not read the dump')

    def generated(program, path):  # a sample in the PLT has other names in perf
        return {name: share for name, share in report(program, path, '-s', 'sym').items() if 'jit_' in name}
    assert generated(tally, data).keys() == {'[.] jit_first', '[.] jit_second'}
    assert generated(perf, written) == generated(tally, data) == generated(tally, written)
    assert any(key.startswith('jitted-') for key in report(tally, written, '-s', 'dso'))


def test_functions_become_files_that_perf_names(live, tally, perf, workload, tmp_path):
    data, written = recorded(tally, workload, tmp_path, '-k', 'mono'), tmp_path / 'merged.data'
    tally('inject', '--jit', '-i', data, '-o', written, check=0)
    assert sorted(re.sub(r'\d{2,}', 'N', path.name) for path in tmp_path.glob('jitted-*')) == [
        'jitted-N-1.so', 'jitted-N-2.so']
    next(tmp_path.glob('jit-*.dump')).unlink()  # it is not needed any more
    ours, theirs = ({key: share for key, share in report(tool, written, '-s', 'dso,sym,srcline').items()
                     if key.startswith('jitted-')} for tool in (tally, perf))
    assert ours == theirs
    assert {'jit_first', 'jit_second'} == {key.split()[2] for key in ours if key.startswith('jitted-')}
    assert any(key.endswith('first.js:11') for key in ours)
    mappings = [line for line in tally('script', '--show-mmap-events', '-i', written, check=0).stdout.splitlines()
                if 'PERF_RECORD_MMAP2' in line]
    assert sum('jitted-' in line for line in mappings) == 3 and not any('.dump' in line for line in mappings)
    times = [float(re.search(r'(\d+\.\d+):', line)[1]) for line in mappings]
    assert times == sorted(times)


def test_files_need_comparable_times(live, tally, workload, tmp_path):
    data = recorded(tally, workload, tmp_path)
    refused = tally('inject', '--jit', '-i', data, '-o', tmp_path / 'merged.data')
    assert refused.returncode == 255 and 'record with -k mono' in refused.stderr
    assert not list(tmp_path.glob('jitted-*')) and not (tmp_path / 'merged.data').exists()


@pytest.fixture
def node():
    """Run it in tmp_path: it leaves logs in its folder."""
    path = shutil.which('node')
    if not path:
        pytest.skip('node is not installed')
    return path


@pytest.fixture
def hot(tmp_path):
    path = tmp_path / 'hot.js'
    path.write_text(HOT, encoding='utf-8')
    return path


def remove_maps(data, tally):
    for pid in set(re.findall(r'PERF_RECORD_MMAP2 (\d+)/', tally('script', '--show-mmap-events', '-i', data).stdout)):
        pathlib.Path(f'/tmp/perf-{pid}.map').unlink(missing_ok=True)


@pytest.mark.parametrize('options', [['--perf-basic-prof'],
                                     ['--perf-basic-prof', '--interpreted-frames-native-stack']])
def test_node_by_its_map(live, tally, perf, node, hot, tmp_path, options):
    data = tmp_path / 'perf.data'
    tally('record', *SAMPLING, '-g', '-o', data, '--', node, *options, hot, 600, cwd=tmp_path, check=0)
    try:
        ours, theirs = (report(tool, data, '-s', 'dso,sym') for tool in (tally, perf))
        chains = tally('script', '-i', data, '-F', 'ip,sym', check=0).stdout
    finally:
        remove_maps(data, tally)
    assert sum(share for row, share in ours.items() if re.search(r'\[JIT\].*hot(Inner|Outer) .*hot\.js', row)) > 60
    generated = {row: share for row, share in ours.items() if '[JIT]' in row}
    assert generated == {row: share for row, share in theirs.items() if '[JIT]' in row}
    assert re.search(r'hotOuter \S*hot\.js', chains)


def test_node_by_its_dump(live, tally, node, hot, tmp_path):
    data = tmp_path / 'perf.data'
    tally('record', '-k', 'mono', *SAMPLING, '-o', data, '--', node, '--perf-prof', hot, 600, cwd=tmp_path, check=0)
    if not list(tmp_path.glob('jit-*.dump')):
        pytest.skip('this node writes no dump')
    rows = report(tally, data, '-s', 'dso,sym')
    assert sum(share for row, share in rows.items() if re.search(r'jit-\d+\.dump.*hot(Inner|Outer) ', row)) > 60


def children_of(pid):
    return [int(child) for child in pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]


@contextlib.contextmanager
def container(node, folder):
    """Runs HOT in namespaces and a /tmp of its own; its number here."""
    if os.geteuid() != 0 or not shutil.which('unshare'):
        pytest.skip('needs root and unshare')
    script = f'mount -t tmpfs none /tmp && exec {node} --perf-basic-prof --eval "$1"'
    source = HOT.replace('process.argv[2]', '60000')
    outer = subprocess.Popen(['unshare', '--pid', '--mount', '--fork', '--mount-proc', '--kill-child', 'sh', '-c',
                              script, 'sh', source], cwd=folder, stderr=subprocess.PIPE)
    try:
        pid = wait_for(lambda: outer.poll() is not None or children_of(outer.pid))
        if outer.poll() is not None:
            pytest.skip(f'unshare is refused: {outer.stderr.read().decode()}')
        pid = pid[0]
        own_map = pathlib.Path(f'/proc/{pid}/root/tmp/perf-1.map')
        wait_for(lambda: own_map.exists() and 'hotOuter' in own_map.read_text(errors='replace'))
        yield pid
    finally:
        outer.send_signal(signal.SIGKILL)
        outer.wait()
        outer.stderr.close()


def test_a_container_has_numbers_and_a_tmp_of_its_own(live, tally, node, tmp_path):
    data = tmp_path / 'perf.data'
    with container(node, tmp_path) as pid:
        tally('record', *SAMPLING, '-p', pid, '-o', data, '--', 'sleep', 0.5, check=0)
        rows = report(tally, data, '-s', 'dso,sym')
    assert sum(share for row, share in rows.items() if re.search(r'\[JIT\].*hot(Inner|Outer) ', row)) > 60


GENERATED = '''
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
int main(void)
{
	const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0x5d, 0xc3};
	unsigned char *p = mmap((void *)0x200000000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == MAP_FAILED) return 1;
	memcpy(p, code, sizeof code);
	((void (*)(long))p)(100000000);
	return 0;
}
'''


@pytest.mark.skipif(os.uname().machine != 'x86_64', reason='the generated code is of x86-64')
@pytest.mark.parametrize('age,clock,named,said', [
    ('2 days ago', ['-k', 'mono'], False, 'last written before the process had generated code'),
    ('2 days ago', [], True, 'may be of an older process'),
    ('now', ['-k', 'mono'], True, None)])
def test_a_map_of_an_older_process(live, tally, tmp_path, age, clock, named, said):
    program = compiled('generated.c', GENERATED, '-O1')
    script = (f"echo $$ > pid; echo '200000000000 e of_a_map' > /tmp/perf-$$.map; touch -d '{age}' /tmp/perf-$$.map; exec {program}")
    tally('record', '-q', *clock, '-F', '500', '-o', 'data', 'sh', '-c', script, cwd=tmp_path, check=0)
    path = f'/tmp/perf-{(tmp_path / "pid").read_text().strip()}.map'
    try:
        text = tally('report', '--stdio', '--no-children', '-i', 'data', cwd=tmp_path, check=0)
        missing = tally('report', '--missing', '--json', '-i', 'data', cwd=tmp_path, check=0)
    finally:
        os.unlink(path)
    assert ('of_a_map' in text.stdout) == named
    objects = [o for o in json.loads(missing.stdout)['missing']['objects'] if o['path'] == path]
    if said:
        assert said in text.stderr
        assert objects and ('doubt' in objects[0] if named else objects[0]['is_refused'])
    else:
        assert path not in text.stderr and not objects


@pytest.mark.skipif(os.geteuid() != 0, reason='only root gives files to others')
def test_a_dump_of_another_user_is_named(live, tally, workload, tmp_path):
    data = recorded(tally, workload, tmp_path)
    dump = next(tmp_path.glob('**/jit-*.dump'))
    os.chown(dump, 65534, -1)
    text = tally('report', '--stdio', '--no-children', '-i', data, check=0)
    assert f'{dump.name} of its generated code is there and is not read: owned neither' in text.stderr
    missing = tally('report', '--missing', '-i', data, check=0).stdout
    assert dump.name in missing and 'owned neither' in missing and 'wrote no' not in missing
