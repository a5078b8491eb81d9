/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "verbs/bench/bench.h"
#include "verbs/bench/bench_seccomp.h"

#define GROUP_TASKS	   20 /* Number of senders of a group, and also of its receivers. */
#define MESSAGE_BYTES	   100
#define MAX_GROUPS	   10000
#define MAX_WRITE	   (16u << 20)
#define DEFAULT_PIPE_LOOPS 1000000

/* ---- messaging: each sender of a group writes to each receiver of it ---- */

struct bench_sched_messaging {
	uint64_t groups, loops;
	bool pipes, threads;
	int ready[2], start[2];
};

#define ROW(field) .offset = offsetof(struct bench_sched_messaging, field)
static const struct option messaging_options[] = {
	{"group", 'g', OPTION_U64, "n", ROW(groups), .help = "Specify number of groups"},
	{"nr_loops", 'l', OPTION_U64, "n", ROW(loops), .help = "Specify the number of loops to run (default: 100)"},
	{"pipe", 'p', OPTION_FLAG, ROW(pipes), .help = "Use pipe() instead of socketpair()"},
	{"thread", 't', OPTION_FLAG, ROW(threads), .help = "Be multi thread instead of multi process"},
};
#undef ROW
static const struct option_table messaging_table = {messaging_options, ARRAY_LEN(messaging_options), false};

struct bench_sched_task {
	const struct bench_sched_messaging *job;
	bool sends;
	int fds[GROUP_TASKS]; /* A sender has a descriptor for each receiver. A receiver uses the first element only. */
};

static bool bench_sched_transfer(int fd, bool sends, size_t bytes)
{
	char room[MESSAGE_BYTES] = {0};
	while (bytes) {
		ssize_t n = sends ? write(fd, room, bytes) : read(fd, room, MIN(bytes, sizeof(room)));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes -= (size_t)n;
	}
	return true;
}

/* Reports that it is ready, waits for the start, and sends or receives all messages. Returns false if a system call
 * failed. */
static bool bench_sched_work(const struct bench_sched_task *task)
{
	const struct bench_sched_messaging *job = task->job;
	struct pollfd starts = {job->start[0], POLLIN, 0};
	char ready = 1;
	if (write(job->ready[1], &ready, 1) != 1 || poll(&starts, 1, -1) != 1)
		return false;
	for (uint64_t i = 0; i < job->loops; i++)
		for (size_t j = 0; j < GROUP_TASKS; j++)
			if (!bench_sched_transfer(task->fds[task->sends ? j : 0], task->sends, MESSAGE_BYTES))
				return false;
	return true;
}

static void *bench_sched_thread(void *data)
{
	return bench_sched_work(data) ? NULL : data;
}

union bench_sched_id {
	pthread_t thread;
	pid_t pid;
};

static bool bench_sched_begin(
	const struct bench_sched_messaging *job, struct bench_sched_task *task, union bench_sched_id *id)
{
	if (job->threads) {
		pthread_attr_t attr;
		(void)pthread_attr_init(&attr);
		(void)pthread_attr_setstacksize(&attr, 64u << 10);
		errno = pthread_create(&id->thread, &attr, bench_sched_thread, task);
		(void)pthread_attr_destroy(&attr);
		return errno == 0;
	}
	id->pid = fork();
	if (id->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(bench_sched_work(task) ? 0 : 1);
	}
	return id->pid > 0;
}

static bool bench_sched_end(const struct bench_sched_messaging *job, union bench_sched_id *id)
{
	void *failed;
	int status;
	if (job->threads)
		return pthread_join(id->thread, &failed) == 0 && !failed;
	return waitpid(id->pid, &status, 0) == id->pid && status == 0;
}

/* Prepares the tasks of a group, with one channel from all senders to each receiver. */
static bool bench_sched_group(const struct bench_sched_messaging *job, struct bench_sched_task *tasks)
{
	for (size_t i = 0; i < GROUP_TASKS; i++) {
		int ends[2];
		if ((job->pipes ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) != 0)
			return false;
		tasks[i] = (struct bench_sched_task){.job = job, .fds = {ends[0]}};
		for (size_t j = 0; j < GROUP_TASKS; j++) {
			tasks[GROUP_TASKS + j].job = job;
			tasks[GROUP_TASKS + j].sends = true;
			tasks[GROUP_TASKS + j].fds[i] = ends[1];
		}
	}
	return true;
}

