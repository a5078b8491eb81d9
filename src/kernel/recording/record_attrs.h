/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_attrs.h - computes the attrs of a recording's events from the options of record; it opens nothing.
 *
 * Works in place on an event list. Two steps, because the kernel may refuse features in between: record_attrs_apply
 * sets everything, record_attrs_drop takes the newest optional feature away again.
 * Source: perf_event_open(2); what perf 6.1 asks for on the same command line.
 */
#ifndef KERNEL_RECORDING_RECORD_ATTRS_H
#define KERNEL_RECORDING_RECORD_ATTRS_H

#include "kernel/events/event_parser.h"

/* What samples and side-band records hold. */
struct record_sample_fields {
	bool data_address; /* -d */
	bool data_maps, data_source; /* --data-mmap, --sample-mem-info: parts of -d */
	bool timestamp; /* -T */
	bool period; /* -P */
	bool cpu, identifier, raw, weight, transaction, phys_addr, data_page_size, code_page_size;
	bool switch_events, namespaces, cgroups, no_bpf_event, build_id_mmap;
	uint64_t branch_sample_type; /* 0: none */
	uint64_t user_regs, intr_regs; /* masks; 0: none */
};

/* What the events count, and in which form. */
struct record_event_modes {
	bool no_inherit; /* -i, and always for -t */
	bool all_user, all_kernel;
	bool thread_counts; /* -s */
	bool running_time, no_samples, no_buffering, group;
	bool use_clockid;
	int32_t clockid;
};

struct record_chains {
	enum record_callgraph mode;
	uint32_t stack_bytes; /* CALLGRAPH_DWARF */
	bool no_kernel, no_user;
};

struct record_rate {
	uint64_t freq; /* Hz; used where nothing else names a period */
	uint64_t period; /* 0: by freq */
	bool is_freq_given, is_period_given; /* by -F, -c: then they hold for every event */
};

struct record_attr_options {
	struct record_sample_fields fields;
	struct record_event_modes modes;
	struct record_chains chains;
	struct record_rate rate;
	/* What follows from the target and from the use of the records. */
	bool is_system_wide; /* -a or -C */
	bool has_command; /* start with its exec */
	bool per_thread; /* one ring per thread, any CPU */
	bool starts_disabled; /* -D: the tool enables later */
	bool unwinds_live; /* CALLGRAPH_DWARF: stacks are not for the file; with CALLGRAPH_BPF, of tracepoints */
};

/* Makes the list ready to open; appends the dummy event that carries side-band records where one is needed. */
TALLY_MUST_CHECK enum tally_status record_attrs_apply(
	struct event_list *events, const struct record_attr_options *options, struct tally_error *err);
/* Whether a BPF program gives the samples of an event their user stacks: CALLGRAPH_BPF, but for tracepoints, which the
 * kernel attaches no such program to. */
bool record_attrs_is_walked(const struct perf_attr *attr, const struct record_attr_options *options);
/* The attr that the file has for an event that was opened with attr: stacks that were unwound are described as a call
 * chain, and sample_stack_user is the size of the dumps that the chain was made of. */
struct perf_attr record_attrs_written(const struct perf_attr *attr, const struct record_attr_options *options);
/* Removes from all events one more feature that an older kernel may lack, the newest first; *step starts at 0 and is
 * incremented. Returns the removed feature's name, or NULL if none is left. */
const char *record_attrs_drop(struct event_list *events, unsigned *step);
/* Disables inheritance for groups whose leader samples for all members, because kernels before 6.13 refuse it (EINVAL).
 * False: no such group is inherited. */
bool record_attrs_drop_children(struct event_list *events);
/* Index of the event that carries mmap, comm and task records. */
size_t record_attrs_tracking(const struct event_list *events);
/* Of user space, where names of its functions are of no use: they are many. After record_attrs_apply. */
void record_attrs_leave_out_mappings(struct event_list *events);
/* All registers that this machine's user-space unwinding wants. */
uint64_t record_attrs_all_user_regs(void);
/* The architecture that this kernel samples on, NULL if it has no table. */
const struct arch *record_host_arch(void);

#endif
