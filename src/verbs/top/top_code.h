/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_code.h - shows the code of a function in top, on the screen or as text, with percentages that are refreshed with
 * the profile.
 *
 * It borrows its arguments. Samples by address are collected while code is shown, from the last refresh on.
 *
 *	struct top_code code = {.view = &view, .terminal = terminal, .grid = &grid, .key = key, .renew = renew, .data = x};
 *	top_code_show(&code, &symbol, &leaves, &why);	// why: what to say where there is no code
 */
#ifndef VERBS_TOP_TOP_CODE_H
#define VERBS_TOP_TOP_CODE_H

#include "tasks/listing/annotate_explore.h"
#include "tasks/reporting/report_explore.h"
#include "verbs/top/top_view.h"

struct top_code {
	struct top_view *view;
	uint32_t (*key)(void *data); /* TUI_KEY_NONE: something is due */
	/* Refreshes; changed: the profile is a new one. */
	enum tally_status (*renew)(void *data, bool *changed, struct tally_error *err);
	void *data;
	struct annotate_settings settings; /* as the user left them */
	bool has_settings;
	struct top_annotate *annotate; /* while it shows */
};

/* Errors except NOMEM are shown on the screen. */
TALLY_MUST_CHECK enum tally_status top_code_show(
	struct top_code *code, const struct explore_symbol *symbol, bool *leaves, struct tally_error *err);
/* Prints the code of --sym-annotate's function for one table; nothing if it has no samples. */
TALLY_MUST_CHECK enum tally_status top_code_print(
	struct top_view *view, uint32_t index, struct text *out, struct tally_error *err);

#endif
