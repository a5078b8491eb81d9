/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary.h - identifies a program file of a recording, and describes the result of the search for it.
 *
 * Values; strings are borrowed from the recording or from the store that gave them.
 */
#ifndef CODE_BINARY_H
#define CODE_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum binary_kind {
	BINARY_USER, /* an ELF file; addresses are file offsets */
	BINARY_KERNEL, /* kallsyms or vmlinux; addresses are run-time addresses */
	BINARY_MODULE, /* a kernel module; run-time addresses, from kallsyms */
	BINARY_VDSO, /* file offsets in the vdso image */
	BINARY_PERF_MAP, /* JIT code by /tmp/perf-PID.map; run-time addresses */
	BINARY_JITDUMP, /* JIT code by its jit-PID.dump; offsets of code in the dump */
	BINARY_NONE, /* [heap], [stack], unknown: never has symbols */
};

struct binary_key {
	enum binary_kind kind;
	struct tally_str path; /* as recorded; for a module its name in brackets */
	struct tally_str file; /* of a module: its path as recorded; else empty */
	uint8_t build_id_size; /* 0: the recording has none */
	uint8_t build_id[20];
	/* Of a user's file without a build ID: as in its mappings. inode 0: nothing. */
	uint32_t major, minor;
	uint64_t inode, generation;
	int32_t pid; /* whose /proc/PID/root or perf map; -1 none */
	uint64_t
		generated_since_ns; /* of a perf map, on the recording's clock: when there was generated code first; 0: not known */
	uint64_t start; /* run-time address of the kernel's _text, or start of the module; else 0 */
	uint64_t end; /* of the kernel: where its text or data ends, as its build has it; 0: not known */
};

enum binary_status {
	BINARY_NOT_LOADED,
	BINARY_OK,
	BINARY_NO_FILE,
	BINARY_BUILD_ID_DIFFERS,
	BINARY_NO_SYMBOLS,
	BINARY_DAMAGED,
	BINARY_HIDDEN /* kptr_restrict */
};

struct binary_info {
	enum binary_kind kind;
	struct tally_str path; /* as recorded */
	uint8_t build_id_size; /* of the recorded file; where the recording has none of the one that was found; 0 none */
	uint8_t build_id[20];
	const char *used_path; /* where the symbols came from; NULL if nowhere */
	enum binary_status status;
	size_t symbol_count;
	const char *text; /* one sentence: why there are no symbols; NULL if all is well */
	bool is_unproven; /* the names are the running kernel's or a file's at the path, and nothing tells if it was recorded */
	const char *doubt; /* of a user's file or perf map that is_unproven: why; NULL of a kernel */
	bool is_refused; /* there is a file of names, and it was not read: text says why */
};

enum binary_found { /* the result at a place that was searched for names */
	BINARY_FOUND_USED,
	BINARY_FOUND_NOTHING, /* no such file */
	BINARY_FOUND_CLOSED, /* no permission */
	BINARY_FOUND_OTHER_BUILD_ID,
	BINARY_FOUND_OTHER_FILE, /* than the recorded one, as its inode tells */
	BINARY_FOUND_OTHER_PROCESS, /* a perf map that another process of that number wrote, as its time tells */
	BINARY_FOUND_OTHER_CHECKSUM, /* than the debug link says */
	BINARY_FOUND_OTHER_UNITS, /* a .dwo file without the unit that it was opened for */
	BINARY_FOUND_NO_SYMBOLS, /* the right file, but without symbols or without the missing part */
	BINARY_FOUND_DAMAGED,
	BINARY_FOUND_NO_REGULAR_FILE, /* a FIFO, device, directory */
	BINARY_FOUND_CHANGED, /* while it was read */
	BINARY_FOUND_UNREADABLE /* for another reason */
};

/* Why a part of a file's debug information could not be read. Its functions have names then, but not all of their inlined
 * functions, lines and types. */
enum binary_lack {
	BINARY_LACKS_SPLITS, /* a part lies in .dwo files, which were not found */
	BINARY_LACKS_SUPPLEMENT, /* a part lies in dwz's common file, which was not found */
	BINARY_LACKS_UNITS, /* some units are damaged */
	BINARY_LACK_KINDS
};

struct binary_lack_text { /* each text is a sentence without a full stop, and lives as long as the store */
	const char *what; /* says which file lacks what, and why; NULL: nothing is lacking */
	const char *remedy; /* says what to do; NULL: nothing is known to help */
};

#define BINARY_SOURCE_LINE_PROGRAM "lines of a program" /* of a step that says how the program failed, in its detail */

struct binary_step { /* of the search for names */
	const char *source; /* what kind of place: "build-id cache" */
	const char *path; /* the path, or another name of the place */
	enum binary_found found;
	const char *detail; /* details, such as the other build ID; NULL: none */
};

struct binary_code { /* borrowed from the store */
	struct tally_bytes bytes;
	uint64_t address; /* of the first byte, as objdump has it; of the kernel where it ran */
	unsigned elf_machine;
	bool is_big_endian, is_64;
	bool has_symtab; /* the file has the names of its own functions */
	const char *section;
	const char *path; /* of the file that has it */
};
struct binary_name { /* of an address that code refers to */
	const char *name; /* as in the file, dynamic symbols with their versions */
	uint64_t offset; /* from the name's address; negative in two's complement */
	bool is_plt;
};

#endif
