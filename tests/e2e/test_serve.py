# SPDX-License-Identifier: Apache-2.0
"""The server of profiles: what it stores and answers, whom it refuses, and that nothing that was acknowledged is lost."""
import contextlib
import gzip
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from conftest import ROOT, wait_for
from store_server import BATCH_TYPE, NOW_NS, SECOND, Server, make_batch, number, piece

WRITE, READ = 'write-token-0123456789', 'read-token-0123456789'


@pytest.fixture(autouse=True)
def needs_server(tally):
    options = tally('version', '--build-options').stdout
    for name in ('libmicrohttpd', 'sqlite'):
        if not re.search(rf'^ *{name}: \[ on', options, re.M):
            pytest.skip(f'this build has no {name}')


@pytest.fixture
def server(tally, tmp_path):
    with Server(tally, tmp_path / 'store.db') as running:
        yield running


def zstd(data):
    if not shutil.which('zstd'):
        pytest.skip('zstd is not installed')
    return subprocess.run(['zstd', '-q', '-c'], input=data, capture_output=True, check=True).stdout


def test_a_batch_is_stored_once_and_shown(server):
    batch = make_batch(samples=(('main;work', 3), ('main;rest', 2)))
    status, receipt = server.post(batch)
    assert status == 200 and re.fullmatch('[0-9a-f]{32}', receipt.pop('store'))
    assert receipt == {'stored': True, 'duplicate': False, 'samples': 5, 'lacks_symbols': False}
    status, receipt = server.post(zstd(batch), encoding='zstd')
    assert status == 200 and receipt['duplicate'] and not receipt['stored'] and receipt['samples'] == 0
    assert server.folded() == {'program;main;work': 3_000_000, 'program;main;rest': 2_000_000}
    assert server.folded(count=1) == {'program;main;work': 3, 'program;main;rest': 2}
    assert server.metrics()['tally_store_samples'] == 5


def test_queries_select_by_labels_times_and_events(server):
    server.post(make_batch(1, {'host': 'a'}, (('main', 1),), service='api'))
    server.post(make_batch(2, {'host': 'b'}, (('main', 10),), service='api', begin_ns=NOW_NS + 60 * SECOND))
    server.post(make_batch(3, {'host': 'b'}, (('main', 100),), service='db', event='cycles'))

    def samples(**arguments):
        return sum(server.folded(count=1, **arguments).values())
    assert samples(query='service="api"') == 11
    assert samples(query='service="api" and host="a"') == 1
    assert samples(query='host=~"a|b" and not service="api"') == 100
    assert samples(query='host="c"') == 0
    assert samples(from_=NOW_NS, until=NOW_NS + SECOND, event='cpu-clock') == 1
    assert samples(event='cycles') == 100 and samples() == 11  # time comes before cycles
    assert server.get_json('/api/v1/labels')['labels'] == ['host', 'service']
    assert server.get_json('/api/v1/labels/service') == {'label': 'service', 'values': ['api', 'db']}
    assert server.get_json('/api/v1/labels/service', query='host="a"')['values'] == ['api']
    assert server.get_json('/api/v1/events')['events'] == ['cpu-clock', 'cycles']
    load = server.get_json('/api/v1/load', from_=NOW_NS, until=NOW_NS + 120 * SECOND, step='60s')
    assert load['step_ns'] == 60 * SECOND
    assert [(point['begin_ns'], point['samples']) for point in load['points']] == [
        (NOW_NS, 101), (NOW_NS + 60 * SECOND, 10)]


