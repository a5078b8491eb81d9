/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/recording/wait_filter.h"

#include "base/error.h"
#include "kernel/events/event_gates.h"
#include "kernel/events/sample_filter.h"

static const char *wait_filter_instead(enum sample_filter_term term)
{
	switch ((int)term) {
	case FILTER_CPU:
		return ": choose CPUs with -C";
	case FILTER_UID:
		return ": choose the user with -u";
	case FILTER_CGROUP:
		return ": choose the cgroup with -G";
	default:
		return "; filter by tid or pid, or use 'report' with -S, --comm or --time";
	}
}

static enum tally_status wait_filter_check(const struct sample_filter_list *conditions, struct tally_error *err)
{
	for (size_t i = 0; i < conditions->count; i++) {
		enum sample_filter_term term = (enum sample_filter_term)conditions->items[i].term;
		if (term != FILTER_TID && term != FILTER_PID)
			return error_set(err, TALLY_INVALID,
				"--filter: waits (--wall) have no '%s' to filter by, so the CPU samples alone would be "
				"filtered%s",
				sample_filter_term_name(term), wait_filter_instead(term));
	}
	return TALLY_OK;
}

enum tally_status wait_filter_init(struct wait_filter *filter, const struct event_list *events, bool is_wall,
	struct diag *diag, struct tally_error *err)
{
	enum tally_status status = TALLY_OK;
	*filter = (struct wait_filter){0};
	for (size_t i = 0; status == TALLY_OK && i < events->len; i++) {
		const struct event_spec *spec = &events->specs[i];
		if (!spec->sample_filter || spec->sample_filter->count == 0 || event_is_waits(spec))
			continue;
		if (!is_wall)
			diag_add(diag, DIAG_NOTE,
				"--filter holds for samples of %s: waits (--off-cpu) are not filtered", spec->name);
		else
			status = wait_filter_check(spec->sample_filter, err);
		if (is_wall && !filter->conditions)
			filter->conditions = spec->sample_filter;
	}
	return status;
}

static bool wait_filter_holds(const struct sample_filter_item *item, uint32_t pid, uint32_t tid)
{
	uint64_t field = item->term == FILTER_TID ? tid : pid;
	switch ((enum sample_filter_operator)item->op) {
	case FILTER_EQUAL:
		return field == item->value;
	case FILTER_NOT_EQUAL:
		return field != item->value;
	case FILTER_GREATER:
		return field > item->value;
	case FILTER_GREATER_EQUAL:
		return field >= item->value;
	case FILTER_LESS:
		return field < item->value;
	case FILTER_LESS_EQUAL:
		return field <= item->value;
	case FILTER_ANY_BIT:
		return (field & item->value) != 0;
	}
	return false;
}

bool wait_filter_passes(const struct wait_filter *filter, uint32_t pid, uint32_t tid)
{
	bool passes = true;
	/* Consecutive alternatives are a group, of which at least one must hold. All groups must hold. */
	for (size_t i = 0; filter->conditions && i < filter->conditions->count; i++) {
		const struct sample_filter_item *item = &filter->conditions->items[i];
		if (!item->is_alternative && !passes)
			return false;
		bool holds = wait_filter_holds(item, pid, tid);
		passes = item->is_alternative ? passes || holds : holds;
	}
	return passes;
}
