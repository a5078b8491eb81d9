# SPDX-License-Identifier: Apache-2.0
"""push puts recordings and batches into stores: the sums are those of report, and each counts once."""
import json
import random
import re
import shutil
import signal
import subprocess

import pytest

from conftest import CORPUS, ROOT
from origin_build import label
from store_server import NOW_NS, Server, make_batch

RECORDINGS = ['thr', 'deep', 'cxx', 'kg', 'default', 'multi', 'grp', 'pipe', 'sched', 'old']


@pytest.fixture(autouse=True)
def needs_store(tally):
    if not re.search(r'^ *sqlite: \[ on', tally('version', '--build-options').stdout, re.M):
        pytest.skip('this build has no sqlite')


@pytest.fixture
def server(tally, tmp_path):
    options = tally('version', '--build-options').stdout
    for name in ('libmicrohttpd', 'libcurl'):
        if not re.search(rf'^ *{name}: \[ on', options, re.M):
            pytest.skip(f'this build has no {name}')
    with Server(tally, tmp_path / 'server.db', '--rate', 100000) as running:
        yield running


def without_precision(event):
    """A store has one event, however precisely it was sampled: cpu-clock:pppH is cpu-clock:H."""
    name, _, modifiers = event.partition(':')
    return ':'.join(filter(None, [name, modifiers.replace('p', '')])) if re.fullmatch('[a-zA-Z]*', modifiers) else event


def rows_of(report):
    """{(event, command, symbol, DSO): (samples, period)}"""
    rows = {}
    for table in report['tables']:
        for row in table['rows']:
            for event, values in zip(table['events'], row['values']):
                name = event if isinstance(event, str) else event['name']
                key = (without_precision(name), row.get('comm'), row.get('symbol', row.get('address')), row.get('dso'))
                before = rows.get(key, (0, 0))
                rows[key] = (before[0] + values['samples'], before[1] + values['period'])
    return {key: sums for key, sums in rows.items() if sums[0]}


def top(tally, url, *options):
    result = tally('fleet', 'top', '--json', '--no-children', '-s', 'comm,sym,dso', '--from', url, '--since', '2000-01-01',
                   *options, check=0)
    return json.loads(result.stdout)


@pytest.mark.parametrize('name', RECORDINGS)
def test_sums_are_those_of_report(tally, tmp_path, name):
    url = f'sqlite:{tmp_path}/store.db'
    for expected in (f'samples of {CORPUS}/{name}.data are in', 'already'):
        result = tally('push', CORPUS / f'{name}.data', '--to', url, check=0)
        assert expected in result.stderr
    reported = tally('report', '--json', '--no-children', '--no-group', '-s', 'comm,sym,dso', '-i', CORPUS / f'{name}.data', check=0)
    assert rows_of(top(tally, url)) == rows_of(json.loads(reported.stdout))
    # A store has events in the order of their names, a recording in that of its command line.
    first = json.loads(reported.stdout)['tables'][0]['events'][0]
    event = ('-e', first if isinstance(first, str) else first['name'])
    folded = tally('fleet', 'flamegraph', '--folded', *event, '--from', url, '--since', '2000-01-01', check=0).stdout
    drawn = tally('flamegraph', '--folded', *event, '-i', CORPUS / f'{name}.data', '-o', '-', check=0).stdout
    assert folded and sorted(folded.splitlines()) == sorted(drawn.splitlines())
    back = tmp_path / 'back.data'
    tally('fleet', 'perfdata', '-o', back, '--from', url, '--since', '2000-01-01', check=0)
    again = tally('report', '--json', '--no-children', '-s', 'comm,sym,dso', '-i', back, check=0)
    assert rows_of(json.loads(again.stdout)) == rows_of(json.loads(reported.stdout))
    drawn_again = tally('flamegraph', '--folded', '-e', without_precision(event[1]), '-i', back, '-o', '-', check=0).stdout
    assert sorted(drawn_again.splitlines()) == sorted(drawn.splitlines())


def test_perf_reads_a_recording_from_a_store(tally, perf, tmp_path):
    url, back = f'sqlite:{tmp_path}/store.db', tmp_path / 'back.data'
    tally('push', CORPUS / 'deep.data', CORPUS / 'thr.data', '--to', url, check=0)
    tally('fleet', 'perfdata', '-o', back, '--from', url, '--since', '2000-01-01', check=0)
    shown = top(tally, url)
    counts = {table['events'][0]['name'] if isinstance(table['events'][0], dict) else table['events'][0]:
              sum(row['values'][0]['samples'] for row in table['rows']) for table in shown['tables']}
    text = perf('report', '--stdio', '-i', back, check=0).stdout
    assert re.findall(r"^# Samples: (\d+) +of event '([^']*)'", text, re.M) == [
        (str(count), event) for event, count in counts.items()]
    header = tally('report', '--header-only', '-i', back, check=0).stdout
    assert re.search('# hostname : (.*)', header)[1] == shown['fleet']['labels']['host']
    result = tally('fleet', 'perfdata', '-o', tmp_path / 'none.data', '-e', 'none', '--from', url, '--since', '2000-01-01')
    assert result.returncode == 255 and not (tmp_path / 'none.data').exists()
    assert tally('fleet', 'perfdata', '--from', url).returncode == 129


