/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_recording.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/encode.h"
#include "arch/arch.h"
#include "base/error.h"
#include "kernel/events/event_parser.h"
#include "perfdata/origin.h"
#include "perfdata/writer.h"
#include "tasks/recording/record_build_ids.h"
#include "tasks/recording/record_cache.h"
#include "tasks/recording/record_features.h"
#include "tasks/recording/record_output.h"
#include "tasks/session/stream_output.h"
#include "tasks/simulation/simulation_run.h"

#define SIMULATION_RECORDING_OUT_BYTES (256u << 10) /* Output is written in blocks of about this size. */
#define FIXED_FIELDS		       (SIM_SAMPLE_TYPE & ~(uint64_t)(SAMPLE_REGS_USER | SAMPLE_STACK_USER))

struct simulation_recording {
	struct simulation_recording_request request;
	struct perfdata_writer *writer;
	int pipe_fd; /* -1 if the output is a file. */
	bool has_begun;
	struct event_list events;
	struct record_features features;
	bool has_features;
	struct text origin;
	struct record_layout layout; /* Layout of the samples in the file. */
	struct live_unwind *unwind; /* NULL if samples get no call chains. */
	struct writer chained, out; /* Records from the unwinder, and records for the file. */
};

enum tally_status simulation_recording_open(
	const struct simulation_recording_request *request, struct simulation_recording **out, struct tally_error *err)
{
	struct simulation_recording *r = calloc(1, sizeof(*r));
	if (!r)
		return error_nomem(err);
	r->request = *request;
	r->pipe_fd = -1;
	enum tally_status status = TALLY_OK;
	if (!stream_output_is_named(request->path))
		status = perfdata_writer_create_file(request->path, true, &r->writer, err);
	else if ((status = stream_output_open(request->path, &r->pipe_fd, err)) == TALLY_OK)
		status = perfdata_writer_create_pipe(r->pipe_fd, &r->writer, err);
	if (status != TALLY_OK) {
		simulation_recording_destroy(r);
		return status;
	}
	*out = r;
	return TALLY_OK;
}

void simulation_recording_destroy(struct simulation_recording *r)
{
	struct stat st;
	if (!r)
		return;
	bool is_empty_file = r->writer && r->pipe_fd < 0 && !r->has_begun;
	perfdata_writer_destroy(r->writer);
	if (is_empty_file && stat(r->request.path, &st) == 0 && S_ISREG(st.st_mode))
		(void)unlink(r->request.path);
	if (r->pipe_fd >= 0)
		close(r->pipe_fd);
	if (r->has_features)
		record_features_deinit(&r->features);
	live_unwind_destroy(r->unwind);
	event_list_deinit(&r->events);
	writer_deinit(&r->chained);
	writer_deinit(&r->out);
	text_deinit(&r->origin);
	free(r);
}

/* Returns the attribute with which the kernel would have recorded the event. */
static struct perf_attr simulation_recording_attr(
	const struct simulation_recording *r, const struct sim_header *header, size_t index)
{
	struct perf_attr attr = simulation_event_attr(header->sampled[index].event);
	attr.size = ATTR_SIZE_VER7;
	attr.sample_period_or_freq = header->sampled[index].period;
	attr.sample_type = FIXED_FIELDS;
	attr.read_format = READ_FORMAT_ID;
	attr.flags = ATTR_FLAG(ATTR_BIT_DISABLED) | ATTR_FLAG(ATTR_BIT_INHERIT) | ATTR_FLAG(ATTR_BIT_EXCLUDE_KERNEL) |
		     ATTR_FLAG(ATTR_BIT_EXCLUDE_HV) | ATTR_FLAG(ATTR_BIT_ENABLE_ON_EXEC) |
		     ATTR_FLAG(ATTR_BIT_SAMPLE_ID_ALL) | ATTR_FLAG(ATTR_BIT_EXCLUDE_GUEST);
	if (index == 0)
		attr.flags |= ATTR_FLAG(ATTR_BIT_MMAP) | ATTR_FLAG(ATTR_BIT_MMAP2) | ATTR_FLAG(ATTR_BIT_COMM) |
			      ATTR_FLAG(ATTR_BIT_COMM_EXEC) | ATTR_FLAG(ATTR_BIT_TASK);
	if (!r->request.has_chains)
		return attr;
	attr.sample_type |= SAMPLE_CALLCHAIN;
	attr.sample_stack_user = header->stack_bytes;
	if (r->request.keeps_stacks) {
		attr.sample_type |= SAMPLE_REGS_USER | SAMPLE_STACK_USER;
		attr.sample_regs_user = header->registers;
		attr.flags |= ATTR_FLAG(ATTR_BIT_EXCLUDE_CALLCHAIN_USER);
	}
	return attr;
}

