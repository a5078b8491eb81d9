/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/push/push_recording.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/replay/replay.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/progress_line.h"
#include "perfdata/origin.h"
#include "perfdata/time_spans.h"
#include "store/content_id.h"
#include "tasks/fleet/fleet_replay.h"
#include "tasks/fleet/fleet_time.h"
#include "tasks/fleet/thread_labels.h"
#include "tasks/session/data_source.h"
#include "tasks/session/symbol_notes.h"

/* A root directory that does not exist, so that labels are not derived from processes running here. */
#define NO_SYSTEM "/nonexistent"

struct push_recording {
	const struct cli *cli;
	const struct push_request *request;
	struct data_source source;
	struct replay_result result;
	struct arena arena;
	struct thread_labels *threads;
	struct fleet_label labels[LABELS_MAX];
	size_t label_count;
	uint8_t id[FLEET_BATCH_ID_BYTES];
};

static enum tally_status hash_file(struct content_id *c, const char *path, struct tally_error *err)
{
	struct file_map map;
	enum tally_status status = file_map_open(path, &map, err);
	if (status != TALLY_OK)
		return status;
	content_id_text(c, (struct tally_str){(const char *)map.bytes.data, map.bytes.len});
	file_map_close(&map);
	return TALLY_OK;
}

static int is_data_file(const struct dirent *entry)
{
	return strncmp(entry->d_name, "data", 4) == 0;
}

/* A recording may be a directory that contains "data", "data.0" and so on. */
static enum tally_status hash_folder(struct content_id *c, const char *path, struct tally_error *err)
{
	struct dirent **entries;
	char file[PATH_MAX];
	int count = scandir(path, &entries, is_data_file, alphasort);
	if (count < 0)
		return error_set(err, TALLY_IO, "cannot list %s", path);
	enum tally_status status = TALLY_OK;
	for (int i = 0; i < count; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		if (status == TALLY_OK && file_is_regular(file))
			status = hash_file(c, file, err);
		free(entries[i]);
	}
	free(entries);
	return status;
}

static enum tally_status push_recording_identify(struct push_recording *p, struct tally_error *err)
{
	struct stat file;
	const char *path = p->request->path;
	struct content_id content = content_id_begin(CONTENT_BATCH);
	enum tally_status status = stat(path, &file) == 0 && S_ISDIR(file.st_mode) ? hash_folder(&content, path, err)
										   : hash_file(&content, path, err);
	if (status != TALLY_OK)
		return status;
	for (size_t i = 0; i < p->label_count; i++) {
		content_id_text(&content, p->labels[i].name);
		content_id_text(&content, p->labels[i].value);
	}
	for (unsigned half = 0; half < 2; half++) {
		struct content_id c = content;
		content_id_number(&c, half);
		uint64_t hash = content_id_end(&c);
		memcpy(p->id + half * sizeof(hash), &hash, sizeof(hash));
	}
	return TALLY_OK;
}

/* Labels of the user take precedence over those of the recording. */
static bool push_recording_add_label(struct push_recording *p, struct tally_str name, struct tally_str value)
{
	for (size_t i = 0; i < p->label_count; i++)
		if (str_equal(p->labels[i].name, name))
			return true;
	if (value.len == 0 || p->label_count == LABELS_MAX)
		return true;
	struct tally_str own = thread_labels_value(&p->arena, value);
	if (!own.data)
		return false;
	p->labels[p->label_count++] = (struct fleet_label){name, own};
	return true;
}

static int push_recording_compare(const void *a, const void *b)
{
	const struct fleet_label *first = a, *second = b;
	size_t len = MIN(first->name.len, second->name.len);
	int order = memcmp(first->name.data, second->name.data, len);
	return order ? order : (first->name.len > second->name.len) - (first->name.len < second->name.len);
}

static enum tally_status push_recording_label(struct push_recording *p, struct tally_error *err)
{
	const struct perfdata_features *f = perfdata_reader_features(p->source.reader);
	p->label_count = p->request->label_count;
	memcpy(p->labels, p->request->labels, p->label_count * sizeof(*p->labels));
	if (!push_recording_add_label(p, STR("host"), f->hostname) ||
		!push_recording_add_label(p, STR("kernel"), f->osrelease) ||
		!push_recording_add_label(p, STR("arch"), f->arch) ||
		!push_recording_add_label(p, STR("cpu_model"), f->cpudesc))
		return error_nomem(err);
	const struct perfdata_origin origin = origin_of(f);
	if (origin.kind != ORIGIN_EVENTS && !push_recording_add_label(p, STR("origin"), origin_kind_name(origin.kind)))
		return error_nomem(err);
	qsort(p->labels, p->label_count, sizeof(*p->labels), push_recording_compare);
	return TALLY_OK;
}

