/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_choice.h - distinguishes system calls from other events in the arguments of -e, and parses the events with the
 * filters and cgroups that follow them.
 *
 * The caller owns the choice.
 *
 *	struct trace_choice choice;
 *	code = trace_choice_make(cli, command, kernel, &settings, machine, &choice);
 *	trace_choice_deinit(&choice);
 */
#ifndef VERBS_TRACE_TRACE_CHOICE_H
#define VERBS_TRACE_TRACE_CHOICE_H

#include "cli/cli.h"
#include "kernel/events/event_parser.h"
#include "syscalls/syscall_names.h"
#include "verbs/trace/trace_settings.h"

struct trace_choice {
	enum syscall_abi native, compat; /* compat is SYSCALLS_COUNT if there is none. */
	bool has_names; /* True if calls were named; otherwise all are selected. */
	/* Selected calls of each table, owned; NULL selects all calls of the table. */
	struct syscall_set *wanted[SYSCALLS_COUNT];
	bool traces_calls;
	struct event_list events; /* The other events, after one that carries side-band records. */
	/* Argument of a -G that precedes all events, whose cgroup also applies to calls; NULL if there is none. */
	const char *cgroups;
	const char *cgroup_path; /* Directory of cgroups; owned by events. */
};

/*
 * Makes the choice. Returns 0, or the exit code after an error message. machine is the machine of the recording (as in
 * uname -m), or of this system. If kernel is NULL, only calls are selected, because the events are those of a
 * recording.
 */
int trace_choice_make(const struct cli *cli, const struct command *command, const struct kernel_seam *kernel,
	const struct trace_settings *settings, const char *machine, struct trace_choice *choice);
void trace_choice_deinit(struct trace_choice *choice);
static inline bool trace_choice_wants(const struct trace_choice *choice, enum syscall_abi abi, uint32_t number)
{
	const struct syscall_set *set = choice->wanted[abi];
	return !set || (number < SYSCALL_NUMBERS ? set->has[number] : set->has_others);
}
/*
 * Appends a filter for the field id of raw_syscalls:sys_enter and sys_exit, which selects the calls; appends nothing if
 * all are selected, or if the filter would be too long for the kernel.
 */
void trace_choice_print_filter(const struct trace_choice *choice, struct text *t);

#endif
