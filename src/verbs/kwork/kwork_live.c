/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/kwork/kwork_live.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "bpf/bpf_kernel_work.h"
#include "tasks/recording/command_watch.h"
#include "tasks/session/cpu_filter.h"

#define KWORK_LIVE_LOOK_MS 100
#define KALLSYMS_BYTES	   ((size_t)256 << 20)

/* ---- sums ---- */

static struct work_times kwork_live_times(const struct work_map_times *times)
{
	return (struct work_times){.count = times->count,
		.total_ns = times->total_ns,
		.max_ns = times->max_ns,
		.max_from_ns = times->max_from_ns,
		.max_to_ns = times->max_to_ns};
}

static bool kwork_live_take_work(void *context, const struct work_map_key *key, const struct work_map_sum *sum)
{
	struct kwork_job *job = context;
	size_t len = strnlen(sum->name, sizeof(sum->name));
	if (key->kind >= WORK_KINDS)
		return true;
	struct work_row *row = kernel_work_row(&job->work, (enum work_kind)key->kind, key->id, key->cpu);
	if (!row || (len > 0 && !intern_add(&job->work.names, sum->name, len, &row->name)))
		return false;
	row->function = sum->function;
	row->run = kwork_live_times(&sum->run);
	row->delay = kwork_live_times(&sum->delay);
	row->first_ns = sum->first_ns;
	row->last_ns = sum->last_ns;
	row->unmatched_runs[WORK_ENTERS] = sum->unmatched_entries + (sum->entered_ns > 0);
	row->unmatched_runs[WORK_EXITS] = sum->unmatched_exits;
	row->unmatched_delays[WORK_ENTERS] = sum->unraised;
	job->work.events += 2 * sum->run.count + sum->delay.count + sum->unmatched_exits;
	job->work.events += row->unmatched_runs[WORK_ENTERS];
	return true;
}

static bool kwork_live_take_raise(void *context, const struct work_map_key *key)
{
	struct kwork_job *job = context;
	job->work.events++;
	if (key->kind == WORK_SOFTIRQ) {
		struct work_row *row = kernel_work_row(&job->work, WORK_SOFTIRQ, key->id, key->cpu);
		if (row)
			row->unmatched_delays[WORK_IS_RAISED]++;
		return row != NULL;
	}
	job->work.unmatched_items++;
	return true;
}

static bool kwork_live_take_cpu(void *context, uint32_t cpu, const struct work_map_cpu *sum)
{
	struct kwork_job *job = context;
	struct cpu_use *use = cpu < LIMIT_CPUS ? cpu_usage_cpu(&job->usage, cpu) : NULL;
	if (!use)
		return cpu >= LIMIT_CPUS;
	*use = (struct cpu_use){.total_ns = sum->total_ns,
		.idle_ns = sum->idle_ns,
		.interrupt_ns = sum->interrupt_ns,
		.softirq_ns = sum->softirq_ns};
	return true;
}

static bool kwork_live_take_task(
	void *context, const struct work_map_task *task, const struct work_map_runtime *runtime)
{
	struct kwork_job *job = context;
	const uint64_t key = (uint32_t)task->tid;
	if (task->cpu >= LIMIT_CPUS || !cpu_usage_cpu(&job->usage, task->cpu))
		return task->cpu >= LIMIT_CPUS;
	if (!cpu_usage_add_task(&job->usage, task->cpu, task->tid, runtime->ns))
		return false;
	struct task_use *use = &job->usage.tasks.items[id_table_find(&job->usage.task_ids, &key)];
	return intern_add(&job->work.names, runtime->comm, strnlen(runtime->comm, sizeof(runtime->comm)), &use->name);
}

/* ---- names ---- */

static int kwork_live_compare_functions(const void *left, const void *right)
{
	const struct work_row *a = *(struct work_row *const *)left, *b = *(struct work_row *const *)right;
	return a->function < b->function ? -1 : a->function > b->function;
}

/* Parses a line such as "ffffffff81000000 T name [module]", and sets the name of the rows of the function at that
 * address. */
static bool kwork_live_name_line(struct kwork_job *job, struct work_row **rows, size_t count, struct tally_str line)
{
	struct tally_str address, kind, name;
	uint64_t value;
	size_t low = 0, high = count;
	if (!str_next(&line, ' ', &address) || !str_next(&line, ' ', &kind) || !str_next(&line, '\t', &name) ||
		name.len == 0 || !str_to_u64(address, 16, &value))
		return true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (rows[middle]->function < value)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && rows[low]->function == value; low++)
		if (rows[low]->name == INTERN_NONE &&
			!intern_add(&job->work.names, name.data, name.len, &rows[low]->name))
			return false;
	return true;
}

