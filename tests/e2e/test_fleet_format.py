# SPDX-License-Identifier: Apache-2.0
"""The bytes of batches against a decoder and an encoder that protoc generates from docs/schema/fleet.proto."""
import os
import random
import subprocess

import pytest
from batch_reader import Batch, generated
from conftest import BUILD

CODEC = BUILD / 'tests' / 'unit' / 'test_fleet'


def convert(how, data=None):
    return subprocess.run([CODEC, 'batch_codec'], env={**os.environ, 'TALLY_TEST_BATCH_CODEC': how}, input=data,
                          capture_output=True, check=False)


@pytest.fixture(scope='module')
def example():
    if not CODEC.exists():
        pytest.skip(f'{CODEC} is not built')
    done = convert('encode')
    assert done.returncode == 0, done.stderr
    return done.stdout


def describe(data):
    done = convert('describe', data)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_python_decodes_what_we_encode(example):
    batch = Batch(example)
    message = batch.message
    size = message.ByteSize()
    message.DiscardUnknownFields()
    assert message.ByteSize() == size
    assert batch.id == '0102ff00000000000000000000000009'
    assert (batch.begin, batch.end) == (1700000000000000000, 1700000010000000000)
    assert batch.labels == {'host': 'höst "1"', 'region': 'eu'}
    assert batch.sets[1:] == [{'service': 'api', 'pod': ''}, {'service': 'db'}]
    assert [(message.strings[e.name], e.is_waiting, e.is_time, e.has_call_chains) for e in message.events] == [
        ('cpu-clock:u', False, True, True), ('offcpu-time', True, True, True), ('cycles', False, False, False)]
    assert (batch.losses.lost_samples, batch.losses.dropped_batches, batch.losses.dropped_samples,
            batch.losses.own_cpu_ns, batch.losses.own_bytes, batch.losses.frequency_hz) == (1, 2, 3, 4, 5, 19)
    assert [one['count'] for one in batch.samples] == [1, 2, 3, 4, 5, 6, 2 ** 40, 0]
    first = batch.samples[0]
    assert first['stack'] == ['std::max<int>', 'step', 'work', '_start']
    assert (first['pid'], first['tid'], first['labels']['service'], first['state']) == (10, 20, 'api', 0)
    assert batch.samples[6]['pid'] == -1 and batch.samples[6]['state'] == -1
    inlined = message.locations[0]
    assert (inlined.address, inlined.level) == (0x1234, 1)
    assert [(message.strings[f.file], f.line, f.start, f.size) for f in inlined.frames] == [
        ('algo.h', 12, 0, 0), ('a.c', 7, 0, 0), ('a.c', 99, 0x1200, 0x80)]
    assert message.binaries[inlined.binary - 1].build_id.hex() == '0123456789abcdef0123456789abcdef01234567'


def test_we_decode_what_python_encodes(example):
    message = Batch(example).message
    assert describe(message.SerializeToString()) == describe(example)


def test_fields_may_come_in_any_order(example):
    """Of an encoder that writes each field by itself, in an order of its own."""
    message, parts = Batch(example).message, []
    for field in message.DESCRIPTOR.fields:
        alone = generated().Batch()
        value = getattr(message, field.name)
        if field.label == field.LABEL_REPEATED:
            getattr(alone, field.name).extend(value)
        elif field.message_type:
            getattr(alone, field.name).CopyFrom(value)
        else:
            setattr(alone, field.name, value)
        parts.append(alone.SerializeToString())
    for seed in range(10):
        random.Random(seed).shuffle(parts)
        assert describe(b''.join(parts)) == describe(example)


def test_numbers_need_not_be_packed(example):
    """Older encoders write each location of a stack as a field."""
    message = Batch(example).message
    stacks = [[1 << 3, number] for stack in message.stacks for number in stack.locations]
    fields, at = b'', 0
    for stack in message.stacks:
        body = b''.join(bytes(pair) for pair in stacks[at:at + len(stack.locations)])
        at += len(stack.locations)
        fields += bytes([10 << 3 | 2, len(body)]) + body
    del message.stacks[:]
    assert describe(message.SerializeToString() + fields) == describe(example)
