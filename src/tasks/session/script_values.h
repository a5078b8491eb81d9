/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_values.h - formats columns of `tally script` that are not simply numbers: registers, sizes, times of day, raw
 * data.
 *
 * Each function appends to a text in the format of `perf script`. Only those for cgroups and the clock keep state
 * during a run.
 *
 *	script_print_registers(&text, arch, &sample->regs_user, sample->swap);	// " ABI:2    AX:0x1 "
 */
#ifndef TASKS_SESSION_SCRIPT_VALUES_H
#define TASKS_SESSION_SCRIPT_VALUES_H

#include "analysis/cgroup_names.h"
#include "arch/arch.h"
#include "perfdata/reader.h"

/* arch may be NULL; registers are then printed by number. Prints nothing if no registers were recorded. */
void script_print_registers(struct text *t, const struct arch *arch, const struct sample_regs *regs, bool swap);
/* Prints "4K", or "N/A" for 0. */
void script_print_page_size(struct text *t, uint64_t bytes);
/* Prints letters for the bits of a record's misc that have a meaning for its type, such as "K     ". */
void script_print_misc(struct text *t, uint32_t record_type, uint16_t misc);
/* Prints lines of eight bytes, preceded by a newline, and the string if the data is one. */
void script_print_bpf_output(struct text *t, struct tally_bytes raw);

/* Converts sample times to times of day by the feature CLOCK_DATA. */
struct script_clock {
	bool is_missing; /* CLOCK_DATA is missing or damaged; a stream may start before it is known. */
	uint64_t offset_ns; /* Time of the wall clock minus that of the samples' clock, modulo 2^64. */
	uint64_t second; /* The second for which label was made. */
	char label[24];
	size_t label_len; /* 0 if there is no label yet. */
};
struct script_clock script_clock_make(const struct perfdata_features *features);
/* Prints a local time such as "2023-11-14 22:13:21.123456 ", or "disabled " if the clock is missing. */
void script_print_time_of_day(struct text *t, struct script_clock *clock, uint64_t time_ns, unsigned decimals);

/* Prints " /path", or " unknown". */
void script_print_cgroup(struct text *t, const struct cgroup_names *cgroups, uint64_t id);

#endif
