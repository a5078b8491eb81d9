/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/rung_options.h"

#include <string.h>

#include "base/array.h"

static const char *const rung_names[] = {[RUNG_AUTO] = "auto", [RUNG_EVENTS] = "events", [RUNG_TIMER] = "timer"};

const char *rung_name(enum rung rung)
{
	return rung_names[rung];
}

static const char *rung_options_set(const struct option_use *use)
{
	struct rung_request *request = use->settings;
	for (size_t i = 0; i < ARRAY_LEN(rung_names); i++)
		if (strcmp(use->value, rung_names[i]) == 0) {
			request->rung = (enum rung)i;
			return NULL;
		}
	return "expects auto, events or timer";
}

static const struct option rung_rows[] = {
	{"rung", 0, OPTION_CALL, "auto|events|timer", .call = rung_options_set,
		.help = "how samples are taken: by perf events, by timers of CPU time and ptrace (your own programs, "
			"user mode), or by the latter only if the kernel denies all events (auto)"},
	{"require-event", 0, OPTION_FLAG, .offset = offsetof(struct rung_request, requires_event),
		.help = "fail if the kernel denies all events, instead of sampling by --rung timer"},
};
const struct option_table rung_option_table = {rung_rows, ARRAY_LEN(rung_rows), false};
