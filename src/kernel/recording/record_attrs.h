/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_attrs.h - computes the attrs of a recording's events from the options of record; it opens nothing.
 *
 * It changes an event list in place: record_attrs_apply sets all attrs; if the kernel refuses an event,
 * record_attrs_drop removes the newest optional feature from all attrs.
 * Source: perf_event_open(2); the attrs of perf 6.1 for the same command line.
 */
#ifndef KERNEL_RECORDING_RECORD_ATTRS_H
#define KERNEL_RECORDING_RECORD_ATTRS_H

#include "kernel/events/event_parser.h"

/* Contents of samples and side-band records. */
struct record_sample_fields {
	bool data_address; /* Option -d. */
	bool data_maps, data_source; /* Parts of -d: --data-mmap and --sample-mem-info. */
	bool timestamp; /* Option -T. */
	bool period; /* Option -P. */
	bool cpu, identifier, raw, weight, transaction, phys_addr, data_page_size, code_page_size;
	bool switch_events, namespaces, cgroups, no_bpf_event, build_id_mmap;
	uint64_t branch_sample_type; /* 0 for none. */
	uint64_t user_regs, intr_regs; /* Register masks; 0 for none. */
};

/* What the events count, and how they are opened. */
struct record_event_modes {
	bool no_inherit; /* Option -i; always set for -t. */
	bool all_user, all_kernel;
	bool thread_counts; /* Option -s. */
	bool running_time, no_samples, no_buffering, group;
	bool use_clockid;
	int32_t clockid;
};

struct record_chains {
	enum record_callgraph mode;
	uint32_t stack_bytes; /* Size of the stack dumps of CALLGRAPH_DWARF. */
	bool no_kernel, no_user;
};

struct record_rate {
	uint64_t freq; /* In Hz; used for events without a period. */
	uint64_t period; /* 0 to sample by freq. */
	/* Set by -F or -c, which override default periods of events but not their terms. */
	bool is_freq_given, is_period_given;
};

struct record_attr_options {
	struct record_sample_fields fields;
	struct record_event_modes modes;
	struct record_chains chains;
	struct record_rate rate;
	/* Properties of the target and of the use of the records. */
	bool is_system_wide; /* Option -a or -C. */
	bool has_command; /* A command is recorded; its exec enables the events. */
	bool per_thread; /* One ring per thread, on any CPU. */
	bool starts_disabled; /* Option -D: the tool enables the events later. */
	/* Stack dumps (of all events with CALLGRAPH_DWARF, of tracepoints with CALLGRAPH_BPF) are unwound during the
	 * recording, and call chains are written to the file instead. */
	bool unwinds_live;
};

/* Sets the attrs of the list; appends a dummy event for side-band records if one is necessary. */
TALLY_MUST_CHECK enum tally_status record_attrs_apply(
	struct event_list *events, const struct record_attr_options *options, struct tally_error *err);
/* Returns whether a BPF program unwinds the user stacks of samples: CALLGRAPH_BPF, except for tracepoints, to which the
 * kernel cannot attach such a program. */
bool record_attrs_is_walked(const struct perf_attr *attr, const struct record_attr_options *options);
/* Returns the attr to write to the file for an event that was opened with attr. Stacks that were unwound are described
 * as call chains; sample_stack_user is the size of the dumps from which the chains were made. */
struct perf_attr record_attrs_written(const struct perf_attr *attr, const struct record_attr_options *options);
/* Removes from all events one feature that an older kernel may lack; successive calls begin with the newest feature.
 * *step counts the features that were tried; the caller sets it to 0 before the first call. Returns the name of the
 * removed feature, or NULL if none is left. */
const char *record_attrs_drop(struct event_list *events, unsigned *step);
/* Disables inheritance for groups with a leader that samples for all members, because kernels before 6.13 refuse it
 * (EINVAL). Returns false if no such group is inherited. */
bool record_attrs_drop_children(struct event_list *events);
/* Returns the index of the event that receives mmap, comm and task records. */
size_t record_attrs_tracking(const struct event_list *events);
/* Disables the many mmap records of user space, if its symbols are not needed; to be called after
 * record_attrs_apply. */
void record_attrs_leave_out_mappings(struct event_list *events);
/* Returns the mask of all registers that unwinding in user space needs on this machine. */
uint64_t record_attrs_all_user_regs(void);
/* Returns the architecture of the running kernel; NULL if tally does not support it. */
const struct arch *record_host_arch(void);

#endif
