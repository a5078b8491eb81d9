/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/batch_perfdata.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/error.h"
#include "perfdata/writer.h"
#include "tasks/fleet/batch_addresses.h"

#define SAMPLE_FIELDS (SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_PERIOD | SAMPLE_CALLCHAIN)
#define ATTR_BYTES    128
#define FIRST_PID     1000
#define FLUSH_BYTES   (1u << 20)
#define MAPPINGS_MAX  (UINT64_C(1) << 32)
#define PAGE_BYTES    UINT64_C(4096)
/* Maximum length of a call chain with context marks, so that a record stays below 64 KiB. */
#define CHAIN_WORDS		  8000
#define BATCH_PERFDATA_COMM_BYTES 255

struct batch_recording {
	const struct fleet_batch *batch;
	struct tally_str event;
	struct batch_addresses addresses;
	struct perfdata_writer *writer;
	struct perfdata_features features;
	struct perfdata_event_desc *descriptions; /* Indexed by the events that are written. */
	struct perf_attr *attrs;
	uint64_t *ids;
	struct writer bytes; /* Records that have not been flushed yet. */
	struct batch_locations found;
	VEC(uint64_t) chain;
	/* One bit for each pair of thread and binary: set if the mapping of the binary was written for the thread. */
	uint8_t *told;
	bool *named; /* Indexed by thread: set if its name was written. */
	uint64_t total, written; /* Numbers of sample records. */
};

static bool is_wanted(const struct batch_recording *r, uint32_t event)
{
	const struct profile *p = r->batch->profile;
	return r->event.len == 0 || str_equal(profile_string(p, p->events[event].name), r->event);
}

static enum tally_status add_events(struct batch_recording *r, struct tally_error *err)
{
	const struct profile *p = r->batch->profile;
	r->descriptions = calloc(p->event_count + 1, sizeof(*r->descriptions));
	r->attrs = calloc(p->event_count + 1, sizeof(*r->attrs));
	r->ids = calloc(p->event_count + 1, sizeof(*r->ids));
	if (!r->descriptions || !r->attrs || !r->ids)
		return error_nomem(err);
	enum tally_status status = TALLY_OK;
	for (uint32_t i = 0; i < p->event_count && status == TALLY_OK; i++) {
		struct tally_str name = profile_string(p, p->events[i].name);
		r->attrs[i] = (struct perf_attr){.type = EVENT_RAW,
			.config = i,
			.size = ATTR_BYTES,
			.sample_period_or_freq = 1,
			.sample_type = SAMPLE_FIELDS,
			.flags = ATTR_FLAG(ATTR_BIT_MMAP) | ATTR_FLAG(ATTR_BIT_COMM) | ATTR_FLAG(ATTR_BIT_MMAP2)};
		/* Clock events have fixed numbers. Other events only need distinct numbers, because the recording
		 * contains their names. */
		if (str_starts_with(name, STR("cpu-clock")) || str_starts_with(name, STR("task-clock"))) {
			r->attrs[i].type = EVENT_SOFTWARE;
			r->attrs[i].config = name.data[0] == 'c' ? SW_CPU_CLOCK : SW_TASK_CLOCK;
		}
		r->ids[i] = i + 1;
		if (!is_wanted(r, i) || p->events[i].sample_count == 0)
			continue;
		r->descriptions[r->features.event_count++] = (struct perfdata_event_desc){
			.attr = &r->attrs[i], .name = name, .ids = &r->ids[i], .id_count = 1};
		status = perfdata_writer_add_event(r->writer, &r->attrs[i], name, &r->ids[i], 1, err);
	}
	r->features.events = r->descriptions;
	return status;
}

