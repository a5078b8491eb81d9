/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/agent/agent_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "fleet/batch_queue.h"
#include "tasks/fleet/destinations.h"
#include "verbs/agent/agent_sender.h"

#define OUTPUT_PATH_BYTES 4096
#define LAST_SENDS_MS	  5000 /* Maximum time, when the agent ends, to send the batches that are waiting. */

struct agent_output {
	const struct agent_output_config *config;
	struct batch_queue *queue; /* NULL if batches are written to a folder. */
	struct agent_sender *sender;
	/* The losses that the queue contributed to the previous result of agent_output_pending. */
	struct batch_queue_losses queued;
	struct batch_queue_figures before; /* What was waiting when the queue was opened. */
	struct fleet_losses pending; /* Losses of batches that reached neither the queue nor the folder. */
	struct agent_output_totals totals;
};

static enum tally_status agent_output_open_queue(struct agent_output *output, struct tally_error *err)
{
	const struct agent_output_config *c = output->config;
	const struct batch_queue_limits limits = {.max_bytes = c->queue_bytes};
	const struct agent_sender_config sender = {c->program, c->to, c->token, c->ca_file};
	enum tally_status status = batch_queue_open(c->queue, &limits, &output->queue, err);
	if (status != TALLY_OK)
		return status;
	output->before = batch_queue_figures(output->queue);
	return agent_sender_create(&sender, output->queue, &output->sender, err);
}

static enum tally_status agent_output_open_folder(const struct agent_output_config *config, struct tally_error *err)
{
	char path[OUTPUT_PATH_BYTES];
	struct stat stat_of;
	snprintf(path, sizeof(path), "%s/", config->to);
	if (file_make_private_parents(path, err) != TALLY_OK)
		return err->status;
	if (stat(config->to, &stat_of) != 0 || !S_ISDIR(stat_of.st_mode) || access(config->to, W_OK) != 0)
		return error_set_errno(
			err, TALLY_IO, errno ? errno : ENOTDIR, "cannot write batches into '%s'", config->to);
	return TALLY_OK;
}

enum tally_status agent_output_open(
	const struct agent_output_config *config, struct agent_output **out, struct tally_error *err)
{
	struct agent_output_totals totals;
	struct destination server;
	struct agent_output *output = calloc(1, sizeof(*output));
	if (!output)
		return error_nomem(err);
	output->config = config;
	enum tally_status status = destination_find(config->to, &server) ? agent_output_open_queue(output, err)
									 : agent_output_open_folder(config, err);
	if (status != TALLY_OK) {
		agent_output_close(output, &totals);
		return status;
	}
	*out = output;
	return TALLY_OK;
}

struct fleet_losses agent_output_pending(struct agent_output *output)
{
	struct fleet_losses all = output->pending;
	if (!output->queue)
		return all;
	output->queued = batch_queue_pending(output->queue);
	all.dropped_batches += output->queued.batches;
	all.dropped_samples += output->queued.samples;
	all.lost_samples += output->queued.lost_samples;
	return all;
}

void agent_output_drop(
	struct agent_output *output, uint64_t samples, uint64_t lost_samples, const struct fleet_losses *reported)
{
	output->pending.dropped_batches++;
	output->pending.dropped_samples += samples;
	/* Reported losses of earlier batches stay pending, because the batch that reported them is dropped. */
	output->pending.lost_samples += lost_samples - reported->lost_samples;
	output->totals.dropped_batches++;
	output->totals.dropped_samples += samples;
}

static enum tally_status agent_output_write(const char *path, struct tally_str bytes, struct tally_error *err)
{
	char unfinished[OUTPUT_PATH_BYTES + 8];
	snprintf(unfinished, sizeof(unfinished), "%s.tmp", path);
	int fd = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot create '%s'", unfinished);
	enum tally_status status = file_write_all(fd, bytes.data, bytes.len, err);
	if (close(fd) != 0 && status == TALLY_OK)
		status = error_set_errno(err, TALLY_IO, errno, "close");
	if (status == TALLY_OK && rename(unfinished, path) != 0)
		status = error_set_errno(err, TALLY_IO, errno, "rename");
	if (status != TALLY_OK) {
		(void)unlink(unfinished);
		error_prefix(err, "cannot write '%s'", path);
	}
	return status;
}

