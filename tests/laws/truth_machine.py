# SPDX-License-Identifier: Apache-2.0
"""Random programs that know their own truth.

A seed makes a C program: threads, forks and execs that compute, sleep, wait for locks and pipes and make system calls below
random call paths (recursion included), with names of many kinds. Each thread measures itself with its own clocks and appends
what it did to the file of $TRUTH, as lines of JSON:

  {"kind": "cpu" | "nap" | "lock" | "pipe", "pid": P, "tid": T, "path": ["f1", ...], "ns": N}    one step of a thread
  {"kind": "calls", "pid": P, "tid": T, "count": N}                           getppid calls of a thread
  {"kind": "thread", "pid": P, "tid": T, "comm": "...", "ran": N, "ready": N, "lived": N}     at its end: /proc's schedstat
  {"kind": "life", "pid": P, "tid": T, "ns": N}    from before a thread's creation until it was joined, which is more than its life
  {"kind": "process", "pid": P, "voluntary": N, "involuntary": N, "faults": N}    getrusage at a process's end

    program = truth_machine.make(seed)
    program.text, program.functions ...
    truth = truth_machine.read(path)
"""
import collections
import dataclasses
import json
import random

FUNCTIONS = 10
MS = 1_000_000
# What a thread may be called, as a C string: 15 bytes at most are kept.
COMMS = ['worker', 'a b c', 'semi;colon', '[bracket]', 'kworker/0:1-ev', 'x)y (z', 'per%cent%s', 'gr\\303\\274\\303\\237e', '1234', '-dash',
         'tab\\there', 'quo\\"te', 'exactly15bytes_', 'longer_than_15_bytes', 'swapper', ':12', 'a,b']
# What the linker may call a function.
SUFFIXES = ['', '', '', '', '.cold', '.isra.0', '.constprop.0', '.llvm.1234567', '$weird', '.part.3']

