/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - stores the history of processes, threads and mappings of a recording, for lookups at a given time.
 *
 * machine_apply adds decoded side-band records in time order, in one thread. machine_finish then makes the machine
 * immutable and fast to search, and any thread may look up. More records may be added, followed by another
 * machine_finish (IDs are unchanged, epochs change). No history is removed before machine_destroy, but returned
 * pointers are valid only until more records are added. A time of 0 is before all others. Strings are copied.
 *
 *	machine_apply(m, &record, &fields, time_ns, err);   machine_finish(m, err);
 *	const struct mapping *map = machine_find_mapping(m, pid, time_ns, cpumode, VA(ip));
 *	uint32_t comm = machine_comm_at(m, tid, time_ns);
 */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include "abi/record.h"
#include "base/address.h"
#include "base/intern.h"
#include "machine/mapping.h"

struct machine;

TALLY_MUST_CHECK enum tally_status machine_create(struct machine **machine, struct tally_error *err);
void machine_destroy(struct machine *machine);
/* Sets that the recording is of a 32-bit machine. Call it before any record is applied. */
void machine_set_32_bit(struct machine *machine);
/* Applies a record; irrelevant records are ignored. */
TALLY_MUST_CHECK enum tally_status machine_apply(struct machine *machine, const struct record *record,
	const struct record_fields *fields, uint64_t time_ns, struct tally_error *err);
struct machine_generated { /* Generated code from a jitdump: path is that of the dump, offset that of the code in it. */
	int32_t pid;
	struct tally_str path;
	uint64_t start, len, offset;
};
/* Adds generated code that exists from time_ns on. */
TALLY_MUST_CHECK enum tally_status machine_add_generated(
	struct machine *machine, const struct machine_generated *code, uint64_t time_ns, struct tally_error *err);
/* Adds an entry of the recording's build-ID table; call it before machine_finish. */
TALLY_MUST_CHECK enum tally_status machine_add_build_id(
	struct machine *machine, const struct machine_listed_id *entry, struct tally_error *err);
/* Returns the build ID that a binary will have after machine_finish; NULL if the build-ID table does not list it. */
const struct record_build_id *machine_listed_build_id(const struct machine *machine, uint32_t binary);
/* Returns true if the recording has a build-ID table, which lists the binaries that samples hit. */
bool machine_lists_build_ids(const struct machine *machine);
TALLY_MUST_CHECK enum tally_status machine_finish(struct machine *machine, struct tally_error *err);

/*
 * Returns the mapping at an address; NULL if nothing was mapped there. cpumode is MISC_CPUMODE_* of the sample; for the
 * kernel, pid is ignored, and for guests, the result is NULL.
 */
const struct mapping *machine_find_mapping(
	const struct machine *machine, int32_t pid, uint64_t time_ns, unsigned cpumode, struct tally_va va);
struct machine_place { /* Parameters of machine_find_mapping. */
	int32_t pid;
	unsigned cpumode;
	uint64_t time_ns, address;
};
/* Does what machine_find_mapping does, and narrows range to addresses around it with the same result at that time. */
const struct mapping *machine_find_mapping_range(
	const struct machine *machine, const struct machine_place *place, struct address_range *range);
/*
 * Returns the address in the binary's own address space: the file offset for files, the vdso and jitdumps, the run-time
 * address for all others.
 */
uint64_t machine_address_in_binary(const struct machine *machine, const struct mapping *mapping, struct tally_va va);
/* Returns the string ID of the thread's name at that time; INTERN_NONE if it had none (perf then prints ":TID"). */
uint32_t machine_comm_at(const struct machine *machine, int32_t tid, uint64_t time_ns);
/* Does what machine_comm_at does, and narrows span to the times around it with the same result. */
uint32_t machine_comm_during(const struct machine *machine, int32_t tid, uint64_t time_ns, struct valid_span *span);
/*
 * Returns the epoch, a number that changes whenever the process's mappings do: equal call chains in the same epoch have
 * the same symbols. It is 0 if the process had no address space. Narrows span, if it is not NULL, to the times around
 * it with the same result.
 */
uint32_t machine_epoch_during(const struct machine *machine, int32_t pid, uint64_t time_ns, struct valid_span *span);
/* Returns the epoch of the kernel's mappings, like machine_epoch_during. */
uint32_t machine_kernel_epoch_during(const struct machine *machine, uint64_t time_ns, struct valid_span *span);
const struct machine_binary *machine_binary_get(const struct machine *machine, uint32_t index);
/*
 * Returns the time at which the process mapped its first generated code, or was forked with it; 0 if it did so
 * before the recording, or never.
 */
uint64_t machine_generated_since(const struct machine *machine, int32_t pid);
size_t machine_binary_count(const struct machine *machine);
/*
 * Returns the rank of a file (mapping.file) among all, by device, inode, generation and build ID; 0 only for file 0.
 * Call it after machine_finish.
 */
uint32_t machine_file_rank(const struct machine *machine, uint32_t file);
/*
 * Returns the number of anonymous mappings (huge pages) that contain the text of a file that was mapped there before,
 * and were attributed to that file.
 */
size_t machine_remapped_texts(const struct machine *machine);
/* Returns the string with this string ID. */
struct tally_str machine_string(const struct machine *machine, uint32_t id);

#endif
