/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/thread_labels.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/control.h"
#include "base/error.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "tasks/fleet/cgroup_labels.h"

#define PROCESSES_REMEMBERED 8192
#define PROC_FILE_BYTES	     (64u << 10)
#define START_TIME_FIELD     20 /* Index of the start time among the fields of /proc/PID/stat after the name. */
#define SET_LABELS	     6

struct known_process {
	uint64_t start_time;
	/* Number of the window (the interval of one batch) in which the start time was last read, which is expensive:
	 * the kernel visits all threads of the process. */
	uint64_t window;
	uint32_t path; /* ID of the cgroup path in paths; INTERN_NONE if it is not known. */
};

struct thread_labels {
	const char *root;
	bool has_service;
	struct map_u64 by_pid; /* Maps a PID to an index in processes. */
	VEC(struct known_process) processes;
	struct intern paths;
	uint64_t window; /* Number of the current window. */
	/* The following members are about the current window. */
	struct arena arena;
	struct intern keys; /* Keys of the label sets; the set of a key has index ID + 1. */
	VEC(struct fleet_labels) sets;
};

enum tally_status thread_labels_create(
	const char *root, bool has_service, struct thread_labels **out, struct tally_error *err)
{
	struct thread_labels *labels = calloc(1, sizeof(*labels));
	if (!labels)
		return error_nomem(err);
	labels->root = root;
	labels->has_service = has_service;
	arena_init(&labels->arena);
	intern_init(&labels->paths);
	intern_init(&labels->keys);
	*out = labels;
	return TALLY_OK;
}

void thread_labels_destroy(struct thread_labels *labels)
{
	if (!labels)
		return;
	map_u64_deinit(&labels->by_pid);
	vec_free(&labels->processes);
	intern_deinit(&labels->paths);
	intern_deinit(&labels->keys);
	arena_deinit(&labels->arena);
	vec_free(&labels->sets);
	free(labels);
}

/* ---- Cgroups of processes ---- */

static bool thread_labels_read(
	const struct thread_labels *labels, int32_t pid, const char *name, char **text, size_t *len)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/proc/%d/%s", labels->root, pid, name);
	return file_read(path, PROC_FILE_BYTES, text, len, NULL) == TALLY_OK;
}

/* Returns the start time in clock ticks since boot, or 0 if the process does not exist. Names may contain blanks and
 * parentheses. */
static uint64_t read_start_time(const struct thread_labels *labels, int32_t pid)
{
	char *text;
	size_t len;
	uint64_t value = 0;
	if (!thread_labels_read(labels, pid, "stat", &text, &len))
		return 0;
	const char *end = len ? memrchr(text, ')', len) : NULL;
	struct tally_str rest = {end, end ? len - (size_t)(end - text) : 0}, word;
	for (unsigned i = 0; i <= START_TIME_FIELD && str_next(&rest, ' ', &word); i++)
		if (i == START_TIME_FIELD && !str_to_u64(word, 10, &value))
			value = 0;
	free(text);
	return value;
}

static bool read_cgroup(struct thread_labels *labels, int32_t pid, uint32_t *path)
{
	char *text;
	size_t len;
	struct tally_str chosen;
	bool ok = true;
	*path = INTERN_NONE;
	if (!thread_labels_read(labels, pid, "cgroup", &text, &len))
		return true;
	if (cgroup_path_choose((struct tally_str){text, len}, &chosen))
		ok = intern_add(&labels->paths, chosen.data, chosen.len, path);
	free(text);
	return ok;
}

static void forget_processes(struct thread_labels *labels)
{
	map_u64_deinit(&labels->by_pid);
	labels->processes.len = 0;
	intern_deinit(&labels->paths);
	intern_init(&labels->paths);
}

/* Finds the cgroup path of a process by its PID, in the cache or in /proc. *path is empty if it is not known, and valid
 * until the next call. Returns false if memory runs out. */
static bool find_process(struct thread_labels *labels, int32_t pid, struct tally_str *path)
{
	uint64_t index = 0;
	bool is_known = map_u64_find(&labels->by_pid, (uint32_t)pid, &index);
	struct known_process *known = is_known ? &labels->processes.items[index] : NULL;
	struct known_process fresh = {.window = labels->window};
	*path = (struct tally_str){"", 0};
	if (!known || known->window != labels->window)
		fresh.start_time = pid > 0 ? read_start_time(labels, pid) : 0;
	else
		fresh.start_time = known->start_time;
	if (fresh.start_time == 0)
		return true;
	if (known && known->start_time == fresh.start_time) {
		known->window = labels->window;
		*path = intern_get(&labels->paths, known->path);
		return true;
	}
	if (!is_known && labels->processes.len >= PROCESSES_REMEMBERED)
		forget_processes(labels);
	if (!read_cgroup(labels, pid, &fresh.path))
		return false;
	if (known)
		*known = fresh;
	else if (!vec_push(&labels->processes, fresh) ||
		 !map_u64_set(&labels->by_pid, (uint32_t)pid, labels->processes.len - 1))
		return false;
	*path = intern_get(&labels->paths, fresh.path);
	return true;
}

/* ---- Label sets ---- */

struct tally_str thread_labels_value(struct arena *arena, struct tally_str text)
{
	struct text visible = {0};
	struct tally_str value = {NULL, 0};
	if (control_span(text.data, text.len) < text.len)
		text_visible(&visible, text);
	else
		text_bytes(&visible, text.data, text.len);
	size_t len = visible.len > LABEL_VALUE_BYTES ? LABEL_VALUE_BYTES : visible.len;
	while (len < visible.len && len > 0 && ((unsigned char)visible.data[len] & 0xc0) == 0x80)
		len--; /* The cut must not split a UTF-8 character. */
	if (!visible.failed)
		value = (struct tally_str){arena_string(arena, visible.data ? visible.data : "", len), len};
	text_deinit(&visible);
	return value;
}

