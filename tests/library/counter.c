/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.c - checks of tally/counter.h and tally/region.h on the running kernel, with events that count exactly
 * what the program does (counted.h).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tally/fd.h>
#include <tally/region.h>
#include <unistd.h>

#include "counted.h"

static struct tally_error err;

static struct tally_counter *open_or_skip(const char *events, const struct tally_counter_options *options)
{
	struct tally_counter *counter = tally_counter_open(events, options, &err);
	if (!counter && (err.status == TALLY_UNSUPPORTED || err.status == TALLY_DENIED))
		SKIP("%s", err.text);
	if (!counter)
		FAIL("%s", err.text);
	return counter;
}

static struct tally_counter_options defaults(void)
{
	struct tally_counter_options options;
	tally_counter_options_init(&options);
	return options;
}

static void *writing_thread(void *times)
{
	write_cell((int)(intptr_t)times);
	return NULL;
}

static void write_in_thread(int times)
{
	pthread_t thread;
	EXPECT(pthread_create(&thread, NULL, writing_thread, (void *)(intptr_t)times) == 0);
	pthread_join(thread, NULL);
}

static void write_in_child(int times)
{
	pid_t child = fork();
	if (child == 0) {
		write_cell(times);
		_exit(0);
	}
	EXPECT(waitpid(child, NULL, 0) == child);
}

CHECK_BOTH(opens_in_one_call_and_reads_in_the_second)
{
	struct tally_counter *counter = open_or_skip(name_of_writes(&cell), NULL);
	write_cell(5);
	EXPECT_EQ(tally_counter_value(counter), 5);
	EXPECT(strncmp(tally_counter_label(counter), is_by_tracepoints ? "syscalls:" : "mem:", 4) == 0);
	EXPECT(tally_counter_fallback_reason(counter) == NULL);
	tally_counter_close(counter);
	EXPECT_EQ(tally_counter_value(NULL), 0);
}

CHECK_BOTH(counts_a_group_while_enabled)
{
	struct tally_counter_options options = defaults();
	struct tally_count counts[2];
	char group[160];
	options.starts_disabled = true;
	snprintf(group, sizeof(group), "{%s,%s}", name_of_writes(&cell), name_of_writes(&other));
	struct tally_counter *counter = open_or_skip(group, &options);
	write_cell(3);
	tally_counter_enable(counter);
	write_cell(4);
	write_other();
	tally_counter_disable(counter);
	write_cell(3);
	EXPECT_EQ(tally_counter_len(counter), 2);
	EXPECT(tally_counter_read(counter, counts, 1, &err) == TALLY_INVALID);
	EXPECT_OK(tally_counter_read(counter, counts, 2, &err));
	EXPECT_EQ(counts[0].value, 4);
	EXPECT_EQ(counts[1].value, 1);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(counts[i].state, TALLY_COUNT_EXACT);
		EXPECT_EQ(counts[i].raw_value, counts[i].value);
		EXPECT(counts[i].enabled_ns > 0 && counts[i].enabled_ns == counts[i].running_ns);
		EXPECT(!tally_counter_is_user_read(counter, (size_t)i));
	}
	tally_counter_reset(counter);
	EXPECT_EQ(tally_counter_value(counter), 0);
	uint64_t id = 0;
	EXPECT_OK(tally_fd_id(tally_counter_fd(counter, 1), &id, &err));
	EXPECT(id != 0 && tally_counter_fd(counter, 2) == -1);
	tally_counter_close(counter);
}

CHECK(alternatives_say_why)
{
	struct tally_counter *counter = open_or_skip("nosuch:event|page-faults:u", NULL);
	EXPECT(strcmp(tally_counter_label(counter), "page-faults:u") == 0);
	EXPECT(tally_counter_fallback_reason(counter) != NULL);
	EXPECT(tally_counter_open("no-such-event", NULL, &err) == NULL);
	EXPECT_EQ(err.status, TALLY_NOT_FOUND);
	EXPECT(tally_counter_open("{page-faults:u|page-faults:u", NULL, &err) == NULL);
	EXPECT_EQ(err.status, TALLY_INVALID);
}

