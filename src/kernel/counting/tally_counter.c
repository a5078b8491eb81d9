/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_counter.c - opens the public counter by a counter_set, with alternatives, options and targets, and controls it.
 */
#include "kernel/counting/tally_counter.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "kernel/recording/cgroups.h"
#include "kernel/system/kernel_files.h"

#define CONFIG1_USER_ACCESS UINT64_C(2) /* The rdpmc bit of armv8_pmuv3. */

struct tally_counter_opening {
	const struct kernel_seam *kernel;
	struct event_catalogue *catalogue;
	const struct tally_counter_options *options;
	struct target target;
	char *cgroup_path; /* NULL without a cgroup. */
	bool is_of_self; /* Each event has a single descriptor, which counts the calling thread only. */
	bool is_malformed; /* Whether the alternative tried last was malformed. */
};

/* Reports the first event that the machine does not support. */
static enum tally_status support_check(const struct counter_set *set, struct tally_error *err)
{
	for (size_t i = 0; i < set->len; i++) {
		const struct counter *counter = &set->counters[i];
		if (counter_is_supported(counter))
			continue;
		bool is_gone = counter->refused_errnum == ESRCH;
		enum tally_status status = error_set(err, is_gone ? TALLY_NOT_FOUND : TALLY_UNSUPPORTED,
			"cannot count '%s': %s", counter->spec->name, counter->reason);
		if (err)
			err->errnum = counter->refused_errnum;
		return status;
	}
	return TALLY_OK;
}

static enum tally_status tally_counter_options_check(const struct tally_counter_options *o, struct tally_error *err)
{
	if (o->pid < -1)
		return error_set(err, TALLY_INVALID, "pid is %d; the smallest valid value is -1", (int)o->pid);
	if (o->one_cpu < 0 || (o->one_cpu > 0 && !o->is_on_one_cpu))
		return error_set(
			err, TALLY_INVALID, "one_cpu is %d: it takes a CPU's number, with is_on_one_cpu", o->one_cpu);
	if (o->all_threads && o->pid < 0)
		return error_set(err, TALLY_INVALID, "all threads of a process are counted by its pid, but pid is -1");
	if (o->cgroup && o->pid != -1)
		return error_set(err, TALLY_INVALID, "a cgroup is counted by CPU: pid has to be -1");
	if (o->inherit_threads_only && !o->inherit)
		return error_set(err, TALLY_INVALID, "inherit_threads_only requires inherit");
	if (o->enable_on_exec && !o->starts_disabled)
		return error_set(err, TALLY_INVALID, "enable_on_exec requires starts_disabled");
	for (size_t i = 0; i < ARRAY_LEN(o->reserved); i++)
		if (o->reserved[i])
			return error_set(err, TALLY_INVALID, "reserved fields of the options are not 0");
	return TALLY_OK;
}

static enum tally_status target_make(struct tally_counter_opening *opening, struct tally_error *err)
{
	const struct tally_counter_options *o = opening->options;
	struct target *target = &opening->target;
	target->cpus = malloc(sizeof(*target->cpus));
	if (!target->cpus)
		return error_nomem(err);
	target->cpus[0] = o->is_on_one_cpu ? o->one_cpu : -1;
	target->cpu_count = 1;
	if (o->all_threads)
		return process_threads(
			opening->kernel, o->pid ? o->pid : getpid(), &target->threads, &target->thread_count, err);
	target->threads = malloc(sizeof(*target->threads));
	if (!target->threads)
		return error_nomem(err);
	target->threads[0] = o->pid;
	target->thread_count = 1;
	return o->pid == -1 ? target_spread_over_cpus(opening->kernel, target, err) : TALLY_OK;
}

static enum tally_status cgroup_find(struct tally_counter_opening *opening, struct tally_error *err)
{
	const char *name = opening->options->cgroup;
	char *mounts;
	if (!name)
		return TALLY_OK;
	enum tally_status status = kernel_text(opening->kernel, &mounts, err, "/proc/mounts");
	if (status != TALLY_OK)
		return status;
	struct tally_str root = cgroups_mount_point(str_from(mounts));
	struct text path = {0};
	if (name[0] == '/' && access(name, R_OK) == 0)
		text_str(&path, name);
	else
		text_printf(&path, "%s%.*s/%s", opening->kernel->root, (int)root.len, root.data ? root.data : "", name);
	text_char(&path, '\0');
	free(mounts);
	opening->cgroup_path = path.data;
	if (path.failed)
		return error_nomem(err);
	if (access(path.data, R_OK) != 0)
		return error_set(err, TALLY_NOT_FOUND, "no access to cgroup %s", path.data);
	return TALLY_OK;
}