def callers_of(report):
    """{(symbol, DSO, whether it is inlined): (own period, period with callees)} of what has a symbol."""
    sums = {}
    for table in report['tables']:
        for row in table['rows']:
            if 'symbol' in row:
                key = (row['symbol'], row['dso'], row.get('inlined', False))
                own, whole = sums.get(key, (0, 0))
                sums[key] = (own + row['values'][0]['period'], whole + row['values'][0]['children_period'])
    return sums


def test_callers_and_inlined_calls_are_those_of_report(tally, tmp_path):
    """Of a program with debug information: a sample in an inlined call is one of the function that contains it."""
    data, url = tmp_path / 'new.data', f'sqlite:{tmp_path}/store.db'
    tally('record', '-q', '-e', 'cpu-clock', '-F', '4999', '-k', 'monotonic', '--call-graph', 'dwarf', '-o', data, '--',
          tally.path, 'report', '--stdio', '-i', CORPUS / 'cxx.data', check=0)
    tally('push', data, '--to', url, check=0)
    shown = tally('fleet', 'top', '--json', '-s', 'sym,dso', '--from', url, check=0)
    expected = callers_of(json.loads(tally('report', '--json', '-s', 'sym,dso', '-i', data, check=0).stdout))
    assert any(whole > own for own, whole in expected.values())
    assert callers_of(json.loads(shown.stdout)) == expected


def test_sums_of_files_that_this_machine_has(tally, tmp_path):
    """Whether debug information is here decides how libraries' functions are called: only their files are compared."""
    url = f'sqlite:{tmp_path}/store.db'
    tally('push', CORPUS / 'sys.data', '--to', url, check=0)
    reported = tally('report', '--json', '--no-children', '-s', 'comm,dso', '-i', CORPUS / 'sys.data', check=0)
    shown = tally('fleet', 'top', '--json', '--no-children', '-s', 'comm,dso', '--from', url, '--since', '2000-01-01', check=0)
    assert rows_of(json.loads(shown.stdout)) == rows_of(json.loads(reported.stdout))


def test_a_recording_has_the_labels_of_its_machine_and_the_users(tally, tmp_path):
    url = f'sqlite:{tmp_path}/store.db'
    tally('push', CORPUS / 'deep.data', '--to', url, '-l', 'release=1.4', '--label', 'service=a=b', check=0)
    tally('push', CORPUS / 'deep.data', '--to', url, '-l', 'release=1.5', check=0)

    def values(name):
        return tally('fleet', 'labels', name, '--from', url, '--since', '2000-01-01', check=0).stdout.split()
    header = tally('report', '--header-only', '-i', CORPUS / 'deep.data').stdout
    assert values('release') == ['1.4', '1.5'] and values('service') == ['a=b', 'program']
    assert values('host') == [re.search('# hostname : (.*)', header)[1]]
    assert values('kernel') == [re.search('# os release : (.*)', header)[1]]
    one = top(tally, url, 'release="1.4"')
    assert one['fleet']['samples'] == 32 and one['fleet']['labels']['release'] == '1.4'
    assert top(tally, url)['fleet']['samples'] == 64 and 'release' not in top(tally, url)['fleet']['labels']


def test_what_made_the_samples_is_a_label(tally, tmp_path):
    url = f'sqlite:{tmp_path}/store.db'
    simulated = label(CORPUS / 'deep.data', tmp_path / 'simulated.data')
    for path in (simulated, CORPUS / 'thr.data'):
        tally('push', path, '--to', url, check=0)
    shown = tally('fleet', 'labels', 'origin', '--from', url, '--since', '2000-01-01', check=0).stdout.split()
    assert 'simulated' in shown and 'events' not in shown
    samples = {query: top(tally, url, *query)['fleet']['samples'] for query in ((), ('origin="simulated"',), ('origin!="simulated"',))}
    assert samples[('origin="simulated"',)] == 32
    assert samples[()] == 32 + samples[('origin!="simulated"',)]


def test_a_new_recording_is_in_the_last_hour(tally, workload, tmp_path):
    data, url = tmp_path / 'new.data', f'sqlite:{tmp_path}/store.db'
    tally('record', '-q', '-e', 'cpu-clock', '-F', '999', '-k', 'monotonic', '-g', '-o', data, '--', workload('spin').path, check=0)
    result = tally('push', data, '--to', url, check=0)
    assert 'clock' not in result.stderr
    shown = json.loads(tally('fleet', 'top', '--json', '--from', url, check=0).stdout)
    assert f'{shown["fleet"]["samples"]} samples of' in result.stderr
    assert shown['fleet']['labels']['arch']


