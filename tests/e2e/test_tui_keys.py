# SPDX-License-Identifier: Apache-2.0
"""Every key of docs/tui.md is pressed, and what it does is seen: on recordings whose figures are known."""
import re
import shlex
import shutil
import subprocess

import perfdata_build
import pytest
from conftest import ROOT
from test_tui import address_of, terminal  # noqa: F401

# As the document writes keys, and as tmux calls them.
NAMED = {'PgUp': 'PPage', 'PgDn': 'NPage', 'Esc': 'Escape', 'Shift-Tab': 'BTab', 'Backspace': 'BSpace', 'Ctrl-C': 'C-c',
         'Ctrl-F': 'C-f', 'Ctrl-B': 'C-b', **{name: name for name in
                                              ('Up', 'Down', 'Left', 'Right', 'Space', 'Home', 'End', 'Enter', 'Tab', 'F1')}}
NO_KEYS = {'--hierarchy', 'd, e, f, F, K, U of --stdio'}


def documented(heading, first=''):
    """The keys of the tables below a heading whose first line begins with `| key | FIRST`, as tmux calls them."""
    section = re.split(r'^## ', (ROOT / 'docs' / 'tui.md').read_text(encoding='utf-8'), flags=re.M)
    section = next(part for part in section if part.startswith(heading))
    table = next(part for part in section.split('\n\n') if part.startswith(f'| key | {first}'))
    keys = set()
    for line in table.splitlines()[2:]:
        cell, *others = re.split(r' *(?<!\\)\| *', line.strip().strip('|').strip().replace('`|`', r'`\|`'))
        if cell.replace('`', '') in NO_KEYS:
            continue
        text = cell + ' ' + (others[-1] if others[-1].startswith('same; also') else '')
        keys |= {NAMED[name] for name in re.findall('|'.join(sorted(NAMED, key=len, reverse=True)), re.sub('`.`', '', text))}
        keys |= set(re.findall(r'`\\?(.)`', text))
    return keys


class Pressed:
    """A screen, and the keys that were pressed on it."""

    def __init__(self, screen):
        self.screen, self.keys = screen, set()

    def __call__(self, key, condition, *typed):
        """The screen after this key, and after what is typed then, once it is so."""
        self.keys.add(key)
        self.screen.press(key)
        for text in typed:
            self.screen.press(*(['Enter'] if text == 'Enter' else ['-l', text]))
        return self.screen.wait(condition)

    def answers(self, key, message):
        return self(key, lambda lines: re.match(message, lines[-1]))

    def moves(self, key, cursor):
        """The cursor is on that row afterwards, as the right end of the last line says."""
        return self(key, lambda lines: re.search(rf'[ ,]{cursor}/\d+$', lines[-1]))


@pytest.fixture
def known(tmp_path, workload):
    """40 samples of leaf below 20 levels by a thread `deep`, one of level_3, and 20 of spin by a thread `helper`; 20
    samples of leaf by another event. In group.data both events are a group."""
    deep, spin = workload('deep').path, workload('spin').path
    recording = perfdata_build.Recording()
    for config in 0, 1:
        recording.event('IDENTIFIER IP TID TIME CPU PERIOD CALLCHAIN', config=config)
    recording.name_events('first', 'second')
    recording.comm('deep')
    recording.mmap(0x10000000, 0x10000, str(deep))
    recording.mmap(0x20000000, 0x10000, str(spin))
    recording.record(3, 0, recording.pack('II', 1000, 1001) + recording.name('helper') + recording.trailer())

    def sample(count, base, program, *names, **values):
        chain = [base + 4 + address_of(program, name) for name in names]
        for _ in range(count):
            recording.sample(ip=chain[0], callchain=[perfdata_build.CHAIN_USER, *chain], **values)

    levels = [f'level_{i}' for i in range(20, 0, -1)]
    sample(40, 0x10000000, deep, 'leaf', *levels, 'main')
    sample(20, 0x10000000, deep, 'leaf', *levels, 'main', event=1)
    sample(1, 0x10000000, deep, *levels[-3:], 'main')
    sample(20, 0x20000000, spin, 'spin', 'main', tid=(1000, 1001))
    recording.write(tmp_path / 'known.data')
    recording.group(0, 2)
    recording.write(tmp_path / 'group.data')
    return tmp_path


