/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_id.h - identifies the distinct program files that were mapped: the recorded name with its kind, display name
 * and build ID.
 *
 * Owned by machine; ids are dense. One thread while it is fed. Build IDs are found by path and by the cpumode of their
 * record: perf lists the kernel by the path of a vmlinux if it found one, and a guest's files by the same paths as the
 * host's.
 */
#ifndef MACHINE_BINARY_ID_H
#define MACHINE_BINARY_ID_H

#include "abi/record.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "machine/mapping.h"

#define BINARY_TABLE_RECENT 256 /* a power of two */

enum binary_owner { BINARY_OF_USER, BINARY_OF_KERNEL, BINARY_OF_GUEST, BINARY_OWNERS };

struct binary_listed { /* an entry of the file's build-id table */
	struct record_build_id build_id;
	/* Known when the table is finished: */
	bool is_taken; /* map records of that path have it themselves */
	uint32_t last; /* the last file without an own build id by that path, + 1; 0: none */
};

struct binary_listing { /* the file's build-id table, of one owner */
	struct intern names; /* of user files their paths; of kernels and modules as binary_id.c says */
	VEC(struct binary_listed) ids;
};

struct binary_table {
	bool is_32_bit; /* the machine itself */
	struct intern *strings; /* the machine's */
	VEC(struct machine_binary) binaries;
	struct intern keys; /* path, build id, pid where it matters -> index (same numbering) */
	struct binary_listing listed[BINARY_OWNERS];
	uint32_t kernel_path; /* string id: how the file's build-id table names the kernel; INTERN_NONE: not at all */
	/* By hash of the name: the user's file that was found last, + 1. The same few are mapped again and again. */
	uint32_t recent[BINARY_TABLE_RECENT];
};

/* Recognizes the vdso of a 32-bit program on a 64-bit machine. The kernel gives both kinds the same name, but 32-bit
 * programs have nothing above 4 GiB, and 64-bit programs have their vdso near the end of the user addresses. A vdso at
 * a lower address than any kernel uses comes from a recording with moved mappings (inject --aslr); its kind is not
 * known, and it keeps its name. */
bool binary_is_vdso_32(const struct record_mmap *mmap);
#define BINARY_VDSO_32 "[vdso32]"
void binary_table_init(struct binary_table *table, struct intern *strings);
void binary_table_deinit(struct binary_table *table);
/* A user mapping's file. False: out of memory. */
bool binary_table_add_user(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index);
bool binary_table_add_kernel(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index);
bool binary_table_add_bpf(struct binary_table *table, const struct record_ksymbol *ksymbol, uint32_t *index);
bool binary_table_add_jitdump(struct binary_table *table, struct tally_str path, int32_t pid, uint32_t *index);
/* Whether the mapping holds generated code although it has a name: it is the heap, or a file in memory that is mapped
 * once to write code and once to run it. */
bool binary_is_generated(const struct record_mmap *mmap);
bool binary_table_add_build_id(struct binary_table *table, const struct machine_listed_id *entry);
/* Whether an entry of a build-id table is the host's kernel itself: any file of the kernel that is no module. */
bool binary_is_listed_kernel(uint16_t misc, struct tally_str path);
/* What it will have when the table is finished; NULL: no build id of its path was added. */
const struct record_build_id *binary_table_listed_build_id(const struct binary_table *table, uint32_t index);
bool binary_table_lists_build_ids(const struct binary_table *table);
/* Gives build ids by path to those that carry none. If several files had the same path one after another, only the last
 * one gets the build ID, because it was there when the recorder looked. A build ID that a mapping record carries
 * belongs to that file alone. False: out of memory. */
bool binary_table_finish(struct binary_table *table);

#endif
