/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_maker.h - makes batches for tests of stores, and lists the samples of batches as text, so that tests can
 * compare the contents of a store with the batches written to it.
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
	unsigned number; /* The batch ID is derived from this number. */
	uint64_t begin_ns;
	const char *labels; /* "host=a region=eu"; NULL if the batch has no labels. */
	const char *sets; /* "COMM:name=value,name=value COMM:..."; NULL if no thread has labels. */
	const char *profile; /* Text in the format of profile_text.h; NULL for random samples, as below. */
	unsigned seed, samples; /* Random samples have some 100 stacks, in three states, in binaries with build IDs. */
	bool leaves_out; /* Random samples have no symbols. */
	uint64_t lost_samples;
};
/* Fails the test if the recipe is invalid. The caller destroys the batch. */
struct fleet_batch *batch_make(const struct batch_recipe *recipe);

struct batch_line {
	char *key;
	uint64_t count, value;
};
struct batch_lines {
	VEC(struct batch_line) list;
};
/* Appends the samples of a batch to the list: event, labels, thread name (with by_thread also pid and tid), state and
 * stack. */
void batch_lines_add(struct batch_lines *lines, const struct fleet_batch *batch, bool by_thread);
/* Returns the lines sorted, with the periods of equal ones added up. The caller frees the text. */
char *batch_lines_text(struct batch_lines *lines);
void batch_lines_free(struct batch_lines *lines);

#endif
