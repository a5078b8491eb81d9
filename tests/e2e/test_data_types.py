# SPDX-License-Identifier: Apache-2.0
"""Types of the data that instructions access: every instruction of a program, one sample each, beside perf 7.3's."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import json_schema
import pytest
from conftest import NEWEST_PERF, Program
from perfdata_build import CHAIN_USER, Recording

BASE = 0x555555554000
SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / 'docs' / 'schema' / 'annotate.json').read_text())
CPU = 'AuthenticAMD,26,2,1'  # of which instructions run as one with the next depends on it
FUNCTIONS = ('find', 'sum', 'fill', 'push')
SOURCE = '''
struct inner { int a; char b[12]; long c; };
struct node { struct node *next; long key; struct inner in; double w; int arr[8]; unsigned bits:3; union { int i; float f; } u; };
struct head { struct node *first; unsigned long count; };
typedef struct { int x; struct { int y; }; } point_t;
struct head heads[64];
point_t points[4], point;
static long total;
struct node *find(struct head *h, long key)
{
	for (struct node *n = h->first; n; n = n->next)
		if (n->key == key) { n->in.c++; return n; }
	return 0;
}
long sum(struct head *h, point_t *p)
{
	long s = 0;
	for (struct node *n = h->first; n; n = n->next) { s += n->in.a + n->arr[n->key & 7]; n->w += 1.0; }
	total += s;
	p->y += (int)s;
	return s;
}
void fill(char *buf, unsigned long len, struct inner *in)
{
	for (unsigned long i = 0; i < len; i++) { buf[i] = (char)(i ^ in->a); in->b[i & 7]++; }
}
void push(struct head *h, struct node *n)
{
	n->u.i = 3; n->bits = 1; n->next = h->first; h->first = n; h->count++; point.x++; points[1].y++;
}
int main(void) { struct node n = {0}; struct inner in = {0}; char buf[8]; push(heads, &n); find(heads, 1); fill(buf, 8, &in);
	return (int)sum(heads, &point) & 1; }
'''


BUILD = ['gcc', '-g', '-O2', '-fno-inline']


def start_recording(program):
    recording = Recording()
    recording.event('IP TID TIME PERIOD')
    recording.text_feature(6, 'x86_64')
    recording.text_feature(9, CPU)
    recording.comm('types')
    recording.mmap(BASE, 0x10000, str(program))
    return recording


@pytest.fixture
def instructions(tmp_path):
    """A recording with a sample at each instruction, and the instructions by address."""
    if os.uname().machine != 'x86_64' or not shutil.which('gcc') or not shutil.which('objdump'):
        pytest.skip('gcc and objdump of x86-64 are needed')
    (tmp_path / 'types.c').write_text(SOURCE)
    program = tmp_path / 'types'
    subprocess.run([*BUILD, '-o', program, 'types.c'], cwd=tmp_path, check=True)
    listing = subprocess.run(['objdump', '-d', '--no-show-raw-insn', program], capture_output=True, text=True, check=True)
    function, found = None, {}
    for line in listing.stdout.splitlines():
        if head := re.match(r'[0-9a-f]+ <(\w+).*>:', line):
            function = head.group(1)
        elif (row := re.match(r' +([0-9a-f]+):\t(.*)', line)) and function in FUNCTIONS \
                and 'nop' not in row.group(2):
            found[int(row.group(1), 16)] = f'{function}: {row.group(2)}'
    recording = start_recording(program)
    for index, address in enumerate(found):
        recording.sample(ip=BASE + address, time=10**9 + index)
    recording.write(tmp_path / 'every.data')
    return tmp_path / 'every.data', found


@pytest.fixture
def two_recordings(instructions, tmp_path):
    """The same, and one with a sample more at each third instruction."""
    first, found = instructions
    recording = start_recording(tmp_path / 'types')
    for index, address in enumerate(found):
        for times in range(1 + index % 3):
            recording.sample(ip=BASE + address, time=10**9 + 10 * index + times)
    recording.write(tmp_path / 'more.data')
    return first, tmp_path / 'more.data'


def types_by_address(program, path):
    rows = program('report', '--stdio', '-i', path, '-s', 'addr,typeoff', check=0).stdout
    return {int(row[0], 16) - BASE: row[1] for row in re.findall(r'^ +[\d.]+%  (0x[0-9a-f]+) +(.*?) *$', rows, re.M)}


def test_types_are_those_of_the_source(tally, instructions):
    path, code = instructions
    types = types_by_address(tally, path)
    assert set(types) == set(code)
    named = set(types.values())
    for name in ('struct node +0x8 (key)', 'struct node +0 (next)', 'struct node +0x20 (in.c)', 'struct node +0x10 (in.a)',
                 'struct node +0x28 (w)', 'struct node +0x30 (arr)', 'struct node +0x54 (u.i)', 'struct head +0x8 (count)',
                 'struct node +0x50 (bits:3)', 'struct inner +0x4 (b)', 'point_t +0x4 (y)', 'point_t +0 (x)',
                 'long int +0 (no field)', 'char +0 (no field)', '(stack operation)', '(unknown)'):
        assert name in named, name
    for address, text in code.items():
        if re.search(r': (ret|push|pop)', text):
            assert types[address] == '(stack operation)', text


def test_what_perf_names_has_the_same_name(tally, newest_perf, instructions):
    path, code = instructions
    theirs, ours = types_by_address(newest_perf, path), types_by_address(tally, path)
    differences = {code[address]: (name, ours[address]) for address, name in theirs.items()
                   if name != '(unknown)' and name != ours[address] and not name.startswith('struct  ')}
    assert not differences
    assert sum(name != '(unknown)' for name in theirs.values()) > 30


def test_keys_of_types(tally, instructions):
    path, _ = instructions
    lines = tally('report', '--stdio', '-i', path, '-s', 'typecln', check=0).stdout
    assert re.search(r'%  struct node: cache-line 0$', lines, re.M) and 'struct node: cache-line 1' in lines
    both = tally('report', '--stdio', '-i', path, '-s', 'type', check=0).stdout
    assert re.search(r'^# Overhead  Data Type$', both, re.M) and re.search(r'%  struct node$', both, re.M)


def diff_rows(program, recordings, *options):
    result = program('diff', *options, *recordings, check=0)
    return [line.split(None, 2) for line in result.stdout.splitlines() if line and not line.startswith('#')]


def shares_by_name(tally, path, key):
    rows = tally('report', '--stdio', '-i', path, '-s', key, check=0).stdout
    return {name: float(share) for share, name in re.findall(r'^ +([\d.]+)%  (.*?) *$', rows, re.M)}


@pytest.mark.parametrize('key', ['type', 'typeoff', 'typecln'])
def test_types_that_differ(tally, two_recordings, key):
    """Rows of perf's diff are all (unknown): the report of each recording has the shares."""
    base, more = (shares_by_name(tally, path, key) for path in two_recordings)
    rows = diff_rows(tally, two_recordings, '-s', key)
    assert {name.rstrip() for _, _, name in rows} == set(base) == set(more)
    for share, delta, name in rows:
        assert float(share[:-1]) == base[name.rstrip()]
        assert abs(float(delta[:-1]) - (more[name.rstrip()] - base[name.rstrip()])) < 0.02