@pytest.fixture
def shown(terminal, tally, known):  # noqa: F811
    """shown(VERB, OPTION...): the verb on a terminal, with the keys that were pressed; its status is shown at the end."""

    def start(verb, *options, size=(100, 12), name='known.data'):
        command = shlex.join(map(str, [tally.path, verb, '-i', known / name, *options]))
        pressed = Pressed(terminal(f'sh -c {shlex.quote(f"cd {known}; {command}; echo left with $?; cat")}', size))
        pressed.screen.wait(lambda lines: re.search(r'\d/\d+$', lines[-1]))
        return pressed

    return start


def is_left(lines):
    return 'left with 0' in lines


def rows(lines):
    return [line[2:].split()[-1] for line in lines if re.match(r'[-+ ]  +[0-9.]+%', line)]


def test_keys_of_the_table(shown, tmp_path):
    press = shown('report')
    start = press.screen.lines()
    assert rows(start)[:2] == ['main', 'level_1']
    for key, row in (('Down', 2), ('j', 3), ('Up', 2), ('k', 1), ('NPage', 10), ('Space', 19), ('PPage', 10), ('C-f', 19),
                     ('C-b', 10), ('End', 24), ('Home', 1), ('G', 24), ('g', 1)):
        press.moves(key, row)
    press('Right', lambda lines: lines[1].startswith('en      Self'))
    press('Left', lambda lines: lines == start)
    press('Enter', lambda lines: lines[2].startswith('- ') and lines[3].startswith('  '))
    press('V', lambda lines: lines[-1] == 'frames of chains: with their objects' and lines[4].endswith(' level_1  deep'))
    press.answers('V', 'frames of chains: names alone')
    press('+', lambda lines: lines == start)
    press('e', lambda lines: lines[2].startswith('- '))
    press('c', lambda lines: lines == start)
    press('E', lambda lines: lines[2].startswith('- '))
    press('C', lambda lines: lines == start)
    press('d', lambda lines: lines[0].endswith(', DSO: deep') and lines[-1].endswith(' 1/22'))
    press('d', lambda lines: lines == start)
    press('t', lambda lines: lines[0].endswith(', Thread: deep') and lines[-1].endswith(' 1/22'))
    press('t', lambda lines: lines == start)
    press('y', lambda lines: lines[0].endswith(', Symbol = main') and rows(lines) == ['main'])
    press('Escape', lambda lines: lines == start)
    press.answers('Escape', 'nothing to take back: q leaves')
    press('K', lambda lines: lines[0].endswith(', Kernel') and lines[-1].startswith('no row is of the kernel'))
    press('K', lambda lines: lines == start)
    press('/', lambda lines: rows(lines) == ['spin'], 'spin', 'Enter')
    press('F', lambda lines: lines[2].split()[1] == '100.00%')
    press('F', lambda lines: lines[2].split()[1] == '32.79%')
    press('Escape', lambda lines: lines[0] == start[0])
    press.moves('Home', 1)
    press('L', lambda lines: lines[0].endswith(', from 66%') and lines[-1].endswith(' 1/4'), '66', 'Enter')
    press('{', lambda lines: lines[0].endswith(', from 50%') and lines[-1].endswith(' 1/22'))
    press('{', lambda lines: lines[0].endswith(', from 20%'))
    press('}', lambda lines: lines[0].endswith(', from 50%'))
    press('L', lambda lines: lines == start, '0', 'Enter')
    press('H', lambda lines: rows(lines[1:2]) == ['main'])
    press('H', lambda lines: lines == start)
    for key, event in (('Tab', 2), ('BTab', 1), ('>', 2), ('<', 1)):
        press(key, lambda lines, event=event: f'event {event}/2, ' in lines[-1])
    press('P', lambda lines: lines[-1] == 'perf.hist.0 written')
    assert rows((tmp_path / 'perf.hist.0').read_text(encoding='utf-8').splitlines())[:9] == rows(start)
    for key in '?', 'h', 'F1':
        press(key, lambda lines: lines[1] == 'Moving')
        press('x', lambda lines: lines == start)
    press('f', lambda lines: lines[-1].endswith(', 23/24'), 'spin', 'Enter')
    press.moves('n', 24)
    press.moves('N', 23)
    press.moves('g', 1)
    press('o', lambda lines: 'Order rows by' in '\n'.join(lines))
    press.screen.press('Down', 'Enter')  # by Self
    press.screen.wait(lambda lines: lines[2].split()[2] == '65.57%')
    press('|', lambda lines: 'Columns, Enter switches' in '\n'.join(lines))
    press.screen.press('Enter')  # Children
    press('Escape', lambda lines: lines[1].split()[0] == 'Self')
    press('m', lambda lines: 'What to do' in '\n'.join(lines) and '│a  Annotate ' in '\n'.join(lines))
    press('Escape', lambda lines: lines[1].split()[0] == 'Self')
    press('g', lambda lines: lines[2].endswith(' leaf'))
    press('a', lambda lines: lines[0].startswith('leaf  '))
    press('q', lambda lines: lines[1].split()[0] == 'Self')
    press('i', lambda lines: lines[0] == 'Header' and lines[1] == '# ========')
    press('q', lambda lines: lines[1].split()[0] == 'Self')
    press('W', lambda lines: lines[0] == 'Health of the recording')
    press('q', lambda lines: lines[1].split()[0] == 'Self')
    press.answers('r', 'scripts: leave, and tally script -s')
    press.answers('0', 'rows are of one event: --group has several side by side')
    press.answers('9', 'rows are of one event: --group has several side by side')
    press.answers('x', "unknown key 'x': press \\? for help")
    press.answers('F5', 'unknown key: press \\? for help')
    press('s', lambda lines: lines[1].split()[-2:] == ['Socket', 'Symbol'], '\x15', 'socket,sym', 'Enter')
    press('S', lambda lines: re.search(r', Socket: -?\d+$', lines[0]))
    press('S', lambda lines: 'Socket: ' not in lines[0])
    press('q', is_left)
    missing = documented("perf's keys", 'in perf') - press.keys
    assert missing == {'C-c'}
    shown('report')('C-c', is_left)


