/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_options.h - handles perf's options for decoded hardware traces (--itrace, --call-trace and others) and for the
 * files of guests (--guestmount and others). They have no effect on recordings without traces and guests; for other
 * recordings, an error names the option.
 *
 *	struct trace_options asked = {.decoding = "--itrace"};
 *	status = trace_options_open(&settings.input, &asked, &reader, err);
 */
#ifndef TASKS_SESSION_TRACE_OPTIONS_H
#define TASKS_SESSION_TRACE_OPTIONS_H

#include "cli/options.h"
#include "perfdata/reader.h"
#include "tasks/session/recording_input.h"

/* Everything is zero if no option was given. */
struct trace_options {
	const char *decoding; /* The last option that requests decoding of a trace; borrowed. */
	bool guest_code; /* This member and the following ones locate the code of guests. */
	const char *guest_kallsyms, *guest_modules, *guest_mount, *guest_vmlinux;
};

/* Table of the option --itrace. */
extern const struct option_table trace_option_table;
#define TRACE_OPTIONS(type, member) OPTION_GROUP_ROW(&trace_option_table, type, member)
/* Table of the options --guestmount, --guest-code, --guestkallsyms, --guestmodules and --guestvmlinux. */
extern const struct option_table guest_option_table;
#define GUEST_OPTIONS(type, member) OPTION_GROUP_ROW(&guest_option_table, type, member)

bool trace_options_are_given(const struct trace_options *asked);
/* Works like recording_open. If one of the options was given, reads the recording completely, even a stream, and
 * returns UNSUPPORTED if it contains traces or guests. */
TALLY_MUST_CHECK enum tally_status trace_options_open(const struct input_options *input,
	const struct trace_options *asked, struct perfdata_reader **reader, struct tally_error *err);

#endif
