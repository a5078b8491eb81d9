/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/json.h"
#include "base/order.h"
#include "kernel/system/spawn.h"
#include "syscalls/syscall_print.h"

#define TRACE_SUMMARY_NAME_WIDTH 15
#define TRACE_SUMMARY_SCHEMA	 1
#define PERCENT_DECIMALS	 4

struct trace_summary_owner { /* A thread, a cgroup, or everything together. */
	uint64_t id;
	const struct trace_thread *thread; /* NULL if the owner is no thread. */
	uint64_t events;
	size_t order;
};

struct trace_summary {
	struct trace_job *job;
	VEC(struct trace_summary_owner) owners;
	VEC(const struct trace_sum *) rows; /* Sorted by owner, then by time. */
	VEC(struct trace_sum_error) errors; /* Sorted by row of the sums, then by number of calls. */
};

static int compare_rows(const void *a, const void *b)
{
	const struct trace_sum *left = *(const struct trace_sum *const *)a,
			       *right = *(const struct trace_sum *const *)b;
	if (left->key.owner != right->key.owner)
		return left->key.owner < right->key.owner ? -1 : 1;
	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	if (left->key.abi != right->key.abi)
		return left->key.abi < right->key.abi ? -1 : 1;
	return COMPARE(left->key.number, right->key.number);
}

static int compare_errors(const void *a, const void *b)
{
	const struct trace_sum_error *left = a, *right = b;
	if (left->sum != right->sum)
		return left->sum < right->sum ? -1 : 1;
	if (left->calls != right->calls)
		return left->calls > right->calls ? -1 : 1;
	return COMPARE(left->error, right->error);
}

/* The owner with the most events comes last, as in perf. */
static int compare_owners(const void *a, const void *b)
{
	const struct trace_summary_owner *left = a, *right = b;
	if (left->events != right->events)
		return left->events < right->events ? -1 : 1;
	return COMPARE(left->order, right->order);
}

static void print_ms(struct text *t, bool is_known, double ns, size_t width)
{
	text_char(t, ' ');
	if (is_known)
		text_fixed_right(t, ns / 1e6, 3, width);
	else
		text_str_right(t, STR("-"), width);
}

static void print_row(struct text *t, const struct trace_sum *sum)
{
	text_str(t, "   ");
	size_t start = t->len;
	syscall_print_name(t, sum->key.abi, sum->key.number);
	text_align_from(t, start, -TRACE_SUMMARY_NAME_WIDTH);
	text_printf(t, " %8" PRIu64 " %6" PRIu64, sum->calls, sum->errors);
	uint64_t timed = sum->calls - sum->untimed;
	print_ms(t, timed > 0, (double)sum->total_ns, 9);
	print_ms(t, timed > 0, (double)sum->least_ns, 9);
	print_ms(t, timed > 0, timed ? (double)sum->total_ns / (double)timed : 0, 9);
	print_ms(t, timed > 0, (double)sum->most_ns, 9);
	text_char(t, ' ');
	text_fixed_right(t, trace_sum_deviation(sum), 2, 9);
	text_str(t, "%\n");
}

static void print_errors(const struct trace_summary *y, const struct trace_sum *sum)
{
	const struct trace_sums *sums = &y->job->sums;
	uint32_t index = (uint32_t)(sum - sums->sums.items);
	size_t first;
	LOWER_BOUND(first, y->errors.len, i, y->errors.items[i].sum < index);
	for (size_t i = first; i < y->errors.len && y->errors.items[i].sum == index; i++) {
		const struct trace_sum_error *e = &y->errors.items[i];
		const char *name = syscall_error_name(e->error);
		if (name)
			text_printf(&y->job->out, "\t\t\t\t%s: %" PRIu64 "\n", name, e->calls);
		else
			text_printf(&y->job->out, "\t\t\t\terror %" PRIu32 ": %" PRIu64 "\n", e->error, e->calls);
	}
}

/* Prints the rows of an owner, which are adjacent. */
static void print_rows(const struct trace_summary *y, uint64_t owner)
{
	const struct trace_settings *s = y->job->settings;
	size_t first;
	LOWER_BOUND(first, y->rows.len, i, y->rows.items[i]->key.owner < owner);
	for (size_t i = first; i < y->rows.len && i - first < s->most_rows; i++) {
		const struct trace_sum *sum = y->rows.items[i];
		if (sum->key.owner != owner)
			break;
		if (i == first)
			text_str(&y->job->out,
				"\n   syscall            calls  errors  total       min       avg       max       stddev\n"
				"                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
				"   --------------- --------  ------ -------- --------- --------- ---------     ------\n");
		print_row(&y->job->out, sum);
		if (s->with_errors)
			print_errors(y, sum);
	}
}

