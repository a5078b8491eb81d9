# SPDX-License-Identifier: Apache-2.0
"""report: hierarchies, groups and call graphs line by line as perf 6.1 shows them; what a report is worth."""
import itertools
import json
import pathlib
import re

import json_schema
import perfdata_build
import perfdata_file
import pytest
import tracing_build

from perfdata_build import Recording


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('views')


@pytest.fixture
def recording(folder, perf, tally, live, workload):
    """recording(NAME, EVENTS): perf's recording of a workload with call chains, made once.

    It has no sample in libc's own PLT, which perf 6.1 does not name: other names make other columns. And perf can read it:
    6.1 shows an empty report of some recordings that it made beside another session (docs/compatibility.md, build IDs).
    """

    def make(name, events):
        path = folder / f'{name}-{len(events)}.data'
        tries = 0 if path.exists() else 20
        for _ in range(tries):
            result = perf('record', '-g', '-o', path, '-e', events, '-F', '1999', '--', workload(name).path, 150,
                          env={'HOME': str(folder)})
            if result.returncode:
                pytest.skip(f'perf record fails here: {result.stderr.strip().splitlines()[-1]}')
            perfdata_file.move_into_first_call(path, tally)
            if (not perfdata_file.has_binding_of_libc(path, tally) and
                    '%' in perf('report', '--stdio', '-i', path, env={'HOME': str(folder)}).stdout):
                break
        return path

    return make


def binding_last(lines):
    """Rows of equal shares are in the order of their names: those of libc's own PLT, which 6.1 names otherwise, last."""
    def share(line):
        found = re.match(r' +\d+\.\d+%( +(\d+\.\d+%|N/A))?', line)
        return found and found[0]

    return [line for _, equal in itertools.groupby(lines, share) for line in sorted(equal, key=lambda line: '@plt' in line)]


def lines_of(program, path, *options, **environment):
    # 6.1 knows few inlined calls, and not those of libc, and calls the rest of a fractal level inlined at times: it reads
    # what it never set.
    result = program('report', '--stdio', '--no-inline', *options, '-i', path, check=0,
                     env={'HOME': str(path.parent), **environment})
    # Nor does it know the names of libc's own PLT, in which a page fault of its start may be.
    lines = (line.replace('[...] (inlined)', '[...]') for line in result.stdout.splitlines() if '(Tip:' not in line)
    return binding_last(re.sub(r'\S+@plt|(?<=\[\.\] )0x[0-9a-f]{16}' if 'libc.so.6' in line else r'\w+@plt', '@plt', line)
                        for line in lines)


def assert_is_perfs(version, lines, expected):
    if '6.1' not in version:
        pytest.skip('the layout is that of perf 6.1')
    assert lines == expected


@pytest.fixture
def version(perf):
    return perf('--version').stdout


@pytest.mark.parametrize('options', [
    ['-g', 'none'], [], ['-s', '{comm,dso},sym', '-g', 'none'], ['-s', '{comm,sym},{pid,dso}', '-g', 'none'],
    ['-t', ';', '-g', 'none'], ['--percent-limit', '90', '-g', 'none'], ['-n', '--show-total-period', '-g', 'none'],
    ['-s', 'comm', '-g', 'none'], ['-q', '-g', 'none'], ['-w', '10,20,30', '-g', 'none'], ['--group', '-g', 'none'],
    ['--group', '--group-sort-idx', '1', '-g', 'none'],
], ids=' '.join)
def test_hierarchy_is_perfs(options, recording, perf, version, tally):
    path = recording('deep', 'cpu-clock:u,page-faults:u')
    options = ['--hierarchy', *options]
    assert_is_perfs(version, lines_of(tally, path, *options), lines_of(perf, path, *options))


@pytest.mark.parametrize('options', [['-s', 'cpu'], ['-s', 'cpu', '-n'], ['-s', 'sym,cpu', '-n']], ids=' '.join)
def test_equal_rows_of_a_hierarchy_are_in_the_order_of_their_keys(options, perf, version, tally, tmp_path):
    """Also if their numbers of samples differ."""
    made = perfdata_build.Recording()
    made.event('IP TID TIME CPU PERIOD')
    for cpu, periods in (0, [1000, 1000, 1000]), (1, [3000]), (2, [1500, 1500]), (3, [1000, 2000]):
        for period in periods:
            made.sample(cpu=cpu, period=period, ip=0x1000)
    made.write(tmp_path / 'perf.data')
    lines = [lines_of(tool, tmp_path / 'perf.data', '--hierarchy', *options) for tool in (tally, perf)]
    assert_is_perfs(version, *lines)
    assert len([line for line in lines[0] if '25.00%' in line]) == 4