/* Names the functions of work items by the running kernel's symbols. A work item's function is the start of a
 * symbol. */
static enum tally_status kwork_live_name_functions(struct kwork_job *job, struct tally_error *err)
{
	struct kernel_work *work = &job->work;
	struct work_row **rows = calloc(work->rows.len + 1, sizeof(struct work_row *));
	size_t count = 0, len;
	char *text;
	if (!rows)
		return error_nomem(err);
	for (size_t i = 0; i < work->rows.len; i++)
		if (work->rows.items[i].kind == WORK_QUEUE && work->rows.items[i].function)
			rows[count++] = &work->rows.items[i];
	/* If the list cannot be read, rows show addresses. */
	if (count == 0 || file_read("/proc/kallsyms", KALLSYMS_BYTES, &text, &len, NULL) != TALLY_OK) {
		free((void *)rows);
		return TALLY_OK;
	}
	qsort((void *)rows, count, sizeof(struct work_row *), kwork_live_compare_functions);
	struct tally_str rest = {text, len}, line;
	bool is_done = true;
	while (is_done && str_next(&rest, '\n', &line))
		is_done = kwork_live_name_line(job, rows, count, line);
	free(text);
	free((void *)rows);
	return is_done ? TALLY_OK : error_nomem(err);
}

/* ---- measuring ---- */

static enum tally_status kwork_live_open(
	const struct kwork_job *job, bool of_tasks, struct bpf_kernel_work **work, struct tally_error *err)
{
	bool *cpus = NULL;
	struct bpf_kernel_work_config config = {.of_irqs = job->kinds[WORK_IRQ],
		.of_softirqs = job->kinds[WORK_SOFTIRQ],
		.of_items = job->kinds[WORK_QUEUE],
		.of_tasks = of_tasks};
	enum tally_status status = job->settings->cpus ? cpu_filter_parse(job->settings->cpus, &cpus, err) : TALLY_OK;
	_Static_assert(LIMIT_CPUS >= WORK_MAP_CPUS, "a list of CPUs has room for those of the map");
	config.cpus = cpus;
	if (status == TALLY_OK)
		status = bpf_kernel_work_create(kernel_seam_linux(), &config, work, err);
	free(cpus);
	return status;
}

static enum tally_status kwork_live_read(
	struct kwork_job *job, const struct bpf_kernel_work *work, struct tally_error *err)
{
	const struct bpf_kernel_work_sink sink = {.context = job,
		.take_work = kwork_live_take_work,
		.take_raise = kwork_live_take_raise,
		.take_cpu = kwork_live_take_cpu,
		.take_task = kwork_live_take_task};
	struct work_map_losses losses;
	enum tally_status status = bpf_kernel_work_read(work, &sink, &losses, err);
	if (status != TALLY_OK)
		return status;
	job->source.pass.sideband.health.lost_events = losses.without_raise + losses.without_sum + losses.without_task;
	return kwork_live_name_functions(job, err);
}

enum tally_status kwork_live_measure(struct kwork_job *job, bool of_tasks, char **argv, struct tally_error *err)
{
	/* The whole machine is measured while the command runs. */
	const struct target_request request = {.system_wide = true, .has_command = argv[0] != NULL};
	struct command_watch watch;
	struct bpf_kernel_work *work = NULL;
	kernel_work_init(&job->work);
	cpu_usage_init(&job->usage);
	enum tally_status status = command_watch_open(&watch, kernel_seam_linux(), &request, argv, err);
	if (status == TALLY_OK)
		status = kwork_live_open(job, of_tasks, &work, err);
	if (status == TALLY_OK) {
		if (!argv[0])
			cli_failf(job->cli, "note: measuring until Ctrl-C");
		bpf_kernel_work_start(work);
		status = command_watch_start(&watch, err);
	}
	while (status == TALLY_OK && !watch.is_over)
		status = command_watch_wait(&watch, KWORK_LIVE_LOOK_MS, err);
	if (work)
		bpf_kernel_work_stop(work);
	if (status == TALLY_OK)
		status = kwork_live_read(job, work, err);
	bpf_kernel_work_destroy(work);
	job->exit_code = command_watch_exit_code(&watch);
	command_watch_close(&watch);
	return status;
}
