# SPDX-License-Identifier: Apache-2.0
"""Reads OpenTelemetry's profiles with a decoder that protoc generates, and checks what the format demands of them."""
import functools
import importlib.util
import json
import pathlib
import shutil
import subprocess
import tempfile

import pytest

PROTOS = pathlib.Path(__file__).with_name('protos')
TABLES = {'mapping_table': 'Mapping', 'location_table': 'Location', 'function_table': 'Function', 'link_table': 'Link',
          'string_table': None, 'attribute_table': 'KeyValueAndUnit', 'stack_table': 'Stack'}
# Which table each field with indexes refers to.
REFERENCES = {'mapping_index': 'mapping_table', 'function_index': 'function_table', 'link_index': 'link_table',
              'stack_index': 'stack_table', 'location_indices': 'location_table', 'attribute_indices': 'attribute_table'}


@functools.cache
def generated():
    """The module that protoc makes of the messages."""
    if not shutil.which('protoc'):
        pytest.skip('protoc (protobuf-compiler) is absent')
    pytest.importorskip('google.protobuf', reason='python3-protobuf is absent')
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(['protoc', '-I', PROTOS, f'--python_out={folder}', 'otlp.proto'], check=True)
        spec = importlib.util.spec_from_file_location('otlp_pb2', pathlib.Path(folder) / 'otlp_pb2.py')
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def value_of(any_value):
    kind = any_value.WhichOneof('value')
    if kind == 'array_value':
        return [value_of(one) for one in any_value.array_value.values]
    return getattr(any_value, kind)


class Otlp:
    """A message, decoded. samples: of every profile, as dictionaries."""

    def __init__(self, data):
        self.message = generated().ProfilesData()
        self.message.ParseFromString(data)  # strict: a string that is no UTF-8 raises
        self.dictionary = self.message.dictionary
        self.check_unknown(data)
        self.check_tables()
        self.check_references()
        self.profiles, self.samples, self.resources = [], [], []
        for block in self.message.resource_profiles:
            resource = {pair.key: value_of(pair.value) for pair in block.resource.attributes}
            assert len(resource) == len(block.resource.attributes), 'a key is there twice'
            self.resources.append(resource)
            for scope in block.scope_profiles:
                assert scope.scope.name == 'tally' and scope.scope.version
                for profile in scope.profiles:
                    self.add_profile(resource, profile)

    @classmethod
    def of_json(cls, text):
        """OTLP's form of JSON, whose fields protobuf's own reader of JSON must know."""
        json_format = pytest.importorskip('google.protobuf.json_format', reason='python3-protobuf is absent')
        found = cls(json_format.Parse(text, generated().ProfilesData()).SerializeToString())
        assert json_format.MessageToDict(found.message) == json.loads(text)
        return found

    def check_unknown(self, data):
        known = generated().ProfilesData.FromString(data)
        known.DiscardUnknownFields()
        assert known.ByteSize() == len(data)

    def check_tables(self):
        """The zero value comes first, and nothing is there twice."""
        for table, kind in TABLES.items():
            entries = getattr(self.dictionary, table)
            assert entries[0] == (getattr(generated(), kind)() if kind else '')
            encoded = [one.SerializeToString() if kind else one for one in entries]
            assert len(set(encoded)) == len(encoded), table

    def check_references(self):
        """Indexes lie in their tables, and nothing but the zero value is without use."""
        used = {table: {0} for table in TABLES}

        def walk(message):
            for field, value in message.ListFields():
                table = 'string_table' if field.name.endswith('_strindex') else REFERENCES.get(field.name)
                if table:
                    indexes = [value] if isinstance(value, int) else list(value)
                    assert all(0 <= index < len(getattr(self.dictionary, table)) for index in indexes), field.name
                    used[table].update(indexes)
                elif field.message_type:
                    for one in value if field.label == field.LABEL_REPEATED else [value]:
                        walk(one)

        walk(self.message)
        for table, indexes in used.items():
            assert indexes == set(range(len(getattr(self.dictionary, table)))), table

    def string(self, index):
        return self.dictionary.string_table[index]

    def attributes(self, holder):
        pairs = [self.dictionary.attribute_table[index] for index in holder.attribute_indices]
        found = {self.string(pair.key_strindex): value_of(pair.value) for pair in pairs}
        assert len(found) == len(pairs), 'a key is there twice'
        return found

    def mapping(self, location):
        """Path and build ID; None: there is no mapping."""
        if not location.mapping_index:
            return None
        mapping = self.dictionary.mapping_table[location.mapping_index]
        assert mapping.memory_start <= location.address < mapping.memory_limit or mapping.memory_limit == 2 ** 64 - 1
        return (self.string(mapping.filename_strindex),
                self.attributes(mapping).get('process.executable.build_id.gnu', ''))

    def frames(self, stack_index):
        """Innermost first: function (None: not known), file, line, mapping, address and type."""
        for index in self.dictionary.stack_table[stack_index].location_indices:
            location = self.dictionary.location_table[index]
            place = {'mapping': self.mapping(location), 'address': location.address,
                     'type': self.attributes(location).get('profile.frame.type')}
            lines = [(self.dictionary.function_table[line.function_index], line.line) for line in location.lines]
            for function, number in lines:
                yield {'function': self.string(function.name_strindex) or None,
                       'file': self.string(function.filename_strindex), 'line': number, **place}
            if not lines:
                yield {'function': None, 'file': '', 'line': 0, **place}

    def add_profile(self, resource, profile):
        def kind(value_type):
            return self.string(value_type.type_strindex), self.string(value_type.unit_strindex)

        about = {'resource': resource, 'type': kind(profile.sample_type), 'period_type': kind(profile.period_type),
                 'period': profile.period, 'time': profile.time_unix_nano, 'duration': profile.duration_nano, 'attributes': self.attributes(profile)}
        assert profile.samples and (profile.period > 0) == profile.HasField('period_type')
        self.profiles.append(about)
        shapes, identities = set(), set()
        for sample in profile.samples:
            shapes.add((bool(sample.values), bool(sample.timestamps_unix_nano)))
            identities.add((sample.stack_index, frozenset(sample.attribute_indices), sample.link_index))
            end = profile.time_unix_nano + profile.duration_nano
            assert all(profile.time_unix_nano <= time < end for time in sample.timestamps_unix_nano)
            self.samples.append({'profile': about, 'attributes': self.attributes(sample),
                                 'frames': list(self.frames(sample.stack_index)), 'times': list(sample.timestamps_unix_nano),
                                 'value': sum(sample.values) if sample.values else len(sample.timestamps_unix_nano)})
        assert len(shapes) == 1 and shapes <= {(True, False), (False, True)}
        assert len(identities) == len(profile.samples), 'samples that are equal are one'

    def sums(self):
        """{event: (samples, period)}."""
        found = {}
        for sample in self.samples:
            counts, event = sample['profile']['type'] == ('samples', 'count'), sample['profile']['attributes']['tally.event']
            samples, period = found.get(event, (0, 0))
            found[event] = (samples + counts * sample['value'], period + (not counts) * sample['value'])
        return found