static enum tally_status simulation_recording_add_events(
	struct simulation_recording *r, const struct sim_header *header, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; status == TALLY_OK && i < header->sampled_count; i++) {
		const uint64_t id = i + 1;
		struct event_spec *spec = event_list_add(&r->events, err);
		struct text name = {0};
		if (!spec)
			return TALLY_NOMEM;
		spec->attr = simulation_recording_attr(r, header, i);
		text_printf(&name, "%s:u", simulation_event_name(header->sampled[i].event));
		spec->name = name.failed ? NULL : arena_string(&r->events.arena, name.data, name.len);
		text_deinit(&name);
		if (!spec->name)
			return error_nomem(err);
		status = perfdata_writer_add_event(r->writer, &spec->attr, str_from(spec->name), &id, 1, err);
	}
	r->layout = record_layout_make(&r->events.specs[0].attr, false);
	return status;
}

/* Converts "valgrind=3.19.0 d1=..." to the phrase "valgrind 3.19.0, model d1=...". */
static void simulation_recording_describe(struct simulation_recording *r, const char *model)
{
	static const char engine[] = "valgrind=";
	struct tally_str rest = str_from(model), word;
	const char *before = ", model ";
	if (strncmp(model, engine, sizeof(engine) - 1) == 0 && str_next(&rest, ' ', &word))
		text_printf(&r->origin, "valgrind %.*s", (int)(word.len - (sizeof(engine) - 1)),
			word.data + sizeof(engine) - 1);
	else
		before = "model ";
	if (rest.len)
		text_printf(&r->origin, "%s%.*s", before, (int)rest.len, rest.data);
	origin_set(&r->features.features,
		(struct perfdata_origin){ORIGIN_SIMULATED, text_view(&r->origin), STR(SIMULATION_NOT_SEEN), STR("")});
}

static enum tally_status simulation_recording_read_features(
	struct simulation_recording *r, const struct simulation_streams *streams, struct tally_error *err)
{
	struct recorder_source sources[SIM_SAMPLED_MOST] = {0};
	const struct record_attr_options attrs = {0}; /* The events are written as they were requested. */
	const struct record_features_input input = {.kernel = r->request.kernel,
		.events = &r->events,
		.attrs = &attrs,
		.sources = sources,
		.source_count = r->events.len,
		.argv = r->request.argv};
	for (uint32_t i = 0; i < r->events.len; i++)
		sources[i] = (struct recorder_source){.event = i, .cpu = -1, .id = i + 1};
	enum tally_status status = record_features_read(&input, &r->features, err);
	r->has_features = status == TALLY_OK;
	if (status != TALLY_OK)
		return status;
	simulation_recording_describe(r, simulation_streams_model(streams));
	if (r->request.compression_level)
		record_output_describe_compression(&r->features.features, r->request.compression_level);
	return TALLY_OK;
}

static enum tally_status simulation_recording_start_unwinding(
	struct simulation_recording *r, const struct simulation_streams *streams, struct tally_error *err)
{
	const uint64_t ids[SIM_SAMPLED_MOST] = {1, 2, 3, 4, 5, 6, 7, 8};
	const struct live_unwind_config config = {.arch = record_host_arch(), .store = r->request.store};
	const struct perf_attr attr = simulation_streams_attr(streams);
	if (!r->request.has_chains || r->request.keeps_stacks)
		return TALLY_OK;
	enum tally_status status = live_unwind_create(&config, &r->unwind, err);
	return status == TALLY_OK ? live_unwind_add_event(r->unwind, &attr, ids, r->events.len, err) : status;
}

