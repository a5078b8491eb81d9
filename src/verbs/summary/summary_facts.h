/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_facts.h - picks from a recording what a reader in a hurry needs: what it is, where the time goes, what changed,
 * how far to trust it, and what to do next. Pure but for the order: the same recording gives the same facts.
 *
 * Texts live in the facts' arena or belong to the recordings, which must outlive the facts.
 *
 *	status = summary_facts_make(&recording, baseline, &sources, &facts, err);	summary_facts_deinit(&facts);
 */
#ifndef VERBS_SUMMARY_SUMMARY_FACTS_H
#define VERBS_SUMMARY_SUMMARY_FACTS_H

#include "base/vec.h"
#include "verbs/summary/summary_recording.h"

#define SUMMARY_COMMANDS 3

struct summary_function {
	struct tally_str name, object;
	uint64_t period, samples; /* its own */
};

struct summary_node { /* of the tree from the roots: a function, or several that call each other without a fork */
	struct tally_str path; /* "main > run > work" */
	unsigned depth;
	uint64_t total, self;
};

struct summary_state { /* of threads: what they did */
	struct tally_str name;
	uint64_t period;
};

struct summary_event { /* another one of the recording that has samples */
	struct tally_str name;
	uint64_t samples;
};

struct summary_change { /* against the baseline */
	struct tally_str name, object; /* code without a symbol is one row for each binary: "[libx.so]" */
	double base_percent, new_percent; /* of the recording's own samples */
};

struct summary_sources {
	const char *path, *baseline; /* as the user wrote them; baseline NULL: none */
	bool is_stream; /* the recording came through a pipe, and is in no file */
	char *const *words; /* of the command that was recorded for the summary only; NULL: the recording stays */
	const char *program; /* "tally" */
};

struct summary_facts {
	struct arena arena;
	const char *path, *baseline, *program;
	struct tally_str command, host, kernel, cpu; /* empty: not recorded */
	uint64_t duration_ns; /* from the first record to the last; 0: not known */
	const struct perfdata_features *features; /* of the recording: what made its samples */
	struct tally_str event;
	bool is_time; /* periods are nanoseconds */
	uint64_t samples, period;
	VEC(struct summary_event) others; /* in the recording's order */
	double error_points; /* of a share of one half, at 95 % confidence: no share is less exact */
	VEC(struct summary_function) functions; /* all, heaviest first */
	VEC(struct summary_node) nodes; /* in the order of the tree */
	VEC(struct summary_state) states; /* of wall-clock recordings, heaviest first */
	VEC(struct summary_change) changes; /* those beyond the error of both, largest first */
	uint64_t base_samples, base_period;
	bool has_file; /* that the commands can read; if not, they are for one that the user makes first */
	bool is_made_again; /* the first command records it */
	struct tally_str verdict; /* of the recording's health */
	VEC(struct tally_str) notes; /* sentences on how far to trust it */
	const char *commands[SUMMARY_COMMANDS];
};

TALLY_MUST_CHECK enum tally_status summary_facts_make(struct summary_recording *recording,
	struct summary_recording *baseline, const struct summary_sources *sources, struct summary_facts *facts,
	struct tally_error *err);
void summary_facts_deinit(struct summary_facts *facts);

#endif
