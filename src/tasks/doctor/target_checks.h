/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_checks.h - looks at a running process, or at the program of a command, and says which call stacks and which
 * names of functions a recording of it will have.
 *
 * Files are opened as the process sees them. Everything lives in the checks' arena, which the caller owns. One thread;
 * large programs take some tenths of a second, because their symbols and unwind tables are read.
 *
 *	struct target_checks target;
 *	status = target_checks_of_process(kernel, &options, pid, &target, err); ... target_checks_deinit(&target);
 */
#ifndef TASKS_DOCTOR_TARGET_CHECKS_H
#define TASKS_DOCTOR_TARGET_CHECKS_H

#include "base/vec.h"
#include "code/binary_store.h"
#include "kernel/system/kernel_seam.h"

enum target_names { TARGET_ALL_NAMES, TARGET_EXPORTED_NAMES, TARGET_NO_NAMES };

struct target_file {
	const char *path; /* as the process sees it */
	enum target_names names;
	const char *names_from; /* the file that they come from: itself or a debug file; NULL: no names */
	const char *trouble; /* why names are missing; NULL: they are not, or nothing is known */
	const char *hint; /* how to get the missing names; NULL: all are there */
	bool has_lines; /* debug information: source lines and inlined calls */
	bool has_unwind_table;
	unsigned frame_pointer_percent; /* of the code that the table describes: code that keeps a frame pointer */
	uint64_t code_bytes; /* mapped to execute */
	bool is_from_package; /* the hint is a command that installs a package */
};

struct target_checks {
	struct arena arena;
	int32_t pid; /* 0: a command that does not run yet, of which only the program is known */
	const char *name; /* of the process, or the path of the command's program */
	const char *script; /* the command's file, whose interpreter is the program; NULL: it is no script */
	bool is_kernel_thread; /* it has no code of its own */
	const char *refusal; /* why its events do not open; NULL: they do */
	VEC(struct target_file) files; /* those with most code first */
	uint64_t generated_bytes; /* code that no file has: a JIT's */
	const char *generated_map; /* the file that names it; NULL: there is none */
	const char *generated_hint; /* how to get one; NULL: there is no such code, or it has names */
	unsigned frame_pointer_percent; /* of all code */
};

/* NOT_FOUND: no such process. If its mappings may not be read, that is its refusal, and it has no files. */
TALLY_MUST_CHECK enum tally_status target_checks_of_process(const struct kernel_seam *kernel,
	const struct binary_store_options *options, int32_t pid, struct target_checks *target, struct tally_error *err);
/* NOT_FOUND: no such program in PATH; the error says why. Of a script, the interpreter is looked at. */
TALLY_MUST_CHECK enum tally_status target_checks_of_command(const struct kernel_seam *kernel,
	const struct binary_store_options *options, const char *command, struct target_checks *target,
	struct tally_error *err);
void target_checks_deinit(struct target_checks *target);

#endif
