/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_reader.h - holds the state of decoding a batch. Private to fleet/: batch_read decodes the tables in the order
 * in which they refer to each other, batch_read_stacks those up to stacks.
 *
 * Fields may come in any order, so each table is decoded by a pass over that range of the outermost message that
 * contains all its fields. Every index is checked before it is stored; the total size of the tables is limited by the
 * number of bytes. A failure is sticky: status is set and each pass ends.
 */
#ifndef FLEET_BATCH_READER_H
#define FLEET_BATCH_READER_H

#include "base/protobuf_reader.h"
#include "base/vec.h"
#include "fleet/batch.h"
#include "fleet/batch_format.h"
#include "profile/profile_builder.h"

struct batch_reader {
	struct protobuf_reader message; /* Reader at the start of the outermost message. */
	size_t bytes; /* Size of the message. */
	size_t counts[BATCH_FIELDS]; /* How often each field occurs, indexed by its number. */
	/* Range of the message that contains all fields of a number. */
	size_t begins[BATCH_FIELDS], ends[BATCH_FIELDS];
	struct profile_builder *builder;
	struct arena arena; /* Owns the arrays below. */
	struct tally_str *texts; /* Strings in order of the message; string 0 is empty. */
	uint32_t *strings; /* Index of each string in the profile. */
	uint32_t *binaries; /* Index of each binary in the profile. */
	size_t *location_begins; /* Start of each location in frames, with one more entry at the end. */
	VEC(uint32_t) frames; /* Indexes in the profile of the frames of all locations. */
	VEC(uint32_t) left_out; /* Frames without symbols, because the receiver has them. */
	size_t line_bytes; /* Total size of the texts of lines. */
	uint32_t *stacks; /* Index of each stack in the profile. */
	uint32_t *leaves; /* Frame of the sampled address of each stack. */
	bool *has_callers; /* Whether each stack has more than one location. */
	enum tally_status status;
	struct tally_error *err;
};

/* Returns a reader of the range that contains all fields of this number. */
struct protobuf_reader batch_reader_pass(const struct batch_reader *r, unsigned number);
/* Reads the next field of this number in a pass over the message; returns false at the end or after a failure. */
bool batch_reader_next(struct batch_reader *r, struct protobuf_reader *pass, unsigned number, struct protobuf_field *f);
/* Fails the reader if the inner message is malformed. */
void batch_reader_end(struct batch_reader *r, const struct protobuf_reader *inner);
/* Decode a number or an index; they return 0 if the reader fails. */
uint64_t batch_reader_u64(struct batch_reader *r, const struct protobuf_field *f);
uint32_t batch_reader_u32(struct batch_reader *r, const struct protobuf_field *f);
/* Decodes an index below count; 0 if the reader fails. what is the name of the table for errors, such as "stack". */
uint32_t batch_reader_index(struct batch_reader *r, const struct protobuf_field *f, size_t count, const char *what);
/* Decodes an index plus one, at most count; 0 means none. */
uint32_t batch_reader_reference(struct batch_reader *r, const struct protobuf_field *f, size_t count, const char *what);
/* Decodes an index in the table of strings. */
uint32_t batch_reader_string(struct batch_reader *r, const struct protobuf_field *f);
/* Sets the failure, unless there is one already. offset is that of the error in the bytes of the batch. */
void batch_reader_fail(struct batch_reader *r, enum tally_status status, uint64_t offset, const char *format, ...)
	TALLY_PRINTF(4, 5);
void batch_reader_nomem(struct batch_reader *r);
/* Allocates an array that is valid as long as the reader; if memory runs out, the reader fails and NULL is returned. */
void *batch_reader_array(struct batch_reader *r, size_t count, size_t item_bytes);

/* Decode one table each. Call them in this order, after the strings were decoded. */
void batch_read_binaries(struct batch_reader *r);
void batch_read_locations(struct batch_reader *r);
void batch_read_stacks(struct batch_reader *r);

#endif