def test_keys_of_a_group(shown):
    press = shown('report', '--no-children', '-g', 'none', '-s', 'sym', name='group.data')
    assert [line.split()[0] for line in press.screen.lines()[2:5]] == ['65.57%', '32.79%', '1.64%']
    press('1', lambda lines: lines[-1] == 'rows are in the order of event 1' and lines[2].split()[1] == '100.00%')
    press.answers('2', 'the group has 2 events, from 0 on')
    press.answers('0', 'rows are in the order of event 0')


def test_keys_of_trees(shown, tmp_path):
    press = shown('report')
    start = press.screen.lines()
    closed = press('T', lambda lines: lines[0].startswith('Top-down: ') and lines[2].endswith('+ deep'))
    press.moves('Down', 2)
    press.moves('Up', 1)
    press('Enter', lambda lines: lines[3].endswith('- main  deep') and lines[5].endswith('- level_2  deep'))
    press.moves('End', 24)
    press.moves('Home', 1)
    press('Left', lambda lines: lines == closed)
    press('Right', lambda lines: lines[3].endswith('- main  deep'))
    press.moves('Down', 2)
    press('Left', lambda lines: lines[3].endswith('+ main  deep'))
    press.moves('Left', 1)
    press('C', lambda lines: lines == closed)
    press('e', lambda lines: lines[-1].endswith(' 1/24'))
    press('e', lambda lines: lines == closed)
    press('E', lambda lines: lines[-1].endswith(' 1/26'))
    press('C', lambda lines: lines == closed)
    press('}', lambda lines: lines[0].endswith(', from 1%') and lines[-1].startswith('from 1%'))
    press('{', lambda lines: lines[0].endswith(', from 0.5%'))
    press('/', lambda lines: lines[-1].endswith(' 4/4'), 'spin', 'Enter')
    press('N', lambda lines: lines[-1].startswith('searched on from the other end'))
    press('n', lambda lines: lines[-1].startswith('searched on from the other end'))
    opened = press('P', lambda lines: lines[-1].startswith('perf.tree.0 written'))
    printed = (tmp_path / 'perf.tree.0').read_text(encoding='utf-8').splitlines()
    assert [line.rstrip() for line in printed[2:]] == [line for line in opened[2:-1] if line]
    press('a', lambda lines: lines[0].startswith('spin  '))
    press('q', lambda lines: lines[0] == opened[0])
    press.answers('x', "unknown key 'x': press \\? for help")
    press('I', lambda lines: lines[0].startswith('Callers: ') and lines[2].endswith('+ leaf  deep'))
    press('v', lambda lines: lines[0].startswith('Flame: '))
    press('T', lambda lines: lines[0] == opened[0])
    press('q', lambda lines: lines == start)
    assert documented('Other views', 'in the trees') - press.keys == {'w'}  # the flame graph's
    press('T', lambda lines: lines[0] == opened[0])
    press('Escape', lambda lines: lines == start)
    press('T', lambda lines: lines[0] == opened[0])
    press('C-c', is_left)


