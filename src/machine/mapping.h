/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - declares a mapping that is valid for an interval of time, and the file that it maps. machine owns both;
 * string IDs are those of the machine.
 */
#ifndef MACHINE_MAPPING_H
#define MACHINE_MAPPING_H

#include "abi/record_fields.h"

enum machine_binary_kind {
	MACHINE_USER_FILE,
	MACHINE_KERNEL,
	MACHINE_KERNEL_MODULE,
	MACHINE_VDSO,
	MACHINE_ANON_JIT, /* Generated code in anonymous memory, named by the process's perf map if it has one. */
	MACHINE_ANON_DATA, /* Anonymous memory that is not executable. */
	MACHINE_NO_FILE, /* No file can be read for it, such as the vsyscall page or a guest's kernel. */
	MACHINE_BPF,
	MACHINE_JITDUMP /* Generated code in a jitdump; addresses are offsets in the dump. */
};

struct machine_file { /* Identity of a file in the kernel; all 0 if unknown. */
	uint32_t major, minor;
	uint64_t inode, generation;
};

/* A distinct mapped file, identified by path and build ID, or by device and inode without a build ID. */
struct machine_binary {
	uint32_t path; /* String ID. */
	uint32_t short_name; /* String ID of the name that reports display. */
	enum machine_binary_kind kind;
	bool is_listed; /* True if the build-ID table lists it; perf script then prints a module by its path. */
	struct record_build_id build_id;
	bool has_own_id; /* True if build_id is from its mapping records, not from the build-ID table. */
	struct machine_file file; /* Identity of a user file if its mapping records have no build ID. */
	/* Process that owns MACHINE_ANON_JIT or MACHINE_JITDUMP; for others, the first process that mapped the file. */
	int32_t pid;
	uint64_t start; /* Run-time start of the kernel or a module. */
	/* End of the kernel's mapping record. Addresses beyond it belong to the kernel only if they have a symbol. */
	uint64_t end;
	uint64_t text_end; /* Run-time end of the kernel's text; 0 if it is not known. */
};

/* Returns the address of a module's code as perf prints it: the offset from module->start, if that is known. */
static inline uint64_t machine_module_offset(const struct machine_binary *module, uint64_t address)
{
	return module->start && address >= module->start ? address - module->start : address;
}

struct machine_listed_id { /* An entry of the recording's build-ID table. */
	uint16_t misc; /* The cpumode in it identifies the owner: user, kernel or guest. */
	int32_t pid; /* ID of a guest's machine; -1 for the host. */
	struct tally_str path;
	struct record_build_id id;
};

struct mapping {
	uint64_t start, end; /* Run-time addresses; end is exclusive. */
	uint64_t pgoff; /* File offset of start, for kinds that have file offsets (machine_address_in_binary). */
	uint64_t time_from_ns, time_to_ns; /* The mapping is valid in [time_from_ns, time_to_ns). */
	uint32_t binary; /* Index for machine_binary_get. */
	uint32_t prot, flags;
	int32_t pid;
	/* Equal for the same file (by build ID, or by device and inode without one); 0 if it is not known. */
	uint32_t file;
	/*
	 * Generated code in a jitdump, which remains valid when anonymous memory is mapped over it, as runtimes do to
	 * make it executable.
	 */
	bool is_generated;
};

struct valid_span { /* Times for which a result is valid: [from_ns, to_ns). */
	uint64_t from_ns, to_ns;
};

struct address_range { /* Addresses in [start, end). */
	uint64_t start, end;
};

/* Narrows the span to its intersection with [from_ns, to_ns). */
static inline void valid_span_cut(struct valid_span *span, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns > span->from_ns)
		span->from_ns = from_ns;
	if (to_ns < span->to_ns)
		span->to_ns = to_ns;
}

#endif
