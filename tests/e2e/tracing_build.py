# SPDX-License-Identifier: Apache-2.0
"""Builds the tracing data of a recording: the formats of tracepoints, and payloads that follow them."""
import struct

from perfdata_build import text_bytes

COMMON = [('unsigned short', 'common_type', 2), ('unsigned char', 'common_flags', 1),
          ('unsigned char', 'common_preempt_count', 1), ('int', 'common_pid', 4)]
NUMBERS = {1: 'B', 2: 'H', 4: 'i', 8: 'q'}
INTERRUPT = 0x08  # common_flags of what happens within one


class Tracepoint:
    """fields: (type, name, bytes) in order; a name with [16] is text of so many bytes. shown: the print format."""

    def __init__(self, system, name, number, fields, shown='""'):
        self.system, self.name, self.number, self.fields, self.shown = system, name, number, fields, shown

    def format(self):
        lines, offset = [f'name: {self.name}', f'ID: {self.number}', 'format:'], 0
        for index, (kind, name, size) in enumerate(COMMON + self.fields):
            offset += -offset % min(size, 8) if '[' not in name else 0
            lines.append(f'\tfield:{kind} {name};\toffset:{offset};\tsize:{size};\tsigned:{int(kind[0] in "ip")};')
            offset += size
            if index + 1 == len(COMMON):
                lines.append('')
        return '\n'.join([*lines, '', f'print fmt: {self.shown}', ''])

    def payload(self, flags=0, **values):
        raw = struct.pack('<HBBi', self.number, flags, 0, 0)
        for _, name, size in self.fields:
            value = values.get(name.split('[')[0], 0)
            if '[' in name:
                text = value or b''
                raw += (text if isinstance(text, bytes) else text_bytes(text))[:size - 1].ljust(size, b'\0')
            else:
                raw += bytes(-len(raw) % size) + struct.pack('<' + NUMBERS[size], value)
        return raw


def tracing_data(tracepoints):
    systems = {}
    for tracepoint in tracepoints:
        systems.setdefault(tracepoint.system, []).append(tracepoint.format().encode())
    data = b'\x17\x08\x44tracing0.6\0' + b'\0\x08' + struct.pack('<I', 4096)
    for name, text in (('header_page', b'\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n'),
                       ('header_event', b'# compressed entry header\n')):
        data += name.encode() + b'\0' + struct.pack('<Q', len(text)) + text
    data += struct.pack('<II', 0, len(systems))
    for system, formats in systems.items():
        data += system.encode() + b'\0' + struct.pack('<I', len(formats))
        for text in formats:
            data += struct.pack('<Q', len(text)) + text
    return data + struct.pack('<IIQ', 0, 0, 0)
