/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary_id.h - identifies the distinct files that were mapped, by the recorded name with its kind, display name and
 * build ID.
 *
 * Owned by machine; IDs are dense. Used by one thread while records are added. Build IDs are looked up by path and by
 * the cpumode of their record: perf lists the kernel by the path of a vmlinux if it found one, and a guest's files by
 * the same paths as the host's.
 */
#ifndef MACHINE_BINARY_ID_H
#define MACHINE_BINARY_ID_H

#include "abi/record.h"
#include "base/intern.h"
#include "base/map_u64.h"
#include "base/vec.h"
#include "machine/mapping.h"

#define BINARY_TABLE_RECENT 256 /* Number of recently found files; a power of two. */

/* Whose file an entry of the build-ID table is: its paths are separate from those of the other owners. */
enum binary_owner { BINARY_OF_USER, BINARY_OF_KERNEL, BINARY_OF_GUEST, BINARY_OWNERS };

struct binary_listed { /* An entry of the recording's build-ID table. */
	struct record_build_id build_id;
	/* The members below are set by binary_table_finish. */
	bool is_taken; /* True if mapping records of that path contain this build ID themselves. */
	/* Index of the last file with that path and without a build ID of its own, + 1; 0 if there is none. */
	uint32_t last;
};

struct binary_listing { /* The recording's build-ID table for one owner. */
	struct intern names; /* Paths of user files; for kernels and modules, the names that binary_id.c derives. */
	VEC(struct binary_listed) ids;
};

struct binary_table {
	bool is_32_bit; /* True if the machine itself has 32 bits. */
	struct intern *strings; /* Borrowed from the machine. */
	VEC(struct machine_binary) binaries;
	struct intern keys; /* Path, build ID and, if it is significant, process ID; numbered as binaries. */
	struct binary_listing listed[BINARY_OWNERS];
	/* String ID of the kernel's path in the build-ID table; INTERN_NONE if the table does not contain it. */
	uint32_t kernel_path;
	/* Cache of user files by the hash of the name, as index + 1. The same few files are mapped again and again. */
	uint32_t recent[BINARY_TABLE_RECENT];
};

/*
 * Recognizes the vdso of a 32-bit program on a 64-bit machine. The kernel uses the same name for both kinds, but 32-bit
 * programs have nothing above 4 GiB, and 64-bit programs have their vdso near the end of the user addresses. A vdso at
 * a lower address than any kernel uses is from a recording with moved mappings (inject --aslr); its kind is not known,
 * and its name is not changed.
 */
bool binary_is_vdso_32(const struct record_mmap *mmap);
#define BINARY_VDSO_32 "[vdso32]"
void binary_table_init(struct binary_table *table, struct intern *strings);
void binary_table_deinit(struct binary_table *table);
/* Adds the file of a user mapping. Returns false if out of memory. */
bool binary_table_add_user(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index);
/* The following functions add other kinds of files, as binary_table_add_user does. */
bool binary_table_add_kernel(struct binary_table *table, const struct record_mmap *mmap, uint32_t *index);
bool binary_table_add_bpf(struct binary_table *table, const struct record_ksymbol *ksymbol, uint32_t *index);
bool binary_table_add_jitdump(struct binary_table *table, struct tally_str path, int32_t pid, uint32_t *index);
/*
 * Returns true if the mapping contains generated code although it has a name: it is the heap, or a file in memory that
 * is mapped once to write code and once to run it.
 */
bool binary_is_generated(const struct record_mmap *mmap);
bool binary_table_add_build_id(struct binary_table *table, const struct machine_listed_id *entry);
/* Returns true if an entry of a build-ID table is the host's kernel and no module. misc is that of its record. */
bool binary_is_listed_kernel(uint16_t misc, struct tally_str path);
/* Returns the build ID that the binary will have after binary_table_finish; NULL if none was listed for its path. */
const struct record_build_id *binary_table_listed_build_id(const struct binary_table *table, uint32_t index);
/* Returns true if the recording has a build-ID table. */
bool binary_table_lists_build_ids(const struct binary_table *table);
/*
 * Assigns the listed build IDs to the files at their paths that have none. If several files had the same path one after
 * another, only the last one gets the build ID, because it existed when the recorder read it. A build ID in a mapping
 * record belongs to that file alone. Returns false if out of memory.
 */
bool binary_table_finish(struct binary_table *table);

#endif
