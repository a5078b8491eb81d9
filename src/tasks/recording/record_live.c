/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_live.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "kernel/events/event_gates.h"
#include "kernel/recording/record_attrs.h"
#include "kernel/system/memory_limit.h"
#include "tasks/recording/record_features.h"
#include "tasks/recording/ring_merge.h"

/* A ring has room for at least so many of the largest stack dumps: those of 16 ms at 4 kHz. */
#define STACKS_A_RING	      64
#define RING_BYTES_MOST	      (16u << 20)
#define RING_BYTES_LEAST      (512u << 10)
#define RING_BYTES_ALL	      (512u << 20) /* Limit for the rings of all CPUs together. */
#define RECORD_LIVE_OUT_BYTES (256u << 10) /* Output is written in blocks of about this size. */
#define WINDOW_MS	      500
/* Number of consecutive windows (of WINDOW_MS) under pressure before a step, because a single one may be caused by
 * another program. */
#define PRESSED_MOST 2
#define CALM_LEAST   6 /* Number of consecutive windows without pressure before a step back. */
#define FREQ_LEAST   50

/* Steps that reduce the load when the unwinder falls behind: step 0 changes nothing, the next two shorten stack dumps,
 * and each further step halves the sampling frequency. */
static const size_t stack_bytes_of_step[] = {SIZE_MAX, 16384, 8192};
#define SHORT_STEPS (ARRAY_LEN(stack_bytes_of_step) - 1)

struct record_live {
	struct record_live_config config;
	struct live_unwind *unwind;
	struct ring_merge merge;
	struct writer out;
	unsigned step;
	bool can_lower;
	uint64_t freq; /* The frequency that was requested. */
	/* Start of the current window, and of the time with a lowered frequency. */
	int64_t window_ms, lowered_since_ms;
	/* Set if the current window is under pressure: samples were lost, or a ring was nearly full. */
	bool is_pressed;
	unsigned pressed_windows, calm_windows; /* Numbers of consecutive windows. */
	uint64_t lost_before;
	struct record_live_summary summary;
};

static uint64_t record_live_time_of(void *context, const struct record *record)
{
	return live_unwind_time(context, record);
}

static enum tally_status record_live_add_events(struct record_live *live, struct tally_error *err)
{
	const struct event_list *events = live->config.events;
	size_t source_count;
	const struct recorder_source *sources = recorder_sources(live->config.recorder, &source_count);
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < events->len; i++) {
		const struct perf_attr *attr = &events->specs[i].attr;
		uint64_t *ids;
		size_t count;
		status = record_event_ids(sources, source_count, (uint32_t)i, &ids, &count, err);
		if (status != TALLY_OK)
			return status;
		status = live_unwind_add_event(live->unwind, attr, ids, count, err);
		free(ids);
		if (status == TALLY_OK && !event_is_dummy(&events->specs[i]) &&
			record_attrs_is_walked(attr, live->config.attrs))
			live_unwind_add_walked(live->unwind);
		if (ATTR_HAS(attr, FREQ) && attr->sample_period_or_freq > live->freq)
			live->freq = attr->sample_period_or_freq;
	}
	return status;
}

/* Half of the available memory is for stacks and their data, because the rest of the recording and other programs also
 * need some. */
static void limit_memory(struct record_live *live)
{
	uint64_t used = live_unwind_memory(live->unwind), left = memory_limit_left("");
	live_unwind_limit(live->unwind, left == UINT64_MAX ? left : left / 2 + used);
}

enum tally_status record_live_create(
	const struct record_live_config *config, struct record_live **out, struct tally_error *err)
{
	struct record_live *live = calloc(1, sizeof(*live));
	struct live_unwind_config unwind = {
		.arch = record_host_arch(), .store = config->store, .kept_registers = config->kept_registers};
	if (!live)
		return error_nomem(err);
	live->config = *config;
	enum tally_status status = live_unwind_create(&unwind, &live->unwind, err);
	if (status == TALLY_OK)
		status = ring_merge_init(&live->merge, config->recorder, record_live_time_of, live->unwind, err);
	if (status == TALLY_OK)
		status = record_live_add_events(live, err);
	if (status != TALLY_OK) {
		record_live_destroy(live);
		return status;
	}
	live->can_lower = live->freq > 0 && !config->keeps_rate;
	live->window_ms = clock_ms();
	limit_memory(live);
	*out = live;
	return TALLY_OK;
}

