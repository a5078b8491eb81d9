/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/counting/task_usage.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/order.h"
#include "kernel/system/kernel_files.h"

#define TASK_USAGE_NS_PER_S    1000000000u
#define TASK_USAGE_TICKS_USUAL 100
#define DESCENDANTS_MAX	       4096 /* Maximum number of processes of a command that one reading inspects. */

/* Index of the first field of /proc/PID/stat in use (minflt), counted from the state behind the name (proc(5)). */
#define STAT_FIRST 7
enum {
	STAT_MINOR,
	STAT_CHILD_MINOR,
	STAT_MAJOR,
	STAT_CHILD_MAJOR,
	STAT_USER,
	STAT_SYSTEM,
	STAT_CHILD_USER,
	STAT_CHILD_SYSTEM,
	STAT_FIELDS
};

struct usage_stat {
	bool is_zombie;
	uint64_t fields[STAT_FIELDS];
};

struct usage_look {
	struct usage_watch *watch;
	struct task_usage *usage;
	uint64_t tick_ns;
	VEC(pid_t) processes;
	VEC(struct usage_task) alive;
	bool has_failed; /* Memory or descriptors ran out, so a missing task has not necessarily ended. */
};

/* The name may contain any character, so parsing starts after the last parenthesis. */
static bool usage_stat_parse(const char *text, struct usage_stat *stat)
{
	const char *at = strrchr(text, ')');
	struct tally_str rest = str_trim(str_from(at ? at + 1 : "")), word;
	for (unsigned field = 0; str_next(&rest, ' ', &word); field++) {
		if (field == 0)
			stat->is_zombie = word.len == 1 && word.data[0] == 'Z';
		if (field < STAT_FIRST)
			continue;
		unsigned n = field - STAT_FIRST;
		if (!str_to_u64(word, 10, &stat->fields[n]))
			return false;
		if (n == STAT_FIELDS - 1)
			return true;
	}
	return false;
}

static bool usage_stat_read(const struct kernel_seam *kernel, pid_t process, bool is_thread, struct usage_stat *stat)
{
	char *text;
	enum tally_status status =
		is_thread ? kernel_text(kernel, &text, NULL, "/proc/%d/task/%d/stat", (int)process, (int)process)
			  : kernel_text(kernel, &text, NULL, "/proc/%d/stat", (int)process);
	if (status != TALLY_OK)
		return false;
	bool is_known = usage_stat_parse(text, stat);
	free(text);
	return is_known;
}

/* Parses the number after the colon of a line; `line` is a newline and the start of the line's name. */
static bool usage_line_number(const char *text, const char *line, uint64_t *value)
{
	const char *at = strstr(text, line);
	at = at ? strchr(at, ':') : NULL;
	struct tally_str rest = str_from(at ? at + 1 : ""), number;
	return str_next(&rest, '\n', &number) && str_to_u64(str_trim(number), 10, value);
}

/* CPU time of a thread in nanoseconds; false if the kernel lacks CONFIG_SCHED_INFO. */
static bool usage_schedstat_read(const struct kernel_seam *kernel, pid_t thread, uint64_t *ns)
{
	char *text;
	struct tally_str rest, word;
	if (kernel_text(kernel, &text, NULL, "/proc/%d/task/%d/schedstat", (int)thread, (int)thread) != TALLY_OK)
		return false;
	rest = str_from(text);
	bool is_known = str_next(&rest, ' ', &word) && str_to_u64(word, 10, ns);
	free(text);
	return is_known;
}

