/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_spec.h - declares the parsed form of event expressions. event_parser makes it, event_format prints it; a list
 * owns the strings of its specs.
 */
#ifndef KERNEL_EVENTS_EVENT_SPEC_H
#define KERNEL_EVENTS_EVENT_SPEC_H

#include "abi/attr.h"
#include "base/arena.h"

struct sample_filter_list; /* sample_filter.h */

/* Events that the tool itself measures (tool_events.h): times of the target, then constants of the machine. */
enum tool_event {
	TOOL_NONE,
	TOOL_DURATION_TIME,
	TOOL_USER_TIME,
	TOOL_SYSTEM_TIME,
	TOOL_CORE_WIDE,
	TOOL_HAS_PMEM,
	TOOL_NUM_CORES,
	TOOL_NUM_CPUS,
	TOOL_NUM_CPUS_ONLINE,
	TOOL_NUM_DIES,
	TOOL_NUM_PACKAGES,
	TOOL_SMT_ON,
	TOOL_SYSTEM_TSC_FREQ,
	TOOL_TARGET_CPU,
	TOOL_EVENTS
};

/* CALLGRAPH_BPF: a BPF program of tally unwinds the stack in the kernel. CALLGRAPH_AUTO: the best method that this
 * machine supports, which is chosen before any event is opened. */
enum record_callgraph { CALLGRAPH_NONE, CALLGRAPH_FP, CALLGRAPH_DWARF, CALLGRAPH_LBR, CALLGRAPH_BPF, CALLGRAPH_AUTO };

/* TERM_UNSAID: the expression does not contain the term. */
enum term_choice { TERM_UNSAID, TERM_NO, TERM_YES };

/* Terms that concern the samples of one event. They override the options of record. */
struct recording_terms {
	enum term_choice time, inherit;
	bool has_callgraph;
	enum record_callgraph callgraph;
	enum term_choice overwrite; /* The ring overwrites its oldest records. */
	uint32_t stack_bytes; /* 0 if not set. */
	uint64_t branch_sample_type; /* 0 if not set. */
	uint64_t most_events; /* Term "nr": maximum number of samples; 0 if not set. */
	/* Name of the first such term, including "freq"; NULL if the event is also valid for counting. */
	const char *first;
};

struct event_spec {
	/* Contains what the expression says: type, config*, exclude_*, precise_ip, pinned, period ... */
	struct perf_attr attr;
	const char *name; /* Name with modifiers, in the spelling of perf. */
	uint32_t added_as; /* Index at which it was added, before other events were removed. */
	uint32_t leader; /* Index of the leader of the group; its own index without a group. */
	uint32_t member_count; /* Size of the group that it leads; 1 without a group. */
	bool has_period, has_freq;
	bool has_exclude; /* A modifier u, k or h was given, so there is no fallback to user mode. */
	bool is_sampling_leader; /* Modifier S. */
	bool is_weak_group; /* Modifier W. */
	bool is_precise_max; /* Modifier P: the highest precise_ip with which the event opens. */
	bool has_guest_host; /* A modifier G or H was given. */
	bool stays_in_place; /* Modifier X: the event is not reordered or regrouped; tally never does so. */
	bool is_shared; /* Modifier b: the event is counted by a counter that sessions share. */
	bool is_per_core; /* Term "percore": counts of the hardware threads of a core are added up. */
	bool has_vendor_name; /* The name comes from libpfm4; modifiers are appended to it. */
	bool has_own_name; /* The name comes from the term "name" and has no modifiers. */
	bool is_of_other_core; /* The same event as the spec before, on another kind of core. */
	bool is_merged; /* Counts are added to those of the spec before, as for several uncore PMUs. */
	const char *cgroup; /* Cgroup to count, as the user named it; NULL for any. */
	const char *cgroup_path; /* Directory of cgroup; NULL without a cgroup. */
	const char *filter; /* Filter on fields of a tracepoint; NULL for none. */
	/* Filter on samples of other events, by a BPF program; NULL for none. */
	const struct sample_filter_list *sample_filter;
	enum tool_event tool; /* Event that the caller measures itself; TOOL_NONE for events of the kernel. */
	double scale; /* Factor that converts the count to unit; 1 if none. */
	const char *unit; /* "" if none. */
	const char *pmu; /* Name of the PMU; NULL for a generic event. */
	const char *cpus; /* CPU list of an uncore PMU or a kind of core; NULL if none. */
	bool is_uncore; /* The event counts CPUs, not tasks. */
	/* The event is opened on all CPUs of the target, also those that are not measured (target.h). */
	bool is_everywhere;
	bool is_of_cpu; /* The event is opened per CPU even if threads are recorded; a BPF program emits its samples. */
	const char *tracepoint_system, *tracepoint_name; /* NULL if not a tracepoint. */
	/* Pattern such as "sched:*" that names the tracepoint; one pointer for all its tracepoints. NULL if none. */
	const char *pattern;
	const char *family; /* Name that stands for several PMUs; NULL if none. */
	const char *terms; /* Terms that set config*, as written; NULL if none. */
	const char *probe_path; /* Path to which config1 of a probe points; NULL if not a probe. */
	struct recording_terms recording;
};

struct event_list {
	struct event_spec *specs;
	size_t len, cap;
	struct arena arena;
	bool has_arena;
};

/* Returns whether child tasks can inherit the event. They cannot if its group has a probe: for each new task the kernel
 * reads the path of the probe again, at an address of this process but in the memory of the task, and fork fails. */
static inline bool event_is_inheritable(const struct event_list *list, size_t index)
{
	for (size_t i = 0; i < list->len; i++)
		if (list->specs[i].leader == list->specs[index].leader && list->specs[i].probe_path)
			return false;
	return true;
}

#endif