def test_formats(server):
    server.post(make_batch(samples=(('main;work', 3),)))
    report = server.get_json('/api/v1/profile', query='host="a"')
    assert report['fleet']['samples'] == 3 and report['fleet']['labels']['host'] == 'a'
    rows = {row['symbol']: row for row in report['tables'][0]['rows']}
    assert rows['work']['values'][0]['period'] == 3_000_000
    status, headers, body = server.get('/api/v1/profile', format='pprof')
    assert status == 200 and b'work' in gzip.decompress(body) and 'profile.pb.gz' in headers['Content-Disposition']
    status, headers, body = server.get('/api/v1/profile', format='flamegraph', query='host="a"', from_=NOW_NS,
                                       until=NOW_NS + 3600 * SECOND)
    assert status == 200 and headers['Content-Type'].startswith('text/html') and b'work' in body
    assert b'2025-11-28 07:00:00 UTC to 2025-11-28 08:00:00 UTC' in body
    status, headers, body = server.get('/api/v1/profile', format='svg')
    assert status == 200 and body.startswith(b'<?xml') or body.startswith(b'<svg')
    status, headers, body = server.get('/api/v1/profile', format='perfdata')
    assert status == 200 and body.startswith(b'PERFILE2') and 'perf.data' in headers['Content-Disposition']
    status, headers, body = server.get('/api/v1/profile', format='batch')
    assert status == 200 and headers['Content-Encoding'] == 'zstd'
    for name in ('X-Content-Type-Options', 'Cache-Control'):
        assert headers[name] in ('nosniff', 'no-store')
    status, headers, body = server.request('GET', '/')
    assert status == 200 and b'<html' in body and "default-src 'none'" in headers['Content-Security-Policy']


def test_a_baseline_makes_a_comparison(server):
    server.post(make_batch(1, {'host': 'a'}, (('main;work', 3),)))
    server.post(make_batch(2, {'host': 'b'}, (('main;work', 5),)))
    status, _, body = server.get('/api/v1/profile', format='folded', count=1, query='host="b"', baseline_query='host="a"',
                                 baseline_from=0, baseline_until=NOW_NS * 2)
    assert status == 200 and body.decode().split('\n')[0] == 'program;main;work 3 5'
    status, _, body = server.get('/api/v1/profile', format='flamegraph', query='host="b"', baseline_query='host="a"',
                                 baseline_from=0, baseline_until=NOW_NS * 2)
    assert status == 200 and b'host=' in body
    for wrong in ({'baseline_query': 'host="a"'}, {'baseline_from': 0, 'format': 'pprof'}):
        assert server.get('/api/v1/profile', **wrong)[0] == 400


def test_wrong_requests_are_refused_with_a_sentence(server):
    server.post(make_batch())
    wrong = [('/api/v1/profile', {'query': 'host='}, 400), ('/api/v1/profile', {'query': "host='a'"}, 400),
             ('/api/v1/profile', {'from_': 'yesterday'}, 400), ('/api/v1/profile', {'from_': 10, 'until': 5}, 400),
             ('/api/v1/profile', {'format': 'exe'}, 400), ('/api/v1/profile', {'threads': 'yes'}, 400),
             ('/api/v1/profile', {'sort': 'sym'}, 400), ('/api/v1/load', {'step': '0s'}, 400),
             ('/api/v1/load', {'step': '1s'}, 400), ('/api/v1/labels/a-b', {}, 400), ('/api/v1/labels/', {}, 400),
             ('/api/v1/labels/' + 'x' * 1000, {}, 400), ('/api/v1/nothing', {}, 404), ('/../etc/passwd', {}, 404),
             ('/api/v1/batches', {}, 405), ('/api/v1/profile', {'format': 'flamegraph', 'query': 'host="none"'}, 404)]
    for page, arguments, expected in wrong:
        status, headers, body = server.get(page, **arguments)
        assert (status, headers['Content-Type']) == (expected, 'application/json'), (page, arguments, body)
        assert len(json.loads(body)['error']) > 10
    assert server.request('GET', '/api/v1/profile?from=1&from=2')[0] == 400
    assert server.request('GET', '/api/v1/profile?' + '&'.join(f'a{n}=1' for n in range(300)))[0] == 400
    assert server.request('DELETE', '/api/v1/batches')[0] == 405
    assert server.request('POST', '/api/v1/batches', make_batch(9), {'Content-Type': 'text/plain'})[0] == 415
    assert server.post(make_batch(9), encoding='br')[0] == 415
    assert server.metrics()['tally_store_batches'] == 1


