/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live/live_profile.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/live/live_state.h"
#include "analysis/sideband.h"
#include "base/error.h"
#include "base/order.h"
#include "perfdata/time_order.h"
#include "profile/profile_copy.h"

/* The store is recreated when it has this many files more than twice those of the profile. */
#define STORE_FILES_KEPT  4096
#define STORE_ROUNDS_KEPT 4 /* Default of rounds_kept. */
/* Maps and dumps of generated code up to this size in bytes are always read again. */
#define GENERATED_READ_ALWAYS (4u << 20)
#define KERNEL_NAME	      STR("[kernel.kallsyms]")

struct live_profile {
	struct replay_options replay;
	/* Copy of what replay.switches points to, the state of --switch-on and --switch-off; unused if that is NULL. */
	struct replay_switches switches;
	struct binary_store_options store_options;
	struct tally_str kernel_name;
	struct writer description;
	struct perfdata_reader *events; /* Reader of the description, which defines the layout of records. */
	struct record_layout tracking; /* Layout of MMAP, COMM and other sideband records. */
	struct binary_store *store;
	/* By file index in the store: the number of the last refresh with samples in the file; 0 if there was none, or
	 * if the file's symbols were forgotten since. */
	VEC(uint64_t) hit_at;
	/* By file index in the store: the last refresh with samples in the file had some without a symbol. */
	VEC(bool) unnamed;
	/* rounds: number of refreshes so far. rounds_kept: number of refreshes without a sample in a file after which
	 * its symbols are forgotten. */
	uint64_t rounds, rounds_kept;
	struct live_state state; /* State of processes before the waiting records. */
	struct writer waiting;
	size_t mark; /* Size of waiting at the last live_profile_mark; 0 if there was none since the last refresh. */
	uint64_t clock_period_ns; /* Time that a sample of a clock stands for; 0: the period in its record. */
	struct writer recording; /* The recording of the last refresh. */
	uint64_t order; /* Added to the order of new samples, because they come after all earlier ones. */
	struct profile *total; /* Counts are in LIVE_COUNT_UNIT; NULL before the first refresh. */
	struct profile shown; /* Shares the arrays of total, except samples and events. */
	bool hides_kernel, hides_user;
	struct live_profile_figures figures;
};

/* ---- records ---- */

static enum tally_status read_description(struct live_profile *live, struct tally_error *err)
{
	struct record record;
	size_t count;
	enum tally_status status = perfdata_reader_open_beginning(writer_view(&live->description), &live->events, err);
	while (status == TALLY_OK)
		status = perfdata_reader_next(live->events, &record, err);
	if (status != TALLY_END)
		return status;
	const struct perfdata_event *events = perfdata_reader_events(live->events, &count);
	if (count == 0)
		return error_set(err, TALLY_INVALID, "a live profile needs an event");
	live->tracking = events[0].layout;
	for (size_t i = 0; i < count; i++)
		if (ATTR_HAS(&events[i].attr, MMAP) || ATTR_HAS(&events[i].attr, MMAP2)) {
			live->tracking = events[i].layout;
			break;
		}
	return TALLY_OK;
}

enum tally_status live_profile_create(
	const struct live_profile_config *config, struct live_profile **out, struct tally_error *err)
{
	struct live_profile *live = calloc(1, sizeof(*live));
	if (!live)
		return error_nomem(err);
	live->replay = *config->replay;
	if (live->replay.switches) {
		live->switches = *live->replay.switches;
		live->replay.switches = &live->switches;
	}
	live->store_options = *config->store;
	live->kernel_name = config->kernel_name;
	live->rounds_kept = config->rounds_kept ? config->rounds_kept : STORE_ROUNDS_KEPT;
	live_state_init(&live->state);
	writer_bytes(&live->description, config->description.data, config->description.len);
	enum tally_status status = live->description.failed ? error_nomem(err) : read_description(live, err);
	if (status == TALLY_OK)
		status = binary_store_create(&live->store_options, &live->store, err);
	if (status == TALLY_OK) /* An empty profile exists from the start. */
		status = live_profile_refresh(live, false, err);
	if (status != TALLY_OK) {
		live_profile_destroy(live);
		return status;
	}
	*out = live;
	return TALLY_OK;
}