static void bench_sched_stop(const struct bench_sched_messaging *job, union bench_sched_id *ids, size_t count)
{
	for (size_t i = 0; !job->threads && i < count; i++) {
		(void)kill(ids[i].pid, SIGKILL);
		(void)waitpid(ids[i].pid, NULL, 0);
	}
}

/* Starts all tasks and waits until they are ready. *count is the number of started tasks, also on failure. */
static bool bench_sched_prepare(const struct bench_sched_messaging *job, struct bench_sched_task *tasks,
	union bench_sched_id *ids, size_t *count)
{
	char ready;
	for (uint64_t i = 0; i < job->groups; i++) {
		struct bench_sched_task *group = tasks + i * 2 * GROUP_TASKS;
		if (!bench_sched_group(job, group))
			return false;
		for (size_t j = 0; j < (size_t)(2 * GROUP_TASKS); j++, ++*count)
			if (!bench_sched_begin(job, group + j, &ids[*count]))
				return false;
		/* Child processes have copies of the descriptors, while threads share them. */
		for (size_t j = 0; !job->threads && j < GROUP_TASKS; j++) {
			close(group[j].fds[0]);
			close(group[GROUP_TASKS].fds[j]);
		}
	}
	for (size_t i = 0; i < *count; i++)
		if (read(job->ready[0], &ready, 1) != 1)
			return false;
	return true;
}

static int bench_sched_messaging_measure(const struct bench *bench, struct bench_sched_messaging *job)
{
	size_t count = job->groups * 2 * GROUP_TASKS, started = 0;
	struct bench_sched_task *tasks = calloc(count + 1, sizeof(*tasks));
	union bench_sched_id *ids = calloc(count + 1, sizeof(*ids));
	bool is_good = tasks && ids && pipe(job->ready) == 0 && pipe(job->start) == 0 &&
		       bench_sched_prepare(job, tasks, ids, &started);
	int errnum = errno;
	uint64_t start = clock_ns();
	bool has_begun = is_good && write(job->start[1], "", 1) == 1;
	if (!is_good) {
		if (ids)
			bench_sched_stop(job, ids, started);
		errno = errnum;
		/* Blocked threads cannot be ended individually, so the process exits with this message. */
		return bench_fail(bench, "cannot start the tasks (see ulimit -n and ulimit -u)");
	}
	for (size_t i = 0; i < started; i++)
		is_good = bench_sched_end(job, &ids[i]) && is_good;
	uint64_t ns = clock_ns() - start;
	free(tasks);
	free(ids);
	if (!has_begun || !is_good)
		return bench_fail(bench, "a task could not send or receive");
	const char *kind = job->threads ? "threads" : "processes";
	bench_say(bench, "# %d sender and receiver %s per group\n# %" PRIu64 " groups == %zu %s run\n\n", GROUP_TASKS,
		kind, job->groups, count, kind);
	bench_time(bench, &(struct bench_result){.ns = ns});
	return 0;
}

static int bench_sched_messaging_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_sched_messaging job = {.groups = 10, .loops = 100};
	int rest;
	int code = cli_parse_options(bench->cli, command, argc, argv, &job, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc || job.groups == 0 || job.groups > MAX_GROUPS || job.loops == 0)
		return cli_usagef(
			bench->cli, command, "group,nr_loops", "messaging needs 1 to %d groups and a loop", MAX_GROUPS);
	return bench_sched_messaging_measure(bench, &job);
}

/* ---- pipe: two tasks wake each other ---- */

struct bench_sched_pipe {
	uint64_t loops, bytes;
	bool nonblocking, threads;
};

#define ROW(field) .offset = offsetof(struct bench_sched_pipe, field)
static const struct option pipe_options[] = {
	{"loop", 'l', OPTION_U64, "n", ROW(loops), .help = "Specify number of loops"},
	{"nonblocking", 'n', OPTION_FLAG, ROW(nonblocking), .help = "Use non-blocking operations"},
	{"write-size", 's', OPTION_U64, "n", ROW(bytes),
		.help = "Bytes of each write (default 4). Larger ones use the allocation of pages for pipes"},
	{"threaded", 'T', OPTION_FLAG, ROW(threads), .help = "Threads instead of processes"},
	{"cgroups", 'G', OPTION_UNSUPPORTED, "SEND,RECV", .help = "Put sender and receivers in given cgroups"},
};
#undef ROW
static const struct option_table pipe_table = {pipe_options, ARRAY_LEN(pipe_options), false};

