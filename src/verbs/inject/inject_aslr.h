/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_aslr.h - hides the real addresses of programs and the kernel in a recording: all mappings get new addresses.
 *
 * Addresses of samples, call chains, branches and mappings are moved consistently, so symbols, lines and reports do not
 * change. Data that may contain addresses in unknown places is removed: registers, stack dumps, raw data, physical
 * addresses, changes of the kernel's code, hardware traces, and the sections that describe those. Of the tracing data,
 * only the formats are retained. The caller owns the structure; the reader must outlive it. Not thread-safe.
 *
 *	inject_aslr_read(&aslr, reader, err);
 *	inject_aslr_features(&aslr, &features);  // for the new file, together with aslr.attrs.attrs
 *	inject_aslr_record(&aslr, &record, &out);  // each record, as inject_options.change
 */
#ifndef VERBS_INJECT_INJECT_ASLR_H
#define VERBS_INJECT_INJECT_ASLR_H

#include "analysis/inject/address_remap.h"
#include "analysis/inject/inject.h"
#include "base/text.h"
#include "tasks/session/event_attrs.h"

struct inject_aslr {
	struct perfdata_reader *reader;
	struct arena arena;
	struct address_remap remap;
	struct event_attrs attrs;
	struct writer words; /* The current sample's call chain, followed by its branches. */
	struct writer formats; /* The tracepoint formats of the new file. */
	uint64_t fields; /* SAMPLE_* bits that were removed from any event. */
	uint64_t dropped; /* Number of removed records. */
	bool failed; /* Memory was exhausted in inject_aslr_record. */
};

/* Reads the mappings of the recording, and rewinds the reader. */
TALLY_MUST_CHECK enum tally_status inject_aslr_read(
	struct inject_aslr *aslr, struct perfdata_reader *reader, struct tally_error *err);
void inject_aslr_deinit(struct inject_aslr *aslr);
void inject_aslr_features(struct inject_aslr *aslr, struct perfdata_features *features);
enum inject_change inject_aslr_record(void *aslr, const struct record *record, struct writer *out);
/* Appends a line about the removed data, or nothing if none was removed. */
void inject_aslr_tell(const struct inject_aslr *aslr, struct text *out);

#endif
