/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_builder_state.h - holds the state of a profile builder. Private to profile/: profile_builder adds items one
 * by one, profile_bulk many at once.
 */
#ifndef PROFILE_PROFILE_BUILDER_STATE_H
#define PROFILE_PROFILE_BUILDER_STATE_H

#include "base/id_table.h"
#include "base/vec.h"
#include "profile/frame_table.h"
#include "profile/profile_builder.h"

struct profile_builder {
	struct intern strings;
	struct id_table binary_ids, function_ids, thread_ids, sample_ids;
	VEC(struct profile_event) events;
	VEC(struct profile_binary) binaries;
	VEC(struct profile_function) functions;
	struct frame_table frames;
	struct list_table stacks; /* Lists of frames. */
	VEC(struct profile_thread) threads;
	VEC(struct profile_sample) samples;
	uint64_t facets; /* Bit mask of the kept facets. */
	VEC(struct profile_field) fields;
	struct id_table facet_ids; /* Keys of FACET_WORDS words for each value. */
	struct spool rows; /* Items are struct profile_row. */
	/* Stacks and samples were added in bulk, the samples in order; look-ups do not find them, so no more may be
	 * added. */
	bool is_complete;
	bool has_guests; /* Some frames are of virtual machines. */
	bool is_out_of_memory;
	bool has_bad_id; /* An item refers to an ID that does not exist. */
};

bool profile_builder_sample_is_valid(const struct profile_builder *b, const struct profile_sample *sample);

#endif
