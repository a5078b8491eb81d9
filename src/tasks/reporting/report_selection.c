/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_selection.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/number_ranges.h"

static enum tally_status find_event(const struct perfdata_reader *reader, const char *option, const char *name,
	int64_t *index, struct tally_error *err)
{
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	*index = -1;
	for (size_t i = 0; name && i < count && *index < 0; i++)
		if (str_equal(events[i].name, str_from(name)))
			*index = events[i].index;
	if (!name || *index >= 0)
		return TALLY_OK;
	return error_set(err, TALLY_INVALID,
		"%s event not found (%s): 'tally evlist' shows the names of the recording's", option, name);
}

enum tally_status report_switches_find(const struct switch_names *names, const struct perfdata_reader *reader,
	struct replay_switches *found, struct tally_error *err)
{
	*found = (struct replay_switches){.shows = names->shows};
	enum tally_status status = find_event(reader, "switch-on", names->on, &found->on, err);
	return status == TALLY_OK ? find_event(reader, "switch-off", names->off, &found->off, err) : status;
}

enum tally_status report_socket_cpus(
	const struct perfdata_reader *reader, uint64_t socket, bool **cpus, uint32_t *count, struct tally_error *err)
{
	const struct perfdata_topology *topology = &perfdata_reader_features(reader)->topology;
	if (!topology->socket_ids || !topology->cpu_count)
		return error_set(err, TALLY_INVALID,
			"--socket-filter needs the sockets of CPUs, and the recording's header does not contain them");
	*cpus = calloc(topology->cpu_count, sizeof(**cpus));
	if (!*cpus)
		return error_nomem(err);
	*count = (uint32_t)topology->cpu_count;
	for (uint32_t cpu = 0; cpu < *count; cpu++)
		(*cpus)[cpu] = topology->socket_ids[cpu] == socket;
	return TALLY_OK;
}

enum tally_status report_parallelism_levels(const char *list, bool **levels, struct tally_error *err)
{
	bool *table = calloc(LIMIT_CPUS, sizeof(*table));
	if (!table)
		return error_nomem(err);
	/* The sampled thread itself runs, so the number is never 0. */
	if (*list && number_ranges_parse(list, LIMIT_CPUS, table) && !table[0]) {
		*levels = table;
		return TALLY_OK;
	}
	free(table);
	return error_set(err, TALLY_INVALID,
		"--parallelism takes numbers of running threads from 1 on, such as 1,4-8, not '%s'", list);
}