static enum tally_status push_recording_read(struct push_recording *p, struct tally_error *err)
{
	const struct data_input input = {
		.file = {p->request->path, p->request->force}, .symbols = *p->request->symbols};
	enum tally_status status = data_source_open_reader(&input, &p->source, err);
	if (status == TALLY_OK)
		status = data_source_open_store(p->cli, &input, &p->source, err);
	if (status != TALLY_OK)
		return status;
	struct replay_options options = fleet_replay_options();
	status = progress_line_replay(p->source.reader, p->source.store, &options, &p->result, err);
	if (p->result.profile)
		cli_print_health(p->cli, &p->result.health);
	if (status != TALLY_OK)
		return status;
	symbol_notes_print_doubts(p->cli, p->source.store);
	if (p->result.profile->sample_count == 0) {
		cli_note_counts(p->cli, p->source.reader, p->request->path);
		return recording_is_empty(p->request->path, p->result.health.samples, err);
	}
	return TALLY_OK;
}

/* Computes when the recorded samples begin and end, in CLOCK_REALTIME. */
static void push_recording_time(struct push_recording *p, struct fleet_batch *parts)
{
	const struct perfdata_features *f = perfdata_reader_features(p->source.reader);
	perfdata_reader_rewind(p->source.reader);
	struct time_span whole = time_bounds_read(p->source.reader);
	uint64_t span = whole.last_ns > whole.first_ns ? whole.last_ns - whole.first_ns : 0;
	if (feature_is_present(f, FEATURE_CLOCK_DATA) && whole.first_ns > 0) {
		parts->begin_ns = whole.first_ns + (f->wall_clock_ns - f->clockid_time_ns);
	} else {
		struct text when = {0};
		uint64_t end = perfdata_reader_layout(p->source.reader).mtime_ns;
		parts->begin_ns = end - MIN(end, span);
		fleet_time_print(&when, end);
		cli_notef(p->cli,
			"%s has no wall-clock reference; its last sample is assumed to date from when the file was "
			"last written, %.*s (record -k CLOCK_REALTIME keeps the time of day)",
			p->request->path, (int)when.len, when.data ? when.data : "");
		text_deinit(&when);
	}
	parts->end_ns = parts->begin_ns + span;
}

static bool has_service(const struct push_recording *p)
{
	for (size_t i = 0; i < p->label_count; i++)
		if (str_equal(p->labels[i].name, STR("service")))
			return true;
	return false;
}

static enum tally_status push_recording_make(
	struct push_recording *p, struct fleet_batch **batch, struct tally_error *err)
{
	struct thread_label_sets sets;
	struct fleet_batch parts = {.labels = {p->labels, p->label_count},
		.losses = {.lost_samples = input_health_lost(&p->result.health)}};
	enum tally_status status = thread_labels_create(NO_SYSTEM, has_service(p), &p->threads, err);
	if (status == TALLY_OK)
		status = thread_labels_apply(p->threads, p->result.profile, &sets, err);
	if (status != TALLY_OK)
		return status;
	push_recording_time(p, &parts);
	parts.sets = sets.sets;
	parts.set_count = sets.count;
	parts.set_of_thread = sets.of_thread;
	memcpy(parts.id, p->id, sizeof(parts.id));
	status = fleet_batch_make(&parts, p->result.profile, batch, err);
	if (status == TALLY_OK)
		p->result.profile = NULL; /* The batch owns the profile. */
	return status;
}

enum tally_status push_recording_batch(
	const struct cli *cli, const struct push_request *request, struct fleet_batch **batch, struct tally_error *err)
{
	struct push_recording p = {.cli = cli, .request = request};
	arena_init(&p.arena);
	enum tally_status status = push_recording_read(&p, err);
	if (status == TALLY_OK)
		status = push_recording_label(&p, err);
	if (status == TALLY_OK)
		status = push_recording_identify(&p, err);
	if (status == TALLY_OK)
		status = push_recording_make(&p, batch, err);
	thread_labels_destroy(p.threads);
	replay_result_deinit(&p.result);
	data_source_close(&p.source);
	arena_deinit(&p.arena);
	return status;
}
