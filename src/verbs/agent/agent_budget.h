/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_budget.h - decides by the agent's own use of CPU and memory whether it samples less: first without waits, then
 * with half of the frequency, step by step, down to once a second; and the other way when it is cheap again.
 *
 * Too much memory costs a step only if symbols were dropped not long ago, because to read them again takes CPU time.
 *
 * A value; pure. The first window is not judged, because it includes the work of starting. One window of much more, or
 * two in a row of more than the limit, cost a step. A step back takes a minute of windows that used less than half of
 * the limit, and twice as many after each step that had to be taken again.
 *
 *	agent_budget_init(&budget, &limits);
 *	if (agent_budget_judge(&budget, &usage)) apply(&budget.pace);
 */
#ifndef VERBS_AGENT_AGENT_BUDGET_H
#define VERBS_AGENT_AGENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct agent_limits {
	double cpu; /* of one CPU */
	uint64_t bytes;
	uint64_t frequency; /* at most */
	bool with_waits;
};

struct agent_usage { /* of a window */
	uint64_t window_ns;
	uint64_t cpu_ns; /* also of what measures waits in other processes */
	uint64_t bytes; /* of its own memory, at its end */
};

struct agent_pace {
	uint64_t frequency;
	bool with_waits;
};

struct agent_budget {
	struct agent_limits limits;
	struct agent_pace pace;
	unsigned windows, dear, cheap; /* in all; in a row */
	unsigned patience; /* cheap windows that a step back takes */
	bool wants_symbols_dropped; /* too much memory: symbols can be read again */
	unsigned since_drop; /* windows */
	bool has_stepped_back; /* and not down since */
};

void agent_budget_init(struct agent_budget *budget, const struct agent_limits *limits);
/* Whether the pace has changed. */
bool agent_budget_judge(struct agent_budget *budget, const struct agent_usage *usage);

#endif