enum tally_status live_profile_redescribe(
	struct live_profile *live, struct tally_bytes description, struct tally_error *err)
{
	struct live_profile fresh = {0};
	writer_bytes(&fresh.description, description.data, description.len);
	enum tally_status status = fresh.description.failed ? error_nomem(err) : read_description(&fresh, err);
	if (status == TALLY_OK) {
		struct live_profile old = {.events = live->events, .description = live->description};
		live->events = fresh.events;
		live->description = fresh.description;
		fresh = old;
	}
	if (fresh.events)
		perfdata_reader_destroy(fresh.events);
	writer_deinit(&fresh.description);
	return status;
}

void live_profile_destroy(struct live_profile *live)
{
	if (!live)
		return;
	free(live->shown.samples);
	free(live->shown.events);
	profile_destroy(live->total);
	live_state_deinit(&live->state);
	binary_store_destroy(live->store);
	vec_free(&live->hit_at);
	vec_free(&live->unnamed);
	if (live->events)
		perfdata_reader_destroy(live->events);
	writer_deinit(&live->description);
	writer_deinit(&live->waiting);
	writer_deinit(&live->recording);
	free(live);
}

static bool live_profile_is_clock(const struct perfdata_event *event)
{
	const struct perf_attr *attr = &event->attr;
	return attr->type == EVENT_SOFTWARE && (attr->config == SW_CPU_CLOCK || attr->config == SW_TASK_CLOCK) &&
	       ATTR_HAS(attr, FREQ) && event->layout.period >= 0;
}

static void live_profile_correct_periods(struct live_profile *live, size_t from)
{
	struct tally_bytes waiting = writer_view(&live->waiting);
	struct record record;
	for (size_t at = from; at < waiting.len; at += record.bytes.len) {
		if (record_at(waiting, false, at, &record, NULL) != TALLY_OK)
			return;
		const struct perfdata_event *event =
			record.type == RECORD_SAMPLE ? perfdata_reader_event_of(live->events, &record) : NULL;
		if (event && live_profile_is_clock(event) &&
			record.bytes.len >= (size_t)event->layout.period + sizeof(live->clock_period_ns))
			memcpy(live->waiting.data + at + event->layout.period, &live->clock_period_ns,
				sizeof(live->clock_period_ns));
	}
}

void live_profile_set_clock_period(struct live_profile *live, uint64_t period_ns)
{
	live->clock_period_ns = period_ns;
}

enum tally_status live_profile_feed(
	struct live_profile *live, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	size_t from = live->waiting.len;
	for (size_t i = 0; i < slice_count; i++)
		writer_bytes(&live->waiting, slices[i].data, slices[i].len);
	if (live->clock_period_ns && !live->waiting.failed)
		live_profile_correct_periods(live, from);
	return live->waiting.failed ? error_nomem(err) : TALLY_OK;
}

void live_profile_mark(struct live_profile *live)
{
	live->mark = live->waiting.len;
}

/* ---- one refresh ---- */

struct dated_record {
	uint64_t time;
	size_t position; /* Offset in the round's bytes. */
};

struct round { /* The records of one refresh. */
	struct writer bytes; /* The recording to replay: description, process state, new records. */
	size_t first; /* Offset of the first new record in the recording. */
	struct writer late; /* Records that wait for the next refresh. */
	VEC(struct dated_record) history;
	struct live_profile_figures figures;
};

static void live_profile_count_record(struct live_profile_figures *figures, const struct record *record)
{
	struct record_fields fields;
	if (record->type == RECORD_SAMPLE) {
		figures->samples++;
		figures->kernel_samples += (record->misc & MISC_CPUMODE_MASK) == MISC_CPUMODE_KERNEL;
		figures->exact_samples += (record->misc & MISC_EXACT_IP) != 0;
	} else if (!record_is_of_filter(record) &&
		   (record->type == RECORD_LOST || record->type == RECORD_LOST_SAMPLES) &&
		   record_decode(record, &fields, NULL) == TALLY_OK) {
		figures->lost += record->type == RECORD_LOST ? fields.lost.lost : fields.lost_samples.lost;
	}
}

