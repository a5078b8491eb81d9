/*
 * profile_builder.h - collects frames, stacks and samples, each once, and hands over an immutable profile.
 *
 * One thread per builder. Each add returns an id, PROFILE_NONE when memory is out; the failure is sticky and reported
 *by finish, so that callers may test once. finish gives its arena to the profile; destroy is needed only without
 *finish.
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
/* Before the first facets: which ones rows of values have, in the order of their bits. */
void profile_builder_keep_facets(struct profile_builder *b, uint64_t facets);
/* One value for each facet that is kept. */
uint32_t profile_builder_facets(struct profile_builder *b, const struct profile_value *values);
void profile_builder_field(struct profile_builder *b, const struct profile_field *field);
struct profile_sizes {
	size_t frames, samples, stacks;
	size_t stack_words; /* of a list_table */
	size_t rows;
};
/* Room for about so many. False: memory is out. */
bool profile_builder_reserve(struct profile_builder *b, const struct profile_sizes *sizes);
uint32_t profile_builder_string(struct profile_builder *b, struct tally_str text);
uint32_t profile_builder_event(
	struct profile_builder *b, const struct profile_event *event); /* not merged; counts are added up by samples */
uint32_t profile_builder_binary(struct profile_builder *b, const struct profile_binary *binary);
uint32_t profile_builder_function(struct profile_builder *b, const struct profile_function *function);
uint32_t profile_builder_frame(struct profile_builder *b, const struct profile_frame *frame);
/* Many at once wait for memory together; ids[i] is that of frame i. */
void profile_builder_frames(struct profile_builder *b, const struct profile_frame *frames, size_t count, uint32_t *ids);
/* Of frames, the innermost one first. */
uint32_t profile_builder_stack(struct profile_builder *b, const uint32_t *frames, size_t count);
/* Many at once wait for memory together. */
struct profile_stacks {
	const struct list *lists;
	const uint32_t *hashes; /* list_table_hash of each */
	size_t count;
};
void profile_builder_stacks(struct profile_builder *b, const struct profile_stacks *stacks, uint32_t *ids);
uint32_t profile_builder_thread(struct profile_builder *b, const struct profile_thread *thread);
void profile_builder_sample(struct profile_builder *b, const struct profile_sample *sample);
/* ids[i] is what rows call sample i; ids may be NULL. */
void profile_builder_samples(
	struct profile_builder *b, const struct profile_sample *samples, size_t count, uint32_t *ids);
/* One sample by itself; in any order of time. */
void profile_builder_row(struct profile_builder *b, const struct profile_row *row);
TALLY_MUST_CHECK enum tally_status profile_builder_finish(
	struct profile_builder *b, struct profile **profile, struct tally_error *err);

#endif
