# SPDX-License-Identifier: Apache-2.0
"""Collectors of OpenTelemetry and Pyroscope get what a store gets: decoders of their formats find the same sums."""
import collections
import gzip
import re
import shutil
import subprocess

import pytest

from batch_reader import Batch
from conftest import CORPUS, wait_for
from otlp_reader import Otlp
from receiver import Receiver
from store_server import NOW_NS, SECOND, make_batch
from test_agent import QUICK, SENT, agent, deep  # pylint: disable=unused-import
from test_export import Pprof, fields, report_sums

RECORDINGS = ['thr', 'deep', 'cxx', 'multi']
ZSTD = b'\x28\xb5\x2f\xfd'
GRPC_OK = (200, {'Content-Type': 'application/grpc-web+proto'}, b'\0' * 5 + b'\x80\0\0\0\x10grpc-status: 0\r\n')


@pytest.fixture(autouse=True)
def needs_curl(tally):
    if not re.search(r'^ *libcurl: \[ on', tally('version', '--build-options').stdout, re.M):
        pytest.skip('this build has no libcurl')


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


@pytest.fixture
def batch_file(tmp_path):
    path = tmp_path / f'{NOW_NS}-1.batch'
    path.write_bytes(make_batch(1, {'host': 'a', 'kernel': '6.1', 'arch': 'x86_64', 'cpu_model': 'Fast', 'region': 'eu'},
                                samples=(('main;work', 3), ('main', 4))))
    return path


def read_otlp(request):
    path, headers, body = request
    assert path == '/v1development/profiles'
    assert headers['Content-Type'] == 'application/x-protobuf' and headers['Content-Encoding'] == 'gzip'
    return Otlp(gzip.decompress(body))


def read_pyroscope(request):
    """[(labels, ID, Pprof, its bytes)]"""
    path, headers, body = request
    assert path == '/push.v1.PusherService/Push'
    assert headers['Content-Type'] == 'application/proto' and 'Content-Encoding' not in headers
    found = []
    for part in fields(body)[1]:
        series = fields(part)
        pairs = [fields(label) for label in series[1]]
        labels = {pair[1][0].decode(): pair[2][0].decode() for pair in pairs}
        assert len(labels) == len(pairs) and len(series[2]) == 1
        sample = fields(series[2][0])
        found.append((labels, sample[2][0].decode(), Pprof(sample[1][0]), sample[1][0]))
    return found


def read_parca(request):
    """As read_pyroscope; without IDs."""
    path, headers, body = request
    assert path == '/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw'
    assert headers['Content-Type'] == 'application/grpc-web+proto' and 'Content-Encoding' not in headers
    assert body[0] == 0 and int.from_bytes(body[1:5], 'big') == len(body) - 5
    message, found = fields(body[5:]), []
    assert message[3] == [1]
    for part in message[2]:
        series = fields(part)
        pairs = [fields(label) for label in fields(series[1][0])[1]]
        labels = {pair[1][0].decode(): pair[2][0].decode() for pair in pairs}
        assert len(labels) == len(pairs) and len(series[1]) == len(series[2]) == 1
        data = fields(series[2][0])[1][0]
        found.append((labels, None, Pprof(data), data))
    return found


def sums_of_series(series):
    """{event: (samples, value)}"""
    sums = collections.defaultdict(lambda: (0, 0))
    for labels, _, profile, _ in series:
        assert len(profile.types) == 2 and profile.types[0] == ('samples', 'count')
        for _, values, sample_labels in profile.samples:
            before = sums[labels['tally_event']]
            sums[labels['tally_event']] = (before[0] + values[0], before[1] + values[1])
            assert not sample_labels
    return dict(sums)


@pytest.mark.parametrize('name', RECORDINGS)
def test_sums_are_those_of_report(tally, receiver, name):
    path = CORPUS / f'{name}.data'
    expected = report_sums(tally, path)
    result = tally('push', path, '--to', f'otlp+{receiver.url}', check=0)
    assert f'{sum(samples for samples, _ in expected.values())} samples of {path} are in otlp+http' in result.stderr
    assert read_otlp(receiver.taken()[0]).sums() == expected
    tally('push', path, '--to', f'pyroscope+{receiver.url}', check=0)
    assert sums_of_series(read_pyroscope(receiver.taken()[1])) == expected
    with Receiver(GRPC_OK) as parca:
        tally('push', path, '--to', f'parca+{parca.url}', check=0)
        assert sums_of_series(read_parca(parca.taken()[0])) == expected