static bool is_of_state(uint32_t type)
{
	return sideband_is_history(type) || type == RECORD_EXIT || type == RECORD_CGROUP;
}

/* Returns false if out of memory. */
static bool sort_record(struct round *round, const struct record *record, uint64_t time)
{
	struct dated_record dated = {time, round->bytes.len};
	live_profile_count_record(&round->figures, record);
	writer_bytes(&round->bytes, record->bytes.data, record->bytes.len);
	return !is_of_state(record->type) || vec_push(&round->history, dated);
}

static bool sort_waiting(struct live_profile *live, struct round *round)
{
	struct tally_bytes waiting = writer_view(&live->waiting);
	uint64_t horizon = 0;
	struct record record;
	for (size_t at = 0; at < waiting.len; at += record.bytes.len) {
		if (record_at(waiting, false, at, &record, NULL) != TALLY_OK) {
			round->figures.damaged++; /* Without a valid size the next record cannot be found. */
			break;
		}
		uint64_t time = time_order_time_of(live->events, &record, false);
		if (at < live->mark && time > horizon)
			horizon = time;
		if (at >= live->mark && live->mark > 0 && time > horizon)
			writer_bytes(&round->late, record.bytes.data, record.bytes.len);
		else if (!sort_record(round, &record, time))
			return false;
	}
	return !round->bytes.failed && !round->late.failed;
}

/* PIDs in the waiting records: only the state of these processes is needed. */
struct live_needs {
	struct map_u64 pids;
	bool are_all; /* Some sample has no PID, so the state of all processes is needed. */
};

static bool need_of_sample(const struct live_profile *live, const struct record *record, struct live_needs *needs)
{
	const struct perfdata_event *event = perfdata_reader_event_of(live->events, record);
	uint32_t pid;
	if (!event || event->layout.tid < 0 || record->bytes.len < (size_t)event->layout.tid + sizeof(pid)) {
		needs->are_all = true;
		return true;
	}
	memcpy(&pid, record->bytes.data + event->layout.tid, sizeof(pid));
	return map_u64_set(&needs->pids, pid, 1);
}

static bool need_of_record(const struct record *record, struct live_needs *needs)
{
	struct record_fields fields;
	if (record_decode(record, &fields, NULL) != TALLY_OK)
		return true;
	switch (fields.type) {
	case RECORD_FORK: /* The child inherits the mappings of its parent. */
		return map_u64_set(&needs->pids, fields.task.ppid, 1) && map_u64_set(&needs->pids, fields.task.pid, 1);
	case RECORD_COMM:
		return map_u64_set(&needs->pids, fields.comm.pid, 1);
	case RECORD_MMAP:
	case RECORD_MMAP2:
		return map_u64_set(&needs->pids, fields.mmap.pid, 1);
	default:
		return true;
	}
}

static bool find_needs(const struct live_profile *live, struct live_needs *needs)
{
	struct tally_bytes waiting = writer_view(&live->waiting);
	struct record record;
	bool ok = true;
	for (size_t at = 0; ok && at < waiting.len; at += record.bytes.len) {
		if (record_at(waiting, false, at, &record, NULL) != TALLY_OK)
			break;
		ok = record.type == RECORD_SAMPLE ? need_of_sample(live, &record, needs)
						  : need_of_record(&record, needs);
	}
	return ok;
}

static void round_deinit(struct round *round)
{
	writer_deinit(&round->bytes);
	writer_deinit(&round->late);
	vec_free(&round->history);
}

