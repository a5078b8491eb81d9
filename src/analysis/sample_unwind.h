/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_unwind.h - unwinds the user part of a sample's call chain from the registers and the stack dump in the sample
 * (perf's --call-graph dwarf). The unwinding itself is in code/unwind/unwinder.h.
 *
 * unwind_files finds the store's file for a mapping. The workers share it read-only, so all files are added beforehand
 * (which opens nothing). With a single thread, files may be added when they are first needed. Each worker has a
 * sample_unwinder. Both borrow machine, store and features. Bad input: any sample results in a chain, which may be
 * empty, and a reason why it ended. Caches never change the result.
 *
 *	unwind_files_init(&files, machine, store);   unwind_files_add_all(&files, err);
 *	sample_unwinder_init(&u, &files, features, swap);
 *	result = sample_unwind(&u, &where, &sample, ips, max);
 */
#ifndef ANALYSIS_SAMPLE_UNWIND_H
#define ANALYSIS_SAMPLE_UNWIND_H

#include "abi/sample.h"
#include "analysis/stack_ends.h"
#include "code/binary_store.h"
#include "machine/machine.h"
#include "perfdata/features.h"

struct unwind_files {
	const struct machine *machine;
	struct binary_store *store;
	VEC(uint32_t) ids; /* The store's file for each of the machine's binaries. */
};

struct unwind_where { /* Process and time of a sample. */
	int32_t pid;
	uint64_t time_ns;
	uint32_t epoch; /* Epoch of the process's mappings (resolve_where.user_epoch). */
};

struct sample_unwinder {
	struct unwind_files *files;
	const struct perfdata_features *features;
	bool swap;
	struct unwinder *unwinders[2]; /* For 64-bit and for 32-bit registers; NULL until needed. */
	int32_t last_pid;
	uint32_t last_epoch;
	struct stack_ends ends;
	bool failed; /* Memory ran out. */
};

void unwind_files_init(struct unwind_files *files, const struct machine *machine, struct binary_store *store);
void unwind_files_deinit(struct unwind_files *files);
TALLY_MUST_CHECK enum tally_status unwind_files_add_all(struct unwind_files *files, struct tally_error *err);

void sample_unwinder_init(
	struct sample_unwinder *u, struct unwind_files *files, const struct perfdata_features *features, bool swap);
void sample_unwinder_deinit(struct sample_unwinder *u);
/* Drops cached mappings. Call it after the machine was finished again, because epochs are numbered from the start
 * then. */
void sample_unwinder_forget(struct sample_unwinder *u);
/* Returns true if sample_unwind can extend the recorded chain. */
static inline bool sample_has_stack(const struct sample *sample)
{
	return sample->regs_user.abi != REGS_ABI_NONE && sample->stack_user.size > 0;
}
/* Stores the chain, innermost first: the thread's position, then return addresses. The chain is empty if no caller was
 * found and the file at the first address has no unwind table. Counts in u->ends how the chain ended. */
struct unwind_result sample_unwind(struct sample_unwinder *u, const struct unwind_where *where,
	const struct sample *sample, uint64_t *ips, size_t max);

#endif