def test_resources_and_series_have_the_labels(tally, receiver, batch_file):
    tally('push', batch_file, '--to', f'otlp+{receiver.url}', check=0)
    otlp = read_otlp(receiver.taken()[0])
    assert len(otlp.resources) == 1
    expected = {'service.name': 'api', 'host.name': 'a', 'host.arch': 'amd64', 'os.version': '6.1', 'os.type': 'linux',
                'host.cpu.model.name': 'Fast', 'region': 'eu', 'process.pid': 10, 'process.executable.name': 'program'}
    assert otlp.resources[0] == expected
    types = {profile['type'] for profile in otlp.profiles}
    assert types == {('samples', 'count'), ('cpu', 'nanoseconds')}
    assert all(profile['time'] == NOW_NS for profile in otlp.profiles)
    assert all(10 * SECOND <= profile['duration'] <= 10 * SECOND + 1 for profile in otlp.profiles)
    tally('push', batch_file, '--to', f'pyroscope+{receiver.url}', check=0)
    (labels, identity, profile, _), = read_pyroscope(receiver.taken()[1])
    assert labels == {'__name__': 'process_cpu', 'service_name': 'api', 'host': 'a', 'kernel': '6.1', 'arch': 'x86_64',
                      'cpu_model': 'Fast', 'region': 'eu', 'tally_event': 'cpu-clock'}
    assert re.fullmatch(r'[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}', identity)
    assert profile.types == [('samples', 'count'), ('cpu', 'nanoseconds')]
    assert (profile.time, profile.duration) == (NOW_NS, 10 * SECOND)
    assert {tuple(profile.names(stack)): values for stack, values, _ in profile.samples} == {
        ('work', 'main'): [3, 3_000_000], ('main',): [4, 4_000_000]}


@pytest.mark.parametrize('name', ['deep', 'multi'])
def test_pprof_tool_reads_series(tally, receiver, tmp_path, name):
    if not shutil.which('go'):
        pytest.skip('no go here, whose pprof reads profiles')
    tally('push', CORPUS / f'{name}.data', '--to', f'pyroscope+{receiver.url}', check=0)
    for index, (_, _, profile, data) in enumerate(read_pyroscope(receiver.taken()[0])):
        path = tmp_path / f'{index}.pb.gz'
        path.write_bytes(data)
        result = subprocess.run(['go', 'tool', 'pprof', '-top', '-sample_index=samples', path], text=True, check=True,
                                capture_output=True, env={'HOME': str(tmp_path), 'PATH': '/usr/bin:/bin'})
        assert f'of {sum(values[0] for _, values, _ in profile.samples)} total' in result.stdout


def test_the_token_is_sent_and_paths_are_kept(tally, receiver, batch_file, tmp_path):
    (tmp_path / 'token').write_text('secret\n')
    tally('push', batch_file, '--to', f'pyroscope+{receiver.url}/base', '--token-file', tmp_path / 'token', check=0)
    path, headers, _, _ = receiver.requests[0]
    assert path == '/base/push.v1.PusherService/Push' and headers['Authorization'] == 'Bearer secret'


@pytest.mark.parametrize('kind, body, sentence', [
    ('otlp', b'\x12\x07no room', 'the server answered 400: no room'),
    ('pyroscope', b'{"code":"invalid_argument","message":"too many labels"}', 'the server answered 400: too many labels'),
    ('otlp', b'<html>', 'the server answered 400')])
def test_refusals_are_told(tally, batch_file, kind, body, sentence):
    with Receiver((400, {}, body)) as receiver:
        result = tally('push', batch_file, '--to', f'{kind}+{receiver.url}', check=255)
        assert result.stderr.rstrip().endswith(sentence) and len(receiver.requests) == 1


@pytest.mark.parametrize('kind', ['otlp', 'pyroscope'])
def test_a_busy_server_is_asked_again(tally, batch_file, kind):
    with Receiver((503, {'Retry-After': '1'}, b''), (429, {'Retry-After': '1'}, b'')) as receiver:
        tally('push', batch_file, '--to', f'{kind}+{receiver.url}', check=0)
        bodies = {body for _, _, body, _ in receiver.requests}
        assert [request[3] for request in receiver.requests] == [503, 429, 200] and len(bodies) == 1


def grpc_error(status, message):
    return 200, {'Content-Type': 'application/grpc-web+proto', 'Grpc-Status': str(status), 'Grpc-Message': message}, b''


