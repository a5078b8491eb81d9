/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_reader.h - holds what is known of a batch while its bytes are decoded. Private to fleet/: batch_read reads the
 * parts in the order in which they refer to each other, batch_read_stacks those that lead to stacks.
 *
 * Fields may come in any order, so each table is a pass over the part of the outermost message that has all of its
 * fields. Every index is checked before it is
 * stored; the sums of what tables may become are bounded by the number of bytes. A reader fails stickily: status is
 * then set, and each pass ends.
 */
#ifndef FLEET_BATCH_READER_H
#define FLEET_BATCH_READER_H

#include "base/protobuf_reader.h"
#include "base/vec.h"
#include "fleet/batch.h"
#include "fleet/batch_format.h"
#include "profile/profile_builder.h"

struct batch_reader {
	struct protobuf_reader message; /* at its beginning */
	size_t bytes; /* of the message */
	size_t counts[BATCH_FIELDS]; /* of fields, by number */
	size_t begins[BATCH_FIELDS], ends[BATCH_FIELDS]; /* in the message: all fields of a number are in between */
	struct profile_builder *builder;
	struct arena arena; /* of the arrays below */
	struct tally_str *texts; /* by string, as they came; string 0 is empty */
	uint32_t *strings; /* by string: the profile's */
	uint32_t *binaries; /* by binary: the profile's */
	size_t *location_begins; /* by location and one more: in frames */
	VEC(uint32_t) frames; /* of all locations: the profile's */
	VEC(uint32_t) left_out; /* frames whose symbols the receiver has */
	size_t line_bytes; /* of the texts of lines */
	uint32_t *stacks; /* by stack: the profile's */
	uint32_t *leaves; /* by stack: the frame of the sample's own address */
	bool *has_callers; /* by stack: it has more than one location */
	enum tally_status status;
	struct tally_error *err;
};

struct protobuf_reader batch_reader_pass(const struct batch_reader *r, unsigned number);
/* The next field of this number in its pass over the outermost message; false: there is none, or the reader failed. */
bool batch_reader_next(struct batch_reader *r, struct protobuf_reader *pass, unsigned number, struct protobuf_field *f);
/* Fails the reader if the inner message is malformed. */
void batch_reader_end(struct batch_reader *r, const struct protobuf_reader *inner);
/* Numbers of 32 bits and indexes; 0 if the reader fails. */
uint64_t batch_reader_u64(struct batch_reader *r, const struct protobuf_field *f);
uint32_t batch_reader_u32(struct batch_reader *r, const struct protobuf_field *f);
/* what: for the message, as in "stack". */
uint32_t batch_reader_index(struct batch_reader *r, const struct protobuf_field *f, size_t count, const char *what);
/* Index plus one; 0 is none. */
uint32_t batch_reader_reference(struct batch_reader *r, const struct protobuf_field *f, size_t count, const char *what);
uint32_t batch_reader_string(struct batch_reader *r, const struct protobuf_field *f);
void batch_reader_fail(struct batch_reader *r, enum tally_status status, uint64_t offset, const char *format, ...)
	TALLY_PRINTF(4, 5);
void batch_reader_nomem(struct batch_reader *r);
/* An array that lives as long as the reader; NULL: out of memory, and the reader failed. */
void *batch_reader_array(struct batch_reader *r, size_t count, size_t item_bytes);

/* After the strings. */
void batch_read_binaries(struct batch_reader *r);
void batch_read_locations(struct batch_reader *r);
void batch_read_stacks(struct batch_reader *r);

#endif
