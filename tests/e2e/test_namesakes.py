# SPDX-License-Identifier: Apache-2.0
"""Functions of one name are as many as there are symbols: static ones of two files, overloads of C++."""
import json
import re
import shutil

import pytest

from conftest import built, compiled
from page import browse, page_data

STATIC = ('static __attribute__((noinline)) double helper(double x)\n'
          '{ for (volatile int i = 0; i < %d; i++) x = x * 1.0000001 + i; return x; }\n')
A = STATIC % 9000 + 'double first(double x) { return helper(x); }\n'
B = STATIC % 3000 + '''double first(double);
double second(double x) { return helper(x); }
int main(void) { double v = 1; for (int i = 0; i < 6000; i++) { v = first(v); v = second(v); } return v == 3; }
'''


@pytest.fixture(name='statics', params=['-g', '-g0'])
def fixture_statics(live, tally, recorded, request):
    if not shutil.which('cc'):
        pytest.skip('there is no C compiler')
    program = built({'a.c': A, 'b.c': B}, ['cc', '-O1', request.param, 'a.c', 'b.c', '-o', 'ab']) / 'ab'
    data = recorded('-q', '-e', 'cpu-clock:u', '-F', 1000, program)
    rows = tally('report', '--stdio', '-s', 'sym', '-g', 'none', '-i', data, check=0).stdout
    assert len(re.findall(r'\] helper', rows)) == 2
    return data


def labels_of(data):
    return [label for label in data['labels'] if label[0] == 'helper']


def test_statics_in_pages(tally, statics, tmp_path):
    flame = labels_of(page_data(tally('flamegraph', '-o', '-', '-i', statics, check=0).stdout))
    assert len(flame) == 2 and flame[0][4] != flame[1][4] and all(label[4].startswith('0x') for label in flame)
    page = tmp_path / 'page.html'
    tally('report', f'--html={page}', '-i', statics, check=0)
    data = page_data(page.read_text())
    report = labels_of(data)
    assert {label[4] for label in report} == {label[4] for label in flame}
    # Each has its own code: the two differ in how often they loop.
    codes = [data['code'][label[5]] for label in report]
    assert all(code[0] == 'helper' for code in codes) and codes[0] != codes[1]
    text, complaints = browse(page, tmp_path, '#functions')
    assert complaints == [] and len(re.findall(r'>helper</button>', text)) == 2


def test_statics_in_exports(tally, statics, tmp_path):
    def export(form):
        return tally('export', '-F', form, '-o', '-', '-i', statics, check=0).stdout
    assert len(re.findall(r'^ab;helper \d+$', tally('flamegraph', '--folded', '-i', statics, check=0).stdout, re.M)) == 2
    firefox = json.loads(export('firefox'))['threads'][0]
    names = [firefox['stringArray'][name] for name in firefox['funcTable']['name']]
    assert names.count('helper') == 2
    frames = [frame for frame in json.loads(export('speedscope'))['shared']['frames'] if frame['name'] == 'helper']
    assert len({frame['file'] for frame in frames}) == 2
    places, place = set(), {}
    for line in export('callgrind').splitlines():
        found = re.match(r'(fl|fn)=\((\d+)\)(?: (.*))?', line)
        if found:
            place[found[1]] = names_of(places, found)
            if found[1] == 'fn' and place['fn'].startswith('helper'):
                places.add((place['fl'], place['fn']))
    assert len({item for item in places if item[1].startswith('helper')}) == 2
    asked = "select count(*) from (select symbol from hits where symbol = 'helper' group by function)"
    assert tally('query', '-i', statics, asked, check=0).stdout.split()[-1] == '2'
    assert len({f['function'] for f in json.loads(export('json'))['frames'] if f['symbol'] == 'helper'}) == 2
    pprof = tmp_path / 'pprof'
    tally('export', '-F', 'pprof', '-o', pprof, '-i', statics, check=0)
    assert functions_of(pprof).count('helper') == 2


OVERLOADS = '''
volatile long g;
__attribute__((noinline)) void work(int n) { for (volatile int i = 0; i < n; i++) ; g = g + 1; }
__attribute__((noinline)) void work(double n) { for (volatile int i = 0; i < 2 * n; i++) ; g = g + 1; }
template<class T> struct Op { __attribute__((noinline)) T operator()(T n) const { for (volatile int i = 0; i < n; i++) ; g = g + 1; return n; } };
int main() { Op<int> o; for (int i = 0; i < 2000; i++) { o(60000); work(60000); work(30000.); } }
'''
NAMES = ['work(int)', 'work(double)', 'Op<int>::operator()(int) const']


@pytest.fixture(name='overloads')
def fixture_overloads(live, tally, recorded):
    if not shutil.which('c++'):
        pytest.skip('there is no C++ compiler')
    program = compiled('o.cc', OVERLOADS, '-O1', '-g', '-fno-omit-frame-pointer', compiler='c++')
    data = recorded('-q', '-g', '-e', 'cpu-clock:u', '-F', 1000, program)
    if '_Z4work' in tally('report', '--stdio', '-i', data, check=0).stdout:
        pytest.skip('this build demangles nothing')
    return data


def test_overloads_are_told_apart(tally, overloads):
    for arguments in (('report', '--stdio', '--no-children', '-s', 'sym'), ('report', '--stdio', '--children', '-s', 'sym'),
                      ('script', '-F', 'ip,sym'), ('report', '--json'),
                      ('export', '-F', 'firefox', '-o', '-'), ('report', '--html=-')):
        text = tally(*arguments, '-i', overloads, check=0).stdout
        assert all(name in text.replace('\\u003c', '<').replace('\\u003e', '>') for name in NAMES), arguments


@pytest.mark.parametrize('wanted, rows', [('work', NAMES[:2]), ('work(int)', NAMES[:1]), ('work(double),work(int)', NAMES[:2]),
                                          ('Op<int>::operator()', NAMES[2:]), (NAMES[2], NAMES[2:]), ('wor', [])])
def test_lists_take_names_with_and_without_parameters(tally, overloads, wanted, rows):
    text = tally('report', '--stdio', '--no-children', '-g', 'none', '-s', 'sym', '-S', wanted, '-i', overloads, check=0).stdout
    if len(rows) == 1:
        assert f'# symbol: {wanted}' in text or rows[0] in text
    else:
        assert sorted(re.findall(r'%\s+\[\.\] (.*\S)', text)) == sorted(rows)
    folded = tally('flamegraph', '--folded', '-S', wanted, '-i', overloads).stdout
    names = {line.rsplit(' ', 1)[0].split(';')[-1] for line in folded.splitlines()}
    # Parameters are there where they tell functions apart.
    assert names == (set(rows) if len(rows) == 2 else {row.split('(int')[0] for row in rows})
    script = tally('script', '-F', 'ip,sym', '-S', wanted, '-i', overloads, check=0).stdout
    assert {line.split(maxsplit=1)[1] for line in re.findall(r'(?:^|\n\n)\n?(.*)', script) if line} == set(rows)


def names_of(places, found, known={}):
    """callgrind's names stand behind their numbers the first time only."""
    if found[3] is not None:
        known[(id(places), found[1], found[2])] = found[3]
    return known[(id(places), found[1], found[2])]


def fields(data):
    """(number, value) of a protocol buffer's fields."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def functions_of(path):
    import gzip
    whole = list(fields(gzip.decompress(path.read_bytes())))
    strings = [value.decode() for number, value in whole if number == 6]
    return [strings[dict(fields(value))[2]] for number, value in whole if number == 5]
