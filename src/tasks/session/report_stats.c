/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/report_stats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/group_reads.h"
#include "base/array.h"
#include "base/error.h"
#include "base/map_u64.h"
#include "base/order.h"
#include "base/text_cells.h"
#include "base/vec.h"
#include "perfdata/other_writers.h"

/* Number of record types with separate counts; those of the kernel and of perf are at most 85. */
#define TYPE_LIMIT 128

struct thread_counts {
	uint32_t pid, tid;
	uint64_t time; /* Time of the first record. */
	uint64_t first_value; /* Index in values of the first of event_count counts. */
};

struct read_table {
	VEC(struct thread_counts) threads;
	VEC(uint64_t) values;
	struct map_u64 thread_of; /* Maps pid << 32 | tid to an index in threads. */
	bool *has_event;
	size_t event_count;
};

static void report_stats_print_count(struct text *out, const char *name, uint64_t count, uint64_t total)
{
	text_printf(out, "%16s events: %10" PRIu64, name, count);
	if (total)
		text_printf(out, "  (%4.1f%%)", 100.0 * (double)count / (double)total);
	text_char(out, '\n');
}

struct event_counts {
	uint64_t samples, lost_samples; /* Numbers of records. */
	uint64_t filtered; /* Number of samples that a filter has dropped. */
	uint64_t lost; /* Number of lost samples according to the LOST_SAMPLES records. */
};

struct stats {
	struct perfdata_reader *reader;
	uint64_t by_type[TYPE_LIMIT], total;
	uint64_t others[OTHER_WRITERS_RECORDS]; /* Counts of simpleperf's own record types. */
	VEC(struct event_counts) events;
	struct group_reads reads;
	bool tells_losses;
};

static struct event_counts *counts_of_event(struct stats *stats, const struct perfdata_event *event)
{
	while (stats->events.len <= event->index)
		if (!vec_push(&stats->events, ((struct event_counts){0})))
			return NULL;
	return &stats->events.items[event->index];
}

static bool count_group(struct stats *stats, const struct sample *sample)
{
	uint64_t position = 0;
	struct group_read read;
	enum tally_status status;
	while ((status = group_reads_next(&stats->reads, stats->reader, sample, &position, &read)) == TALLY_OK) {
		struct event_counts *counts = counts_of_event(stats, read.event);
		if (!counts)
			return false;
		counts->samples++;
	}
	return status == TALLY_END;
}

/* Counts a record by its type, and a sample or losses by the event. Returns false if memory runs out. */
static bool report_stats_count_record(struct stats *stats, const struct record *record)
{
	stats->total++;
	if (record->type < TYPE_LIMIT)
		stats->by_type[record->type]++;
	else if (other_writer_record(record->type))
		stats->others[record->type - OTHER_WRITERS_FIRST_RECORD]++;
	if (record->type != RECORD_SAMPLE && record->type != RECORD_LOST_SAMPLES)
		return true;
	const struct perfdata_event *event = perfdata_reader_event_of(stats->reader, record);
	struct sample sample;
	if (!event)
		return true;
	if (record->type == RECORD_SAMPLE && event->attr.sample_type & SAMPLE_READ)
		return sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK || count_group(stats, &sample);
	struct event_counts *counts = counts_of_event(stats, event);
	if (!counts)
		return false;
	struct record_fields fields;
	if (record->type == RECORD_SAMPLE) {
		counts->samples++;
	} else if (record_decode(record, &fields, NULL) == TALLY_OK) {
		counts->lost_samples++;
		*(record_is_of_filter(record) ? &counts->filtered : &counts->lost) += fields.lost_samples.lost;
	}
	return true;
}

