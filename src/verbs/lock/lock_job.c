/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lock/lock_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/word_list.h"
#include "tasks/session/cpu_filter.h"
#include "tasks/session/recording_input.h"
#include "tasks/session/trace_fields.h"
#include "verbs/lock/lock_places.h"

enum lock_event { EVENT_NONE, EVENT_BEGIN, EVENT_END, EVENT_CONTENDED, EVENT_ACQUIRED };

static enum lock_event lock_job_event_of(const struct perfdata_event *event)
{
	static const struct {
		const char *name;
		enum lock_event event;
	} known[] = {{"lock:contention_begin", EVENT_BEGIN}, {"lock:contention_end", EVENT_END},
		{"lock:lock_contended", EVENT_CONTENDED}, {"lock:lock_acquired", EVENT_ACQUIRED}};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_equal(event->name, str_from(known[i].name)))
			return known[i].event;
	return EVENT_NONE;
}

/* ---- filters ---- */

static bool is_type_listed(const char *list, uint32_t flags)
{
	struct tally_str type = str_from(lock_type_name(flags));
	while (list && *list) {
		size_t len = strcspn(list, ",");
		/* A type without ":R" or ":W" includes the waits of both readers and writers. */
		if ((len == type.len || (len < type.len && type.data[len] == ':')) && memcmp(list, type.data, len) == 0)
			return true;
		list += len + (list[len] == ',');
	}
	return !list;
}

static bool is_lock_listed(const char *list, uint64_t address, struct tally_str name)
{
	struct tally_str rest = str_from(list), part;
	while (str_next_item(&rest, &part)) {
		char *end;
		if (part.len > 0 && strtoull(part.data, &end, 16) == address && end == part.data + part.len)
			return true;
		if (part.len > 0 && str_equal(part, name))
			return true;
	}
	return false;
}

/* Compares with a path of the kernel, which begins at the root; the first slash may be left out. */
static bool is_same_path(struct tally_str path, struct tally_str asked)
{
	if (asked.len > 0 && asked.data[0] == '/')
		return str_equal(path, asked);
	return path.len == asked.len + 1 && memcmp(path.data + 1, asked.data, asked.len) == 0;
}

static bool is_cgroup_listed(const char *list, struct tally_str path)
{
	struct tally_str rest = str_from(list), part;
	while (str_next_item(&rest, &part))
		if (is_same_path(path, part))
			return true;
	return false;
}

static bool lock_job_is_wanted(const struct lock_job *job, const struct data_sample *s)
{
	const struct lock_settings *settings = job->settings;
	struct tally_str path;
	if (job->cpus && (s->sample.cpu >= LIMIT_CPUS || !job->cpus[s->sample.cpu]))
		return false;
	if (settings->cgroups && (!cgroup_names_find(&job->cgroups, s->sample.cgroup, &path) ||
					 !is_cgroup_listed(settings->cgroups, path)))
		return false;
	return (!settings->pids || word_list_has_number(settings->pids, (int32_t)s->sample.pid)) &&
	       (!settings->tids || word_list_has_number(settings->tids, (int32_t)s->sample.tid));
}

/* ---- names ---- */

struct lock_wait_names {
	struct text lock; /* The lock's class, if lockdep reports it; its variable, if that is requested. */
	struct lock_caller caller;
	/* has_class: `lock` is a class, which lockdep reported. is_whole: `lock` names the lock itself, not an object
	 * that contains it. */
	bool has_class, is_whole;
	bool has_lock, has_texts; /* True once the lock and the texts were looked up. */
	struct tally_str comm; /* Name of the thread; its data is NULL if the job knows the name. */
	enum lock_event event; /* The event that began the wait. */
};

static struct lock_caller_options callers_of(const struct lock_settings *settings)
{
	return (struct lock_caller_options){
		.names = settings->callers, .max_stack = settings->max_stack, .skip = settings->skip};
}

static bool read_lock(struct lock_job *job, const struct data_sample *s, uint64_t address, struct lock_wait_names *n,
	struct tally_error *err)
{
	n->has_lock = true;
	n->has_class = trace_text_of(job->source.tracepoints, s->sample.raw, STR("name"), &n->lock);
	n->is_whole = n->has_class;
	bool is_asked = job->layout == LOCK_BY_ADDRESS || job->settings->locks;
	return n->has_class || !is_asked || lock_symbol_read(&job->source, s, address, &n->lock, &n->is_whole, err);
}

