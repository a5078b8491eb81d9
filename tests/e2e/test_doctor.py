# SPDX-License-Identifier: Apache-2.0
"""tally doctor: in each surrounding it names the gates, its answers are what the kernel does, and it changes nothing."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import json_schema
from conftest import ROOT, TIMEOUT_S, wait_for
from test_refusals import NOBODY, denying, paranoid

SCHEMA = json.loads((ROOT / 'docs' / 'schema' / 'doctor.json').read_text(encoding='utf-8'))


def asked(tally, *words, prefix=()):
    """(exit status, document) of doctor --json, run by other words."""
    result = subprocess.run([*prefix, tally.path, 'doctor', '--json', *map(str, words)], capture_output=True, text=True,
                            timeout=TIMEOUT_S, check=False)
    assert result.returncode in (0, 1), result.stderr
    document = json.loads(result.stdout)
    json_schema.check(document, SCHEMA)
    assert (result.returncode == 0) == document['can_measure']
    for event in document['events']:
        assert event['is_allowed'] == ('reason' not in event) and len(event.get('reason', '.' * 20)) >= 20, event
    for setting in document['settings']:
        assert setting['is_in_the_way'] or 'opens_it' not in setting, setting
    assert len(document['events']) == 15 and len(document['plan']) == 5
    return result.returncode, document


def by_name(items):
    return {item['name']: item for item in items}


def stat_counts(tally, event, *words, prefix=()):
    """Whether stat counts the event, as doctor says."""
    result = subprocess.run([*prefix, tally.path, 'stat', '-x,', '-e', event, *words, '--', 'true'], capture_output=True, text=True,
                            timeout=TIMEOUT_S, check=False)
    return result.returncode == 0 and result.stderr.split(',')[0].isdigit()


def test_what_it_allows_is_what_stat_counts(tally, live):
    _, document = asked(tally)
    events = by_name(document['events'])
    assert stat_counts(tally, 'page-faults:u') == events['software']['is_allowed']
    assert stat_counts(tally, 'page-faults', '-a') == events['all-processes']['is_allowed']
    assert stat_counts(tally, 'cycles:u') == events['hardware']['is_allowed']
    assert stat_counts(tally, 'sched:sched_switch', '-a') == events['tracepoint']['is_allowed']
    settings = by_name(document['settings'])
    assert settings['kernel.perf_event_paranoid']['value'] == str(paranoid())
    assert document['kernel'] == os.uname().release


@pytest.fixture
def readable(tally, open_folder):
    """The program where other users can run it."""
    program = open_folder / 'tally'
    program.write_bytes(tally.path.read_bytes())
    program.chmod(0o755)
    return type('Program', (), {'path': program})


def test_a_user_learns_of_the_sysctl(readable, live):
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('only root can become another user')
    status, document = asked(readable, prefix=NOBODY)
    events, settings = by_name(document['events']), by_name(document['settings'])
    gate = settings['kernel.perf_event_paranoid']
    assert gate['is_in_the_way'] == (paranoid() >= 0)
    if paranoid() == 2:
        assert status == 0 and events['software']['is_allowed'] and not events['kernel-mode']['is_allowed']
        assert 'kernel.perf_event_paranoid=1' in gate['opens_it'] and 'CAP_PERFMON' in events['kernel-mode']['reason']
    assert 'CAP_PERFMON' in settings['capabilities']['value'] and settings['capabilities']['is_in_the_way']
    for prefix_event, name in (('page-faults:u', 'software'), ('page-faults:k', 'kernel-mode')):
        assert stat_counts(readable, prefix_event, prefix=NOBODY) == events[name]['is_allowed'], name


def test_a_denied_clock_does_not_hold_it_up(tally, live, tmp_path):
    tally.prefix = [denying(tmp_path, 'clock_gettime')]
    assert 'software' in tally('doctor', check=0).stdout


def test_a_seccomp_filter_is_named(tally, live, tmp_path):
    prefix = [denying(tmp_path, 'perf_event_open')]
    status, document = asked(tally, prefix=prefix)
    settings = by_name(document['settings'])
    assert status == 1 and not document['can_measure']
    assert settings['seccomp']['is_in_the_way'] and settings['seccomp']['opens_it']
    assert 'seccomp' in by_name(document['events'])['software']['reason']
    assert '--rung timer' in by_name(document['plan'])['samples']['text']
    assert 'getrusage and /proc' in by_name(document['plan'])['counts']['text']


def test_root_of_a_user_namespace_is_a_user_here_too(tally, live):
    prefix = ['unshare', '--user', '--map-root-user']
    if not shutil.which('unshare') or subprocess.run([*prefix, 'true'], capture_output=True, check=False).returncode:
        pytest.skip('no user namespaces here')
    _, document = asked(tally, prefix=prefix)
    settings = by_name(document['settings'])
    assert settings['user namespace']['is_in_the_way'] and settings['capabilities']['is_in_the_way']
    assert by_name(document['events'])['all-processes']['is_allowed'] == (paranoid() < 1)


@pytest.mark.parametrize('covered, setting', [('/sys/kernel/tracing', 'tracefs'), ('/proc/kallsyms', 'kernel.kptr_restrict'),
                                              ('/sys/kernel/btf', 'BTF')])
def test_what_is_missing_is_named(tally, live, tmp_path, covered, setting):
    """In a mount namespace where a file or folder is covered by an empty one; nothing is mounted to help."""
    if os.geteuid() != 0 or not shutil.which('unshare'):
        pytest.skip('mounting takes root')
    (tmp_path / 'empty').write_text('')
    is_folder = pathlib.Path(covered).is_dir()
    if not pathlib.Path(covered).exists():
        pytest.skip(f'this kernel has no {covered}')
    if is_folder:
        (tmp_path / 'folder').mkdir()
    source = tmp_path / ('folder' if is_folder else 'empty')
    also = 'mount --bind "$0" /sys/kernel/debug/tracing 2>/dev/null; ' if setting == 'tracefs' else ''
    prefix = ['unshare', '--mount', 'sh', '-c', f'mount --bind "$0" {covered} || exit 77; {also}exec "$@"', str(source)]
    if subprocess.run([*prefix, 'true'], capture_output=True, check=False).returncode == 77:
        pytest.skip('mounting is not permitted here')
    _, document = asked(tally, prefix=prefix)
    found = by_name(document['settings'])[setting]
    assert found['is_in_the_way'] and found['opens_it'], found
    assert setting != 'kernel.kptr_restrict' or 'umount /proc/kallsyms' in found['opens_it']
    if setting == 'tracefs':
        assert not by_name(document['events'])['tracepoint']['is_allowed']
        assert 'mount -t tracefs' in by_name(document['events'])['tracepoint']['reason']


def test_a_process_and_its_files(tally, live, workload):
    program = workload('spin').path
    child = subprocess.Popen([program, '60000'], stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: os.readlink(f'/proc/{child.pid}/exe') == str(program.resolve()))
        wait_for(lambda: 'libc' in pathlib.Path(f'/proc/{child.pid}/maps').read_text())
        _, document = asked(tally, child.pid)
        target = document['target']
        assert target['pid'] == child.pid and target['can_be_measured'] and target['generated_code_bytes'] == 0
        files = {pathlib.Path(file['path']).name: file for file in target['files']}
        own = files[program.name]
        assert own['names'] == 'all' and own['has_lines'] and own['has_unwind_table']
        assert any('libc' in name for name in files)
        text = tally('doctor', child.pid).stdout
        assert f'Process {child.pid} (' in text and str(program.resolve()) in text
    finally:
        child.kill()
        child.wait()


def test_a_process_of_another_user_is_refused_with_a_reason(readable, live):
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('only root can become another user')
    status, document = asked(readable, os.getpid(), prefix=NOBODY)
    target = document['target']
    assert status == 1 and not target['can_be_measured'] and target['files'] == []
    assert 'CAP_SYS_PTRACE' in target['refusal']


def test_a_thread_of_the_kernel_and_a_zombie(tally, live):
    comm = pathlib.Path('/proc/2/comm')
    if comm.exists() and comm.read_text() == 'kthreadd\n':
        target = asked(tally, 2)[1]['target']
        assert target['is_kernel_thread'] and target['files'] == [] and target['generated_code_bytes'] == 0
        assert '% of its code' not in tally('doctor', 2, check=0 if target['can_be_measured'] else 1).stdout
    child = subprocess.Popen(['true'])
    try:
        wait_for(lambda: ') Z ' in pathlib.Path(f'/proc/{child.pid}/stat').read_text())
        status, document = asked(tally, child.pid)
        assert status == 1 and 'zombie' in document['target']['refusal'] and not document['target']['is_kernel_thread']
    finally:
        child.wait()


def test_a_script_is_its_interpreter(tally, live, tmp_path):
    shell = pathlib.Path(shutil.which('sh')).resolve()
    script, second = tmp_path / 'script', tmp_path / 'second'
    script.write_text('#!/usr/bin/env -S sh -e\nexit 0\n')
    second.write_text(f'#! {script} word\n')
    for path in (script, second):
        path.chmod(0o755)
        target = asked(tally, path)[1]['target']
        assert (target['name'], target['script']) == (str(shell), str(path)), target
    assert f'It runs the script {script}' in tally('doctor', script, check=0).stdout
    script.write_text('#!/nonexistent/interpreter\n')
    result = tally('doctor', script)
    assert result.returncode == 255 and '/nonexistent/interpreter' in result.stderr and str(script) in result.stderr
    script.write_text('exit 0\n')
    assert 'no ELF file and no script' in tally('doctor', script).stderr


def test_go_keeps_frame_pointers(tally, live, tmp_path):
    if not shutil.which('go'):
        pytest.skip('Go is not installed')
    source = tmp_path / 'a.go'
    source.write_text('package main\nimport "fmt"\nfunc main() { fmt.Println("x") }\n')
    if subprocess.run(['go', 'build', '-o', 'a', 'a.go'], cwd=tmp_path, capture_output=True, check=False,
                      env={**os.environ, 'GOFLAGS': '', 'GOCACHE': str(tmp_path / 'cache')}).returncode:
        pytest.skip('this Go does not build')
    target = asked(tally, tmp_path / 'a')[1]['target']
    assert target['frame_pointer_percent'] > 70


def test_code_without_a_file(tally, live, workload, tmp_path):
    """The code of a JIT is seen, and that nothing names it."""
    child = subprocess.Popen([workload('jitcode').path, tmp_path, '60000'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def has_generated():
            return child.poll() is not None or any(
                len(line.split()) == 5 and 'x' in line.split()[1]
                for line in pathlib.Path(f'/proc/{child.pid}/maps').read_text().splitlines())
        wait_for(has_generated)
        if child.poll() is not None:
            pytest.skip('the workload does not wait here')
        if os.path.exists(f'/tmp/perf-{child.pid}.map'):
            pytest.skip('an earlier process with this number has left its map in /tmp')
        _, document = asked(tally, child.pid)
        assert document['target']['generated_code_bytes'] > 0
        assert 'perf-PID.map' in document['target']['generated_code_hint'] and 'generated_code_names' not in document['target']
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize('flag, most', [('-fno-omit-frame-pointer', 101), ('-fomit-frame-pointer', 30)])
def test_frame_pointers_are_told_apart(tally, tmp_path, flag, most):
    if not shutil.which('gcc'):
        pytest.skip('gcc is not installed')
    source = tmp_path / 'a.c'
    source.write_text('volatile int v;\n' + ''.join(
        f'__attribute__((noinline)) int f{i}(int a) {{ for (int k = 0; k < a; k++) v += f{i - 1 if i else "_"}(k); return v; }}\n'
        for i in range(1, 40)).replace('f_', 'f1').replace('f0', 'g') + 'int main(void) { return f39(3); }\n')
    text = source.read_text()
    source.write_text('__attribute__((noinline)) int g(int a);\n' + text + 'int g(int a) { return a + v; }\n')
    program = tmp_path / 'a'
    subprocess.run(['gcc', '-O2', flag, source, '-o', program], check=True)
    _, document = asked(tally, program)
    percent = document['target']['files'][0]['frame_pointer_percent']
    assert percent < most and (percent > 50 or flag == '-fomit-frame-pointer')
    assert document['target']['name'] == str(program.resolve()) and 'pid' not in document['target']


def test_words_and_exit_statuses(tally, live):
    for words, said in ((['999999999'], 'process'), (['--', './nothing-here'], "no program './nothing-here'"), (['no-such-program'], 'no program'),
                        (['4294967296'], 'no program')):
        result = tally('doctor', *words)
        assert result.returncode == 255 and said in result.stderr, (words, result.stderr)
    assert tally('doctor', '--fix=windows').returncode == 129
    assert tally('doctor', '--json', '--fix').returncode == 129
    assert tally('doctor', '--require', 'magic').returncode == tally('doctor', '--require=').returncode == 129
    events = by_name(asked(tally)[1]['events'])
    for name, event in events.items():
        result = tally('doctor', '-q', '--require', name)
        assert result.stdout == result.stderr == '' and result.returncode == (0 if event['is_allowed'] else 1), name
    closed = next((name for name, event in events.items() if not event['is_allowed']), None)
    if closed:
        result = tally('doctor', '--require', f'software,{closed}')
        assert result.returncode == 1 and f'{closed} is not allowed: ' in result.stderr
    for kind in ('sysctl', 'setcap', 'systemd', 'docker', 'podman', 'kubernetes'):
        assert tally('doctor', f'--fix={kind}').stdout.startswith('#')


def fixed(tally, kind, *prefix):
    return subprocess.run([*prefix, tally.path, 'doctor', f'--fix={kind}'], capture_output=True, text=True, timeout=TIMEOUT_S,
                          check=False).stdout


def test_snippets_name_what_is_lacking(readable, live):
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('only root can become another user')
    missing = ['PERFMON', 'BPF', 'SYS_PTRACE', 'SYSLOG']
    lines = fixed(readable, 'docker', *NOBODY).splitlines()
    assert lines[-1].startswith('docker run ' + ' '.join(f'--cap-add {name}' for name in missing)) and lines[-1].endswith(' IMAGE')
    assert f'AmbientCapabilities={" ".join("CAP_" + name for name in missing)}\n' in fixed(readable, 'systemd', *NOBODY)
    assert 'sudo setcap cap_perfmon,cap_bpf,cap_sys_ptrace,cap_syslog+ep "$(command -v tally)"\n' in fixed(readable, 'setcap', *NOBODY)
    sysctl = [line for line in fixed(readable, 'sysctl', *NOBODY).splitlines() if not line.startswith('#')]
    if paranoid() in (2, 3):
        assert f'kernel.perf_event_paranoid = {paranoid() - 1}' in sysctl
    for line in sysctl:
        assert pathlib.Path('/proc/sys', line.split(' = ')[0].replace('.', '/')).exists(), line
    yaml = pytest.importorskip('yaml')
    pod = yaml.safe_load(fixed(readable, 'kubernetes', *NOBODY))
    assert pod['spec']['containers'][0]['securityContext'] == {'runAsUser': 0, 'capabilities': {'add': missing}}
    volumes = {volume['name'] for volume in pod['spec'].get('volumes', [])}
    assert volumes == {mount['name'] for mount in pod['spec']['containers'][0].get('volumeMounts', [])}


def test_what_is_lost_in_a_pid_namespace(tally, live):
    prefix = ['unshare', '--pid', '--fork', '--mount-proc']
    if not shutil.which('unshare') or subprocess.run([*prefix, 'true'], capture_output=True, check=False).returncode:
        pytest.skip('no PID namespaces here')
    _, document = asked(tally, prefix=prefix)
    gate = by_name(document['settings'])['container']
    assert gate['is_in_the_way'] == by_name(document['events'])['all-processes']['is_allowed']
    if gate['is_in_the_way']:
        assert 'PID 0' in gate['stops'] and ' --pid=host' in fixed(tally, 'docker', *prefix)
        assert 'hostPID: true' in fixed(tally, 'kubernetes', *prefix)


def test_without_proc_and_sys(tally, live, tmp_path):
    """In a root that has only the program and its libraries, capabilities are known, and what is not known is said."""
    if os.geteuid() != 0 or not shutil.which('chroot'):
        pytest.skip('chroot takes root')
    listed = subprocess.run(['ldd', tally.path], capture_output=True, text=True, check=False).stdout
    for library in [word for line in listed.splitlines() for word in line.split() if word.startswith('/')]:
        (tmp_path / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, tmp_path / library[1:])
    shutil.copy(tally.path, tmp_path / 'tally')
    result = subprocess.run(['chroot', tmp_path, '/tally', 'doctor', '--json'], capture_output=True, text=True, timeout=TIMEOUT_S,
                            check=False)
    document = json.loads(result.stdout)
    json_schema.check(document, SCHEMA)
    settings, events = by_name(document['settings']), by_name(document['events'])
    assert settings['/proc']['value'] == settings['tracefs']['value'] == 'not mounted'
    assert settings['BTF']['value'] == 'unknown: /sys is not mounted' and 'sysfs' in events['uprobe']['reason']
    assert settings['capabilities']['is_in_the_way'] == (not events['all-processes']['is_allowed'])
    assert (result.returncode == 0) == document['can_measure']
    result = subprocess.run(['chroot', tmp_path, '/tally', 'doctor', '12'], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert result.returncode == 255 and '/proc is not mounted' in result.stderr


def test_lines_of_prose_fit_a_screen(tally, live):
    for line in tally('doctor', '-v').stdout.splitlines():
        assert len(line) <= 100 or "'" in line, line


def test_it_changes_nothing(tally, live):
    def state():
        names = ('kernel/perf_event_paranoid', 'kernel/kptr_restrict', 'kernel/perf_event_max_sample_rate')
        mounts = sorted(line.split(' - ')[0].split()[4] for line in pathlib.Path('/proc/self/mountinfo').read_text().splitlines())
        return [pathlib.Path('/proc/sys', name).read_text() for name in names], mounts
    before = state()
    asked(tally, os.getpid())
    assert state() == before