@pytest.mark.parametrize('options', [
    ['-g', 'none'], ['--no-children', '-g', 'none'], ['--no-children', '-g', 'none', '-s', 'comm,dso'],
    ['--hierarchy', '-g', 'none'], ['--no-children', '-g', 'none', '-s', 'sym', '-t', ','],
    ['--no-children', '-g', 'none', '-d', 'libc.so.6,[kernel.kallsyms]'], ['--no-children', '-g', 'none', '-w', '9,9,9,40'],
], ids=' '.join)
def test_verbose_columns_are_perfs(options, recording, perf, version, tally):
    """Paths of objects, and symbols behind the first address of the row and a letter for where their names came from."""
    path = recording('deep', 'cpu-clock,page-faults')
    # perf takes the vdso from its cache, tally the one that this kernel gives it.
    ours, theirs = ([re.sub(r'[dB] (?=\[\.\] __vdso_)', '', line) for line in lines_of(tool, path, '-v', *options)]
                    for tool in (tally, perf))
    assert_is_perfs(version, ours, theirs)
    assert re.search(r'0x[0-9a-f]+ +[A-Za-z] \[\.\] ', '\n'.join(lines_of(tally, path, '-v', '-s', 'sym')))


@pytest.mark.parametrize('options', [
    ['-S', 'leaf'], ['-S', 'leaf,main', '-g', 'none'], ['-S', 'level_7', '-g', 'none'], ['-S', 'leaf', '-g', 'callee'],
    ['-d', 'deep', '-g', 'none'], ['-S', 'leaf', '--no-children'], ['-S', 'leaf', '-s', 'dso', '-g', 'none'],
], ids=' '.join)
def test_callers_of_chosen_samples_are_perfs(options, recording, newest_perf, tally):
    """As 7.x: 6.1 adds to callers what the filter rejects, too."""
    path = recording('deep', 'cpu-clock:u')
    ours, theirs = (lines_of(tool, path, *options) for tool in (tally, newest_perf))
    assert ours == theirs
    if options == ['-S', 'leaf']:
        assert sum(bool(re.search('% +0.00% +deep ', line)) for line in ours) > 20


@pytest.mark.parametrize('options', [
    ['-s', 'symoff'], ['-s', 'comm,symoff'], ['-s', 'symoff,dso', '-n'], ['-s', 'sym,symoff'],
], ids=' '.join)
def test_offsets_in_functions_are_in_perfs_order(options, recording, newest_perf, tally):
    path = recording('deep', 'cpu-clock,page-faults')
    ours, theirs = (lines_of(tool, path, '--no-children', '-g', 'none', *options) for tool in (tally, newest_perf))
    assert ours == theirs and len(ours) > 30


@pytest.mark.parametrize('options', [
    ['-F', '+overhead_children'], ['-F', '+overhead_children', '--no-children'], ['-F', '+overhead_children', '-s', 'comm'],
    ['-s', 'comm,overhead_children'], ['-s', 'comm,overhead_children', '--no-children'], ['-F', 'comm,overhead_children'],
    ['-q', '--header'],
], ids=' '.join)
@pytest.mark.parametrize('has_chains', [True, False], ids=['chains', 'flat'])
def test_sums_of_callers_as_a_column_are_perfs(options, has_chains, recording, folder, perf, version, tally):
    path = recording('deep', 'cpu-clock:u,page-faults:u')
    if not has_chains:
        path = folder / 'flat.data'
        if not path.exists():
            perf('record', '-o', path, '-e', 'cpu-clock:u', '--', 'sh', '-c', 'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done', check=0)
    assert_is_perfs(version, lines_of(tally, path, *options, '-g', 'none'), lines_of(perf, path, *options, '-g', 'none'))