def malformed():
    """Bodies that are no batch, each for a reason of its own."""
    good = make_batch()
    generator = random.Random(4)
    bodies = [b'', b'\0', b'\xff' * 100, b'{"id": 1}', good[:10], good[:-1], good[:len(good) // 2], piece(1, b'short') + good[18:],
              good + number(1, 1), b'\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01', b'\x0b' * 1000]
    bodies += [good + piece(12, number(2, 77) + number(5, 1)), good + piece(12, number(3, 77) + number(5, 1)),
               good + piece(12, number(1, 77) + number(5, 1)), good + piece(12, number(4, 99) + number(5, 1)),
               good + piece(10, piece(1, b'\x7f')), good + piece(9, number(1, 77)), good + piece(11, number(5, 77)),
               good + piece(5, number(1, 9999)), good + piece(8, number(1, 9999)), good + piece(7, number(1, 9999))]
    bodies += [make_batch(labels={'bad name': 'x'}), make_batch(labels={'host': 'a\nb'}), make_batch(labels={'host': 'x' * 2000}),
               make_batch(labels={f'l{n}': 'x' for n in range(100)}), make_batch(begin_ns=2**64 - 1)]
    while len(bodies) < 60:
        changed = bytearray(good)
        for _ in range(6):
            changed[generator.randrange(len(changed))] = generator.randrange(256)
        bodies.append(bytes(changed[:generator.randrange(len(changed))]))
    return bodies


def test_malformed_bodies_are_refused(server):
    refused = 0
    for body in malformed():
        status, answer = server.post(body)
        assert status in (200, 400), answer
        refused += status == 400 and len(answer['error']) > 10
        if shutil.which('zstd'):
            status, answer = server.post(zstd(body)[:-1], encoding='zstd')
            assert status == 400 and answer['error']
    assert refused >= 40
    assert server.post(make_batch(77))[0] == 200
    assert server.get('/healthz')[0] in (200, 400)


def test_batches_that_lack_a_required_field_are_refused(tally, server, tmp_path):
    """What is absent must not be read as 0: batches without an ID would all be copies of each other."""
    whole = make_batch(identity=1)
    cases = {'no ID': make_batch(identity=2)[18:], 'ID of zeros': make_batch(identity=0),
             'no begin': make_batch(identity=3, begin_ns=0), 'no name': make_batch(identity=4, event='')}
    for name, body in cases.items():
        status, answer = server.post(body)
        assert status == 400, (name, answer)
        assert ('no ID' if 'ID' in name else 'window' if 'begin' in name else 'no name') in answer['error'], answer
    assert server.post(whole)[0] == 200
    assert server.metrics()['tally_store_batches'] == 1
    batch = tmp_path / '1.batch'
    batch.write_bytes(cases['no ID'])
    run = tally('push', '--to', f'sqlite:{tmp_path}/other.db', batch)
    assert run.returncode == 255 and 'no ID' in run.stderr, run.stderr


def test_bombs_are_refused_in_bounded_memory(server):
    bomb = zstd(b'\0' * (200 << 20))
    assert len(bomb) < 100_000
    for _ in range(3):  # more than the memory that it may use
        status, answer = server.post(bomb, encoding='zstd')
        assert status == 400, answer
    try:
        status, answer = server.post(b'\x0a' * (17 << 20))
        assert status == 413 and 'limit' in answer['error']
    except (BrokenPipeError, ConnectionResetError):
        pass  # it refused before all of the body had come
    # A body whose length is not announced is read up to a bound.
    with socket.create_connection(('127.0.0.1', server.port), timeout=60) as link:
        link.sendall(f'POST /api/v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Type: {BATCH_TYPE}\r\n'
                     'Transfer-Encoding: chunked\r\n\r\n'.encode())
        chunk = b'100000\r\n' + b'\0' * 0x100000 + b'\r\n'
        try:
            for _ in range(20):
                link.sendall(chunk)
            link.sendall(b'0\r\n\r\n')
            assert b' 413 ' in link.recv(4096)
        except (BrokenPipeError, ConnectionResetError):
            pass
    resident = int(re.search(r'VmHWM:\s+(\d+)', open(f'/proc/{server.process.pid}/status', encoding='ascii').read())[1])
    assert resident < 400_000
    assert server.post(make_batch())[0] == 200


def test_the_sum_of_waiting_batches_is_bounded(server):
    """Many small requests, each of which decompresses to nearly 64 MiB, of a size that their headers do not say."""
    blocks = 511
    body = bytes.fromhex('28b52ffd0038') + b''.join(
        ((131072 << 3) | 2 | (i == blocks - 1)).to_bytes(3, 'little') + b'\x78' for i in range(blocks))
    head = (f'POST /api/v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Type: {BATCH_TYPE}\r\n'
            f'Content-Encoding: zstd\r\nContent-Length: {len(body)}\r\n\r\n').encode()
    with contextlib.ExitStack() as links:
        for _ in range(8):
            link = links.enter_context(socket.create_connection(('127.0.0.1', server.port), timeout=60))
            link.sendall(head + body)
            last = link
        assert last.recv(4096).startswith((b'HTTP/1.1 400', b'HTTP/1.1 503'))
        peak = int(re.search(r'VmHWM:\s+(\d+)', Path(f'/proc/{server.process.pid}/status').read_text())[1]) >> 10
        assert peak < 250, f'{peak} MB'


def test_labels_and_names_stay_data(server):
    value = '\'"; DROP TABLE batches; -- </script><img src=x onerror=alert(1)>'
    assert server.post(make_batch(1, {'host': value}, (('</script><b>main', 1),), service=value, comm='<i>'))[0] == 200
    assert server.get_json('/api/v1/labels/host')['values'] == [value]
    quoted = value.replace('\\', '\\\\').replace('"', '\\"')
    assert sum(server.folded(count=1, query=f'host="{quoted}"').values()) == 1
    for name in ('x\'; DROP TABLE batches; --', '%27'):
        assert server.get('/api/v1/labels/' + name.replace(' ', '%20'))[0] == 400
    status, _, body = server.get('/api/v1/profile', format='flamegraph', query=f'host="{quoted}"')
    assert status == 200 and b'</script><b>' not in body and b'<img' not in body
    report = server.get_json('/api/v1/profile')
    assert report['fleet']['labels']['host'] == value
    for form in ('pprof', 'perfdata', 'svg', 'folded'):
        assert server.get('/api/v1/profile', format=form)[0] == 200
    assert server.metrics()['tally_store_batches'] == 1


def test_names_of_any_length_and_stacks_of_any_depth(tally, server, tmp_path):
    deep = ';'.join(f'f{n}' for n in range(6000))
    assert server.post(make_batch(1, {'host': 'a'}, ((deep, 2), ('x' * 70000, 1)), comm='y' * 70000))[0] == 200
    for form in ('json', 'pprof', 'svg', 'folded', 'flamegraph', 'batch'):
        assert server.get('/api/v1/profile', format=form)[0] == 200, form
    status, _, body = server.get('/api/v1/profile', format='perfdata')
    assert status == 200
    (tmp_path / 'back.data').write_bytes(body)
    shown = tally('report', '--json', '--no-children', '-i', tmp_path / 'back.data', check=0).stdout
    assert sorted(row['values'][0]['samples'] for row in json.loads(shown)['tables'][0]['rows']) == [1, 2]


def test_tokens_are_apart(tally, tmp_path):
    for name, token in (('write', WRITE), ('read', READ)):
        (tmp_path / name).write_text(f'old-token-0123456789\n{token}\n')
        (tmp_path / name).chmod(0o600)
    (tmp_path / 'read').write_text(f'{READ}\n')
    options = ('--token-file', tmp_path / 'write', '--read-token-file', tmp_path / 'read')
    with Server(tally, tmp_path / 'store.db', *options, tokens=(WRITE, READ)) as server:
        assert server.post(make_batch(1))[0] == 200
        assert server.post(make_batch(2), token='old-token-0123456789')[0] == 200
        assert server.post(make_batch(3), token=READ)[0] == 403
        assert server.post(make_batch(3), token='wrong-token-0123456789')[0] == 401
        assert server.post(make_batch(3), token=WRITE[:-1])[0] == 401
        assert server.get('/api/v1/profile')[0] == 200
        assert server.get('/api/v1/profile', token=WRITE)[0] == 403
        status, headers, body = server.request('GET', '/api/v1/labels')
        assert status == 401 and headers['WWW-Authenticate'] == 'Bearer' and b'token' in body
        assert server.request('GET', '/metrics')[0] == 401
        assert server.request('GET', '/healthz')[0] == 200
        assert server.metrics()['tally_denied_requests_total'] == 6
        status, errors = server.end()
    assert status == 0 and 'warning' not in errors


def test_without_tokens_it_listens_on_loopback_only(tally, tmp_path):
    result = tally('serve', '--listen', '0.0.0.0:0', '--store', f'sqlite:{tmp_path}/store.db')
    assert result.returncode == 255 and '--token-file' in result.stderr
    (tmp_path / 'token').write_text(WRITE)
    result = tally('serve', '--listen', '0.0.0.0:0', '--store', f'sqlite:{tmp_path}/store.db', '--token-file', tmp_path / 'token')
    assert result.returncode == 255 and '--read-token-file' in result.stderr
    (tmp_path / 'token').write_text('short')
    result = tally('serve', '--token-file', tmp_path / 'token')
    assert result.returncode == 255 and 'openssl rand' in result.stderr
    for wrong in (['--listen', 'nowhere'], ['--retain', 'ever'], ['--max-bytes', 'all'], ['--tls-cert', 'x'], ['--connections', '0'],
                  ['extra'], ['--store', 'mysql:x'], ['--query-time', '0s']):
        result = tally('serve', *wrong, check=None)
        assert result.returncode in (129, 255) and result.stderr, wrong
    with Server(tally, tmp_path / 'store.db') as server:
        assert server.request('GET', '/metrics', headers={'Host': 'evil.example:7779'})[0] == 403
        assert server.request('GET', '/metrics', headers={'Host': 'localhost:1'})[0] == 200
        result = tally('serve', '--listen', f'127.0.0.1:{server.port}', '--store', f'sqlite:{tmp_path}/other.db')
        assert result.returncode == 255 and 'Address already in use' in result.stderr


def test_stores_are_private_and_open_ones_are_told(tally, tmp_path):
    path = tmp_path / 'store.db'
    before = os.umask(0o022)
    try:
        with Server(tally, path) as server:
            assert server.post(make_batch(1))[0] == 200
            modes = [(tmp_path / f'store.db{end}').stat().st_mode & 0o777 for end in ('', '-wal', '-shm')]
            assert modes == [0o600] * 3
            assert 'can read' not in server.end()[1]
    finally:
        os.umask(before)
    path.chmod(0o644)
    for folder in [tmp_path, *tmp_path.parents][:3]:
        folder.chmod(folder.stat().st_mode | 0o011)
    with Server(tally, path) as server:
        assert 'all users of this machine can read the profiles' in server.end()[1]


def test_passwords_are_in_no_message(tally, tmp_path):
    """Of the URLs of servers and databases, right ones and wrong ones."""
    host = '127.0.0.1:1'
    urls = [f'clickhouse://fleet:Sesame77@{host}/profiles', f'clickhouse://fleet:Ses/ame77@{host}/profiles',
            f'clickhouse://fleet:Ses@ame77@{host}/profiles', f'clickhouse:fleet:Sesame77@{host}/profiles',
            f'clickhouse://{host}/profiles?password=Sesame77', f'http://me:Sesame77@{host}', f'https://Sesame77@{host}',
            f'otlp+http://me:Sesame77@{host}', f'nosuch://me:Sesame77@{host}', f'http://me:Sesame77@{host}/?a=b']
    (tmp_path / '1.batch').write_bytes(make_batch(1))
    for url in urls:
        runs = [tally('push', '--to', url, tmp_path / '1.batch'), tally('fleet', 'top', '--from', url),
                tally('serve', '--listen', '127.0.0.1:0', '--store', url)]
        for run in runs:
            assert run.returncode != 0 and run.stderr, url
            assert 'ame77' not in run.stdout + run.stderr and 'Ses' not in run.stderr, run.stderr


def test_tls(tally, tmp_path):
    if not shutil.which('openssl'):
        pytest.skip('openssl is not installed')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'cert.pem', '-days', '2',
                    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], cwd=tmp_path, check=True,
                   capture_output=True)
    import ssl  # pylint: disable=import-outside-toplevel
    with Server(tally, tmp_path / 'store.db', '--tls-cert', tmp_path / 'cert.pem', '--tls-key', tmp_path / 'key.pem') as server:
        context = ssl.create_default_context(cafile=tmp_path / 'cert.pem')
        with socket.create_connection(('127.0.0.1', server.port)) as plain, \
                context.wrap_socket(plain, server_hostname='localhost') as link:
            link.sendall(b'GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n')
            assert b'200 OK' in link.recv(4096)


