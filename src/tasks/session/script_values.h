/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_values.h - formats single columns of `tally script` that are more than a number: registers, sizes, times of
 * day, raw data.
 *
 * Each function appends to a text in the layout of `perf script`. Only those for cgroups and the clock keep state, for
 * the whole run.
 *
 *	script_print_registers(&text, arch, &sample->regs_user, sample->swap);	// " ABI:2    AX:0x1 "
 */
#ifndef TASKS_SESSION_SCRIPT_VALUES_H
#define TASKS_SESSION_SCRIPT_VALUES_H

#include "analysis/cgroup_names.h"
#include "arch/arch.h"
#include "perfdata/reader.h"

/* arch may be NULL: registers are then printed by number. Prints nothing if no registers were recorded. */
void script_print_registers(struct text *t, const struct arch *arch, const struct sample_regs *regs, bool swap);
/* " 4K"; " N/A" for 0. */
void script_print_page_size(struct text *t, uint64_t bytes);
/* The bits of a record's misc that mean something for its type, as letters: "K     ". */
void script_print_misc(struct text *t, uint32_t record_type, uint16_t misc);
/* Lines of eight bytes, and the string that it is, if it is one; starts with a line end. */
void script_print_bpf_output(struct text *t, struct tally_bytes raw);

/* Time of day of a sample's time, by CLOCK_DATA. */
struct script_clock {
	bool is_missing; /* of a stream, which began before it could tell */
	uint64_t offset_ns; /* from the samples' clock to the wall's, modulo 2^64 */
	uint64_t second; /* that label is of */
	char label[24];
	size_t label_len; /* 0: none yet */
};
struct script_clock script_clock_make(const struct perfdata_features *features);
/* "2023-11-14 22:13:21.123456 ", in local time; "disabled " where the clock is missing. */
void script_print_time_of_day(struct text *t, struct script_clock *clock, uint64_t time_ns, unsigned decimals);

/* " /path", " unknown". */
void script_print_cgroup(struct text *t, const struct cgroup_names *cgroups, uint64_t id);

#endif