static enum tally_status agent_output_put_file(
	const struct agent_output *output, const struct agent_batch *batch, struct tally_error *err)
{
	char path[OUTPUT_PATH_BYTES], id[2 * FLEET_BATCH_ID_BYTES + 1];
	for (size_t i = 0; i < FLEET_BATCH_ID_BYTES; i++)
		snprintf(id + 2 * i, 3, "%02x", batch->id[i]);
	snprintf(path, sizeof(path), "%s/%" PRIu64 "-%s.batch.zst", output->config->to, batch->begin_ns, id);
	return agent_output_write(path, text_view(&batch->bytes), err);
}

/* Adds the batch to the queue. Of the lost samples that it reports, only those of its own window would be lost with it;
 * the other losses belong to earlier batches. */
static enum tally_status agent_output_put_queue(struct agent_output *output, const struct agent_batch *batch,
	const struct fleet_losses *reported, struct tally_error *err)
{
	struct batch_queue_item item = {.begin_ns = batch->begin_ns,
		.samples = batch->samples,
		.lost_samples = batch->lost_samples - reported->lost_samples,
		.reported = output->queued};
	memcpy(item.id, batch->id, sizeof(item.id));
	return batch_queue_add(
		output->queue, &item, (struct tally_bytes){(const uint8_t *)batch->bytes.data, batch->bytes.len}, err);
}

enum tally_status agent_output_put(struct agent_output *output, const struct agent_batch *batch,
	const struct fleet_losses *reported, struct tally_error *err)
{
	enum tally_status status = output->queue ? agent_output_put_queue(output, batch, reported, err)
						 : agent_output_put_file(output, batch, err);
	/* The queue counts its own losses, so the loss is not added to the pending ones. */
	if (status != TALLY_OK && output->queue) {
		output->totals.dropped_batches++;
		output->totals.dropped_samples += batch->samples;
	} else if (status != TALLY_OK) {
		agent_output_drop(output, batch->samples, batch->lost_samples, reported);
	}
	if (status != TALLY_OK)
		return status;
	/* The stored batch has reported these losses, so they are no longer pending. The queue's losses are not among
	 * the pending ones: the queue subtracts them itself. */
	output->pending.dropped_batches -= reported->dropped_batches - output->queued.batches;
	output->pending.dropped_samples -= reported->dropped_samples - output->queued.samples;
	output->pending.lost_samples -= reported->lost_samples - output->queued.lost_samples;
	output->totals.kept_batches++;
	output->totals.kept_samples += batch->samples;
	if (output->sender)
		agent_sender_wake(output->sender);
	return TALLY_OK;
}

void agent_output_close(struct agent_output *output, struct agent_output_totals *totals)
{
	struct agent_sender_figures sent = {0};
	*totals = (struct agent_output_totals){0};
	if (!output)
		return;
	agent_sender_destroy(output->sender, LAST_SENDS_MS, &sent);
	*totals = output->totals;
	totals->sent_batches = sent.batches;
	totals->sent_samples = sent.samples;
	/* Batches that entered the queue, were not sent and are no longer waiting have been dropped. */
	if (output->queue) {
		const struct batch_queue_figures waiting = batch_queue_figures(output->queue);
		totals->waiting_batches = waiting.batches;
		totals->waiting_samples = waiting.samples;
		totals->dropped_batches +=
			output->before.batches + totals->kept_batches - sent.batches - waiting.batches;
		totals->dropped_samples +=
			output->before.samples + totals->kept_samples - sent.samples - waiting.samples;
	}
	batch_queue_close(output->queue);
	free(output);
}