def test_a_client_that_asks_too_often_is_told_to_wait(tally, tmp_path):
    with Server(tally, tmp_path / 'store.db', '--rate', 2) as server:
        answers = [server.request('GET', '/healthz') for _ in range(100)]
        refused = [headers for status, headers, _ in answers if status == 429]
        assert refused and refused[0]['Retry-After'] == '1'
        assert answers[0][0] == 200


def test_slow_senders_are_ended(tally, tmp_path):
    """Each sends a byte now and then for ever; others are served meanwhile."""
    with Server(tally, tmp_path / 'store.db', '--receive-time', '3s') as server:
        check_slow_senders(server)


def check_slow_senders(server):
    links = [socket.create_connection(('127.0.0.1', server.port)) for _ in range(20)]
    for link in links[:10]:
        link.sendall(b'GET /healthz HTTP/1.1\r\nHost: loc')
    for link in links[10:]:
        link.sendall(f'POST /api/v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Type: {BATCH_TYPE}\r\n'
                     'Content-Length: 1000\r\n\r\n'.encode())
    ended = set()

    def drip():
        for link in set(links) - ended:
            try:
                link.sendall(b'a')
            except OSError:
                ended.add(link)
        time.sleep(0.5)
        assert server.request('GET', '/healthz')[0] == 200
        return len(ended) == len(links)
    wait_for(drip)
    assert server.metrics()['tally_http_slow_connections_total'] >= 10
    for link in links:
        link.close()


