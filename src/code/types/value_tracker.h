/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_tracker.h - follows values through the code of one function to find the object of each memory access: debug
 * information describes which registers hold variables; between such points, values are followed through copies, loads,
 * sums, spills and calls. A value that differs between two paths is unknown where they meet.
 *
 * The tracker borrows all of its input. The caller owns the result, one place per instruction (value_places_deinit);
 * its types live as long as input.types. One thread.
 *
 * Bad input: code that cannot be decoded is skipped; in functions above a size limit each instruction is analysed by
 * itself.
 *
 *	value_tracker_run(&input, &places, err);
 *	const struct value_place *place = value_places_find(&places, address);
 */
#ifndef CODE_TYPES_VALUE_TRACKER_H
#define CODE_TYPES_VALUE_TRACKER_H

#include "code/types/value_input.h"

/* Fills places. NOMEM is the only error. */
TALLY_MUST_CHECK enum tally_status value_tracker_run(
	const struct value_tracker_input *input, struct value_places *places, struct tally_error *err);
/* Returns NULL if no instruction begins there. */
const struct value_place *value_places_find(const struct value_places *places, uint64_t address);
void value_places_deinit(struct value_places *places);

#endif
