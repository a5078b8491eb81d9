# SPDX-License-Identifier: Apache-2.0
"""Run inside gdb: stops a program at many instructions and writes what an unwinder gets and what gdb answers.

usage: STOPS_OUT=FILE STOPS=N STOPS_SEED=S STOPS_AT=ADDRESSES gdb -batch -x gdb_stops.py --args PROGRAM ...

ADDRESSES is a file of lines "OBJECT OFFSET" (hex, link-time): instructions at which a breakpoint is set once, when the
program is in sixty::rounds (STOPS_BEGIN names another function); half of the stops come from them. The other half are where a timer found the program
(SIGVTALRM, which the program asks for by its last argument). STOPS_RECORDER is a command, with the process's id for
{pid}, that runs meanwhile and has written the file STOPS_RECORDING when it is ready. FILE gets one JSON object a line:

	{"maps": text}                                    what is mapped; again whenever that changed
	{"tid": thread, "ns": time,                       of CLOCK_MONOTONIC, when it was stopped
	 "regs": {name: value}, "stack": hex,             registers; memory from the stack pointer on
	 "frames": [[pc, name, kind, sp, line], ...]}     innermost first

kind: normal, inline, signal, or tail: left by a jump, so that there is no frame of it but in gdb's imagination.
"""
import json
import os
import random
import subprocess
import time

import gdb

REGISTERS = ('rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip eflags '
             'cs ss ds es fs gs').split()
STACK_BYTES = 65528  # the most that perf can copy: a multiple of 8 below 64 KiB
FRAMES = 127
KINDS = {gdb.INLINE_FRAME: 'inline', gdb.SIGTRAMP_FRAME: 'signal', gdb.TAILCALL_FRAME: 'tail'}
QUIET = 20  # timer stops in a row without a breakpoint: what is left of them will not be hit


class Stops:
    def __init__(self):
        self.out = open(os.environ['STOPS_OUT'], 'w', encoding='utf-8')
        self.wanted = int(os.environ.get('STOPS', '2000'))
        self.random = random.Random(int(os.environ.get('STOPS_SEED', '1')))
        # A step that waits for another thread, which may not run meanwhile, never ends: STOPS_STEPS=1 means no steps.
        self.steps = int(os.environ.get('STOPS_STEPS', '4'))
        self.maps = None
        self.count = 0
        self.by_breakpoint = False

    def start(self):
        for command in ('set pagination off', 'set confirm off', 'set backtrace past-main on',
                        'set backtrace past-entry on', 'set print demangle off', 'set breakpoint pending on',
                        'handle SIGVTALRM nostop noprint nopass', 'handle SIGUSR1 SIGUSR2 SIGILL nostop noprint pass',
                        'set startup-with-shell off', 'set debuginfod enabled off', 'set print thread-events off'):
            gdb.execute(command)
        gdb.Breakpoint(os.environ.get('STOPS_BEGIN', 'sixty::rounds'), temporary=True)
        gdb.execute('run', to_string=True)
        self.process = gdb.selected_inferior()

    def start_recorder(self):
        command = os.environ.get('STOPS_RECORDER')
        if not command:
            return None
        recorder = subprocess.Popen(command.format(pid=self.process.pid).split(), stdin=subprocess.DEVNULL)
        while not os.path.exists(os.environ['STOPS_RECORDING']) or not os.path.getsize(os.environ['STOPS_RECORDING']):
            time.sleep(0.1)
        time.sleep(2)  # it describes what runs first
        return recorder

    def read_maps(self):
        with open(f'/proc/{self.process.pid}/maps', encoding='utf-8') as f:
            return f.read()

    def mappings(self):
        for line in self.maps.splitlines():
            words = line.split(None, 5)
            low, high = (int(word, 16) for word in words[0].split('-'))
            yield low, high, words[1], int(words[2], 16), words[5] if len(words) > 5 else ''

    def stack(self, sp):
        for low, high, *_ in self.mappings():
            if low <= sp < high:
                return bytes(self.process.read_memory(sp, min(STACK_BYTES, high - sp)))
        return b''

    def frames(self):
        frames = []
        frame = gdb.newest_frame()
        while frame and len(frames) < FRAMES:
            sal = frame.find_sal()
            frames.append([frame.pc(), frame.name(), KINDS.get(frame.type(), 'normal'),
                           int(frame.read_register('sp')) & (1 << 64) - 1, sal.line if sal else 0])
            try:
                frame = frame.older()
            except gdb.error:
                break
        return frames

    def stop(self):
        maps = self.read_maps()
        if maps != self.maps:
            self.maps = maps
            self.write({'maps': maps})
        frame = gdb.newest_frame()
        registers = {name: int(frame.read_register(name)) & (1 << 64) - 1 for name in REGISTERS}
        stack = self.stack(registers['rsp'])
        thread = {'tid': gdb.selected_thread().ptid[1], 'ns': time.monotonic_ns()}
        self.write({**thread, 'regs': registers, 'stack': stack.hex(), 'frames': self.frames()})
        self.count += 1

    def write(self, value):
        self.out.write(json.dumps(value) + '\n')

    def set_breakpoints(self):
        """One for each address of the file, at most as many as stops are wanted."""
        bases = {}
        self.maps = self.read_maps()
        for low, _, _, offset, path in self.mappings():
            if path.startswith('/') and offset == 0:
                bases.setdefault(os.path.realpath(path), low)
        self.write({'maps': self.maps})
        with open(os.environ['STOPS_AT'], encoding='utf-8') as f:
            for line in f:
                path, address = line.split()
                base = bases.get(os.path.realpath(path))
                if base is not None:
                    gdb.Breakpoint(f'*{base + int(address, 16):#x}', temporary=True)

    def on_stop(self, event):
        self.by_breakpoint = isinstance(event, gdb.BreakpointEvent)

    def step(self):
        """One instruction of this thread. Otherwise the others run, too, and gdb may select one that has just hit a
        breakpoint: before the breakpoint's instruction in gdb, behind it in the kernel."""
        gdb.execute('set scheduler-locking on')
        gdb.execute('stepi', to_string=True)
        gdb.execute('set scheduler-locking off')

    def go_on(self):
        gdb.execute('continue', to_string=True)
        if not self.process.is_valid() or not self.process.pid:
            raise gdb.GdbError('the program ended before it was stopped often enough')

    def run(self):
        self.start()
        recorder = self.start_recorder()
        self.set_breakpoints()
        gdb.execute('handle SIGVTALRM stop print nopass', to_string=True)
        gdb.events.stop.connect(self.on_stop)
        timed = quiet = 0
        while self.count < self.wanted:
            self.go_on()
            quiet = 0 if self.by_breakpoint else quiet + 1
            if self.by_breakpoint:
                if recorder:  # the kernel's registers are behind the breakpoint's instruction, gdb's before it
                    self.step()
                self.stop()
            elif timed < self.wanted // 2 or quiet > QUIET:
                timed += 1
                for _ in range(self.random.randrange(self.steps)):
                    self.step()
                self.stop()
        self.out.close()
        gdb.execute('kill')
        if recorder:
            recorder.wait(timeout=60)


Stops().run()
