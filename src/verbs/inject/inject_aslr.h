/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_aslr.h - writes a recording without the addresses of its programs and kernel: all mappings get new addresses.
 *
 * Addresses of samples, call chains, branches and mappings are moved in the same way, so names, lines and reports do
 * not change. Data whose addresses cannot be found is removed: registers, stack dumps, raw data, physical addresses,
 * changes of the kernel's code, hardware traces, and sections that describe those. Of tracing data only the formats
 * stay. The caller owns it; the reader outlives it. One thread.
 *
 *	inject_aslr_read(&aslr, reader, err);
 *	inject_aslr_features(&aslr, &features);  // of the new file, and aslr.attrs.attrs
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
	struct writer words; /* of the sample that is made: its chain, then its branches */
	struct writer formats; /* of tracepoints */
	uint64_t fields; /* removed SAMPLE_* fields of any event */
	uint64_t dropped; /* records */
	bool failed; /* out of memory */
};

/* Reads the recording once, and leaves it at its start. */
TALLY_MUST_CHECK enum tally_status inject_aslr_read(
	struct inject_aslr *aslr, struct perfdata_reader *reader, struct tally_error *err);
void inject_aslr_deinit(struct inject_aslr *aslr);
void inject_aslr_features(struct inject_aslr *aslr, struct perfdata_features *features);
enum inject_change inject_aslr_record(void *aslr, const struct record *record, struct writer *out);
/* Prints a line about the removed fields; nothing if there are none. */
void inject_aslr_tell(const struct inject_aslr *aslr, struct text *out);

#endif
