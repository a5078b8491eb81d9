/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_listing.h - makes the lines of one function: instructions with symbol names, source lines, and the samples
 * of each event on each line.
 *
 * The caller owns the listing; names of files borrow from the target.
 *
 *	annotate_listing_make(&listing, samples, target, &options, err);  // NOT_FOUND: err says why there is no code
 *	annotate_text(&out, &listing.function, ...);
 *	annotate_listing_deinit(&listing);
 */
#ifndef TASKS_LISTING_ANNOTATE_LISTING_H
#define TASKS_LISTING_ANNOTATE_LISTING_H

#include "code/disasm/disassembler.h"
#include "tasks/listing/annotate_samples.h"
#include "tasks/listing/annotate_source.h"
#include "view/text/annotate_lines.h"

struct annotate_listing_options {
	const char *objdump; /* run for the text of instructions; NULL: none is */
	const char *style; /* of that */
	bool with_bare_places; /* code without a source line counts as a place */
	bool is_intel, with_source, with_places, with_whole_paths, no_demangle;
	bool with_bytes; /* lines of bytes count in the line numbers */
	uint32_t first_event, event_count;
	enum annotate_percent percent; /* orders the places */
	double place_limit; /* in percent: colder instructions do not count for places */
};

struct instruction_row {
	uint64_t address;
	unsigned size;
	enum instruction_kind kind;
	bool has_target;
	uint64_t target;
	const char *text, *mnemonic, *operands; /* operands as annotate_line has them */
	const char *name; /* of what it refers to; NULL none */
};

struct annotate_listing {
	struct annotate_function function; /* what the printers are given */
	struct binary_code code;
	struct arena arena;
	VEC(struct annotate_line) lines;
	VEC(struct annotate_value) values;
	VEC(struct annotate_place) places;
	VEC(struct instruction_row) rows;
	struct annotate_event *events;
};

TALLY_MUST_CHECK enum tally_status annotate_listing_make(struct annotate_listing *listing,
	struct annotate_samples *samples, const struct annotate_target *target, struct annotate_source *source,
	const struct annotate_listing_options *options, struct tally_error *err);
void annotate_listing_deinit(struct annotate_listing *listing);

#endif
