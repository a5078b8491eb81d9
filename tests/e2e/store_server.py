# SPDX-License-Identifier: Apache-2.0
"""Runs `tally serve` for tests, asks it, and makes batches byte by byte (docs/schema/fleet.proto)."""
import contextlib
import http.client
import json
import re
import signal
import subprocess
import urllib.parse
import zlib

BATCH_TYPE = 'application/x-protobuf'
NOW_NS = 1_764_313_200_000_000_000  # 2025-11-28 07:00:00 UTC
SECOND = 10**9


class Server:
    """A running server on a port that was free; store: a path for SQLite, or the URL of a database."""

    def __init__(self, tally, store, *options, tokens=(None, None), listen='127.0.0.1:0'):
        self.store = store
        self.write_token, self.read_token = tokens
        url = store if '://' in str(store) else f'sqlite:{store}'
        command = [*tally.prefix, str(tally.path), 'serve', '--store', url, '--listen', listen,
                   *map(str, options)]
        self.process = subprocess.Popen(command, env=tally.environment, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.lines = []
        self.port = None
        while self.port is None:
            line = self.process.stderr.readline()
            assert line, f'the server ended: {self.lines}'
            self.lines.append(line)
            found = re.search(r'(https?)://\S+:(\d+)/', line)
            self.port = int(found[2]) if found else None
        self.scheme = found[1]
        self.url = f'{self.scheme}://127.0.0.1:{self.port}'

    def request(self, method, path, body=None, headers=None, timeout=60):
        """(status, headers, bytes)"""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=timeout)
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def post(self, body, encoding=None, token=None, **headers):
        """(status, JSON)"""
        sent = {'Content-Type': BATCH_TYPE}
        token = token or self.write_token
        if encoding:
            sent['Content-Encoding'] = encoding
        if token:
            sent['Authorization'] = f'Bearer {token}'
        sent.update({name.replace('_', '-'): value for name, value in headers.items()})
        status, _, answer = self.request('POST', '/api/v1/batches', body, sent)
        return status, json.loads(answer)

    def get(self, page, token=None, **arguments):
        """(status, headers, bytes)"""
        arguments = {'from': 0, 'until': NOW_NS * 2, **{name.rstrip('_'): value for name, value in arguments.items()}}
        token = token or self.read_token
        headers = {'Authorization': f'Bearer {token}'} if token else {}
        return self.request('GET', f'{page}?{urllib.parse.urlencode(arguments)}', headers=headers)

    def get_json(self, page, **arguments):
        status, _, body = self.get(page, **arguments)
        assert status == 200, body
        return json.loads(body)

    def metrics(self):
        """{name with labels: value}"""
        headers = {'Authorization': f'Bearer {self.read_token}'} if self.read_token else {}
        status, _, body = self.request('GET', '/metrics', headers=headers)
        assert status == 200, body
        lines = [line for line in body.decode().splitlines() if not line.startswith('#')]
        return {line.rsplit(' ', 1)[0]: float(line.rsplit(' ', 1)[1]) for line in lines}

    def folded(self, **arguments):
        """{stack: weight}; {} if nothing matches."""
        status, _, body = self.get('/api/v1/profile', format='folded', **arguments)
        if status == 404:
            return {}
        assert status == 200, body
        lines = [line.rsplit(' ', 1) for line in body.decode().splitlines()]
        return {stack: int(weight) for stack, weight in lines}

    def end(self, how=signal.SIGTERM):
        """The exit status, and what it wrote on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        if not self.process.stderr.closed:
            self.lines += self.process.stderr.readlines()
            self.process.stderr.close()
        return self.process.wait(60), ''.join(self.lines)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value) if value else b''


def piece(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def make_batch(identity=1, labels=None, samples=(('main;work', 3),), begin_ns=NOW_NS, service='api', event='cpu-clock',
               comm='program'):
    """A batch of one thread. samples: stacks, the outermost function first, and how many samples; each has a value of
    1 ms."""
    strings = ['']

    def text(value):
        if value not in strings:
            strings.append(value)
        return strings.index(value)

    def label(name, value):
        return number(1, text(name)) + number(2, text(value))

    parts = [piece(1, identity.to_bytes(16, 'little')), number(2, begin_ns), number(3, begin_ns + 10 * SECOND)]
    parts += [piece(5, label(name, value)) for name, value in (labels or {'host': 'a'}).items()]
    parts.append(piece(6, b''))
    parts.append(piece(6, piece(1, label('service', service))))
    parts.append(piece(7, number(1, text(event)) + number(3, 1)))
    parts.append(piece(8, number(1, text('program')) + number(2, text('/bin/program')) + piece(3, bytes(range(20)))))
    functions = []
    stacks, tail = [], []
    for names, count in samples:
        for name in names.split(';'):
            if name not in functions:
                functions.append(name)
        stacks.append([functions.index(name) for name in reversed(names.split(';'))])
        tail.append(piece(12, number(3, len(stacks)) + number(5, count) + number(6, count * 1_000_000)))
    for name in functions:
        start = 0x1000 * (1 + zlib.crc32(name.encode()) % 2**20)  # in all batches, a function is where it is
        frame = number(1, text(name)) + number(4, start) + number(5, 0x100)
        parts.append(piece(9, number(1, 1) + number(2, start + 4) + number(3, 1) + piece(4, frame)))
    parts += [piece(10, piece(1, b''.join(varint(at) for at in stack))) for stack in stacks]
    parts.append(piece(11, number(1, 10) + number(2, 11) + number(3, text(comm)) + number(4, text(comm)) + number(5, 2)))
    parts += tail
    return b''.join([*parts, *[piece(4, value) for value in strings]])