static enum tally_status simulation_recording_begin(
	struct simulation_recording *r, const struct simulation_streams *streams, struct tally_error *err)
{
	const struct sim_header *header = simulation_streams_header(streams);
	const struct arch *arch = record_host_arch();
	if (!arch || arch->e_machine != header->machine)
		return error_set(err, TALLY_UNSUPPORTED, "the simulator ran a program of another architecture");
	if (header->sampled_count == 0)
		return error_set(err, TALLY_INVALID, "the simulator sampled no event");
	enum tally_status status = simulation_recording_add_events(r, header, err);
	if (status == TALLY_OK)
		status = simulation_recording_read_features(r, streams, err);
	if (status == TALLY_OK)
		status = simulation_recording_start_unwinding(r, streams, err);
	if (status == TALLY_OK && r->request.compression_level)
		status = perfdata_writer_compress(r->writer, r->request.compression_level, err);
	if (status == TALLY_OK)
		status = perfdata_writer_begin(r->writer, &r->features.features, err);
	r->has_begun = status == TALLY_OK;
	return status == TALLY_OK
		       ? status
		       : error_prefix(err, "'%s' cannot hold even the beginning of a recording", r->request.path);
}

static enum tally_status simulation_recording_flush(
	struct simulation_recording *r, size_t most, struct tally_error *err)
{
	struct tally_bytes bytes = writer_view(&r->out);
	if (r->out.failed)
		return error_nomem(err);
	if (bytes.len <= most)
		return TALLY_OK;
	enum tally_status status = perfdata_writer_append(r->writer, &bytes, 1, err);
	writer_clear(&r->out);
	if (status == TALLY_OK)
		status = perfdata_writer_finish_round(r->writer, err);
	return status == TALLY_OK ? status
				  : error_prefix(err, "'%s' has all that was recorded so far", r->request.path);
}

/* Writes a sample for which no call chain is made: without registers and stack dump or, if the recording keeps these,
 * with an empty call chain before them. */
static void simulation_recording_put_plain(struct simulation_recording *r, const struct record *record)
{
	size_t fixed = r->layout.fixed_bytes, start = r->out.len;
	writer_bytes(&r->out, record->bytes.data, fixed);
	if (r->request.keeps_stacks) {
		writer_u64(&r->out, 0);
		writer_bytes(&r->out, record->bytes.data + fixed, record->bytes.len - fixed);
	}
	if (!r->out.failed)
		writer_patch_u16(&r->out, start + 6, (uint16_t)(r->out.len - start));
}

/* The registers of a sample are those at the start of its basic block, so the innermost frame is replaced by the
 * address of the sample. */
static enum tally_status simulation_recording_put_chained(struct simulation_recording *r, struct tally_error *err)
{
	struct record record;
	size_t chain = r->layout.fixed_bytes;
	for (size_t at = 0; at < r->chained.len; at += record.bytes.len) {
		uint64_t words[2];
		enum tally_status status = record_at(writer_view(&r->chained), false, at, &record, err);
		if (status != TALLY_OK)
			return status;
		size_t start = r->out.len;
		writer_bytes(&r->out, record.bytes.data, record.bytes.len);
		if (record.type != RECORD_SAMPLE || r->out.failed || record.bytes.len < chain + 24)
			continue;
		memcpy(words, record.bytes.data + chain, sizeof(words));
		if (words[0] >= 2 && words[1] == CONTEXT_USER)
			memcpy(r->out.data + start + chain + 16, record.bytes.data + r->layout.ip, sizeof(uint64_t));
	}
	writer_clear(&r->chained);
	return r->out.failed ? error_nomem(err) : TALLY_OK;
}

static enum tally_status simulation_recording_put(
	struct simulation_recording *r, const struct record *record, struct tally_error *err)
{
	if (!r->unwind) {
		if (record->type == RECORD_SAMPLE)
			simulation_recording_put_plain(r, record);
		else
			writer_bytes(&r->out, record->bytes.data, record->bytes.len);
		return r->out.failed ? error_nomem(err) : TALLY_OK;
	}
	enum tally_status status = live_unwind_feed(r->unwind, record, &r->chained, err);
	/* Records must be written in the order in which they were read. */
	if (status == TALLY_OK && live_unwind_is_holding(r->unwind))
		status = live_unwind_finish(r->unwind, &r->chained, err);
	return status == TALLY_OK ? simulation_recording_put_chained(r, err) : status;
}