@pytest.mark.parametrize('options', [
    ['--group', '-g', 'none'], ['--group', '--no-children'], ['--group', '--group-sort-idx', '1', '--no-children'],
    ['--group', '--group-sort-idx', '1', '-g', 'none'], ['--group', '--group-sort-idx', '9', '-g', 'none'],
    ['--group', '-n', '-t', ',', '-g', 'none'],
], ids=' '.join)
def test_groups_are_perfs(options, recording, perf, version, tally):
    path = recording('deep', 'cpu-clock:u,page-faults:u')
    assert_is_perfs(version, lines_of(tally, path, *options), lines_of(perf, path, *options))


@pytest.fixture
def partly_grouped(tmp_path):
    """Three events, the last two of which were recorded as a group."""
    built = Recording()
    for config in (0, 2, 3):
        built.event('IDENTIFIER IP TID TIME PERIOD', config=config)
    built.name_events('cpu-clock', 'page-faults', 'context-switches')
    built.feature(17, built.pack('II', 1, 64) + b'{anon_group}'.ljust(64, b'\0') + built.pack('II', 1, 2))
    built.comm('job')
    built.mmap(0x400000, 0x8000, '/bin/nothing')
    for i in range(12):
        built.sample(i % 3, ip=0x400000 + i % 4 * 8, time=1000 + i * 10, period=100 + i)
    built.write(tmp_path / 'perf.data')
    return tmp_path / 'perf.data'


@pytest.mark.parametrize('options', [['--group'], ['--group', '-n', '-s', 'comm'], ['--no-group']], ids=' '.join)
def test_what_was_recorded_as_groups_stays_so(options, partly_grouped, perf, version, tally):
    assert_is_perfs(version, lines_of(tally, partly_grouped, *options), lines_of(perf, partly_grouped, *options))
    titles = [line for line in lines_of(tally, partly_grouped, *options) if '# Samples' in line]
    assert len(titles) == (3 if '--no-group' in options else 2)


@pytest.mark.parametrize('options', [[], ['-t', ',']], ids=' '.join)
def test_sums_of_children_that_are_not_made_are_not_shown(options, partly_grouped, perf, version, tally):
    options = [*options, '-F', 'overhead_children,overhead,sym']
    lines = lines_of(tally, partly_grouped, *options)
    assert '       N/A' in '\n'.join(lines) or '     N/A,' in '\n'.join(lines)
    assert_is_perfs(version, lines, lines_of(perf, partly_grouped, *options))


def test_counts_of_records_stand_below_them(partly_grouped, tally):
    def text(verb, *options):
        return tally(verb, *options, '-i', partly_grouped, check=0).stdout

    assert text('report', '-D').endswith(text('report', '-D', '--stats'))
    assert ' PERF_RECORD_COMM: ' in text('report', '-D', '--stats')
    zeros = re.compile('^ +LOST events: +0  \\( 0.0%\\)$', re.M)
    for words in (('report', '--stats', '--no-skip-empty'), ('report', '-D', '--no-skip-empty'), ('annotate', '-D')):
        assert zeros.search(text(*words)), words
    assert not zeros.search(text('report', '--stats')) and not zeros.search(text('report', '-D'))


def test_events_of_groups_have_no_list_of_fields(partly_grouped, perf, version, tally):
    assert '(not a tracepoint)' in tally('evlist', '--trace-fields', '-i', partly_grouped, check=0).stdout
    words = ('evlist', '-g', '--trace-fields', '-i', partly_grouped)
    assert_is_perfs(version, tally(*words, check=0).stdout, perf(*words).stdout)


@pytest.mark.parametrize('options', [
    ['--ignore-callees=work'], ['--ignore-callees=level', '--no-children'], ['--ignore-callees=level', '-g', 'none'],
    ['--ignore-callees=level|main', '--no-children', '-g', 'caller'], ['--no-children', '-g'],
], ids=' '.join)
def test_call_graphs_are_perfs(options, recording, perf, version, tally):
    path = recording('deep', 'cpu-clock:u,page-faults:u')
    assert_is_perfs(version, lines_of(tally, path, *options), lines_of(perf, path, *options))


def test_a_member_to_sort_by_needs_a_group(recording, tally):
    path = recording('deep', 'cpu-clock:u')
    assert 'needs events in a group' in tally('report', '--group-sort-idx', '1', '-i', path, check=255).stderr
    tally('report', '--group-sort-idx', '0', '-i', path, check=0)  # the first event is what it goes by anyway
    for fields in ('comm', 'overhead', 'comm,overhead'):
        assert 'values before sort keys' in tally('report', '--hierarchy', '-F', fields, '-i', path, check=255).stderr
    assert 'not from both' in tally('report', '--hierarchy', '-F', 'overhead,comm', '-s', 'sym', '-i', path, check=255).stderr


