/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common_terms.h - parses the terms that any event takes, whatever its PMU: name, period, percore, call-graph and
 * others.
 *
 * event_terms.c uses it and splits the text; a term_scope holds the state of one call.
 */
#ifndef KERNEL_EVENTS_COMMON_TERMS_H
#define KERNEL_EVENTS_COMMON_TERMS_H

#include "base/text.h"
#include "kernel/events/catalogue.h"
#include "kernel/events/event_spec.h"

struct term_scope {
	const struct event_catalogue *catalogue;
	const struct pmu *pmu; /* NULL: a generic event */
	struct arena *arena;
	struct event_spec *spec;
	struct tally_str terms; /* all of them: columns count from its start */
	struct text config_terms; /* those that make up config*, each with a comma before it */
};

/* "REASON 'AT'", with the column of at in the terms. */
enum tally_status term_fail(
	const struct term_scope *scope, struct tally_str at, struct tally_error *err, const char *reason);
/* The value without the quotes around it. */
TALLY_MUST_CHECK enum tally_status term_unquote(
	const struct term_scope *scope, struct tally_str value, struct tally_str *text, struct tally_error *err);
/* value is empty if none was given. *known is false if it is none of these terms. */
TALLY_MUST_CHECK enum tally_status common_term_apply(
	struct term_scope *scope, struct tally_str name, struct tally_str value, bool *known, struct tally_error *err);
/* Their names, each with a comma before it. */
void common_terms_append(struct text *text);

#endif
