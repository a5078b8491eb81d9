# SPDX-License-Identifier: Apache-2.0
"""The frame of the program: names, help, manual pages, completion, the pager and what happens without a reader."""
import fcntl
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import termios

import pytest

VERBS = ['evlist', 'help', 'list', 'record', 'report', 'script', 'stat', 'version']


def test_called_as_perf_it_is_perf(tally, tmp_path):
    as_perf = tmp_path / 'perf'
    as_perf.symlink_to(tally.path)

    def run(*words):
        return subprocess.run([as_perf, *words], capture_output=True, text=True, env=tally.environment, check=False)

    assert run('nosuch').stderr == "perf: 'nosuch' is not a perf-command. See 'perf --help'.\n"
    assert run('--version').stdout.startswith('perf version ')
    assert ' Usage: perf stat ' in run('stat', '-h').stderr


def test_no_verb_and_wrong_verb(tally):
    assert '\n usage: tally [--version] [--help] [OPTIONS] COMMAND [ARGS]\n' in tally(check=1).stdout
    assert tally('--help', check=0).stdout == tally('help', check=0).stdout
    wrong = tally('reprot', check=1)
    assert wrong.stderr.split('\n')[0] == "tally: 'reprot' is not a tally-command. See 'tally --help'."
    assert 'report' in wrong.stderr
    assert 'Did you mean --version?' in tally('--verison', check=129).stderr


def test_usage_goes_to_standard_error_and_help_to_standard_output(tally):
    for verb in tally('--list-cmds', check=0).stdout.split():
        short = tally(verb, '-h', check=129)
        assert short.stdout == '' and f' Usage: tally {verb}' in short.stderr
        long = tally(verb, '--help', check=0)
        assert long.stderr == '' and f' Usage: tally {verb}' in long.stdout
        assert tally('help', verb, check=0).stdout == long.stdout


def test_an_unknown_option_is_told_with_the_usage(tally):
    for verb in tally('--list-cmds', check=0).stdout.split():
        wrong = tally(verb, '--nosuchopt', check=129)
        assert wrong.stderr.startswith("  Error: unknown option `nosuchopt'\n\n Usage: tally " + verb)
        assert tally(verb, '--list-opts').returncode == 130


def test_version(tally):
    version = tally('--version', check=0).stdout
    assert tally('version', check=0).stdout == version == tally('-v', check=0).stdout
    commit = r' \([0-9a-f]{12,}\)' if (pathlib.Path(__file__).parents[2] / '.git').exists() else ''
    assert re.fullmatch(rf'tally version \d+\.\d+\.\d+{commit}\n', version)
    options = tally('version', '--build-options', check=0).stdout
    assert options.startswith(version) and ': [ on  ]  # HAVE_LIBELF_SUPPORT\n' in options
    assert tally('-vv', check=0).stdout == options


def test_commands_and_options_are_listed_for_completion(tally):
    verbs = tally('--list-cmds', check=0).stdout.split()
    assert set(VERBS) <= set(verbs)
    assert '--help' in tally('--list-opts', check=0).stdout.split()
    assert {'--event', '--repeat'} <= set(tally('stat', '--list-opts').stdout.split())


@pytest.mark.parametrize('shell', ['bash', 'zsh', 'fish'])
def test_completion_is_accepted_by_its_shell(tally, shell, tmp_path):
    script = tally('completion', shell, check=0).stdout
    assert '--repeat' in script or '-l repeat' in script
    if not shutil.which(shell):
        pytest.skip(f'{shell} is not installed')
    path = tmp_path / 'completion'
    path.write_text(script)
    result = subprocess.run([shell, '-n', path], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, '')


def test_bash_completes_verbs_and_options(tally, tmp_path):
    (tmp_path / 'completion').write_text(tally('completion', 'bash', check=0).stdout)

    def complete(*words):
        line = ' '.join(f"'{word}'" for word in words)
        code = f'tally() {{ "{tally.path}" "$@"; }}; . ./completion; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _tally; echo "${{COMPREPLY[*]}}"'
        return subprocess.run(['bash', '-c', code], cwd=tmp_path, capture_output=True, text=True,
                              check=True).stdout.split()

    assert complete('tally', 'rep') == ['report']
    assert complete('tally', 'stat', '--repe') == ['--repeat']
    assert complete('tally', 'report', 'comp') == ['completion']
    assert complete('tally', 'stat', '-e', 'page-f') == ['page-faults']
    assert complete('tally', 'record', '--event', 'dummy,task-c') == ['dummy,task-clock']
    assert complete('tally', 'sched', 'lat') == ['latency']
    assert complete('tally', 'help', 'timech') == ['timechart']
    assert complete('tally', 'export', '-F', 'spee') == ['speedscope']
    assert complete('tally', 'report', '--percentage', '=', 'rel') == ['relative']
    assert complete('tally', 'report', '--stdio-color', '=') == ['always', 'never', 'auto']
    assert complete('tally', 'report', '-s', 'comm,srcl') == ['comm,srcline', 'comm,srcline_from', 'comm,srcline_to']


