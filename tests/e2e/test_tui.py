# SPDX-License-Identifier: Apache-2.0
"""report on a terminal: keys on a real recording in tmux, and how the terminal is left."""
import functools
import os
import re
import shlex
import shutil
import signal
import subprocess

import perfdata_build
import pytest
from conftest import TIMEOUT_S, child_named, wait_for

TITLE = re.compile(r"Samples: \d+K?  ?of event '([^']*)', Event count \(approx\.\): \d+")


class Screen:
    """A terminal with one program in it."""

    def __init__(self, folder, command, size, environment):
        self.socket = folder / 'tmux'
        shell = f'exec {command}'
        (folder / 'tmux.conf').write_text('set -g status off\n', encoding='ascii')
        self.environment = {**environment, 'TMUX': '', 'LC_ALL': 'C.UTF-8'}
        self.client = None
        self.tmux('-f', folder / 'tmux.conf', 'new-session', '-d', '-x', size[0], '-y', size[1], shell)
        # One client for all questions: a process for each would take most of the time.
        self.client = subprocess.Popen(['tmux', '-u', '-S', self.socket, '-C', 'attach', '-f', 'ignore-size,no-output'],
                                       env=self.environment, text=True, errors='replace', stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.answer()

    def answer(self):
        """What tmux answers to a command: the lines between %begin and %end."""
        found = None
        for line in self.client.stdout:
            if found is None:
                found = [] if line.startswith('%begin ') else None
            elif line.startswith(('%end ', '%error ')):
                assert line.startswith('%end '), found
                return ''.join(found)
            else:
                found.append(line)
        raise AssertionError('tmux ended')

    def tmux(self, *words):
        if self.client:
            self.client.stdin.write(shlex.join(map(str, words)) + '\n')
            self.client.stdin.flush()
            return self.answer()
        result = subprocess.run(['tmux', '-u', '-S', self.socket, *map(str, words)], env=self.environment, text=True,
                                capture_output=True, check=False, timeout=TIMEOUT_S)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def lines(self, *options):
        return [line.rstrip() for line in self.tmux('capture-pane', '-p', *options).splitlines()]

    def ask(self, what):
        return self.tmux('display-message', '-p', f'#{{{what}}}').strip()

    def wait(self, condition):
        """The lines of the first screen that is so, and not half drawn: looked at twice it is the same."""
        found = []

        def look():
            before, found[:] = list(found), self.lines()
            return condition(found) and found == before

        try:
            wait_for(look)
        except AssertionError:
            raise AssertionError('\n'.join(found)) from None
        return list(found)

    def end(self):
        subprocess.run(['tmux', '-S', self.socket, 'kill-server'], check=False, capture_output=True)
        if self.client:
            self.client.communicate()

    def press(self, *keys):
        self.tmux('send-keys', *keys)


@pytest.fixture
def terminal(tmp_path, tally):
    if not shutil.which('tmux'):
        pytest.skip('tmux is not installed')
    screens = []

    def start(command, size=(80, 24), **environment):
        screens.append(Screen(tmp_path, command, size, {**tally.environment, **environment}))
        return screens[-1]

    yield start
    for screen in screens:
        screen.end()


@pytest.fixture
def recording(live, recorded, workload):
    return recorded('-q', '-g', '-e', 'cpu-clock:u,task-clock:u', '-F', '1999', '--', workload('deep').path, '300')


def report(tally, path, *options):
    return shlex.join(map(str, [tally.path, 'report', '-i', path, *options]))


def rows_of(lines):
    """The rows of the table, without the mark of call chains; not the chains."""
    return [line[2:].strip() for line in lines if re.match(r'[-+ ]  +[0-9.]+% ', line)]


def text_rows(tally, path, *options):
    """By event, the rows of the text report."""
    text = tally('report', '--stdio', '-i', path, *options, check=0).stdout
    tables = {}
    for line in text.splitlines():
        title = re.match(r"# Samples: .* of event '([^']*)'", line)
        if title:
            rows = tables[title[1]] = []
        elif re.match(r' +[0-9.]+% +[0-9.]+% ', line):
            rows.append(line.strip())
    return tables


def test_twenty_keys(terminal, tally, recording):
    tables = text_rows(tally, recording, '--children')
    first, second = tables.values()
    screen = terminal(report(tally, recording), (120, 48))
    start = screen.wait(lambda lines: TITLE.match(lines[0]))
    assert TITLE.match(start[0])[1] == list(tables)[0]
    assert start[1].split() == ['Children', 'Self', 'Command', 'Shared', 'Object', 'Symbol']
    assert rows_of(start) == first[:len(rows_of(start))]
    assert re.search(rf'event 1/2, 1/{len(first)}$', start[-1])

    def pressed(key, condition):
        screen.press(key)
        return screen.wait(condition)

    opened = pressed('Enter', lambda lines: lines[2].startswith('- '))
    assert re.match(r' {3,}', opened[3]) and rows_of(opened)[0] == first[0]
    pressed('+', lambda lines: lines[:-1] == start[:-1])
    all_of_row = pressed('e', lambda lines: lines[2].startswith('- '))
    assert len(rows_of(all_of_row)) <= len(rows_of(opened))
    pressed('c', lambda lines: lines[:-1] == start[:-1])
    everything = pressed('E', lambda lines: sum(line.startswith('- ') for line in lines) > 1)
    assert sum(line.startswith('     ') and '%' not in line[:14] for line in everything) > 1
    pressed('C', lambda lines: lines[:-1] == start[:-1])
    pressed('Down', lambda lines: f', 2/{len(first)}' in lines[-1])
    pressed('j', lambda lines: f', 3/{len(first)}' in lines[-1])
    pressed('k', lambda lines: f', 2/{len(first)}' in lines[-1])
    pressed('End', lambda lines: f', {len(first)}/{len(first)}' in lines[-1])
    pressed('Home', lambda lines: f', 1/{len(first)}' in lines[-1])
    pressed('H', lambda lines: rows_of(lines[1:2]) == first[:1])
    pressed('H', lambda lines: lines == start)
    helped = pressed('?', lambda lines: lines[-1].endswith('any other key goes back'))
    assert any('Ctrl-C' in line and 'leave' in line for line in helped)
    pressed('Escape', lambda lines: lines == start)
    zoomed = pressed('d', lambda lines: ', DSO: ' in lines[0])
    dso = zoomed[0].rsplit(', DSO: ', 1)[1]
    assert rows_of(zoomed) == [row for row in first if row.split()[3] == dso][:len(rows_of(zoomed))]
    pressed('d', lambda lines: lines == start)
    pressed('Tab', lambda lines: 'event 2/2' in lines[-1])
    assert rows_of(screen.lines()) == second[:len(rows_of(screen.lines()))]
    pressed('<', lambda lines: lines == start)
    pressed('/', lambda lines: lines[-1] == 'Symbol: _')
    screen.press('-l', '\u00e9\u6f22')
    screen.wait(lambda lines: lines[-1] == 'Symbol: \u00e9\u6f22_')
    screen.press('BSpace', 'BSpace', 'main')
    screen.wait(lambda lines: lines[-1] == 'Symbol: main_')
    named = pressed('Enter', lambda lines: lines[0].endswith(', Symbol: main'))
    assert rows_of(named) == [row for row in first if 'main' in row.split('] ', 1)[1]][:len(rows_of(named))]
    pressed('Escape', lambda lines: lines[:-1] == start[:-1])
    pressed('x', lambda lines: lines[-1] == "unknown key 'x': press ? for help")
    pressed('C-s', lambda lines: lines[-1] == 'unknown key: press ? for help')


def test_other_sizes(terminal, tally, recording):
    screen = terminal(report(tally, recording), (40, 10))
    narrow = screen.wait(lambda lines: lines[0].startswith('Samples:'))
    assert max(map(len, narrow)) <= 40 and len(narrow) == 10
    screen.tmux('resize-window', '-x', '200', '-y', '50')
    wide = screen.wait(lambda lines: len(lines) == 50 and lines[-1].startswith('?:help') and TITLE.match(lines[0]))
    assert rows_of(wide) == list(text_rows(tally, recording).values())[0][:len(rows_of(wide))]
    screen.tmux('resize-window', '-x', '30', '-y', '3')
    screen.wait(lambda lines: len(lines) == 3 and lines[-1].startswith('?:help'))


def test_c_locale(terminal, tally, recording):
    screen = terminal(f'env LC_ALL=C {report(tally, recording)}')
    lines = screen.wait(lambda lines: TITLE.match(lines[0]))
    assert rows_of(lines) == list(text_rows(tally, recording).values())[0][:len(rows_of(lines))]
    screen.press('/', '\u00e9', 'a')
    screen.wait(lambda lines: lines[-1] == 'Symbol: a_')


@pytest.mark.parametrize('name', ['dumb', 'unknown-to-all', 'printer'])
def test_terminals_without_screens_get_text(name, terminal, tally, recording):
    text = report(tally, recording, '-g', 'none')
    screen = terminal(f'sh -c {shlex.quote(f"TERM={name} {text}; cat")}', (80, 100))
    screen.wait(lambda lines: any(line.startswith('# Samples: ') for line in lines))
    assert screen.ask('alternate_on') == '0'


def test_colours_are_left_out(terminal, tally, recording):
    screen = terminal(report(tally, recording), NO_COLOR='1')
    screen.wait(lambda lines: TITLE.match(lines[0]))
    assert not re.search('\x1b\\[[0-9;]*3[0-7]m', '\n'.join(screen.lines('-e')))


def test_colours_by_heat(terminal, tally, recording):
    screen = terminal(report(tally, recording))
    screen.wait(lambda lines: TITLE.match(lines[0]))
    assert re.search('\x1b\\[[0-9;]*31m', '\n'.join(screen.lines('-e')))


@pytest.mark.parametrize('leave', ['q', 'C-c', 'SIGTERM', 'SIGSEGV', 'SIGINT'])
def test_the_terminal_is_left_as_it_was(leave, terminal, tally, recording, tmp_path):
    marks = f'stty -g >{tmp_path}/before; {report(tally, recording)}; echo left $?; stty -g >{tmp_path}/after; cat'
    screen = terminal(f'sh -c {shlex.quote(marks)}')
    screen.wait(lambda lines: TITLE.match(lines[0]))
    assert screen.ask('alternate_on') == '1' and screen.ask('cursor_flag') == '0'
    if leave.startswith('SIG'):
        os.kill(child_named(int(screen.ask('pane_pid')), 'tally'), getattr(signal, leave))
    else:
        screen.press(leave)
    screen.wait(lambda lines: any(line.startswith('left ') for line in lines))
    assert screen.ask('alternate_on') == '0' and screen.ask('cursor_flag') == '1'
    wait_for(lambda: (tmp_path / 'after').exists() and (tmp_path / 'after').read_text(encoding='ascii'))
    assert (tmp_path / 'after').read_text(encoding='ascii') == (tmp_path / 'before').read_text(encoding='ascii')


def test_stopped_and_continued(terminal, tally, recording):
    screen = terminal("bash --norc --noprofile -i")
    screen.press('-l', f'PS1=; clear; {report(tally, recording)}')
    screen.press('Enter')
    screen.wait(lambda lines: TITLE.match(lines[0]))
    screen.press('j')
    before = screen.wait(lambda lines: ', 2/' in lines[-1])
    screen.press('C-z')
    screen.wait(lambda lines: any('Stopped' in line for line in lines))
    assert screen.ask('alternate_on') == '0'
    screen.press('-l', 'fg')
    screen.press('Enter')
    screen.wait(lambda lines: lines == before)
    screen.press('k')
    screen.wait(lambda lines: ', 1/' in lines[-1])


def test_print_to_a_file(terminal, tally, recording, tmp_path):
    (tmp_path / 'perf.hist.0').write_text('mine', encoding='ascii')
    screen = terminal(f'sh -c {shlex.quote(f"cd {tmp_path}; {report(tally, recording)}")}')
    screen.wait(lambda lines: TITLE.match(lines[0]))
    screen.press('P')
    screen.wait(lambda lines: lines[-1] == 'perf.hist.1 written')
    printed = (tmp_path / 'perf.hist.1').read_text(encoding='utf-8').splitlines()
    assert rows_of(printed) == list(text_rows(tally, recording).values())[0]
    assert (tmp_path / 'perf.hist.0').read_text(encoding='ascii') == 'mine'


def test_without_a_terminal(tally, recording):
    result = tally('report', '--tui', '-i', recording)
    assert result.returncode == 255 and '--tui needs a terminal' in result.stderr
    result = tally('report', '--tui', '--stats', '-i', recording)
    assert result.returncode == 255 and '--tui and --stats cannot be used together' in result.stderr
    plain = tally('report', '-i', recording, check=0)
    assert plain.stdout == tally('report', '--stdio', '-i', recording, check=0).stdout
    assert '\x1b' not in plain.stdout


ANNOTATED = re.compile(r'(\S+)  \S+/deep  \d+ samples, percent: local period')


def hot_lines(tally, path):
    """Of the hottest function: its name, and the shares of its instructions as the text has them, the most first."""
    text = tally('annotate', '--stdio2', '-d', 'deep', '-i', path, check=0).stdout.splitlines()
    name = re.match(r'(\S+)\(\) ', text[1])[1]
    shares = []
    for line in text[3:]:
        if line.startswith('Samples: ') and shares:
            break
        shares += re.findall(r'^ *([0-9.]+\.[0-9]{2}) ', line)
    return name, sorted(map(float, shares), reverse=True)


def test_annotate(terminal, tally, recording):
    name, shares = hot_lines(tally, recording)
    screen = terminal(shlex.join(map(str, [tally.path, 'annotate', '-d', 'deep', '-i', recording])), (120, 40))
    first = screen.wait(lambda lines: ANNOTATED.match(lines[0]))
    assert ANNOTATED.match(first[0])[1] == name
    shown = sorted((float(line.split()[0]) for line in first if re.match(r' +[0-9.]+ │', line)), reverse=True)
    assert shown[0] == shares[0]
    screen.press('o')
    screen.wait(lambda lines: any(re.search(r'│ +[0-9a-f]{4,}: ', line) for line in lines))
    screen.press('Tab')
    screen.wait(lambda lines: re.match(r'2\. of \d+ lines with samples', lines[-1]) or len(shares) == 1)
    screen.press('T')
    screen.wait(lambda lines: lines[-1].startswith('no data types') or any('# data-type: ' in line for line in lines))
    screen.press('p')
    screen.wait(lambda lines: 'percent: global period' in lines[0])
    screen.press('e')
    screen.wait(lambda lines: lines[1].count('clock') + lines[1].count('cpu-clo') > 1)
    screen.press('/', 'ret', 'Enter')
    screen.wait(lambda lines: lines[-1].startswith('h:help') or 'searched on' in lines[-1])
    screen.press('>')
    screen.wait(lambda lines: ANNOTATED.match(lines[0].replace('global', 'local')) and
                (lines[0].split()[0] != name or 'coldest' in lines[-1]))


def test_annotate_out_of_the_report(terminal, tally, recording):
    name = hot_lines(tally, recording)[0]
    command = report(tally, recording, '--no-children', '--dsos', 'deep')
    screen = terminal(f'sh -c {shlex.quote(f"{command}; echo left; cat")}', (120, 40))
    start = screen.wait(lambda lines: TITLE.match(lines[0]))
    assert rows_of(start)[0].split()[-1] == name
    screen.press('Down', 'Up', 'a')
    code = screen.wait(lambda lines: ANNOTATED.match(lines[0]))
    assert ANNOTATED.match(code[0])[1] == name
    screen.press('s')
    screen.wait(lambda lines: lines != code)
    screen.press('q')
    screen.wait(lambda lines: lines == start)
    screen.press('a')
    screen.wait(lambda lines: ANNOTATED.match(lines[0]))
    screen.press('C-c')
    screen.wait(lambda lines: 'left' in lines)


@functools.cache
def symbols_of(path):
    return subprocess.run(['nm', path], capture_output=True, text=True, check=True).stdout


def address_of(path, name):
    names = symbols_of(path)
    return int(re.search(rf'^(\w+) [tT] {name}$', names, re.MULTILINE)[1], 16)


def test_code_of_a_caller_whose_file_has_no_samples(terminal, tally, tmp_path, workload):
    deep, spin = workload('deep').path, workload('spin').path
    recording = perfdata_build.Recording()
    recording.event('IDENTIFIER IP TID TIME CALLCHAIN')
    recording.comm('deep')
    recording.mmap(0x10000000, 0x10000, str(deep))
    recording.mmap(0x20000000, 0x10000, str(spin))
    leaf, caller = 0x10000004 + address_of(deep, 'leaf'), 0x20000004 + address_of(spin, 'main')
    recording.sample(ip=leaf, callchain=[perfdata_build.CHAIN_USER, leaf, caller])
    recording.write(tmp_path / 'two.data')
    screen = terminal(report(tally, tmp_path / 'two.data'))
    screen.wait(lambda lines: TITLE.match(lines[0]))
    screen.press('/', 'main', 'Enter', 'a')
    screen.wait(lambda lines: lines[0].startswith('main  ') and '/spin  0 samples, percent' in lines[0])


def test_how_the_report_shows_code(terminal, tally, recording):
    name = hot_lines(tally, recording)[0]
    options = ('-M', 'intel', '--no-source', '--percent-type', 'global-hits')
    screen = terminal(report(tally, recording, '--no-children', '--dsos', 'deep', *options), (120, 40))
    screen.wait(lambda lines: TITLE.match(lines[0]))
    screen.press('a')
    code = screen.wait(lambda lines: lines[0].startswith(name) or 'global hits' in lines[0])
    assert 'global hits' in code[0]
    assert not any('%r' in line or ' $0x' in line for line in code), code
    assert any('ret' in line.split() for line in code), code
    raw = terminal(report(tally, recording, '--no-children', '--dsos', 'deep', '--asm-raw', *options), (120, 40))
    raw.wait(lambda lines: TITLE.match(lines[0]))
    raw.press('a')
    bytes_of = raw.wait(lambda lines: 'global hits' in lines[0])
    assert any(re.search(r'│ .* c3 .*ret$', line.rstrip()) for line in bytes_of), bytes_of
    assert any(re.search(r'│ .*( [0-9a-f]{2}){3} +mov ', line) for line in bytes_of), bytes_of
    refused = tally('report', '-M', 'pretty', '-i', recording, check=255)
    assert 'takes intel or att' in refused.stderr
    assert 'goes with --prefix' in tally('report', '--prefix-strip', '2', '-i', recording, check=255).stderr


def test_other_sort_keys_and_pages(terminal, tally, recording):
    screen = terminal(report(tally, recording), (120, 40))
    start = screen.wait(lambda lines: TITLE.match(lines[0]))
    screen.press('s')
    screen.wait(lambda lines: lines[-1] == 'Sort keys: comm,dso,symbol_')
    screen.press('C-u', 'nosuch', 'Enter')
    screen.wait(lambda lines: lines[-1].startswith('Unknown --sort key'))
    screen.press('s', 'C-u', 'pid,sym', 'Enter')  # for which the recording is read again
    by_thread = screen.wait(lambda lines: 'Pid:Command' in lines[1])
    expected = list(text_rows(tally, recording, '-s', 'pid,sym').values())[0]
    assert rows_of(by_thread) == expected[:len(rows_of(by_thread))]
    screen.press('s', 'C-u', 'comm,dso,symbol', 'Enter')
    start = screen.wait(lambda lines: lines[1].split()[2:4] == ['Command', 'Shared'])
    screen.press('i')
    screen.wait(lambda lines: lines[0] == 'Header' and any(line.startswith('# cmdline : ') for line in lines))
    screen.press('q')
    screen.wait(lambda lines: lines == start)
    screen.press('W')
    screen.wait(lambda lines: lines[0] == 'Health of the recording' and any('records by type' in line for line in lines))
    screen.press('q')
    screen.wait(lambda lines: lines == start)
    screen.press('S')
    screen.wait(lambda lines: lines[-1].startswith('rows are of all sockets'))
    screen.press('s', 'C-u', 'socket,sym', 'Enter')
    screen.wait(lambda lines: lines[1].split()[2:4] == ['Socket', 'Symbol'])
    screen.press('S')
    screen.wait(lambda lines: re.search(r', Socket: -?\d+$', lines[0]))
    screen.press('s', 'C-u', 'comm,dso,symbol', 'Enter')
    screen.wait(lambda lines: lines == start)
    screen.press('o', 'End', 'Enter')  # by symbol

    def symbols(lines):
        return re.findall(r'\] (leaf|level_\d+|main) ', ' \n'.join(rows_of(lines)) + ' ')

    screen.wait(lambda lines: symbols(lines) == sorted(symbols(start)))


def test_views_of_stacks(terminal, tally, recording):
    screen = terminal(report(tally, recording), (120, 40))
    start = screen.wait(lambda lines: TITLE.match(lines[0]))
    screen.press('T')
    screen.wait(lambda lines: lines[0].startswith('Top-down: ') and '100.00%' in lines[2])
    screen.press('E')
    screen.wait(lambda lines: any(re.search(r' level_7  deep$', line) for line in lines))
    screen.press('I')
    callers = screen.wait(lambda lines: lines[0].startswith('Callers: '))
    assert any(re.search(r' leaf  deep$', line) for line in callers)
    screen.press('v')
    flame = screen.wait(lambda lines: lines[0].startswith('Flame: '))
    assert flame[1].rstrip() == '▏all' and any('level_7' in line for line in flame)
    screen.press('/', 'leaf', 'Enter')
    screen.wait(lambda lines: lines[-1].startswith("'leaf' is in "))
    screen.press('q')
    screen.wait(lambda lines: lines == start)


def test_hierarchy(terminal, tally, recording):
    screen = terminal(report(tally, recording, '--hierarchy', '-s', 'dso,sym'), (120, 24))
    shown = screen.wait(lambda lines: 'Sort keys' in lines[1] and lines[2].endswith('+ deep'))
    assert shown[0].startswith("Hierarchy: Samples: ") and "of event 'cpu-clock:u'" in shown[0]
    text = tally('report', '-i', recording, '--stdio', '--hierarchy', '-s', 'dso,sym', '-g', 'none').stdout
    rows = [line.split() for line in text.split('# Samples')[1].splitlines() if '%' in line]  # of the first event
    screen.press('E')
    opened = screen.wait(lambda lines: lines[2].endswith('- deep') and len(lines[3].split()) == 3)
    assert [line.split()[0] for line in opened[2:2 + len(rows)]] == [row[0] for row in rows]
    screen.press('/', 'leaf', 'Enter')
    only = screen.wait(lambda lines: lines[0].startswith("[names with 'leaf'] Hierarchy: "))
    assert [line.split()[-2:] for line in only[2:4]] == [['-', 'deep'], ['leaf', 'deep']] and not only[4]
    screen.press('Tab')
    screen.wait(lambda lines: "of event 'task-clock:u'" in lines[0] and lines[2].endswith('+ deep'))
    screen.press('BTab')
    screen.wait(lambda lines: lines[0].startswith("[names with 'leaf'] Hierarchy: "))  # as it was left
    screen.press('Down', 'a')
    screen.wait(lambda lines: lines[0].startswith('leaf  '))
    screen.press('q')
    screen.wait(lambda lines: lines[0].startswith("[names with 'leaf'] Hierarchy: "))
    screen.press('q')
    screen.wait(lambda lines: 'Overhead' in lines[1])
    screen.press('q')


def test_a_group_by_one_of_its_events(terminal, tally, recording):
    screen = terminal(report(tally, recording, '--group', '--no-children', '-g', 'none'), (120, 40))
    screen.wait(lambda lines: lines[0].startswith('Samples: '))
    screen.press('1')
    lines = screen.wait(lambda lines: lines[-1] == 'rows are in the order of event 1')
    shares = [float(re.match(r' +[0-9.]+% +([0-9.]+)%', line)[1]) for line in lines[2:-1] if '%' in line]
    assert shares and shares == sorted(shares, reverse=True)
    screen.press('2')
    screen.wait(lambda lines: lines[-1] == 'the group has 2 events, from 0 on')


def mouse(row, column, button=0):
    """What a terminal sends for a press (3: for its end), as the description of screen has it."""
    return '\x1b[M' + chr(32 + button) + chr(33 + column) + chr(33 + row)


def test_the_mouse(terminal, tally, recording):
    screen = terminal(f'env TERM=screen {report(tally, recording)}', (80, 12))
    start = screen.wait(lambda lines: TITLE.match(lines[0]))
    screen.press('-l', mouse(5, 10) + mouse(5, 10, 3))
    screen.wait(lambda lines: ', 4/' in lines[-1])
    screen.press('-l', mouse(5, 10, 65))
    screen.wait(lambda lines: ', 7/' in lines[-1])
    screen.press('-l', mouse(5, 10, 64))
    screen.press('-l', 2 * (mouse(2, 10) + mouse(2, 10, 3)))
    screen.wait(lambda lines: lines[2] == '-' + start[2][1:])


@pytest.mark.parametrize('name, red', [('ansi', '31'), ('screen', '31'), ('xterm-256color', '31|38;5;1')])
def test_blocks_have_colours(name, red, terminal, tally, recording):
    screen = terminal(f'env TERM={name} {report(tally, recording)}')
    screen.wait(lambda lines: TITLE.match(lines[0]))
    assert re.search(f'\x1b\\[[0-9;]*({red})m', '\n'.join(screen.lines('-e')))
    screen.press('v')
    screen.wait(lambda lines: lines[0].startswith('Flame: '))
    assert re.search('\x1b\\[[0-9;]*4[1-8][0-9;]*m', '\n'.join(screen.lines('-e')[2:5]))


# xterm-direct, which few machines have.
ALL_COLOURS = r"""xterm-all|all colours,
	RGB, colors#0x1000000, pairs#0x7fff,
	setaf=\E[%?%p1%{8}%<%t3%p1%d%e38:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m,
	setab=\E[%?%p1%{8}%<%t4%p1%d%e48:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m,
	use=xterm-256color,
"""


def test_a_terminal_of_all_colours(terminal, tally, recording, tmp_path):
    if not shutil.which('tic'):
        pytest.skip('tic is not installed')
    (tmp_path / 'source').write_text(ALL_COLOURS, encoding='ascii')
    subprocess.run(['tic', '-x', '-o', tmp_path / 'terminfo', tmp_path / 'source'], check=True, capture_output=True)
    screen = terminal(f'env TERM=xterm-all TERMINFO={tmp_path}/terminfo {report(tally, recording)}')
    screen.wait(lambda lines: TITLE.match(lines[0]))
    assert re.search('\x1b\\[[0-9;:]*38[;:]2[;:]+215[;:]0[;:]0m', '\n'.join(screen.lines('-e')))
    screen.press('v')
    screen.wait(lambda lines: lines[0].startswith('Flame: '))
    assert re.search('\x1b\\[[0-9;:]*48[;:]2[;:]+[0-9]+[;:][0-9]+[;:][0-9]+m', '\n'.join(screen.lines('-e')[2:5]))


def test_blocks_without_colours(terminal, tally, recording):
    screen = terminal(report(tally, recording), NO_COLOR='1')
    screen.wait(lambda lines: TITLE.match(lines[0]))
    screen.press('v')
    screen.wait(lambda lines: lines[0].startswith('Flame: '))
    shown = '\n'.join(screen.lines('-e'))
    assert '\x1b[7m' in shown and not re.search('\x1b\\[[0-9;]*[34][0-8]m', shown)


@pytest.fixture
def large(tmp_path):
    """A recording of the kernel, and a list of its symbols that is not read before somebody writes it."""
    recording = perfdata_build.Recording()
    recording.event('IDENTIFIER IP TID TIME')
    recording.records += recording.pack('IHH', 1, 1, 8 + 32 + 24 + 24) + recording.pack(
        'IIQQQ', 0xffffffff, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000) + b'[kernel.kallsyms]_text\0\0' + (
            recording.trailer())
    recording.comm('busy')
    maps = recording.records
    recording.records = b''
    for i in range(40):
        recording.sample(misc=1, ip=0xffffffff81001000 + i % 4 // 3 * 0x1000)
    recording.records = maps + (9 << 20) // len(recording.records) * recording.records
    recording.write(tmp_path / 'large.data')
    os.mkfifo(tmp_path / 'kallsyms')
    return tmp_path / 'large.data', tmp_path / 'kallsyms'


SYMBOLS = ''.join(f'ffffffff8100{place}000 T {name}\n' for place, name in enumerate(('_text', 'often', 'seldom', '_end')))


def test_the_beginning_shows_before_its_names(terminal, tally, large):
    path, kallsyms = large
    screen = terminal(report(tally, path, '--kallsyms', kallsyms))
    start = screen.wait(lambda lines: lines[0].startswith('[the first 1 MB] Samples: '))
    assert [row.split() for row in rows_of(start)] == [
        ['75.00%', 'busy', '[kernel.kallsyms]', '[k]', '0xffffffff81001000'],
        ['25.00%', 'busy', '[kernel.kallsyms]', '[k]', '0xffffffff81002000']]
    assert start[-1].startswith('reading the recording')
    screen.press('Down', 'i')
    screen.wait(lambda lines: lines[-1].startswith('done as soon as all is read; reading the recording'))
    screen.press('H')  # which drops that
    screen.wait(lambda lines: len(rows_of(lines[1:2])) == 1 and lines[-1].startswith('reading the recording'))
    screen.press('T')
    screen.wait(lambda lines: lines[-1].startswith('done as soon as all is read; '))
    kallsyms.write_text(SYMBOLS, encoding='ascii')
    screen.wait(lambda lines: lines[0].startswith('Top-down: '))
    screen.press('q')
    whole = screen.wait(lambda lines: TITLE.match(lines[0]))
    assert [row.split()[-1] for row in rows_of(whole)] == ['often', 'seldom']
    assert len(rows_of(whole[1:2])) == 1 and whole[-1].endswith(' 2/2')


def two_functions(path, program, megabytes):
    """The beginning has one function, and all of it a hotter one."""
    recording = perfdata_build.Recording()
    recording.event('IDENTIFIER IP TID TIME')
    recording.comm('deep')
    recording.mmap(0x10000000, 0x10000, str(program))
    for size, name in ((2, 'leaf'), (megabytes, 'level_20')):
        before, recording.records = recording.records, b''
        recording.sample(ip=0x10000004 + address_of(program, name))
        recording.records = before + (size << 20) // len(recording.records) * recording.records
    recording.write(path)


def test_code_of_the_beginning_gives_way_to_that_of_all(terminal, tally, tmp_path, workload):
    two_functions(tmp_path / 'large.data', workload('deep').path, 7)
    screen = terminal(shlex.join(map(str, [tally.path, 'annotate', '-i', tmp_path / 'large.data'])))
    whole = screen.wait(lambda lines: lines[0].startswith('level_20  ') and lines[-1].startswith('h:help'))
    assert ' 183500 samples, ' in whole[0]
    screen.press('>')
    screen.wait(lambda lines: lines[0].startswith('leaf  '))


def pressed_while_it_is_read(screen):
    """A key as soon as there is code: whether all was not read by then."""
    found = ['']
    while not found[0].startswith(('leaf  ', 'level_20  ')):
        found = screen.lines()
    screen.press('End')
    while not re.search(r' (\d+)/\1$', found[-1]):
        found = screen.lines()
    return found[-1].startswith('reading') and found[0].startswith('leaf  ')


@pytest.mark.long
def test_who_presses_a_key_stays_in_the_function(terminal, tally, tmp_path, workload):
    for megabytes in 30, 120, 480:  # more where reading is faster than fingers
        two_functions(tmp_path / 'large.data', workload('deep').path, megabytes)
        screen = terminal(shlex.join(map(str, [tally.path, 'annotate', '-i', tmp_path / 'large.data'])))
        if pressed_while_it_is_read(screen):
            break
        screen.end()
    else:
        pytest.skip('recordings are read here before a key is pressed')
    whole = screen.wait(lambda lines: lines[-1].startswith('h:help'))
    assert whole[0].startswith('leaf  ') and ' 52428 samples, ' in whole[0]
    screen.press('<')
    screen.wait(lambda lines: lines[0].startswith('level_20  '))


@pytest.mark.parametrize('how', ['q', 'C-c', 'SIGSEGV'])
def test_leaving_while_it_is_read(how, terminal, tally, large):
    path, kallsyms = large
    command = f'{report(tally, path, "--kallsyms", kallsyms)}; echo left $?; cat'
    screen = terminal(f'sh -c {shlex.quote(command)}')
    screen.wait(lambda lines: lines[0].startswith('[the first 1 MB] Samples: '))
    if how == 'SIGSEGV':
        os.kill(child_named(int(screen.ask('pane_pid')), 'tally'), signal.SIGSEGV)
    else:
        screen.press(how)
    screen.wait(lambda lines: ('left 139' if how == 'SIGSEGV' else 'left 0') in lines)
    assert screen.ask('alternate_on') == '0'