/* As in perf, LOST_SAMPLES is the number of lost samples here, not of records. */
static void print_event_stats(struct text *out, const struct stats *stats)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(stats->reader, &count);
	for (size_t i = 0; i < count && i < stats->events.len; i++) {
		const struct event_counts *counts = &stats->events.items[i];
		uint64_t lost = stats->tells_losses ? counts->lost : 0;
		uint64_t filtered = stats->tells_losses ? counts->filtered : 0;
		if (!counts->samples && !lost && !filtered)
			continue;
		text_bytes(out, events[i].name.data, events[i].name.len);
		text_str(out, " stats:\n");
		if (counts->samples)
			report_stats_print_count(out, "SAMPLE", counts->samples, 0);
		if (lost)
			report_stats_print_count(out, "LOST_SAMPLES", lost, 0);
		if (filtered)
			report_stats_print_count(out, "LOST_SAMPLES (BPF)", filtered, 0);
	}
}

static void print_stats(struct text *out, const struct stats *stats, bool with_zeros)
{
	text_str(out, "\nAggregated stats:");
	if (stats->by_type[RECORD_AUXTRACE])
		text_str(out, " (excludes AUX area (e.g. instruction trace) decoded / synthesized events)");
	text_char(out, '\n');
	report_stats_print_count(out, "TOTAL", stats->total, 0);
	for (uint32_t type = 0; type < TYPE_LIMIT; type++) {
		const char *name = record_type_name(type);
		if (stats->by_type[type] || (with_zeros && name))
			report_stats_print_count(out, name ? name : "UNKNOWN", stats->by_type[type], stats->total);
	}
	for (uint32_t i = 0; i < OTHER_WRITERS_RECORDS; i++)
		if (stats->others[i])
			report_stats_print_count(out, other_writer_record(OTHER_WRITERS_FIRST_RECORD + i),
				stats->others[i], stats->total);
	print_event_stats(out, stats);
}

static void report_stats_put_count(struct json *j, const char *name, uint64_t count)
{
	if (!count)
		return;
	json_object(j, NULL);
	json_string(j, "type", str_from(name ? name : "UNKNOWN"));
	json_u64(j, "count", count);
	json_object_end(j);
}

