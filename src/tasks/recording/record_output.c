/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/record_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/progress_line.h"
#include "perfdata/old_recording.h"
#include "perfdata/origin.h"
#include "tasks/recording/record_build_ids.h"
#include "tasks/recording/record_cache.h"
#include "tasks/recording/record_opening.h"
#include "tasks/recording/rung_losses.h"
#include "tasks/session/stream_output.h"

#define DIRECTORY_VERSION 1 /* The version that FEATURE_DIR_FORMAT contains. */
#define STAMP_BYTES	  17 /* Size of "yyyymmddhhmmss" with two digits for hundredths of a second and a NUL byte. */

enum tally_status record_output_init(
	struct record_output *o, const struct record_request *request, struct tally_error *err)
{
	*o = (struct record_output){.request = request, .pipe_fd = -1};
	return stream_output_is_named(request->output.path) ? stream_output_open(request->output.path, &o->pipe_fd, err)
							    : TALLY_OK;
}

enum tally_status record_output_failure(const struct record_output *o, struct tally_error *err)
{
	const char *path = o->request->output.path;
	if (!o->is_recording)
		return error_prefix(err, "'%s' cannot hold even the beginning of a recording", path);
	return o->pipe_fd >= 0 ? error_prefix(err, "the recording is cut: '%s' cannot take more data", path)
			       : error_prefix(err, "'%s' has all that was recorded so far", path);
}

void record_output_describe_compression(struct perfdata_features *f, int level)
{
	f->compress_type = COMPRESSOR_TYPE_ZSTD;
	f->compress_level = (uint32_t)level;
	f->compress_mmap_len = COMPRESSOR_UNPACKED_MAX;
	record_features_add(f, FEATURE_COMPRESSED);
}

static enum tally_status record_output_read_features(struct record_output *o, struct tally_error *err)
{
	const struct record_request *q = o->request;
	struct record_features_input input = {.kernel = q->kernel,
		.events = q->events,
		.attrs = &q->plan.attrs,
		.argv = q->argv,
		.use_clockid = q->plan.attrs.modes.use_clockid,
		.clockid = q->plan.attrs.modes.clockid};
	if (o->has_features)
		return TALLY_OK;
	input.sources = recorder_sources(o->recorder, &input.source_count);
	enum tally_status status = record_features_read(&input, &o->features, err);
	o->has_features = status == TALLY_OK;
	if (status == TALLY_OK && q->output.compression_level)
		record_output_describe_compression(&o->features.features, q->output.compression_level);
	if (status == TALLY_OK && q->origin.kind != ORIGIN_EVENTS)
		origin_set(&o->features.features, q->origin);
	if (status == TALLY_OK && q->output.threads != THREADS_NONE) {
		o->features.features.dir_version = DIRECTORY_VERSION;
		record_features_add(&o->features.features, FEATURE_DIR_FORMAT);
	}
	return status;
}

static enum tally_status record_output_begin(struct record_output *o, bool keep_old, struct tally_error *err)
{
	const struct record_output_options *options = &o->request->output;
	char name[PATH_MAX];
	const char *path = options->path;
	if (options->threads != THREADS_NONE) {
		if ((size_t)snprintf(name, sizeof(name), "%s/data", path) >= sizeof(name))
			return error_set(err, TALLY_INVALID, "the path '%s' is too long", path);
		path = name;
	}
	enum tally_status status = o->pipe_fd >= 0 ? perfdata_writer_create_pipe(o->pipe_fd, &o->writer, err)
						   : perfdata_writer_create_file(path, keep_old, &o->writer, err);

	if (status == TALLY_OK)
		status = record_opening_add_events(o->request, o->recorder, o->writer, err);
	if (status == TALLY_OK)
		status = record_output_read_features(o, err);
	if (status == TALLY_OK && options->compression_level)
		status = perfdata_writer_compress(o->writer, options->compression_level, err);
	if (status == TALLY_OK) {
		status = perfdata_writer_begin(o->writer, &o->features.features, err);
		if (status != TALLY_OK && !o->is_recording)
			return record_output_failure(o, err);
	}
	o->opened_ms = clock_ms();
	return status;
}