static void add_feature(struct batch_recording *r, unsigned bit)
{
	r->features.present[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void add_text_feature(struct batch_recording *r, unsigned bit, struct tally_str label, struct tally_str *text)
{
	const struct fleet_label *found = fleet_labels_find(&r->batch->labels, label);
	if (!found || found->value.len == 0)
		return;
	*text = found->value;
	add_feature(r, bit);
}

static void add_features(struct batch_recording *r)
{
	struct perfdata_features *f = &r->features;
	add_text_feature(r, FEATURE_HOSTNAME, STR("host"), &f->hostname);
	add_text_feature(r, FEATURE_OSRELEASE, STR("kernel"), &f->osrelease);
	add_text_feature(r, FEATURE_ARCH, STR("arch"), &f->arch);
	add_text_feature(r, FEATURE_CPUDESC, STR("cpu_model"), &f->cpudesc);
	add_feature(r, FEATURE_EVENT_DESC);
	/* The times of samples are wall-clock times. */
	f->clock_data_version = 1;
	f->clock_data_clockid = CLOCK_REALTIME;
	f->wall_clock_ns = f->clockid_time_ns = r->batch->begin_ns;
	add_feature(r, FEATURE_CLOCK_DATA);
}

static enum tally_status flush_records(struct batch_recording *r, size_t least, struct tally_error *err)
{
	struct tally_bytes slice = writer_view(&r->bytes);
	if (r->bytes.failed || r->addresses.failed)
		return error_nomem(err);
	if (slice.len == 0 || slice.len < least)
		return TALLY_OK;
	enum tally_status status = perfdata_writer_append(r->writer, &slice, 1, err);
	writer_clear(&r->bytes);
	return status;
}

static uint32_t pid_of(uint32_t thread)
{
	return FIRST_PID + thread;
}

static void put_mapping(struct batch_recording *r, uint32_t pid, const struct batch_region *region)
{
	struct record_fields fields = {.type = RECORD_MMAP2};
	uint64_t len = (region->size + PAGE_BYTES) / PAGE_BYTES * PAGE_BYTES;
	bool is_image = region->key.kind == BINARY_KERNEL;
	fields.mmap = (struct record_mmap){.pid = pid,
		.tid = pid,
		.start = region->base,
		.len = len,
		.pgoff = is_image ? region->base : 0,
		.has_build_id = region->key.build_id_size > 0,
		.build_id.size = region->key.build_id_size,
		.prot = 5,
		.flags = 2,
		.filename = is_image ? STR("[kernel.kallsyms]_text") : str_from(region->file_name)};
	memcpy(fields.mmap.build_id.bytes, region->key.build_id, sizeof(fields.mmap.build_id.bytes));
	uint16_t misc = region->is_kernel ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER;
	if (fields.mmap.has_build_id)
		misc |= MISC_MMAP_BUILD_ID;
	r->bytes.failed |= !record_encode(&r->bytes, &fields, misc, NULL, NULL);
}

static void put_name(struct batch_recording *r, uint32_t thread)
{
	const struct profile *p = r->batch->profile;
	struct record_fields fields = {.type = RECORD_COMM};
	struct tally_str comm = profile_string(p, p->threads[thread].comm);
	fields.comm = (struct record_comm){.pid = pid_of(thread),
		.tid = pid_of(thread),
		.comm = {comm.data, MIN(comm.len, BATCH_PERFDATA_COMM_BYTES)}};
	if (!r->named[thread])
		r->bytes.failed |= !record_encode(&r->bytes, &fields, 0, NULL, NULL);
	r->named[thread] = true;
}

/* Writes the mapping of a binary before the first sample of the thread that needs it. */
static void tell_mapping(struct batch_recording *r, uint32_t thread, uint32_t binary)
{
	size_t bit = (size_t)thread * r->batch->profile->binary_count + binary;
	if (binary == PROFILE_NONE || r->addresses.regions[binary].is_kernel || r->told[bit / 8] >> bit % 8 & 1)
		return;
	r->told[bit / 8] = (uint8_t)(r->told[bit / 8] | 1 << bit % 8);
	struct batch_region whole = r->addresses.regions[binary];
	whole.size = UINT32_MAX - PAGE_BYTES; /* The final size is not known yet. */
	put_mapping(r, pid_of(thread), &whole);
}

static bool is_kernel_level(uint8_t level)
{
	return level == PROFILE_LEVEL_KERNEL;
}

static bool make_chain(struct batch_recording *r, const struct profile_sample *sample)
{
	bool is_kernel = false;
	r->chain.len = 0;
	for (size_t i = 0; i < r->found.list.len && r->chain.len < CHAIN_WORDS; i++) {
		const struct batch_location *location = &r->found.list.items[i];
		uint64_t ip = batch_addresses_find(&r->addresses, location);
		bool begins = i == 0 || is_kernel != is_kernel_level(location->level);
		is_kernel = is_kernel_level(location->level);
		tell_mapping(r, sample->thread, location->binary);
		if (begins && !vec_push(&r->chain, is_kernel ? CONTEXT_KERNEL : CONTEXT_USER))
			return false;
		/* The first address after a context mark is where the thread was; the others are return addresses,
		 * which follow the call. */
		if (!vec_push(&r->chain, begins ? ip : ip + 1))
			return false;
	}
	return true;
}

static enum tally_status put_samples(
	struct batch_recording *r, const struct profile_sample *sample, struct tally_error *err)
{
	const struct record_layout layout = record_layout_make(&r->attrs[sample->event], false);
	uint64_t span = r->batch->end_ns - r->batch->begin_ns;
	bool has_chain = sample->stack != PROFILE_NONE;
	if (!batch_locations_find(r->batch->profile, sample, &r->found))
		return error_nomem(err);
	put_name(r, sample->thread);
	if (!make_chain(r, sample) || r->chain.len < 2)
		return error_nomem(err);
	struct sample made = {.present = SAMPLE_FIELDS,
		.id = r->ids[sample->event],
		.ip = r->chain.items[1],
		.pid = pid_of(sample->thread),
		.tid = pid_of(sample->thread),
		.callchain = {
			.data = (const uint8_t *)r->chain.items, .count = has_chain ? (uint32_t)r->chain.len : 0}};
	uint16_t misc = r->chain.items[0] == CONTEXT_KERNEL ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER;
	enum tally_status status = TALLY_OK;
	for (uint64_t i = 0; i < sample->count && status == TALLY_OK; i++) {
		made.period = sample->period / sample->count + (i < sample->period % sample->count);
		made.time = r->batch->begin_ns + (uint64_t)((double)span * (double)r->written / (double)r->total);
		r->bytes.failed |= !sample_encode(&r->bytes, &layout, misc, &made);
		r->written++;
		status = flush_records(r, FLUSH_BYTES, err);
	}
	return status;
}

/* Writes the mappings of the kernel and its modules, which hold for all processes. Their sizes depend on the addresses
 * that all functions get, so all samples are visited first. Returns an error if there are no samples or too many. */
static enum tally_status put_kernels(struct batch_recording *r, struct tally_error *err)
{
	const struct profile *p = r->batch->profile;
	for (size_t i = 0; i < p->sample_count; i++) {
		if (!is_wanted(r, p->samples[i].event))
			continue;
		r->total += p->samples[i].count;
		if (!batch_locations_find(p, &p->samples[i], &r->found))
			return error_nomem(err);
		for (size_t at = 0; at < r->found.list.len; at++)
			(void)batch_addresses_find(&r->addresses, &r->found.list.items[at]);
	}
	for (unsigned modules = 0; modules < 2; modules++)
		for (size_t i = 0; i < p->binary_count; i++) {
			const struct batch_region *region = &r->addresses.regions[i];
			if (region->is_used && region->is_kernel &&
				(region->key.kind == BINARY_MODULE) == (modules == 1))
				put_mapping(r, UINT32_MAX, region);
		}
	if (r->total == 0)
		return error_set(err, TALLY_NOT_FOUND, "no sample matches the query in that time");
	if (r->total > BATCH_PERFDATA_SAMPLES)
		return error_set(err, TALLY_LIMIT,
			"a recording of %llu samples is too large: narrow the query, or take another format",
			(unsigned long long)r->total);
	return TALLY_OK;
}

static enum tally_status fill_recording(struct batch_recording *r, struct tally_error *err)
{
	struct writer section = {0};
	const struct profile *p = r->batch->profile;
	if ((uint64_t)p->thread_count * p->binary_count > MAPPINGS_MAX)
		return error_set(err, TALLY_LIMIT,
			"the answer has too many threads and files for a recording: narrow the query");
	r->told = calloc((p->thread_count * p->binary_count) / 8 + 1, 1);
	r->named = calloc(p->thread_count + 1, sizeof(*r->named));
	if (!r->told || !r->named || !batch_addresses_init(&r->addresses, r->batch))
		return error_nomem(err);
	enum tally_status status = add_events(r, err);
	add_features(r);
	if (status == TALLY_OK)
		status = put_kernels(r, err);
	if (status == TALLY_OK)
		status = perfdata_writer_begin(r->writer, &r->features, err);
	for (size_t i = 0; i < p->sample_count && status == TALLY_OK; i++)
		if (is_wanted(r, p->samples[i].event))
			status = put_samples(r, &p->samples[i], err);
	if (status == TALLY_OK)
		status = flush_records(r, 0, err);
	if (status == TALLY_OK)
		status = batch_addresses_pack(&r->addresses, &section, err);
	add_feature(r, FEATURE_PACK);
	r->features.raw[FEATURE_PACK] = writer_view(&section);
	if (status == TALLY_OK)
		status = perfdata_writer_close(r->writer, &r->features, err);
	writer_deinit(&section);
	return status;
}

enum tally_status batch_perfdata_write(
	const struct fleet_batch *batch, struct tally_str event, const char *path, struct tally_error *err)
{
	/* The structure is too large for the stack, because of its features. */
	struct batch_recording *r = calloc(1, sizeof(*r));
	if (!r)
		return error_nomem(err);
	r->batch = batch;
	r->event = event;
	enum tally_status status = perfdata_writer_create_file(path, false, &r->writer, err);
	if (status == TALLY_OK) {
		status = fill_recording(r, err);
		batch_addresses_deinit(&r->addresses);
		perfdata_writer_destroy(r->writer);
		if (status != TALLY_OK)
			unlink(path);
	}
	vec_free(&r->found.list);
	vec_free(&r->chain);
	writer_deinit(&r->bytes);
	free(r->descriptions);
	free(r->attrs);
	free(r->ids);
	free(r->told);
	free(r->named);
	free(r);
	return status;
}
