/*
 * event_parser.h - the event language: text -> event_list. One parser; event_format is its inverse.
 *
 * What -e takes: names (hardware, software, hardware cache), rNNN, subsystem:name, pmu/terms/, {groups}, modifiers.
 * The list belongs to the caller (event_list_deinit) and owns its strings. Errors point at the column and name the
 * nearest event of this machine.
 *
 *	struct event_list list = {0};
 *	if (event_parse(catalogue, "{cycles,instructions}:u,page-faults", &list, err) != TALLY_OK) ...
 */
#ifndef KERNEL_EVENTS_EVENT_PARSER_H
#define KERNEL_EVENTS_EVENT_PARSER_H

#include "abi/attr.h"
#include "base/arena.h"
#include "kernel/system/kernel_seam.h"

/* Events that the tool itself answers: nanoseconds of the measured command. */
enum tool_event { TOOL_NONE, TOOL_DURATION_TIME, TOOL_USER_TIME, TOOL_SYSTEM_TIME };

struct event_spec {
	struct perf_attr attr; /* type, config*, exclude_*, precise, pinned ... period/freq if a term gave one */
	const char *name; /* as the user sees it, with modifiers: perf's own spelling */
	uint32_t leader; /* index of the group's leader, own index if none */
	uint32_t member_count; /* of the group that it leads; 1 if alone */
	bool has_period, has_freq;
	bool has_exclude; /* a modifier named u, k or h: no fallback to user-only */
	bool is_sampling_leader; /* :S */
	bool is_weak_group; /* :W */
	bool is_precise_max; /* :P: the highest precise_ip that opens */
	bool has_guest_host; /* a modifier named G or H */
	bool has_own_name; /* a name= term: name carries no modifiers */
	bool is_merged; /* counts add up with those of the spec before: one uncore PMU of several */
	const char *cgroup; /* only tasks of it; NULL: any */
	const char *filter; /* tracepoint filter; NULL: none */
	enum tool_event tool; /* not the kernel's: the caller measures it */
	double scale; /* of the count; 1 if none */
	const char *unit; /* "" if none */
	const char *pmu; /* named or expanded PMU, NULL for a generic event */
	const char *cpus; /* CPU list of an uncore PMU or a kind of core, NULL if none */
	bool is_uncore; /* counts a CPU, never a task */
	const char *tracepoint_system, *tracepoint_name; /* NULL if not a tracepoint */
};

struct event_list {
	struct event_spec *specs;
	size_t len, cap;
	struct arena arena;
	bool has_arena;
};

struct event_catalogue;
TALLY_MUST_CHECK enum tally_status event_catalogue_create(
	const struct kernel_seam *kernel, struct event_catalogue **catalogue, struct tally_error *err);
void event_catalogue_destroy(struct event_catalogue *catalogue);

/* Appends to list, so that several -e add up; the list is untouched on failure. Then err->offset is the column in text,
 * and err->text is "REASON: explanation", REASON being perf's own words for its kind ("parser error", ...). */
TALLY_MUST_CHECK enum tally_status event_parse(
	struct event_catalogue *catalogue, const char *text, struct event_list *list, struct tally_error *err);
/* Leaves kernel and hypervisor out and says so in the name ("cycles" -> "cycles:u"): for a fallback. */
TALLY_MUST_CHECK enum tally_status event_spec_restrict_to_user(
	struct event_list *list, size_t index, struct tally_error *err);
void event_list_deinit(struct event_list *list);

#endif
