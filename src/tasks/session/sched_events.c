/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/sched_events.h"

#include "base/array.h"
#include "base/limits.h"
#include "tasks/session/trace_fields.h"

static enum sched_kind sched_events_kind_of(const struct perfdata_event *event)
{
	static const struct {
		const char *name;
		enum sched_kind kind;
	} known[] = {{"sched:sched_switch", SCHED_SWITCH}, {"sched:sched_wakeup", SCHED_WAKEUP},
		{"sched:sched_wakeup_new", SCHED_WAKEUP_NEW}, {"sched:sched_waking", SCHED_WAKING},
		{"sched:sched_stat_runtime", SCHED_RUNTIME}, {"sched:sched_migrate_task", SCHED_MIGRATE}};
	for (size_t i = 0; event && i < ARRAY_LEN(known); i++)
		if (str_equal(event->name, str_from(known[i].name)))
			return known[i].kind;
	return SCHED_UNKNOWN;
}

bool sched_events_have(const struct data_source *source, enum sched_kind kind)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(source->reader, &count);
	for (size_t i = 0; i < count; i++)
		if (sched_events_kind_of(&events[i]) == kind)
			return true;
	return false;
}

static void read_task(struct sched_event *event)
{
	struct record_fields fields;
	struct tally_error err;
	uint32_t type = event->sample.record.type;
	if (type == RECORD_LOST) {
		event->kind = SCHED_LOST;
		if (!(event->sample.sample.present & SAMPLE_CPU))
			event->cpu = UINT32_MAX;
		return;
	}
	if ((type != RECORD_FORK && type != RECORD_EXIT && type != RECORD_COMM) ||
		record_decode(&event->sample.record, &fields, &err) != TALLY_OK)
		return;
	if (type == RECORD_COMM) {
		event->kind = SCHED_NAMED;
		event->tid = (int32_t)fields.comm.tid;
		event->pid = (int32_t)fields.comm.pid;
		return;
	}
	event->kind = type == RECORD_FORK ? SCHED_FORK : SCHED_EXIT;
	event->tid = (int32_t)fields.task.tid;
	event->pid = (int32_t)fields.task.pid;
	event->parent = (int32_t)fields.task.ptid;
}

static uint64_t sched_events_number(struct data_source *source, const struct sched_event *event, const char *name)
{
	uint64_t value;
	(void)trace_number_of(source->tracepoints, event->sample.sample.raw, str_from(name), &value);
	return value;
}

static void read_fields(struct data_source *source, struct sched_event *event)
{
	bool is_switch = event->kind == SCHED_SWITCH;
	event->tid = (int32_t)sched_events_number(source, event, is_switch ? "prev_pid" : "pid");
	if (is_switch) {
		event->next = (int32_t)sched_events_number(source, event, "next_pid");
		event->state = sched_events_number(source, event, "prev_state");
		event->prio = (int32_t)sched_events_number(source, event, "prev_prio");
	} else if (event->kind == SCHED_RUNTIME) {
		event->ran_ns = sched_events_number(source, event, "runtime");
	} else if (event->kind == SCHED_MIGRATE) {
		event->from_cpu = (int32_t)sched_events_number(source, event, "orig_cpu");
		event->to_cpu = (int32_t)sched_events_number(source, event, "dest_cpu");
	}
}

bool sched_event_read(struct data_source *source, struct sched_event *event)
{
	const struct data_sample sample = event->sample;
	*event = (struct sched_event){.kind = sched_events_kind_of(sample.event), .sample = sample};
	event->time_ns = sample.sample.time;
	event->cpu = sample.sample.cpu;
	if (!sample.event)
		read_task(event);
	else if (event->kind != SCHED_UNKNOWN && event->cpu < LIMIT_CPUS)
		read_fields(source, event);
	else
		return false;
	return true;
}

enum tally_status sched_events_next(struct data_source *source, struct sched_event *event, struct tally_error *err)
{
	for (;;) {
		enum tally_status status = data_source_next(source, &event->sample, err);
		if (status != TALLY_OK || sched_event_read(source, event))
			return status;
	}
}

bool sched_is_runnable(uint64_t state)
{
	return state == 0 || (state & SCHED_STATE_PREEMPTED);
}

enum sched_left sched_left_of(uint64_t state)
{
	if (sched_is_runnable(state))
		return SCHED_LEFT_RUNNABLE;
	return state & SCHED_STATE_BLOCKED ? SCHED_LEFT_BLOCKED : SCHED_LEFT_SLEEPING;
}

struct tally_str sched_comm(const struct data_source *source, int32_t tid, uint64_t clock, char room[16])
{
	const struct data_sample of = {.sample.tid = (uint32_t)tid, .clock = clock};
	return data_source_comm(source, &of, room);
}

uint32_t sched_cpu_count(const struct data_source *source)
{
	uint32_t online = perfdata_reader_features(source->reader)->cpus_online;
	return online == 0 ? 1 : MIN(online, LIMIT_CPUS);
}
