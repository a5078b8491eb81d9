/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_filter.h - selects the samples that `tally script` prints: by time, CPU, thread, name, address, and between
 * two events.
 *
 * Strings are borrowed from the command line. The filter must be called once for each sample, in time order, because
 * --switch-on and --switch-off depend on earlier samples. Not thread-safe.
 *
 *	script_filter_init(&filter, &request, reader, err);
 *	if (script_filter_wants(&filter, &places, &probe, &wanted)) ...
 *	script_filter_deinit(&filter);
 */
#ifndef VERBS_SCRIPT_SCRIPT_FILTER_H
#define VERBS_SCRIPT_SCRIPT_FILTER_H

#include "tasks/session/sample_options.h"
#include "verbs/script/script_places.h"

struct script_filter_request {
	struct sample_options samples;
	const char *switch_on, *switch_off; /* Event names; NULL if not given. */
	bool shows_switches; /* Includes the samples of those events. */
	/* With --addr-range: size in bytes of the range that begins at each address in --symbols; 0 for the address
	 * alone. */
	uint64_t address_range;
};

struct script_filter {
	const struct script_filter_request *request;
	struct sample_filter samples;
	const struct perfdata_event *switch_on, *switch_off; /* NULL if not given. */
	bool is_off; /* Samples are skipped until the next event of --switch-on. */
};

struct script_probe { /* A sample to be filtered. */
	const struct perfdata_event *event;
	const struct sample *sample;
	unsigned cpumode;
	uint16_t misc; /* The member misc of the record header. */
	uint64_t clock; /* The time of the sample, as determined by sample_clock.h. */
};

/* The caller deinitialises the filter, also after a failure. */
TALLY_MUST_CHECK enum tally_status script_filter_init(struct script_filter *filter,
	const struct script_filter_request *request, struct perfdata_reader *reader, struct tally_error *err);
void script_filter_deinit(struct script_filter *filter);
/* Sets wanted to whether the sample is selected. Returns false if out of memory. */
bool script_filter_wants(
	struct script_filter *filter, struct script_places *places, const struct script_probe *probe, bool *wanted);
/* Like script_filter_wants, but checks only the sample's thread, DSO and symbol. */
bool script_filter_wants_place(const struct script_filter *filter, struct script_places *places,
	const struct script_probe *probe, bool *wanted);

#endif
