# SPDX-License-Identifier: Apache-2.0
"""Which parts of `make check-more` a change calls for: the table is complete, and nothing that breaks goes unseen."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import check_parts
import pytest
from conftest import ROOT


@pytest.fixture(scope='module')
def table():
    return check_parts.read_table()


def test_every_file_has_a_line(table):
    listed = subprocess.run(['git', 'ls-files'], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip('this is no git checkout')
    assert [path for path in listed.stdout.splitlines() if check_parts.parts_of(path, table) is None] == []


def test_every_line_has_a_file(table):
    """A line of a folder that has been renamed would let the new one pass, or call for everything."""
    listed = subprocess.run(['git', 'ls-files'], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip('this is no git checkout')
    files = listed.stdout.splitlines()
    assert [pattern for pattern, _ in table if not any(check_parts.matches(pattern, path) for path in files)] == []


def test_every_folder_of_the_source_has_a_line_of_its_own(table):
    patterns = {pattern for pattern, _ in table}
    folders = {f'src/{path.name}' for path in (ROOT / 'src').iterdir() if path.is_dir()}
    assert folders - patterns == set()


def test_every_part_can_be_called_for(table):
    assert {part for _, parts in table for part in parts} == set(check_parts.PARTS)


@pytest.mark.parametrize('path, parts', [
    # Threads share memory in these.
    ('src/base/thread_pool.c', {'races'}), ('src/profile/frame_table.c', {'races'}), ('src/code/symbols/resolve.c', {'races'}),
    # What another C library, another architecture or a build without BPF compiles differently.
    ('src/verbs/record/cmd_record.c', {'musl', 'long', 'faults'}), ('src/arch/arch_arm64.c', {'musl', 'emulated'}),
    ('src/bpf/off_cpu.c', {'without_bpf', 'emulated', 'musl'}), ('src/kernel/events/event_open.c', {'emulated', 'musl'}),
    ('src/tasks/recording/record_session.c', {'without_bpf', 'long', 'faults'}),
    # What a package carries, and what its lists name.
    ('debian/control', {'packages'}), ('src/verbs/meson.build', {'packages', 'without_bpf', 'musl', 'emulated'}),
    ('include/tally/counter.h', {'packages', 'musl', 'emulated'}),
    # What the unit tests of the three oldest folders must notice.
    ('src/abi/attr.c', {'mutation'}), ('src/perfdata/cursor.c', {'mutation'}), ('tests/unit/abi/attr.c', {'mutation'}),
    # Everything depends on these.
    ('meson.build', set(check_parts.PARTS)), ('tools/check', set(check_parts.PARTS)), ('.ci/run', set(check_parts.PARTS)),
])
def test_what_a_change_calls_for(table, path, parts):
    assert parts <= check_parts.parts_of(path, table)


def test_code_of_another_machine_is_compiled_for_it(table):
    """Nothing else compiles what stands behind __aarch64__."""
    sources = [path for folder in ('src', 'include') for path in (ROOT / folder).rglob('*.[ch]')]
    for path in (path for path in sources if re.search('__aarch64__|__TARGET_ARCH_arm64', path.read_text())):
        assert 'emulated' in check_parts.parts_of(str(path.relative_to(ROOT)), table), path


def test_a_verb_calls_for_less_than_the_build(table):
    assert 'packages' not in check_parts.parts_of('src/verbs/report/cmd_report.c', table)
    assert check_parts.parts_of('README.md', table) == set()


def test_a_verb_calls_for_the_long_cases_that_name_it(table):
    files = check_parts.long_files(['src/verbs/build_ids/cmd_buildid_list.c', 'README.md', 'tests/e2e/test_tui.py'], table)
    assert {'tests/e2e/test_buildid.py', 'tests/e2e/test_tui.py'} <= set(files) and 'tests/e2e/test_jit.py' not in files
    assert check_parts.long_files(['README.md'], table) == []
    for path in 'src/base/text.c', 'src/verbs/meson.build', 'newfolder/x.c', 'tests/e2e/conftest.py':
        assert check_parts.long_files([path], table) is None


def test_every_verb_is_named_by_a_test(table):
    folders = [path for path in (ROOT / 'src/verbs').iterdir() if path.is_dir()]
    for folder in folders:
        assert check_parts.verbs_of(folder), folder
        assert check_parts.long_files([f'src/verbs/{folder.name}/x.c'], table), folder


def test_an_unknown_file_calls_for_everything(table):
    assert check_parts.parts_of_all(['newfolder/x.c'], table) == check_parts.PARTS
    assert check_parts.parts_of_all(['README.md'], table) == []


def test_an_unknown_part_is_refused(tmp_path):
    (tmp_path / 'tests').mkdir()
    (tmp_path / 'tests/parts.txt').write_text('src: race\n')
    with pytest.raises(ValueError, match='src: unknown part race'):
        check_parts.read_table(tmp_path)


def test_all_parts_run_if_the_last_landing_is_unknown(monkeypatch):
    monkeypatch.setattr(check_parts, 'changed_files', lambda: None)
    assert check_parts.parts_of_changes()[0] == check_parts.PARTS


@pytest.fixture
def check(monkeypatch, tmp_path):
    """tools/check as a module, with a history of its own."""
    monkeypatch.setenv('TALLY_CHECK_HISTORY', str(tmp_path / 'cache/history.tsv'))
    loader = importlib.machinery.SourceFileLoader('tools_check', str(ROOT / 'tools/check'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('tools_check', loader))
    loader.exec_module(module)
    return module


def test_groups_hold_every_part_once(check):
    listed = [part for parts in check.GROUPS.values() for part in parts]
    assert sorted(listed) == sorted(check.PARTS)
    assert check.parts_of(['check', 'unit', 'races']) == check.GROUPS['check'] + ['races']
    assert check.parts_of(['chekc']) is None


def pytest_runs(check, monkeypatch, results):
    """Lets the runs of pytest give these outcomes in turn."""
    pending = list(results)
    monkeypatch.setattr(check, 'pytest_run', lambda *_: pending.pop(0))
    return check.asked_twice('python3', 'e2e')


def failing(check, *cases):
    text = ''.join(f'FAILED tests/e2e/{case} - assert 1 == 2\n' for case in cases)
    return check.Outcome(passed=5 - len(cases), failed=len(cases), text=text)


def test_a_case_that_passes_when_asked_again_is_kept_and_fails_the_next_time(check, monkeypatch):
    for failed in (0, 1):
        outcome = pytest_runs(check, monkeypatch, [failing(check, 'a.py::x'), check.Outcome(passed=1)])
        assert (outcome.passed, outcome.failed) == (5 - failed, failed)
        assert [line.split(' - ')[0] for line in outcome.unsteady] == ['FAILED tests/e2e/a.py::x']
        assert ('for the second time' in outcome.text) == bool(failed)
        check.append_history([['unsteady', line.split(' - ')[0]] for line in outcome.unsteady])


def test_a_case_that_fails_twice_fails(check, monkeypatch):
    outcome = pytest_runs(check, monkeypatch, [failing(check, 'a.py::x', 'a.py::y'),
                                               check.Outcome(passed=1, failed=1, text='FAILED tests/e2e/a.py::y - no\n')])
    assert (outcome.passed, outcome.failed) == (4, 1)
    assert outcome.unsteady == ['FAILED tests/e2e/a.py::x - assert 1 == 2']


def test_a_case_that_is_skipped_when_asked_again_is_unsteady(check, monkeypatch):
    outcome = pytest_runs(check, monkeypatch, [failing(check, 'a.py::x'), check.Outcome(skips=[('a::x', 'no PMU')])])
    assert (outcome.passed, outcome.failed, outcome.skips) == (4, 0, [('a::x', 'no PMU')])
    assert outcome.unsteady == ['FAILED tests/e2e/a.py::x - assert 1 == 2']


def test_many_failures_are_not_asked_again(check, monkeypatch):
    outcome = pytest_runs(check, monkeypatch, [failing(check, *(f'a.py::{n}' for n in range(11)))])
    assert (outcome.failed, outcome.unsteady) == (11, [])


def test_a_command_is_ended_with_all_that_it_started(check, monkeypatch):
    """A process of a session of its own, too."""
    monkeypatch.setenv('END_BY', str(time.time() + 1))
    result = check.run(['sh', '-c', 'echo begun; setsid sleep 1234.5 & wait'])
    assert result.returncode == check.ENDED and result.stdout.startswith('begun\n')
    assert re.search(r'^ended after [01] s; its processes were\n(running: \S+\n)?\d+ S \S+ sleep 1234.5$', result.stdout, re.M)
    assert not check.may_begin('unit')


def test_an_undivided_part_begins_earlier(check, monkeypatch):
    monkeypatch.setenv('BEGIN_UNTIL', str(time.time() + 60))
    assert check.may_begin('long') and not check.may_begin('emulated')
    monkeypatch.setenv('BEGIN_UNTIL', str(time.time() + 7200))
    assert check.may_begin('emulated')


def test_a_process_left_behind_holds_up_nothing(check):
    result = check.run(['sh', '-c', 'sleep 1000 & echo $!'])
    os.kill(int(result.stdout), signal.SIGKILL)
    assert result.returncode == 0


def pytest_with_budget(folder, **environment):
    """pytest's output on the test files of a folder, with our plugin that limits cases."""
    (folder / 'conftest.py').write_text(
        f'import pathlib, sys\nsys.path[:0] = [{str(ROOT / "tests/e2e")!r}, {str(ROOT / "tools")!r}]\nimport budget\n'
        f'pytest_addoption = budget.add_options\n'
        f'def pytest_configure(config): budget.configure(config, pathlib.Path({str(folder)!r}))\n')
    return subprocess.run([sys.executable, '-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider', folder], capture_output=True,
                          text=True, env={**os.environ, **environment}, cwd=folder, check=False).stdout