/* Formatting texts takes longer than everything else, so it is done only for new rows. */
static bool read_texts(struct lock_job *job, const struct data_sample *s, uint64_t address, enum lock_event event,
	struct lock_wait_names *n, struct tally_error *err)
{
	const struct lock_caller_options callers = callers_of(job->settings);
	if (n->has_texts)
		return true;
	n->has_texts = true;
	if (!n->has_lock && !read_lock(job, s, address, n, err))
		return false;
	bool is_shown = event != EVENT_ACQUIRED && (job->layout == LOCK_BY_CALLER || job->layout == LOCK_BY_NAME);
	return !is_shown || lock_caller_describe(&job->source, s, &callers, &n->caller, err);
}

/* Reads the names by which waits are assigned to rows, and those by which the filters select waits. */
static bool lock_job_read_keys(struct lock_job *job, const struct data_sample *s, uint64_t address,
	enum lock_event event, struct lock_wait_names *n, struct tally_error *err)
{
	const struct lock_settings *settings = job->settings;
	const struct lock_caller_options callers = callers_of(settings);
	n->caller.passes = true;
	if (settings->locks && !read_lock(job, s, address, n, err))
		return false;
	if (settings->combine && !read_texts(job, s, address, event, n, err))
		return false;
	if (event == EVENT_ACQUIRED || (job->layout != LOCK_BY_CALLER && !settings->callers))
		return true;
	return lock_caller_read(&job->source, s, &callers, &n->caller, err);
}

static struct tally_str lock_job_name_of(const struct lock_job *job, const struct lock_wait_names *n)
{
	const struct text *shown = n->has_class || job->layout == LOCK_BY_ADDRESS ? &n->lock : &n->caller.name;
	return text_view(shown);
}

static struct tally_str lock_job_comm_of(const struct lock_job *job, const struct data_sample *s, char room[16])
{
	const struct live_thread *thread =
		job->running ? live_state_known_thread(job->running, (int32_t)s->sample.tid) : NULL;
	if (thread)
		return (struct tally_str){thread->comm, thread->comm_len};
	/* A row contains all waits of the thread, whatever its name was at the time, so the last name is used. */
	const struct data_sample last = {.sample.tid = s->sample.tid, .clock = UINT64_MAX};
	return data_source_comm(&job->source, &last, room);
}

/* ---- rows ---- */

/* Returns false if there is no memory. If no row can be added, new data gets the ID INTERN_NONE. */
static bool intern_id(struct lock_job *job, const void *data, size_t len, uint64_t *id)
{
	uint32_t interned = INTERN_NONE;
	if (lock_waits_is_full(&job->waits))
		interned = intern_find(&job->names, data, len);
	else if (!intern_add(&job->names, data, len, &interned))
		return false;
	*id = interned;
	return true;
}

/* A lock remains in the class in which it was first seen. */
static bool lock_job_class_of(struct lock_job *job, uint64_t address, struct tally_str *name)
{
	bool is_new;
	uint32_t id = id_table_add(&job->classes, &address, &is_new);
	if (id == ID_TABLE_NONE)
		return false;
	if (is_new) {
		uint32_t named;
		if (!intern_add(&job->names, name->data, name->len, &named) || !vec_push(&job->class_names, named))
			return false;
	}
	*name = intern_get(&job->names, job->class_names.items[id]);
	return true;
}

static bool lock_job_key_of(struct lock_job *job, const struct data_sample *s, uint64_t address,
	const struct lock_wait_names *n, uint64_t key[LOCK_ROW_WORDS])
{
	const struct lock_caller *c = &n->caller;
	struct tally_str name = lock_job_name_of(job, n);
	key[0] = address;
	key[1] = 0;
	if (job->settings->by_thread)
		key[0] = s->sample.tid;
	else if (job->layout == LOCK_BY_CGROUP)
		key[0] = s->sample.cgroup;
	else if (job->layout == LOCK_BY_CALLER)
		return intern_id(job, c->frames, c->count * sizeof(*c->frames), &key[0]);
	else if (job->settings->combine)
		return lock_job_class_of(job, address, &name) && intern_id(job, name.data, name.len, &key[0]);
	return true;
}

