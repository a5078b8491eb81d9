# SPDX-License-Identifier: Apache-2.0
"""Runs a script of `perf script -s` on events that tally writes, one JSON object a line, to a descriptor.

The script's handlers are those that perf calls: trace_begin, trace_end, SYSTEM__EVENT, trace_unhandled and
process_event. The modules that perf gives to its scripts are made here: perf_trace_context, and Core and Util where
perf itself is not installed.
"""
import collections
import importlib.abc
import importlib.machinery
import json
import os
import sys
import types


def flag_tables():
    """Core: names of flags and symbols of a field, as a script may define them."""
    flags, symbols = {}, {}

    def define_flag_field(event_name, field_name, delim):
        flags.setdefault(event_name, {}).setdefault(field_name, {'delim': delim, 'values': {}})['delim'] = delim

    def define_flag_value(event_name, field_name, value, field_str):
        field = flags.setdefault(event_name, {}).setdefault(field_name, {'delim': '|', 'values': {}})
        field['values'][value] = field_str

    def define_symbolic_field(event_name, field_name):
        symbols.setdefault(event_name, {}).setdefault(field_name, {})

    def define_symbolic_value(event_name, field_name, value, field_str):
        symbols.setdefault(event_name, {}).setdefault(field_name, {})[value] = field_str

    def flag_str(event_name, field_name, value):
        field = flags.get(event_name, {}).get(field_name)
        if not field:
            return ''
        names = [name for bit, name in sorted(field['values'].items()) if bit and value & bit == bit]
        if not names and not value:
            names = [field['values'][0]] if 0 in field['values'] else []
        return (' %s ' % field['delim']).join(names)

    def symbol_str(event_name, field_name, value):
        return symbols.get(event_name, {}).get(field_name, {}).get(value, '')

    def trace_flag_str(value):
        names = ['IRQS_OFF', 'IRQS_NOSUPPORT', 'NEED_RESCHED', 'HARDIRQ', 'SOFTIRQ']
        set_ones = [name for bit, name in enumerate(names) if value & 1 << bit]
        return ' | '.join(set_ones) if set_ones else 'NONE' if value == 0 else ''

    def autodict():
        return collections.defaultdict(autodict)

    return {name: value for name, value in locals().items() if callable(value)}


def time_functions():
    """Util: arithmetic on times and running averages."""
    def nsecs(secs, nsecs):
        return secs * 1000000000 + nsecs

    def nsecs_secs(nsecs):
        return nsecs // 1000000000

    def nsecs_nsecs(nsecs):
        return nsecs % 1000000000

    def nsecs_str(nsecs):
        return '%5u.%09u' % (nsecs // 1000000000, nsecs % 1000000000)

    def avg(total, n):
        return total / n

    def add_stats(dictionary, key, value):
        low, high, mean, count = dictionary.get(key, (value, value, value, 0))
        dictionary[key] = (min(low, value), max(high, value), (mean + value) / 2 if count else value, count + 1)

    def clear_term():
        print('\x1b[H\x1b[2J', end='')

    def syscall_name(number):
        return str(number)

    def strerror(number):
        return os.strerror(abs(number))

    values = {name: value for name, value in locals().items() if callable(value)}
    values['NSECS_PER_SEC'] = 1000000000
    return values


class Fallback(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Comes last: what perf has installed is taken before it."""
    made = {'Core': flag_tables, 'Util': time_functions}

    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name in self.made else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        vars(module).update(self.made[module.__name__]())


class Context:
    """What perf hands to handlers as context."""
    def __init__(self):
        self.message = {}


def context_module():
    module = types.ModuleType('perf_trace_context')

    def common(name):
        return lambda context: context.message.get('common', {}).get(name, 0)

    module.common_pc = common('common_preempt_count')
    module.common_flags = common('common_flags')
    module.common_lock_depth = common('common_lock_depth')
    module.perf_set_itrace_options = lambda context, options: -1
    module.perf_sample_insn = lambda context: b''
    module.perf_sample_srcline = lambda context: (context.message.get('source_file'), context.message.get('line'))
    module.perf_sample_srccode = lambda context: (context.message.get('source_file'), context.message.get('line'), None)
    module.perf_config_get = lambda name: None
    return module


def sample_dict(message, event):
    """The dictionary that process_event gets."""
    sample = message['sample']
    sample['values'] = [(0, 0, 0)]
    result = {'ev_name': event['name'], 'attr': bytes.fromhex(event['attr']), 'sample': sample,
              'raw_buf': bytes.fromhex(message.get('raw', '')), 'comm': message['comm']}
    for key in ('dso', 'dso_bid', 'dso_map_start', 'dso_map_end', 'symbol', 'symoff'):
        if key in message:
            result[key] = message[key]
    result.update(callchain=message['callchain'], brstack=[], brstacksym=[], iregs='', uregs='')
    return result


def call(handlers, context, message, event):
    time = message['sample']['time']
    handler = event.get('handler')
    if not handler:
        if 'process_event' in handlers:
            handlers['process_event'](sample_dict(message, event))
        return
    if handler not in handlers and 'trace_unhandled' not in handlers:
        if 'process_event' in handlers:
            handlers['process_event'](sample_dict(message, event))
        return
    common = {'common_cpu': message['sample']['cpu'], 'common_s': time // 1000000000,
              'common_ns': time % 1000000000, 'common_pid': message['sample']['tid'],
              'common_comm': message['comm'], 'common_callchain': message['callchain']}
    fields = message.get('fields', {})
    if handler in handlers:
        function = handlers[handler]
        arguments = [handler, context, *common.values(), *fields.values(), sample_dict(message, event)]
    else:
        function = handlers['trace_unhandled']
        arguments = [handler, context, {**common, **fields}, sample_dict(message, event)]
    # Scripts older than the last argument do not take it.
    code = getattr(function, '__code__', None)
    if code and not code.co_flags & 4 and code.co_argcount < len(arguments):
        arguments = arguments[:code.co_argcount]
    function(*arguments)


def main():
    script, arguments = sys.argv[1], sys.argv[2:]
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    os.environ.setdefault('PERF_EXEC_PATH', '/usr/lib/perf-core')
    sys.modules['perf_trace_context'] = context_module()
    sys.meta_path.append(Fallback())
    context, events = Context(), []
    handlers = {'__name__': '__main__', '__file__': script, 'perf_script_context': context}
    with open(script, encoding='utf-8') as file:
        exec(compile(file.read(), script, 'exec'), handlers)  # pylint: disable=exec-used
    if 'trace_begin' in handlers:
        handlers['trace_begin']()
    with os.fdopen(int(os.environ['TALLY_SCRIPT_FD']), encoding='utf-8') as stream:
        for line in stream:
            message = json.loads(line)
            if 'attr' in message:
                events.append(message)
                continue
            context.message = message
            call(handlers, context, message, events[message['event']])
    if 'trace_end' in handlers:
        handlers['trace_end']()


main()
