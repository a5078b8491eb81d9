/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common_terms.h - parses the terms that events of every PMU accept: name, period, percore, call-graph and others.
 *
 * event_terms.c splits the text and uses this module; a term_scope holds the state of one call.
 */
#ifndef KERNEL_EVENTS_COMMON_TERMS_H
#define KERNEL_EVENTS_COMMON_TERMS_H

#include "base/text.h"
#include "kernel/events/catalogue.h"
#include "kernel/events/event_spec.h"

struct term_scope {
	const struct event_catalogue *catalogue;
	const struct pmu *pmu; /* NULL for a generic event. */
	struct arena *arena;
	struct event_spec *spec;
	struct tally_str terms; /* All terms; columns count from the start of this text. */
	struct text config_terms; /* Terms that set config*, each preceded by a comma. */
};

/* Sets err to "REASON 'AT'" with the column of at in the terms, and returns TALLY_INVALID. at is a part of the
 * terms. */
enum tally_status term_fail(
	const struct term_scope *scope, struct tally_str at, struct tally_error *err, const char *reason);
/* Removes the quotes around a value; fails if the closing one is missing. */
TALLY_MUST_CHECK enum tally_status term_unquote(
	const struct term_scope *scope, struct tally_str value, struct tally_str *text, struct tally_error *err);
/* Applies one term; value is empty if there is none. Sets *known to false if the term is not a common one. */
TALLY_MUST_CHECK enum tally_status common_term_apply(
	struct term_scope *scope, struct tally_str name, struct tally_str value, bool *known, struct tally_error *err);
/* Appends the names of the common terms, each preceded by a comma. */
void common_terms_append(struct text *text);

#endif