RUNTIME = r'''
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define N __attribute__((noinline, noclone))
#define MOST 12

struct step;
typedef void step_function(struct step *);
struct step {
	const char *kind;
	long amount; /* ns, or calls */
	int depth;
	unsigned char path[MOST];
	int at;
};
volatile unsigned long sink;
static const struct link { step_function *function; const char *name; } functions[];

static long now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void say(const char *format, ...)
{
	char text[8192];
	va_list args;
	int file = open(getenv("TRUTH"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	va_start(args, format);
	int length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (file < 0 || write(file, text, length) != length)
		exit(9);
	close(file);
}

static void say_step(const struct step *s, const char *leaf, long ns)
{
	char path[4096];
	int used = 0;
	for (int i = 0; i < s->depth; i++)
		used += snprintf(path + used, sizeof(path) - used, "\"%s\", ", functions[s->path[i]].name);
	say("{\"kind\": \"%s\", \"pid\": %d, \"tid\": %d, \"path\": [%s\"%s\"], \"ns\": %ld}\n", s->kind, getpid(), gettid(), path, leaf, ns);
}

/* What is measured is inside the leaf; what is written is outside of it. */
N static void burn(long until)
{
	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		for (int i = 0; i < 3000; i++)
			sink = sink * 6364136223846793005u + 1;
}

static __thread long measured;
N static void leaf_cpu(struct step *s)
{
	long begin = now(CLOCK_THREAD_CPUTIME_ID);
	burn(begin + s->amount);
	measured = now(CLOCK_THREAD_CPUTIME_ID) - begin;
}
N static void leaf_nap(struct step *s)
{
	struct timespec t = {s->amount / 1000000000, s->amount % 1000000000};
	long begin = now(CLOCK_MONOTONIC);
	while (nanosleep(&t, &t) != 0)
		;
	measured = now(CLOCK_MONOTONIC) - begin;
}
struct helper { pthread_mutex_t mutex; pthread_barrier_t is_held; int ends[2]; long ns; };
static void *hold_lock(void *data)
{
	struct helper *h = data;
	struct timespec t = {0, h->ns};
	prctl(PR_SET_NAME, "holder");
	pthread_mutex_lock(&h->mutex);
	pthread_barrier_wait(&h->is_held);
	nanosleep(&t, NULL);
	pthread_mutex_unlock(&h->mutex);
	return NULL;
}
static void *feed_pipe(void *data)
{
	struct helper *h = data;
	struct timespec t = {0, h->ns};
	prctl(PR_SET_NAME, "feeder");
	pthread_barrier_wait(&h->is_held);
	nanosleep(&t, NULL);
	if (write(h->ends[1], "x", 1) != 1)
		exit(9);
	return NULL;
}
N static void wait_for_lock(struct helper *h)
{
	long begin = now(CLOCK_MONOTONIC);
	pthread_mutex_lock(&h->mutex);
	measured = now(CLOCK_MONOTONIC) - begin;
	pthread_mutex_unlock(&h->mutex);
}
N static void leaf_lock(struct step *s)
{
	struct helper h = {PTHREAD_MUTEX_INITIALIZER, .ns = s->amount};
	pthread_t helper;
	pthread_barrier_init(&h.is_held, NULL, 2);
	pthread_create(&helper, NULL, hold_lock, &h);
	pthread_barrier_wait(&h.is_held);
	wait_for_lock(&h);
	pthread_join(helper, NULL);
}
N static void wait_for_pipe(struct helper *h)
{
	char byte;
	long begin = now(CLOCK_MONOTONIC);
	if (read(h->ends[0], &byte, 1) != 1)
		exit(9);
	measured = now(CLOCK_MONOTONIC) - begin;
}
N static void leaf_pipe(struct step *s)
{
	struct helper h = {.ns = s->amount};
	pthread_t helper;
	pthread_barrier_init(&h.is_held, NULL, 2);
	if (pipe2(h.ends, O_CLOEXEC) != 0)
		exit(9);
	pthread_create(&helper, NULL, feed_pipe, &h);
	pthread_barrier_wait(&h.is_held);
	wait_for_pipe(&h);
	pthread_join(helper, NULL);
	close(h.ends[0]);
	close(h.ends[1]);
}
N static void leaf_calls(struct step *s)
{
	for (long i = 0; i < s->amount; i++)
		sink += syscall(SYS_getppid);
}

N static void next(struct step *s)
{
	if (s->at < s->depth) {
		functions[s->path[s->at++]].function(s);
		sink++;
		return;
	}
	switch (s->kind[0] + s->kind[1]) {
	case 'c' + 'p': leaf_cpu(s); break;
	case 'n' + 'a': leaf_nap(s); break;
	case 'l' + 'o': leaf_lock(s); break;
	case 'p' + 'i': leaf_pipe(s); break;
	case 'c' + 'a': leaf_calls(s); break;
	}
	sink++;
}

static void run_steps(const struct step *steps, int count)
{
	for (int i = 0; i < count; i++) {
		struct step s = steps[i];
		char leaf[32];
		snprintf(leaf, sizeof(leaf), "leaf_%s", s.kind);
		next(&s);
		if (s.kind[1] == 'a' && s.kind[0] == 'c')
			say("{\"kind\": \"calls\", \"pid\": %d, \"tid\": %d, \"count\": %ld}\n", getpid(), gettid(), s.amount);
		else
			say_step(&s, leaf, measured);
	}
}

struct script { const char *comm; const char *shown; const struct step *steps; int count; };

struct times { long clock, ran, ready; };
static struct times read_times(void)
{
	char path[64], text[128] = "";
	struct times t = {now(CLOCK_MONOTONIC), 0, 0};
	sched_yield(); /* the kernel brings the sums of a running thread up to date */
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", gettid());
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file >= 0 && read(file, text, sizeof(text) - 1) > 0)
		sscanf(text, "%ld %ld", &t.ran, &t.ready);
	close(file);
	return t;
}

static void end_thread(const struct script *script, const struct times *begin)
{
	struct times t = read_times();
	say("{\"kind\": \"thread\", \"pid\": %d, \"tid\": %d, \"comm\": \"%s\", \"ran\": %ld, \"ready\": %ld, \"lived\": %ld}\n", getpid(),
	    gettid(), script->shown, t.ran - begin->ran, t.ready - begin->ready, t.clock - begin->clock);
}

N static void *thread_main(void *data)
{
	const struct script *script = data;
	struct times begin = read_times();
	prctl(PR_SET_NAME, script->comm);
	run_steps(script->steps, script->count);
	end_thread(script, &begin);
	return (void *)(long)gettid();
}

static void end_process(const struct rusage *begin)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	say("{\"kind\": \"process\", \"pid\": %d, \"voluntary\": %ld, \"involuntary\": %ld, \"faults\": %ld}\n", getpid(), u.ru_nvcsw - begin->ru_nvcsw,
	    u.ru_nivcsw - begin->ru_nivcsw, u.ru_minflt + u.ru_majflt - begin->ru_minflt - begin->ru_majflt);
}

N static void run_process(const struct script *scripts, int count)
{
	pthread_t threads[16];
	struct rusage begin;
	getrusage(RUSAGE_SELF, &begin); /* before the exec, too, where events did not count yet */
	long born[16];
	for (int i = 1; i < count; i++) {
		born[i] = now(CLOCK_MONOTONIC);
		pthread_create(&threads[i], NULL, thread_main, (void *)&scripts[i]);
	}
	thread_main((void *)&scripts[0]);
	for (int i = 1; i < count; i++) {
		void *tid;
		pthread_join(threads[i], &tid);
		say("{\"kind\": \"life\", \"pid\": %d, \"tid\": %ld, \"ns\": %ld}\n", getpid(), (long)tid, now(CLOCK_MONOTONIC) - born[i]);
	}
	end_process(&begin);
}
'''

