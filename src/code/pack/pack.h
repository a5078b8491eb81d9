/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - defines the symbols and code that a recording can carry: for each program file that samples hit, the
 * symbols, inlined calls and source lines of those addresses. The bytes are a feature section; docs/pack.md has the
 * form.
 *
 * pack_open copies nothing: names point into the bytes, which must outlive the pack. Afterwards any thread may read it.
 * pack_encode makes the bytes from objects that a caller fills (tasks/packing/pack_gather.c).
 *
 * Bad input: a pack that is truncated, has another version, or fails the check of its checksum or counts is refused as
 * a whole: CORRUPT, UNSUPPORTED.
 *
 *	if (pack_open(bytes, &pack, err) == TALLY_OK)
 *		object = pack_find(pack, &key);
 */
#ifndef CODE_PACK_PACK_H
#define CODE_PACK_PACK_H

#include <tally/status.h>

#include "base/vec.h"
#include "base/writer.h"
#include "code/binary.h"
#include "code/symbol.h"

struct pack_segment { /* of the file: how offsets become link-time addresses */
	uint64_t offset, vaddr, size;
};

struct pack_range { /* of addresses that have the same places */
	uint64_t start;
	uint32_t size;
	uint32_t first, count; /* of the object's places; 0: it is known that there are none */
};

struct pack_code { /* of a function, or of what samples hit outside of functions */
	uint64_t start; /* as symbols' */
	struct binary_code code;
};

struct pack_name { /* of an address that code refers to */
	uint64_t address;
	struct binary_name name;
};

struct pack_object {
	struct binary_key key; /* as the recording has it */
	struct elf_pack_id {
		uint8_t size;
		uint8_t bytes[20];
	} found_id; /* of the file that was read */
	enum binary_status status;
	const char *used_path, *text, *places_path; /* NULL: none */
	uint64_t symbol_count; /* in the file, not only here */
	VEC(struct pack_segment) segments;
	VEC(struct symbol) symbols; /* by start */
	VEC(struct pack_range) ranges; /* by start, apart */
	VEC(struct source_place) places;
	VEC(struct pack_code) codes; /* by start, apart */
	VEC(struct pack_name) names; /* by address, each once */
	struct tally_bytes dump; /* of generated code, as pack_dump_make makes it; empty: none */
};

struct pack;

TALLY_MUST_CHECK enum tally_status pack_open(struct tally_bytes bytes, struct pack **pack, struct tally_error *err);
void pack_close(struct pack *pack);
/* Of what a pack has, as tests and fuzz targets look through all of it; others ask by key. */
size_t pack_count(const struct pack *pack);
const struct pack_object *pack_get(const struct pack *pack, size_t index);
/* NULL: nothing was packed of it. */
const struct pack_object *pack_find(const struct pack *pack, const struct binary_key *key);
/* The range that covers the address; NULL: none. */
const struct pack_range *pack_range_find(const struct pack_object *object, uint64_t address);

/* The code of [start, end), it may end earlier; false: it was not packed. */
bool pack_code_find(const struct pack_object *object, uint64_t start, uint64_t end, struct binary_code *code);
const struct binary_name *pack_name_find(const struct pack_object *object, uint64_t address);

void pack_object_deinit(struct pack_object *object);
/* Sets the byte order that packs are written in, little-endian; the reader takes the other one too. */
void pack_set_order(struct writer *w);
/* Into an empty writer, in its byte order. NOMEM, or INVALID: more than the form can hold. */
TALLY_MUST_CHECK enum tally_status pack_encode(
	const struct pack_object *objects, size_t count, struct writer *w, struct tally_error *err);

#endif
