/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_source.h - prints the source text of sampled addresses in the form of `perf script -F srccode`: each thread's
 * line if it differs from its last one.
 *
 * Borrows the places. Files are read once. One thread.
 *
 *	script_source_print(&source, &text, where, cpumode, tid, ip, "\n");	// "\n|12       return x;"
 */
#ifndef VERBS_SCRIPT_SCRIPT_SOURCE_H
#define VERBS_SCRIPT_SCRIPT_SOURCE_H

#include "tasks/listing/annotate_source.h"
#include "verbs/script/script_places.h"

struct script_source_line {
	const char *path; /* NULL: none yet */
	uint32_t line;
};

struct script_source {
	struct script_places *places;
	struct annotate_source files;
	struct map_u64 threads; /* to the index in last, from 1 on */
	VEC(struct script_source_line) last; /* that was printed */
};

void script_source_init(struct script_source *source, struct script_places *places);
void script_source_deinit(struct script_source *source);

struct script_source_spot {
	const struct resolve_where *where;
	unsigned cpumode;
	int32_t tid;
	uint64_t ip;
};
/* "|12       return x;" behind the prefix; nothing where no line or no file is known. False: out of memory. */
bool script_source_print(
	struct script_source *source, struct text *t, const struct script_source_spot *spot, const char *prefix);

#endif
