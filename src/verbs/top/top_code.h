/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_code.h - shows the code of a function in top, on the screen or as text, with percentages that are refreshed with
 * the profile.
 *
 * Pointers are borrowed. Samples are collected by address while code is displayed, beginning with the last refresh.
 *
 *	struct top_code code = {.view = &view, .key = key, .renew = renew, .data = x};
 *	top_code_show(&code, &symbol, &leaves, err);
 */
#ifndef VERBS_TOP_TOP_CODE_H
#define VERBS_TOP_TOP_CODE_H

#include "tasks/listing/annotate_explore.h"
#include "tasks/reporting/report_explore.h"
#include "verbs/top/top_view.h"

struct top_code {
	struct top_view *view;
	uint32_t (*key)(void *data); /* Waits for a key; returns TUI_KEY_NONE if something else is due. */
	/* Refreshes if that is due. Sets changed to whether the profile has changed. */
	enum tally_status (*renew)(void *data, bool *changed, struct tally_error *err);
	void *data;
	struct annotate_settings settings; /* The user's last settings; valid if has_settings is set. */
	bool has_settings;
	struct top_annotate *annotate; /* Valid while code is displayed. */
};

/* Returns when the user leaves the code; leaves is set if the user quits. Errors are displayed on the screen, except
 * NOMEM, which is returned. */
TALLY_MUST_CHECK enum tally_status top_code_show(
	struct top_code *code, const struct explore_symbol *symbol, bool *leaves, struct tally_error *err);
/* Prints the code of the function of --sym-annotate, with the samples of the table with this index; nothing if it has
 * no samples. */
TALLY_MUST_CHECK enum tally_status top_code_print(
	struct top_view *view, uint32_t index, struct text *out, struct tally_error *err);

#endif
