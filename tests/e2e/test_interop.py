# SPDX-License-Identifier: Apache-2.0
"""tally and perf on one recording, made by either: script line by line, report row by row."""
import collections
import re

import pytest

from conftest import without_build_id_request

PERCENT = 0.1


def make(tool, workload, folder, *options):
    """A recording of threads, forks and deep calls, one after another."""
    path = folder / f'{tool.path.name}.data'
    script = (f'{workload("threads").path} 60; {workload("deep").path} 60; {workload("forks").path} 4;'
              f'{workload("execs").path} {workload("recursion").path} 60')
    tool('record', *options, '-o', path, '--', 'sh', '-c', script, check=0)
    return path


@pytest.fixture(params=['perf', 'tally'])
def recording(request, live, perf, tally, workload, tmp_path):
    return make({'perf': perf, 'tally': tally}[request.param], workload, tmp_path, '-e', 'cpu-clock', '-F', '2000', '-g')


def rows(text):
    """{row: percentage}, but for the vDSO and with one row for each PLT: see frames_unaddressed."""
    found = collections.Counter()
    for line in text.splitlines():
        match = re.match(r'\s+(\d+\.\d+)%\s+(.*\S)', line)
        if match and '[vdso]' not in line:
            found[re.sub(r'\w*@plt$', '@plt', re.sub(r'\s+', ' ', match[2]))] += float(match[1])
    return found


def frames_unaddressed(text):
    """The lines without the address of a frame: perf 6.1 writes it relative to the file, newer ones as sampled. Names in
    the vDSO are left out too: perf knows them only where its own record has put a copy into the build-id cache; and of the
    code between the functions that binds them, which older ones take for the end of the function before it."""
    text = re.sub(r'^\t +[0-9a-f]+ ', '\t', text, flags=re.M)
    # ld.so's first function ends with a call, which perf takes for the function behind it.
    text = re.sub(r'^\t(_dl_start_user\+0x0|_start\+0x8) ', '\t_start+0x8 ', text, flags=re.M)
    text = re.sub(r'^\t(_init|\.plt)\+0x[0-9a-f]+ ', '\t(binding) ', text, flags=re.M)
    # 6.1 names libc's own PLT in the order of the relocations, which is not that of its entries.
    text = re.sub(r'^\t\w*@plt\+0x', '\t@plt+0x', text, flags=re.M)
    return re.sub(r'^\t.* \(\[vdso\]\)$', '\t([vdso])', text, flags=re.M).splitlines()


def test_script_is_the_same(recording, perf, tally):
    theirs = frames_unaddressed(perf('script', '--no-inline', '-i', recording, check=0).stdout)
    ours = frames_unaddressed(tally('script', '--no-inline', '-i', recording, check=0).stdout)
    assert len(theirs) > 200
    assert ours == theirs


def test_report_is_the_same(recording, perf, tally):
    options = ('report', '--stdio', '--no-children', '-g', 'none', '-i', recording)
    theirs = rows(perf(*options, check=0).stdout)
    ours = rows(tally(*options, check=0).stdout)
    assert len(theirs) > 5
    for row in {row for both in (ours, theirs) for row, percent in both.items() if percent >= PERCENT}:
        assert row in ours and row in theirs, row
        assert abs(ours[row] - theirs[row]) <= 0.02, row


def test_perf_reads_ours_without_a_warning(live, perf, tally, workload, tmp_path):
    path = make(tally, workload, tmp_path, '-e', 'cpu-clock', '-F', '1000', '-g')
    for command in (['report', '--stdio'], ['script'], ['evlist', '-v'], ['buildid-list'], ['report', '--header-only']):
        result = perf(*command, '-i', path, check=0)
        assert result.stderr.strip() == ''


def header_fields(text):
    return {line[2:].split(':')[0].split('=')[0].strip() for line in text.splitlines() if re.match(r'# \w.* [:=] ', line)}


@pytest.mark.parametrize('options', [[], ['-b'], ['--buildid-all']], ids=' '.join)
def test_perf_injects_into_ours(live, perf, tally, workload, tmp_path, options):
    """6.1's inject leaves an empty recording, and says nothing, where a section of the header is unknown to it."""
    data, injected = make(tally, workload, tmp_path, '-e', 'cpu-clock', '-F', '2000'), tmp_path / 'injected.data'
    perf('inject', *options, '-i', data, '-o', injected, check=0)
    before, after = (tally('script', '-F', 'comm,tid,time,ip', '-i', path, check=0).stdout for path in (data, injected))
    assert before == after and before.count('\n') > 100


def test_header_has_the_fields_of_perf(live, perf, tally, workload, tmp_path):
    options = ('-e', 'cpu-clock', '-F', '1000', '-g')
    theirs = perf('report', '--header-only', '-i', make(perf, workload, tmp_path, *options), check=0).stdout
    ours = perf('report', '--header-only', '-i', make(tally, workload, tmp_path, *options), check=0).stdout
    wanted = {'hostname', 'os release', 'perf version', 'arch', 'nrcpus online', 'nrcpus avail', 'cpudesc', 'cpuid',
              'total memory', 'cmdline', 'event', 'sample duration'}
    assert sorted((wanted & header_fields(theirs)) - header_fields(ours)) == []


def test_evlist_and_build_ids_as_perf(live, perf, tally, workload, tmp_path):
    options = ('-e', 'cpu-clock', '-F', '1000', '-g')
    theirs, ours = (make(tool, workload, tmp_path, *options) for tool in (perf, tally))

    def without_ids(text):
        return re.sub(r' id: \d+|, id = \{[^}]*\}', '', without_build_id_request(text))

    assert without_ids(perf('evlist', '-v', '-i', ours, check=0).stdout) == \
        without_ids(perf('evlist', '-v', '-i', theirs, check=0).stdout)
    found = [set(perf('buildid-list', '-i', path, check=0).stdout.splitlines()) for path in (theirs, ours)]
    programs = [{line for line in lines if 'workloads' in line} for lines in found]
    assert len(programs[0]) == 4 and programs[0] == programs[1]
