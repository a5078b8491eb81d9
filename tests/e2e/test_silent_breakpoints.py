# SPDX-License-Identifier: Apache-2.0
"""Hardware breakpoints that open and never fire, as in some virtual machines: no verb and no library call shows a 0."""
import json
import os
import shutil
import subprocess

import pytest

import json_schema
from conftest import ROOT, why_no_breakpoints

WORDS = 'hardware breakpoints can be opened on this machine but never fire'
# In place of each breakpoint the kernel opens an event that counts nothing, as such a machine's kernel does.
SILENCER = r'''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long words[6];
	struct perf_event_attr attr = {0};
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_perf_event_open) {
		const struct perf_event_attr *asked = (const void *)words[0];
		memcpy(&attr, asked, asked->size < sizeof(attr) ? asked->size : sizeof(attr));
		if (attr.type == PERF_TYPE_BREAKPOINT) {
			attr.size = PERF_ATTR_SIZE_VER5;
			attr.type = PERF_TYPE_SOFTWARE;
			attr.config = PERF_COUNT_SW_DUMMY;
			attr.bp_type = 0;
			attr.bp_addr = attr.bp_len = 0;
			words[0] = (long)&attr;
		}
	}
	return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
'''


@pytest.fixture(scope='module')
def silencer(tmp_path_factory):
    """The environment of a machine whose breakpoints never fire; empty on one."""
    if why_no_breakpoints() and 'never fire' in why_no_breakpoints():
        return {}
    if not shutil.which('gcc'):
        pytest.skip('needs gcc')
    folder = tmp_path_factory.mktemp('silencer')
    (folder / 'silencer.c').write_text(SILENCER)
    subprocess.run(['gcc', '-shared', '-fPIC', '-o', folder / 'silencer.so', folder / 'silencer.c', '-ldl'], check=True)
    return {'LD_PRELOAD': str(folder / 'silencer.so')}


@pytest.fixture
def silent(tally, silencer, live):
    """tally on such a machine; CompletedProcess."""
    def run(*words):
        return subprocess.run([tally.path, *map(str, words)], env={**tally.environment, **silencer}, text=True,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return run


@pytest.mark.parametrize('event', ['mem:0x1000:w:u', 'mem:0x1000/4:rw:u', 'mem:0x1000:x:u', 'mem:0x1000:w'])
def test_stat_shows_no_zero(silent, event):
    result = silent('stat', '-e', event, '--', 'true')
    assert result.returncode == 0 and WORDS in result.stderr and result.stderr.count('<not supported>') == 2, result.stderr
    assert ('uprobe' in result.stderr) == (':x' in event)


@pytest.mark.parametrize('words', [('-r', '2'), ('-I', '1000'), ('-i',), ('--no-merge',), ('record', '-o', '{file}')],
                         ids=' '.join)
def test_stat_counts_the_rest(silent, tmp_path, words):
    words = [word.format(file=tmp_path / 'stat.data') for word in words]
    result = silent('stat', *words, '-e', '{page-faults:u,mem:0x1000:w:u}', '--', 'true')
    rows = [line for line in result.stderr.splitlines() if 'page-faults' in line or 'mem:' in line]
    assert result.returncode == 0 and WORDS in result.stderr, result.stderr
    assert int(rows[0].split('page-faults')[0].split()[-1].replace(',', '')) > 10
    assert '<not supported>' in rows[1]


def test_a_group_led_by_a_breakpoint_counts_the_rest(silent):
    result = silent('stat', '-x', ',', '-e', '{mem:0x1000:w:u,page-faults:u}', '--', 'true')
    rows = [row.split(',') for row in result.stderr.splitlines()]
    assert rows[0][0] == '<not supported>' and int(rows[1][0]) > 10, result.stderr


def test_json_has_the_reason(silent):
    result = silent('stat', '-j', '-e', 'page-faults:u,mem:0x1000:w:u', '--', 'true')
    faults, writes = [json.loads(line) for line in result.stderr.splitlines()]
    schema = json.loads((ROOT / 'docs' / 'schema' / 'stat.json').read_text(encoding='utf-8'))
    for row in (faults, writes):
        json_schema.check(row, schema)
    assert 'reason' not in faults and WORDS in writes['reason'] and writes['counter-value'] == '<not supported>'


@pytest.mark.parametrize('words', [('--compare', 'true', 'true', '-r', '3'), ('-p', '{pid}', '--timeout', '10')], ids=lambda words: words[0])
def test_comparisons_and_targets(silent, words):
    result = silent('stat', *[word.format(pid=os.getpid()) for word in words], '-e', 'mem:0x1000:w:u')
    row = next(line for line in (result.stdout + result.stderr).splitlines() if line.rstrip().endswith('mem:0x1000:w:u'))
    assert result.returncode == 0 and '<not supported>' in row and WORDS in result.stderr


@pytest.mark.parametrize('events', ['mem:0x1000:w:u', 'task-clock:u,mem:0x1000:x:u'])
def test_record_and_top_refuse(silent, tmp_path, events):
    result = silent('record', '-o', tmp_path / 'perf.data', '-e', events, '--', 'true')
    assert result.returncode != 0 and WORDS in result.stderr
    assert not (tmp_path / 'perf.data').exists()
    result = silent('top', '--stdio', '-e', events, '-p', os.getpid())
    assert result.returncode != 0 and WORDS in result.stderr


def test_doctor_says_no(silent):
    result = silent('doctor', '--json')
    event = next(item for item in json.loads(result.stdout)['events'] if item['name'] == 'breakpoint')
    assert not event['is_allowed'] and WORDS in event['reason']
    assert silent('doctor', '-q', '--require', 'breakpoint').returncode == 1


def test_an_ordinary_user_is_told_as_well(tally, silencer, live, open_folder):
    program = open_folder / 'tally'
    shutil.copy(tally.path, program)
    environment = dict(silencer)
    if silencer:
        shutil.copy(silencer['LD_PRELOAD'], open_folder / 'silencer.so')
        environment = {'LD_PRELOAD': str(open_folder / 'silencer.so')}
    result = subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', program, 'stat', '-e', 'mem:0x1000:w:u',
                             '--', 'true'], env={**tally.environment, **environment, 'HOME': str(open_folder)}, text=True,
                            capture_output=True, check=False)
    assert WORDS in result.stderr or 'perf_event_paranoid' in result.stderr, result.stderr
