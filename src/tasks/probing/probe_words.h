/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_words.h - replaces probes of user programs in the argument of -e by events that are made for this run:
 *
 *	uprobe:./app:func(arg1,x->len)    a probe at func in ./app, with these arguments; also func+8, func:3, app.c:12,
 *	                                  func%return($retval), my=func, sdt_app:name; terms and modifiers follow the ')'
 *	sdt_app:name                      a statically defined probe that the cache of build IDs knows (cached_probes.h), if
 *	                                  no event of that name is there already
 *
 * The probes disappear with this process (temporary_probes.h). Their events keep the names that `probe` would give them,
 * here and in recordings: "probe_app:func", "sdt_app:name".
 *
 * The words belong to the caller (probe_words_deinit). Notes go to standard error.
 *
 *	struct probe_words words;
 *	if (probe_words_expand(cli, kernel, text, &words, err) == TALLY_OK) {
 *		status = event_parse(catalogue, probe_words_text(&words), events, err);
 *		... probe_words_rename(&words, events, first, err) ...
 */
#ifndef TASKS_PROBING_PROBE_WORDS_H
#define TASKS_PROBING_PROBE_WORDS_H

#include "base/text.h"
#include "base/vec.h"
#include "kernel/events/event_spec.h"
#include "kernel/system/kernel_seam.h"

#define EVENT_NO_PROBE "no such probe" /* begins an error about a probe that -e makes: no list of events has it */

struct cli;

struct probe_words_name { /* of an event that was made */
	const char *group, *event; /* in tracefs */
	const char *shown;
};

struct probe_words_part { /* of the text */
	size_t written, replaced; /* where it begins as the user wrote it, and in the text to parse */
};

struct probe_words {
	struct text text; /* to parse; ends with a NUL */
	struct arena arena;
	VEC(struct probe_words_name) names;
	VEC(struct probe_words_part) parts;
};

/* Makes the probes. On failure err->offset is the column of the probe, and err->text "REASON: explanation". */
TALLY_MUST_CHECK enum tally_status probe_words_expand(const struct cli *cli, const struct kernel_seam *kernel,
	const char *text, struct probe_words *words, struct tally_error *err);
void probe_words_deinit(struct probe_words *words);
static inline const char *probe_words_text(const struct probe_words *words)
{
	return words->text.data;
}
/* The column of the user's text that a column of the text to parse stands for. */
uint64_t probe_words_column(const struct probe_words *words, uint64_t column);
/* Gives the events from first on their names. */
TALLY_MUST_CHECK enum tally_status probe_words_rename(
	const struct probe_words *words, struct event_list *events, size_t first, struct tally_error *err);

#endif
