/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/affinity.h"

#include <sched.h>
#include <stdlib.h>

#include "base/array.h"
#include "kernel/system/cpu_topology.h"

enum tally_status affinity_init(struct affinity *affinity, const struct kernel_seam *kernel, enum affinity_mode mode,
	const int *cpus, size_t count, struct tally_error *err)
{
	int *online;
	*affinity = (struct affinity){.mode = mode, .count = count, .current = -1};
	if (mode == AFFINITY_NONE)
		return TALLY_OK;
	enum tally_status status = cpu_list_online(kernel, &online, &affinity->all_count, err);
	if (status != TALLY_OK)
		return status;
	status = cpu_places(kernel, online, affinity->all_count, &affinity->all, err);
	free(online);
	if (status == TALLY_OK)
		status = cpu_places(kernel, cpus, count, &affinity->places, err);
	if (status != TALLY_OK)
		affinity_deinit(affinity);
	return status;
}

void affinity_deinit(struct affinity *affinity)
{
	free(affinity->places);
	free(affinity->all);
	*affinity = (struct affinity){.current = -1};
}

void affinity_move(struct affinity *affinity, size_t ring)
{
	bool by_node = affinity->mode == AFFINITY_NODE;
	if (affinity->mode == AFFINITY_NONE || ring >= affinity->count)
		return;
	int wanted = by_node ? affinity->places[ring].node : affinity->places[ring].cpu;
	if (wanted < 0 || wanted == affinity->current)
		return;
	int cpu_max = 0;
	for (size_t i = 0; i < affinity->all_count; i++)
		cpu_max = MAX(affinity->all[i].cpu, cpu_max);
	cpu_set_t *set = CPU_ALLOC((size_t)cpu_max + 1);
	size_t bytes = CPU_ALLOC_SIZE((size_t)cpu_max + 1);
	if (!set)
		return;
	CPU_ZERO_S(bytes, set);
	for (size_t i = 0; i < affinity->all_count; i++)
		if ((by_node ? affinity->all[i].node : affinity->all[i].cpu) == wanted)
			CPU_SET_S((size_t)affinity->all[i].cpu, bytes, set);
	if (sched_setaffinity(0, bytes, set) == 0)
		affinity->current = wanted;
	CPU_FREE(set);
}