static enum tally_status round_init(struct live_profile *live, struct round *round, struct tally_error *err)
{
	*round = (struct round){0};
	writer_bytes(&round->bytes, live->description.data, live->description.len);
	struct live_needs needs = {0};
	bool ok = find_needs(live, &needs) &&
		  live_state_write(&live->state, needs.are_all ? NULL : &needs.pids, &round->bytes, &live->tracking);
	map_u64_deinit(&needs.pids);
	round->first = round->bytes.len;
	return ok && sort_waiting(live, round) ? TALLY_OK : error_nomem(err);
}

static int compare_dates(const void *left, const void *right)
{
	const struct dated_record *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return COMPARE(a->position, b->position);
}

/* Updates the state of processes to the end of the round. */
static enum tally_status live_profile_learn(struct live_profile *live, struct round *round, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	if (round->history.len)
		qsort(round->history.items, round->history.len, sizeof(round->history.items[0]), compare_dates);
	for (size_t i = 0; status == TALLY_OK && i < round->history.len; i++) {
		struct record record;
		struct record_fields fields;
		if (record_at(writer_view(&round->bytes), false, round->history.items[i].position, &record, NULL) ==
				TALLY_OK &&
			record_decode(&record, &fields, NULL) == TALLY_OK)
			status = live_state_apply(&live->state, &record, &fields, err);
		else
			round->figures.damaged++;
	}
	return status == TALLY_OK ? live_state_settle(&live->state, err) : status;
}

/* Runtimes write names while they generate code. A large file is read again only if names were missing in the last
 * refresh, because reading it could take longer than the time between two refreshes. */
static void reread_generated(struct live_profile *live)
{
	for (size_t i = 0; i < binary_store_count(live->store); i++) {
		uint64_t bytes;
		bool lacks_names = i < live->unnamed.len && live->unnamed.items[i];
		if (binary_store_has_grown(live->store, (uint32_t)i, &bytes) &&
			(bytes <= GENERATED_READ_ALWAYS || lacks_names))
			binary_store_forget(live->store, (uint32_t)i);
	}
}

static enum tally_status replay_round(
	struct live_profile *live, const struct round *round, struct replay_result *result, struct tally_error *err)
{
	struct perfdata_reader *reader;
	enum tally_status status = perfdata_reader_open_beginning(writer_view(&round->bytes), &reader, err);
	if (status != TALLY_OK)
		return status;
	reread_generated(live);
	status = replay_profile(reader, live->store, &live->replay, result, err);
	perfdata_reader_destroy(reader);
	return result->profile ? TALLY_OK : status;
}

/* Forgets the symbols of files without samples in the last rounds_kept rounds; new samples load them again. */
static enum tally_status forget_files(
	struct live_profile *live, const struct replay_result *result, struct tally_error *err)
{
	live->rounds++;
	for (size_t i = 0; i < result->hits.files.len; i++) {
		uint32_t id = result->hits.files.items[i].store_id;
		while (id < UINT32_MAX - 1 && live->hit_at.len <= id)
			if (!vec_push(&live->hit_at, 0) || !vec_push(&live->unnamed, false))
				return error_nomem(err);
		if (id >= live->hit_at.len)
			continue;
		live->hit_at.items[id] = live->rounds;
		live->unnamed.items[id] = result->hits.files.items[i].unnamed > 0;
	}
	for (size_t i = 0; i < live->hit_at.len; i++) {
		if (!live->hit_at.items[i] || live->hit_at.items[i] + live->rounds_kept > live->rounds)
			continue;
		binary_store_forget(live->store, (uint32_t)i);
		live->hit_at.items[i] = 0;
	}
	return TALLY_OK;
}

/* Recreates the store when it has accumulated too many files: in a build, for example, new programs run all the
 * time. */
static enum tally_status renew_store(
	struct live_profile *live, const struct replay_result *result, struct tally_error *err)
{
	struct binary_store *fresh;
	bool is_full = false;
	for (size_t i = 0; i < result->hits.files.len; i++)
		is_full |= result->hits.files.items[i].store_id >= STORE_FILES_KEPT + 2 * live->total->binary_count;
	if (!is_full)
		return TALLY_OK;
	enum tally_status status = binary_store_create(&live->store_options, &fresh, err);
	if (status != TALLY_OK)
		return status;
	binary_store_destroy(live->store);
	live->store = fresh;
	live->hit_at.len = live->unnamed.len = 0;
	return TALLY_OK;
}