def test_offsets_that_differ(tally, two_recordings, tmp_path):
    rows = diff_rows(tally, two_recordings, '-s', 'symoff')
    assert len(rows) == len(set(map(tuple, rows))) > 50
    if not NEWEST_PERF:
        pytest.skip('the newest perf is not installed')
    for options in ([], ['-c', 'ratio'], ['-p']):
        assert diff_rows(tally, two_recordings, '-s', 'symoff', *options) == \
            diff_rows(Program(NEWEST_PERF, tmp_path), two_recordings, '-s', 'symoff', *options)


@pytest.mark.parametrize('options', [['-gdwarf-5'], ['-gdwarf-4'], ['-gdwarf-5', '-gsplit-dwarf'], ['-gdwarf-4', '-gsplit-dwarf'], ['-gdwarf-4', '-gdwarf64']])
def test_types_with_units_of_their_own(tally, instructions, tmp_path, options):
    expected = types_by_address(tally, instructions[0])
    built = subprocess.run([*BUILD, *options, '-fdebug-types-section', '-o', tmp_path / 'types', 'types.c'], cwd=tmp_path,
                           capture_output=True, text=True, check=False)
    if built.returncode:
        pytest.skip(f'this gcc cannot: {built.stderr.splitlines()[0]}')
    assert types_by_address(tally, instructions[0]) == expected
    assert any('next' in name for name in expected.values())