CHECK(contradictions_are_refused)
{
	struct tally_counter_options options = defaults();
	options.inherit_threads_only = true;
	EXPECT(!tally_counter_open("page-faults", &options, &err) && err.status == TALLY_INVALID);
	options = defaults();
	options.enable_on_exec = true;
	EXPECT(!tally_counter_open("page-faults", &options, &err) && err.status == TALLY_INVALID);
	options = defaults();
	options.cgroup = "x";
	EXPECT(!tally_counter_open("page-faults", &options, &err) && err.status == TALLY_INVALID);
	options = defaults();
	options.pid = -1;
	options.all_threads = true;
	EXPECT(!tally_counter_open("page-faults", &options, &err) && err.status == TALLY_INVALID);
	options = defaults();
	options.reserved[0] = 1;
	EXPECT(!tally_counter_open("page-faults", &options, &err) && err.status == TALLY_INVALID);
	options = defaults();
	options.pid = 0x3ffffff;
	EXPECT(!tally_counter_open("page-faults:u", &options, &err) && err.status == TALLY_NOT_FOUND);
}

CHECK_BOTH(threads_and_children_inherit_and_add_up)
{
	struct tally_counter_options options = defaults();
	struct tally_counter *own = open_or_skip(name_of_writes(&cell), NULL);
	options.inherit = true;
	struct tally_counter *all = open_or_skip(name_of_writes(&cell), &options);
	options.inherit_threads_only = true;
	struct tally_counter *threads = open_or_skip(name_of_writes(&cell), &options);
	write_cell(1);
	write_in_thread(20);
	write_in_thread(30);
	write_in_child(400);
	EXPECT_EQ(tally_counter_value(own), 1);
	EXPECT_EQ(tally_counter_value(all), 451);
	EXPECT_EQ(tally_counter_value(threads), 51);
}

static void run_a_writing_child(int times)
{
	pid_t child = fork();
	if (child == 0) {
		write_cell(times);
		_exit(0);
	}
	EXPECT(waitpid(child, NULL, 0) == child);
}

CHECK_BOTH(a_reset_leaves_out_ended_children)
{
	struct tally_counter_options options = {.inherit = true, .starts_disabled = true};
	struct tally_counter *counter = open_or_skip(name_of_writes(&cell), &options);
	for (int run = 1; run <= 4; run++) {
		tally_counter_reset(counter);
		EXPECT_EQ(tally_counter_value(counter), 0);
		tally_counter_enable(counter);
		run_a_writing_child(10 * run);
		write_cell(1);
		tally_counter_disable(counter);
		EXPECT_EQ(tally_counter_value(counter), 10 * run + 1);
	}
	tally_counter_close(counter);
	/* A group is read in a different format. */
	char group[160];
	struct tally_count counts[2];
	snprintf(group, sizeof(group), "{%s,%s}", name_of_writes(&cell), name_of_writes(&other));
	counter = open_or_skip(group, &options);
	for (int run = 0; run < 3; run++) {
		tally_counter_enable(counter);
		run_a_writing_child(5);
		tally_counter_disable(counter);
		EXPECT_OK(tally_counter_read(counter, counts, 2, &err));
		EXPECT_EQ(counts[0].value, 5);
		EXPECT_EQ(counts[1].value, 0);
		tally_counter_reset(counter);
	}
	tally_counter_close(counter);
}

CHECK(zeros_mean_any_cpu)
{
	struct tally_counter_options options = {.inherit = true};
	struct tally_counter_part part;
	struct tally_counter *counter = open_or_skip("page-faults:u", &options);
	EXPECT_OK(tally_counter_read_parts(counter, &part, 1, &err));
	EXPECT_EQ(part.cpu, -1);
	tally_counter_close(counter);
	options.one_cpu = 1;
	EXPECT(!tally_counter_open("page-faults:u", &options, &err) && err.status == TALLY_INVALID);
}

CHECK_BOTH(an_inherited_group_is_read_whole)
{
	struct tally_counter_options options = defaults();
	struct tally_count counts[2];
	char group[160];
	options.inherit = true;
	snprintf(group, sizeof(group), "{%s,%s}", name_of_writes(&cell), name_of_writes(&other));
	struct tally_counter *counter = open_or_skip(group, &options);
	write_in_thread(7);
	write_in_child(9);
	EXPECT_OK(tally_counter_read(counter, counts, 2, &err));
	EXPECT_EQ(counts[0].value, 16);
	EXPECT_EQ(counts[1].value, 0);
}

/* A thread that stays alive, and writes on request. */
struct worker {
	pthread_t thread;
	pthread_barrier_t ready, go, done;
	int times;
	pid_t tid;
};