static enum tally_status make_directory(const char *path, struct tally_error *err)
{
	struct stat st;
	enum tally_status status = old_recording_keep(path, err);
	if (status != TALLY_OK)
		return status;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) /* The file is empty: any other has been renamed. */
		(void)unlink(path);
	if (mkdir(path, 0700) != 0)
		return error_set_errno(err, TALLY_IO, errno, "failed to open %s; choose another name with -o", path);
	return TALLY_OK;
}

enum tally_status record_output_open(
	struct record_output *o, struct recorder *recorder, const struct target *target, struct tally_error *err)
{
	const struct record_output_options *options = &o->request->output;
	o->recorder = recorder;
	if (options->threads == THREADS_NONE)
		return record_output_begin(o, true, err);
	struct record_threads_config config = {.kernel = o->request->kernel,
		.recorder = recorder,
		.cpus = target->cpus,
		.cpu_count = target->cpu_count,
		.groups = options->threads,
		.directory = options->path,
		.compression_level = options->compression_level};
	enum tally_status status = make_directory(options->path, err);
	if (status == TALLY_OK)
		status = record_output_begin(o, false, err);
	return status == TALLY_OK ? record_threads_create(&config, &o->threads, err) : status;
}

enum tally_status record_output_append(
	struct record_output *o, const struct tally_bytes *slices, size_t slice_count, struct tally_error *err)
{
	enum tally_status status = perfdata_writer_append(o->writer, slices, slice_count, err);
	return status == TALLY_OK ? TALLY_OK : record_output_failure(o, err);
}

enum tally_status record_output_sync(struct record_output *o, struct tally_error *err)
{
	o->synced_ms = clock_ms();
	enum tally_status status = perfdata_writer_sync(o->writer, err);

	return status == TALLY_OK ? TALLY_OK : record_output_failure(o, err);
}

enum tally_status record_output_finish_round(struct record_output *o, struct tally_error *err)
{
	enum tally_status status = perfdata_writer_finish_round(o->writer, err);
	if (status != TALLY_OK)
		return record_output_failure(o, err);
	return clock_ms() - o->synced_ms >= RECORD_SYNC_MS ? record_output_sync(o, err) : TALLY_OK;
}

bool record_output_wants_switch(const struct record_output *o)
{
	const struct record_output_options *options = &o->request->output;
	if (options->switch_bytes && perfdata_writer_data_bytes(o->writer) >= options->switch_bytes)
		return true;
	return options->switch_ms && clock_ms() - o->opened_ms >= options->switch_ms;
}

bool record_output_is_full(const struct record_output *o, uint64_t *bytes)
{
	*bytes = o->former_bytes + perfdata_writer_data_bytes(o->writer);
	if (o->threads)
		*bytes += record_threads_bytes(o->threads);
	return o->request->output.max_bytes && *bytes >= o->request->output.max_bytes;
}

int record_output_timeout_ms(const struct record_output *o)
{
	int64_t left = RECORD_SYNC_MS;
	if (o->request->output.switch_ms)
		left = o->opened_ms + o->request->output.switch_ms - clock_ms();
	return left < 0 ? 0 : left < RECORD_SYNC_MS ? (int)left : RECORD_SYNC_MS;
}

/* Returns whether the output is a file or directory that this recording has created, not a device. */
static bool record_output_is_recording(const struct record_output *o)
{
	struct stat st;
	return o->pipe_fd < 0 && stat(o->request->output.path, &st) == 0 &&
	       (S_ISREG(st.st_mode) || o->request->output.threads != THREADS_NONE);
}

