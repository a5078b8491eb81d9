/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_source.h - prints the source line of sampled addresses in the form of `perf script -F srccode`, unless it
 * equals the thread's previous line.
 *
 * The places are borrowed. Each source file is read once. Not thread-safe.
 *
 *	script_source_print(&source, &text, &spot, "\n");	// "\n|12       return x;"
 */
#ifndef VERBS_SCRIPT_SCRIPT_SOURCE_H
#define VERBS_SCRIPT_SCRIPT_SOURCE_H

#include "tasks/listing/annotate_source.h"
#include "verbs/script/script_places.h"

struct script_source_line {
	const char *path; /* NULL if no line has been printed yet. */
	uint32_t line;
};

struct script_source {
	struct script_places *places;
	struct annotate_source files;
	struct map_u64 threads; /* Maps a tid to an index in last + 1. */
	VEC(struct script_source_line) last; /* Each thread's last printed line. */
};

void script_source_init(struct script_source *source, struct script_places *places);
void script_source_deinit(struct script_source *source);

struct script_source_spot {
	const struct resolve_where *where;
	unsigned cpumode;
	int32_t tid;
	uint64_t ip;
};
/* Prints prefix and a line such as "|12       return x;", or nothing if the line is unknown, its file cannot be read,
 * or it is the previous line of the thread. Returns false if out of memory. */
bool script_source_print(
	struct script_source *source, struct text *t, const struct script_source_spot *spot, const char *prefix);

#endif
