/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_lines.h - formats the source line of an address as reports show it: "file.c:12", or "function+offset",
 * "program[address]" or "??:0" without debug information.
 *
 * Borrows the store, which must have loaded the source places of the addresses (inline_frames_read). One thread.
 *
 *	frame_line_text(&lines, &resolved, symbol, place, &text, &file);   // place is NULL if nothing is known
 */
#ifndef ANALYSIS_FRAME_LINES_H
#define ANALYSIS_FRAME_LINES_H

#include "analysis/symbolise.h"
#include "base/text.h"

struct frame_lines {
	const struct machine *machine;
	struct binary_store *store;
	struct arena *arena; /* Memory for demangled names. */
	bool with_whole_path;
};

/* Returns the source places of a frame's address, innermost first; 0 if none are known. */
size_t frame_line_places(
	const struct frame_lines *lines, const struct resolved_frame *frame, struct source_place *places, size_t max);
/* Appends the line to text. Sets *file to the name of the file as in text, borrowed from the store, or to an empty
 * string if the file is unknown. symbol and place are NULL if unknown. */
void frame_line_text(const struct frame_lines *lines, const struct resolved_frame *frame, const struct symbol *symbol,
	const struct source_place *place, struct text *text, struct tally_str *file);

#endif
