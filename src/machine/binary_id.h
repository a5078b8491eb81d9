/*
 * binary_id.h - the distinct program files that were mapped: name as recorded -> kind, name to show, build id.
 *
 * Owned by machine; ids are dense. One thread while it is fed.
 */
#ifndef MACHINE_BINARY_ID_H
#define MACHINE_BINARY_ID_H

#include "abi/record.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "machine/mapping.h"

#define BINARY_TABLE_RECENT 256 /* a power of two */

struct binary_table {
	struct intern *strings; /* the machine's */
	VEC(struct machine_binary) binaries;
	struct intern keys; /* path, build id, pid where it matters -> index (same numbering) */
	struct intern build_id_paths; /* paths of the file's build-id table */
	VEC(struct record_build_id) build_ids;
	/* By hash of the name: the user's file that was found last, + 1. The same few are mapped again and again. */
	uint32_t recent[BINARY_TABLE_RECENT];
};

void binary_table_init(struct binary_table *table, struct intern *strings);
void binary_table_deinit(struct binary_table *table);
/* A user mapping's file. False: out of memory. */
bool binary_table_add_user(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index);
bool binary_table_add_kernel(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index);
bool binary_table_add_bpf(struct binary_table *table, const struct record_ksymbol *ksymbol, uint32_t *index);
bool binary_table_add_jitdump(struct binary_table *table, struct tally_str path, int32_t pid, uint32_t *index);
bool binary_table_add_build_id(struct binary_table *table, struct tally_str path, const uint8_t *id, uint8_t size);
/* What it will have when the table is finished; NULL: no build id of its path was added. */
const struct record_build_id *binary_table_listed_build_id(const struct binary_table *table, uint32_t index);
/* Gives build ids by path to those that carry none. */
void binary_table_finish(struct binary_table *table);

#endif