static void *work(void *context)
{
	struct worker *worker = context;
	worker->tid = gettid();
	pthread_barrier_wait(&worker->ready);
	pthread_barrier_wait(&worker->go);
	write_cell(worker->times);
	pthread_barrier_wait(&worker->done);
	pthread_barrier_wait(&worker->go);
	return NULL;
}

CHECK_BOTH(all_threads_are_counted_each)
{
	struct tally_counter_options options = defaults();
	struct worker workers[3];
	struct tally_counter_part parts[4];
	for (int i = 0; i < 3; i++) {
		workers[i].times = 10 * (i + 1);
		pthread_barrier_init(&workers[i].ready, NULL, 2);
		pthread_barrier_init(&workers[i].go, NULL, 2);
		pthread_barrier_init(&workers[i].done, NULL, 2);
		EXPECT(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
		pthread_barrier_wait(&workers[i].ready);
	}
	options.all_threads = true;
	struct tally_counter *counter = open_or_skip(name_of_writes(&cell), &options);
	for (int i = 0; i < 3; i++) {
		pthread_barrier_wait(&workers[i].go);
		pthread_barrier_wait(&workers[i].done);
	}
	write_cell(4);
	EXPECT_EQ(tally_counter_part_count(counter), 4);
	EXPECT(tally_counter_read_parts(counter, parts, 3, &err) == TALLY_INVALID);
	EXPECT_OK(tally_counter_read_parts(counter, parts, 4, &err));
	for (int k = 0; k < 4; k++) {
		uint64_t wanted = 4;
		for (int i = 0; i < 3; i++)
			wanted = parts[k].thread == workers[i].tid ? (uint64_t)workers[i].times : wanted;
		EXPECT_EQ(parts[k].count.value, wanted);
		EXPECT_EQ(parts[k].event, 0);
		EXPECT(parts[k].cpu == -1 && parts[k].fd >= 0);
	}
	EXPECT_EQ(tally_counter_value(counter), 64);
}

/* Starts a child that waits for a byte and then execs a program that ends at once, to be measured meanwhile. */
static pid_t start_child(int *go)
{
	int pipes[2];
	EXPECT(pipe(pipes) == 0);
	pid_t child = fork();
	if (child == 0) {
		char byte;
		volatile char *memory = malloc(1 << 20);
		if (read(pipes[0], &byte, 1) != 1)
			_exit(1);
		for (int i = 0; i < 1 << 20; i += 4096)
			memory[i] = 1;
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	close(pipes[0]);
	*go = pipes[1];
	return child;
}

CHECK(begins_or_ends_at_exec)
{
	struct tally_counter_options options = defaults();
	struct tally_counter *counters[3];
	int go;
	options.pid = start_child(&go);
	counters[0] = open_or_skip("page-faults:u", &options);
	options.remove_on_exec = true;
	counters[1] = open_or_skip("page-faults:u", &options);
	options.remove_on_exec = false;
	options.starts_disabled = true;
	options.enable_on_exec = true;
	counters[2] = open_or_skip("page-faults:u", &options);
	EXPECT(write(go, "x", 1) == 1);
	EXPECT(waitpid(options.pid, NULL, 0) == options.pid);
	uint64_t all = tally_counter_value(counters[0]), before = tally_counter_value(counters[1]);
	uint64_t after = tally_counter_value(counters[2]);
	EXPECT(before >= 200 && after > 0);
	EXPECT(before + after <= all); /* Writes during execve may be in neither count. */
}

CHECK_BOTH(regions_nest)
{
	char group[160];
	struct tally_mark outer, inner;
	uint64_t values[2];
	snprintf(group, sizeof(group), "{%s,%s}", name_of_writes(&cell), name_of_writes(&other));
	struct tally_counter *counter = open_or_skip(group, NULL);
	write_cell(3);
	EXPECT(tally_region_begin(counter, &outer) == TALLY_OK);
	write_cell(2);
	EXPECT(tally_region_begin(counter, &inner) == TALLY_OK);
	write_cell(7);
	write_other();
	EXPECT(tally_region_end(counter, &inner, values, 2) == TALLY_OK);
	EXPECT_EQ(values[0], 7);
	EXPECT_EQ(values[1], 1);
	write_cell(1);
	EXPECT(tally_region_end(counter, &outer, values, 2) == TALLY_OK);
	EXPECT_EQ(values[0], 10);
	EXPECT_EQ(values[1], 1);
	EXPECT(tally_region_end(counter, &outer, values, 1) == TALLY_INVALID);
	struct tally_counter_options options = defaults();
	options.pid = -1;
	struct tally_counter *everywhere = tally_counter_open("page-faults", &options, &err);
	if (everywhere && tally_counter_part_count(everywhere) > 1)
		EXPECT(tally_region_begin(everywhere, &outer) == TALLY_INVALID);
}

CHECK_BOTH(a_counter_may_be_closed_in_a_child)
{
	struct tally_counter *counter = open_or_skip(name_of_writes(&cell), NULL);
	pid_t child = fork();
	int status;
	if (child == 0) {
		tally_counter_close(counter);
		_exit(0);
	}
	EXPECT(waitpid(child, &status, 0) == child && status == 0);
	write_cell(3);
	EXPECT_EQ(tally_counter_value(counter), 3);
}

CHECK(every_cpu_is_counted)
{
	struct tally_counter_options options = defaults();
	struct tally_count count;
	options.pid = -1;
	struct tally_counter *counter = open_or_skip("context-switches", &options);
	EXPECT_EQ(tally_counter_part_count(counter), sysconf(_SC_NPROCESSORS_ONLN));
	for (int i = 0; i < 20; i++)
		usleep(1000);
	EXPECT_OK(tally_counter_read(counter, &count, 1, &err));
	EXPECT(count.value >= 20);
	EXPECT_EQ(count.state, TALLY_COUNT_EXACT);
}

static void remove_cgroup(const char *path)
{
	EXPECT(rmdir(path) == 0);
}

CHECK(a_cgroup_is_counted_alone)
{
	struct tally_counter_options options = defaults();
	static const char *const roots[] = {"/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	char path[96], procs[128];
	size_t root = 0;
	do {
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", roots[root]);
		snprintf(path, sizeof(path), "%s/tally-library-test", roots[root]);
	} while (access(procs, W_OK) != 0 && ++root < 3);
	if (root == 3 || mkdir(path, 0755) != 0)
		SKIP("cannot make a cgroup");
	options.pid = -1;
	options.cgroup = "tally-library-test";
	struct tally_counter *counter = tally_counter_open("page-faults:u", &options, &err);
	if (!counter) {
		remove_cgroup(path);
		SKIP("%s", err.text);
	}
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	pid_t child = fork();
	if (child == 0) {
		int fd = open(procs, O_WRONLY);
		if (fd < 0 || write(fd, "0", 1) != 1)
			_exit(1);
		volatile char *memory =
			mmap(NULL, 4096 * 100, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise((void *)memory, 4096 * 100, MADV_NOHUGEPAGE);
		for (int i = 0; i < 100; i++)
			memory[i * 4096] = 1;
		_exit(0);
	}
	int status;
	EXPECT(waitpid(child, &status, 0) == child);
	remove_cgroup(path);
	EXPECT_EQ(status, 0);
	uint64_t faults = tally_counter_value(counter);
	EXPECT(faults >= 100 && faults < 200);
	tally_counter_close(counter);
	options.cgroup = "no/such/group";
	EXPECT(!tally_counter_open("page-faults:u", &options, &err) && err.status == TALLY_NOT_FOUND);
}

static size_t open_files(void)
{
	size_t count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

CHECK(the_limit_of_files_is_raised)
{
	struct rlimit limit = {40, 4096};
	char events[1200] = "cs";
	for (int i = 1; i < 200; i++)
		strcat(events, ",cs");
	EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	struct tally_counter *counter = open_or_skip(events, NULL);
	EXPECT_EQ(tally_counter_part_count(counter), 200);
	EXPECT(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= 200);
}

CHECK(what_does_not_fit_is_said_before)
{
	struct rlimit limit = {40, 40};
	char events[1200] = "cs";
	for (int i = 1; i < 200; i++)
		strcat(events, ",cs");
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || (geteuid() == 0 && setresuid(1, 1, 1) != 0))
		SKIP("cannot lower the limit");
	size_t before = open_files();
	EXPECT(tally_counter_open(events, NULL, &err) == NULL);
	EXPECT_EQ(err.status, TALLY_LIMIT);
	EXPECT(strstr(err.text, "the limit is 40"));
	EXPECT_EQ(open_files(), before);
}

int main(int argc, char **argv)
{
	return checks_main(argc, argv);
}
