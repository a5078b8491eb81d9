/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "kernel/recording/synthesize.h"
#include "perfdata/origin.h"
#include "tasks/counts/stat_report.h"
#include "tasks/session/stream_output.h"

#define ROUND_INTERVAL 0
#define ROUND_FINAL    1
#define CLOCK_SCALE    1e-6 /* Converts nanoseconds to milliseconds, in which perf prints clock events. */

enum tally_status stat_record_open(struct stat_record *r, const char *path, char *const *argv, struct tally_error *err)
{
	*r = (struct stat_record){.argv = argv, .pipe_fd = -1};
	if (!stream_output_is_named(path))
		return perfdata_writer_create_file(path, true, &r->writer, err);
	enum tally_status status = stream_output_open(path, &r->pipe_fd, err);
	return status == TALLY_OK ? perfdata_writer_create_pipe(r->pipe_fd, &r->writer, err) : status;
}

void stat_record_deinit(struct stat_record *r)
{
	perfdata_writer_destroy(r->writer);
	if (r->writer && r->pipe_fd >= 0)
		close(r->pipe_fd);
	if (r->has_begun)
		record_features_deinit(&r->features);
	free(r->first_ids);
	*r = (struct stat_record){0};
}

static size_t cells_of(const struct counter *counter)
{
	return counter->cpu_count * counter->thread_count;
}

/* Makes one source per open counter. The IDs are assigned here, because only samples need those of the kernel. */
static enum tally_status sources_make(struct stat_record *r, const struct counter_set *set,
	struct recorder_source **sources, size_t *count, struct tally_error *err)
{
	size_t total = 0, len = 0;
	for (size_t i = 0; i < set->len; i++)
		total += cells_of(&set->counters[i]);
	struct recorder_source *made = calloc(total + 1, sizeof(*made));
	r->first_ids = calloc(set->len + 1, sizeof(*r->first_ids));
	if (!made || !r->first_ids) {
		free(made);
		return error_nomem(err);
	}
	for (size_t i = 0; i < set->len; i++) {
		const struct counter *counter = &set->counters[i];
		if (!counter_is_supported(counter))
			continue;
		r->first_ids[i] = len + 1;
		for (size_t cell = 0; cell < cells_of(counter); cell++, len++)
			made[len] = (struct recorder_source){.event = (uint32_t)i, .id = len + 1};
	}
	*sources = made;
	*count = len;
	return TALLY_OK;
}

static enum tally_status features_make(struct stat_record *r, const struct counter_set *set, struct tally_error *err)
{
	const struct record_attr_options plain = {0};
	struct recorder_source *sources = NULL;
	size_t count = 0;
	enum tally_status status = sources_make(r, set, &sources, &count, err);
	if (status != TALLY_OK)
		return status;
	struct record_features_input input = {.kernel = set->kernel,
		.events = set->events,
		.attrs = &plain,
		.sources = sources,
		.source_count = count,
		.argv = r->argv};
	status = record_features_read(&input, &r->features, err);
	free(sources);
	if (status != TALLY_OK)
		return status;
	r->has_begun = true;
	record_features_add(&r->features.features, FEATURE_STAT);
	if (r->origin)
		origin_set(&r->features.features, (struct perfdata_origin){ORIGIN_RUSAGE, str_from(r->origin->by),
							  str_from(r->origin->not_seen), STR("")});
	for (size_t i = 0; i < r->features.features.event_count; i++) {
		struct perf_attr *attr = r->features.features.events[i].attr;
		attr->size = ATTR_SIZE_VER7;
		attr->sample_type = SAMPLE_IDENTIFIER; /* Readers ignore the IDs of events without this flag. */
		attr->read_format = READ_FORMAT_TOTAL_TIME_ENABLED | READ_FORMAT_TOTAL_TIME_RUNNING;
	}
	return TALLY_OK;
}

static enum tally_status stat_record_append(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct stat_record *r = context;
	return perfdata_writer_append(r->writer, slices, slice_count, err);
}

static size_t record_begin(struct writer *w, uint32_t type)
{
	size_t start = w->len;
	writer_u32(w, type);
	writer_u16(w, 0);
	writer_u16(w, 0);
	return start;
}

static void record_end(struct writer *w, size_t start)
{
	writer_align(w, 8);
	if (!w->failed)
		writer_patch_u16(w, start + 6, (uint16_t)(w->len - start));
}

static void unit_put(struct writer *w, uint64_t id, const char *unit, double scale)
{
	uint64_t bits;
	memcpy(&bits, &scale, sizeof(bits));
	size_t start = record_begin(w, RECORD_EVENT_UPDATE);
	writer_u64(w, EVENT_UPDATE_UNIT);
	writer_u64(w, id);
	writer_bytes(w, unit, strlen(unit) + 1);
	record_end(w, start);
	start = record_begin(w, RECORD_EVENT_UPDATE);
	writer_u64(w, EVENT_UPDATE_SCALE);
	writer_u64(w, id);
	writer_u64(w, bits);
	record_end(w, start);
}