def at_cursor(lines):
    """The function of the cursor's block, and its share."""
    share, *_, name = re.match(r'([0-9.]+)%, self [0-9.]+%  (.*?)(?:  \S+)?$', lines[-2]).groups()
    return name, float(share)


def test_keys_of_the_flame_graph(shown):
    press = shown('report', size=(100, 30))
    start = press.screen.lines()

    def goes(key, name, *typed):
        return press(key, lambda lines: lines[-2].startswith(tuple('0123456789')) and at_cursor(lines)[0] == name, *typed)

    whole = goes('v', 'all samples')
    for key, name in (('Down', 'deep'), ('Right', 'helper'), ('Left', 'deep'), ('Up', 'all samples'), ('End', 'leaf'),
                      ('Home', 'all samples'), ('j', 'deep'), ('k', 'all samples')):
        goes(key, name)
    goes('Down', 'deep')
    goes('Right', 'helper')
    zoomed = press('Enter', lambda lines: lines[2].strip() == '▏helper')
    assert at_cursor(zoomed) == ('helper', 32.79)
    goes('Down', 'main')
    press('Enter', lambda lines: lines[3].strip() == '▏main')
    press('u', lambda lines: lines == zoomed)
    press('BSpace', lambda lines: lines == whole)
    goes('End', 'leaf')
    press('Enter', lambda lines: lines[2].strip() == '▏deep')
    press('z', lambda lines: lines == whole)
    press('/', lambda lines: lines[-1].startswith("'spin' is in 32.79%") and at_cursor(lines)[0] == 'spin', 'spin', 'Enter')
    press('n', lambda lines: lines[-1].startswith('searched on from the other end'))
    press.answers('x', "unknown key 'x': press \\? for help")
    press.answers('w', 'only recordings of record --wall distinguish running from waiting')
    press('N', lambda lines: lines[-1].startswith('searched on from the other end'))
    press('a', lambda lines: lines[0].startswith('spin  '))
    press('q', lambda lines: lines[0] == whole[0])
    press('Escape', lambda lines: lines == whole)
    for key in '?', 'h', 'F1':
        press(key, lambda lines: lines[1] == 'Moving')
        press('x', lambda lines: lines == whole)
    press('Escape', lambda lines: lines == start)
    press('v', lambda lines: lines == whole)
    press('q', lambda lines: lines == start)
    trees_only = {'e', 'E', 'C', '{', '}', 'P'}
    assert documented('Other views', 'in the trees') - press.keys == trees_only
    press('v', lambda lines: lines == whole)
    press('C-c', is_left)


