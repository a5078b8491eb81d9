#include "view/text/annotate_lines.h"

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

double annotate_percent_of(
	const struct annotate_function *function, enum annotate_percent kind, uint32_t values, uint32_t event)
{
	if (values == ANNOTATE_NONE)
		return 0;
	const struct annotate_value *value = &function->values[values + event];
	const struct annotate_event *of = &function->events[event];
	switch (kind) {
	case ANNOTATE_LOCAL_PERIOD:
		return share(value->period, of->function.period);
	case ANNOTATE_GLOBAL_PERIOD:
		return share(value->period, of->whole.period);
	case ANNOTATE_LOCAL_HITS:
		return share(value->count, of->function.count);
	case ANNOTATE_GLOBAL_HITS:
		break;
	}
	return share(value->count, of->whole.count);
}

double annotate_hottest(const struct annotate_function *function, enum annotate_percent kind, uint32_t values)
{
	double hottest = 0;
	for (uint32_t i = 0; i < function->event_count; i++) {
		double percent = annotate_percent_of(function, kind, values, i);
		hottest = percent > hottest ? percent : hottest;
	}
	return hottest;
}

const char *annotate_percent_name(enum annotate_percent kind)
{
	switch (kind) {
	case ANNOTATE_LOCAL_PERIOD:
		return "local period";
	case ANNOTATE_GLOBAL_PERIOD:
		return "global period";
	case ANNOTATE_LOCAL_HITS:
		return "local hits";
	case ANNOTATE_GLOBAL_HITS:
		break;
	}
	return "global hits";
}
