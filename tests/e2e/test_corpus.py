# SPDX-License-Identifier: Apache-2.0
"""What tally says of recordings that nobody here made, beside what perf says (TALLY_TEST_DATA/corpus).

The version of perf that the manifest trusts is compared row by row. Where both are right in their own way a rule below
names the difference and makes the rows alike; a row that a rule made equal counts as explained. Run with -s to see
the table of agreement.
"""
import collections
import csv
import difflib
import gzip
import pathlib
import re
import shlex

import pytest

# The first rows of expected/*/script.txt.gz are kept.
SCRIPT_ROWS = 2000
ARGUMENTS = {
    'evlist': ['evlist', '-v'],
    'header': ['report', '--header-only', '-I'],
    'buildid-list': ['buildid-list'],
    'stats': ['report', '--stats'],
}
EXPECTED = {'evlist': 'evlist-v', 'header': 'header', 'buildid-list': 'buildid-list', 'stats': 'report-stats',
            'script': 'script'}


class Recording:
    """A row of the manifest."""

    def __init__(self, folder, row):
        self.id, self.row, self.folder = row['id'], row, folder
        self.path = folder / 'files' / row['file']
        self.version = row['use_expected']
        self.is_pipe = row['mode'] == 'pipe'
        self.is_hiperf = 'hiperf' in row['repo']
        self.verdict = row[f'verdict_perf{self.version}'] if self.version != 'none' else ''

    def has(self, word):
        return word in self.row['features'].split()

    @property
    def is_hostile(self):
        """Neither version of perf reads it."""
        return not any(self.row[f'verdict_perf{version}'].startswith('ok') for version in ('6.1', '7.3'))

    @property
    def is_broken(self):
        """Perf reads it, but not to its end."""
        return self.row['warnings'] != '-'

    def expected(self, kind):
        path = self.folder / 'expected' / self.id / f'perf-{self.version}' / f'{EXPECTED[kind]}.txt.gz'
        return gzip.open(path).read().decode(errors='replace').splitlines()

    def arguments(self, kind, empty):
        if kind != 'script':
            return [*ARGUMENTS[kind], '-i', str(self.path)]
        text = (self.folder / 'expected' / self.id / f'perf-{self.version}' / 'script.args').read_text()
        return [word.replace('EMPTYDIR', str(empty)) if word != 'FILE' else str(self.path)
                for word in shlex.split(text)]


def sub(pattern, replacement):
    compiled = re.compile(pattern)
    return lambda rows: [compiled.sub(replacement, row) for row in rows]


def drop(pattern):
    compiled = re.compile(pattern)
    return lambda rows: [row for row in rows if not compiled.search(row)]


def always(recording):
    return True


def by_7(recording):
    return recording.version == '7.3'


def by_6(recording):
    return recording.version == '6.1'


def is_one_of(*ids):
    return lambda recording: recording.id in ids


