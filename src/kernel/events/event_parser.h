/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_parser.h - parses event expressions into an event_list; event_format is its inverse.
 *
 * It accepts the argument of -e: names (hardware, software, hardware cache), rNNN, subsystem:name, pmu/terms/,
 * {groups}, modifiers. The list belongs to the caller (event_list_deinit) and owns its strings. Errors point at the
 * column and name the nearest event of this machine.
 *
 *	struct event_list list = {0};
 *	if (event_parse(catalogue, "{cycles,instructions}:u,page-faults", &list, err) != TALLY_OK) ...
 */
#ifndef KERNEL_EVENTS_EVENT_PARSER_H
#define KERNEL_EVENTS_EVENT_PARSER_H

#include "kernel/events/catalogue.h"
#include "kernel/events/event_spec.h"

/* Appends events to list, so that -e can be repeated. On failure the list does not change, err->offset is the column in
 * text, and err->text is "REASON: explanation", where REASON is the name that perf uses for the kind of error ("parser
 * error", ...). */
TALLY_MUST_CHECK enum tally_status event_parse(
	struct event_catalogue *catalogue, const char *text, struct event_list *list, struct tally_error *err);
/* Excludes the kernel and the hypervisor, and adds that to the name ("cycles" becomes "cycles:u"). */
TALLY_MUST_CHECK enum tally_status event_spec_restrict_to_user(
	struct event_list *list, size_t index, struct tally_error *err);
/* Removes the marked events. The leader of a group that has other members must not be marked. */
void event_list_drop(struct event_list *list, const bool *is_dropped);
/* Appends a copy of specs first..first + count - 1; their groups become groups of the copies. */
TALLY_MUST_CHECK enum tally_status event_list_repeat(
	struct event_list *list, size_t first, size_t count, struct tally_error *err);
/* Marks specs of one event on several kinds of core as merged, so that they are reported as one event, and removes the
 * kind of core from its name. */
TALLY_MUST_CHECK enum tally_status event_list_merge_cores(struct event_list *list, struct tally_error *err);
/* Appends an event without a name, alone in its group, that excludes guests. Returns NULL if memory runs out or the
 * list is full. */
struct event_spec *event_list_add(struct event_list *list, struct tally_error *err);
/* Makes one group of the specs from first to the end of the list, or one group for each kind of core if they count on
 * several. */
void event_list_group(struct event_list *list, size_t first, bool is_weak);
void event_list_deinit(struct event_list *list);

#endif