static void config_put(struct writer *w, const struct stat_counting *counting)
{
	/* The numbers are those of perf 6.1. Later versions renumbered the modes for clusters and caches, which
	 * perf 6.1 lacks; recordings of these two have the new numbers, and the cache level as a fourth value by which
	 * readers know that. */
	static const uint8_t numbers[] = {[AGGREGATE_ALL] = 1,
		[AGGREGATE_CPU] = 0,
		[AGGREGATE_CORE] = 4,
		[AGGREGATE_DIE] = 3,
		[AGGREGATE_SOCKET] = 2,
		[AGGREGATE_NODE] = 7,
		[AGGREGATE_CLUSTER] = 4,
		[AGGREGATE_CACHE] = 5,
		[AGGREGATE_THREAD] = 5};
	bool has_level = counting->lines.mode == AGGREGATE_CLUSTER || counting->lines.mode == AGGREGATE_CACHE;
	size_t start = record_begin(w, RECORD_STAT_CONFIG);
	writer_u64(w, has_level ? 4 : 3);
	writer_u64(w, STAT_CONFIG_AGGR_MODE);
	writer_u64(w, numbers[counting->target.per_thread ? AGGREGATE_THREAD : counting->lines.mode]);
	writer_u64(w, STAT_CONFIG_INTERVAL);
	writer_u64(w, counting->interval_ms);
	writer_u64(w, STAT_CONFIG_SCALE);
	writer_u64(w, counting->is_scaling);
	if (has_level) {
		writer_u64(w, STAT_CONFIG_AGGR_LEVEL);
		writer_u64(w, counting->lines.cache_level);
	}
	record_end(w, start);
}

static enum tally_status room_write(struct stat_record *r, struct writer *w, struct tally_error *err)
{
	struct tally_bytes bytes = writer_view(w);
	enum tally_status status = w->failed ? error_nomem(err) : TALLY_OK;
	if (status == TALLY_OK && bytes.len > 0)
		status = perfdata_writer_append(r->writer, &bytes, 1, err);
	writer_deinit(w);
	return status;
}

static enum tally_status maps_write(struct stat_record *r, const struct counter_set *set, struct tally_error *err)
{
	struct synthesis state;
	const struct record_layout no_trailer = {0};
	const struct record_sink sink = {stat_record_append, r};
	synthesize_init(&state, set->kernel, &no_trailer, &sink);
	enum tally_status status = synthesize_thread_map(&state, set->threads, set->thread_count, err);
	if (status == TALLY_OK)
		status = synthesize_cpu_map(&state, set->cpus, set->cpu_count, err);
	if (status == TALLY_OK)
		status = synthesize_flush(&state, err);
	synthesize_deinit(&state);
	return status;
}

enum tally_status stat_record_begin(struct stat_record *r, const struct stat_counting *counting,
	const struct counter_set *set, struct tally_error *err)
{
	struct writer w = {0};
	enum tally_status status = features_make(r, set, err);
	for (size_t i = 0; status == TALLY_OK && i < set->len; i++) {
		const struct perfdata_event_desc *event = &r->features.features.events[i];
		status = perfdata_writer_add_event(
			r->writer, event->attr, event->name, event->ids, event->id_count, err);
	}
	if (status == TALLY_OK)
		status = perfdata_writer_begin(r->writer, &r->features.features, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < set->len; i++) {
		const struct event_spec *spec = &set->events->specs[i];
		if (r->first_ids[i] && stat_event_is_clock(spec))
			unit_put(&w, r->first_ids[i], "msec", CLOCK_SCALE);
		else if (r->first_ids[i] && (spec->unit[0] || spec->scale != 1))
			unit_put(&w, r->first_ids[i], spec->unit, spec->scale);
	}
	status = room_write(r, &w, err);
	if (status == TALLY_OK)
		status = maps_write(r, set, err);
	if (status != TALLY_OK)
		return status;
	config_put(&w, counting);
	return room_write(r, &w, err);
}

enum tally_status stat_record_round(
	struct stat_record *r, const struct counter_set *set, bool is_final, uint64_t time_ns, struct tally_error *err)
{
	struct writer w = {0};
	for (size_t i = 0; i < set->len; i++) {
		const struct counter *counter = &set->counters[i];
		for (size_t cell = 0; r->first_ids[i] && cell < cells_of(counter); cell++) {
			struct count count = counter->counts[cell];
			size_t start = record_begin(&w, RECORD_STAT);
			writer_u64(&w, r->first_ids[i] + cell);
			writer_u32(&w, (uint32_t)counter->cpus[cell / counter->thread_count]);
			writer_u32(&w, (uint32_t)(cell % counter->thread_count));
			writer_u64(&w, count.value);
			writer_u64(&w, count.enabled_ns);
			writer_u64(&w, count.running_ns);
			record_end(&w, start);
		}
	}
	size_t start = record_begin(&w, RECORD_STAT_ROUND);
	writer_u64(&w, is_final ? ROUND_FINAL : ROUND_INTERVAL);
	writer_u64(&w, time_ns);
	record_end(&w, start);
	return room_write(r, &w, err);
}

enum tally_status stat_record_close(struct stat_record *r, struct tally_error *err)
{
	return perfdata_writer_close(r->writer, &r->features.features, err);
}
