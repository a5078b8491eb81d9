/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_counts.h"

#include "tasks/counts/stat_replay.h"

struct counts_printing {
	struct text *out;
	bool has_title;
};

static void script_count_print(void *context, const struct stat_replay_count *count)
{
	struct counts_printing *printing = context;
	if (!printing->has_title)
		text_printf(printing->out, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA", "RUN",
			"TIME", "EVENT");
	printing->has_title = true;
	text_printf(printing->out, "%3d %8d %15llu %15llu %15llu %15llu ", count->cpu, (int)count->thread,
		(unsigned long long)count->count.value, (unsigned long long)count->count.enabled_ns,
		(unsigned long long)count->count.running_ns, (unsigned long long)count->time_ns);
	text_str(printing->out, count->event);
	text_char(printing->out, '\n');
}

enum tally_status script_counts_print(struct perfdata_reader *reader, struct text *out, struct tally_error *err)
{
	struct counts_printing printing = {.out = out};
	const struct stat_replay_request request = {
		.reader = reader, .count = script_count_print, .context = &printing};
	return stat_replay(&request, err);
}
