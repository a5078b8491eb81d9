/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_checks.h - inspects a running process, or the program of a command, and predicts which call stacks and
 * function names a recording of it will have.
 *
 * Files are opened as the process sees them. Everything is allocated in the checks' arena, which the caller owns. Not
 * thread-safe; large programs take some tenths of a second, because their symbols and unwind tables are read.
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
	const char *path; /* Path as the process sees it. */
	enum target_names names;
	/* The file with the names: the file itself or a debug file; NULL if there are no names. */
	const char *names_from;
	const char *trouble; /* Reason why names are missing; NULL if none are, or if it is unknown. */
	const char *hint; /* How to get the missing names; NULL if none are missing. */
	bool has_lines; /* It has debug information, and so source lines and inlined calls. */
	bool has_unwind_table;
	unsigned frame_pointer_percent; /* Share of the code with unwind rules that has a frame pointer. */
	uint64_t code_bytes; /* Size of the executable mappings. */
	bool is_from_package; /* The hint is a command that installs a package. */
};

struct target_checks {
	struct arena arena;
	int32_t pid; /* 0 for a command that is not running yet, for which only the program is known. */
	const char *name; /* Name of the process, or path of the command's program. */
	/* The command's file if it is a script, of which the program is the interpreter; otherwise NULL. */
	const char *script;
	bool is_kernel_thread; /* A kernel thread has no code of its own. */
	const char *refusal; /* Reason why its events cannot be opened; NULL if they can. */
	VEC(struct target_file) files; /* Sorted by descending size of the code. */
	uint64_t generated_bytes; /* Size of executable mappings without a file, such as those of a JIT compiler. */
	const char *generated_map; /* The file with names of the generated code; NULL if there is none. */
	/* How to get names of the generated code; NULL if there is no such code, or if it has names. */
	const char *generated_hint;
	unsigned frame_pointer_percent; /* Share of all code. */
};

/* Returns NOT_FOUND if there is no such process. If its mappings cannot be read, refusal says so, and there are no
 * files. */
TALLY_MUST_CHECK enum tally_status target_checks_of_process(const struct kernel_seam *kernel,
	const struct binary_store_options *options, int32_t pid, struct target_checks *target, struct tally_error *err);
/* Returns NOT_FOUND, with the reason, if there is no such program in PATH. For a script, the interpreter is
 * inspected. */
TALLY_MUST_CHECK enum tally_status target_checks_of_command(const struct kernel_seam *kernel,
	const struct binary_store_options *options, const char *command, struct target_checks *target,
	struct tally_error *err);
void target_checks_deinit(struct target_checks *target);

#endif
