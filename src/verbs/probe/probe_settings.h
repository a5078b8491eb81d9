/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_settings.h - holds the options of probe.
 *
 * Strings are borrowed from the command line. The lists belong to cmd_probe.c.
 */
#ifndef VERBS_PROBE_PROBE_SETTINGS_H
#define VERBS_PROBE_PROBE_SETTINGS_H

#include "base/vec.h"
#include "cli/cli.h"
#include "code/probing/probe_binary.h"

struct probe_target { /* The argument of -x or -m. */
	enum probe_binary_kind kind;
	const char *name; /* Path of a program or a module's file, or a module's name; NULL for the kernel. */
};

struct probe_wish { /* A probe definition, or the argument of another command, with its target. */
	const char *text;
	struct probe_target target;
	bool has_target;
};

struct probe_settings {
	VEC(struct probe_wish) wishes; /* Arguments of the command. */
	char command; /* The option letter of the command, one of "aDdlLVF"; 0 if none was given. */
	struct probe_target target; /* The last target given. */
	bool has_target;
	const char *filter; /* The argument of --filter or --funcs; NULL for the default. */
	const char *vmlinux, *source_directory, *symfs;
	uint64_t max_probes;
	uint64_t namespace_pid; /* Process with the mount namespace to use; 0 for the current one. */
	unsigned verbose;
	bool is_json, is_quiet, is_dry, is_forced, use_cache, is_bootconfig;
	bool with_externs, with_ranges, no_inlines;
	bool no_demangle, demangle_kernel;
};

/* Opens the binary of a target, using the file options of the settings. The caller closes *binary. */
TALLY_MUST_CHECK enum tally_status probe_settings_open(const struct probe_settings *settings,
	const struct probe_target *target, struct probe_binary **binary, struct tally_error *err);
/* Prints the error, and like perf a line "Error: Failed to WHAT.", where what is such as "add events", unless --quiet
 * was given. Returns the exit code. */
int probe_settings_fail(const struct probe_settings *settings, const struct tally_error *err, const char *what);
/* Prints the notes on standard error, unless --quiet was given. */
void probe_settings_print_notes(const struct probe_settings *settings, const char *const *notes, size_t count);

#endif
