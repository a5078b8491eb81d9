/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary.h - identifies a program file of a recording, and describes the result of the search for it.
 *
 * Plain values; strings are borrowed from the recording or from the store that returned them.
 */
#ifndef CODE_BINARY_H
#define CODE_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum binary_kind {
	BINARY_USER, /* An ELF file; addresses are file offsets. */
	BINARY_KERNEL, /* The kernel, by kallsyms or vmlinux; addresses are run-time addresses. */
	BINARY_MODULE, /* A kernel module; addresses are run-time addresses, from kallsyms. */
	BINARY_VDSO, /* The vDSO; addresses are file offsets in its image. */
	BINARY_PERF_MAP, /* JIT code named by /tmp/perf-PID.map; addresses are run-time addresses. */
	BINARY_JITDUMP, /* JIT code in a jit-PID.dump; addresses are offsets of the code in the dump. */
	BINARY_NONE, /* [heap], [stack] or unknown: it never has symbols. */
};

struct binary_key {
	enum binary_kind kind;
	struct tally_str path; /* Path as recorded; the name in brackets for a module. */
	struct tally_str file; /* Path of a module's file as recorded; empty for other kinds. */
	uint8_t build_id_size; /* 0 if the recording has none. */
	uint8_t build_id[20];
	/* Device, inode and generation of the file as recorded in its mappings, for a user file without a build ID;
	 * inode is 0 if they are not known. */
	uint32_t major, minor;
	uint64_t inode, generation;
	int32_t pid; /* Process to which /proc/PID/root or the perf map belongs; -1 if none. */
	/* Perf maps: time on the recording's clock at which the process first had JIT code; 0 if not known. */
	uint64_t generated_since_ns;
	uint64_t start; /* Run-time address of the kernel's _text, or of the start of a module; else 0. */
	uint64_t end; /* Kernel: run-time end of its text or data according to the recorded mapping; 0 if not known. */
};

enum binary_status {
	BINARY_NOT_LOADED,
	BINARY_OK,
	BINARY_NO_FILE,
	BINARY_BUILD_ID_DIFFERS,
	BINARY_NO_SYMBOLS,
	BINARY_DAMAGED,
	BINARY_HIDDEN /* The kernel hides its addresses (kptr_restrict). */
};

struct binary_info {
	enum binary_kind kind;
	struct tally_str path; /* Path as recorded. */
	/* Size of the recorded build ID, or of the build ID of the file that was found if none was recorded; 0 if
	 * none. */
	uint8_t build_id_size;
	uint8_t build_id[20];
	const char *used_path; /* Path of the file from which the symbols were read; NULL if none. */
	enum binary_status status;
	size_t symbol_count;
	const char *text; /* One sentence that says why there are no symbols; NULL if there is nothing to explain. */
	/* The symbols are from the running kernel, or from a file that was found by its path only, and it is not
	 * certain that this is the recorded one. */
	bool is_unproven;
	const char *doubt; /* Reason for is_unproven; NULL for a kernel. */
	bool is_refused; /* A file with symbol names exists but was not read, for the reason in text. */
};

/* The result at a place that was searched for symbols. */
enum binary_found {
	BINARY_FOUND_USED,
	BINARY_FOUND_NOTHING, /* The file does not exist. */
	BINARY_FOUND_CLOSED, /* Permission was denied. */
	BINARY_FOUND_OTHER_BUILD_ID,
	BINARY_FOUND_OTHER_FILE, /* It is another file than the recorded one, according to its inode. */
	/* A perf map of an earlier process with the same PID, according to its modification time. */
	BINARY_FOUND_OTHER_PROCESS,
	BINARY_FOUND_OTHER_CHECKSUM, /* The CRC differs from the one in .gnu_debuglink. */
	BINARY_FOUND_OTHER_UNITS, /* A .dwo file without the requested unit. */
	BINARY_FOUND_NO_SYMBOLS, /* The right file, but it lacks symbols or the requested part. */
	BINARY_FOUND_DAMAGED,
	BINARY_FOUND_NO_REGULAR_FILE, /* A FIFO, a device or a directory. */
	BINARY_FOUND_CHANGED, /* The file changed while it was read. */
	BINARY_FOUND_UNREADABLE /* The file could not be read for another reason. */
};

/* Reason why a part of a file's debug information could not be read. The file's functions still have names, but some
 * inlined functions, lines and types are missing. */
enum binary_lack { /* The numbers are part of the format of packs (docs/pack.md). */
	BINARY_LACKS_SPLITS, /* A part lies in .dwo files that were not found. */
	BINARY_LACKS_SUPPLEMENT, /* A part lies in dwz's common file, which was not found. */
	BINARY_LACKS_UNITS, /* Some units are damaged. */
	BINARY_LACK_KINDS
};

/* What debug information is missing. Each text is a sentence without a full stop, and lives as long as the store. */
struct binary_lack_text {
	const char *what; /* Says which file lacks what, and why; NULL if nothing is missing. */
	const char *remedy; /* Says what the user can do; NULL if nothing is known to help. */
};

/* The source of a step that stands for the addr2line program; its detail says how the program failed. */
#define BINARY_SOURCE_LINE_PROGRAM "lines of a program"

/* One step of the search for symbols. */
struct binary_step {
	const char *source; /* Kind of place, for example "build-id cache". */
	const char *path; /* The path, or another name of the place. */
	enum binary_found found;
	const char *detail; /* Details, such as the other build ID; NULL if none. */
};

/* Machine code, borrowed from the store. */
struct binary_code {
	struct tally_bytes bytes;
	uint64_t address; /* Address of the first byte as objdump shows it; the run-time address for the kernel. */
	unsigned elf_machine;
	bool is_big_endian, is_64;
	bool has_symtab; /* The file has a .symtab, with the names of its local functions. */
	const char *section;
	const char *path; /* Path of the file that contains the code. */
};
/* The name of an address to which code refers. */
struct binary_name {
	const char *name; /* Name as in the file; names of dynamic symbols include their versions. */
	uint64_t offset; /* Distance from the symbol's address; may be negative, in two's complement. */
	bool is_plt;
};

#endif
