# SPDX-License-Identifier: Apache-2.0
"""tally daemon: runs recorders in the background, follows its configuration, and leaves nothing behind."""
import json
import os
import pathlib
import re
import signal

import json_schema
import pytest
from conftest import wait_for

IDLE = '-e cpu-clock -m 1 -o x.data -- sleep 300'


@pytest.fixture
def daemon(tally, tmp_path):
    """daemon(WORDS): the verb with its configuration, stopped at the end. daemon.write(NAME=RUN) writes that."""
    class Daemon:
        base = tmp_path / 'base'
        config = tmp_path / 'config'

        def __call__(self, *words, check=0):
            return tally('daemon', *words, '--config', self.config, check=check)

        def write(self, **sessions):
            text = f'[daemon]\nbase={self.base}\n' + ''.join(
                f'[session-{name}]\nrun = {run}\n' for name, run in sessions.items())
            beside = tmp_path / 'config.new'
            beside.write_text(text)
            beside.rename(self.config)

        def start(self, **sessions):
            self.write(**sessions)
            self('start')
            for name in sessions:
                self.wait_for_answer(name)

        def wait_for_answer(self, name, answer='OK'):
            wait_for(lambda: self('ping', '--session', name).stdout.startswith(answer))

        def log(self):
            return (self.base / 'output').read_text()

    running = Daemon()
    running.base.mkdir()
    yield running
    if (running.base / 'control').exists():
        running('stop', check=None)


def is_alive(pid):
    try:
        return pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


def test_perfs_own_test(perfs_own_test):
    result = perfs_own_test('daemon.sh')
    assert result.returncode == 0 and 'FAILED' not in result.stdout, result.stdout + result.stderr


def test_the_list(daemon, tally):
    daemon.start(one=IDLE, two='-e task-clock -m 1 -- sleep 300')
    base = daemon.base
    shown = daemon().stdout
    pids = re.findall(r'^\[(\d+):', shown, re.MULTILINE)
    assert shown == (f'[{pids[0]}:daemon] base: {base}\n[{pids[1]}:one] tally record {IDLE}\n'
                     f'[{pids[2]}:two] tally record -e task-clock -m 1 -- sleep 300\n')
    assert daemon('-x').stdout.splitlines()[:2] == [
        f'{pids[0]},daemon,{base},{base}/output,{base}/lock,0',
        f'{pids[1]},one,{IDLE},{base}/session-one,' + ','.join(f'{base}/session-one/{x}' for x in ('output', 'control', 'ack')) + ',0']
    assert '  up:      0 minutes\n' in daemon('-v').stdout and f'  ack:     {base}/session-two/ack\n' in daemon('-v').stdout
    listed = json.loads(daemon('--json').stdout)
    json_schema.check(listed, json.loads((pathlib.Path(__file__).parents[2] / 'docs/schema/daemon.json').read_text()))
    assert [listed['pid'], *(session['pid'] for session in listed['sessions'])] == list(map(int, pids))
    assert daemon('ping').stdout == 'OK   one\nOK   two\n'
    assert daemon('ping', '--session', 'three').stdout == 'FAIL three (not found)\n'
    assert "another tally daemon (pid " + pids[0] in daemon('start', check=255).stderr
    daemon('stop')
    assert not any(map(is_alive, pids[1:]))
    wait_for(lambda: not is_alive(pids[0]))  # the answer comes just before its end
    assert not (base / 'control').exists()
    assert (base / 'session-one' / 'x.data').stat().st_size > 0
    assert tally('health', base / 'session-one' / 'x.data').returncode in (0, 1)
    assert 'no daemon answers' in daemon('ping', check=255).stderr


def test_it_follows_the_configuration(daemon):
    daemon.start(one=IDLE, two=IDLE)
    before = json.loads(daemon('--json').stdout)['sessions']
    daemon.config.write_text(daemon.config.read_text() + 'broken\n')
    wait_for(lambda: 'the sessions stay as they are' in daemon.log())
    # three is new, two changes, one stays.
    daemon.write(three=IDLE, one=IDLE, two='-e task-clock -m 1 -- sleep 300')
    daemon.wait_for_answer('three')
    wait_for(lambda: '-e task-clock' in daemon().stdout)
    daemon.wait_for_answer('two')
    after = json.loads(daemon('--json').stdout)['sessions']
    assert [session['name'] for session in after] == ['three', 'one', 'two'] or \
        sorted(session['name'] for session in after) == ['one', 'three', 'two']
    assert before[0] in [{**session, 'up_seconds': before[0]['up_seconds']} for session in after]
    daemon.write()
    wait_for(lambda: len(daemon('-x').stdout.splitlines()) == 1)
    assert not any(is_alive(session['pid']) for session in before + after)