def test_no_case_begins_late(tmp_path):
    (tmp_path / 'test_two.py').write_text('import time\ndef test_one(): time.sleep(2)\ndef test_two(): pass\n')
    shown = pytest_with_budget(tmp_path, BEGIN_UNTIL=str(time.time() + 1.5))
    assert shown.count('BEGIN_UNTIL has passed') == 1 and re.search('[12] skipped', shown) and 'failed' not in shown


HANGING = """
import subprocess, threading
def test_processes_that_hold_a_pipe(): subprocess.run(['sh', '-c', 'setsid sleep 1234.5 & kill -STOP $$'], capture_output=True)
def test_a_lock(): threading.Event().wait()
def test_the_others_run(): pass
"""


def test_a_case_that_hangs_is_ended_and_named(tmp_path):
    (tmp_path / 'test_hanging.py').write_text(HANGING)
    shown = pytest_with_budget(tmp_path, TALLY_CASE_WALL_S='0.5')
    assert '2 failed, 1 passed' in shown
    assert re.search(r'^E +\d+ T \S+ sh -c setsid sleep', shown, re.M)
    assert re.search(r'^E +\d+ S \S+ sleep 1234.5', shown, re.M)
    assert 'sleep\x001234.5' not in ''.join(
        path.read_text(errors='replace') for path in pathlib.Path('/proc').glob('[0-9]*/cmdline') if path.exists())


@pytest.mark.parametrize('status, name, counts', [(0, 'x.sh', (1, 0, 0)), (1, 'x.sh', (0, 1, 0)), (77, 'x.sh', (0, 0, 1)),
                                                  (1, 'known.sh', (0, 0, 1)), (0, 'known.sh', (1, 0, 0))])
def test_what_a_reproduction_of_a_fault_counts_as(check, tmp_path, status, name, counts):
    script = tmp_path / name
    script.write_text(f'echo "SKIP or got: $TALLY"; exit {status}\n')
    outcome = check.fault(script, {'known.sh'})
    assert (outcome.passed, outcome.failed, len(outcome.skips)) == counts
    assert ('src/cli/tally' in outcome.text) == (counts[1] == 1)


def test_what_is_left_out_of_the_changed_parts_is_said(check, monkeypatch, capsys):
    monkeypatch.setattr(check.check_parts, 'parts_of_changes', lambda: (['races', 'packages'], None, '2 files differ'))
    monkeypatch.setenv('WITHOUT', 'mutation packages')
    assert check.parts_of(['changed']) == ['races']
    assert 'left out, as WITHOUT asks: packages' in capsys.readouterr().out
