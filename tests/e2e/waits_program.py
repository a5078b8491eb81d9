# SPDX-License-Identifier: Apache-2.0
"""Random programs that wait under different callers, in random shares, and print how long they did under each."""
import random
import subprocess

KINDS = {'nanosleep': 'sleep', 'futex': 'lock', 'poll': 'poll', 'pipe': 'io', 'splice': 'io'}
HEAD = r'''
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#define N __attribute__((noipa))
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
struct thread { int ask[2], answer[2], out[2]; long until; };
static void nap(long us) { struct timespec t = {us / 1000000, us % 1000000 * 1000}; nanosleep(&t, 0); }
static void *feed(void *context) {
	struct thread *t = context;
	long us;
	while (read(t->ask[0], &us, sizeof us) == sizeof us) {
		nap(us);
		if (write(t->answer[1], "x", 1) != 1)
			break;
	}
	return 0;
}
/* The program's unwind table comes after its first waits. */
N static void warm_up(struct thread *t) {
	while (now() < t->until - 700000000L)
		nap(5000);
}
N static int on_nanosleep(struct thread *t, long us) { nap(us); return 1; }
N static int on_futex(struct thread *t, long us) {
	int word = 0;
	struct timespec most = {0, us * 1000};
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &most, 0, 0);
	return word + 1;
}
N static int on_poll(struct thread *t, long us) {
	struct pollfd fd = {.fd = t->out[0], .events = POLLIN};
	struct timespec most = {0, us * 1000};
	return ppoll(&fd, 1, &most, 0) + 1;
}
N static int on_pipe(struct thread *t, long us) {
	char byte;
	return write(t->ask[1], &us, sizeof us) == sizeof us ? (int)read(t->answer[0], &byte, 1) : 0;
}
N static int on_splice(struct thread *t, long us) {
	char byte;
	if (write(t->ask[1], &us, sizeof us) != sizeof us || splice(t->answer[0], 0, t->out[1], 0, 1, 0) != 1)
		return 0;
	return (int)read(t->out[0], &byte, 1);
}
'''


def source(seed):
    """A program: threads with some callers each, which reach the same waits over the same functions with frames of all sizes."""
    rng = random.Random(seed)
    text = [HEAD]
    steps = rng.randint(1, 4)
    for kind in KINDS:
        below = f'on_{kind}'
        for step in range(steps):
            size = rng.choice([8, 40, 200, 600, 1500, 5000])
            text.append(f'N static int step{step}_{kind}(struct thread *t, long us) {{ volatile char room[{size}]; '
                        f'room[us % {size}] = 1; return {below}(t, us) + room[us % {size}]; }}')
            below = f'step{step}_{kind}'
    callers = []
    for thread in range(rng.randint(1, 3)):
        kinds = [rng.choice(list(KINDS)) for _ in range(rng.randint(1, 2))]
        ours = [(f'caller_{thread}_{i}', rng.choice(kinds), rng.choice([300, 700, 1500, 3000, 6000]), rng.randint(1, 3))
                for i in range(rng.randint(2, 5))]
        for name, kind, us, _ in ours:
            depth = rng.randrange(steps)
            text.append(f'static long ns_{name};\nN static int {name}(struct thread *t) {{ '
                        f'return step{depth}_{kind}(t, {us}) + 1; }}')
        order = [i for i, caller in enumerate(ours) for _ in range(caller[3])]
        rng.shuffle(order)
        calls = '\n'.join(f'\t\ta = now(); {ours[i][0]}(t); ns_{ours[i][0]} += now() - a;' for i in order)
        text.append(f'static void *thread_{thread}(void *context) {{\n\tstruct thread *t = context;\n\tlong a;\n'
                    '\twarm_up(t);\n'
                    f'\twhile (now() < t->until) {{\n{calls}\n\t}}\n\treturn 0;\n}}')
        callers.append(ours)
    begin = '\n'.join(f'\tif (pipe(t[{i}].ask) || pipe(t[{i}].answer) || pipe(t[{i}].out)) return 1;\n\tt[{i}].until = until;\n'
                      f'\tpthread_create(&feeder, 0, feed, &t[{i}]);\n\tpthread_create(&id[{i}], 0, thread_{i}, &t[{i}]);'
                      for i in range(len(callers)))
    end = '\n'.join(f'\tpthread_join(id[{i}], 0);' for i in range(len(callers)))
    tell = '\n'.join(f'\tprintf("{name} {kind} %ld\\n", ns_{name});' for ours in callers for name, kind, _, _ in ours)
    text.append(f'int main(void) {{\n\tstatic struct thread t[{len(callers)}];\n\tpthread_t id[{len(callers)}], feeder;\n'
                f'\tlong until = now() + 1000000000L;\n{begin}\n{end}\n{tell}\n\tfflush(stdout);\n\t_exit(0);\n}}')
    return '\n'.join(text)


def build(seed, path, optimize):
    code = path.with_suffix('.c')
    code.write_text(source(seed), encoding='utf-8')
    subprocess.run(['gcc', '-w', optimize, '-o', path, code, '-pthread'], check=True)


def truth(text):
    """{caller: (kind, ns)} of what the program printed."""
    return {name: (kind, int(ns)) for name, kind, ns in (line.split() for line in text.splitlines())}


def folded(text):
    """{(caller, state): ns} of folded stacks."""
    found = {}
    for line in text.splitlines():
        stack, ns = line.rsplit(' ', 1)
        frames = stack.split(';')
        caller = next((frame for frame in frames if frame.startswith('caller_')), None)
        if caller:
            state = frames[-1][1:-1] if frames[-1].startswith('[') else ''
            found[caller, state] = found.get((caller, state), 0) + int(ns)
    return found


def differences(true, seen):
    """Per caller, and per caller and cause of its waits, the difference of shares, in points."""
    total, all_seen = sum(ns for _, ns in true.values()), sum(seen.values()) or 1
    points = {}
    for caller, (kind, ns) in true.items():
        whole = sum(value for key, value in seen.items() if key[0] == caller)
        on_cpu = sum(seen.get((caller, state), 0) for state in ('running', 'runnable', ''))
        points[caller] = 100 * (whole / all_seen - ns / total)
        points[caller, kind] = 100 * (whole - on_cpu - seen.get((caller, KINDS[kind]), 0)) / all_seen
    return points