def accepts(port):
    """Whether a server answers on a new connection."""
    try:
        with socket.create_connection(('127.0.0.1', port), timeout=5) as link:
            link.settimeout(0.5)
            link.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
            return bool(link.recv(1))
    except OSError:
        return False


def test_sigterm_ends_it_after_what_has_begun(server):
    body = make_batch()
    link = socket.create_connection(('127.0.0.1', server.port), timeout=60)
    link.sendall(f'POST /api/v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Type: {BATCH_TYPE}\r\n'
                 f'Content-Length: {len(body)}\r\n\r\n'.encode() + body[:20])
    asked = iter(range(1, 10**9))
    wait_for(lambda: server.metrics()['tally_http_requests_total'] > next(asked))  # the other one has begun
    server.process.send_signal(signal.SIGTERM)
    wait_for(lambda: not accepts(server.port))
    link.sendall(body[20:])
    assert b'200 OK' in link.recv(4096)
    link.close()
    assert server.end()[0] == 0


def test_what_was_acknowledged_survives_kill(tally, tmp_path):
    """The server is killed 20 times while batches arrive; the sum is that of the batches, each once."""
    store = tmp_path / 'store.db'
    generator = random.Random(1)
    sent, acknowledged = 0, 0
    for _ in range(20):
        with Server(tally, store) as server:
            limit = generator.randrange(1, 12)
            killer = subprocess.Popen(['sh', '-c', f'sleep 0.{generator.randrange(1, 6)}; kill -9 {server.process.pid}'])
            try:
                for _ in range(limit * 100):
                    sent += 1
                    status, _ = server.post(make_batch(sent, samples=(('main;work', sent % 7 + 1), (f'main;f{sent % 50}', 1))))
                    assert status == 200
                    acknowledged = sent
            except (OSError, EOFError, Exception) as problem:  # pylint: disable=broad-except
                if isinstance(problem, AssertionError):
                    raise
                sent = acknowledged  # the last one was not acknowledged: it comes again, with the same ID
            killer.wait()
    assert acknowledged > 20
    with Server(tally, store) as server:
        last = acknowledged + 1  # it may have been stored before the answer was lost
        server.post(make_batch(last, samples=(('main;work', last % 7 + 1), (f'main;f{last % 50}', 1))))
        expected = sum(n % 7 + 2 for n in range(1, last + 1))
        assert sum(server.folded(count=1).values()) == expected
        assert server.metrics()['tally_store_batches'] == last


