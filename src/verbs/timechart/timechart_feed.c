/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/timechart/timechart_feed.h"

#include "analysis/timechart_io.h"
#include "analysis/wait_events.h"
#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "tasks/session/sched_events.h"
#include "tasks/session/trace_fields.h"

#define MAX_FRAMES	24 /* Maximum number of frames of a backtrace. */
#define FLAG_HARD_IRQ	0x08 /* Bits of common_flags that are set for events in interrupt context. */
#define FLAG_SOFT_IRQ	0x10
#define IS_INTERRUPT(f) (((f) & (FLAG_HARD_IRQ | FLAG_SOFT_IRQ)) != 0)

enum feed_kind { FEED_OTHER, FEED_SCHED, FEED_IDLE, FEED_FREQUENCY, FEED_CALL, FEED_WAIT, FEED_CLOCK };

struct feed_event { /* How an event of the recording is used. */
	enum feed_kind kind;
	struct timechart_call call;
};

struct feeding {
	struct data_source *source;
	const struct timechart_feed *feed;
	struct timechart *chart;
	struct timechart_io io;
	const struct perfdata_event *first;
	struct feed_event *events;
	bool has_waking;
	struct text scratch;
};

static struct feed_event timechart_feed_kind_of(const struct timechart_feed *feed, struct tally_str name)
{
	struct feed_event event = {.kind = FEED_OTHER};
	if (str_starts_with(name, STR("sched:")))
		event.kind = FEED_SCHED;
	else if (str_equal(name, STR("power:cpu_idle")) && !feed->without_power)
		event.kind = FEED_IDLE;
	else if (str_equal(name, STR("power:cpu_frequency")) && !feed->without_power)
		event.kind = FEED_FREQUENCY;
	else if (timechart_call_of(name, &event.call))
		event.kind = FEED_CALL;
	return event;
}

/* Returns whether record was run with --off-cpu-thresh 0, so that all waits are recorded individually. Record's own
 * options end at "--". */
static bool timechart_feed_has_all_waits(const struct perfdata_string_list *words)
{
	bool has_all = false;
	for (size_t i = 0; i < words->len && !str_equal(words->items[i], STR("--")); i++) {
		struct tally_str value = words->items[i], name;
		if (str_next(&value, '=', &name) && str_equal(name, STR("--off-cpu-thresh")))
			has_all = str_equal(value.len || i + 1 == words->len ? value : words->items[i + 1], STR("0"));
	}
	return has_all;
}

static enum tally_status know_events(struct feeding *f, struct tally_error *err)
{
	size_t count, useful = 0;
	f->first = perfdata_reader_events(f->source->reader, &count);
	f->events = calloc(count + 1, sizeof(*f->events));
	if (!f->events)
		return error_nomem(err);
	const struct wait_events waits = wait_events_find(f->source->reader, WAITS_JOINED);
	for (size_t i = 0; i < count; i++) {
		f->events[i] = timechart_feed_kind_of(f->feed, f->first[i].name);
		if (i == waits.wait)
			f->events[i].kind = FEED_WAIT;
		else if (i == waits.clock && waits.wait != WAIT_EVENT_NONE)
			f->events[i].kind = FEED_CLOCK;
		useful += f->events[i].kind != FEED_OTHER;
	}
	f->has_waking = sched_events_have(f->source, SCHED_WAKING);
	f->chart->is_of_waits = waits.wait != WAIT_EVENT_NONE;
	f->chart->has_all_waits = timechart_feed_has_all_waits(&perfdata_reader_features(f->source->reader)->cmdline);
	return useful ? TALLY_OK
		      : error_set(err, TALLY_INVALID,
				"the recording has no scheduler, CPU state or I/O events, and no waits: record it with "
				"'timechart record' or 'record --wall'");
}

