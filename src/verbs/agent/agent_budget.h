/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_budget.h - adapts the agent's sampling to its own use of CPU and memory: above a limit it stops measuring
 * waits, then halves the sampling frequency step by step, down to 1 Hz; when usage is low it reverses these steps.
 *
 * When memory exceeds its limit, the agent drops its symbols first; it reduces sampling only if they were dropped
 * recently, because reading them again takes CPU time.
 *
 * The first window is not judged, because it includes the work of starting. Sampling is reduced by one step after two
 * consecutive windows above a limit, or after one window far above the CPU limit. It is increased by one step after six
 * consecutive windows below half of the CPU limit; this number doubles each time that an increase had to be undone.
 * The budget is a plain value, and the functions have no side effects.
 *
 *	agent_budget_init(&budget, &limits);
 *	if (agent_budget_judge(&budget, &usage)) apply(&budget.pace);
 */
#ifndef VERBS_AGENT_AGENT_BUDGET_H
#define VERBS_AGENT_AGENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct agent_limits {
	double cpu; /* Share of one CPU; 0.01 is one percent. */
	uint64_t bytes; /* Memory in bytes. */
	uint64_t frequency; /* Maximum sampling frequency in Hz. */
	bool with_waits;
};

struct agent_usage { /* The agent's own resource usage in one window. */
	uint64_t window_ns;
	uint64_t cpu_ns; /* Includes the time that measuring waits costs in other processes. */
	uint64_t bytes; /* Memory in bytes at the end of the window. */
};

struct agent_pace { /* How much the agent measures at present. */
	uint64_t frequency; /* Sampling frequency in Hz. */
	bool with_waits;
};

struct agent_budget {
	struct agent_limits limits;
	struct agent_pace pace;
	/* Number of all windows, number of consecutive windows above a limit (dear), and number of consecutive windows
	 * below half of the CPU limit (cheap). */
	unsigned windows, dear, cheap;
	unsigned patience; /* Number of consecutive cheap windows before sampling is increased. */
	bool wants_symbols_dropped; /* Memory exceeds its limit, so the caller should drop its symbols. */
	unsigned since_drop; /* Number of windows since symbols were dropped. */
	/* The last change increased sampling; if the next one reduces it again, patience is doubled. */
	bool has_stepped_back;
};

void agent_budget_init(struct agent_budget *budget, const struct agent_limits *limits);
/* Updates the budget after a window. Returns whether the pace has changed. */
bool agent_budget_judge(struct agent_budget *budget, const struct agent_usage *usage);

#endif
