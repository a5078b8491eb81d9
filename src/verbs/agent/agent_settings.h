/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_settings.h - holds the settings from the command line of agent. The option table of cmd_agent.c fills them in;
 * strings are borrowed from the command line.
 */
#ifndef VERBS_AGENT_AGENT_SETTINGS_H
#define VERBS_AGENT_AGENT_SETTINGS_H

#include "base/vec.h"
#include "fleet/labels.h"
#include "tasks/recording/record_options.h"

struct agent_settings {
	struct record_settings record;
	struct record_rate rate; /* The frequency or period after -F and the kernel's limit were applied. */
	const char *to; /* The URL of a server, or a folder. */
	VEC(struct fleet_label) labels; /* Attached to all samples. */
	uint64_t window_s; /* Duration of a window, for which one batch is made. */
	const char *queue; /* The folder of the queue; NULL for the default one. */
	uint64_t queue_bytes; /* Maximum size of the queue. */
	const char *token_file, *ca_file;
	double max_cpu; /* Limit as a share of one CPU; 0.01 is one percent. */
	uint64_t max_bytes; /* Limit of the memory that the agent uses. */
	bool no_waits, no_inline;
};

#endif