struct bench_sched_end {
	const struct bench_sched_pipe *job;
	int in, out;
	bool begins;
	char *room;
};

static bool bench_sched_move(const struct bench_sched_end *end, bool writes)
{
	size_t done = 0;
	struct pollfd waits = {writes ? end->out : end->in, writes ? POLLOUT : POLLIN, 0};
	while (done < end->job->bytes) {
		ssize_t n = writes ? write(end->out, end->room + done, end->job->bytes - done)
				   : read(end->in, end->room + done, end->job->bytes - done);
		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			(void)poll(&waits, 1, -1);
		else if (n == 0 || errno != EINTR)
			return false;
	}
	return true;
}

static bool bench_sched_bounce(const struct bench_sched_end *end)
{
	for (uint64_t i = 0; i < end->job->loops; i++)
		if (!bench_sched_move(end, end->begins) || !bench_sched_move(end, !end->begins))
			return false;
	return true;
}

static void *bench_sched_bounce_thread(void *data)
{
	return bench_sched_bounce(data) ? NULL : data;
}

static bool bench_sched_pair(const struct bench_sched_pipe *job, struct bench_sched_end ends[2])
{
	void *failed = NULL;
	int status = 0;
	pthread_t thread;
	if (job->threads) {
		errno = pthread_create(&thread, NULL, bench_sched_bounce_thread, &ends[1]);
		return errno == 0 && bench_sched_bounce(&ends[0]) && pthread_join(thread, &failed) == 0 && !failed;
	}
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(bench_sched_bounce(&ends[1]) ? 0 : 1);
	}
	return pid > 0 && bench_sched_bounce(&ends[0]) && waitpid(pid, &status, 0) == pid && status == 0;
}

static int bench_sched_pipe_run(const struct bench *bench, const struct command *command, int argc, char **argv)
{
	struct bench_sched_pipe job = {.loops = DEFAULT_PIPE_LOOPS, .bytes = sizeof(int)};
	int rest, there[2], back[2];
	int code = cli_parse_options(bench->cli, command, argc, argv, &job, &rest);
	if (code != CLI_GO_ON)
		return code;
	if (rest < argc || job.loops == 0 || job.bytes == 0 || job.bytes > MAX_WRITE)
		return cli_usagef(
			bench->cli, command, "loop,write-size", "pipe needs a loop, and 1 to %u bytes", MAX_WRITE);
	int flags = job.nonblocking ? O_NONBLOCK : 0;
	char *rooms = calloc(2, job.bytes);
	if (!rooms || pipe2(there, flags) != 0 || pipe2(back, flags) != 0)
		return bench_fail(bench, "cannot make pipes");
	struct bench_sched_end ends[] = {
		{&job, back[0], there[1], true, rooms}, {&job, there[0], back[1], false, rooms + job.bytes}};
	uint64_t start = clock_ns();
	bool is_good = bench_sched_pair(&job, ends);
	uint64_t ns = clock_ns() - start;
	free(rooms);
	if (!is_good)
		return bench_fail(bench, "a task could not read or write");
	bench_say(bench, "# Executed %" PRIu64 " pipe operations between two %s\n\n", job.loops,
		job.threads ? "threads" : "processes");
	bench_rate(bench, &(struct bench_result){.operations = job.loops, .ns = ns});
	for (size_t i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
	return 0;
}

static const struct benchmark sched_benchmarks[] = {
	{"messaging", "Benchmark for scheduling and IPC", &messaging_table, bench_sched_messaging_run},
	{"pipe", "Benchmark for pipe() between two processes", &pipe_table, bench_sched_pipe_run},
	{"seccomp-notify", "Benchmark for seccomp user notify", &bench_seccomp_table, bench_seccomp_run},
};
const struct bench_collection bench_sched = {"sched", "Scheduler and IPC benchmarks", "Run all scheduler benchmarks",
	sched_benchmarks, ARRAY_LEN(sched_benchmarks)};
