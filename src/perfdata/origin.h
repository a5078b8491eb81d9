/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin.h - says what made the samples of a recording that does not hold perf events: reads and writes the section
 * FEATURE_ORIGIN, and words it for people and for JSON.
 *
 * The section is text up to a NUL: lines that name the kind, what made the samples, what they do not show, and, if there
 * is such a thing, what measuring has changed for the program or missed of it. The phrases are parts of a sentence, such as "valgrind 3.19, model d1=32768,8,64" and "the kernel's code". Texts are
 * slices of the section, or borrowed from the one who sets them. A recording of perf events has no such section.
 *
 * perf refuses a stream with a feature that it does not know. There the section is the body of a FINISHED_ROUND record
 * (as the marks of end_mark.h), behind "tallyorg" and in front of NULs; its length is never a multiple of 16.
 *
 *	origin_set(&features, (struct perfdata_origin){ORIGIN_SIMULATED, STR("valgrind 3.19"), STR("the kernel's code")});
 */
#ifndef PERFDATA_ORIGIN_H
#define PERFDATA_ORIGIN_H

#include "base/json.h"
#include "base/writer.h"
#include "perfdata/features.h"

/* For the one who records: adds the section. */
void origin_set(struct perfdata_features *features, struct perfdata_origin origin);
/* What made the samples; ORIGIN_UNKNOWN if the section is damaged or of a later version. */
struct perfdata_origin origin_of(const struct perfdata_features *features);
/* "events", "timer", "simulated", "rusage" (counts of stat) or "unknown". */
struct tally_str origin_kind_name(enum perfdata_origin_kind kind);
/* "samples are simulated, not measured (valgrind 3.19); they do not show the kernel's code"; nothing for perf events. */
void origin_text(struct text *out, const struct perfdata_origin *origin);
/* The same as a comment line, "# samples are ...". */
void origin_comment(struct text *out, const struct perfdata_features *features);
struct origin_named { /* a recording, for messages */
	struct tally_str name;
	const struct perfdata_features *features;
};
/* For two recordings that are compared: why differences may not be the program's, if their samples were not made in
 * the same way; nothing if they were. */
void origin_difference(struct text *out, const struct origin_named *a, const struct origin_named *b);
/* The object "origin" with "kind", "by", "not_seen" and, if it is known, "changed"; nothing for perf events. */
void origin_json(struct json *j, const struct perfdata_features *features);
/* Appends the section. */
void origin_encode(struct writer *w, const struct perfdata_features *features);
/* Appends the record that has the section in a stream. */
void origin_put_record(struct writer *w, struct tally_bytes section);
/* The section in such a record; false: it is another record. */
bool origin_record_section(const struct record *record, struct tally_bytes *section);

#endif