static bool wants_user_access(const struct tally_counter_opening *opening, const struct event_spec *spec)
{
#if defined(__aarch64__)
	bool is_core = spec->attr.type == EVENT_HARDWARE || spec->attr.type == EVENT_HW_CACHE ||
		       spec->attr.type == EVENT_RAW || (spec->pmu && !spec->is_uncore && spec->cpus);
	return is_core && opening->is_of_self && !opening->options->never_user_reads && spec->attr.config1 == 0 &&
	       kernel_number(opening->kernel, 0, "/proc/sys/kernel/perf_user_access") == 1;
#else
	(void)opening;
	(void)spec;
	return false;
#endif
}

/* Applies the options to the events. Returns whether any event requests counter registers that the program may read. */
static bool events_adapt(struct tally_counter_opening *opening, struct event_list *events, bool may_ask_access)
{
	const struct tally_counter_options *o = opening->options;
	bool asks_access = false;
	for (size_t i = 0; i < events->len; i++) {
		struct event_spec *spec = &events->specs[i];
		bool leads = spec->leader == i;
		spec->attr.flags |= o->is_pinned && leads ? ATTR_FLAG(ATTR_BIT_PINNED) : 0;
		spec->attr.flags |= o->is_exclusive && leads ? ATTR_FLAG(ATTR_BIT_EXCLUSIVE) : 0;
		spec->attr.flags |= o->inherit_threads_only ? ATTR_FLAG(ATTR_BIT_INHERIT_THREAD) : 0;
		spec->attr.flags |= o->remove_on_exec ? ATTR_FLAG(ATTR_BIT_REMOVE_ON_EXEC) : 0;
		if (may_ask_access && wants_user_access(opening, spec)) {
			spec->attr.config1 |= CONFIG1_USER_ACCESS;
			asks_access = true;
		}
		if (opening->cgroup_path) {
			spec->cgroup = opening->options->cgroup;
			spec->cgroup_path = opening->cgroup_path;
		}
	}
	return asks_access;
}

static enum tally_status events_parse(
	struct tally_counter_opening *opening, const char *text, struct event_list *events, struct tally_error *err)
{
	enum tally_status status = event_parse(opening->catalogue, text, events, err);
	opening->is_malformed = status == TALLY_INVALID;
	for (size_t i = 0; i < events->len && status == TALLY_OK; i++) {
		/* Only tally stat shares counters; a private one counts the same. */
		events->specs[i].is_shared = false;
		if (events->specs[i].tool != TOOL_NONE)
			status = error_set(err, TALLY_UNSUPPORTED, "'%s' is a time of tally stat, not an event", text);
	}
	return status;
}

/* Opens the events of the text into the counter. On entry, *asks_access says whether to request counter registers that
 * the program may read; on return, whether an event did. */
static enum tally_status tally_counter_set_open(struct tally_counter_opening *opening, const char *text,
	bool *asks_access, struct tally_counter *counter, struct tally_error *err)
{
	const struct tally_counter_options *o = opening->options;
	struct counter_options how = {
		.inherit = o->inherit,
		.enable_on_exec = o->enable_on_exec,
		.starts_enabled = !o->starts_disabled,
		.must_fit = true,
	};
	struct event_list events = {0};
	enum tally_status status = events_parse(opening, text, &events, err);
	*asks_access = events_adapt(opening, &events, *asks_access);
	/* The set keeps pointers into this list, so the counter owns it from here on. */
	counter->events = events;
	if (status == TALLY_OK)
		status =
			counter_set_open(opening->kernel, &counter->events, &opening->target, &how, &counter->set, err);
	if (status == TALLY_OK)
		status = support_check(counter->set, err);
	if (status == TALLY_OK)
		status = tally_counter_prepare(counter, opening->is_of_self && !o->never_user_reads, err);
	if (status == TALLY_OK)
		return TALLY_OK;
	tally_counter_unprepare(counter);
	counter_set_close(counter->set);
	counter->set = NULL;
	event_list_deinit(&counter->events);
	return status;
}

static enum tally_status alternative_open(
	struct tally_counter_opening *opening, const char *text, struct tally_counter *counter, struct tally_error *err)
{
	bool asks_access = true;
	enum tally_status status = tally_counter_set_open(opening, text, &asks_access, counter, err);
	if (status == TALLY_UNSUPPORTED && asks_access) {
		asks_access = false;
		status = tally_counter_set_open(opening, text, &asks_access, counter, err);
	}
	if (status == TALLY_OK && !(counter->label = strdup(text)))
		return error_nomem(err);
	return status;
}