def test_keys_of_a_hierarchy(shown):
    press = shown('report', '--hierarchy', '-s', 'dso,sym', size=(100, 30))
    closed = press.screen.lines()
    assert [line.split()[-2:] for line in closed[2:4]] == [['+', 'deep'], ['+', 'spin']]
    for opens, closes in (('Enter', 'Enter'), ('+', '+'), ('Right', 'Left'), ('e', 'e')):
        press(opens, lambda lines: [line.split()[-2:] for line in lines[2:4]] == [['-', 'deep'], ['leaf', 'deep']])
        press(closes, lambda lines: lines == closed)
    press('E', lambda lines: lines[-1].endswith(' 1/5'))
    press('C', lambda lines: lines == closed)
    press('/', lambda lines: lines[0].startswith("[names with 'level'] "), 'level', 'Enter')
    press('Escape', lambda lines: lines == closed)
    press('f', lambda lines: lines[-1].endswith(' 2/2'), 'spin', 'Enter')
    press('n', lambda lines: lines[-1].endswith(' 3/3'))
    press('N', lambda lines: lines[-1].endswith(' 2/3'))
    press('n', lambda lines: lines[-1].endswith(' 3/3'))
    press('a', lambda lines: lines[0].startswith('spin  '))
    press('q', lambda lines: lines[-1].endswith(' 3/3'))
    for key, event in (('Tab', 'second'), ('BTab', 'first'), ('>', 'second'), ('<', 'first')):
        press(key, lambda lines, event=event: f"of event '{event}'" in lines[0])
    press('C', lambda lines: lines[2:-1] == closed[2:-1])
    press('}', lambda lines: lines[0].endswith(', from 0.1%'))
    press('{', lambda lines: lines[0] == closed[0])
    press.answers('x', "unknown key 'x': press \\? for help")
    for key, title in (('I', 'Callers: '), ('T', 'Top-down: '), ('v', 'Flame: ')):
        press(key, lambda lines, title=title: lines[0].startswith(title))
        press('q', lambda lines: lines[0] == closed[0])
    table = press('q', lambda lines: lines[1].split()[:2] == ['Overhead', 'Shared'])
    press('d', lambda lines: ', DSO: ' in lines[0])
    press('d', lambda lines: lines == table)
    press('t', lambda lines: lines[0] != table[0] or lines[-1] != table[-1])
    press('L', lambda lines: lines[0].endswith(', from 50%'), '50', 'Enter')
    assert documented('Other views', 'in perf') - press.keys == set()