CLASSES = '''
namespace shop { class Cart { public: long total; struct Item { long price, count; } items[4]; long sum(int n) const; void add(long p); }; }
long shop::Cart::sum(int n) const { long s = total; for (int i = 0; i < n; i++) s += items[i].price * items[i].count; return s; }
void shop::Cart::add(long p) { total += p; items[1].count++; }
shop::Cart cart;
int main(int argc, char **) { cart.add(argc); return (int)cart.sum(4); }
'''


@pytest.mark.parametrize('version', ['-gdwarf-4', '-gdwarf-5'])
def test_classes_with_units_of_their_own(tally, tmp_path, version):
    """What their units have of a class is a declaration and its functions."""
    if os.uname().machine != 'x86_64' or not shutil.which('g++'):
        pytest.skip('g++ for x86-64 is needed')
    (tmp_path / 'classes.cc').write_text(CLASSES)
    rows = []
    for options in ([], ['-fdebug-types-section']):
        subprocess.run(['g++', version, '-O1', '-fno-inline', *options, '-o', 'classes', 'classes.cc'], cwd=tmp_path,
                       check=True)
        symbols = subprocess.run(['nm', '-S', 'classes'], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        built = Recording()
        built.event('IP TID TIME PERIOD')
        built.text_feature(6, 'x86_64')
        built.comm('classes')
        built.mmap(BASE, 0x10000, str(tmp_path / 'classes'))
        for line in symbols.splitlines():
            if match := re.match(r'(\w+) (\w+) T _ZNK?4shop', line):
                for offset in range(int(match[2], 16)):
                    built.sample(ip=BASE + int(match[1], 16) + offset, time=10**9 + offset)
        built.write(tmp_path / 'classes.data')
        rows.append(types_by_address(tally, tmp_path / 'classes.data'))
    assert rows[0] == rows[1]
    assert {'Cart +0 (total)', 'Cart +0x20 (items)'} <= set(rows[1].values())


def test_nothing_is_known_without_debug_information(tally, instructions, tmp_path):
    path, _ = instructions
    subprocess.run(['strip', '-g', tmp_path / 'types'], check=True)
    rows = tally('report', '--stdio', '-i', path, '-s', 'type', check=0).stdout
    assert re.findall(r'%  (.*?) *$', rows, re.M) == ['(unknown)']


def listed(program, path, *options):
    return program('annotate', '--stdio', '-i', path, *options, check=0).stdout


def test_annotate_shows_fields(tally, instructions, tmp_path):
    path, _ = instructions
    text = listed(tally, path, '--data-type')
    node = text[text.index("Annotate type: 'struct node' in "):].split('\n\n')[0]
    assert re.search(r"^Annotate type: 'struct node' in .*/types \(\d+ samples\):\n={76}\n Percent     offset       size  field\n"
                     r'  100\.00          0       0x58  struct node\t \{\n', node)
    assert re.search(r'^ +\d+\.\d\d        0x8        0x8      long int\tkey;$', node, re.M)
    assert re.search(r'^ +\d+\.\d\d       0x20        0x8          long int\tc;$', node, re.M)
    assert node.endswith('    0.00       0x54        0x4          float\tf;\n' + 36 * ' ' + '};\n' + 32 * ' ' + '};') or \
        re.search(r'float\tf;\n {36}\};\n {32}\};$', node)
    assert [line for line in listed(tally, path, '--data-type=inner', '-n').splitlines() if line.startswith('Annotate')] == \
        [line for line in text.splitlines() if line.startswith("Annotate type: 'struct inner'")]
    if NEWEST_PERF:
        newest = Program(NEWEST_PERF, tmp_path)
        for options in (['--data-type=node'], ['--data-type=inner', '-n'], ['--data-type=head', '--show-total-period']):
            assert listed(newest, path, *options).rstrip() == listed(tally, path, *options).rstrip()


def test_annotate_counts_what_has_a_type(tally, instructions):
    path, code = instructions
    text = listed(tally, path, '--data-type=node', '--type-stat', '--insn-stat')
    total, good, bad = map(int, re.search(r'^Annotate data type stats:\ntotal (\d+), ok (\d+) \([\d.]+%\), bad (\d+) ', text, re.M).groups())
    assert (total, good + bad) == (len(code), len(code)) and good > 30
    assert sum(map(int, re.findall(r'^ +(\d+) : (?!insn_track)\w+$', text, re.M))) == bad
    counts = re.findall(r'^  \S+ +: +(\d+) +(\d+)$', text, re.M)
    assert sum(int(one) for one, _ in counts) == good and sum(int(other) for _, other in counts) == bad


def test_code_with_types(tally, instructions):
    path, _ = instructions
    text = listed(tally, path, '--code-with-type', 'find')
    assert re.search(r' 0x8\(%\w+\),?.*\t\t# data-type: struct node \+0x8 \(key\)$|,0x8\(%\w+\)\t\t# data-type: struct node \+0x8 \(key\)$', text, re.M)
    assert not re.search(r'ret.*data-type', text)


def as_json(tally, path, *options):
    document = json.loads(tally('annotate', '--json', '-i', path, *options, check=0).stdout)
    json_schema.check(document, SCHEMA)
    return document


def flattened(fields, depth=1):
    for field in fields:
        yield depth, field
        yield from flattened(field.get('fields', []), depth + 1)


def test_fields_as_json(tally, two_recordings):
    _, path = two_recordings
    document = as_json(tally, path, '--data-type')
    assert 'functions' not in document
    event, = document['data_types']
    all_samples = event['events'][0]['all_samples']
    text = listed(tally, path, '--data-type', '-n')
    heads = re.findall(r"^Annotate type: '(.*)' in (.*) \((\d+) samples\):$", text, re.M)
    assert [(t['name'], t['dso'], str(t['values'][0]['samples'])) for t in event['types']] == heads
    assert 0 < sum(int(count) for _, _, count in heads) < all_samples
    assert event['events'][0]['all_period'] == 1000 * all_samples
    rows = re.findall(r'^ +(\d+) +(\w+) +(\w+)  ( *)(.*)\t(.*?)(?: \{|;)$', text, re.M)
    fields = []
    for kind in event['types']:
        fields.append((0, kind | {'type': kind['name'], 'name': ''}))
        fields += flattened(kind.get('fields', []))
    assert [(f['values'][0]['samples'], f['offset'], f['size'], 4 * depth, f['name']) for depth, f in fields] == \
        [(int(samples), int(offset, 16), int(size, 16), len(indent), name) for samples, offset, size, indent, _, name in rows]
    assert all(f['type'] == row[4] for (depth, f), row in zip(fields, rows) if depth)
    for _, field in fields:
        assert field['values'][0]['period'] == 1000 * field['values'][0]['samples']
    node = next(t for t in event['types'] if t['name'] == 'struct node')
    key = node['fields'][1]
    assert (node['size'], key['name'], key['type'], key['offset']) == (0x58, 'key', 'long int', 8)
    assert key['values'][0]['percent'] == \
        pytest.approx(100 * key['values'][0]['samples'] / node['values'][0]['samples'], abs=1e-4)
    inner = next(f for f in node['fields'] if f['name'] == 'in')
    assert [f['name'] for f in inner['fields']] == ['a', 'b', 'c']
    assert as_json(tally, path, '--data-type=inner')['data_types'][0]['types'] == \
        [t for t in event['types'] if t['name'] == 'struct inner']
    assert as_json(tally, path, '--data-type=nothing')['data_types'][0]['types'] == []


def test_counts_of_types_as_json(tally, instructions):
    path, code = instructions
    event, = as_json(tally, path, '--data-type', '--type-stat', '--insn-stat')['data_types']
    text = listed(tally, path, '--data-type', '--type-stat', '--insn-stat')
    counts, mnemonics = event['instructions'], event['mnemonics']
    assert counts['typed'] + counts['untyped'] == len(code) and sum(counts['reasons'].values()) == counts['untyped']
    assert f"total {len(code)}, ok {counts['typed']} (" in text
    assert re.findall(r'^ +(\d+) : (?!insn_track)(\w+)$', text, re.M) == [(str(n), name) for name, n in counts['reasons'].items()]
    assert re.findall(r'^  (\S+) *: +(\d+) +(\d+)$', text, re.M) == \
        [(m['name'], str(m['typed']), str(m['untyped'])) for m in mnemonics]
    assert not {'instructions', 'mnemonics'} & set(as_json(tally, path, '--data-type')['data_types'][0])


def test_types_of_groups_as_json(tally, instructions, tmp_path):
    recording = Recording()
    for event in range(2):
        recording.event('IDENTIFIER IP TID TIME PERIOD', kind=0, config=event)
    recording.text_feature(6, 'x86_64')
    recording.comm('types')
    recording.mmap(BASE, 0x10000, str(tmp_path / 'types'))
    for index, address in enumerate(instructions[1]):
        recording.sample(index % 2, ip=BASE + address, time=10**9 + index)
    recording.write(tmp_path / 'two.data')
    apart = as_json(tally, tmp_path / 'two.data', '--data-type')['data_types']
    together, = as_json(tally, tmp_path / 'two.data', '--data-type', '--group')['data_types']
    assert [len(entry['events']) for entry in apart] == [1, 1] and len(together['events']) == 2
    for index, entry in enumerate(apart):
        samples = {kind['name']: kind['values'][0]['samples'] for kind in entry['types']}
        assert samples == {kind['name']: kind['values'][index]['samples'] for kind in together['types']
                           if kind['values'][index]['samples']}


def test_data_of_code_as_json(tally, instructions):
    path, _ = instructions
    function, = as_json(tally, path, '--code-with-type', 'find')['functions']
    key = {'type': 'struct node', 'offset': 8, 'field': 'key'}
    assert key in [row.get('data') for row in function['instructions']]
    plain, = as_json(tally, path, 'find')['functions']
    assert [row | {'data': None} for row in function['instructions']] == [row | {'data': None} for row in plain['instructions']]
    assert not any('data' in row for row in plain['instructions'])


def test_options_of_types_that_do_not_go_together(tally, instructions):
    path, _ = instructions
    for options in (['--type-stat'], ['--insn-stat'], ['--tui', '--data-type']):
        assert 'data-type' in tally('annotate', '-i', path, *options, check=255).stderr


def test_mem_report_by_type(tally, instructions):
    report = tally('mem', 'report', '-T', '-i', 'none', check=255)
    assert 'not supported' not in report.stderr
    assert 'cannot be used together' in tally('mem', '-T', '-D', 'report', check=255).stderr


def test_callers_have_no_rows_of_types(tally, tmp_path):
    r = Recording()
    r.event('IP TID TIME PERIOD CALLCHAIN', kind=0)
    r.comm('prog')
    r.mmap(0x400000, 0x1000, '/nonexistent/prog')
    r.sample(ip=0x400100, callchain=[CHAIN_USER, 0x400100, 0x400200])
    r.write(tmp_path / 'data')
    for words, heading in ((['-s', 'comm'], '# Children      Self  Command'), (['-s', 'type'], '# Overhead  Data Type'),
                           (['--children', '-s', 'typeoff'], '# Overhead  Data Type Offset')):
        shown = tally('report', '--stdio', '-i', tmp_path / 'data', *words).stdout
        assert heading in [line.strip() for line in shown.splitlines()]
