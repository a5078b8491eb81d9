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

#define OUTPUT_PATH_BYTES 4096

struct agent_output {
	const struct agent_output_config *config;
	struct fleet_losses pending;
	struct agent_output_totals totals;
};

enum tally_status agent_output_open(
	const struct agent_output_config *config, struct agent_output **out, struct tally_error *err)
{
	char path[OUTPUT_PATH_BYTES];
	struct stat stat_of;
	snprintf(path, sizeof(path), "%s/", config->to);
	if (file_make_parents(path, err) != TALLY_OK)
		return err->status;
	if (stat(config->to, &stat_of) != 0 || !S_ISDIR(stat_of.st_mode) || access(config->to, W_OK) != 0)
		return error_set_errno(
			err, TALLY_IO, errno ? errno : ENOTDIR, "cannot write batches into '%s'", config->to);
	struct agent_output *output = calloc(1, sizeof(*output));
	if (!output)
		return error_nomem(err);
	output->config = config;
	*out = output;
	return TALLY_OK;
}

struct fleet_losses agent_output_pending(struct agent_output *output)
{
	return output->pending;
}

static void agent_output_report(struct agent_output *output, const struct fleet_losses *reported)
{
	output->pending.dropped_batches -= reported->dropped_batches;
	output->pending.dropped_samples -= reported->dropped_samples;
	output->pending.lost_samples -= reported->lost_samples;
}

void agent_output_drop(
	struct agent_output *output, uint64_t samples, uint64_t lost_samples, const struct fleet_losses *reported)
{
	output->pending.dropped_batches++;
	output->pending.dropped_samples += samples;
	/* Those of earlier batches stay pending. */
	output->pending.lost_samples += lost_samples - reported->lost_samples;
	output->totals.dropped_batches++;
	output->totals.dropped_samples += samples;
}

static enum tally_status agent_output_write(const char *path, struct tally_str bytes, struct tally_error *err)
{
	char unfinished[OUTPUT_PATH_BYTES + 8];
	snprintf(unfinished, sizeof(unfinished), "%s.tmp", path);
	int fd = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
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

enum tally_status agent_output_put(struct agent_output *output, const struct agent_batch *batch,
	const struct fleet_losses *reported, struct tally_error *err)
{
	char path[OUTPUT_PATH_BYTES], id[2 * FLEET_BATCH_ID_BYTES + 1];
	for (size_t i = 0; i < FLEET_BATCH_ID_BYTES; i++)
		snprintf(id + 2 * i, 3, "%02x", batch->id[i]);
	snprintf(path, sizeof(path), "%s/%" PRIu64 "-%s.batch.zst", output->config->to, batch->begin_ns, id);
	enum tally_status status = agent_output_write(path, text_view(&batch->bytes), err);
	if (status != TALLY_OK) {
		agent_output_drop(output, batch->samples, batch->lost_samples, reported);
		return status;
	}
	agent_output_report(output, reported);
	output->totals.kept_batches++;
	output->totals.kept_samples += batch->samples;
	return TALLY_OK;
}

void agent_output_close(struct agent_output *output, struct agent_output_totals *totals)
{
	*totals = output ? output->totals : (struct agent_output_totals){0};
	free(output);
}
