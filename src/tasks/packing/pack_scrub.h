/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_scrub.h - removes data about people and machines from a recording; only data that is known to be harmless stays.
 *
 * Paths outside the system's own directories, and names of threads, cgroups and generated code are replaced by numbers
 * ("/x7"); equal names get equal numbers. It removes arguments, host name, kernel release, names of build IDs, formats
 * and payloads of tracepoints, copies of registers, stack dumps, and every kind of record and section that is not known
 * to be harmless. Not thread-safe.
 *
 *	pack_scrub_init(&scrub, reader);
 *	pack_scrub_features(&scrub, &features);        // sections of the file
 *	pack_scrub_record(&scrub, &record, &out);      // each record, as inject_options.change
 *	pack_scrub_objects(&scrub, objects, count);    // of the pack, which has no code
 */
#ifndef TASKS_PACKING_PACK_SCRUB_H
#define TASKS_PACKING_PACK_SCRUB_H

#include "analysis/inject/inject.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/text.h"
#include "code/pack/pack.h"

struct pack_scrub {
	const struct perfdata_reader *reader;
	struct arena arena; /* Memory for new names and sections. */
	struct intern hidden; /* Names that were replaced by numbers. */
	struct intern kept; /* Names that stay. */
	struct intern programs; /* Names of the system programs in the recording, which thread names may contain. */
	uint64_t dropped; /* Number of removed records. */
	bool failed; /* Set if memory runs out. */
};

void pack_scrub_init(struct pack_scrub *scrub, const struct perfdata_reader *reader);
void pack_scrub_deinit(struct pack_scrub *scrub);
void pack_scrub_features(struct pack_scrub *scrub, struct perfdata_features *features);
enum inject_change pack_scrub_record(void *scrub, const struct record *record, struct writer *out);
void pack_scrub_objects(struct pack_scrub *scrub, struct pack_object *objects, size_t count);
/* Returns the replacement of a function's name, which is the name itself unless it contains a path. context is a struct
 * pack_scrub. */
const char *pack_scrub_symbol(void *context, const char *name);
/* Appends the list of the names that remain in the recording. */
void pack_scrub_tell(const struct pack_scrub *scrub, struct text *out);

#endif