static uint64_t timechart_feed_number_of(const struct feeding *f, const struct data_sample *s, const char *name)
{
	uint64_t number;
	(void)trace_number_of(f->source->tracepoints, s->sample.raw, str_from(name), &number);
	return number;
}

/* Sets the task's name to that at the time of the sample or, if it is unknown, to the event's field. */
static bool name_task(struct feeding *f, const struct data_sample *s, int32_t tid, const char *field)
{
	uint32_t comm = machine_comm_at(f->source->pass.sideband.machine, tid, s->clock);
	struct tally_str name = {"", 0};
	if (comm != INTERN_NONE) {
		name = machine_string(f->source->pass.sideband.machine, comm);
	} else if (field) {
		text_clear(&f->scratch);
		(void)trace_text_of(f->source->tracepoints, s->sample.raw, str_from(field), &f->scratch);
		name = (struct tally_str){f->scratch.data ? f->scratch.data : "", f->scratch.len};
	}
	return !f->scratch.failed && (name.len == 0 || timechart_name(f->chart, tid, s->sample.time, name));
}

static bool timechart_feed_add_frames(struct feeding *f, const struct data_sample *s, struct tally_error *err)
{
	struct resolver *resolver = &f->source->pass.resolver;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	struct sample_array whole = resolver_sample_chain(resolver, &where, &s->event->layout, &s->sample);
	struct resolved_chain chain = resolver_chain_frames(resolver, &where, &whole);
	for (size_t i = 0; i < chain.count && i < MAX_FRAMES; i++) {
		const struct frame_name *name = frame_names_get(&f->source->names, chain.frames[i], err);
		if (!name)
			return false;
		text_str(&f->scratch, i ? "\n" : "");
		if (name->symbol)
			text_str(&f->scratch, name->symbol);
		else
			text_printf(&f->scratch, "0x%llx", (unsigned long long)chain.ips[i]);
	}
	return !resolver->failed;
}

static bool backtrace_of(struct feeding *f, const struct data_sample *s, uint32_t *text, struct tally_error *err)
{
	*text = INTERN_NONE;
	if (!(s->event->attr.sample_type & SAMPLE_CALLCHAIN))
		return true;
	text_clear(&f->scratch);
	return timechart_feed_add_frames(f, s, err) && !f->scratch.failed &&
	       tracks_text(&f->chart->tracks,
		       (struct tally_str){f->scratch.data ? f->scratch.data : "", f->scratch.len}, text);
}

static bool timechart_feed_take_switch(struct feeding *f, const struct sched_event *event, struct tally_error *err)
{
	const struct sample *sample = &event->sample.sample;
	const struct sched_out out = {.tid = event->tid,
		.pid = (int32_t)sample->tid == event->tid ? (int32_t)sample->pid : 0,
		.cpu = event->cpu,
		.time_ns = event->time_ns,
		.left = sched_left_of(event->state)};
	uint32_t text;
	return backtrace_of(f, &event->sample, &text, err) && name_task(f, &event->sample, event->tid, "prev_comm") &&
	       name_task(f, &event->sample, event->next, "next_comm") &&
	       timechart_switch(f->chart, &out, event->next, text);
}

static bool timechart_feed_take_wake(struct feeding *f, const struct sched_event *event, struct tally_error *err)
{
	const struct data_sample *s = &event->sample;
	uint64_t flags;
	if (event->kind == SCHED_WAKEUP && f->has_waking)
		return true;
	(void)trace_common_number_of(f->source->tracepoints, s->sample.raw, STR("common_flags"), &flags);
	struct timechart_wake wake = {.tid = event->tid,
		.by = IS_INTERRUPT(flags) ? TIMECHART_INTERRUPT : (int32_t)s->sample.tid,
		.time_ns = event->time_ns};
	return backtrace_of(f, s, &wake.text, err) && name_task(f, s, event->tid, "comm") &&
	       timechart_wake(f->chart, &wake);
}

