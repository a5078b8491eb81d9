/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_filter.h - selects the samples that `tally script` prints: by time, CPU, thread, name, address, and between
 * two events.
 *
 * The request borrows the texts of the command line. Call the filter once for each sample, in time order, because
 * --switch-on and --switch-off depend on earlier samples. One thread.
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
	const char *switch_on, *switch_off; /* names of events */
	bool shows_switches; /* the samples of those events too */
	uint64_t address_range; /* bytes from the addresses among symbols; 0: just these */
};

struct script_filter {
	const struct script_filter_request *request;
	struct sample_filter samples;
	const struct perfdata_event *switch_on, *switch_off; /* NULL: none */
	bool is_off; /* between --switch-off and --switch-on */
};

struct script_probe { /* a sample, for the filter */
	const struct perfdata_event *event;
	const struct sample *sample;
	unsigned cpumode;
	uint16_t misc; /* of its record */
	uint64_t clock;
};

/* Deinit also after failure. */
TALLY_MUST_CHECK enum tally_status script_filter_init(struct script_filter *filter,
	const struct script_filter_request *request, struct perfdata_reader *reader, struct tally_error *err);
void script_filter_deinit(struct script_filter *filter);
/* False: out of memory. */
bool script_filter_wants(
	struct script_filter *filter, struct script_places *places, const struct script_probe *probe, bool *wanted);
/* Checks only the sample's thread and place. False: out of memory. */
bool script_filter_wants_place(const struct script_filter *filter, struct script_places *places,
	const struct script_probe *probe, bool *wanted);

#endif
