/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/export/export_marks.h"

#include <stdlib.h>

#include "analysis/record_run.h"
#include "analysis/tracepoint_fields.h"
#include "base/error.h"
#include "base/map_u64.h"
#include "base/order.h"
#include "base/spool_sort.h"
#include "tasks/session/trace_fields.h"

struct export_marks_reading {
	struct export_marks *marks;
	struct perfdata_reader *reader;
	struct tracepoint_printer *tracepoints; /* NULL if the recording has no formats of tracepoints. */
	const struct perfdata_event *sched_switch; /* NULL if sched_switch was not recorded. */
};

static bool export_marks_add_text(struct export_marks *marks, struct tally_str text, uint32_t *id)
{
	return intern_add(&marks->texts, text.data ? text.data : "", text.len, id);
}

static bool export_marks_put(struct export_marks *marks, const struct export_mark *mark)
{
	/* Names are needed outside of the time spans too, because they remain valid until they change. */
	bool is_wanted = !marks->spans || mark->kind == EXPORT_COMM || mark->kind == EXPORT_EXEC ||
			 time_spans_have(marks->spans, mark->time);
	return !is_wanted || spool_append(&marks->items, mark, sizeof(*mark));
}

/* In a CPU-wide recording, each context switch has two records: that of the thread that leaves the CPU, which names
 * both threads, and that of the thread that enters it, for which this function returns false. */
static bool export_marks_take_switch(const struct record_switch *from, struct export_mark *mark)
{
	int32_t own = mark->tid;
	if (from->is_cpu_wide && !from->is_out)
		return false;
	mark->kind = EXPORT_SWITCH;
	mark->tid = from->is_out ? own : 0;
	mark->number = from->is_cpu_wide ? (int32_t)from->next_prev_tid : from->is_out ? 0 : own;
	/* Encoded like sched_switch's prev_state: 1 if the thread sleeps, 0 if it is runnable. */
	mark->state = from->is_out && !from->is_preempt;
	return true;
}

static bool export_marks_take_record(
	struct export_marks_reading *r, const struct record *record, struct export_mark *mark)
{
	struct record_fields fields;
	struct export_marks *marks = r->marks;
	if (record_decode(record, &fields, NULL) != TALLY_OK)
		return true;
	if (record->type == RECORD_COMM) {
		mark->kind = fields.comm.is_exec ? EXPORT_EXEC : EXPORT_COMM;
		mark->pid = (int32_t)fields.comm.pid;
		mark->tid = (int32_t)fields.comm.tid;
		if (!export_marks_add_text(marks, fields.comm.comm, &mark->text))
			return false;
	} else if (record->type == RECORD_FORK) {
		mark->kind = EXPORT_FORK;
		mark->pid = (int32_t)fields.task.ppid;
		mark->tid = (int32_t)fields.task.ptid;
		mark->number = (int32_t)fields.task.tid;
	} else if (record->type == RECORD_EXIT) {
		mark->kind = EXPORT_EXIT;
		mark->pid = (int32_t)fields.task.pid;
		mark->tid = (int32_t)fields.task.tid;
	} else if (record->type == RECORD_SWITCH || record->type == RECORD_SWITCH_CPU_WIDE) {
		if (!export_marks_take_switch(&fields.context_switch, mark))
			return true;
	} else {
		uint64_t lost = record->type == RECORD_LOST ? fields.lost.lost : fields.lost_samples.lost;
		if (lost == 0)
			return true;
		mark->kind = EXPORT_LOST;
		mark->number = lost > INT64_MAX ? INT64_MAX : (int64_t)lost;
	}
	return export_marks_put(marks, mark);
}

static bool is_told(const struct export_marks_reading *r, uint32_t type)
{
	if (type == RECORD_SWITCH || type == RECORD_SWITCH_CPU_WIDE)
		return r->marks->with_switches && (!r->sched_switch || !r->tracepoints);
	return type == RECORD_COMM || type == RECORD_FORK || type == RECORD_EXIT || type == RECORD_LOST ||
	       type == RECORD_LOST_SAMPLES;
}

static bool export_marks_add_record(struct export_marks_reading *r, const struct record *record)
{
	struct export_mark mark = {.pid = -1, .tid = -1, .cpu = -1, .text = INTERN_NONE, .left_text = INTERN_NONE};
	struct sample_id id;
	if (perfdata_reader_sample_id(r->reader, record, &id)) {
		mark.time = id.has_time ? id.time : 0;
		mark.cpu = id.has_cpu ? (int32_t)id.cpu : -1;
		mark.pid = id.has_tid ? (int32_t)id.pid : -1;
		mark.tid = id.has_tid ? (int32_t)id.tid : -1;
	}
	return export_marks_take_record(r, record, &mark);
}

static bool export_marks_text_of(struct export_marks_reading *r, struct tally_bytes raw, const char *name, uint32_t *id)
{
	struct tracepoint_value value;
	unsigned index;
	*id = INTERN_NONE;
	if (!tracepoint_find(r->tracepoints, raw, TRACEPOINT_OWN, str_from(name), &index) ||
		!tracepoint_value_at(r->tracepoints, raw, TRACEPOINT_OWN, index, &value))
		return true;
	return value.field.form != TRACEPOINT_TEXT || export_marks_add_text(r->marks, value.text, id);
}