def test_a_relative_configuration_of_the_environment(daemon, tally, tmp_path):
    daemon.write(one=IDLE)
    tally('daemon', 'start', env={'PERF_CONFIG': 'config'}, cwd=tmp_path, check=0)
    daemon.wait_for_answer('one')
    daemon.write(one=IDLE, two=IDLE)
    daemon.wait_for_answer('two')
    assert daemon('ping').stdout == 'OK   one\nOK   two\n'


def test_a_signal_begins_a_new_file(daemon):
    daemon.start(one='-e cpu-clock -m 1 --switch-output -o "x y.data" -- sleep 300'.replace('"', '\\"'))
    folder = daemon.base / 'session-one'
    assert re.fullmatch(r"signal 12 sent to session 'one \[\d+\]'\n", daemon('signal').stdout)
    wait_for(lambda: list(folder.glob('x y.data.*')))
    assert "no session 'none' runs" in daemon('signal', '--session', 'none').stdout


def test_sessions_that_end_by_themselves(daemon):
    daemon.start(one=IDLE)
    daemon.write(one=IDLE, short='-e cpu-clock -o x.data -- true', bad='-e no-such-event -- true')
    wait_for(lambda: "session 'short' exited, status=0" in daemon.log() and "session 'bad' exited" in daemon.log())
    assert 'no-such-event' in (daemon.base / 'session-bad' / 'output').read_text()
    assert daemon('ping').stdout == 'OK   one\n'


def test_recorders_of_a_killed_daemon_end(daemon, tally):
    daemon.start(one=IDLE)
    listed = json.loads(daemon('--json').stdout)
    os.kill(listed['pid'], signal.SIGKILL)
    wait_for(lambda: not is_alive(listed['sessions'][0]['pid']))
    assert json.loads(tally('health', '--json', daemon.base / 'session-one' / 'x.data').stdout)['end']['is_complete']
    # The lock of a killed daemon is free.
    daemon('start')
    daemon.wait_for_answer('one')


def test_a_signal_to_the_daemon_stops_it(daemon, tally):
    daemon.write(one=IDLE)
    process = tally.start('daemon', 'start', '-f', '--config', str(daemon.config))
    wait_for(lambda: (daemon.base / 'control').exists())
    daemon.wait_for_answer('one')
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and 'daemon started (pid' in output and output.endswith('daemon exited\n')


@pytest.mark.parametrize(('text', 'words', 'said'), [
    ('[session-x]\nrun=a\n', ['start'], 'failed: no base folder is known'),
    ('[daemon]\nbase=/no/such\n', ['start'], "failed: the base folder '/no/such' cannot be used: No such file"),
    ('[daemon]\nbase=/tmp\nbroken\n', ['start'], 'failed: bad config file line 3'),
    ('[daemon]\nbase=/tmp\n[session-a "/b"]\nrun=a\n', ['start'], "failed: the session 'a./b' needs a name"),
    ('[daemon]\nbase=/tmp\n[session-a]\nrun=\'a\n', ['start'], 'failed: session-a.run has a quotation mark that is not closed'),
    ('', ['walk'], "failed: unknown command 'walk'"),
    ('[daemon]\nbase=/no/such\n', [], 'failed: cannot open the base folder /no/such'),
])
def test_refusals(tally, tmp_path, text, words, said):
    (tmp_path / 'config').write_text(text)
    assert said in tally('daemon', *words, '--config', tmp_path / 'config', check=255).stderr
    assert 'failed: ' in tally('daemon', 'start', '--config', tmp_path / 'nothing', check=255).stderr


def test_options_of_other_commands_are_refused(tally):
    assert 'is for start' in tally('daemon', 'stop', '-f', check=129).stderr
    assert '--session is for signal and ping' in tally('daemon', '--session', 'x', check=129).stderr
    assert "unexpected argument 'b'" in tally('daemon', 'ping', 'b', check=129).stderr
    assert '--json and -x are mutually exclusive.' in tally('daemon', '--json', '-x,', check=129).stderr
    assert 'expects one character' in tally('daemon', '-xab', check=129).stderr