def test_wrong_arguments_are_refused(tally, tmp_path):
    url = f'sqlite:{tmp_path}/store.db'
    for label in ('novalue', '=x', '9a=x', 'a b=x', 'a=', 'a=' + 'x' * 2000, 'a=x\ny'):
        assert tally('push', CORPUS / 'deep.data', '--to', url, '--label', label).returncode == 129, label
    assert 'twice' in tally('push', CORPUS / 'deep.data', '--to', url, '-l', 'a=1', '-l', 'a=2').stderr
    (tmp_path / 'empty').mkdir()
    for path in ('none.data', 'empty', CORPUS / 'nosamp.data', CORPUS / 'stat.data', CORPUS / 'make.sh'):
        result = tally('push', path, '--to', url, cwd=tmp_path)
        assert result.returncode == 255 and len(result.stderr) > 20, path
    result = tally('push', CORPUS / 'deep.data', '--to', 'http://127.0.0.1:1')
    assert result.returncode == 255 and '127.0.0.1' in result.stderr
    assert tally('push', CORPUS / 'deep.data', '--to', 'nothing').returncode == 255


def test_batches_of_a_folder_go_to_a_server_and_to_a_database(tally, server, tmp_path):
    folder = tmp_path / 'batches'
    folder.mkdir()
    for index in range(5):
        body = make_batch(index + 1, samples=(('main;work', index + 1),))
        path = folder / f'{NOW_NS + index}-{index}.batch'
        path.write_bytes(body)
        if index % 2 and shutil.which('zstd'):
            subprocess.run(['zstd', '-q', '--rm', path], check=True)
    (folder / 'notes.txt').write_text('no batch')
    for url in (server.url, f'sqlite:{tmp_path}/own.db'):
        result = tally('push', folder, '--to', url, check=0)
        assert '5 batches with 15 samples; 0 were there already' in result.stderr
        result = tally('push', folder, '--to', url, check=0)
        assert '5 batches with 0 samples; 5 were there already' in result.stderr
        assert top(tally, url)['fleet']['samples'] == 15
    assert tally('push', folder, '--to', server.url, '--label', 'a=b').returncode == 255
    (folder / '0-bad.batch').write_bytes(b'bad')
    result = tally('push', folder, '--to', server.url)
    assert result.returncode == 255 and '0-bad.batch: the batch is refused' in result.stderr
    assert '5 were there already' in result.stderr


def test_tokens(tally, tmp_path):
    options = tally('version', '--build-options').stdout
    if not re.search(r'^ *libcurl: \[ on', options, re.M) or not re.search(r'^ *libmicrohttpd: \[ on', options, re.M):
        pytest.skip('this build has no server, or no client')
    for name in ('write', 'read'):
        (tmp_path / name).write_text(f'{name}-token-0123456789\n')
    with Server(tally, tmp_path / 'server.db', '--token-file', tmp_path / 'write', '--read-token-file', tmp_path / 'read') as server:
        result = tally('push', CORPUS / 'deep.data', '--to', server.url)
        assert result.returncode == 255 and 'token' in result.stderr
        tally('push', CORPUS / 'deep.data', '--to', server.url, '--token-file', tmp_path / 'write', check=0)
        result = tally('fleet', 'labels', '--from', server.url, '--token-file', tmp_path / 'write')
        assert result.returncode == 255 and 'reading' in result.stderr
        environment = {'TALLY_TOKEN': 'read-token-0123456789'}
        shown = tally('fleet', 'labels', '--from', server.url, '--since', '2000-01-01', env=environment, check=0)
        assert 'host' in shown.stdout.split()


def test_pushing_goes_on_while_the_server_is_killed(tally, tmp_path):
    """The server is killed 20 times in the middle of it; in the end, each batch counts once."""
    options = tally('version', '--build-options').stdout
    if not re.search(r'^ *libcurl: \[ on', options, re.M) or not re.search(r'^ *libmicrohttpd: \[ on', options, re.M):
        pytest.skip('this build has no server, or no client')
    folder, generator = tmp_path / 'batches', random.Random(5)
    folder.mkdir()
    for index in range(300):
        body = make_batch(index + 1, samples=(('main;work', index + 1), (f'main;f{index}', 2)))
        (folder / f'{index:04}.batch').write_bytes(body)
    for _ in range(20):
        with Server(tally, tmp_path / 'server.db', '--rate', 100000) as server:
            pushing = tally.start('push', folder, '--to', server.url)
            killer = subprocess.Popen(['sh', '-c', f'sleep 0.{generator.randrange(10, 60)}; kill -9 {server.process.pid}'])
            pushing.communicate()
            server.end(signal.SIGKILL)
            killer.wait()
    with Server(tally, tmp_path / 'server.db', '--rate', 100000) as server:
        result = tally('push', folder, '--to', server.url, check=0)
        assert '300 batches' in result.stderr
        assert server.metrics()['tally_store_samples'] == sum(index + 3 for index in range(300))
        assert top(tally, server.url)['fleet']['samples'] == sum(index + 3 for index in range(300))


def test_every_verb_of_the_store_is_documented():
    text = (ROOT / 'docs' / 'fleet.md').read_text()
    for word in ('tally serve', 'tally fleet', 'tally push'):
        assert word in text
