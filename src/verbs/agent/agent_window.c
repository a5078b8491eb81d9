/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/agent/agent_window.h"

#include <errno.h>
#include <sys/random.h>

#include "base/error.h"
#include "fleet/batch_pack.h"

enum tally_status agent_window_init(
	struct agent_window *window, const struct fleet_labels *labels, bool has_service, struct tally_error *err)
{
	*window = (struct agent_window){.labels = *labels};
	return thread_labels_create("", has_service, &window->threads, err);
}

void agent_window_deinit(struct agent_window *window)
{
	thread_labels_destroy(window->threads);
}

void agent_batch_deinit(struct agent_batch *batch)
{
	text_deinit(&batch->bytes);
}

static enum tally_status agent_window_encode_batch(
	const struct fleet_batch *batch, struct text *bytes, struct tally_error *err)
{
	struct text raw = {0};
	enum tally_status status = fleet_batch_write(batch, NULL, &raw, err);
	struct tally_bytes written = {(const uint8_t *)raw.data, raw.len};
	if (status == TALLY_OK && fleet_batch_can_compress())
		status = fleet_batch_compress(written, bytes, err);
	else if (status == TALLY_OK)
		text_bytes(bytes, raw.data, raw.len);
	text_deinit(&raw);
	return status == TALLY_OK && bytes->failed ? error_nomem(err) : status;
}

enum tally_status agent_window_encode(struct agent_window *window, struct profile *profile,
	const struct agent_window_facts *facts, struct agent_batch *out, struct tally_error *err)
{
	struct fleet_batch parts = {.begin_ns = facts->begin_ns,
		.end_ns = facts->end_ns,
		.labels = window->labels,
		.losses = facts->losses};
	struct thread_label_sets sets;
	struct fleet_batch *batch = NULL;
	struct agent_batch made = {.begin_ns = facts->begin_ns};
	enum tally_status status = TALLY_OK;
	if (getrandom(parts.id, sizeof(parts.id), 0) != (ssize_t)sizeof(parts.id))
		status = error_set_errno(err, TALLY_IO, errno, "cannot get random bytes for the ID of a batch");
	if (status == TALLY_OK)
		status = thread_labels_apply(window->threads, profile, &sets, err);
	for (size_t i = 0; status == TALLY_OK && i < profile->sample_count; i++)
		made.samples += profile->samples[i].count;
	if (status == TALLY_OK) {
		parts.losses.lost_samples += facts->samples > made.samples ? facts->samples - made.samples : 0;
		parts.sets = sets.sets;
		parts.set_count = sets.count;
		parts.set_of_thread = sets.of_thread;
		status = fleet_batch_make(&parts, profile, &batch, err);
	}
	if (status != TALLY_OK) {
		profile_destroy(profile);
		return status;
	}
	memcpy(made.id, parts.id, sizeof(made.id));
	made.lost_samples = parts.losses.lost_samples;
	status = agent_window_encode_batch(batch, &made.bytes, err);
	fleet_batch_destroy(batch);
	if (status == TALLY_OK)
		*out = made;
	else
		text_deinit(&made.bytes);
	return status;
}