static void put_stats(struct json *j, const struct stats *stats)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(stats->reader, &count);
	json_object(j, "stats");
	json_u64(j, "total", stats->total);
	json_array(j, "records");
	for (uint32_t type = 0; type < TYPE_LIMIT; type++)
		report_stats_put_count(j, record_type_name(type), stats->by_type[type]);
	for (uint32_t i = 0; i < OTHER_WRITERS_RECORDS; i++)
		report_stats_put_count(j, other_writer_record(OTHER_WRITERS_FIRST_RECORD + i), stats->others[i]);
	json_array_end(j);
	json_array(j, "events");
	for (size_t i = 0; i < count; i++) {
		struct event_counts counts = {0};
		if (i < stats->events.len)
			counts = stats->events.items[i];
		json_object(j, NULL);
		json_string(j, "name", events[i].name);
		json_u64(j, "samples", counts.samples);
		json_u64(j, "lost_samples_records", counts.lost_samples);
		json_u64(j, "filtered_samples", counts.filtered);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

enum tally_status report_stats(struct text *out, struct json *j, struct perfdata_reader *reader, bool with_zeros,
	bool tells_losses, struct tally_error *err)
{
	struct stats stats = {.reader = reader, .tells_losses = tells_losses};
	struct record record;
	enum tally_status status;
	while ((status = perfdata_reader_next(reader, &record, err)) == TALLY_OK) {
		if (!report_stats_count_record(&stats, &record)) {
			status = error_nomem(err);
			break;
		}
	}
	const struct input_health *health = perfdata_reader_health(reader);
	stats.by_type[RECORD_COMPRESSED] = health->compressed[0];
	stats.by_type[RECORD_COMPRESSED2] = health->compressed[1];
	stats.total += health->compressed[0] + health->compressed[1];
	if (j)
		put_stats(j, &stats);
	else
		print_stats(out, &stats, with_zeros);
	vec_free(&stats.events);
	group_reads_deinit(&stats.reads);
	return status == TALLY_END ? TALLY_OK : status;
}

static uint64_t *counts_of(struct read_table *table, uint32_t pid, uint32_t tid, uint64_t time)
{
	bool is_new;
	uint64_t *slot = map_u64_at(&table->thread_of, (uint64_t)pid << 32 | tid, &is_new);
	if (!slot)
		return NULL;
	if (is_new) {
		struct thread_counts made = {pid, tid, time, table->values.len};
		*slot = table->threads.len;
		size_t need = table->values.len + table->event_count;
		if (!vec_push(&table->threads, made) || !vec_reserve(&table->values, need))
			return NULL;
		memset(table->values.items + table->values.len, 0, table->event_count * sizeof(uint64_t));
		table->values.len = need;
	}
	struct thread_counts *thread = &table->threads.items[*slot];
	if (time < thread->time)
		thread->time = time;
	return table->values.items + thread->first_value;
}

/* Adds a READ record; a damaged one is ignored. Returns false if memory runs out. */
static bool add_read(struct read_table *table, const struct perfdata_reader *reader, const struct record *record)
{
	struct record_fields fields;
	struct read_values values;
	struct sample_id trailer = {0};
	const struct perfdata_event *event = perfdata_reader_event_of(reader, record);
	if (!event || event->index >= table->event_count || record_decode(record, &fields, NULL) != TALLY_OK)
		return true;
	struct cursor c = cursor_make(fields.read.values, record->swap);
	if (read_values_decode(&c, event->attr.read_format, &values, NULL) != TALLY_OK)
		return true;
	(void)perfdata_reader_sample_id(reader, record, &trailer);
	uint64_t *counts = counts_of(table, fields.read.pid, fields.read.tid, trailer.time);
	if (!counts)
		return false;
	table->has_event[event->index] = true;
	counts[event->index] += read_value_get(&values, 0).value;
	return true;
}

static int compare_threads(const void *left, const void *right)
{
	const struct thread_counts *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return COMPARE(a->first_value, b->first_value);
}

static int report_stats_digits(uint64_t value)
{
	int count = 1;
	for (; value >= 10; value /= 10)
		count++;
	return count;
}

static int report_stats_wider(int width, int other)
{
	return MAX(other, width);
}

struct read_widths {
	int pid, tid, name, count;
	int *values; /* Widths of the counts, indexed by event. */
};

static void report_stats_fit_widths(
	const struct read_table *table, const struct perfdata_event *events, struct read_widths *w)
{
	*w = (struct read_widths){.pid = 3, .tid = 3, .name = 4, .count = 5, .values = w->values};
	for (size_t e = 0; e < table->event_count; e++) {
		w->values[e] = (int)text_cells(events[e].name);
		if (table->has_event[e])
			w->name = report_stats_wider(w->name, w->values[e]);
	}
	for (size_t i = 0; i < table->threads.len; i++) {
		const struct thread_counts *thread = &table->threads.items[i];
		w->pid = report_stats_wider(w->pid, report_stats_digits(thread->pid));
		w->tid = report_stats_wider(w->tid, report_stats_digits(thread->tid));
		for (size_t e = 0; e < table->event_count; e++) {
			int width = report_stats_digits(table->values.items[thread->first_value + e]);
			w->values[e] = report_stats_wider(w->values[e], width);
			w->count = report_stats_wider(w->count, width);
		}
	}
}

static void print_read_table(struct text *out, const struct read_table *table, const struct perfdata_event *events,
	const struct read_widths *w)
{
	text_printf(out, "# %*s  %*s", w->pid, "PID", w->tid, "TID");
	for (size_t e = 0; e < table->event_count; e++) {
		if (table->has_event[e])
			text_str(out, "  "), text_str_right(out, events[e].name, (size_t)w->values[e]);
	}
	text_char(out, '\n');
	for (size_t i = 0; i < table->threads.len; i++) {
		const struct thread_counts *thread = &table->threads.items[i];
		text_printf(out, "  %*" PRIu32 "  %*" PRIu32, w->pid, thread->pid, w->tid, thread->tid);
		for (size_t e = 0; e < table->event_count; e++) {
			if (table->has_event[e])
				text_printf(
					out, "  %*" PRIu64, w->values[e], table->values.items[thread->first_value + e]);
		}
		text_char(out, '\n');
	}
}

/* As in perf, these lines have no line ends, because scripts parse this format. */
static void print_read_raw(struct text *out, const struct read_table *table, const struct perfdata_event *events,
	const struct read_widths *w)
{
	text_printf(out, "# %*s  %*s  %*s  %*s  %*s\n", w->pid, "PID", w->tid, "TID", w->name, "Name", 3, "Raw",
		w->count, "Count");
	for (size_t i = 0; i < table->threads.len; i++) {
		const struct thread_counts *thread = &table->threads.items[i];
		for (size_t e = 0; e < table->event_count; e++) {
			if (!table->has_event[e])
				continue;
			text_printf(out, "  %*" PRIu32 "  %*" PRIu32 "  ", w->pid, thread->pid, w->tid, thread->tid);
			text_str_right(out, events[e].name, (size_t)w->name);
			text_printf(
				out, "  %*zx  %*" PRIu64, 3, e, w->count, table->values.items[thread->first_value + e]);
		}
	}
}

static void put_reads(struct json *j, const struct read_table *table, const struct perfdata_event *events)
{
	json_array(j, "threads");
	for (size_t i = 0; i < table->threads.len; i++) {
		const struct thread_counts *thread = &table->threads.items[i];
		json_object(j, NULL);
		json_u64(j, "pid", thread->pid);
		json_u64(j, "tid", thread->tid);
		json_array(j, "counts");
		for (size_t e = 0; e < table->event_count; e++) {
			if (!table->has_event[e])
				continue;
			json_object(j, NULL);
			json_string(j, "event", events[e].name);
			json_u64(j, "count", table->values.items[thread->first_value + e]);
			json_object_end(j);
		}
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static enum tally_status collect_reads(
	struct read_table *table, struct perfdata_reader *reader, struct tally_error *err)
{
	struct record record;
	enum tally_status status = TALLY_OK;
	perfdata_reader_rewind(reader);
	while (status == TALLY_OK) {
		status = perfdata_reader_next(reader, &record, err);
		if (status == TALLY_OK && record.type == RECORD_READ && !add_read(table, reader, &record))
			return error_nomem(err);
	}
	return status == TALLY_END ? TALLY_OK : status;
}

enum tally_status report_read_values(
	struct text *out, struct json *j, struct perfdata_reader *reader, bool raw, struct tally_error *err)
{
	struct read_table table = {0};
	struct read_widths widths = {0};
	const struct perfdata_event *events = perfdata_reader_events(reader, &table.event_count);
	table.has_event = calloc(table.event_count + 1, sizeof(*table.has_event));
	widths.values = calloc(table.event_count + 1, sizeof(*widths.values));
	enum tally_status status = TALLY_OK;
	if (!table.has_event || !widths.values)
		status = error_nomem(err);
	if (status == TALLY_OK)
		status = collect_reads(&table, reader, err);
	if (status != TALLY_NOMEM) { /* For a truncated recording, the records before its end are printed. */
		if (table.threads.len)
			qsort(table.threads.items, table.threads.len, sizeof(*table.threads.items), compare_threads);
		report_stats_fit_widths(&table, events, &widths);
		if (j)
			put_reads(j, &table, events);
		else if (raw)
			print_read_raw(out, &table, events, &widths);
		else
			print_read_table(out, &table, events, &widths);
	}
	vec_free(&table.threads);
	vec_free(&table.values);
	map_u64_deinit(&table.thread_of);
	free(table.has_event);
	free(widths.values);
	return status;
}
