/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_words.h - replaces probes of user programs in the argument of -e by events that are created for this run:
 *
 *	uprobe:./app:func(arg1,x->len)	a probe at func in ./app, with these arguments; also func+8, func:3,
 *					app.c:12, func%return($retval), my=func, sdt_app:name; terms and
 *					modifiers follow the ')'
 *	sdt_app:name			a statically defined probe from the build ID cache (cached_probes.h),
 *					unless an event of that name already exists
 *
 * The probes are removed when this process ends (temporary_probes.h). In output and in recordings, their events have
 * the names that `probe` would give them: "probe_app:func", "sdt_app:name".
 *
 * The caller owns struct probe_words (probe_words_deinit). Notes go to standard error.
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

/* Start of the error message for a probe in -e that cannot be created. Messages with this start do not refer the user
 * to the list of events, because it contains no probes. */
#define EVENT_NO_PROBE "no such probe"

struct cli;

/* Names of an event that was created. */
struct probe_words_name {
	const char *group, *event; /* The names in tracefs. */
	const char *shown; /* Name in output and recordings, such as "probe_app:func". */
};

/* Maps a part of the text to parse to the user's text. */
struct probe_words_part {
	size_t written, replaced; /* Offsets of the part in the user's text and in the text to parse. */
};

struct probe_words {
	struct text text; /* The text to parse, NUL-terminated. */
	struct arena arena;
	VEC(struct probe_words_name) names;
	VEC(struct probe_words_part) parts;
};

/* Creates the probes. On failure err->offset is the column of the probe, and err->text "REASON: explanation". */
TALLY_MUST_CHECK enum tally_status probe_words_expand(const struct cli *cli, const struct kernel_seam *kernel,
	const char *text, struct probe_words *words, struct tally_error *err);
void probe_words_deinit(struct probe_words *words);
static inline const char *probe_words_text(const struct probe_words *words)
{
	return words->text.data;
}
/* Converts a column of the text to parse to a column of the user's text. */
uint64_t probe_words_column(const struct probe_words *words, uint64_t column);
/* Replaces the names in tracefs of the events from index first on by the shown names. */
TALLY_MUST_CHECK enum tally_status probe_words_rename(
	const struct probe_words *words, struct event_list *events, size_t first, struct tally_error *err);

#endif
