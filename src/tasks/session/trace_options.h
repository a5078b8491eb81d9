/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_options.h - options of perf that are about decoded hardware traces (--itrace, --call-trace and so on) or the
 * files of guests (--guestmount and so on). Of recordings with neither there is nothing to decode or to find, and they
 * change nothing; of others they would, and are refused by name.
 *
 *	struct trace_options asked = {.decoding = "--itrace"};
 *	status = trace_options_open(&settings.input, &asked, &reader, err);
 */
#ifndef TASKS_SESSION_TRACE_OPTIONS_H
#define TASKS_SESSION_TRACE_OPTIONS_H

#include "cli/options.h"
#include "perfdata/reader.h"
#include "tasks/session/recording_input.h"

struct trace_options { /* zero: none is given */
	const char *decoding; /* the last one that wants a trace decoded; borrowed */
	bool guest_code; /* and these say where a guest's code is */
	const char *guest_kallsyms, *guest_modules, *guest_mount, *guest_vmlinux;
};

/* Rows of option tables; set calls trace_options_set_itrace, at is the offset of guest_mount in the verb's settings. */
#define TRACE_OPTION_ITRACE(set)                                                                                    \
	{                                                                                                           \
		.name = "itrace", .kind = OPTION_CALL, .argument = "opts", .argument_is_optional = true,            \
		.call = (set),                                                                                      \
		.help = "what to make of a hardware trace: refused of recordings with one, nothing to do in others" \
	}
#define TRACE_OPTION_GUESTMOUNT(at)                                                                                    \
	{                                                                                                              \
		.name = "guestmount", .kind = OPTION_STRING, .argument = "directory", .offset = (at),                  \
		.help = "where guests' file systems are mounted: refused of recordings with guests, nothing to do in " \
			"others"                                                                                       \
	}

bool trace_options_are_given(const struct trace_options *asked);
/* --itrace: NULL, or what is wrong with its letters. */
const char *trace_options_set_itrace(struct trace_options *asked, const struct option_use *use);
/* As recording_open; with one of the options the recording is read through, also a stream, and UNSUPPORTED where it
 * has what they are about. */
TALLY_MUST_CHECK enum tally_status trace_options_open(const struct input_options *input,
	const struct trace_options *asked, struct perfdata_reader **reader, struct tally_error *err);

#endif
