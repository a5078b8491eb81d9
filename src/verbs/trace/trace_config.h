/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_config.h - reads the settings trace.* of the user's configuration (perf-config(1)): add_events, args_alignment,
 * no_inherit, show_arg_names, show_duration, show_prefix, show_timestamp, show_zeros, tracepoint_beautifiers. Options
 * of the command line have precedence.
 */
#ifndef VERBS_TRACE_TRACE_CONFIG_H
#define VERBS_TRACE_TRACE_CONFIG_H

#include "base/diag.h"
#include "verbs/trace/trace_settings.h"

/* Applies these settings to settings. Ignores an invalid value, and adds a warning to notes. */
TALLY_MUST_CHECK enum tally_status trace_config_read(
	struct trace_settings *settings, struct diag *notes, struct tally_error *err);

#endif