@pytest.mark.parametrize('shell, registration', [
    ('bash', 'complete -o filenames -F _tally tally perf'), ('zsh', '#compdef tally perf'),
    ('fish', 'complete -c perf -w tally')])
def test_completion_is_for_perf_too(tally, shell, registration):
    assert registration in tally('completion', shell, check=0).stdout.splitlines()


def test_fish_completes_values(tally, tmp_path):
    if not shutil.which('fish'):
        pytest.skip('fish is not installed')
    (tmp_path / 'completion').write_text(tally('completion', 'fish', check=0).stdout)

    def complete(line):
        code = f'source completion; complete -C "{line}"'
        result = subprocess.run(['fish', '-c', code], cwd=tmp_path, capture_output=True, text=True, check=True,
                                env=tally.environment)
        return [word.split('\t')[0] for word in result.stdout.splitlines()]

    assert complete('tally export --format spee') == ['speedscope']
    assert 'latency' in complete('tally sched lat')
    assert 'comm,srcline' in complete('tally report --sort comm,srcl')


def test_wrong_names_are_answered_by_near_ones(tally):
    for words in (['reprot'], ['help', 'reprot'], ['man', 'reprot']):
        assert '\treport\n' in tally(*words, check=1).stderr
    assert "Did you mean `relative'?" in tally('report', '--percentage', 'relativ', check=129).stderr
    assert "Did you mean `always'?" in tally('report', '--stdio-color', 'alway', check=129).stderr
    assert "did you mean `symbol'?" in tally('diff', '-s', 'symbl', 'a', 'b', check=129).stderr
    assert 'Did you mean' not in tally('report', '--percentage', 'zzzzzz', check=129).stderr


def test_a_mistake_is_answered_in_a_few_lines(tally):
    for words in (['report', '--nosuchopt'], ['record', '-c', 'x', 'true'], ['stat', '-r', 'x', 'true'],
                  ['script', '--nosuchopt'], ['top', '--percentage', 'x']):
        answer = tally(*words, check=129).stderr
        assert len(answer.splitlines()) <= 10 and 'Usage: tally' in answer, answer


def test_rows_fit_the_terminal(tally, live, tmp_path):
    if not shutil.which('cc'):
        pytest.skip('cc is not installed')
    name = 'a_function_of_a_long_name_' * 12
    (tmp_path / 'p.c').write_text(f'static void __attribute__((noinline)) {name}(void)\n'
                                  '{ for (volatile long i = 0; i < 100000000; i++); }\n'
                                  f'int main(void) {{ {name}(); return 0; }}\n')
    subprocess.run(['cc', '-O1', '-o', 'p', 'p.c'], cwd=tmp_path, check=True)
    tally('record', '-q', '-e', 'cpu-clock', '-o', 'd', '--', './p', cwd=tmp_path, check=0)

    def report(*words):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 70, 0, 0))
        child = subprocess.Popen([tally.path, '--no-pager', 'report', '--stdio', '-g', 'none', *words, '-i', 'd'],
                                 cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL,
                                 env=tally.environment)
        os.close(theirs)
        text = read_all(ours)
        assert child.wait() == 0
        return [line.rstrip() for line in text.splitlines()]

    table = [line for line in report() if 'a_function_of' in line or line.startswith('# ...')]
    assert len(table) >= 2 and max(map(len, table)) <= 70 and max(map(len, table)) > 60
    assert any(name in line for line in report('--column-widths', '0,0,0,400'))
    whole = tally('report', '--stdio', '-g', 'none', '-i', 'd', cwd=tmp_path, check=0).stdout
    assert name in whole


@pytest.mark.parametrize('environment, is_coloured', [
    ({'TERM': 'xterm'}, True), ({'TERM': 'xterm', 'NO_COLOR': '1'}, False), ({'TERM': 'xterm', 'NO_COLOR': ''}, True),
    ({'TERM': 'dumb'}, False)])