static enum tally_status read_back(
	struct record_output *o, struct record_summary *summary, struct record_build_ids *ids, struct tally_error *err)
{
	const struct record_request *q = o->request;
	struct perfdata_features *features = &o->features.features;
	enum tally_status status = perfdata_writer_sync(o->writer, err);
	if (status != TALLY_OK)
		return status;
	struct progress_line line = {.is_on = false};
	if (q->announce)
		progress_line_start(&line);
	status = record_build_ids_read(q->output.path, q->all_build_ids, q->files, &line.progress, ids, err);
	progress_line_stop(&line);
	if (status != TALLY_OK)
		return status;
	summary->has_samples = !q->all_build_ids;
	summary->samples = ids->samples;
	summary->has_broken_chains = chain_survey_tells_of_broken(&ids->chains);
	summary->lost_events = ids->lost_events;
	features->build_ids = ids->items;
	features->build_id_count = q->no_build_ids ? 0 : ids->len;
	if (features->build_id_count)
		record_features_add(features, FEATURE_BUILD_ID);
	features->first_sample_time_ns = ids->first_ns;
	features->last_sample_time_ns = ids->last_ns;
	if (ids->samples)
		record_features_add(features, FEATURE_SAMPLE_TIME);
	return TALLY_OK;
}

/* Adds to the file what timer-based sampling has missed. If memory runs out, the file only names the changes that
 * tracing always causes. */
static void record_output_add_losses(struct record_output *o)
{
	struct perfdata_origin *origin = &o->features.features.origin;
	text_clear(&o->changed);
	if (!o->request->standin || !o->has_features)
		return;
	rung_losses_print(&o->changed, o->request->standin);
	if (o->changed.len > 0) {
		text_str(&o->changed, "; ");
		text_str(&o->changed, rung_changes_always);
	}
	if (o->changed.len > 0 && !o->changed.failed)
		origin->changed = (struct tally_str){o->changed.data, o->changed.len};
}

static enum tally_status close_file(struct record_output *o, struct tally_error *err)
{
	struct perfdata_features *features = &o->features.features;
	struct compressor_totals totals = perfdata_writer_totals(o->writer);
	if (o->threads) {
		struct compressor_totals apart = record_threads_totals(o->threads);
		o->former_bytes += record_threads_bytes(o->threads);
		totals.bytes += apart.bytes;
		totals.packed_bytes += apart.packed_bytes;
	}
	o->former_bytes += perfdata_writer_data_bytes(o->writer);
	o->former_totals.bytes += totals.bytes;
	o->former_totals.packed_bytes += totals.packed_bytes;
	if (totals.packed_bytes)
		features->compress_ratio = (uint32_t)((totals.bytes + totals.packed_bytes / 2) / totals.packed_bytes);
	for (size_t i = 0; o->threads && i < record_threads_parts(o->threads); i++) {
		uint64_t bytes = record_threads_part_bytes(o->threads, i);
		enum tally_status status = perfdata_writer_add_part(o->writer, bytes, err);
		if (status != TALLY_OK)
			return status;
	}
	record_output_add_losses(o);
	return perfdata_writer_close(o->writer, features, err);
}

/* Makes the name path.yyyymmddhhmmsscc, with the first hundredth of a second for which no file exists. */
static bool make_stamped_name(const char *path, char name[PATH_MAX])
{
	struct timespec now;
	struct tm local;
	char stamp[STAMP_BYTES];
	clock_gettime(CLOCK_REALTIME, &now);
	do {
		size_t len =
			localtime_r(&now.tv_sec, &local) ? strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &local) : 0;
		snprintf(stamp + len, sizeof(stamp) - len, "%02u", (unsigned)(now.tv_nsec / 10000000) % 100);
		if ((size_t)snprintf(name, PATH_MAX, "%s.%s", path, stamp) >= PATH_MAX)
			return false;
		now.tv_nsec += 10000000;
		if (now.tv_nsec >= 1000000000) {
			now.tv_nsec -= 1000000000;
			now.tv_sec++;
		}
	} while (file_exists(name));
	return true;
}

