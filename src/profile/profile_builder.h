/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_builder.h - collects frames, stacks and samples, each once, and hands over an immutable profile.
 *
 * One thread per builder. Each add returns an id, PROFILE_NONE when memory runs out; the failure is sticky and reported
 * by finish, so that callers may test once. finish frees the builder, whether it succeeds or fails; destroy is needed
 * only without finish.
 *
 *	struct profile_builder *b = profile_builder_create();
 *	uint32_t f = profile_builder_frame(b, &(struct profile_frame){...});
 *	uint32_t s = profile_builder_stack(b, &f, 1);
 *	profile_builder_sample(b, &(struct profile_sample){...});
 *	if (profile_builder_finish(b, &profile, err) != TALLY_OK) ...
 */
#ifndef PROFILE_PROFILE_BUILDER_H
#define PROFILE_PROFILE_BUILDER_H

#include "profile/profile.h"

struct profile_builder;
struct profile_builder *profile_builder_create(void);
void profile_builder_destroy(struct profile_builder *b);
/* Sets the facets of a row of values, in the order of their bits. Call it before the first facets. */
void profile_builder_keep_facets(struct profile_builder *b, uint64_t facets);
/* One value for each facet that is kept. */
uint32_t profile_builder_facets(struct profile_builder *b, const struct profile_value *values);
void profile_builder_field(struct profile_builder *b, const struct profile_field *field);
void profile_builder_expect_rows(struct profile_builder *b, size_t count); /* about so many will come */
uint32_t profile_builder_string(struct profile_builder *b, struct tally_str text);
uint32_t profile_builder_event(
	struct profile_builder *b, const struct profile_event *event); /* not merged; counts are added up by samples */
uint32_t profile_builder_binary(struct profile_builder *b, const struct profile_binary *binary);
uint32_t profile_builder_function(struct profile_builder *b, const struct profile_function *function);
uint32_t profile_builder_frame(struct profile_builder *b, const struct profile_frame *frame);
/* Of frames, the innermost one first. */
uint32_t profile_builder_stack(struct profile_builder *b, const uint32_t *frames, size_t count);
uint32_t profile_builder_thread(struct profile_builder *b, const struct profile_thread *thread);
/* Samples with equal words are merged: event | thread << 32, leaf | stack << 32, CPU | facets << 32. */
#define PROFILE_SAMPLE_WORDS 3
/* Returns the id of the sample, which rows refer to. */
uint32_t profile_builder_sample(struct profile_builder *b, const struct profile_sample *sample);
/* One sample by itself; in any order of time. */
void profile_builder_row(struct profile_builder *b, const struct profile_row *row);
TALLY_MUST_CHECK enum tally_status profile_builder_finish(
	struct profile_builder *b, struct profile **profile, struct tally_error *err);

#endif