def test_keys_of_code(shown, tmp_path):
    press = shown('annotate', size=(120, 12))
    start = press.screen.lines()
    assert start[0].startswith('leaf  ') and ' 40 samples, percent: local period' in start[0]
    hot = re.search(r' (\d+)/\d+$', start[-1])[1]
    press.moves('Home', 1)
    press.moves('Down', 2)
    press.moves('j', 3)
    press.moves('k', 2)
    press.moves('Up', 1)
    for down, up in (('NPage', 'PPage'), ('Space', 'PPage'), ('C-f', 'C-b')):
        press.moves(down, 10)
        press.moves(up, 1)
    last = re.search(r'(\d+)$', start[-1])[1]
    press.moves('End', last)
    press.moves('g', 1)
    press.moves('G', last)
    press.answers('H', '1. of 1 lines with samples')
    press.moves('Home', 1)
    press.moves('Tab', hot)
    press.moves('Home', 1)
    press.moves('BTab', hot)
    press('>', lambda lines: lines[0].startswith('spin  '))
    press('<', lambda lines: lines[0].startswith('leaf  '))
    press('/', lambda lines: re.search(r' jne ', '\n'.join(lines)) and not lines[-1].endswith(f' {hot}/{last}'), 'jne', 'Enter')
    jump = press.screen.lines()
    press('Enter', lambda lines: lines[-1].split()[-1] != jump[-1].split()[-1])  # to the target, which is above
    press('/', lambda lines: lines[-1] == jump[-1], 'jne', 'Enter')
    press('Right', lambda lines: lines[-1] != jump[-1])
    press('?', lambda lines: lines[-1].endswith(f'/{last}'), 'push', 'Enter')
    at_push = press.screen.lines()[-1].split()[-1]
    press('n', lambda lines: lines[-1].startswith('searched on') and lines[-1].endswith(at_push))
    press('N', lambda lines: lines[-1].startswith('searched on') and lines[-1].endswith(at_push))
    press('s', lambda lines: not any('leaf():' in line for line in lines) and not lines[-1].endswith(f'/{last}'))
    press('s', lambda lines: lines[-1].endswith(f'/{last}'))
    press.moves('H', hot)
    press('t', lambda lines: lines[1].split()[0] == 'Period' and any(re.match(' +40000 ', line) for line in lines))
    press('t', lambda lines: lines[1].split()[0] == 'Samples' and any(re.match(' +40 ', line) for line in lines))
    press('t', lambda lines: lines[1].split()[0] == 'Percent')
    press('p', lambda lines: 'percent: global period' in lines[0] and any(re.match(' +65.57 ', line) for line in lines))
    press('b', lambda lines: 'percent: global hits' in lines[0])
    press('p', lambda lines: 'percent: local hits' in lines[0] and any(re.match(' +100.00 ', line) for line in lines))
    press('o', lambda lines: any(re.search(r'│ +[0-9a-f]{4,}: +push ', line) for line in lines))
    press('o', lambda lines: any(re.search(r'│ +push ', line) for line in lines))
    press('O', lambda lines: any(re.search(r'│ +push ', line) for line in lines))
    press('O', lambda lines: any(re.search(r'│ +0: +push ', line) for line in lines))
    press('f', lambda lines: any(re.search(r'│ +[0-9a-f]{4,}: +push ', line) for line in lines))
    press('f', lambda lines: any(re.search(r'│ +0: +push ', line) for line in lines))
    press('O', lambda lines: any(re.search(r'│ +push ', line) for line in lines))
    press('J', lambda lines: any(re.search(r'│ +1 +[0-9a-f]+: ', line) for line in press.screen.lines()) or lines)
    press.moves('End', last)
    press.screen.wait(lambda lines: any(re.search(r'│ +1 +[0-9a-f]+: ', line) for line in lines))
    press('J', lambda lines: not any(re.search(r'│ +1 +[0-9a-f]+: ', line) for line in lines))
    press('l', lambda lines: any(re.search(r'│ +\d+  .*return value', line) for line in lines))
    press('l', lambda lines: any(re.search(r'│ +\S*deep\.c:\d+ +return value', line) for line in lines))
    press('l', lambda lines: any(re.search(r'│ +return value', line) for line in lines))
    press('T', lambda lines: lines[-1].startswith('no data types') or any('# data-type: ' in line for line in lines))
    press('e', lambda lines: 'first' in lines[1] and 'second' in lines[1])
    unmoved = press.screen.lines()
    press(']', lambda lines: lines[1] != unmoved[1])
    press('[', lambda lines: lines[1] == unmoved[1])
    press.answers('c', 'no cycles are known: they need branch stacks')
    press('P', lambda lines: lines[-1].startswith('leaf.annotation written'))
    assert 'push' in (tmp_path / 'leaf.annotation').read_text(encoding='utf-8')
    press('P', lambda lines: lines[-1].startswith('leaf.annotation.1 written'))
    for key in 'h', 'F1':
        press(key, lambda lines: lines[1] == 'Moving')
        press('x', lambda lines: 'first' in lines[1])
    for key in 'r', 'B', 'x':
        press.answers(key, f"unknown key '{key}': press h for help")
    press('q', is_left)
    assert documented("perf's keys in annotate") - press.keys == {'Escape', 'Left', 'C-c'}
    for key in 'Escape', 'Left', 'C-c':
        shown('annotate')(key, is_left)


