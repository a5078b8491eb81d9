/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/sampling/live_rings.h"

#include "base/array.h"
#include "base/error.h"
#include "tasks/recording/record_description.h"
#include "tasks/session/event_words.h"

/* Maximum number of resolved frames in memory, one for each distinct address. */
#define FRAMES_KEPT  (1u << 20)
#define SETTLE_LOOKS 50
#define SETTLE_MS    20

void live_rings_init(struct live_rings *rings, const struct live_rings_user *user)
{
	*rings = (struct live_rings){.user = *user, .watch.signal_fd = -1};
	diag_init(&rings->diag);
	rings->request.kernel = kernel_seam_linux();
	rings->request.diag = &rings->diag;
	rings->opening.request = &rings->request;
}

void live_rings_say_notes(struct live_rings *rings)
{
	cli_print_diag(rings->user.cli, &rings->diag);
	diag_deinit(&rings->diag);
	diag_init(&rings->diag);
}

void live_rings_close(struct live_rings *rings)
{
	ring_merge_deinit(&rings->merge);
	record_opening_close(&rings->opening);
	command_watch_close(&rings->watch);
	writer_deinit(&rings->beginning);
	diag_deinit(&rings->diag);
}

/* ---- Opening ---- */

enum tally_status live_rings_add_events(struct live_rings *rings, const char *words, struct tally_error *err)
{
	struct event_catalogue *catalogue;
	enum tally_status status = event_catalogue_create(rings->request.kernel, &catalogue, err);
	if (status != TALLY_OK)
		return status;
	status = event_word_parse(rings->user.cli, catalogue, words, rings->request.events, err);
	event_catalogue_destroy(catalogue);
	return status;
}

static enum tally_status live_rings_put(
	void *context, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	struct live_rings *rings = context;
	for (size_t i = 0; i < slice_count; i++)
		writer_bytes(&rings->beginning, slices[i].data, slices[i].len);
	return rings->beginning.failed ? error_nomem(err) : TALLY_OK;
}

enum tally_status live_rings_open(struct live_rings *rings, struct tally_error *err)
{
	struct record_opening *o = &rings->opening;
	enum tally_status status = record_opening_find(o, err);
	if (status == TALLY_OK)
		status = command_watch_create(&rings->watch, rings->request.command, &o->target, err);
	if (status == TALLY_OK)
		status = record_opening_open(o, err);
	if (status != TALLY_OK)
		return status;
	struct file_map description = {0};
	status = record_description_read(o, &description, err);
	if (status == TALLY_OK)
		status = live_rings_put(rings, &description.bytes, 1, err);
	file_map_close(&description);
	rings->state_at = rings->beginning.len;
	return status;
}

enum tally_status live_rings_add_state(struct live_rings *rings, struct record_synth synth, struct tally_error *err)
{
	const struct record_sink sink = {live_rings_put, rings};
	return record_opening_describe(&rings->opening, &sink, synth, rings->watch.has_child, err);
}

enum tally_status live_rings_each_state(const struct live_rings *rings,
	enum tally_status (*take)(void *context, const struct record *record, const struct record_fields *fields,
		struct tally_error *err),
	void *context, struct tally_error *err)
{
	struct tally_bytes bytes = writer_view(&rings->beginning);
	enum tally_status status = TALLY_OK;
	struct record record;
	for (size_t at = rings->state_at; status == TALLY_OK && at < bytes.len; at += record.bytes.len) {
		struct record_fields fields;
		status = record_at(bytes, false, at, &record, err);
		if (status == TALLY_OK && record_decode(&record, &fields, NULL) == TALLY_OK)
			status = take(context, &record, &fields, err);
	}
	return status;
}

uint64_t live_rings_time_of(const struct live_rings *rings, const struct record *record)
{
	return time_order_time_of(rings->user.source->reader, record, false);
}

static uint64_t live_rings_merge_time(void *context, const struct record *record)
{
	return live_rings_time_of(context, record);
}

enum tally_status live_rings_open_source(
	struct live_rings *rings, const struct data_input *input, struct tally_error *err)
{
	struct perfdata_reader *reader;
	enum tally_status status = perfdata_reader_open_beginning(writer_view(&rings->beginning), &reader, err);
	if (status == TALLY_OK)
		status = data_source_take(rings->user.cli, input, reader, NULL, rings->user.source, err);
	return status == TALLY_OK
		       ? ring_merge_init(&rings->merge, rings->opening.recorder, live_rings_merge_time, rings, err)
		       : status;
}

/* ---- Running ---- */

/* Waits up to a second for the command to end after its events have ended, which happens shortly before. At some execs,
 * the kernel ends the events although the command continues. */
static enum tally_status live_rings_settle(struct live_rings *rings, struct tally_error *err)
{
	struct command_watch *watch = &rings->watch;
	enum tally_status status = TALLY_OK;
	watch->is_over = true;
	for (int looks = 0; status == TALLY_OK && looks < SETTLE_LOOKS && command_watch_still_runs(watch); looks++)
		status = command_watch_wait(watch, SETTLE_MS, err);
	return status;
}

enum tally_status live_rings_wait(struct live_rings *rings, int ms, struct tally_error *err)
{
	bool is_ready = false;
	enum tally_status status = recorder_wait(rings->opening.recorder, rings->watch.signal_fd, ms, &is_ready, err);
	if (status == TALLY_OK && is_ready)
		status = command_watch_look(&rings->watch, err);
	if (status == TALLY_OK && recorder_target_is_over(rings->opening.recorder))
		status = live_rings_settle(rings, err);
	return status;
}

enum tally_status live_rings_drain(struct live_rings *rings, bool is_last, struct tally_error *err)
{
	struct data_source *source = rings->user.source;
	uint64_t fill;
	struct record record;
	enum tally_status status = ring_merge_look(&rings->merge, is_last, &fill, err);
	while (status == TALLY_OK && ring_merge_next(&rings->merge, &record)) {
		status = rings->user.take(rings->user.context, &record, err);
		if (status == TALLY_OK && !ring_merge_advance(&rings->merge))
			status = error_nomem(err);
	}
	ring_merge_release(&rings->merge);
	if (status == TALLY_OK && source->pass.resolver.frames.len > FRAMES_KEPT && !data_source_forget_frames(source))
		status = error_nomem(err);
	return status;
}

/* The kernel emits LOST records only when a ring has room again, so its counters, if available, are more complete. */
void live_rings_count_lost(struct live_rings *rings)
{
	struct input_health *health = &rings->user.source->pass.sideband.health;
	uint64_t lost = 0;
	size_t count;
	const struct recorder_source *sources = recorder_sources(rings->opening.recorder, &count);
	for (size_t i = 0; i < count; i++)
		lost += recorder_lost(rings->opening.recorder, &sources[i]);
	health->lost_samples = MAX(lost, input_health_lost(health));
	health->lost_events = 0;
	health->damaged.count += rings->merge.merge.damaged;
}