def test_kernel_addresses_in_traces_have_names(tally, perf, tmp_path):
    """The trace of a sample is the row's: with the kernel's names, as script has them."""
    free = tracing_build.Tracepoint('kmem', 'kfree', 7, [('void *', 'call_site', 8)], '"call_site=%pS", REC->call_site')
    r = perfdata_build.Recording()
    r.event('IP TID TIME PERIOD RAW IDENTIFIER', kind=2, config=7, period=1)
    r.name_events('kmem:kfree')
    r.feature(1, tracing_build.tracing_data([free]))
    text = 0xffffffff81000000
    r.record(1, 1, r.pack('iIQQQ', -1, 0, text, 0x1000000, text) + r.name('[kernel.kallsyms]_text') + r.trailer())
    r.comm('prog')
    for address in (text + 0x108, text + 0x108, text + 0x204):
        r.sample(ip=text + 0x300, misc=1, raw=free.payload(call_site=address - (1 << 64)))
    r.write(tmp_path / 'perf.data')
    (tmp_path / 'kallsyms').write_text(''.join(
        f'{text + at:x} T {name}\n' for at, name in ((0, '_text'), (0x100, 'one'), (0x200, 'two'), (0x400, '_etext'))))
    options = ['report', '--stdio', '-s', 'trace', '-g', 'none', '--kallsyms', tmp_path / 'kallsyms', '-i',
               tmp_path / 'perf.data']
    rows = [[line.split() for line in program(*options, check=0).stdout.split('\n') if line[:1] == ' ']
            for program in (tally, perf)]
    assert rows[0] == [['66.67%', 'call_site=one+0x8'], ['33.33%', 'call_site=two+0x4']]
    assert rows[0] == rows[1]


def test_the_trace_of_a_single_sample_is_whole_beside_sums_of_children(tally, perf, tmp_path):
    """perf cuts it to the heading where no row is compared with another; a caller's row is."""
    free = tracing_build.Tracepoint('kmem', 'kfree', 7, [('int', 'number', 4)], '"a text of some length %d", REC->number')
    r = perfdata_build.Recording()
    r.event('IP TID TIME CALLCHAIN PERIOD RAW IDENTIFIER', kind=2, config=7, period=1)
    r.name_events('kmem:kfree')
    r.feature(1, tracing_build.tracing_data([free]))
    r.comm('prog')
    r.sample(ip=0x400010, callchain=[(1 << 64) - 512, 0x400010, 0x400020], raw=free.payload(number=5))
    r.write(tmp_path / 'perf.data')
    for program in (tally, perf):
        text = program('report', '--stdio', '-g', 'none', '--children', '-i', tmp_path / 'perf.data').stdout
        assert '100.00%   100.00%  a text of some length 5\n' in text
        text = program('report', '--stdio', '-g', 'none', '--no-children', '-i', tmp_path / 'perf.data').stdout
        assert '100.00%  a text of so\n' in text


