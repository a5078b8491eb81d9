/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_settings.h - holds what the command line of probe asks for.
 *
 * Strings are borrowed from the command line. The lists belong to cmd_probe.c.
 */
#ifndef VERBS_PROBE_PROBE_SETTINGS_H
#define VERBS_PROBE_PROBE_SETTINGS_H

#include "base/vec.h"
#include "cli/cli.h"
#include "code/probing/probe_binary.h"

struct probe_target { /* what -x or -m names */
	enum probe_binary_kind kind;
	const char *name; /* path of a program or a module's file, or a module's name; NULL: the kernel */
};

struct probe_wish { /* a definition, or what another option takes */
	const char *text;
	struct probe_target target;
	bool has_target;
};

struct probe_settings {
	VEC(struct probe_wish) wishes; /* of the one command that was given */
	char command; /* a D d l L V F, as the letters of the options; 0: none */
	struct probe_target target; /* the last one */
	bool has_target;
	const char *filter; /* of --filter or --funcs=FILTER; NULL: the usual one */
	const char *vmlinux, *source_directory, *symfs;
	uint64_t max_probes;
	uint64_t namespace_pid; /* 0: this one's */
	unsigned verbose;
	bool is_json, is_quiet, is_dry, is_forced, use_cache, is_bootconfig;
	bool with_externs, with_ranges, no_inlines;
	bool no_demangle, demangle_kernel;
};

/* Opens the binary of a target; what the options say of files applies. */
TALLY_MUST_CHECK enum tally_status probe_settings_open(const struct probe_settings *settings,
	const struct probe_target *target, struct probe_binary **binary, struct tally_error *err);
/* Prints the error and perf's closing line ("  Error: Failed to add events."); returns the exit code. */
int probe_settings_fail(const struct probe_settings *settings, const struct tally_error *err, const char *what);
/* On standard error, unless --quiet. */
void probe_settings_print_notes(const struct probe_settings *settings, const char *const *notes, size_t count);

#endif
