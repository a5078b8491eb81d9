/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_settings.h - holds the settings from the command line of agent. A value, filled by the option table of
 * cmd_agent.c; texts are borrowed from the command line.
 */
#ifndef VERBS_AGENT_AGENT_SETTINGS_H
#define VERBS_AGENT_AGENT_SETTINGS_H

#include "base/vec.h"
#include "fleet/labels.h"
#include "tasks/recording/record_options.h"

struct agent_settings {
	struct record_settings record;
	struct record_rate rate; /* as -F and the kernel's bound allow */
	const char *to; /* URL or folder */
	VEC(struct fleet_label) labels; /* of all samples */
	uint64_t window_s;
	const char *queue; /* folder; NULL: the usual one */
	uint64_t queue_bytes;
	const char *token_file, *ca_file;
	double max_cpu; /* of one CPU: 0.01 is one percent */
	uint64_t max_bytes; /* of memory */
	bool no_waits, no_inline;
};

#endif