/* ---- accumulated profile ---- */

static void live_profile_add_events(
	struct profile_builder *builder, const struct profile *p, const struct profile *before)
{
	for (size_t i = 0; i < p->event_count; i++) {
		struct profile_event event = p->events[i];
		event.name = profile_builder_string(builder, profile_string(p, event.name));
		event.sample_count = event.total_period = 0; /* The builder adds these up from the samples. */
		event.lost_count += before && i < before->event_count ? before->events[i].lost_count : 0;
		profile_builder_event(builder, &event);
	}
	for (size_t i = 0; i < p->field_count; i++) {
		struct profile_field field = p->fields[i];
		field.name = profile_builder_string(builder, profile_string(p, field.name));
		profile_builder_field(builder, &field);
	}
}

static enum tally_status live_profile_add_up(const struct live_profile *live, const struct profile *fresh, bool fades,
	struct profile **sum, struct tally_error *err)
{
	struct profile_builder *builder = profile_builder_create();
	const struct profile_ratio same = {1, 1}, fade = LIVE_FADE;
	const struct profile_copy old = {.from = live->total,
		.counts = fades ? fade : same,
		.periods = fades ? fade : same,
		.least_count = LIVE_LEAST_COUNT};
	const struct profile_copy new = {.from = fresh,
		.counts = {LIVE_COUNT_UNIT, 1},
		.periods = same,
		.later = live->order,
		.binary = KERNEL_NAME,
		.renamed = live->kernel_name};
	if (!builder)
		return error_nomem(err);
	profile_builder_keep_facets(builder, live->replay.facets);
	live_profile_add_events(builder, fresh, live->total);
	if ((live->total && !profile_copy_samples(&old, builder)) || !profile_copy_samples(&new, builder)) {
		profile_builder_destroy(builder);
		return error_nomem(err);
	}
	return profile_builder_finish(builder, sum, err);
}

static bool live_profile_is_hidden(
	const struct live_profile *live, const struct profile *p, const struct profile_sample *sample)
{
	uint8_t level = p->frames[sample->leaf].level;
	return (live->hides_kernel && (level == PROFILE_LEVEL_KERNEL || level == PROFILE_LEVEL_GUEST_KERNEL)) ||
	       (live->hides_user && (level == PROFILE_LEVEL_USER || level == PROFILE_LEVEL_GUEST_USER));
}

/* Replaces total and derives shown from it: counts in samples, without samples of a hidden level (kernel or user). */
static enum tally_status live_profile_show(struct live_profile *live, struct profile *total, struct tally_error *err)
{
	struct profile shown = *total;
	shown.samples = malloc((total->sample_count + 1) * sizeof(*shown.samples));
	shown.events = malloc((total->event_count + 1) * sizeof(*shown.events));
	if (!shown.samples || !shown.events) {
		free(shown.samples);
		free(shown.events);
		return error_nomem(err);
	}
	shown.sample_count = 0;
	for (size_t i = 0; i < total->event_count; i++) {
		shown.events[i] = total->events[i];
		shown.events[i].sample_count = shown.events[i].total_period = 0;
	}
	for (size_t i = 0; i < total->sample_count; i++) {
		struct profile_sample *sample = &shown.samples[shown.sample_count];
		if (live_profile_is_hidden(live, total, &total->samples[i]))
			continue;
		*sample = total->samples[i];
		sample->count = (sample->count + LIVE_COUNT_UNIT / 2) / LIVE_COUNT_UNIT;
		shown.events[sample->event].sample_count += sample->count;
		shown.events[sample->event].total_period += sample->period;
		shown.sample_count++;
	}
	free(live->shown.samples);
	free(live->shown.events);
	live->shown = shown;
	if (live->total != total)
		profile_destroy(live->total);
	live->total = total;
	return TALLY_OK;
}