def test_equal_offsets_of_two_objects_are_two_rows(tally, tmp_path):
    """As in 7.x, also without the object among the keys."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME IDENTIFIER')
    r.comm('prog')
    r.mmap(0x400000, 0x1000, '/nonexistent/one')
    r.mmap(0x700000, 0x1000, '/nonexistent/two')
    for ip in (0x400010, 0x400010, 0x700010):
        r.sample(ip=ip)
    r.write(tmp_path / 'perf.data')
    text = tally('report', '--stdio', '-s', 'symoff', '-i', tmp_path / 'perf.data', check=0).stdout
    assert re.findall(r'^ +(\d+\.\d\d)%  \[.] 0x0*([0-9a-f]+)', text, re.M) == [('66.67', '10'), ('33.33', '10')]


@pytest.mark.parametrize('options', [
    ['-t', ',', '-s', 'comm,dso,sym'], ['-t', 'o', '-s', 'comm,pid', '-n'], ['-t', ' ', '-s', 'comm,dso'],
    ['-t', ',', '--hierarchy', '-s', 'comm,dso'], ['-t', '01', '-s', 'cpu,sym'],
], ids=' '.join)
def test_separators_in_names_are_dots(options, perf, tally, tmp_path):
    r = perfdata_build.Recording()
    r.event('IP TID TIME CPU IDENTIFIER')
    r.comm('one, two')
    r.mmap(0x400000, 0x1000, '/nonexistent/a,b')
    for cpu, ip in ((10, 0x400010), (10, 0x400010), (2, 0x400020)):
        r.sample(ip=ip, cpu=cpu)
    r.write(tmp_path / 'perf.data')
    rows = [[line.rstrip() for line in program('report', '--stdio', *options, '-i', tmp_path / 'perf.data').stdout.split('\n')
             if line and line[0] != '#'] for program in (tally, perf)]
    assert rows[0] == rows[1]
    assert ''.join(rows[0]).count('.') > ''.join(rows[0]).count('%')


def test_separators_in_names_are_dots_in_diff(perf, tally, tmp_path):
    for name, count in (('one', 1), ('two', 3)):
        r = perfdata_build.Recording()
        r.event('IP TID TIME IDENTIFIER')
        r.comm('prog')
        r.mmap(0x400000, 0x1000, '/nonexistent/a,b')
        for i in range(count):
            r.sample(ip=0x400010 + 16 * i)
        r.write(tmp_path / name)
    texts = [program('diff', '-t', ',', '-s', 'dso', tmp_path / 'one', tmp_path / 'two').stdout for program in (tally, perf)]
    assert all(re.search(r',a\.b *\n', text) for text in texts)


def test_traces_without_their_formats(tally, tmp_path):
    """Where the formats of tracepoints are cut off or damaged there are rows of all that is known without them."""
    free = tracing_build.Tracepoint('kmem', 'kfree', 7, [('void *', 'call_site', 8)])
    r = perfdata_build.Recording()
    r.event('IP TID TIME PERIOD RAW IDENTIFIER', kind=2, config=7, period=1)
    r.name_events('kmem:kfree')
    r.feature(1, tracing_build.tracing_data([free])[3:])
    r.comm('prog')
    r.sample(raw=free.payload(call_site=1))
    r.write(tmp_path / 'perf.data')
    result = tally('report', '--stdio', '-s', 'comm', '-i', tmp_path / 'perf.data', check=0)
    assert 'prog' in result.stdout and 'tracing data' not in result.stderr
    result = tally('report', '--stdio', '-i', tmp_path / 'perf.data', check=0)
    assert re.search(r'100.00%  prog ', result.stdout)
    assert result.stderr.count('tracing data cannot be read: rows are not sorted by trace') == 1
    assert 'cannot be read' in tally('report', '-s', 'trace', '-i', tmp_path / 'perf.data', check=255).stderr


def test_a_loss_counts_once(tally, perf, tmp_path):
    """A ring says how many records it had no room for, and each event how many of them were its own."""
    r = perfdata_build.Recording()
    for config in (0, 1):
        r.event('IP TID TIME IDENTIFIER', config=config, read_format=1 << 4)
    r.name_events('cpu-clock', 'task-clock')
    r.comm('prog')
    for event in (0, 0, 0, 1):
        r.sample(event)
    r.record(2, 0, r.words([1, 6]) + r.trailer())
    for lost in (4, 2):
        r.record(13, 0, r.words([lost]) + r.trailer())
    path = tmp_path / 'perf.data'
    r.write(path)
    ours, theirs = (program('report', '--stats', '-i', path, check=0).stdout.split('\n') for program in (tally, perf))
    assert [row.split() for row in ours if 'LOST_SAMPLES' in row] == [
        ['LOST_SAMPLES', 'events:', '2', '(25.0%)'], ['LOST_SAMPLES', 'events:', '6']]
    assert [row.split() for row in ours] == [row.split() for row in theirs]
    ours, theirs = (program('report', '-D', '-i', path, check=0).stdout.split('Aggregated')[1].split()
                    for program in (tally, perf))
    assert ours == theirs
    assert 'note: 4 samples, 6 lost (60.00%)' in tally('report', '-i', path, check=0).stderr


WORTH = re.compile(r'note: [0-9,]+ samples, none lost, never throttled; [0-9.]+% of stacks are known to be complete; '
                   r'[0-9.]+% of samples resolved to a symbol \(kernel excluded\)$')


def test_a_report_ends_with_what_it_is_worth(recording, tally):
    path = recording('deep', 'cpu-clock:u')
    assert WORTH.search(tally('report', '-i', path, check=0).stderr.splitlines()[-1])
    assert tally('report', '-q', '-i', path, check=0).stderr == ''


def test_requirements_are_an_exit_status(recording, tally):
    path = recording('deep', 'cpu-clock:u')
    rows = tally('report', '-i', path, check=0).stdout
    met = tally('report', '--require', 'lost<1%,samples>10,symbols>90%', '-i', path, check=0)
    assert met.stdout == rows and 'require' not in met.stderr
    unmet = tally('report', '--require', 'lost<1%,samples>1000000', '-i', path, check=3)
    assert unmet.stdout == rows
    assert re.search(r'warning: --require: samples is \d+, not > 1000000$', unmet.stderr, re.M)
    # what a flat report does not need is looked at when it is required
    tally('report', '-q', '-g', 'none', '--no-children', '--require', 'complete>=0%', '-i', path, check=0)
    assert 'there are no samples' in tally('report', '--require', 'kernel>1%', '-i', path, check=3).stderr
    assert 'is not a known requirement' in tally('report', '--require', 'x<1', '-i', path, check=129).stderr
    tally('report', '--stats', '--require', 'lost<1%', '-i', path, check=255)


SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / 'docs' / 'schema' / 'report.json').read_text())


def json_of(tally, path, *options, status=0):
    result = tally('report', '--json', *options, '-i', path, check=status)
    tree = json.loads(result.stdout)
    json_schema.check(tree, SCHEMA)
    return tree


def leaves(rows):
    for row in rows:
        if 'rows' in row:
            yield from leaves(row['rows'])
        else:
            yield row


def depth(chains):
    return 1 + max((depth(c.get('children', [])) for c in chains), default=0)


@pytest.mark.parametrize('options', [
    [], ['-g', 'none'], ['--hierarchy'], ['--group'], ['--group', '--hierarchy'], ['-s', 'pid,comm,cpu,sym'],
    ['-F', 'overhead,sample,dso'], ['-g', 'fractal,5'], ['-c', 'nobody'], ['--percentage', 'relative', '-d', 'deep'],
    ['-t', ',', '-w', '3,3'], ['-s', 'sym,srcline'],
], ids=' '.join)
def test_json_is_as_the_schema_says(options, recording, tally):
    tree = json_of(tally, recording('deep', 'cpu-clock:u,page-faults:u'), *options)
    assert len(tree['tables']) == (1 if '--group' in options else 2)
    for table in tree['tables']:
        for row in leaves(table['rows']):
            assert len(row['values']) == len(table['events'])


def shown(row):
    address = int(row.get('address', '0'), 16)
    name = row.get('symbol') or f'{"0x" if address else ""}{address:016x}'
    return f'{name} (inlined)' if row.get('inlined') else name


def test_json_has_the_numbers_of_the_text(recording, tally):
    path = recording('deep', 'cpu-clock:u,page-faults:u')
    text = tally('report', '-g', 'none', '-F', 'overhead,sample,period,comm,dso,sym', '-t', ';', '-q', '-i', path).stdout
    table = json_of(tally, path, '-g', 'none', '-F', 'overhead,sample,period,comm,dso,sym')['tables'][0]
    rows = [line.split(';') for line in text.split('\n\n')[0].splitlines()]
    assert [[f'{r["values"][0]["overhead"]:.2f}%', str(r['values'][0]['samples']), str(r['values'][0]['period']),
             r['comm'], r.get('dso', '[unknown]'), f'[{r["level"]}] {shown(r)}'] for r in table['rows']] == [
                 [cell.strip() for cell in row] for row in rows]
    assert sum(r['values'][0]['period'] for r in table['rows']) == table['events'][0]['period']


def test_json_chains_and_levels(recording, tally):
    path = recording('deep', 'cpu-clock:u')
    flat = json_of(tally, path, '--no-children')['tables'][0]
    assert depth(flat['rows'][0]['chains']) >= 2
    for row in flat['rows']:
        assert sum(c['period'] for c in row.get('chains', [])) <= row['values'][0]['period']
    tree = json_of(tally, path, '--hierarchy', '-s', '{comm,dso},sym')['tables'][0]
    assert [c.get('level') for c in tree['columns']] == [None, 0, 0, 1]
    assert {'comm', 'dso', 'rows'} <= set(tree['rows'][0]) and 'symbol' in tree['rows'][0]['rows'][0]
    for row in tree['rows']:
        assert sum(r['values'][0]['period'] for r in row['rows']) == row['values'][0]['period']


def test_json_in_any_locale_and_with_requirements(recording, tally):
    path = recording('deep', 'cpu-clock:u')
    plain = tally('report', '--json', '-i', path, check=0, env={'LC_ALL': 'C'}).stdout
    assert tally('report', '--json', '-i', path, check=0, env={'LC_ALL': 'de_DE.UTF-8'}).stdout == plain
    unmet = json_of(tally, path, '--require', 'samples<2', status=3)
    assert unmet['unmet'] == [f'samples is {unmet["worth"]["samples"]}, not < 2']
    assert 'data convert --to-json' in tally('report', '--json', '-D', '-i', path, check=255).stderr


def test_json_of_the_header(recording, folder, tally, perf):
    """What the text says, and the report behind it."""
    path = folder / 'header.data'
    perf('record', '-q', '-k', 'monotonic', '-e', '{cpu-clock:u,page-faults:u}', '-F', 99, '-o', path, '--', 'true', check=0)
    tree = json_of(tally, path, '--header')
    only = json_of(tally, path, '--header-only')
    header = tree['header']
    assert tree['tables'] and only == {'schema': 1, 'path': str(path), 'header': header}
    assert 'header' not in json_of(tally, path) and 'header' in json_of(tally, path, '--header', '--stats')
    text = perf('report', '--header-only', '-i', path, check=0).stdout
    for key, name in (('hostname', 'hostname'), ('os_release', 'os release'), ('perf_version', 'perf version'), ('arch', 'arch'),
                      ('cpu', 'cpudesc'), ('cpuid', 'cpuid'), ('cpus_online', 'nrcpus online'),
                      ('cpus_available', 'nrcpus avail'), ('data_offset', 'data offset'), ('data_bytes', 'data size')):
        assert re.search(rf'^# {name} *: {re.escape(str(header[key]))}$', text, re.M), key
    assert f'# total memory : {header["total_memory_kb"]} kB\n' in text
    assert ' '.join(header['command']) in text and header['groups'] == [{'events': ['cpu-clock:u', 'page-faults:u']}]
    assert [e['name'] for e in header['events']] == ['cpu-clock:u', 'page-faults:u'] and header['events'][0]['frequency'] == 99
    assert header['clock']['name'] == 'monotonic' and header['first_sample_ns'] <= header['last_sample_ns']
    assert 'HOSTNAME' in header['features'] and 'COMPRESSED' not in header['features']


def test_json_of_what_is_no_profile(recording, folder, tally, perf, workload):
    path = recording('deep', 'cpu-clock:u,page-faults:u')
    stats = json_of(tally, path, '--stats')['stats']
    assert stats['total'] == sum(r['count'] for r in stats['records'])
    assert sum(e['samples'] for e in stats['events']) == next(r['count'] for r in stats['records'] if r['type'] == 'SAMPLE')
    tasks = json_of(tally, path, '--tasks')['tasks']
    assert 'deep' in [t.get('comm') for t in tasks] and 'mappings' not in tasks[0]
    mapped = [m['path'] for t in json_of(tally, path, '--mmaps')['tasks'] for m in t['mappings']]
    assert any(p.endswith('/deep') for p in mapped)
    everything = json_of(tally, path, '--missing', '-v')['missing']
    assert any(o['path'].endswith('/deep') and o['unnamed_samples'] == 0 for o in everything['objects'])
    counted = folder / 'counted.data'
    perf('record', '-s', '-e', 'cpu-clock:u', '-o', counted, '--', workload('threads').path, 50, check=0)
    tree = json_of(tally, counted, '-T')
    assert tree['threads'] and tree['threads'][0]['counts'][0]['event'] == 'cpu-clock:u' and tree['tables']


@pytest.mark.parametrize('config,options', [
    ('[report]\n\tpercent-limit = 50\n', ['-g', 'none']), ('[report]\n\tchildren = no ; never\n', []),
    ('[report]\nsort_order = "comm"\n', ['-g', 'none']), ('[report]\nsort_order = comm\n', ['-s', '+dso']),
    ('[call-graph]\nprint-type = folded\n', ['--no-children']), ('[call-graph]\norder = caller\n', ['--no-children']),
    ('[call-graph]\nprint-limit=1\nthreshold=30\n', ['--no-children']),
    ('[call-graph]\nprint-limit=1\n', ['-g', '--no-children']), ('', ['-g', 'graph,1,1', '-g', '--no-children']),
    ('[call-graph]\nprint-type = fractal\n', ['-g']),
    ('[call-graph]\nprint-type=fractal\n', ['-g', 'caller']), ('[report]\nchildren=no\n', ['--children', '-g', 'none']),
    ('[report]\npercent-limit=40\n[call-graph]\nthreshold=1', []), ('', ['-g', '--no-children']),
    ('[hist]\npercentage=relative\n', ['-c', 'deep', '--no-children']),
], ids=str)
def test_configuration_changes_what_it_changes_of_perf(config, options, recording, perf, version, tally, tmp_path):
    path = recording('deep', 'cpu-clock:u,page-faults:u')
    file = tmp_path / 'config'
    file.write_text(config)

    assert_is_perfs(version, *(lines_of(program, path, *options, PERF_CONFIG=str(file)) for program in (tally, perf)))


def test_configuration_of_home_and_bad_ones(recording, tally, tmp_path):
    path = recording('deep', 'cpu-clock:u')
    (tmp_path / '.perfconfig').write_text('[report]\nsort_order = comm\n')
    home = {'HOME': str(tmp_path)}
    assert '# Children      Self  Command\n' in tally('report', '-i', path, env=home, check=0).stdout
    # another file, and none at all
    assert 'Symbol' in tally('report', '-i', path, env={**home, 'PERF_CONFIG': '/dev/null'}, check=0).stdout
    (tmp_path / '.perfconfig').write_text('[call-graph]\nthreshold = low\n')
    refused = tally('report', '-i', path, env=home, check=255)
    assert 'wrong config key-value pair call-graph.threshold=low' in refused.stderr and not refused.stdout
    (tmp_path / '.perfconfig').write_text('[report]\nchildren = maybe\nsort_order\n')
    warned = tally('report', '-i', path, env=home, check=0)
    assert "bad config value for 'report.children'" in warned.stderr and 'bad config file line 3' in warned.stderr


def record_threads(path):
    """One process whose threads have names of their own, and one that nothing names."""
    r = perfdata_build.Recording()
    r.event('IP TID TIME PERIOD IDENTIFIER')
    for tid, name in ((1000, 'server'), (1001, 'io worker'), (1002, 'timer')):
        r.record(3, 0, r.pack('II', 1000, tid) + r.name(name) + r.pack('IIQQ', 1000, tid, 10**9, 1))
    for index, tid in enumerate((1001, 1001, 1002)):
        r.sample(ip=0x400010, tid=(1000, tid), time=2 * 10**9 + index)
    r.sample(ip=0x400010, tid=(2000, 2001), time=3 * 10**9)
    r.write(path)


def test_a_process_has_the_name_of_its_first_thread(tally, tmp_path):
    record_threads(tmp_path / 'perf.data')
    words = ['report', '-g', 'none', '-i', tmp_path / 'perf.data', '-s']
    text = tally(*words, 'tgid,pid', check=0).stdout
    rows = [line.split(maxsplit=1)[1].rstrip() for line in text.splitlines()[1:] if line[:1] == ' ']
    assert [' '.join(row.split()) for row in rows] == [
        '1000:server 1001:io worker', '1000:server 1002:timer', '2000::2000 2001::2001']
    table = json.loads(tally(*words, 'tgid', '--json', check=0).stdout)['tables'][0]
    assert [(row['pid'], row['process']) for row in table['rows']] == [(1000, 'server'), (2000, ':2000')]


def test_children_that_are_not_summed_are_no_column_beside_the_usual_ones(tally, tmp_path):
    record_threads(tmp_path / 'perf.data')
    words = ['report', '-i', tmp_path / 'perf.data', '-s', 'comm', '-F']
    assert 'Children' not in tally(*words, '+overhead_children,sample', check=0).stdout
    assert 'Children' in tally(*words, 'overhead_children,comm', check=0).stdout