MAIN = r'''
int main(int argc, char **argv)
{
	int at = argc > 1 ? atoi(argv[1]) : 0;
	pid_t children[PROCESSES] = {0};
	for (int i = at + 1; argc <= 1 && i < PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0 && executes[i]) {
			char word[16];
			snprintf(word, sizeof(word), "%d", i);
			execl("/proc/self/exe", argv[0], word, NULL);
			_exit(8);
		}
		if (children[i] == 0) {
			run_process(processes[i], process_threads[i]);
			_exit(0);
		}
	}
	run_process(processes[at], process_threads[at]);
	for (int i = 0; i < PROCESSES; i++)
		if (children[i])
			waitpid(children[i], NULL, 0);
	return 0;
}
'''


@dataclasses.dataclass
class MadeProgram:
    seed: int
    text: str
    options: list  # of the compiler
    has_frame_pointers: bool
    functions: set


def make(seed, total_cpu_ms=120):
    """The program of a seed."""
    r = random.Random(seed)
    names = []
    for index in range(FUNCTIONS):
        length = r.choice([0, 0, 0, 30, 120])
        names.append(f'f{index}' + '_long' * (length // 5) + r.choice(SUFFIXES))
    parts = [RUNTIME]
    for index, name in enumerate(names):
        padding = f'char room[{r.choice([64, 300, 5000])}]; room[s->at] = 1; sink += room[s->at];' if r.random() < 0.4 else ''
        parts.append(f'void F{index}(struct step *s) __asm__("{name}");\nN void F{index}(struct step *s) {{ {padding} next(s); sink += 2; }}')
    parts.append('static const struct link functions[] = {' + ', '.join(f'{{F{i}, "{name}"}}' for i, name in enumerate(names)) + '};')
    process_count = r.choice([1, 1, 2, 3])
    thread_counts = [r.choice([1, 2, 3, 4]) for _ in range(process_count)]
    cpu_left = total_cpu_ms * MS
    threads = sum(thread_counts)
    for p, count in enumerate(thread_counts):
        for t in range(count):
            steps = []
            for _ in range(r.randint(2, 6)):
                kind = r.choices(['cpu', 'nap', 'lock', 'pipe', 'calls'], [5, 3, 2, 2, 1])[0]
                path = [r.randrange(FUNCTIONS) for _ in range(r.randint(1, 8))]
                if r.random() < 0.2:
                    path = [path[0]] * len(path)
                amount = {'cpu': r.randint(2 * MS, 2 * cpu_left // threads // 3), 'calls': r.randint(1, 300)}.get(kind, r.randint(1 * MS, 25 * MS))
                steps.append(f'{{"{kind}", {amount}, {len(path)}, {{{", ".join(map(str, path))}}}}}')
            parts.append(f'static const struct step steps_{p}_{t}[] = {{{", ".join(steps)}}};')
        rows = []
        for t in range(count):
            comm = r.choice(COMMS)
            # A string of C becomes one of JSON: bytes beyond ASCII are UTF-8 in both.
            raw = comm.encode().decode('unicode_escape').encode('latin-1')[:15]
            shown = json.dumps(raw.decode('utf-8', 'replace'))[1:-1].replace('\\', '\\\\').replace('"', '\\"')
            rows.append(f'{{"{comm}", "{shown}", steps_{p}_{t}, sizeof(steps_{p}_{t}) / sizeof(struct step)}}')
        parts.append(f'static const struct script scripts_{p}[] = {{{", ".join(rows)}}};')
    parts.append(f'#define PROCESSES {process_count}')
    parts.append('static const struct script *const processes[] = {' + ', '.join(f'scripts_{p}' for p in range(process_count)) + '};')
    parts.append('static const int process_threads[] = {' + ', '.join(map(str, thread_counts)) + '};')
    parts.append('static const int executes[] = {' + ', '.join(str(r.randrange(2)) for _ in range(process_count)) + '};')
    parts.append(MAIN)
    has_frame_pointers = r.random() < 0.6
    options = [r.choice(['-O1', '-O2']), '-fno-optimize-sibling-calls', '-fno-shrink-wrap', '-pthread', '-w', '-no-pie' if r.random() < 0.3 else '-pie',
               '-fno-omit-frame-pointer' if has_frame_pointers else '-fomit-frame-pointer']
    if r.random() < 0.5:
        options.append('-g')
    return MadeProgram(seed, '\n'.join(parts), options, has_frame_pointers, set(names))


class Truth:
    """What the threads of one run wrote."""

    def __init__(self, lines):
        self.steps = [one for one in lines if 'path' in one]
        self.threads = {one['tid']: one for one in lines if one['kind'] == 'thread'}
        self.lives = {one['tid']: one['ns'] for one in lines if one['kind'] == 'life'}
        self.processes = [one for one in lines if one['kind'] == 'process']
        self.calls = collections.Counter()
        for one in lines:
            if one['kind'] == 'calls':
                self.calls[one['tid']] += one['count']

    def paths(self):
        return {tuple(step['path'][:-1]) for step in self.steps}


def read(path):
    return Truth([json.loads(line) for line in path.read_text(encoding='utf-8', errors='replace').splitlines()])