static bool lock_job_add_label(
	struct lock_job *job, const struct data_sample *s, uint64_t address, const struct lock_wait_names *n)
{
	const struct text *stack = &n->caller.stack;
	struct tally_str name = lock_job_name_of(job, n);
	struct lock_label label = {.number = address};
	char room[16];
	if (job->settings->by_thread) {
		name = n->comm.data ? n->comm : lock_job_comm_of(job, s, room);
		label.number = (uint64_t)(int64_t)(int32_t)s->sample.tid;
	} else if (job->layout == LOCK_BY_CGROUP) {
		if (!cgroup_names_find(&job->cgroups, s->sample.cgroup, &name))
			name = STR("unknown");
	} else if (job->settings->combine && !lock_job_class_of(job, address, &name)) {
		return false;
	}
	label.name = arena_string(&job->arena, name.data, name.len);
	if (stack->len > 0)
		label.stack = arena_string(&job->arena, stack->data, stack->len);
	return label.name && vec_push(&job->labels, label);
}

/* Finds or adds the row of a wait at this lock. */
static bool lock_job_row_of(struct lock_job *job, const struct data_sample *s, uint64_t address,
	struct lock_wait_names *n, uint32_t *row, struct tally_error *err)
{
	uint64_t key[LOCK_ROW_WORDS];
	bool is_new;
	if (!lock_job_key_of(job, s, address, n, key) || !lock_waits_row(&job->waits, key, row, &is_new))
		return false;
	return !is_new || (read_texts(job, s, address, n->event, n, err) && lock_job_add_label(job, s, address, n));
}

static bool count_begin(struct lock_job *job, const struct data_sample *s, enum lock_event event,
	struct lock_wait *wait, struct lock_wait_names *n, struct tally_error *err)
{
	if (!lock_job_row_of(job, s, wait->address, n, &wait->row, err))
		return false;
	if (event != EVENT_ACQUIRED)
		return lock_waits_begin(&job->waits, wait);
	lock_waits_acquire(&job->waits, wait);
	return true;
}

/* True if waits with these names pass the filters. */
static bool lock_job_names_pass(const struct lock_job *job, uint64_t address, const struct lock_wait_names *n)
{
	struct tally_str lock = {n->lock.data ? n->lock.data : "", n->is_whole ? n->lock.len : 0};
	return n->caller.passes && (!job->settings->locks || is_lock_listed(job->settings->locks, address, lock));
}

static bool begin_wait(struct lock_job *job, const struct data_sample *s, uint64_t address, enum lock_event event,
	struct tally_error *err)
{
	const struct lock_settings *settings = job->settings;
	struct lock_wait wait = {.tid = (int32_t)s->sample.tid, .address = address, .time_ns = s->sample.time};
	uint64_t flags = 0;
	(void)trace_number_of(job->source.tracepoints, s->sample.raw, STR("flags"), &flags);
	wait.flags = event == EVENT_BEGIN ? (uint32_t)flags : 0;
	if (!is_type_listed(settings->types, wait.flags))
		return true;
	struct lock_wait_names n = {.event = event};
	bool is_done = lock_job_read_keys(job, s, address, event, &n, err);
	if (is_done && lock_job_names_pass(job, address, &n))
		is_done = count_begin(job, s, event, &wait, &n, err);
	text_deinit(&n.lock);
	lock_caller_deinit(&n.caller);
	return is_done;
}

enum tally_status lock_job_take(struct lock_job *job, const struct data_sample *s, struct tally_error *err)
{
	struct tracepoint_printer *fields = job->source.tracepoints;
	enum lock_event event = lock_job_event_of(s->event);
	uint64_t address;
	if (event == EVENT_NONE)
		return TALLY_OK;
	if (!lock_job_is_wanted(job, s)) {
		job->left_out++;
		return TALLY_OK;
	}
	job->events++;
	/* The field with the address was renamed in the kernel. */
	if (!trace_number_of(fields, s->sample.raw, STR("lock_addr"), &address))
		(void)trace_number_of(fields, s->sample.raw, STR("lockdep_addr"), &address);
	if (event == EVENT_END)
		lock_waits_end(&job->waits, (int32_t)s->sample.tid, address, s->sample.time);
	else if (!begin_wait(job, s, address, event, err))
		return error_nomem(err);
	return TALLY_OK;
}