static int64_t export_marks_number_of(struct export_marks_reading *r, struct tally_bytes raw, const char *name)
{
	uint64_t value = 0;
	(void)trace_number_of(r->tracepoints, raw, str_from(name), &value);
	return (int64_t)value;
}

static bool export_marks_add_switch(struct export_marks_reading *r, const struct record *record)
{
	struct sample sample;
	const struct perfdata_event *event = perfdata_reader_event_of(r->reader, record);
	if (event != r->sched_switch || sample_decode(&event->layout, record, &sample, NULL) != TALLY_OK)
		return true;
	struct export_mark mark = {.time = sample.time,
		.kind = EXPORT_SWITCH,
		.pid = sample.present & SAMPLE_TID ? (int32_t)sample.pid : -1,
		.tid = (int32_t)export_marks_number_of(r, sample.raw, "prev_pid"),
		.cpu = sample.present & SAMPLE_CPU ? (int32_t)sample.cpu : -1,
		.number = (int32_t)export_marks_number_of(r, sample.raw, "next_pid"),
		.state = export_marks_number_of(r, sample.raw, "prev_state")};
	return export_marks_text_of(r, sample.raw, "next_comm", &mark.text) &&
	       export_marks_text_of(r, sample.raw, "prev_comm", &mark.left_text) && export_marks_put(r->marks, &mark);
}

static int export_marks_by_time(const void *left, const void *right)
{
	const struct export_mark *a = left, *b = right;
	return COMPARE(a->time, b->time);
}

/* Context-switch records contain no names, so the names that the threads had at that time are added. Returns false
 * if out of memory. */
static bool name_switches(struct export_marks *marks)
{
	struct map_u64 names = {0}; /* Maps a thread to the text of its name. */
	bool is_done = true;
	for (size_t i = 0; i < marks->items.len / sizeof(struct export_mark) && is_done; i++) {
		struct export_mark *mark = (struct export_mark *)(void *)marks->items.base + i;
		spool_walk(&marks->items, i, sizeof(*mark));
		uint64_t text = INTERN_NONE;
		if (mark->kind == EXPORT_COMM || mark->kind == EXPORT_EXEC) {
			is_done = map_u64_set(&names, (uint32_t)mark->tid, mark->text);
		} else if (mark->kind == EXPORT_FORK && map_u64_find(&names, (uint32_t)mark->tid, &text)) {
			is_done = map_u64_set(&names, (uint32_t)mark->number, text);
		} else if (mark->kind == EXPORT_SWITCH && mark->text == INTERN_NONE) {
			if (map_u64_find(&names, (uint32_t)mark->number, &text))
				mark->text = (uint32_t)text;
			if (map_u64_find(&names, (uint32_t)mark->tid, &text))
				mark->left_text = (uint32_t)text;
		}
	}
	map_u64_deinit(&names);
	return is_done;
}

static enum tally_status read_run(struct export_marks_reading *r, const struct record_run *run, struct tally_error *err)
{
	struct record record;
	size_t left = 0;
	record_run_move(run, &left, 0);
	for (size_t position = 0; record_run_next(run, &position, &record, NULL) == TALLY_OK;) {
		bool is_done = true;
		record_run_pass(run, &left, position);
		r->marks->has_counts = r->marks->has_counts || record.type == RECORD_STAT;
		if (is_told(r, record.type))
			is_done = export_marks_add_record(r, &record);
		else if (record.type == RECORD_SAMPLE && r->sched_switch && r->tracepoints)
			is_done = export_marks_add_switch(r, &record);
		if (!is_done)
			return error_nomem(err);
	}
	bool is_sorted = spool_sort(&r->marks->items, sizeof(struct export_mark), export_marks_by_time);
	return is_sorted && name_switches(r->marks) ? TALLY_OK : error_nomem(err);
}

enum tally_status export_marks_read(struct export_marks *marks, struct perfdata_reader *reader, struct tally_error *err)
{
	struct export_marks_reading r = {.marks = marks, .reader = reader};
	struct record_run run = {0};
	size_t count;
	spool_init(&marks->items);
	intern_init(&marks->texts);
	enum tally_status status = record_run_open(reader, &run, err);
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	for (size_t i = 0; i < count; i++)
		if (marks->with_switches && str_equal(events[i].name, STR("sched:sched_switch")))
			r.sched_switch = &events[i];
	struct tally_bytes formats = perfdata_reader_features(reader)->tracing_data;
	/* Invalid formats are reported by the code that prints fields. */
	if (status == TALLY_OK && r.sched_switch && formats.len > 0)
		(void)(tracepoint_printer_create(formats, &r.tracepoints, NULL) == TALLY_OK);
	if (status == TALLY_OK)
		status = read_run(&r, &run, err);
	tracepoint_printer_destroy(r.tracepoints);
	record_run_close(&run);
	perfdata_reader_rewind(reader);
	return status;
}

void export_marks_deinit(struct export_marks *marks)
{
	spool_deinit(&marks->items);
	intern_deinit(&marks->texts);
}
