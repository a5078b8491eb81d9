/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/memory_events.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/error.h"
#include "kernel/events/pmu.h"

static bool memory_events_has_event(const struct kernel_seam *kernel, const struct pmu *pmu, struct tally_str name)
{
	struct pmu_alias alias;
	if (pmu_alias_find(kernel, pmu, name, &alias, NULL) != TALLY_OK)
		return false;
	pmu_alias_deinit(&alias);
	return true;
}

static enum tally_status add_loads(const struct kernel_seam *kernel, const struct pmu *pmu, uint64_t least_latency,
	struct text *events, struct tally_error *err)
{
	struct perf_attr scratch = {0};
	enum tally_status status = pmu_term_set(kernel, pmu, STR("ldlat"), least_latency, &scratch, err);
	bool has_aux = memory_events_has_event(kernel, pmu, STR("mem-loads-aux"));
	if (status != TALLY_OK && status != TALLY_NOT_FOUND)
		return status;
	text_str(events, events->len ? "," : "");
	if (has_aux)
		text_printf(events, "{%s/mem-loads-aux/P,", pmu->name);
	text_printf(events, "%s/mem-loads", pmu->name);
	if (status == TALLY_OK)
		text_printf(events, ",ldlat=%" PRIu64, least_latency);
	text_str(events, has_aux ? "/P}" : "/P");
	return TALLY_OK;
}

enum tally_status memory_events_find(const struct kernel_seam *kernel, const struct memory_event_request *request,
	struct text *events, struct tally_error *err)
{
	struct arena arena;
	struct pmu *pmus = NULL;
	size_t count = 0;
	arena_init(&arena);
	enum tally_status status = pmu_load_all(kernel, &arena, &pmus, &count, err);
	for (size_t i = 0; i < count && status == TALLY_OK; i++) {
		const struct pmu *pmu = &pmus[i];
		if (!pmu->is_core)
			continue;
		if (request->loads && memory_events_has_event(kernel, pmu, STR("mem-loads")))
			status = add_loads(kernel, pmu, request->least_latency, events, err);
		if (status == TALLY_OK && request->stores && memory_events_has_event(kernel, pmu, STR("mem-stores")))
			text_printf(events, "%s%s/mem-stores/P", events->len ? "," : "", pmu->name);
	}
	if (status == TALLY_OK && events->len == 0 && pmu_find(pmus, count, STR("ibs_op")))
		text_str(events, "ibs_op//");
	if (status == TALLY_OK && events->len == 0)
		status = error_set(err, TALLY_NOT_FOUND,
			"failed: no PMU supports the memory events: /sys/bus/event_source/devices has neither "
			"mem-loads nor mem-stores of a CPU, nor ibs_op");
	text_char(events, 0);
	arena_deinit(&arena);
	return status == TALLY_OK && events->failed ? error_nomem(err) : status;
}
