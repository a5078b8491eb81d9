/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modifiers.h - parses the letters after an event's colon (u k h G H I p P S D W e X b) and sets them in an attr.
 *
 * The modifiers of a group are added to those of each member, as in perf: the event counts in the union of the modes.
 *
 *	struct modifiers m;
 *	size_t n = modifiers_parse(text, &m);	// n == text.len if all characters were modifiers
 *	modifiers_apply(&m, &spec, false);
 */
#ifndef KERNEL_EVENTS_MODIFIERS_H
#define KERNEL_EVENTS_MODIFIERS_H

#include "base/text.h"
#include "kernel/events/event_spec.h"

struct modifiers {
	bool user, kernel, hv, guest, host, exclude_idle;
	bool is_precise_max, is_sampling_leader, is_pinned, is_weak, is_exclusive, stays_in_place, is_shared;
	unsigned precise; /* Number of letters p. */
	bool is_repeated; /* A letter other than p occurs twice, or p more than three times; callers refuse this. */
};

/* Parses modifier letters at the start of text and returns their number. */
size_t modifiers_parse(struct tally_str text, struct modifiers *modifiers);
/* Sets the modifiers in spec. is_for_group says that they are those of its group, so they are added to its own. */
void modifiers_apply(const struct modifiers *modifiers, struct event_spec *spec, bool is_for_group);
/* Appends the letters that stand for the flags of the spec, if any. */
void modifiers_format(struct text *text, const struct event_spec *spec);

#endif