void record_live_destroy(struct record_live *live)
{
	if (!live)
		return;
	ring_merge_deinit(&live->merge);
	live_unwind_destroy(live->unwind);
	writer_deinit(&live->out);
	free(live);
}

enum tally_status record_live_add_event(struct record_live *live, const struct perf_attr *attr, const uint64_t *ids,
	size_t id_count, struct tally_error *err)
{
	return live_unwind_add_event(live->unwind, attr, ids, id_count, err);
}

enum tally_status record_live_add_stacks(struct record_live *live, const struct perf_attr *attr, const uint64_t *ids,
	size_t id_count, struct tally_error *err)
{
	return live_unwind_add_stacks(live->unwind, attr, ids, id_count, err);
}

void record_live_set_interpreted(struct record_live *live, const struct live_interpreted *interpreted)
{
	live_unwind_set_interpreted(live->unwind, interpreted);
}

static enum tally_status record_live_flush(
	struct record_live *live, const struct record_sink *sink, struct tally_error *err)
{
	struct tally_bytes bytes = writer_view(&live->out);
	if (bytes.len == 0)
		return TALLY_OK;
	enum tally_status status = sink->take(sink->context, &bytes, 1, err);
	writer_clear(&live->out);
	return status;
}

static enum tally_status record_live_feed_all(
	struct record_live *live, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	struct record record;
	for (size_t i = 0; status == TALLY_OK && i < slice_count; i++)
		for (size_t at = 0; status == TALLY_OK && at < slices[i].len; at += record.bytes.len) {
			status = record_at(slices[i], false, at, &record, err);
			if (status == TALLY_OK)
				status = live_unwind_feed(live->unwind, &record, &live->out, err);
		}
	return status;
}

enum tally_status record_live_pass(struct record_live *live, const struct tally_bytes *slices, size_t slice_count,
	const struct record_sink *sink, struct tally_error *err)
{
	enum tally_status status = record_live_feed_all(live, slices, slice_count, err);
	return status == TALLY_OK ? record_live_flush(live, sink, err) : status;
}

enum tally_status record_live_learn(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct record_live *live = context;
	enum tally_status status = record_live_feed_all(live, slices, slice_count, err);
	writer_clear(&live->out);
	return status;
}

static void set_step(struct record_live *live, unsigned step, int64_t now)
{
	unsigned halvings = step > SHORT_STEPS ? step - (unsigned)SHORT_STEPS : 0;
	unsigned before = live->step > SHORT_STEPS ? live->step - (unsigned)SHORT_STEPS : 0;
	uint64_t freq = live->freq >> halvings;
	if (halvings != before && (freq < FREQ_LEAST || !recorder_set_freq(live->config.recorder, freq))) {
		live->can_lower &= halvings < before;
		return;
	}
	live->step = step;
	live_unwind_shorten(live->unwind, stack_bytes_of_step[MIN(step, SHORT_STEPS)]);
	if (halvings > 0 && before == 0)
		live->lowered_since_ms = now;
	if (halvings == 0 && before > 0)
		live->summary.lowered_ms += (uint64_t)(now - live->lowered_since_ms);
	if (halvings > 0 && (live->summary.least_freq == 0 || freq < live->summary.least_freq))
		live->summary.least_freq = freq;
}

static void record_live_adapt(struct record_live *live, uint64_t fill)
{
	uint64_t lost = live_unwind_totals(live->unwind).lost;
	int64_t now = clock_ms();
	live->is_pressed |= lost > live->lost_before || fill > recorder_ring_bytes(live->config.recorder) / 8 * 7;
	live->lost_before = lost;
	if (now - live->window_ms < WINDOW_MS)
		return;
	live->pressed_windows = live->is_pressed ? live->pressed_windows + 1 : 0;
	live->calm_windows = live->is_pressed ? 0 : live->calm_windows + 1;
	live->is_pressed = false;
	live->window_ms = now;
	limit_memory(live);
	if (live->pressed_windows >= PRESSED_MOST && (live->step < SHORT_STEPS || live->can_lower)) {
		set_step(live, live->step + 1, now);
		live->pressed_windows = 0;
	} else if (live->step > 0 && live->calm_windows >= CALM_LEAST) {
		set_step(live, live->step - 1, now);
		live->calm_windows = 0;
	}
}

