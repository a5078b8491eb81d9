/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/agent/agent_budget.h"

#include "base/array.h"

#define DEAR_IN_A_ROW  2
#define MUCH_MORE      4 /* Multiple of the CPU limit at which a single window makes the agent reduce its work. */
#define PATIENCE_MIN   6
#define WINDOWS_A_DROP 30 /* Minimum number of windows between two times that symbols are dropped. */
#define PATIENCE_MAX   768

void agent_budget_init(struct agent_budget *b, const struct agent_limits *limits)
{
	*b = (struct agent_budget){.limits = *limits,
		.pace = {limits->frequency, limits->with_waits},
		.patience = PATIENCE_MIN,
		.since_drop = WINDOWS_A_DROP};
}

static bool step_down(struct agent_budget *b)
{
	b->dear = b->cheap = 0;
	if (b->has_stepped_back)
		b->patience = MIN(b->patience * 2, PATIENCE_MAX);
	b->has_stepped_back = false;
	if (b->pace.with_waits) {
		b->pace.with_waits = false;
		return true;
	}
	if (b->pace.frequency <= 1)
		return false;
	b->pace.frequency /= 2;
	return true;
}

static bool step_back(struct agent_budget *b)
{
	uint64_t most = b->limits.frequency, next = most;
	b->cheap = 0;
	if (b->pace.frequency < most) {
		while (next / 2 > b->pace.frequency)
			next /= 2;
		b->pace.frequency = next;
	} else if (b->limits.with_waits && !b->pace.with_waits) {
		b->pace.with_waits = true;
	} else {
		return false;
	}
	b->has_stepped_back = true;
	return true;
}

bool agent_budget_judge(struct agent_budget *b, const struct agent_usage *usage)
{
	double share = usage->window_ns ? (double)usage->cpu_ns / (double)usage->window_ns : 0;
	bool has_much = usage->bytes > b->limits.bytes;
	b->since_drop += b->since_drop < WINDOWS_A_DROP;
	b->wants_symbols_dropped = has_much && b->since_drop == WINDOWS_A_DROP;
	bool still_has_much = has_much && !b->wants_symbols_dropped;
	if (b->wants_symbols_dropped)
		b->since_drop = 0;
	if (b->windows++ == 0)
		return false;
	b->dear = share > b->limits.cpu || still_has_much ? b->dear + 1 : 0;
	b->cheap = share < b->limits.cpu / 2 && !has_much ? b->cheap + 1 : 0;
	if (b->dear >= DEAR_IN_A_ROW || share > b->limits.cpu * MUCH_MORE)
		return step_down(b);
	return b->cheap >= b->patience && step_back(b);
}