/* The CPU clock of a process includes its ended threads. With another root, PIDs are not those of this system. */
static bool usage_process_clock(const struct kernel_seam *kernel, pid_t process, uint64_t *ns)
{
	clockid_t clock;
	struct timespec time;
	if (kernel->root[0] || clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
		return false;
	*ns = (uint64_t)time.tv_sec * TASK_USAGE_NS_PER_S + (uint64_t)time.tv_nsec;
	return true;
}

static void usage_add(uint64_t *sum, uint64_t value, uint64_t scale)
{
	uint64_t product;
	if (!__builtin_mul_overflow(value, scale, &product) && product <= UINT64_MAX - *sum)
		*sum += product;
}

static void usage_stat_add(struct usage_look *look, const struct usage_stat *stat, bool with_children)
{
	uint64_t *values = look->usage->values;
	usage_add(&values[USAGE_USER], stat->fields[STAT_USER], look->tick_ns);
	usage_add(&values[USAGE_SYSTEM], stat->fields[STAT_SYSTEM], look->tick_ns);
	usage_add(&values[USAGE_MINOR_FAULTS], stat->fields[STAT_MINOR], 1);
	usage_add(&values[USAGE_MAJOR_FAULTS], stat->fields[STAT_MAJOR], 1);
	if (!with_children)
		return;
	usage_add(&values[USAGE_USER], stat->fields[STAT_CHILD_USER], look->tick_ns);
	usage_add(&values[USAGE_SYSTEM], stat->fields[STAT_CHILD_SYSTEM], look->tick_ns);
	usage_add(&values[USAGE_CPU], stat->fields[STAT_CHILD_USER], look->tick_ns);
	usage_add(&values[USAGE_CPU], stat->fields[STAT_CHILD_SYSTEM], look->tick_ns);
	usage_add(&values[USAGE_MINOR_FAULTS], stat->fields[STAT_CHILD_MINOR], 1);
	usage_add(&values[USAGE_MAJOR_FAULTS], stat->fields[STAT_CHILD_MAJOR], 1);
}

static void usage_cpu_add(struct usage_look *look, pid_t process, const struct usage_stat *stat)
{
	const struct usage_watch *watch = look->watch;
	uint64_t *cpu = &look->usage->values[USAGE_CPU], ns;
	bool is_known = watch->scope == USAGE_OF_THREAD ? usage_schedstat_read(watch->kernel, process, &ns)
							: usage_process_clock(watch->kernel, process, &ns);
	if (is_known) {
		usage_add(cpu, ns, 1);
		return;
	}
	usage_add(cpu, stat->fields[STAT_USER], look->tick_ns);
	usage_add(cpu, stat->fields[STAT_SYSTEM], look->tick_ns);
}

/* Reads a file of a thread for a count of that kind. True with NULL: the thread exists, but the file may not be read,
 * and the count is marked unknown. False: the thread has ended or reading failed. */
static bool usage_file_read(struct usage_look *look, pid_t thread, const char *name, enum usage_kind kind, char **text)
{
	enum tally_status status = kernel_text(look->watch->kernel, text, NULL, "/proc/%d/%s", (int)thread, name);
	if (status == TALLY_OK)
		return true;
	*text = NULL;
	if (status == TALLY_DENIED)
		look->usage->known &= ~USAGE_BIT(kind);
	else if (status != TALLY_NOT_FOUND)
		look->has_failed = true;
	return status == TALLY_DENIED;
}

/* Reads the number of context switches. A kernel whose status file lacks their lines does not count them. */
static bool usage_switches_read(struct usage_look *look, pid_t thread, uint64_t *switches)
{
	uint64_t voluntary = 0, other = 0;
	char *text;
	if (!usage_file_read(look, thread, "status", USAGE_SWITCHES, &text))
		return false;
	if (text && (!usage_line_number(text, "\nvoluntary_ctxt_switches", &voluntary) ||
			    !usage_line_number(text, "\nnonvoluntary_ctxt_switches", &other)))
		look->usage->known &= ~USAGE_BIT(USAGE_SWITCHES);
	free(text);
	usage_add(&voluntary, other, 1);
	*switches = voluntary;
	return true;
}

static bool usage_migrations_read(struct usage_look *look, pid_t thread, uint64_t *migrations)
{
	char *text;
	if (!usage_file_read(look, thread, "sched", USAGE_MIGRATIONS, &text))
		return false;
	if (text && !usage_line_number(text, "\nse.nr_migrations", migrations))
		look->usage->known &= ~USAGE_BIT(USAGE_MIGRATIONS);
	free(text);
	return true;
}

static void usage_thread_look(struct usage_look *look, pid_t thread)
{
	struct usage_task task = {.id = thread};
	unsigned wanted = look->watch->wanted;
	if (wanted & USAGE_BIT(USAGE_SWITCHES) && !usage_switches_read(look, thread, &task.switches))
		return;
	if (wanted & USAGE_BIT(USAGE_MIGRATIONS) && !usage_migrations_read(look, thread, &task.migrations))
		return;
	look->has_failed |= !vec_push(&look->alive, task);
}

static void usage_children_add(struct usage_look *look, pid_t process, const char *thread)
{
	char *text;
	uint64_t pid;
	if (kernel_text(look->watch->kernel, &text, NULL, "/proc/%d/task/%s/children", (int)process, thread) !=
		TALLY_OK)
		return; /* The kernel may lack CONFIG_PROC_CHILDREN. */
	struct tally_str rest = str_from(text), word;
	while (str_next(&rest, ' ', &word))
		if (look->processes.len < DESCENDANTS_MAX && str_to_u64(word, 10, &pid) && pid <= INT32_MAX)
			(void)vec_push(&look->processes, (pid_t)pid);
	free(text);
}

/* Looks at each thread, because children, switches and migrations are available per thread only. */
static void usage_threads_look(struct usage_look *look, pid_t process)
{
	const struct usage_watch *watch = look->watch;
	bool wants_tasks = watch->wanted & (USAGE_BIT(USAGE_SWITCHES) | USAGE_BIT(USAGE_MIGRATIONS));
	struct name_list threads = {0};
	if (watch->scope == USAGE_OF_THREAD) {
		if (wants_tasks)
			usage_thread_look(look, process);
		return;
	}
	if (!wants_tasks && watch->scope == USAGE_OF_PROCESS)
		return;
	enum tally_status status = kernel_names(watch->kernel, &threads, NULL, "/proc/%d/task", (int)process);
	look->has_failed |= status != TALLY_OK && status != TALLY_NOT_FOUND;
	if (status != TALLY_OK)
		return;
	for (size_t i = 0; i < threads.len; i++) {
		uint64_t id;
		if (watch->scope == USAGE_OF_COMMAND)
			usage_children_add(look, process, threads.items[i]);
		if (wants_tasks && str_to_u64(str_from(threads.items[i]), 10, &id) && id <= INT32_MAX)
			usage_thread_look(look, (pid_t)id);
	}
	name_list_deinit(&threads);
}

static int usage_task_compare(const void *a, const void *b)
{
	return COMPARE(((const struct usage_task *)a)->id, ((const struct usage_task *)b)->id);
}

/* Counts of tasks that have ended since the last look are retained. Lower counts than before mean that a new task
 * reuses the ID. */
static void usage_tasks_keep(struct usage_look *look)
{
	struct usage_watch *watch = look->watch;
	size_t k = 0;
	if (look->alive.len > 1)
		qsort(look->alive.items, look->alive.len, sizeof(*look->alive.items), usage_task_compare);
	for (size_t i = 0; i < watch->alive.len; i++) {
		const struct usage_task *before = &watch->alive.items[i];
		while (k < look->alive.len && look->alive.items[k].id < before->id)
			k++;
		const struct usage_task *now = k < look->alive.len ? &look->alive.items[k] : NULL;
		if (!now || now->id != before->id || now->switches < before->switches ||
			now->migrations < before->migrations) {
			watch->ended_switches += before->switches;
			watch->ended_migrations += before->migrations;
		}
	}
	vec_free(&watch->alive);
	watch->alive.items = look->alive.items;
	watch->alive.len = look->alive.len;
	watch->alive.cap = look->alive.cap;
	look->usage->values[USAGE_SWITCHES] = watch->ended_switches;
	look->usage->values[USAGE_MIGRATIONS] = watch->ended_migrations;
	for (size_t i = 0; i < watch->alive.len; i++) {
		usage_add(&look->usage->values[USAGE_SWITCHES], watch->alive.items[i].switches, 1);
		usage_add(&look->usage->values[USAGE_MIGRATIONS], watch->alive.items[i].migrations, 1);
	}
}

/* Whether an unreaped command never had another process or thread: each process has page faults, and the process clock
 * includes all threads. */
static bool usage_was_alone(const struct usage_watch *watch, const struct usage_stat *stat)
{
	uint64_t all, own;
	return stat->fields[STAT_CHILD_MINOR] + stat->fields[STAT_CHILD_MAJOR] == 0 &&
	       usage_process_clock(watch->kernel, watch->task, &all) &&
	       usage_schedstat_read(watch->kernel, watch->task, &own) && all == own;
}

bool usage_watch_look(struct usage_watch *watch, struct task_usage *usage)
{
	long ticks = sysconf(_SC_CLK_TCK);
	struct usage_look look = {.watch = watch,
		.usage = usage,
		.tick_ns = TASK_USAGE_NS_PER_S / (uint64_t)(ticks > 0 ? ticks : TASK_USAGE_TICKS_USUAL)};
	bool is_known = false;
	*usage = (struct task_usage){.known = USAGE_BIT(USAGE_KINDS) - 1};
	if (!vec_push(&look.processes, watch->task))
		return false;
	for (size_t i = 0; i < look.processes.len; i++) {
		pid_t process = look.processes.items[i];
		struct usage_stat stat = {0};
		/* Children are listed before the parent's sums are read, so that a child reaped in between is in these
		 * sums. */
		usage_threads_look(&look, process);
		if (!usage_stat_read(watch->kernel, process, watch->scope == USAGE_OF_THREAD, &stat))
			continue;
		is_known |= i == 0;
		usage_stat_add(&look, &stat, watch->scope == USAGE_OF_COMMAND);
		usage_cpu_add(&look, process, &stat);
		if (i == 0 && watch->scope == USAGE_OF_COMMAND && stat.is_zombie && !usage_was_alone(watch, &stat))
			usage->known &= ~USAGE_BIT(USAGE_MIGRATIONS);
	}
	vec_free(&look.processes);
	if (look.has_failed) {
		vec_free(&look.alive);
		return false;
	}
	usage_tasks_keep(&look);
	return is_known;
}

void usage_watch_deinit(struct usage_watch *watch)
{
	vec_free(&watch->alive);
}

static uint64_t usage_timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * TASK_USAGE_NS_PER_S + (uint64_t)time.tv_usec * 1000u;
}

struct task_usage task_usage_of_end(const struct rusage *usage)
{
	struct task_usage made = {.known = (USAGE_BIT(USAGE_KINDS) - 1) & ~USAGE_BIT(USAGE_MIGRATIONS)};
	made.values[USAGE_USER] = usage_timeval_ns(usage->ru_utime);
	made.values[USAGE_SYSTEM] = usage_timeval_ns(usage->ru_stime);
	made.values[USAGE_CPU] = made.values[USAGE_USER] + made.values[USAGE_SYSTEM];
	made.values[USAGE_MINOR_FAULTS] = (uint64_t)usage->ru_minflt;
	made.values[USAGE_MAJOR_FAULTS] = (uint64_t)usage->ru_majflt;
	made.values[USAGE_SWITCHES] = (uint64_t)usage->ru_nvcsw + (uint64_t)usage->ru_nivcsw;
	return made;
}
