/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin.h - reads and writes the section FEATURE_ORIGIN, which describes the source of samples that do not come from
 * perf events, and formats it as text and JSON.
 *
 * The section is NUL-terminated text with a line each for the kind, the source of the samples, what they do not show,
 * and optionally what measuring changed for the program or missed. Each is a part of a sentence, such as "valgrind
 * 3.19, model d1=32768,8,64" or "the kernel's code". Texts are slices of the section, or borrowed from the caller of
 * origin_set. A recording of perf events has no such section.
 *
 * perf refuses a stream with an unknown feature. In streams, the section is therefore the body of a FINISHED_ROUND
 * record (like the marks of end_mark.h), after "tallyorg" and followed by NULs; its size is never a multiple of 16.
 *
 *	origin_set(
 *		&features, (struct perfdata_origin){ORIGIN_SIMULATED, STR("valgrind 3.19"), STR("the kernel's code")});
 */
#ifndef PERFDATA_ORIGIN_H
#define PERFDATA_ORIGIN_H

#include "base/json.h"
#include "base/writer.h"
#include "perfdata/features.h"

/* Adds the section to the features of a new recording. */
void origin_set(struct perfdata_features *features, struct perfdata_origin origin);
/* Returns the source of the samples; ORIGIN_UNKNOWN if the section is damaged or of a later version. */
struct perfdata_origin origin_of(const struct perfdata_features *features);
/* Returns "events", "timer", "simulated", "rusage" (counts of stat) or "unknown". */
struct tally_str origin_kind_name(enum perfdata_origin_kind kind);
/* Appends text such as "samples are simulated, not measured (valgrind 3.19); they do not show the kernel's code";
 * nothing for perf events. */
void origin_text(struct text *out, const struct perfdata_origin *origin);
/* Appends the text of origin_text as a comment line, "# samples are ..."; nothing for perf events. */
void origin_comment(struct text *out, const struct perfdata_features *features);
struct origin_named { /* A recording with its name for messages. */
	struct tally_str name;
	const struct perfdata_features *features;
};
/* If the samples of two recordings have different sources, appends a warning that comparing them may be misleading. */
void origin_difference(struct text *out, const struct origin_named *a, const struct origin_named *b);
/* Writes the object "origin" with "kind", "by", "not_seen" and, if known, "changed"; nothing for perf events. */
void origin_json(struct json *j, const struct perfdata_features *features);
/* Appends the section. */
void origin_encode(struct writer *w, const struct perfdata_features *features);
/* Appends the record that contains the section in a stream. */
void origin_put_record(struct writer *w, struct tally_bytes section);
/* Finds the section in a record that origin_put_record has written; returns false for other records. */
bool origin_record_section(const struct record *record, struct tally_bytes *section);

#endif
