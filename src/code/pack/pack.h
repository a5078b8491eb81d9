/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - defines the symbols and code that a recording can contain: for each program file that has samples, the
 * symbols, inlined calls and source lines of the sampled addresses. The bytes are a feature section; docs/pack.md
 * describes the format.
 *
 * pack_open copies nothing: names point into the bytes, which must outlive the pack. Afterwards any thread may read it.
 * pack_encode writes objects that a caller fills (tasks/packing/pack_gather.c).
 *
 * Bad input: a pack that is truncated, has another version, or has a wrong checksum or wrong counts is refused as a
 * whole: pack_open returns CORRUPT, or UNSUPPORTED for another version.
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

/* A segment of the file; maps file offsets to link-time addresses. */
struct pack_segment {
	uint64_t offset, vaddr, size;
};

/* A range of addresses that have the same places. */
struct pack_range {
	uint64_t start;
	uint32_t size;
	uint32_t first, count; /* Slice of the object's places; count is 0 if the addresses are known to have none. */
};

/* Code of a function, or code outside of functions that has samples. */
struct pack_code {
	uint64_t start; /* Start address, of the same kind as that of symbols. */
	struct binary_code code;
};

/* Name of an address to which code refers. */
struct pack_name {
	uint64_t address;
	struct binary_name name;
};

struct pack_object {
	struct binary_key key; /* Key as in the recording. */
	struct elf_pack_id {
		uint8_t size;
		uint8_t bytes[20];
	} found_id; /* Build ID of the file that was read. */
	enum binary_status status;
	const char *used_path, *text, *places_path; /* NULL if there is none. */
	uint64_t symbol_count; /* Number of symbols in the file, not only in the pack. */
	uint32_t lacks; /* What the debug information lacked when it was packed: bits 1 << enum binary_lack. */
	VEC(struct pack_segment) segments;
	VEC(struct symbol) symbols; /* Sorted by start. */
	VEC(struct pack_range) ranges; /* Sorted by start, without overlap. */
	VEC(struct source_place) places;
	VEC(struct pack_code) codes; /* Sorted by start, without overlap. */
	VEC(struct pack_name) names; /* Sorted by address, without duplicates. */
	struct tally_bytes dump; /* Reduced jitdump from pack_dump_make; empty if none. */
};

struct pack;

TALLY_MUST_CHECK enum tally_status pack_open(struct tally_bytes bytes, struct pack **pack, struct tally_error *err);
void pack_close(struct pack *pack);
/* Return the objects of a pack by index; for tests and fuzz targets. Other callers use pack_find. */
size_t pack_count(const struct pack *pack);
const struct pack_object *pack_get(const struct pack *pack, size_t index);
/* Returns the object with that key; NULL if there is none. */
const struct pack_object *pack_find(const struct pack *pack, const struct binary_key *key);
/* Returns the range that contains the address; NULL if there is none. */
const struct pack_range *pack_range_find(const struct pack_object *object, uint64_t address);

/* Finds the code of [start, end); the result may end before end. Returns false if the code at start was not packed. */
bool pack_code_find(const struct pack_object *object, uint64_t start, uint64_t end, struct binary_code *code);
/* Returns the name of exactly this address; NULL if none was packed. */
const struct binary_name *pack_name_find(const struct pack_object *object, uint64_t address);

void pack_object_deinit(struct pack_object *object);
/* Sets the byte order of packs that are written: little-endian. The reader accepts both. */
void pack_set_order(struct writer *w);
/* Appends the pack to an empty writer, in its byte order. NOMEM, or INVALID: more than the format can store. */
TALLY_MUST_CHECK enum tally_status pack_encode(
	const struct pack_object *objects, size_t count, struct writer *w, struct tally_error *err);

#endif
