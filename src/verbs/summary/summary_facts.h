/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_facts.h - extracts the most important facts from a recording: its origin, where the time goes, what has
 * changed, how exact it is, and what to do next. The same recording always results in the same facts.
 *
 * Strings are stored in the facts' arena or belong to the recordings, which must outlive the facts.
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
	uint64_t period, samples; /* Without callees. */
};

struct summary_node { /* A function of the call tree, or a chain of functions that each call only the next one. */
	struct tally_str path; /* Such as "main > run > work". */
	unsigned depth;
	uint64_t total, self;
};

struct summary_state { /* The time that threads spent in a state. */
	struct tally_str name;
	uint64_t period;
};

struct summary_event { /* Another event of the recording that has samples. */
	struct tally_str name;
	uint64_t samples;
};

struct summary_change { /* A difference from the baseline. */
	struct tally_str name, object; /* Code without symbols is added up by binary: "[libx.so]". */
	double base_percent, new_percent; /* Share of each recording's own samples. */
};

struct summary_sources {
	const char *path, *baseline; /* As given by the user; baseline is NULL if there is none. */
	bool is_stream; /* The recording was read from a pipe, so there is no file. */
	char *const *words; /* The recorded command if the recording is temporary; otherwise NULL. */
	const char *program; /* Name of this program, such as "tally". */
};

struct summary_facts {
	struct arena arena;
	const char *path, *baseline, *program;
	struct tally_str command, host, kernel, cpu; /* Empty if not recorded. */
	uint64_t duration_ns; /* From the first record to the last; 0 if unknown. */
	const struct perfdata_features *features; /* Features of the recording, for the origin of its samples. */
	struct tally_str event;
	bool is_time; /* Periods are nanoseconds. */
	uint64_t samples, period;
	VEC(struct summary_event) others; /* In the recording's order. */
	/* Half the width of the 95 % confidence interval of a share of 50 %, in percentage points; it is smaller for
	 * other shares. */
	double error_points;
	VEC(struct summary_function) functions; /* All functions, heaviest first. */
	VEC(struct summary_node) nodes; /* In the order of the tree. */
	VEC(struct summary_state) states; /* For wall-clock recordings, heaviest first. */
	/* Those that exceed the statistical error of both recordings, largest first. */
	VEC(struct summary_change) changes;
	uint64_t base_samples, base_period;
	bool has_file; /* The commands can read the recording; otherwise the user has to create a file first. */
	bool is_made_again; /* The first of the commands records this file. */
	struct tally_str verdict; /* Verdict on the recording's health. */
	VEC(struct tally_str) notes; /* Sentences about the reliability of the recording. */
	const char *commands[SUMMARY_COMMANDS]; /* NULL in the facts of a recording without samples. */
};

TALLY_MUST_CHECK enum tally_status summary_facts_make(struct summary_recording *recording,
	struct summary_recording *baseline, const struct summary_sources *sources, struct summary_facts *facts,
	struct tally_error *err);
/* Makes the facts of a recording without samples: its path, its verdict, and reason as the only note. reason must
 * outlive the facts. */
TALLY_MUST_CHECK enum tally_status summary_facts_make_empty(struct summary_recording *recording,
	const struct summary_sources *sources, const char *reason, struct summary_facts *facts,
	struct tally_error *err);
void summary_facts_deinit(struct summary_facts *facts);

#endif
