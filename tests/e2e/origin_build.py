# SPDX-License-Identifier: Apache-2.0
"""Labels a copy of a recording as one whose samples are not from perf events (src/perfdata/origin.h)."""
import struct

ORIGIN = 201
HEADER_ATTR, FINISHED_ROUND = 64, 68
BY, NOT_SEEN = 'valgrind 3.19, model d1=32768,8,64', "the kernel's code"


def section_of(kind, by, not_seen):
    return '\n'.join((kind, by, not_seen)).encode() + b'\0'


def label_pipe(data, section):
    """Behind the attrs, as perf places features."""
    at = 16
    while struct.unpack_from('<I', data, at)[0] == HEADER_ATTR:
        at += struct.unpack_from('<H', data, at + 6)[0]
    body = b'tallyorg' + section + bytes(-len(section) % 8)
    body += bytes(8) if len(body) % 16 == 8 else b''
    return data[:at] + struct.pack('<IHH', FINISHED_ROUND, 0, 8 + len(body)) + body + data[at:]


def label_file(data, section):
    """The last row of the table, behind all others; what lies behind the table moves."""
    data = bytearray(data)
    begin, size = struct.unpack_from('<QQ', data, 40)
    bits = list(struct.unpack_from('<4Q', data, 72))
    assert bits[3] >> ORIGIN % 64 == 0, 'it has features of a higher number'
    table = begin + size
    count = sum(bin(word).count('1') for word in bits)
    for row in range(count):
        offset, length = struct.unpack_from('<QQ', data, table + 16 * row)
        if offset >= table:
            struct.pack_into('<Q', data, table + 16 * row, offset + 16)
    bits[3] |= 1 << ORIGIN % 64
    struct.pack_into('<4Q', data, 72, *bits)
    end = table + 16 * count
    row = struct.pack('<QQ', len(data) + 16, len(section))
    return bytes(data[:end]) + row + bytes(data[end:]) + section


def label(source, target, kind='simulated', by=BY, not_seen=NOT_SEEN):
    data, section = source.read_bytes(), section_of(kind, by, not_seen)
    is_pipe = struct.unpack_from('<Q', data, 8)[0] == 16
    target.write_bytes(label_pipe(data, section) if is_pipe else label_file(data, section))
    return target