def test_parca_has_statuses_of_its_own(tally, batch_file):
    with Receiver(grpc_error(3, 'no%20name')) as receiver:
        result = tally('push', batch_file, '--to', f'parca+{receiver.url}', check=255)
        assert result.stderr.rstrip().endswith('the server answered status 3 of gRPC: no name')
    with Receiver((503, {'Retry-After': '1'}, b''), GRPC_OK) as receiver:
        tally('push', batch_file, '--to', f'parca+{receiver.url}', check=0)
        assert len({request[2] for request in receiver.requests}) == 1 and len(receiver.requests) == 2
        (labels, _, profile, _), = read_parca(receiver.taken()[0])
        assert labels['__name__'] == 'process_cpu' and labels['service_name'] == 'api' and profile.time == NOW_NS


def test_what_a_collector_does_not_take_is_told(tally, batch_file):
    with Receiver((200, {}, b'\x0a\x0c\x08\x02\x12\x08too late')) as receiver:
        result = tally('push', batch_file, '--to', f'otlp+{receiver.url}', check=0)
        assert 'warning: ' in result.stderr and 'the server rejected 2 profiles: too late' in result.stderr


def test_such_servers_cannot_be_asked(tally, receiver):
    result = tally('fleet', 'top', '--from', f'otlp+{receiver.url}', check=255)
    assert 'cannot ask it' in result.stderr and not receiver.requests


def test_damaged_batches_are_not_sent(tally, receiver, batch_file):
    data = batch_file.read_bytes()
    for content in (data[:-5], b'\xff' * 9, ZSTD + b'x' * 20):
        batch_file.write_bytes(content)
        result = tally('push', batch_file, '--to', f'otlp+{receiver.url}', check=255)
        assert len(result.stderr) > 20 and not receiver.requests


def samples_in(kind, request):
    if kind == 'otlp':
        return sum(samples for samples, _ in read_otlp(request).sums().values())
    read = read_pyroscope if kind == 'pyroscope' else read_parca
    return sum(samples for samples, _ in sums_of_series(read(request)).values())


@pytest.mark.parametrize('kind, refusal', [('otlp', b'\x12\x0enot this batch'),
                                           ('pyroscope', b'{"message":"not this batch"}')])
def test_an_agent_sends_what_it_takes(agent, deep, tmp_path, system_wide, kind, refusal):
    """What is busy is tried again, what is refused is dropped and counted, and the rest arrives."""
    with Receiver((503, {'Retry-After': '1'}, b''), (200, {}, b''), (400, {}, refusal)) as receiver:
        one = agent('--to', f'{kind}+{receiver.url}', '--queue', tmp_path / 'queue', *QUICK)
        wait_for(lambda: len(receiver.taken()) >= 4)
        windows, _, kept, dropped, _ = one.end()
        requests, (busy, first, refused) = receiver.requests, receiver.requests[:3]
        assert busy[2] == first[2] and refused[3] == 400 and len({request[2] for request in requests}) == len(requests) - 1
        assert dropped == samples_in(kind, refused[:3]) > 0
        count, sent, waiting_count, waiting = [int(word) for word in SENT.search(one.said()).groups()]
        assert count + waiting_count == windows - 1 and sent + waiting == kept - dropped
        assert sum(samples_in(kind, request) for request in receiver.taken()) == sent
        assert one.said().count('refuses batches, which are dropped: the server answered 400: not this batch') == 1


@pytest.mark.parametrize('kind', ['otlp', 'parca'])
def test_the_queue_survives_a_kill(agent, deep, tmp_path, system_wide, kind):
    """Another agent sends what one that was killed has kept; and it may go to a server of another kind."""
    queue = tmp_path / 'queue'
    one = agent('--to', 'http://127.0.0.1:1', '--queue', queue, *QUICK)
    wait_for(lambda: len(list(queue.glob('*.batch*'))) >= 3)
    one.process.kill()
    one.process.wait()
    waiting = [Batch(path.read_bytes()) for path in queue.iterdir() if '.batch' in path.name]
    with Receiver(usual=GRPC_OK if kind == 'parca' else (200, {}, b'')) as receiver:
        two = agent('--to', f'{kind}+{receiver.url}', '--queue', queue, *QUICK)
        wait_for(lambda: len(receiver.taken()) > len(waiting))
        _, _, kept, dropped, _ = two.end()
        _, sent, _, left = [int(word) for word in SENT.search(two.said()).groups()]
        assert dropped == 0 and sent + left == kept + sum(batch.count for batch in waiting)
        assert sum(samples_in(kind, request) for request in receiver.taken()) == sent
