#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the samples in a store with those that an agent put into its queue, while both are killed.

usage: tests/live/fleet_truth.py [--kills 50] [--store-kills 20] [--tally PATH] [--store URL] [--seed 1]

The agent sends through a proxy, which refuses connections for two windows now and then, delivers batches twice, and
loses answers. What enters the queue is seen by inotify, in the names of files. At the end the network is good, the agent
is ended after its queue is empty, and the samples in the store and the losses that batches report must be those that
were seen. Ends with one line of counts. Exit status 1: they differ.
"""
import argparse
import ctypes
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

NAME = re.compile(r'(\d{20}-[0-9a-f]{32})\.(\d+)\.\d+\.\d+\.\d+\.\d+\.\d+\.batch(?:\.zst)?')
IN_MOVED_TO = 0x80
WINDOW_S = 1


class Watcher(threading.Thread):
    """{batch: its samples} of all files that appeared in a folder."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_CLOEXEC)
        assert self.fd >= 0 and libc.inotify_add_watch(self.fd, os.fsencode(folder), IN_MOVED_TO) >= 0
        self.samples = {}

    def run(self):
        while True:
            data = os.read(self.fd, 1 << 16)
            while data:
                _, mask, _, length = struct.unpack_from('iIII', data)
                assert not mask & 0x4000, 'the watch overflowed'
                name = data[16:16 + length].rstrip(b'\0').decode()
                found = NAME.fullmatch(name)
                if found:
                    self.samples[found[1]] = int(found[2])
                data = data[16 + length:]


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    target = 0  # port of the server
    is_away = is_good = False
    counts = {'refused': 0, 'twice': 0, 'lost': 0}

    def log_message(self, *_):
        pass

    def forward(self, body):
        connection = http.client.HTTPConnection('127.0.0.1', Proxy.target, timeout=30)
        connection.request('POST', self.path, body, {name: self.headers[name] for name in ('Content-Type', 'Content-Encoding')
                                                     if self.headers[name]})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        luck = 1 if Proxy.is_good else random.random()
        if Proxy.is_away and not Proxy.is_good:
            Proxy.counts['refused'] += 1
            self.close_connection = True
            return
        try:
            status, answer = self.forward(body)
            if luck < 0.2:
                Proxy.counts['twice'] += 1
                status, answer = self.forward(body)
        except (OSError, http.client.HTTPException):
            self.close_connection = True
            return
        if luck > 0.8 and luck < 1:
            Proxy.counts['lost'] += 1
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def start_server(tally, url, folder):
    errors = open(folder / 'server', 'ab')
    start = errors.tell()
    process = subprocess.Popen([tally, 'serve', '--store', url, '--listen', '127.0.0.1:0'], stderr=errors)
    while not (found := re.search(rb'127\.0\.0\.1:(\d+)/', (folder / 'server').read_bytes()[start:])):
        assert process.poll() is None, (folder / 'server').read_text()
        time.sleep(0.01)
    Proxy.target = int(found[1])
    return process


def start_agent(tally, port, queue, folder):
    return subprocess.Popen([tally, 'agent', '--to', f'http://127.0.0.1:{port}', '--queue', queue, '--window', str(WINDOW_S),
                             '-F', '99', '--max-cpu', '1000', '--max-memory', '4G'], stderr=open(folder / 'agent', 'ab'))


def stored(folder):
    """(batches, samples, samples that batches report as dropped)"""
    with urllib.request.urlopen(f'http://127.0.0.1:{Proxy.target}/metrics', timeout=30) as answer:
        text = answer.read().decode()
    load = f'http://127.0.0.1:{Proxy.target}/api/v1/load?from=-1d&until=now&step=1h'
    with urllib.request.urlopen(load, timeout=30) as answer:
        lost = sum(point['lost_samples'] for point in json.load(answer)['points'])
    return (*(int(re.search(rf'^tally_store_{name} (\d+)', text, re.M)[1]) for name in ('batches', 'samples')), lost)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kills', type=int, default=50)
    parser.add_argument('--store-kills', type=int, default=20)
    parser.add_argument('--tally', default='build/src/cli/tally')
    parser.add_argument('--store', help='default: sqlite in a temporary folder')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix='tally-truth-'))
    queue = folder / 'queue'
    queue.mkdir()
    watcher = Watcher(queue)
    watcher.start()
    url = options.store or f'sqlite:{folder}/store.db'
    proxy = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Proxy)
    proxy.handle_error = lambda *_: None
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    port = proxy.server_address[1]
    server, agent = start_server(options.tally, url, folder), start_agent(options.tally, port, queue, folder)
    acts = ['agent'] * options.kills + ['store'] * options.store_kills
    random.shuffle(acts)
    for number, act in enumerate(acts):
        Proxy.is_away = number % 10 == 9
        time.sleep(2 * WINDOW_S if Proxy.is_away else random.uniform(0.3, 1.8 * WINDOW_S))
        if act == 'agent':
            before, end = len(watcher.samples), time.monotonic() + 60
            while len(watcher.samples) == before and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(random.uniform(0, WINDOW_S))
            assert agent.poll() is None, (folder / 'agent').read_text()
            agent.kill()
            agent.wait()
            agent = start_agent(options.tally, port, queue, folder)
        else:
            server.kill()
            server.wait()
            server = start_server(options.tally, url, folder)
    Proxy.is_good = True
    end = time.monotonic() + 120
    while any('.batch' in name for name in os.listdir(queue)) and time.monotonic() < end:
        time.sleep(0.2)
    agent.send_signal(signal.SIGTERM)
    agent.wait()
    time.sleep(0.5)
    batches, samples, lost = stored(folder)
    server.terminate()
    server.wait()
    seen = watcher.samples
    print(f'{options.kills} kills of the agent, {options.store_kills} of the store, {Proxy.counts["refused"]} requests refused, '
          f'{Proxy.counts["twice"]} batches delivered twice, {Proxy.counts["lost"]} answers lost: {len(seen)} batches with '
          f'{sum(seen.values())} samples entered the queue, {batches} with {samples} are in the store, {lost} samples lost')
    return not seen or batches != len(seen) or samples + lost != sum(seen.values())


sys.exit(main())