static enum tally_status live_profile_renew(
	struct live_profile *live, const struct replay_result *result, bool fades, struct tally_error *err)
{
	struct profile *sum;
	enum tally_status status = live_profile_add_up(live, result->profile, fades, &sum, err);
	if (status != TALLY_OK)
		return status;
	status = live_profile_show(live, sum, err);
	if (status != TALLY_OK)
		profile_destroy(sum);
	return status;
}

/* Ends a successful round: its recording becomes the last one, and its late records wait for the next round. */
static void live_profile_take_round(struct live_profile *live, struct round *round, const struct replay_result *result)
{
	live->switches.before = result->ends_on ? SWITCHES_ON : SWITCHES_OFF;
	struct writer done = live->waiting, recording = live->recording;

	live->waiting = round->late;
	round->late = done;
	live->mark = 0;
	live->order += round->bytes.len;
	live->recording = round->bytes;
	round->bytes = recording;
	live->figures = round->figures;
}

/* If taken is not NULL, it receives the round's profile, which is then not added to the total. */
static enum tally_status live_profile_process(
	struct live_profile *live, bool fades, struct profile **taken, struct tally_error *err)
{
	struct round round;
	struct replay_result result = {0};
	enum tally_status status = round_init(live, &round, err);
	if (status == TALLY_OK)
		status = replay_round(live, &round, &result, err);
	if (status == TALLY_OK) {
		round.figures.damaged += result.health.damaged.count;
		status = live_profile_learn(live, &round, err);
	}
	if (status == TALLY_OK && !taken)
		status = live_profile_renew(live, &result, fades, err);
	if (status == TALLY_OK)
		status = forget_files(live, &result, err);
	if (status == TALLY_OK)
		status = renew_store(live, &result, err);
	if (status == TALLY_OK)
		live_profile_take_round(live, &round, &result);
	if (status == TALLY_OK && taken) {
		*taken = result.profile;
		result.profile = NULL;
	}
	replay_result_deinit(&result);
	round_deinit(&round);
	return status;
}

enum tally_status live_profile_refresh(struct live_profile *live, bool fades, struct tally_error *err)
{
	return live_profile_process(live, fades, NULL, err);
}

enum tally_status live_profile_take(struct live_profile *live, struct profile **profile, struct tally_error *err)
{
	return live_profile_process(live, false, profile, err);
}

enum tally_status live_profile_sweep(
	struct live_profile *live, bool (*runs)(void *context, int32_t tid), void *context, struct tally_error *err)
{
	return live_state_sweep(&live->state, runs, context, err);
}

void live_profile_forget_symbols(struct live_profile *live)
{
	for (size_t i = 0; i < live->hit_at.len; i++) {
		if (live->hit_at.items[i])
			binary_store_forget(live->store, (uint32_t)i);
		live->hit_at.items[i] = 0;
	}
}

enum tally_status live_profile_zero(struct live_profile *live, struct tally_error *err)
{
	struct profile *old = live->total, *sum;
	struct profile none = *old;
	none.sample_count = 0;
	live->total = NULL;
	enum tally_status status = live_profile_add_up(live, &none, false, &sum, err);
	live->total = old;
	if (status != TALLY_OK)
		return status;
	status = live_profile_show(live, sum, err);
	if (status != TALLY_OK)
		profile_destroy(sum);
	return status;
}

enum tally_status live_profile_hide(struct live_profile *live, bool kernel, bool user, struct tally_error *err)
{
	live->hides_kernel = kernel;
	live->hides_user = user;
	return live_profile_show(live, live->total, err);
}

const struct profile *live_profile_get(const struct live_profile *live)
{
	return &live->shown;
}

struct tally_bytes live_profile_recording(const struct live_profile *live)
{
	return writer_view(&live->recording);
}

struct live_profile_figures live_profile_figures(const struct live_profile *live)
{
	return live->figures;
}

const struct binary_store *live_profile_store(const struct live_profile *live)
{
	return live->store;
}

bool live_profile_knows(const struct live_profile *live, int32_t pid)
{
	return live_state_thread(&live->state, pid) != NULL;
}