/* Writes the number of samples that the simulator could not write. */
static void simulation_recording_put_lost(struct simulation_recording *r, uint64_t lost)
{
	const struct record_fields fields = {.type = RECORD_LOST_SAMPLES, .lost_samples = {lost}};
	const struct sample_id id = {.id = 1};
	if (lost)
		record_encode(&r->out, &fields, 0, &r->layout, &id);
}

static enum tally_status simulation_recording_put_all(
	struct simulation_recording *r, struct simulation_streams *streams, struct tally_error *err)
{
	struct record record;
	enum tally_status status;
	while ((status = simulation_streams_next(streams, &record, err)) == TALLY_OK) {
		status = simulation_recording_put(r, &record, err);
		if (status == TALLY_OK)
			status = simulation_recording_flush(r, SIMULATION_RECORDING_OUT_BYTES, err);
		if (status != TALLY_OK)
			return status;
	}
	if (status != TALLY_END)
		return status;
	simulation_recording_put_lost(r, simulation_streams_totals(streams).lost_samples);
	return simulation_recording_flush(r, 0, err);
}

static enum tally_status simulation_recording_find_build_ids(
	struct simulation_recording *r, struct record_build_ids *ids, struct tally_error *err)
{
	struct perfdata_features *f = &r->features.features;
	enum tally_status status = perfdata_writer_sync(r->writer, err);
	if (status == TALLY_OK)
		status = record_build_ids_read(r->request.path, r->request.all_build_ids, NULL, NULL, ids, err);
	if (status != TALLY_OK)
		return status;
	f->build_ids = ids->items;
	f->build_id_count = r->request.no_build_ids ? 0 : ids->len;
	if (f->build_id_count)
		record_features_add(f, FEATURE_BUILD_ID);
	f->first_sample_time_ns = ids->first_ns;
	f->last_sample_time_ns = ids->last_ns;
	if (ids->samples)
		record_features_add(f, FEATURE_SAMPLE_TIME);
	return TALLY_OK;
}

/* Completes the file. The data that was written is retained even after an error. */
static enum tally_status simulation_recording_close(
	struct simulation_recording *r, enum tally_status status, struct tally_error *err)
{
	struct record_build_ids ids = {0};
	struct stat st;
	bool is_file = r->pipe_fd < 0 && stat(r->request.path, &st) == 0 && S_ISREG(st.st_mode);
	struct compressor_totals totals = perfdata_writer_totals(r->writer);
	if (totals.packed_bytes)
		r->features.features.compress_ratio =
			(uint32_t)((totals.bytes + totals.packed_bytes / 2) / totals.packed_bytes);
	if (is_file && (!r->request.no_build_ids || r->request.wants_times)) {
		enum tally_status found = simulation_recording_find_build_ids(r, &ids, status == TALLY_OK ? err : NULL);
		status = status == TALLY_OK ? found : status;
	}
	enum tally_status closed =
		perfdata_writer_close(r->writer, &r->features.features, status == TALLY_OK ? err : NULL);
	if (status == TALLY_OK)
		status = closed;
	if (status == TALLY_OK && !r->request.no_build_ids && !r->request.no_build_id_cache)
		record_cache_fill(r->request.store.build_id_dir, &ids);
	record_build_ids_deinit(&ids);
	r->features.features.build_id_count = 0;
	return status;
}

enum tally_status simulation_recording_write(struct simulation_recording *r, const char *folder,
	struct simulation_recording_summary *summary, struct tally_error *err)
{
	struct simulation_streams *streams;
	*summary = (struct simulation_recording_summary){0};
	enum tally_status status = simulation_streams_open(folder, r->request.diag, &streams, err);
	if (status != TALLY_OK)
		return status;
	status = simulation_recording_begin(r, streams, err);
	if (r->has_begun) {
		status = simulation_recording_put_all(r, streams, err);
		status = simulation_recording_close(r, status, err);
		summary->bytes = perfdata_writer_data_bytes(r->writer);
	}
	summary->streams = simulation_streams_totals(streams);
	if (r->unwind)
		summary->live.totals = live_unwind_totals(r->unwind);
	simulation_streams_destroy(streams);
	return status;
}
