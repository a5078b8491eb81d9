/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modifiers.h - parses the letters after an event's colon (u k h G H I p P S D W e X b) and sets them in an attr.
 *
 * A value. A group's letters are added to those of each member, as in perf: the event counts in the union of the modes.
 *
 *	struct modifiers m;
 *	size_t n = modifiers_parse(text, &m);	// n == text.len: all of it was letters
 *	modifiers_apply(&m, &spec, false);
 */
#ifndef KERNEL_EVENTS_MODIFIERS_H
#define KERNEL_EVENTS_MODIFIERS_H

#include "base/text.h"
#include "kernel/events/event_spec.h"

struct modifiers {
	bool user, kernel, hv, guest, host, exclude_idle;
	bool is_precise_max, is_sampling_leader, is_pinned, is_weak, is_exclusive, stays_in_place, is_shared;
	unsigned precise; /* 0..3 */
	bool is_repeated; /* a letter came twice, or more than three p */
};

/* How many characters of text are modifier letters, from its start. */
size_t modifiers_parse(struct tally_str text, struct modifiers *modifiers);
void modifiers_apply(const struct modifiers *modifiers, struct event_spec *spec, bool is_for_group);
/* The letters that give the spec's flags, none if it has none. */
void modifiers_format(struct text *text, const struct event_spec *spec);

#endif
