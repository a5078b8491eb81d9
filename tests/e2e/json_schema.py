# SPDX-License-Identifier: Apache-2.0
"""As much of JSON Schema as docs/schema uses, so that no package is needed. Keywords it does not know are an error."""
import re

TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'integer': int, 'number': (int, float)}
KNOWN = {'$schema', '$defs', '$ref', 'title', 'description', 'type', 'required', 'properties', 'items', 'const', 'enum',
         'minimum', 'pattern'}


def check(value, schema, root=None, where='$'):
    """Raises AssertionError with the place where value is not as the schema says."""
    root = root or schema
    assert set(schema) <= KNOWN, f'{where}: {set(schema) - KNOWN}'
    if '$ref' in schema:
        target = root
        for part in schema['$ref'].removeprefix('#/').split('/'):
            target = target[part]
        check(value, target, root, where)
    if 'type' in schema:
        wanted = schema['type']
        is_bool_as_number = isinstance(value, bool) and wanted in ('integer', 'number')
        assert isinstance(value, TYPES[wanted]) and not is_bool_as_number, f'{where}: {value!r} is no {wanted}'
    if 'const' in schema:
        assert value == schema['const'], f'{where}: {value!r}'
    if 'enum' in schema:
        assert value in schema['enum'], f'{where}: {value!r}'
    if 'minimum' in schema:
        assert value >= schema['minimum'], f'{where}: {value!r}'
    if 'pattern' in schema:
        assert re.search(schema['pattern'], value), f'{where}: {value!r}'
    for name in schema.get('required', []):
        assert name in value, f'{where}: {name} is missing'
    for name, part in schema.get('properties', {}).items():
        if name in value:
            check(value[name], part, root, f'{where}.{name}')
    if 'items' in schema:
        for i, item in enumerate(value):
            check(item, schema['items'], root, f'{where}[{i}]')