enum tally_status record_live_drain(struct record_live *live, const struct record_sink *sink, bool is_last,
	uint64_t *bytes, struct tally_error *err)
{
	uint64_t fill;
	struct record record;
	enum tally_status status = ring_merge_look(&live->merge, is_last, &fill, err);
	*bytes = 0;
	if (status != TALLY_OK || (!is_last && fill < live->config.flush_bytes))
		return status;
	while (status == TALLY_OK && ring_merge_next(&live->merge, &record)) {
		status = live_unwind_feed(live->unwind, &record, &live->out, err);
		*bytes += record.bytes.len;
		if (status == TALLY_OK && !ring_merge_advance(&live->merge))
			status = error_nomem(err);
		if (status == TALLY_OK && live->out.len >= RECORD_LIVE_OUT_BYTES)
			status = record_live_flush(live, sink, err);
	}
	ring_merge_release(&live->merge);
	if (status == TALLY_OK)
		status = is_last ? live_unwind_finish(live->unwind, &live->out, err)
				 : live_unwind_end_round(live->unwind, &live->out, err);
	if (status == TALLY_OK)
		status = record_live_flush(live, sink, err);
	if (!is_last)
		record_live_adapt(live, fill);
	return status;
}

bool record_live_is_holding(const struct record_live *live)
{
	return live_unwind_is_holding(live->unwind);
}

size_t record_live_stack_bytes(size_t ring_bytes)
{
	size_t bytes = ring_bytes / STACKS_A_RING & ~(size_t)7;
	return bytes < RECORD_STACK_BYTES_DEFAULT ? RECORD_STACK_BYTES_DEFAULT
	       : bytes > RECORD_STACK_BYTES_MAX	  ? RECORD_STACK_BYTES_MAX
						  : bytes;
}

size_t record_live_ring_bytes(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t bytes = RING_BYTES_MOST;
	while (bytes > RING_BYTES_LEAST && bytes * (size_t)(cpus > 0 ? cpus : 1) > RING_BYTES_ALL)
		bytes /= 2;
	return bytes;
}

struct record_live_summary record_live_summary(struct record_live *live)
{
	struct record_live_summary summary = live->summary;
	summary.totals = live_unwind_totals(live->unwind);
	summary.totals.damaged += live->merge.merge.damaged;
	if (live->step > SHORT_STEPS)
		summary.lowered_ms += (uint64_t)(clock_ms() - live->lowered_since_ms);
	return summary;
}

static double record_live_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

void record_live_print(struct text *out, const struct record_live_summary *summary)
{
	const struct live_unwind_totals *t = &summary->totals;
	const uint64_t *ends = t->ends.ends;
	uint64_t all = stack_ends_unwound(&t->ends);
	if (all == 0 && t->damaged == 0)
		return;
	text_printf(out, "stacks: %.1f %% complete, %.1f %% cut, %.1f %% without unwind information, %.1f %% broken",
		record_live_percent(ends[UNWIND_ROOT], all),
		record_live_percent(ends[UNWIND_STACK_SHORT] + ends[UNWIND_LIMIT], all),
		record_live_percent(ends[UNWIND_NO_CFI], all),
		record_live_percent(ends[UNWIND_BROKEN] + ends[UNWIND_NO_REGISTERS], all));
	if (t->unknown)
		text_printf(out, "; %llu of processes that were not known yet", (unsigned long long)t->unknown);
	if (t->joined)
		text_printf(out, "; %llu joined with earlier ones", (unsigned long long)t->joined);
	if (t->shortened)
		text_printf(
			out, "\ntoo busy: %llu stacks were not read to their end", (unsigned long long)t->shortened);
	if (summary->least_freq)
		text_printf(out, "\ntoo busy: sampled at down to %llu Hz for %.1f s",
			(unsigned long long)summary->least_freq, (double)summary->lowered_ms / 1000);
	if (t->given_up)
		text_printf(out,
			"\nlittle memory: %llu stacks were not unwound, their samples have the kernel's call chains",
			(unsigned long long)t->given_up);
	if (t->refused)
		text_printf(out, "\nlittle memory: the unwind information of %llu programs was not read",
			(unsigned long long)t->refused);
	if (t->unmatched && t->lost)
		text_printf(out, "\n%llu stacks were dropped, because their samples were lost",
			(unsigned long long)t->unmatched);
	if (t->damaged)
		text_printf(out, "\n%llu damaged records were left out", (unsigned long long)t->damaged);
}