static void trace_summary_print_counts(struct text *t, uint64_t major, uint64_t minor)
{
	if (major)
		text_printf(t, ", %" PRIu64 " majfaults", major);
	if (minor)
		text_printf(t, ", %" PRIu64 " minfaults", minor);
}

static void print_owner(const struct trace_summary *y, const struct trace_summary_owner *owner)
{
	struct trace_job *job = y->job;
	struct text *t = &job->out;
	const struct trace_thread *thread = owner->thread;
	char room[TRACE_COMM_BYTES];
	struct tally_str path;
	text_char(t, ' ');
	if (thread) {
		text_visible(t, trace_thread_name(thread, room));
		double share = job->records ? 100 * (double)owner->events / (double)job->records : 0;
		text_printf(t, " (%" PRId32 "), %" PRIu64 " events, ", thread->tid, owner->events);
		text_fixed(t, share, 1);
		text_char(t, '%');
		trace_summary_print_counts(t, thread->major_faults, thread->minor_faults);
		if (job->settings->with_runtime) {
			text_str(t, ", ");
			text_fixed(t, (double)thread->runtime_ns / 1e6, 3);
			text_str(t, " msec");
		}
	} else {
		text_str(t, "cgroup ");
		if (cgroup_names_find(&job->cgroups, owner->id, &path))
			text_visible(t, path);
		else
			text_printf(t, "cgroup:%" PRIu64, owner->id);
		text_printf(t, ", %" PRIu64 " events", owner->events);
	}
	text_char(t, '\n');
	print_rows(y, owner->id);
	text_str(t, "\n\n");
}

static void print_total(const struct trace_summary *y)
{
	uint64_t major = 0, minor = 0;
	struct trace_job *job = y->job;
	for (size_t i = 0; i < job->threads.items.len; i++) {
		major += job->threads.items.items[i]->major_faults;
		minor += job->threads.items.items[i]->minor_faults;
	}
	text_printf(&job->out, " total, %" PRIu64 " events", job->records);
	trace_summary_print_counts(&job->out, major, minor);
	text_char(&job->out, '\n');
	print_rows(y, 0);
	text_str(&job->out, "\n\n");
}

/* ---- as JSON ---- */

static void trace_summary_put_errors(const struct trace_summary *y, const struct trace_sum *sum, struct json *j)
{
	uint32_t index = (uint32_t)(sum - y->job->sums.sums.items);
	size_t first;
	LOWER_BOUND(first, y->errors.len, i, y->errors.items[i].sum < index);
	json_array(j, "by_error");
	for (size_t i = first; i < y->errors.len && y->errors.items[i].sum == index; i++) {
		const char *name = syscall_error_name(y->errors.items[i].error);
		json_object(j, NULL);
		json_u64(j, "errno", y->errors.items[i].error);
		if (name)
			json_string(j, "name", str_from(name));
		json_u64(j, "calls", y->errors.items[i].calls);
		json_object_end(j);
	}
	json_array_end(j);
}

static void trace_summary_put_row(const struct trace_summary *y, const struct trace_sum *sum, struct json *j)
{
	struct text name = {0};
	syscall_print_name(&name, sum->key.abi, sum->key.number);
	json_object(j, NULL);
	json_string(j, "syscall", text_view(&name));
	json_u64(j, "calls", sum->calls);
	json_u64(j, "errors", sum->errors);
	json_u64(j, "total_ns", sum->total_ns);
	uint64_t timed = sum->calls - sum->untimed;
	if (sum->untimed > 0)
		json_u64(j, "untimed_calls", sum->untimed);
	json_u64(j, "min_ns", timed ? sum->least_ns : 0);
	json_u64(j, "avg_ns", timed ? sum->total_ns / timed : 0);
	json_u64(j, "max_ns", sum->most_ns);
	json_fixed(j, "error_percent", trace_sum_deviation(sum), PERCENT_DECIMALS);
	if (y->job->settings->with_errors)
		trace_summary_put_errors(y, sum, j);
	json_object_end(j);
	j->out->failed |= name.failed;
	text_deinit(&name);
}

static void trace_summary_put_rows(const struct trace_summary *y, uint64_t owner, struct json *j)
{
	size_t first;
	LOWER_BOUND(first, y->rows.len, i, y->rows.items[i]->key.owner < owner);
	json_array(j, "syscalls");
	for (size_t i = first; i < y->rows.len && i - first < y->job->settings->most_rows; i++)
		if (y->rows.items[i]->key.owner == owner)
			trace_summary_put_row(y, y->rows.items[i], j);
		else
			break;
	json_array_end(j);
}