MODIFIERS = r':[ukhpPHGSDWIeb]+'
# (kind, why, which recordings, how both sides are made alike)
RULES = [
    ('header', 'the time of the file is that of its copy', always, drop(r'^# captured on')),
    ('evlist', '6.1 names neither type nor config', by_6, sub(r'((?:type|config): \w+) \([^)]*\)', r'\1')),
    ('evlist', '6.1 leaves out a type and a config of 0', by_6, sub(r'(: )type: 0, |config: 0, ', r'\1')),
    ('header', '6.1 names neither type nor config', by_6, sub(r'((?:type|config) = \w+) \([^)]*\)', r'\1')),
    ('header', '6.1 leaves out a type and a config of 0', by_6, sub(r'type = 0, |config = 0, ', '')),
    ('evlist', '7.x has names of PMUs and tracepoints of the machine that reads', by_7,
     sub(r'((?:type|config): \w+) \((?!PERF_(?:TYPE|COUNT))[^)]*\)|(type: 4) \(PERF_TYPE_RAW\)', r'\1\2')),
    ('header', '7.x has names of PMUs and tracepoints of the machine that reads', by_7,
     sub(r'((?:type|config) = \w+) \((?!PERF_(?:TYPE|COUNT))[^)]*\)|(type = 4) \(PERF_TYPE_RAW\)', r'\1\2')),
    ('header', '7.x says that there are no BPF programs and types', by_7, drop(r'^# (bpf_prog_info|btf info) empty')),
    ('header', '7.x knows three more features to miss', by_7, sub(r'CPU_DOMAIN_INFO E_MACHINE CLN_SIZE $', '')),
    ('header', 'features of other writers are passed over by perf', always, drop(r'^# (simpleperf|hiperf) feature ')),
    ('stats', 'perf neither lists nor counts records of other writers', lambda r: r.id == '52c7977133a0',
     lambda rows: sub(r'TOTAL events: +\d+|\( ?[0-9.]+%\)', '')(drop('SIMPLEPERF_')(rows))),
    ('stats', '7.3 says nothing of a compressed pipe', is_one_of('b9f23968b15b'), lambda rows: []),
    ('buildid-list', '7.3 says nothing of a compressed pipe', is_one_of('b9f23968b15b'), lambda rows: []),
    ('buildid-list', 'files that only call chains name are listed too, as 7.x does',
     is_one_of('48c18ccdc35a', '3af012a2059f'), drop(r'^ {40} ')),
    ('buildid-list', 'a kernel without a build id', lambda r: r.is_hiperf, drop(r'^ {40} \[kernel')),
    ('script', 'for the last frame of an LBR call stack perf prints the sampled address, or none that exists',
     is_one_of('864b8e3ca55f'), lambda rows: [row for row, after in zip(rows, [*rows[1:], '']) if after]),
    ('script', '6.1 prints offsets in the file, and files of generated code start anywhere', by_6,
     sub(r'^\t +[0-9a-f]+ (.*\(perf\.data_jit_app_cache:)', r'\t \1')),
    ('header', 'perf leaves out cores whose numbers are larger than it thinks possible',
     is_one_of('1c6d66568579', '76d501f50a41'), drop(r'^# CPU \d+: Core ID|^# Core ID and Socket ID')),
    ('header', 'perf 6.1 finds no features of a 32-bit writer', is_one_of('04c54d2ca7ac'),
     drop(r'^# (cpu|feature CPUDESC|total mem|cmdline|sibling|Core ID|CPU \d|pmu map|missing|event|node)')),
    ('header', 'perf 6.1 crashed on it', lambda r: 'crash:header' in r.verdict, lambda rows: []),
    ('evlist', '7.x leaves modifiers out of names', by_7, sub('^([^ ]+?)' + MODIFIERS + ': ', r'\1: ')),
    ('script', 'stack dumps of programs that are not here go on by frame pointers, where perf has nothing',
     is_one_of('29b828c2a4d8', 'b9f23968b15b'), drop(r'^\t +[0-9a-f]+ \[unknown\] \((?!\[kernel)')),
    ('script', 'width of columns', always, sub(r' +', ' ')),
    ('script', '7.x leaves modifiers out of names', by_7, sub(r'(\d [\w:./-]+?)' + MODIFIERS + ':( |$)', r'\1:\2')),
    ('stats', '7.x leaves modifiers out of names', by_7, sub('^([^ ]+?)' + MODIFIERS + ' stats:', r'\1 stats:')),
    ('evlist', '6.1 prints what lies behind a short attr in a pipe', lambda r: by_6(r) and r.is_pipe,
     sub(r', sample_regs_user: 0x[0-9a-f]+, sample_stack_user: \d+(, sample_regs_intr: .*)?$', '')),
    ('evlist', 'unknown bits, which perf passes over; an event of no name', is_one_of('4874bffac160'),
     sub(r'^[^:]+: |\|bit \d+|(bit \d+\|)+|, unknown flags: [^,]*|, \{ bp_len, .*$', '')),
    ('evlist', 'the tip names the program by the name that it was called by', always,
     sub(r"^(# Tip: use ')(?:perf|tally) (evlist --trace-fields')", r'\1\2')),
    ('evlist', 'what hiperf names an event', lambda r: r.is_hiperf, sub(r'^(cycles:HG|hw-cpu-cycles): ', 'event: ')),
    ('script', 'what hiperf names an event', lambda r: r.is_hiperf, sub(r' (cycles:HG|hw-cpu-cycles): ', ' event: ')),
    ('stats', 'what hiperf names an event', lambda r: r.is_hiperf, sub(r'^(cycles:HG|hw-cpu-cycles) ', 'event ')),
    ('stats', 'names of events in a stream: of the attr, or of the stream', lambda r: r.is_pipe,
     sub(r'^([\w-]+)' + MODIFIERS + ' stats:', r'\1 stats:')),
    ('stats', '7.x makes the first column wider', by_7, sub(' +', ' ')),
    ('script', '6.1 prints offsets in the file for the addresses of call chains', by_6,
     sub(r'^\t ?[0-9a-f]*?([0-9a-f]{1,3}) (?!.*\(\[kernel)', r'\t\1 ')),
    ('script', 'what an instruction trace decodes to is not made', lambda r: r.has('auxtrace:intel_pt'),
     drop(r' (psb|cbr|branches): |instruction trace error')),
    ('buildid-list', 'a copy of the vdso of the machine that made the list', always,
     sub(r'/tmp/perf-vdso\.so-\w+', '[vdso]')),
    ('buildid-list', 'the kernel stands where it was first seen', always, sorted),
]


def read_manifest(shared):
    folder = shared / 'corpus'
    if not folder.is_dir():
        pytest.skip('TALLY_TEST_DATA/corpus is absent')
    with (folder / 'MANIFEST.tsv').open() as file:
        return [Recording(folder, row) for row in csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE)]