static bool take_exit(struct feeding *f, const struct sched_event *event)
{
	uint32_t track = timechart_track(f->chart, event->tid, 0);
	if (track != TRACK_NONE)
		timechart_io_forget(&f->io, track);
	return timechart_exit(f->chart, event->tid);
}

static bool take_sched(struct feeding *f, const struct sched_event *event, struct tally_error *err)
{
	switch (event->kind) {
	case SCHED_SWITCH:
		return timechart_feed_take_switch(f, event, err);
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
	case SCHED_WAKING:
		return timechart_feed_take_wake(f, event, err);
	case SCHED_FORK:
		return timechart_fork(f->chart, event->tid, event->pid, event->parent);
	case SCHED_EXIT:
		return take_exit(f, event);
	case SCHED_NAMED: /* A thread that executes a program takes over the main thread's ID. */
		return timechart_goes_on_as(f->chart, event->tid, event->pid);
	case SCHED_UNKNOWN:
	case SCHED_RUNTIME:
	case SCHED_MIGRATE:
	case SCHED_LOST:
	case SCHED_KINDS:
		break;
	}
	return true;
}

static bool take_power(struct feeding *f, enum feed_kind kind, const struct data_sample *s)
{
	uint64_t cpu = timechart_feed_number_of(f, s, "cpu_id"), state = timechart_feed_number_of(f, s, "state");
	if (cpu >= LIMIT_CPUS)
		return true;
	if (kind == FEED_IDLE)
		return timechart_idle(f->chart, (uint32_t)cpu, s->sample.time, (uint32_t)state);
	return timechart_frequency(f->chart, (uint32_t)cpu, s->sample.time, state);
}

static uint32_t descriptor_of(const struct feeding *f, const struct data_sample *s)
{
	static const char *const names[] = {"fd", "epfd"};
	uint64_t number;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (trace_number_of(f->source->tracepoints, s->sample.raw, str_from(names[i]), &number))
			return number < TRACK_MIXED ? (uint32_t)number : TRACK_MIXED;
	return TRACK_MIXED;
}

static bool take_call(
	struct feeding *f, const struct timechart_call *call, const struct data_sample *s, struct tally_error *err)
{
	int32_t tid = (int32_t)s->sample.tid;
	struct timechart_entry entry = {.time_ns = s->sample.time};
	if (tid <= 0)
		return true;
	uint32_t track = timechart_track(f->chart, tid, (int32_t)s->sample.pid);
	if (track == TRACK_NONE || !name_task(f, s, tid, NULL))
		return false;
	if (!call->is_entry)
		return timechart_io_exit(
			&f->io, track, call, s->sample.time, (int64_t)timechart_feed_number_of(f, s, "ret"));
	entry.descriptor = descriptor_of(f, s);
	return backtrace_of(f, s, &entry.text, err) && timechart_io_enter(&f->io, track, call, &entry);
}

static bool take_clock(struct feeding *f, const struct data_sample *s)
{
	const struct sample *sample = &s->sample;
	const struct timechart_on on = {.tid = (int32_t)sample->tid,
		.pid = (int32_t)sample->pid,
		.cpu = sample->present & SAMPLE_CPU ? sample->cpu : 0,
		.since_ns = sample->time - MIN(sample->period, sample->time),
		.time_ns = sample->time};
	return on.tid <= 0 || on.cpu >= LIMIT_CPUS || (timechart_on(f->chart, &on) && name_task(f, s, on.tid, NULL));
}

static enum span_kind timechart_feed_kind_of_state(unsigned state)
{
	return state == WAIT_RUNNABLE || state == WAIT_THROTTLED     ? SPAN_WAITING
	       : state == WAIT_UNINTERRUPTIBLE || state == WAIT_DISK ? SPAN_BLOCKED
	       : state == WAIT_FUTEX				     ? SPAN_LOCK
	       : state == WAIT_POLL				     ? SPAN_POLL
	       : state == WAIT_IO				     ? SPAN_DATA
								     : SPAN_SLEEP;
}

