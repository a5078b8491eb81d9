/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "verbs/bench/bench.h"

#define BENCH_SYSCALL_DEFAULT_LOOPS 10000000
#define DEFAULT_FORK_LOOPS	    10000
#define PROGRAM			    "/bin/true"

struct bench_syscall {
	uint64_t loops;
};

static const struct option bench_syscall_options[] = {
	{.name = "loop",
		.letter = 'l',
		.kind = OPTION_U64,
		.argument = "n",
		.offset = offsetof(struct bench_syscall, loops),
		.help = "Specify number of loops"},
};
static const struct option_table bench_syscall_table = {bench_syscall_options, ARRAY_LEN(bench_syscall_options), false};

struct bench_syscall_kind {
	const char *name;
	bool (*call)(void);
	uint64_t loops; /* The default of -l. */
};

static bool bench_syscall_getppid(void)
{
	return syscall(__NR_getppid) >= 0;
}

static bool bench_syscall_getpgid(void)
{
	return syscall(__NR_getpgid, 0) >= 0;
}

static bool bench_syscall_child(bool executes)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		if (executes)
			execl(PROGRAM, PROGRAM, (char *)NULL);
		_exit(executes ? 127 : 0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool bench_syscall_fork(void)
{
	return bench_syscall_child(false);
}

static bool bench_syscall_execve(void)
{
	return bench_syscall_child(true);
}

static int bench_syscall_measure(const struct bench *bench, const struct command *command, int argc, char **argv,
	const struct bench_syscall_kind *kind)
{
	struct bench_syscall job = {.loops = kind->loops};
	int rest;
	int code = cli_parse_options(bench->cli, command, argc, argv, &job, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc || job.loops == 0)
		return cli_usagef(bench->cli, command, "loop", "a loop at least, and no words");
	uint64_t start = clock_ns();
	for (uint64_t i = 0; i < job.loops; i++)
		if (!kind->call())
			return bench_fail(bench, "the call failed");
	uint64_t ns = clock_ns() - start;
	bench_say(bench, "# Executed %" PRIu64 " %s() calls\n", job.loops, kind->name);
	bench_rate(bench, &(struct bench_result){.operations = job.loops, .ns = ns});
	return 0;
}

#define BENCH_SYSCALL(name, loops)                                                                  \
	static int bench_syscall_run_##name(                                                        \
		const struct bench *bench, const struct command *command, int argc, char **argv)    \
	{                                                                                           \
		static const struct bench_syscall_kind kind = {#name, bench_syscall_##name, loops}; \
		return bench_syscall_measure(bench, command, argc, argv, &kind);                    \
	}
BENCH_SYSCALL(getppid, BENCH_SYSCALL_DEFAULT_LOOPS)
BENCH_SYSCALL(getpgid, BENCH_SYSCALL_DEFAULT_LOOPS)
BENCH_SYSCALL(fork, DEFAULT_FORK_LOOPS)
BENCH_SYSCALL(execve, DEFAULT_FORK_LOOPS)

static const struct benchmark bench_syscall_benchmarks[] = {
	{"basic", "Benchmark for basic getppid(2) calls", &bench_syscall_table, bench_syscall_run_getppid},
	{"getpgid", "Benchmark for getpgid(2) calls", &bench_syscall_table, bench_syscall_run_getpgid},
	{"fork", "Benchmark for fork(2) calls", &bench_syscall_table, bench_syscall_run_fork},
	{"execve", "Benchmark for execve(2) calls", &bench_syscall_table, bench_syscall_run_execve},
};
const struct bench_collection bench_syscall = {"syscall", "System call benchmarks", "Run all syscall benchmarks",
	bench_syscall_benchmarks, ARRAY_LEN(bench_syscall_benchmarks)};