def count_different(expected, got):
    """Rows of either side that the other has not at its place."""
    if expected == got:
        return 0
    if max(len(expected), len(got)) <= 300:
        blocks = difflib.SequenceMatcher(None, expected, got, autojunk=False).get_matching_blocks()
        return max(len(expected), len(got)) - sum(block.size for block in blocks)
    return sum(1 for a, b in zip(expected, got) if a != b) + abs(len(expected) - len(got))


def compare(kind, recording, expected, got):
    """(rows, equal, explained, unexplained, the names of the rules that explain, the first rows that differ)"""
    rows = max(len(expected), len(got))
    raw = count_different(expected, got)
    names, left = set(), raw
    for of_kind, why, concerns, make_alike in RULES:
        if left and of_kind == kind and concerns(recording):
            expected, got = make_alike(expected), make_alike(got)
            remaining = count_different(expected, got)
            if remaining != left:
                names.add(why)
            left = remaining
    difference = []
    if left:
        difference = [row for row in difflib.unified_diff(expected, got, lineterm='', n=0) if row[:2] != '@@']
    return rows, rows - raw, raw - min(left, raw), left, names, difference[2:8]


def run(tally, recording, kind, empty):
    result = tally(*recording.arguments(kind, empty), text=False)
    rows = result.stdout.decode(errors='replace').splitlines()
    return rows[:SCRIPT_ROWS] if kind == 'script' else rows


@pytest.mark.always
def test_every_recording_is_read(tally, shared):
    """Unless it is hostile, or ends in the middle of a record: then what came before is there."""
    refused = []
    for recording in read_manifest(shared):
        result = tally('report', '--stats', '-i', recording.path)
        is_read = 'TOTAL events' in result.stdout and (result.returncode == 0 or recording.is_broken)
        if not is_read and not recording.is_hostile:
            refused.append((recording.id, result.stderr))
    assert refused == []


# The manifest names user records by their constants, and those of others by their numbers.
MANIFEST_NAMES = {'HEADER_ATTR': 'ATTR', 'T32775': 'SIMPLEPERF_CALLCHAIN'}

MANIFEST_TYPES = 14  # it lists the commonest


@pytest.mark.always
def test_records_by_type(tally, shared):
    """As the manifest counted them with a reader of its own."""
    different = {}
    for recording in read_manifest(shared):
        if recording.is_hostile or recording.is_broken:
            continue
        manifest = dict(pair.split(':') for pair in recording.row['records_by_type'].split(','))
        listed = tally('report', '--stats', '-i', recording.path).stdout.split('stats:')[1]
        counted = dict(re.findall(r'^ *(\w+) events: +(\d+)', listed, re.M))
        manifest = {MANIFEST_NAMES.get(name, name): count for name, count in manifest.items()}
        total = counted.pop('TOTAL')
        if len(manifest) == MANIFEST_TYPES:
            counted = {name: count for name, count in counted.items() if name in manifest}
        if counted != manifest or total != recording.row['n_records']:
            different[recording.id] = (sorted(set(counted.items()) ^ set(manifest.items())), total)
    assert different == {}


@pytest.mark.long
def test_agreement(tally, shared, tmp_path, capsys):
    """The table; nothing in it is unexplained."""
    empty = tmp_path / 'empty'
    empty.mkdir()
    recordings = [recording for recording in read_manifest(shared) if recording.version != 'none']
    table, unexplained, reasons = [], [], collections.Counter()
    for kind in EXPECTED:
        totals = [0, 0, 0, 0]
        for recording in recordings:
            *numbers, names, difference = compare(kind, recording, recording.expected(kind),
                                                  run(tally, recording, kind, empty))
            totals = [total + number for total, number in zip(totals, numbers)]
            reasons.update((kind, name) for name in names)
            if numbers[3]:
                unexplained.append((kind, recording.id, numbers[3], difference))
        table.append((kind, len(recordings), *totals))
    with capsys.disabled():
        print(f'\n{"kind":14}{"files":>6}{"rows":>8}{"equal":>8}{"explained":>11}{"unexplained":>13}')
        for kind, files, rows, equal, explained, left in table:
            print(f'{kind:14}{files:6}{rows:8}{equal:8}{explained:11}{left:13}')
        for (kind, name), count in sorted(reasons.items()):
            print(f'  {kind}: {name} ({count} files)')
    assert unexplained == []
    assert [(kind, why) for kind, why, *_ in RULES if (kind, why) not in reasons] == []


def test_a_difference_that_no_rule_explains_is_seen():
    row = collections.defaultdict(str, id='x', file='x', use_expected='6.1', features='', mode='file',
                                  **{'verdict_perf6.1': 'ok'})
    recording = Recording(pathlib.Path('.'), row)
    assert compare('evlist', recording, ['cycles: size: 1'], ['cycles: size: 2'])[:4] == (1, 0, 0, 1)
    assert compare('script', recording, ['a  1', '\t dff47 f'], ['a 1', '\t 7f5a44a53f47 f'])[:4] == (2, 0, 2, 0)
    assert compare('script', recording, ['\t dff47 f'], ['\t 7f5a44a53f48 f'])[3] == 1