def test_old_batches_are_removed(tally, tmp_path):
    now = time.time_ns()
    with Server(tally, tmp_path / 'store.db', '--retain', '1h') as server:
        server.post(make_batch(1, begin_ns=now - 7200 * SECOND))
        server.post(make_batch(2, begin_ns=now - 60 * SECOND))
        server.end()
    with Server(tally, tmp_path / 'store.db', '--retain', '1h') as server:
        wait_for(lambda: server.metrics()['tally_store_batches'] == 1)
        assert server.metrics()['tally_removed_batches_total'] == 1


def test_metrics_are_in_the_format_of_prometheus(server):
    server.post(make_batch())
    _, headers, body = server.request('GET', '/metrics')
    assert headers['Content-Type'] == 'text/plain; version=0.0.4; charset=utf-8'
    families = {}
    for line in body.decode().splitlines():
        if line.startswith('# HELP '):
            name = line.split()[2]
            assert name not in families and line.endswith('.')
            families[name] = None
        elif line.startswith('# TYPE '):
            _, _, name, kind = line.split()
            assert families[name] is None and kind in ('counter', 'gauge')
            assert (kind == 'counter') == name.endswith('_total')
            families[name] = kind
        else:
            assert re.fullmatch(r'[a-z_]+(\{[a-z_]+="[a-z_]+"\})? [0-9.]+', line), line
            assert families[re.match('[a-z_]+', line)[0]]
    assert server.metrics()['tally_batches_total{result="stored"}'] == 1


@pytest.mark.parametrize('name', ['agent', 'serve'])
def test_systemd_takes_the_units(tally, tmp_path, name):
    """systemd reads each line of the units, and finds the program that they start."""
    if not shutil.which('systemd-analyze'):
        pytest.skip('systemd-analyze is not installed')
    unit = tmp_path / f'tally-{name}.service'
    text = (ROOT / 'contrib' / f'tally-{name}.service.in').read_text(encoding='utf-8')
    unit.write_text(text.replace('@BINDIR@', str(tally.path.parent)), encoding='utf-8')
    result = subprocess.run(['systemd-analyze', 'verify', '--man=no', unit], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0 and f'tally-{name}' not in result.stderr, result.stderr
    words = next(line for line in text.splitlines() if line.startswith('ExecStart=')).split()[2:]
    options = [word for word in words if word.startswith('--')]
    shown = tally('help', name, check=0).stdout
    assert all(option in shown for option in options)
