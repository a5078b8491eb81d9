# SPDX-License-Identifier: Apache-2.0
"""Reads batches with a decoder that protoc generates from docs/schema/fleet.proto."""
import functools
import importlib.util
import pathlib
import shutil
import subprocess
import tempfile

import pytest

SCHEMA = pathlib.Path(__file__).parents[2] / 'docs' / 'schema'
ZSTD = b'\x28\xb5\x2f\xfd'


@functools.cache
def generated():
    if not shutil.which('protoc'):
        pytest.skip('protoc (protobuf-compiler) is absent')
    pytest.importorskip('google.protobuf', reason='python3-protobuf is absent')
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(['protoc', '-I', SCHEMA, f'--python_out={folder}', 'fleet.proto'], check=True)
        spec = importlib.util.spec_from_file_location('fleet_pb2', pathlib.Path(folder) / 'fleet_pb2.py')
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


class Batch:
    """A batch, decoded. labels: of all samples; samples: as dictionaries."""

    def __init__(self, data):
        if data.startswith(ZSTD):
            if not shutil.which('zstd'):
                pytest.skip('zstd is absent')
            data = subprocess.run(['zstd', '-dc'], input=data, stdout=subprocess.PIPE, check=True).stdout
        self.message = generated().Batch()
        self.message.ParseFromString(data)
        self.id = self.message.id.hex()
        self.begin, self.end, self.losses = self.message.begin_ns, self.message.end_ns, self.message.losses
        self.labels = self.labels_of(self.message.labels)
        self.sets = [{}] + [self.labels_of(one.labels) for one in self.message.label_sets]
        self.samples = [self.sample(one) for one in self.message.samples]
        self.count = sum(one.count for one in self.message.samples)

    def labels_of(self, labels):
        return {self.message.strings[one.name]: self.message.strings[one.value] for one in labels}

    def sample(self, sample):
        thread = self.message.threads[sample.thread]
        locations = self.message.stacks[sample.stack - 1].locations if sample.stack else []
        frames = [frame for index in locations for frame in self.message.locations[index].frames]
        return {'event': self.message.strings[self.message.events[sample.event].name],
                'is_waiting': self.message.events[sample.event].is_waiting,
                'count': sample.count, 'value': sample.value, 'state': sample.state - 1,
                'pid': thread.pid, 'tid': thread.tid, 'comm': self.message.strings[thread.comm],
                'labels': self.sets[thread.label_set],
                'stack': [self.message.strings[frame.function] for frame in frames]}


def batches_in(folder):
    """In the order of their windows."""
    return sorted((Batch(path.read_bytes()) for path in pathlib.Path(folder).glob('*.batch.zst')),
                  key=lambda batch: batch.begin)
