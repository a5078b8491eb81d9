/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - declares a mapping over an interval of time, and the file that it maps. machine owns them; string ids are
 * the machine's.
 */
#ifndef MACHINE_MAPPING_H
#define MACHINE_MAPPING_H

#include "abi/record_fields.h"

enum machine_binary_kind {
	MACHINE_USER_FILE,
	MACHINE_KERNEL,
	MACHINE_KERNEL_MODULE,
	MACHINE_VDSO,
	MACHINE_ANON_JIT,
	MACHINE_ANON_DATA, /* not to be executed */
	MACHINE_NO_FILE,
	MACHINE_BPF,
	MACHINE_JITDUMP /* generated code that its runtime dumped; addresses are offsets in the dump */
};

struct machine_file { /* as the kernel identifies it; all 0: unknown */
	uint32_t major, minor;
	uint64_t inode, generation;
};

struct machine_binary { /* one distinct file that was mapped: by path and build id, or else device and inode */
	uint32_t path; /* string id */
	uint32_t short_name; /* string id: what reports show */
	enum machine_binary_kind kind;
	bool is_listed; /* in the file's build-id table: perf script then shows a module by its path */
	struct record_build_id build_id;
	bool has_own_id; /* its map records have the build id; else it is that of the file's table */
	struct machine_file file; /* of a user's file whose map records have no build id */
	int32_t pid; /* MACHINE_ANON_JIT, JITDUMP: whose file; else the first process that mapped it */
	uint64_t start; /* kernel and modules: run-time start */
	uint64_t end; /* kernel: where its record ends. Beyond it only a symbol tells that it is the kernel */
	uint64_t text_end; /* kernel: the same if that is its own end, as a build has it; 0: not known */
};

/* The address of code in a module as perf shows it: its offset from the module's start. */
static inline uint64_t machine_module_offset(const struct machine_binary *module, uint64_t address)
{
	return module->start && address >= module->start ? address - module->start : address;
}

struct machine_listed_id { /* an entry of the recording's build-id table */
	uint16_t misc; /* its cpumode: whose file it is */
	int32_t pid; /* of a guest: its machine; else -1 */
	struct tally_str path;
	struct record_build_id id;
};

struct mapping {
	uint64_t start, end; /* run-time, end exclusive */
	uint64_t pgoff; /* file offset of start; kernel: see machine_address_in_binary */
	uint64_t time_from_ns, time_to_ns; /* valid in [from, to) */
	uint32_t binary; /* index for machine_binary_get */
	uint32_t prot, flags;
	int32_t pid;
	uint32_t file; /* equal for the same file (by build id, else device and inode); 0: not known */
	bool is_generated; /* code of a dump: stays when memory without a file is mapped there, as it is to make it executable */
};

struct valid_span { /* the times for which an answer is valid: [from, to) */
	uint64_t from_ns, to_ns;
};

struct address_range { /* [start, end) */
	uint64_t start, end;
};

/* Only shrinks: to the span in which all answers are the same. */
static inline void valid_span_cut(struct valid_span *span, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns > span->from_ns)
		span->from_ns = from_ns;
	if (to_ns < span->to_ns)
		span->to_ns = to_ns;
}

#endif