static bool thread_labels_put(struct thread_labels *labels, struct fleet_label *items, size_t *count,
	struct tally_str name, struct tally_str text)
{
	if (text.len == 0)
		return true;
	items[*count] = (struct fleet_label){name, thread_labels_value(&labels->arena, text)};
	return items[(*count)++].value.data != NULL;
}

static enum tally_status add_set(
	struct thread_labels *labels, struct tally_str path, struct tally_str process, struct tally_error *err)
{
	struct fleet_label *items = arena_array(&labels->arena, struct fleet_label, SET_LABELS);
	struct cgroup_labels of_cgroup;
	struct fleet_labels set;
	size_t count = 0;
	if (!items)
		return error_nomem(err);
	cgroup_labels_parse(path, &of_cgroup);
	struct tally_str service = cgroup_labels_service(&of_cgroup);
	if (labels->has_service)
		service.len = 0;
	else if (service.len == 0)
		service = process;
	bool ok = thread_labels_put(labels, items, &count, STR("cgroup"), path) &&
		  thread_labels_put(labels, items, &count, STR("unit"), of_cgroup.unit) &&
		  thread_labels_put(labels, items, &count, STR("container"), of_cgroup.container) &&
		  thread_labels_put(labels, items, &count, STR("pod"), of_cgroup.pod) &&
		  thread_labels_put(labels, items, &count, STR("process"), process) &&
		  thread_labels_put(labels, items, &count, STR("service"), service);
	enum tally_status status = ok ? fleet_labels_make(items, count, &set, err) : error_nomem(err);
	return status != TALLY_OK || vec_push(&labels->sets, set) ? status : error_nomem(err);
}

static enum tally_status find_set(struct thread_labels *labels, struct tally_str path, struct tally_str process,
	uint32_t *set, struct tally_error *err)
{
	struct text key = {0};
	uint32_t id = 0;
	text_bytes(&key, path.data, path.len);
	text_char(&key, '\0'); /* Neither part contains a NUL byte. */
	text_bytes(&key, process.data, process.len);
	bool ok = !key.failed && intern_add(&labels->keys, key.data, key.len, &id);
	text_deinit(&key);
	if (!ok)
		return error_nomem(err);
	*set = id + 1;
	return *set < labels->sets.len ? TALLY_OK : add_set(labels, path, process, err);
}

static bool is_telling(struct tally_str path)
{
	return path.len > 1 && path.data[0] == '/';
}

/* Returns for each thread the cgroup of its sample with the highest count, as a string of the profile, or
 * PROFILE_NONE. Returns NULL if memory runs out. */
static uint32_t *find_cgroups(struct thread_labels *labels, const struct profile *p)
{
	uint32_t *cgroups = arena_array(&labels->arena, uint32_t, p->thread_count + 1);
	uint64_t *counts = arena_array(&labels->arena, uint64_t, p->thread_count + 1);
	if (!cgroups || !counts)
		return NULL;
	for (size_t i = 0; i < p->thread_count; i++)
		cgroups[i] = PROFILE_NONE;
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		const struct profile_value *value = profile_facet(p, sample->facets, FACET_CGROUP);
		if (!value || value->text == PROFILE_NONE || counts[sample->thread] >= sample->count)
			continue;
		counts[sample->thread] = sample->count;
		cgroups[sample->thread] = value->text;
	}
	return cgroups;
}

static enum tally_status label_thread(struct thread_labels *labels, const struct profile *p, uint32_t cgroup,
	struct profile_thread *thread, struct tally_error *err)
{
	struct tally_str path = cgroup == PROFILE_NONE ? STR("") : profile_string(p, cgroup), of_process;
	struct tally_str process = profile_string(p, thread->process_comm);
	if (!is_telling(path)) {
		if (!find_process(labels, thread->pid, &of_process))
			return error_nomem(err);
		if (of_process.len || path.len == 0 || path.data[0] != '/') /* The text may be "N/A" or "unknown". */
			path = of_process;
	}
	if (process.len == 0)
		process = profile_string(p, thread->comm);
	if (process.len == 0 || process.data[0] == ':') /* Threads without a known name are named by their number. */
		process = STR("[unknown]");
	return find_set(labels, path, process, &thread->label_set, err);
}

enum tally_status thread_labels_apply(
	struct thread_labels *labels, struct profile *p, struct thread_label_sets *sets, struct tally_error *err)
{
	arena_deinit(&labels->arena);
	arena_init(&labels->arena);
	intern_deinit(&labels->keys);
	intern_init(&labels->keys);
	labels->sets.len = 0;
	labels->window++;
	uint32_t *cgroups = find_cgroups(labels, p);
	uint32_t *of_thread = arena_array(&labels->arena, uint32_t, p->thread_count + 1);
	if (!cgroups || !of_thread || !vec_push(&labels->sets, ((struct fleet_labels){0})))
		return error_nomem(err);
	for (size_t i = 0; i < p->thread_count; i++) {
		enum tally_status status = label_thread(labels, p, cgroups[i], &p->threads[i], err);
		if (status != TALLY_OK)
			return status;
		of_thread[i] = p->threads[i].label_set;
	}
	*sets = (struct thread_label_sets){labels->sets.items, labels->sets.len, of_thread};
	return TALLY_OK;
}