enum tally_status lock_job_add(
	struct lock_job *job, const struct data_sample *s, const struct lock_sum *sum, struct tally_error *err)
{
	const struct lock_settings *settings = job->settings;
	struct tally_str path;
	struct lock_wait_names n = {.comm = sum->comm, .event = EVENT_BEGIN};
	uint32_t row;
	if (!is_type_listed(settings->types, sum->row.flags))
		return TALLY_OK;
	if (settings->cgroups && (!cgroup_names_find(&job->cgroups, s->sample.cgroup, &path) ||
					 !is_cgroup_listed(settings->cgroups, path)))
		return TALLY_OK;
	job->events += sum->row.contended;
	bool is_done = lock_job_read_keys(job, s, sum->address, EVENT_BEGIN, &n, err);
	if (is_done && lock_job_names_pass(job, sum->address, &n)) {
		is_done = lock_job_row_of(job, s, sum->address, &n, &row, err);
		if (is_done)
			lock_waits_add(&job->waits, row, &sum->row);
	}
	text_deinit(&n.lock);
	lock_caller_deinit(&n.caller);
	return is_done ? TALLY_OK : error_nomem(err);
}

/* ---- a job's life ---- */

static enum lock_layout layout_of(const struct lock_settings *settings, enum lock_verb verb)
{
	if (verb != VERB_CONTENTION)
		return LOCK_BY_NAME;
	return settings->by_thread    ? LOCK_BY_THREAD
	       : settings->by_address ? LOCK_BY_ADDRESS
	       : settings->by_cgroup  ? LOCK_BY_CGROUP
				      : LOCK_BY_CALLER;
}

enum tally_status lock_job_init(struct lock_job *job, const struct cli *cli, const struct lock_settings *settings,
	enum lock_verb verb, struct tally_error *err)
{
	*job = (struct lock_job){.cli = cli,
		.settings = settings,
		.verb = verb,
		.layout = layout_of(settings, verb),
		.classes.words = 1};
	lock_waits_init(&job->waits);
	job->waits.row_limit = settings->row_limit;
	intern_init(&job->names);
	arena_init(&job->arena);
	return settings->cpus ? cpu_filter_parse(settings->cpus, &job->cpus, err) : TALLY_OK;
}

void lock_job_deinit(struct lock_job *job)
{
	lock_waits_deinit(&job->waits);
	vec_free(&job->labels);
	intern_deinit(&job->names);
	id_table_deinit(&job->classes);
	vec_free(&job->class_names);
	arena_deinit(&job->arena);
	cgroup_names_deinit(&job->cgroups);
	data_source_close(&job->source);
	free(job->cpus);
}

bool lock_job_wants_cgroups(const struct lock_job *job)
{
	return job->settings->cgroups || job->settings->by_cgroup;
}

static enum tally_status check_cgroups(const struct lock_job *job, struct tally_error *err)
{
	struct tally_str rest = str_from(job->settings->cgroups ? job->settings->cgroups : ""), asked;
	while (job->settings->cgroups && str_next(&rest, ',', &asked)) {
		bool is_known = false;
		for (size_t i = 0; i < job->cgroups.paths.len && !is_known; i++)
			is_known = is_same_path(intern_get(&job->cgroups.paths, (uint32_t)i), asked);
		if (!is_known)
			return error_set(err, TALLY_NOT_FOUND, "--cgroup-filter: there is no cgroup '%.*s'%s",
				(int)(MIN(asked.len, 200)), asked.data,
				job->settings->is_live ? "" : " in this recording");
	}
	return TALLY_OK;
}

enum tally_status lock_job_begin(struct lock_job *job, struct tally_error *err)
{
	struct perfdata_reader *reader = job->source.reader;
	if (!lock_job_wants_cgroups(job))
		return TALLY_OK;
	if (!perfdata_reader_has_samples_with(reader, SAMPLE_CGROUP))
		return error_set(err, TALLY_UNSUPPORTED, "%s",
			job->settings->is_live ? "this kernel cannot store the cgroup of samples: Linux 5.7 or newer "
						 "is needed"
					       : "the samples of this recording do not store their cgroup: record "
						 "with --all-cgroups");
	enum tally_status status = cgroup_names_read(&job->cgroups, reader, err);
	perfdata_reader_rewind(reader);
	return status == TALLY_OK ? check_cgroups(job, err) : status;
}

void lock_job_finish(struct lock_job *job)
{
	const struct lock_settings *settings = job->settings;
	lock_waits_finish(&job->waits);
	/* With -S, -Y and -L, ends of waits that were filtered out have no begin either. */
	if (settings->callers || settings->types || settings->locks)
		job->waits.unbegun = 0;
}
