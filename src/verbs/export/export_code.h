/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_code.h - collects the code of the hottest functions for an HTML page that needs no program files.
 *
 * The caller deinitialises the result. The samples of the profile are used, so the recording is not read again.
 *
 *	export_code_make(&code, &run, err);
 *	run.view.code = ...; run.view.listing_of_function = code.listing_of_function;
 */
#ifndef VERBS_EXPORT_EXPORT_CODE_H
#define VERBS_EXPORT_EXPORT_CODE_H

#include "verbs/export/export_run.h"

struct export_code {
	struct text listings; /* Items in the format of page_code.h, separated by commas. */
	/* Index of the listing of each of the profile's functions; PROFILE_NONE if it has no listing. */
	uint32_t *listing_of_function;
};

TALLY_MUST_CHECK enum tally_status export_code_make(
	struct export_code *code, const struct export_run *run, struct tally_error *err);
void export_code_deinit(struct export_code *code);

#endif
