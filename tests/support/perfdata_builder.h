/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfdata_builder.h - makes small recordings in memory, as a file or a pipe, in either byte order, with the records
 * that the test adds.
 *
 *	struct perfdata_builder b;
 *	perfdata_builder_init(&b, swap);
 *	perfdata_builder_event(&b, &attr, ids, 1);
 *	perfdata_builder_sample(&b, 0, misc, &sample);   // of event 0
 *	struct tally_bytes file = perfdata_builder_file(&b);   // valid until deinit
 */
#ifndef SUPPORT_PERFDATA_BUILDER_H
#define SUPPORT_PERFDATA_BUILDER_H

#include "abi/encode.h"
#include "perfdata/features.h"

#define BUILDER_MAX_EVENTS 4

struct perfdata_builder {
	bool swap;
	struct perf_attr attrs[BUILDER_MAX_EVENTS];
	uint64_t ids[BUILDER_MAX_EVENTS];
	size_t event_count;
	struct writer records;
	struct writer features; /* Bodies of the feature sections, one after another. */
	uint32_t feature_sizes[FEATURE_BITS];
	uint64_t feature_bits[FEATURE_BITS / 64];
	struct writer out;
};

void perfdata_builder_init(struct perfdata_builder *b, bool swap);
void perfdata_builder_deinit(struct perfdata_builder *b);
void perfdata_builder_event(struct perfdata_builder *b, const struct perf_attr *attr, uint64_t id);
void perfdata_builder_sample(struct perfdata_builder *b, size_t event, uint16_t misc, const struct sample *sample);
/* Appends a record with the ID trailer of event 0 and the given time. */
void perfdata_builder_record(
	struct perfdata_builder *b, const struct record_fields *fields, uint16_t misc, uint64_t time);
void perfdata_builder_round(struct perfdata_builder *b);
/* Features must be added in ascending order of bits. */
void perfdata_builder_feature(struct perfdata_builder *b, unsigned bit, const void *body, size_t len);
struct tally_bytes perfdata_builder_file(struct perfdata_builder *b);
struct tally_bytes perfdata_builder_pipe(struct perfdata_builder *b);

#endif
