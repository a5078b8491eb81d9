/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - stores the history of processes and mappings: which thread ran and what was mapped where at a time t.
 *
 * Fed with decoded side-band records in time order (machine_apply); machine_finish makes it immutable and fast to
 * search, and then any thread may look up, until it is fed again and finished again (IDs stay, epochs change). Nothing
 * is freed before machine_destroy. A time of 0 means "before all". It copies strings. One thread while it is fed.
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
/* Says that the recording is of a 32-bit machine. Call it before any record is applied. */
void machine_set_32_bit(struct machine *machine);
/* Records of no interest are ignored. */
TALLY_MUST_CHECK enum tally_status machine_apply(struct machine *machine, const struct record *record,
	const struct record_fields *fields, uint64_t time_ns, struct tally_error *err);
/* Adds generated code that exists from that time on. path is that of its dump, and offset is that of the code in the
 * dump. */
struct machine_generated {
	int32_t pid;
	struct tally_str path;
	uint64_t start, len, offset;
};
TALLY_MUST_CHECK enum tally_status machine_add_generated(
	struct machine *machine, const struct machine_generated *code, uint64_t time_ns, struct tally_error *err);
/* Build ids of the file's table; before finish. */
TALLY_MUST_CHECK enum tally_status machine_add_build_id(
	struct machine *machine, const struct machine_listed_id *entry, struct tally_error *err);
/* The build id that a binary will have when the machine is finished. NULL: the file's table does not list it. */
const struct record_build_id *machine_listed_build_id(const struct machine *machine, uint32_t binary);
/* Whether the file has a build-id table, which lists the binaries that samples hit. */
bool machine_lists_build_ids(const struct machine *machine);
TALLY_MUST_CHECK enum tally_status machine_finish(struct machine *machine, struct tally_error *err);

/* cpumode: MISC_CPUMODE_* of the sample. NULL: nothing was mapped there. */
const struct mapping *machine_find_mapping(
	const struct machine *machine, int32_t pid, uint64_t time_ns, unsigned cpumode, struct tally_va va);
struct machine_place {
	int32_t pid;
	unsigned cpumode;
	uint64_t time_ns, address;
};
/* The same, and cuts range to the addresses around it that have the same answer at that time. */
const struct mapping *machine_find_mapping_range(
	const struct machine *machine, const struct machine_place *place, struct address_range *range);
/* The address in the binary's own space: file offset for files, run-time address for kernel, modules and JIT. */
uint64_t machine_address_in_binary(const struct machine *machine, const struct mapping *mapping, struct tally_va va);
/* String id of the thread's name at that time; INTERN_NONE if it had none (perf then shows ":TID"). */
uint32_t machine_comm_at(const struct machine *machine, int32_t tid, uint64_t time_ns);
/* The same, and cuts span to the times around it that have the same answer. */
uint32_t machine_comm_during(const struct machine *machine, int32_t tid, uint64_t time_ns, struct valid_span *span);
/* Changes whenever the process's mappings do: two equal chains of one process and epoch resolve alike. Cuts span, if
 * that is not NULL, to the times around it that have the same answer. */
uint32_t machine_epoch_during(const struct machine *machine, int32_t pid, uint64_t time_ns, struct valid_span *span);
/* The same for the kernel's mappings. */
uint32_t machine_kernel_epoch_during(const struct machine *machine, uint64_t time_ns, struct valid_span *span);
const struct machine_binary *machine_binary_get(const struct machine *machine, uint32_t index);
/* When the process mapped its first generated code, or was forked with it. 0: not known, as it did before the recording. */
uint64_t machine_generated_since(const struct machine *machine, int32_t pid);
size_t machine_binary_count(const struct machine *machine);
/* The rank of a mapping's file among all, by device and inode, then build id; 0 only for file 0. */
uint32_t machine_file_rank(const struct machine *machine, uint32_t file);
/* Anonymous mappings that hold the text of the file that was there before (huge pages): they are named by that. */
size_t machine_remapped_texts(const struct machine *machine);
struct tally_str machine_string(const struct machine *machine, uint32_t id);

#endif