/* Opens the first alternative that works. *first is the error of the first alternative, or that of a malformed one. */
static enum tally_status alternatives_open(
	struct tally_counter_opening *opening, char *text, struct tally_counter *counter, struct tally_error *first)
{
	char *rest = text, *alternative;
	bool is_first = true;
	while ((alternative = strsep(&rest, "|"))) {
		struct tally_error why = {.offset = TALLY_NO_OFFSET};
		enum tally_status status = alternative_open(opening, alternative, counter, &why);
		if (status == TALLY_OK) {
			if (!is_first && !(counter->fallback_reason = strdup(first->text)))
				return error_nomem(first);
			return TALLY_OK;
		}
		if (is_first || opening->is_malformed)
			*first = why;
		if (opening->is_malformed) {
			if (first->offset != TALLY_NO_OFFSET)
				first->offset += (uint64_t)(alternative - text);
			return status;
		}
		is_first = false;
	}
	return first->status;
}

static bool has_groups(const struct event_list *events)
{
	for (size_t i = 0; i < events->len; i++)
		if (events->specs[i].member_count > 1)
			return true;
	return false;
}

static enum tally_status tally_counter_open_all(
	struct tally_counter_opening *opening, char *text, struct tally_counter *counter, struct tally_error *why)
{
	const struct tally_counter_options *o = opening->options;
	opening->is_of_self = o->pid == 0 && !o->is_on_one_cpu && !o->all_threads && !o->inherit;
	enum tally_status status = tally_counter_options_check(o, why);
	if (status == TALLY_OK)
		status = target_make(opening, why);
	if (status == TALLY_OK)
		status = cgroup_find(opening, why);
	if (status == TALLY_OK)
		status = event_catalogue_create(opening->kernel, &opening->catalogue, why);
	if (status == TALLY_OK)
		status = alternatives_open(opening, text, counter, why);
	/* A single event counts from its opening on; a group is enabled once it is complete. */
	if (status == TALLY_OK && !o->starts_disabled && has_groups(&counter->events))
		counter_set_enable(counter->set);
	event_catalogue_destroy(opening->catalogue);
	target_deinit(&opening->target);
	free(opening->cgroup_path);
	return status;
}

struct tally_counter *tally_counter_open_on(const struct kernel_seam *kernel, const char *events,
	const struct tally_counter_options *options, struct tally_error *err)
{
	static const struct tally_counter_options usual = {0};
	struct tally_error why = {.offset = TALLY_NO_OFFSET};
	struct tally_counter_opening opening = {.kernel = kernel, .options = options ? options : &usual};
	struct tally_counter *counter = calloc(1, sizeof(*counter));
	char *text = strdup(events);
	enum tally_status status = counter && text ? TALLY_OK : error_nomem(&why);
	if (status == TALLY_OK) {
		counter->kernel = kernel;
		counter->is_inherited = opening.options->inherit;
		status = tally_counter_open_all(&opening, text, counter, &why);
	}
	free(text);
	if (status == TALLY_OK)
		return counter;
	tally_counter_close(counter);
	if (err)
		*err = why;
	return NULL;
}

struct tally_counter *tally_counter_open(
	const char *events, const struct tally_counter_options *options, struct tally_error *err)
{
	return tally_counter_open_on(kernel_seam_linux(), events, options, err);
}

void tally_counter_close(struct tally_counter *counter)
{
	if (!counter)
		return;
	tally_counter_unprepare(counter);
	counter_set_close(counter->set);
	event_list_deinit(&counter->events);
	free(counter->label);
	free(counter->fallback_reason);
	free(counter);
}

const char *tally_counter_label(const struct tally_counter *counter)
{
	return counter ? counter->label : "nothing";
}

const char *tally_counter_fallback_reason(const struct tally_counter *counter)
{
	return counter ? counter->fallback_reason : NULL;
}

size_t tally_counter_len(const struct tally_counter *counter)
{
	return counter ? counter->set->len : 0;
}

size_t tally_counter_part_count(const struct tally_counter *counter)
{
	return counter ? counter->first_cell[counter->set->len] : 0;
}

int tally_counter_fd(const struct tally_counter *counter, size_t event)
{
	if (!counter || event >= counter->set->len)
		return -1;
	const struct counter *of = &counter->set->counters[event];
	for (size_t cell = 0; cell < of->cpu_count * of->thread_count; cell++)
		if (of->fds[cell] >= 0)
			return of->fds[cell];
	return -1;
}

void tally_counter_enable(struct tally_counter *counter)
{
	if (counter)
		counter_set_enable(counter->set);
}

void tally_counter_disable(struct tally_counter *counter)
{
	if (counter)
		counter_set_disable(counter->set);
}

void tally_counter_reset(struct tally_counter *counter)
{
	if (counter && counter->is_inherited)
		tally_counter_set_base(counter);
	else if (counter)
		counter_set_reset(counter->set);
}