def test_colours_are_for_terminals_that_want_them(tally, live, tmp_path, workload, environment, is_coloured):
    tally('record', '-q', '-e', 'cpu-clock', '-o', tmp_path / 'd', '--', workload('spin').path, '100', check=0)
    for words in (['report', '--stdio', '-i', 'd'], ['annotate', '--stdio', '-i', 'd', 'spin']):
        ours, theirs = pty.openpty()
        child = subprocess.Popen([tally.path, '--no-pager', *words], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=theirs,
                                 stderr=subprocess.DEVNULL, env={**tally.environment, **environment})
        os.close(theirs)
        text = read_all(ours)
        assert child.wait() == 0
        assert ('\x1b[' in text) == is_coloured, words
    always = tally('report', '--stdio', '--stdio-color', 'always', '-i', 'd', cwd=tmp_path, check=0, env={'NO_COLOR': '1'})
    assert '\x1b[' in always.stdout


@pytest.mark.parametrize('verb', [*VERBS, 'tally'])
def test_manual_pages_render_without_a_warning(tally, verb):
    page = tally('man', verb, check=0).stdout
    assert page.startswith('.TH TALLY')
    if not shutil.which('groff'):
        pytest.skip('groff is not installed')
    result = subprocess.run(['groff', '-man', '-Tutf8', '-ww', '-z'], input=page, capture_output=True, text=True,
                            check=False)
    assert (result.returncode, result.stderr) == (0, '')


def read_all(fd):
    data = b''
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:  # the other side of a pseudo-terminal was closed
            part = b''
        if not part:
            os.close(fd)
            return data.decode()
        data += part


def run_on_terminal(tally, *words, **environment):
    ours, theirs = pty.openpty()
    with subprocess.Popen([tally.path, *words], stdout=theirs, stdin=subprocess.DEVNULL,
                          env={**tally.environment, **environment}) as process:
        os.close(theirs)
        text = read_all(ours)
    return process.returncode, text.replace('\r\n', '\n')


def test_pager_on_a_terminal_only(tally):
    pager = "sed 's/^/> /'"
    code, text = run_on_terminal(tally, 'help', 'stat', TALLY_PAGER=pager)
    assert code == 0 and text.startswith('> tally stat')
    code, text = run_on_terminal(tally, '--no-pager', 'help', 'stat', TALLY_PAGER=pager)
    assert code == 0 and text.startswith('tally stat')
    assert run_on_terminal(tally, 'help', 'stat', PAGER=pager)[1].startswith('> ')
    assert run_on_terminal(tally, 'help', 'stat', PAGER='')[1].startswith('tally stat')
    assert tally('help', 'stat', env={'TALLY_PAGER': pager}).stdout.startswith('tally stat')


def test_a_reader_that_goes_away_is_no_complaint(tally):
    result = subprocess.run(['bash', '-c', f'set -o pipefail; "{tally.path}" help record | true'], text=True,
                            env=tally.environment, capture_output=True, check=False)
    assert result.stderr == '' and result.returncode in (0, 141)


def test_a_full_disk_is_told(tally):
    with open('/dev/full', 'w', encoding='ascii') as full:
        result = subprocess.run([tally.path, 'version'], stdout=full, stderr=subprocess.PIPE, text=True,
                                env=tally.environment, check=False)
    assert result.returncode == 255 and 'No space left on device' in result.stderr


@pytest.mark.parametrize('verb', [('report', '--stdio'), ('script',), ('evlist',), ('buildid-list',),
                                  ('inject', '-o', 'out.data')])
def test_a_file_of_another_user_is_read_by_force_only(tally, tmp_path, live, verb):
    """As perf has it, word for word: a recording is input that somebody else may have made up."""
    if os.geteuid() != 0:
        pytest.skip('needs root to give a file away')
    tally('record', '-q', '-e', 'cpu-clock:u', '-o', 'own.data', 'true', cwd=tmp_path, check=0)
    os.chown(tmp_path / 'own.data', 1234, -1)
    refused = tally(*verb, '-i', 'own.data', cwd=tmp_path, check=255)
    assert 'File own.data not owned by current user or root (use -f to override)\n' in refused.stderr
    assert refused.stdout == ''
    tally(*verb, '-f', '-i', 'own.data', cwd=tmp_path, check=0)


@pytest.mark.parametrize('words, nearest', [
    (['sched', 'lateny'], 'latency'), (['lock', 'contentoin'], 'contention'), (['mem', 'reprot'], 'report'),
    (['c2c', 'reprot'], 'report'), (['kmem', 'sat'], 'stat'), (['export', '-F', 'fodled'], 'folded')])
def test_commands_of_commands_and_formats_are_suggested(tally, words, nearest):
    refused = tally(*words, check=129)
    assert words[-1] in refused.stderr and f"Did you mean `{nearest}'?" in refused.stderr
    assert 'Did you mean' not in tally(*words[:-1], 'zzzzzzz', check=129).stderr
