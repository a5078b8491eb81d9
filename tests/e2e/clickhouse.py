# SPDX-License-Identifier: Apache-2.0
"""A ClickHouse server of a test's own, on ports that are free, with its data below the test's folder.

    with ClickHouse(tmp_path) as server:
        server.ask('SELECT 1')       # '1\n'
        tally('push', file, '--to', f'clickhouse://{server.place}/fleet')
"""
import os
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.request

import pytest

from conftest import wait_for

CONFIG = '''<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>104857600</mark_cache_size>
</yandex>
'''
USERS = '''<yandex><profiles><default><max_memory_usage>4000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default></users><quotas><default></default></quotas></yandex>
'''


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class ClickHouse:
    def __init__(self, folder):
        program = shutil.which('clickhouse-server', path=os.environ.get('PATH', '') + ':/usr/sbin:/usr/bin')
        if not program:
            pytest.skip('clickhouse-server is not installed')
        self.folder = folder / 'clickhouse'
        self.folder.mkdir()
        http, tcp = free_port(), free_port()
        self.place = f'127.0.0.1:{http}'
        (self.folder / 'config.xml').write_text(CONFIG.format(folder=self.folder, http=http, tcp=tcp))
        (self.folder / 'users.xml').write_text(USERS)
        self.command = [program, f'--config-file={self.folder}/config.xml']
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, cwd=self.folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.answers)

    def answers(self):
        assert self.process.poll() is None, 'clickhouse-server ended: ' + (self.folder / 'errors').read_text()
        try:
            return self.ask('SELECT 1') == '1\n'
        except (urllib.error.URLError, OSError):
            return False

    def ask(self, statement, database='default'):
        """The answer as lines of tab-separated values."""
        request = urllib.request.Request(f'http://{self.place}/?database={database}&wait_end_of_query=1',
                                         data=statement.encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
