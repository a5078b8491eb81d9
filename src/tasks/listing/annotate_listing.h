/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate_listing.h - makes the lines of one function: instructions with symbol names, source lines, and the samples
 * of each event on each line.
 *
 * The caller owns the listing; names of files are borrowed from the target.
 *
 *	annotate_listing_make(&listing, samples, target, &source, &options, err);  // NOT_FOUND if there is no code
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
	const char *objdump; /* The objdump program that disassembles, or NULL for the built-in disassembler. */
	const char *style; /* Argument of objdump's option -M, or NULL. */
	bool with_bare_places; /* Also makes places (struct annotate_place) of code without a source line. */
	bool is_intel, with_source, with_places, with_whole_paths, no_demangle;
	bool with_bytes; /* Counts continuation lines of raw bytes in the line numbers. */
	uint32_t first_event, event_count;
	enum annotate_percent percent; /* Kind of percentage that orders the places. */
	double place_limit; /* In percent; instructions with a lower percentage are not counted for places. */
};

/* A disassembled instruction. */
struct instruction_row {
	uint64_t address;
	unsigned size;
	enum instruction_kind kind;
	bool has_target;
	uint64_t target;
	/* Mnemonic and operands are the columns of the compact form; see struct annotate_line. */
	const char *text, *mnemonic, *operands;
	const char *name; /* Name of the address that the instruction refers to, or NULL. */
};

struct annotate_listing {
	struct annotate_function function; /* The input of the printers. */
	struct binary_code code;
	struct arena arena;
	VEC(struct annotate_line) lines;
	VEC(struct annotate_value) values;
	VEC(struct annotate_place) places;
	VEC(struct instruction_row) rows;
	struct annotate_event *events;
};

/* Must be followed by annotate_listing_deinit, also after a failure. Returns NOT_FOUND if the code of the function is
 * not available. */
TALLY_MUST_CHECK enum tally_status annotate_listing_make(struct annotate_listing *listing,
	struct annotate_samples *samples, const struct annotate_target *target, struct annotate_source *source,
	const struct annotate_listing_options *options, struct tally_error *err);
void annotate_listing_deinit(struct annotate_listing *listing);

#endif