/* Adds a wait with its state and waker as the first line of its backtrace. Sums of waits have no position on a
 * track. */
static bool take_wait(struct feeding *f, const struct data_sample *s, struct tally_error *err)
{
	const struct sample *sample = &s->sample;
	struct wait_record wait = {.count = 1};
	unsigned state = wait_sample_state(s->event, sample);
	bool is_told = wait_sample_decode(s->event, sample, &wait);
	if ((wait.flags & WAIT_FLAG_SUM) || sample->time >= WAIT_SUMS_NS || (int32_t)sample->tid <= 0 ||
		sample->cpu >= LIMIT_CPUS) {
		f->chart->left_out += wait.count;
		return true;
	}
	struct timechart_off off = {.tid = (int32_t)sample->tid,
		.pid = (int32_t)sample->pid,
		.cpu = sample->cpu,
		.start_ns = sample->time - MIN(sample->period, sample->time),
		.end_ns = sample->time,
		.kind = timechart_feed_kind_of_state(state)};
	if (is_told && (wait.flags & WAIT_FLAG_INTERRUPT))
		off.by = TIMECHART_INTERRUPT;
	else if (is_told && (wait.flags & WAIT_FLAG_WAKER))
		off.by = (int32_t)wait.waker_tid;
	struct tally_str name = wait_sample_state_name(state);
	text_clear(&f->scratch);
	text_bytes(&f->scratch, name.data, name.len);
	if (off.by) {
		text_str(&f->scratch, ", woken by ");
		wait_sample_waker(s->event, sample, &f->scratch);
	}
	text_char(&f->scratch, '\n');
	return timechart_feed_add_frames(f, s, err) && !f->scratch.failed &&
	       tracks_text(&f->chart->tracks, text_view(&f->scratch), &off.text) && timechart_off(f->chart, &off) &&
	       name_task(f, s, off.tid, NULL);
}

static bool timechart_feed_take(struct feeding *f, struct sched_event *event, struct tally_error *err)
{
	const struct data_sample *s = &event->sample;
	const struct feed_event *of = s->event ? &f->events[s->event - f->first] : NULL;
	if (!of && s->record.type == RECORD_LOST) {
		bool has_cpu = (s->sample.present & SAMPLE_CPU) != 0;
		return timechart_lost(f->chart, has_cpu ? s->sample.cpu : TIMECHART_ANY_CPU, s->sample.time);
	}
	if (!of || of->kind == FEED_SCHED)
		return !sched_event_read(f->source, event) || take_sched(f, event, err);
	if (of->kind == FEED_CALL)
		return take_call(f, &of->call, s, err);
	if (of->kind == FEED_WAIT)
		return take_wait(f, s, err);
	if (of->kind == FEED_CLOCK)
		return take_clock(f, s);
	return of->kind == FEED_OTHER || take_power(f, of->kind, s);
}

enum tally_status timechart_feed(
	struct data_source *source, const struct timechart_feed *feed, struct timechart *chart, struct tally_error *err)
{
	struct feeding f = {.source = source,
		.feed = feed,
		.chart = chart,
		.io = {.tracks = &chart->tracks, .merge_ns = feed->merge_ns, .skips_eagain = feed->skips_eagain}};
	enum tally_status status = know_events(&f, err);
	bool is_fed = true;
	source->with_sideband = source->with_losses = true;
	while (status == TALLY_OK && is_fed) {
		struct sched_event event = {0};
		status = data_source_next(source, &event.sample, err);
		is_fed = status != TALLY_OK || timechart_feed_take(&f, &event, err);
	}
	if (!is_fed || !timechart_io_finish(&f.io) || !timechart_finish(chart))
		status = error_nomem(err);
	timechart_io_deinit(&f.io);
	text_deinit(&f.scratch);
	free(f.events);
	return status == TALLY_END ? TALLY_OK : status;
}
