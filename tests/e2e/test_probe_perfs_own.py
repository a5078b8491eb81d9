# SPDX-License-Identifier: Apache-2.0
"""perf's own shell tests about probes, with tally as `perf`: those that its perf passes on this machine."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import NEWEST_PERF

PROBES = pathlib.Path('/sys/kernel/tracing/uprobe_events')
# What ping does with an address, for machines without it.
PING = '''#include <netdb.h>
#include <stddef.h>
int main(void)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_family = AF_INET6};
	struct addrinfo *found = NULL;
	int failed = getaddrinfo("::1", NULL, &hints, &found);
	freeaddrinfo(found);
	return failed;
}
'''


@pytest.fixture
def uprobes(live):
    if os.geteuid() != 0 or not os.access(PROBES, os.W_OK):
        pytest.skip('needs tracefs with uprobe_events, and root')
    if not shutil.which('gcc'):
        pytest.skip('needs gcc')


@pytest.mark.alone
def test_a_function_of_another_unit(perfs_own_test, uprobes):
    result = perfs_own_test('test_uprobe_from_different_cu.sh')
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.alone
def test_a_function_of_libc_with_its_callers(perfs_own_test, uprobes, tmp_path, monkeypatch):
    folder = tmp_path / 'bin'
    folder.mkdir()
    (folder / 'ping.c').write_text(PING)
    subprocess.run(['gcc', '-O1', '-g', '-o', folder / 'ping', folder / 'ping.c'], check=True)
    monkeypatch.setenv('PATH', f'{folder}:{os.environ["PATH"]}')
    result = perfs_own_test('record+probe_libc_inet_pton.sh')
    if result.returncode == 2:
        pytest.skip("perf's own test needs 'ip', and a loopback with IPv6")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize('name, passed', [('test_invalid_options', 21), ('test_line_semantics', 13), ('test_basic', 1)])
def test_the_suite_of_the_verb(tally, tmp_path, name, passed):
    """They skip where the kernel has no kprobes, which these need not: their check for that is taken out."""
    if not NEWEST_PERF:
        pytest.skip('the newest perf is not installed (TALLY_NEWEST_PERF)')
    source = NEWEST_PERF.parent / 'root/usr/lib/perf-core/tests/shell'
    if not (source / 'base_probe' / f'{name}.sh').exists() or not shutil.which('perl'):
        pytest.skip("perf's own tests of probe are not installed, or perl is missing")
    shell = tmp_path / 'shell'
    shutil.copytree(source, shell)
    common = shell / 'common' / 'init.sh'
    text, changes = re.subn(r'^check_kprobes_available\(\)$', 'check_kprobes_available() { true; }\nunused()',
                            common.read_text(), flags=re.M)
    assert changes == 1
    common.write_text(text)
    folder = tmp_path / 'programs'
    folder.mkdir()
    (folder / 'perf').symlink_to(tally.path)
    environment = {**tally.environment, 'PATH': f'{folder}:{os.environ["PATH"]}', 'PERFSUITE_RUN_DIR': str(tmp_path)}
    result = subprocess.run(['bash', f'./{name}.sh'], cwd=shell / 'base_probe', env=environment, capture_output=True, text=True,
                            check=False)
    rows = re.findall(r'-- \[ (PASS|FAIL) \] -- (.*)', result.stdout)
    # perf itself fails at the quiet switch where there are no kprobes.
    failed = [text for kind, text in rows if kind == 'FAIL' and 'quiet switch' not in text]
    assert not failed and sum(kind == 'PASS' for kind, _ in rows) >= passed, result.stdout + result.stderr


@pytest.mark.alone
@pytest.mark.parametrize('name', ['probe_vfs_getname', 'trace+probe_vfs_getname', 'record+script_probe_vfs_getname'])
def test_the_kernels_names_of_files(perfs_own_test, uprobes, name):
    """They need kprobes and debug information of the kernel; without either they skip, as with perf."""
    result = perfs_own_test(f'{name}.sh')
    if result.returncode == 2:
        pytest.skip("perf's own test skips: no kprobes, or no debug information of the kernel")
    assert result.returncode == 0, result.stdout + result.stderr