/* Remembers the name of a finished file, and removes the oldest one if there are more than --switch-max-files. */
static enum tally_status keep_name(struct record_output *o, const char *name, struct tally_error *err)
{
	unsigned max = o->request->output.max_files;
	if (max == 0)
		return TALLY_OK;
	if (!o->kept)
		o->kept = calloc(max, sizeof(*o->kept));
	char *copy = o->kept ? strdup(name) : NULL;
	if (!copy)
		return error_nomem(err);
	if (o->kept_count == max) {
		(void)unlink(o->kept[0]);
		free(o->kept[0]);
		memmove(o->kept, o->kept + 1, (max - 1) * sizeof(*o->kept));
		o->kept_count--;
	}
	o->kept[o->kept_count++] = copy;
	return TALLY_OK;
}

static enum tally_status give_stamped_name(struct record_output *o, struct tally_error *err)
{
	const struct record_request *q = o->request;
	char name[PATH_MAX], text[PATH_MAX + 64];
	if (!make_stamped_name(q->output.path, name))
		return error_set(err, TALLY_INVALID, "the path '%s' is too long", q->output.path);
	if (rename(q->output.path, name) != 0)
		return error_set_errno(err, TALLY_IO, errno, "'%s' cannot be renamed to '%s'", q->output.path, name);
	snprintf(text, sizeof(text), "[ %s record: Dump %s ]", q->argv[0], name);
	if (q->announce)
		q->announce(text);
	return keep_name(o, name, err);
}

enum tally_status record_output_switch(struct record_output *o, struct tally_error *err)
{
	enum tally_status status = close_file(o, err);
	if (status == TALLY_OK)
		status = give_stamped_name(o, err);
	if (status != TALLY_OK)
		return status;
	perfdata_writer_destroy(o->writer);
	o->writer = NULL;
	return record_output_begin(o, false, err);
}

enum tally_status record_output_finish(struct record_output *o, struct record_summary *summary, struct tally_error *err)
{
	const struct record_request *q = o->request;
	struct record_build_ids ids = {0};
	bool can_read_back = record_output_is_recording(o);
	enum tally_status status = TALLY_OK;
	if (!o->writer)
		return TALLY_OK;
	if (can_read_back && !q->output.switches && (!q->no_build_ids || q->wants_times))
		status = read_back(o, summary, &ids, err);
	enum tally_status closed = close_file(o, status == TALLY_OK ? err : NULL);
	if (status == TALLY_OK)
		status = closed;
	if (status == TALLY_OK && !q->no_build_ids && !q->no_build_id_cache)
		record_cache_fill(q->store.build_id_dir, &ids);
	record_build_ids_deinit(&ids);
	o->features.features.build_id_count = 0;
	summary->bytes = o->former_bytes;
	summary->unpacked_bytes = o->former_totals.bytes;
	summary->packed_bytes = o->former_totals.packed_bytes;
	if (status == TALLY_OK && can_read_back && (q->output.switches || q->output.timestamp_name))
		status = give_stamped_name(o, err);
	summary->is_written = status == TALLY_OK;
	return status;
}

void record_output_abandon(struct record_output *o)
{
	if (!o->writer || !record_output_is_recording(o))
		return;
	if (o->request->output.threads != THREADS_NONE)
		old_recording_remove_directory(o->request->output.path);
	else
		unlink(o->request->output.path);
}

void record_output_deinit(struct record_output *o)
{
	record_threads_destroy(o->threads);
	perfdata_writer_destroy(o->writer);
	text_deinit(&o->changed);
	if (o->has_features)
		record_features_deinit(&o->features);
	if (o->pipe_fd >= 0)
		close(o->pipe_fd);
	for (size_t i = 0; i < o->kept_count; i++)
		free(o->kept[i]);
	free(o->kept);
}
