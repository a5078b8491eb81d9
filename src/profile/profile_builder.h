/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_builder.h - collects distinct frames, stacks and samples, and makes an immutable profile of them.
 *
 * One thread per builder. Each add function returns an ID, or PROFILE_NONE when out of memory; the failure is sticky
 * and reported by profile_builder_finish, so callers need not check each call. profile_builder_finish frees the
 * builder, whether it succeeds or fails; profile_builder_destroy is needed only without it.
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
/* Selects the facets of a row of values, in the order of their bits. Call it before adding the first row. */
void profile_builder_keep_facets(struct profile_builder *b, uint64_t facets);
/* Adds a row with one value for each kept facet. */
uint32_t profile_builder_facets(struct profile_builder *b, const struct profile_value *values);
void profile_builder_field(struct profile_builder *b, const struct profile_field *field);
/* Reserves memory for approximately this number of rows. */
void profile_builder_expect_rows(struct profile_builder *b, size_t count);
uint32_t profile_builder_string(struct profile_builder *b, struct tally_str text);
/* Adds an event, even if it is equal to another one; its counts are increased by samples. */
uint32_t profile_builder_event(struct profile_builder *b, const struct profile_event *event);
uint32_t profile_builder_binary(struct profile_builder *b, const struct profile_binary *binary);
uint32_t profile_builder_function(struct profile_builder *b, const struct profile_function *function);
uint32_t profile_builder_frame(struct profile_builder *b, const struct profile_frame *frame);
/* Adds a stack of frames, innermost first. */
uint32_t profile_builder_stack(struct profile_builder *b, const uint32_t *frames, size_t count);
uint32_t profile_builder_thread(struct profile_builder *b, const struct profile_thread *thread);
/* Number of words that identify a sample: event | thread << 32, leaf | stack << 32, CPU | facets << 32. Equal samples
 * are merged. */
#define PROFILE_SAMPLE_WORDS 3
/* Returns the ID of the sample, for use in profile_row. */
uint32_t profile_builder_sample(struct profile_builder *b, const struct profile_sample *sample);
/* Adds a single sample; the order of times does not matter. */
void profile_builder_row(struct profile_builder *b, const struct profile_row *row);
TALLY_MUST_CHECK enum tally_status profile_builder_finish(
	struct profile_builder *b, struct profile **profile, struct tally_error *err);

#endif