def test_keys_of_a_page(shown):
    press = shown('report', size=(80, 8))
    start = press.screen.lines()
    page = press('W', lambda lines: lines[0] == 'Health of the recording')
    press.moves('Down', 2)
    press.moves('Up', 1)
    press('Right', lambda lines: lines[1] == page[1][8:])
    press('Left', lambda lines: lines == page)
    press('/', lambda lines: re.search(r' end +complete', '\n'.join(lines)), 'complete', 'Enter')
    for key in '?', 'h', 'F1':
        press(key, lambda lines: lines[1].split()[:2] == ['Up', 'Down,'])
        press('x', lambda lines: lines[0] == 'Health of the recording' and not lines[1].startswith('  Up'))
    press.answers('x', "unknown key 'x': press \\? for help")
    press('q', lambda lines: lines == start)
    press('W', lambda lines: lines[0] == page[0])
    press('Escape', lambda lines: lines == start)
    press('W', lambda lines: lines[0] == page[0])
    press('C-c', is_left)


NAMESAKES = {'a.c': 'static __attribute__((noinline)) int helper(int x) { volatile int y = x * 12345; return y; }\n'
                    'int first(int x) { return helper(x) + 1; }\n',
             'b.c': 'int first(int);\n'
                    'static __attribute__((noinline)) int helper(int x) { volatile int y = x ^ 54321; return y; }\n'
                    'int main(void) { return helper(first(1)) + 1; }\n'}


@pytest.fixture
def namesakes(tmp_path):
    """A recording of two functions of one name, in a program in which the compiler cannot have merged them."""
    if not shutil.which('cc'):
        pytest.skip('there is no C compiler')
    for name, text in NAMESAKES.items():
        (tmp_path / name).write_text(text)
    subprocess.run(['cc', '-O1', '-g', '-no-pie', *NAMESAKES, '-o', 'twins'], cwd=tmp_path, check=True)
    text = subprocess.run(['nm', tmp_path / 'twins'], capture_output=True, text=True, check=True).stdout
    # An address of the program itself: not where the file has it, as the program is mapped there from its beginning.
    address = {name: [int(a, 16) for a in re.findall(rf'^(\w+) [tT] {name}$', text, re.M)] for name in ('main', 'first', 'helper')}
    recording = perfdata_build.Recording()
    recording.event('IDENTIFIER IP TID TIME CALLCHAIN')
    recording.comm('twins')
    recording.mmap(0x400000, 0x10000, str(tmp_path / 'twins'))
    of_first, of_main = address['helper']  # in the order of a.c, b.c
    for helper, caller in ((of_first, address['first'][0]), (of_main, address['main'][0])):
        recording.sample(ip=helper, callchain=[perfdata_build.CHAIN_USER, helper, caller + 1])
    recording.write(tmp_path / 'twins.data')
    return tmp_path / 'twins.data'


@pytest.mark.parametrize('caller, constant', [('first', '0x3039'), ('main', '0xd431')])
def test_code_of_the_function_that_is_selected(caller, constant, terminal, tally, namesakes):  # noqa: F811
    """Not of another one with the same name."""
    press = Pressed(terminal(shlex.join(map(str, [tally.path, 'report', '-i', namesakes])), (100, 40)))
    press.screen.wait(lambda lines: re.search(r'\d/\d+$', lines[-1]))
    press('T', lambda lines: lines[0].startswith('Top-down: '))
    opened = press('E', lambda lines: sum(' helper  ' in line for line in lines) == 2)
    row = next(i for i, line in enumerate(opened) if f' {caller}  ' in line) + 1
    assert ' helper  ' in opened[row]
    for _ in range(row - 2):
        press.screen.press('Down')
    press.screen.wait(lambda lines: f" {row - 1}/" in lines[-1])
    code = press('a', lambda lines: lines[0].startswith('helper  '))
    assert any(f'${constant},' in line for line in code), '\n'.join(code)
