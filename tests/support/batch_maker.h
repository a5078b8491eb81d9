/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_maker.h - makes batches for tests of stores, and lists the samples of batches as text, so that what went into a
 * store and what comes out of it can be compared.
 *
 *	batch = batch_make(&(struct batch_recipe){.number = 1, .begin_ns = 10, .labels = "host=a", .sets = "api:service=api",
 *		.profile = "event cycles\napi 1/1 0 0 5 main@x;leaf@x\n"});
 *	batch_lines_add(&lines, batch, false);  ... batch_lines_text(&lines) ...  batch_lines_free(&lines);
 */
#ifndef SUPPORT_BATCH_MAKER_H
#define SUPPORT_BATCH_MAKER_H

#include "base/vec.h"
#include "fleet/batch.h"

struct batch_recipe {
	unsigned number; /* makes the ID */
	uint64_t begin_ns;
	const char *labels; /* "host=a region=eu"; NULL: none */
	const char *sets; /* "COMM:name=value,name=value COMM:..."; NULL: none */
	const char *profile; /* as in profile_text.h; NULL: random samples: */
	unsigned seed, samples; /* of some 100 stacks, in three states, of binaries with build IDs */
	bool leaves_out; /* all symbols of these */
	uint64_t lost_samples;
};
/* Stops the test if the recipe is wrong. The caller destroys the batch. */
struct fleet_batch *batch_make(const struct batch_recipe *recipe);

struct batch_line {
	char *key;
	uint64_t count, value;
};
struct batch_lines {
	VEC(struct batch_line) list;
};
/* Adds a batch's samples to the list: event, labels, name of the thread (and pid, tid), state and stack. */
void batch_lines_add(struct batch_lines *lines, const struct fleet_batch *batch, bool by_thread);
/* In order, equal ones added up. The caller frees it. */
char *batch_lines_text(struct batch_lines *lines);
void batch_lines_free(struct batch_lines *lines);

#endif