static void trace_summary_put_owner(
	const struct trace_summary *y, const struct trace_summary_owner *owner, struct json *j)
{
	const struct trace_thread *thread = owner->thread;
	char room[TRACE_COMM_BYTES];
	struct tally_str path;
	json_object(j, NULL);
	if (thread) {
		json_string(j, "comm", trace_thread_name(thread, room));
		json_i64(j, "tid", thread->tid);
		json_u64(j, "major_faults", thread->major_faults);
		json_u64(j, "minor_faults", thread->minor_faults);
		if (y->job->settings->with_runtime)
			json_u64(j, "runtime_ns", thread->runtime_ns);
	} else {
		json_u64(j, "cgroup_id", owner->id);
		if (cgroup_names_find(&y->job->cgroups, owner->id, &path))
			json_string(j, "cgroup", path);
	}
	json_u64(j, "events", owner->events);
	trace_summary_put_rows(y, owner->id, j);
	json_object_end(j);
}

/* Prints one object: of all threads together, or of each thread or cgroup. */
static void trace_summary_put(const struct trace_summary *y)
{
	struct json j = {.out = &y->job->out};
	enum trace_summary_mode mode = y->job->settings->summary_mode;
	json_object(&j, NULL);
	json_u64(&j, "schema", TRACE_SUMMARY_SCHEMA);
	json_u64(&j, "events", y->job->records);
	if (y->job->has_command_status) {
		json_i64(&j, "exit_status", spawn_exit_code(y->job->command_status));
		if (WIFSIGNALED(y->job->command_status))
			json_i64(&j, "signal", WTERMSIG(y->job->command_status));
	}
	if (mode == TRACE_BY_TOTAL) {
		trace_summary_put_rows(y, 0, &j);
	} else {
		json_array(&j, mode == TRACE_BY_CGROUP ? "cgroups" : "threads");
		for (size_t i = 0; i < y->owners.len; i++)
			trace_summary_put_owner(y, &y->owners.items[i], &j);
		json_array_end(&j);
	}
	json_object_end(&j);
}

/* Lists the cgroups that rows name. */
static bool list_cgroups(struct trace_summary *y)
{
	for (size_t i = 0; i < y->rows.len; i++) {
		const struct trace_sum *sum = y->rows.items[i];
		struct trace_summary_owner owner = {.id = sum->key.owner, .order = y->owners.len};
		struct trace_summary_owner *last = y->owners.len ? &y->owners.items[y->owners.len - 1] : NULL;
		if ((!last || last->id != owner.id) && !vec_push(&y->owners, owner))
			return false;
		y->owners.items[y->owners.len - 1].events += 2 * sum->calls - sum->untimed;
	}
	return true;
}

static bool list_threads(struct trace_summary *y)
{
	const struct trace_threads *threads = &y->job->threads;
	for (size_t i = 0; i < threads->items.len; i++) {
		const struct trace_thread *thread = threads->items.items[i];
		struct trace_summary_owner owner = {
			.id = (uint64_t)(uintptr_t)thread, .thread = thread, .events = thread->events, .order = i};
		if (thread->events > 0 && !vec_push(&y->owners, owner))
			return false;
	}
	return true;
}

static bool trace_summary_sort(struct trace_summary *y)
{
	const struct trace_sums *sums = &y->job->sums;
	enum trace_summary_mode mode = y->job->settings->summary_mode;
	for (size_t i = 0; i < sums->sums.len; i++)
		if (!vec_push(&y->rows, &sums->sums.items[i]))
			return false;
	for (size_t i = 0; i < sums->errors.len; i++)
		if (!vec_push(&y->errors, sums->errors.items[i]))
			return false;
	if (y->rows.len > 1)
		qsort(y->rows.items, y->rows.len, sizeof(*y->rows.items), compare_rows);
	if (y->errors.len > 1)
		qsort(y->errors.items, y->errors.len, sizeof(*y->errors.items), compare_errors);
	if (mode == TRACE_BY_TOTAL)
		return true;
	if (!(mode == TRACE_BY_CGROUP ? list_cgroups(y) : list_threads(y)))
		return false;
	if (y->owners.len > 1)
		qsort(y->owners.items, y->owners.len, sizeof(*y->owners.items), compare_owners);
	return true;
}

bool trace_summary_print(struct trace_job *job)
{
	struct trace_summary summary = {.job = job};
	bool is_done = trace_summary_sort(&summary);
	if (job->settings->is_json) {
		if (is_done)
			trace_summary_put(&summary);
	} else {
		text_str(&job->out, "\n Summary of events:\n\n");
	}
	bool is_text = is_done && !job->settings->is_json;
	if (is_text && job->settings->summary_mode == TRACE_BY_TOTAL)
		print_total(&summary);
	for (size_t i = 0; is_text && i < summary.owners.len; i++)
		print_owner(&summary, &summary.owners.items[i]);
	vec_free(&summary.owners);
	vec_free(&summary.rows);
	vec_free(&summary.errors);
	return is_done && !job->out.failed;
}
