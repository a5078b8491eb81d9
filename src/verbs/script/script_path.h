/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_path.h - prints the instructions that ran from the oldest branch of a sample's branch stack to the sample, in
 * the form of `perf script -F brstackinsn`.
 *
 * It borrows its arguments. One thread.
 *
 *	struct script_path path = {.places = &places, .code = &code, .source = &source};
 *	script_path_print(&path, &text, &where, cpumode, sample, fields);	// "\n\tmain+7:\n\t0000000000401007\tinsn: ..."
 */
#ifndef VERBS_SCRIPT_SCRIPT_PATH_H
#define VERBS_SCRIPT_SCRIPT_PATH_H

#include "verbs/script/script_code.h"
#include "verbs/script/script_counters.h"
#include "verbs/script/script_source.h"

struct script_path {
	struct script_places *places;
	struct script_code *code;
	struct script_source *source;
	uint64_t max_blocks; /* the newest ones only; 0: all */
	const struct script_counters *counters;
	const struct perfdata_event *event; /* of the sample that is printed */
};

/* Nothing where the sample has no branches. fields: FIELD_PATHS, FIELD_SRCLINE, FIELD_SRCCODE. False: out of memory. */
bool script_path_print(struct script_path *path, struct text *t, const struct resolve_where *where, unsigned cpumode,
	const struct sample *sample, uint64_t fields);

#endif
