/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_choice.h - tells system calls and other events apart in the words of -e, and parses the events with the filters
 * and cgroups that follow them.
 *
 * The caller owns the choice. It prints mistakes, and returns 0 or the exit code.
 *
 *	struct trace_choice choice;
 *	code = trace_choice_make(cli, command, kernel, &settings, &choice);
 *	trace_choice_deinit(&choice);
 */
#ifndef VERBS_TRACE_TRACE_CHOICE_H
#define VERBS_TRACE_TRACE_CHOICE_H

#include "cli/cli.h"
#include "kernel/events/event_parser.h"
#include "syscalls/syscall_names.h"
#include "verbs/trace/trace_settings.h"

struct trace_choice {
	enum syscall_abi native, compat; /* compat: SYSCALLS_COUNT: there is none */
	bool has_names; /* of calls; else all are wanted */
	struct syscall_set *wanted[SYSCALLS_COUNT]; /* owned, by table; NULL: all of the table */
	bool traces_calls;
	struct event_list events; /* the others, as parsed, behind one that carries side-band records */
	const char *cgroups; /* of -G before all events: also of calls; NULL: any */
	const char *cgroup_path; /* its folder; the events' */
};

/* machine: of the recording, or of this machine. With kernel NULL, only calls are chosen: events are in a recording. */
int trace_choice_make(const struct cli *cli, const struct command *command, const struct kernel_seam *kernel,
	const struct trace_settings *settings, const char *machine, struct trace_choice *choice);
void trace_choice_deinit(struct trace_choice *choice);
static inline bool trace_choice_wants(const struct trace_choice *choice, enum syscall_abi abi, uint32_t number)
{
	const struct syscall_set *set = choice->wanted[abi];
	return !set || (number < SYSCALL_NUMBERS ? set->has[number] : set->has_others);
}
/* The condition on the field id of raw_syscalls:sys_enter and sys_exit that selects the calls; "" if all are wanted, or
 * if it would be longer than the kernel takes. */
void trace_choice_print_filter(const struct trace_choice *choice, struct text *t);

#endif
