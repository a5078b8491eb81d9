/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/list/list_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/text.h"
#include "kernel/events/event_listing.h"
#include "kernel/metrics/metric_machine.h"

#define GROUPS_MAX 64 /* Maximum number of metric groups; the table has ten. */

/* A metric, and whether its events can be opened on this machine. */
struct list_metrics_found {
	const struct metric *metric;
	bool opens;
	struct tally_error why_not;
};

bool list_metrics_init(struct list_metrics *list, struct event_catalogue *catalogue)
{
	*list = (struct list_metrics){.catalogue = catalogue};
	list->wanted = calloc(metric_table_len, sizeof(*list->wanted));
	return list->wanted != NULL;
}

void list_metrics_deinit(struct list_metrics *list)
{
	free(list->wanted);
	list->wanted = NULL;
}

static bool list_metrics_is_first_of_name(size_t row)
{
	return row == 0 || strcmp(metric_table[row - 1].name, metric_table[row].name) != 0;
}

static bool list_metrics_matches(const char *pattern, const char *name)
{
	char low_pattern[128], low_name[128];
	const char *const from[] = {pattern, name};
	char *const to[] = {low_pattern, low_name};
	for (size_t n = 0; n < 2; n++) {
		size_t i = 0;
		for (; from[n][i] && i < sizeof(low_name) - 1; i++)
			to[n][i] = from[n][i] >= 'A' && from[n][i] <= 'Z' ? (char)(from[n][i] - 'A' + 'a') : from[n][i];
		to[n][i] = '\0';
	}
	return str_glob(str_from(low_pattern), str_from(low_name));
}

void list_metrics_want(struct list_metrics *list, const char *pattern)
{
	for (size_t i = 0; i < metric_table_len; i++)
		if (list_metrics_is_first_of_name(i) && list_metrics_matches(pattern, metric_table[i].name))
			list->wanted[i] = true;
}

bool list_metrics_has_any(const struct list_metrics *list)
{
	for (size_t i = 0; i < metric_table_len; i++)
		if (list->wanted[i])
			return true;
	return false;
}

static bool event_opens(struct list_metrics *list, const char *name, struct tally_error *why)
{
	struct event_listing listing;
	struct event_opening opening;
	const struct listed_event event = {.kind = strstr(name, "_time") ? LISTED_TOOL : LISTED_HARDWARE, .name = name};
	event_listing_init(&listing, list->catalogue);
	bool opens = event_opening_try(&listing, &event, true, &opening, why) == TALLY_OK && opening.opens;
	if (!opens && opening.reason.len > 0)
		snprintf(why->text, sizeof(why->text), "%.*s", (int)opening.reason.len, opening.reason.data);
	event_opening_deinit(&opening);
	event_listing_deinit(&listing);
	return opens;
}

static struct list_metrics_found list_metrics_find(struct list_metrics *list, const char *name)
{
	struct metric_machine machine = {.catalogue = list->catalogue};
	struct metric_expr expr;
	struct list_metrics_found found = {.opens = true};
	found.metric = metric_machine_find(&machine, name, &expr, &found.why_not);
	if (!found.metric) {
		found.opens = false;
		return found;
	}
	for (size_t i = 0; i < expr.name_count && found.opens; i++)
		found.opens = event_opens(list, expr.names[i], &found.why_not);
	metric_expr_deinit(&expr);
	return found;
}

/* Finds the next selected metric to be shown, starting at *row. */
static bool list_metrics_next(struct list_metrics *list, size_t *row, struct list_metrics_found *found)
{
	for (; *row < metric_table_len; (*row)++) {
		if (!list->wanted[*row])
			continue;
		*found = list_metrics_find(list, metric_table[*row].name);
		if (found->opens || list->shows_all) {
			if (!found->metric)
				found->metric = &metric_table[*row];
			(*row)++;
			return true;
		}
		if (list->left_out++ == 0)
			snprintf(list->why_left_out, sizeof(list->why_left_out), "%.*s",
				(int)sizeof(list->why_left_out) - 1, found->why_not.text);
	}
	return false;
}

void list_metrics_print(struct list_metrics *list, struct text *text)
{
	struct list_metrics_found found;
	size_t row = 0;
	text_str(text, "\nMetrics:\n\n");
	while (list_metrics_next(list, &row, &found)) {
		text_printf(text, "  %s\n", found.metric->name);
		if (list->has_descriptions)
			text_printf(text, "       [%s]\n", found.metric->description);
		if (list->has_details)
			text_printf(text, "        %s\n", found.metric->expression);
		if (!found.opens)
			text_printf(text, "        does not open here: %s\n", found.why_not.text);
	}
}

bool list_metrics_names(struct list_metrics *list, bool is_first, struct text *text)
{
	struct list_metrics_found found;
	size_t row = 0;
	while (list_metrics_next(list, &row, &found)) {
		text_printf(text, "%s%s", is_first ? "" : " ", found.metric->name);
		is_first = false;
	}
	return !is_first;
}

static void list_metrics_put_string(struct json *json, const char *name, struct text *value)
{
	json_string(json, name, text_view(value));
	text_clear(value);
}

void list_metrics_json(struct list_metrics *list, struct json *json)
{
	struct list_metrics_found found;
	struct text value = {0};
	size_t row = 0;
	list->shows_all = true;
	while (list_metrics_next(list, &row, &found)) {
		const struct metric *m = found.metric;
		json_object(json, NULL);
		json_string(json, "MetricGroup", str_from(m->groups));
		json_string(json, "MetricName", str_from(m->name));
		json_string(json, "MetricExpr", str_from(m->expression));
		if (m->threshold_sign) {
			text_printf(&value, "%s %c %g", m->name, m->threshold_sign, m->threshold);
			list_metrics_put_string(json, "MetricThreshold", &value);
		}
		if (*m->unit) {
			text_printf(&value, "%g%s", m->scale, m->unit);
			list_metrics_put_string(json, "ScaleUnit", &value);
		}
		json_string(json, "BriefDescription", str_from(m->description));
		json_bool(json, "Opens", found.opens);
		if (!found.opens)
			json_string(json, "WhyNot", str_from(found.why_not.text));
		json_object_end(json);
	}
	text_deinit(&value);
}

static int list_metrics_by_name(const void *a, const void *b)
{
	const struct tally_str *x = a, *y = b;
	int c = strncmp(x->data, y->data, MIN(x->len, y->len));
	return c ? c : COMPARE(x->len, y->len);
}

/* Collects the groups of the metrics to be shown, sorted by name, and returns their number. */
static size_t metric_groups_find(struct list_metrics *list, struct tally_str groups[GROUPS_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < metric_table_len; i++) {
		struct tally_str rest = str_from(metric_table[i].groups), group;
		if (!list_metrics_is_first_of_name(i) ||
			(!list_metrics_find(list, metric_table[i].name).opens && !list->shows_all))
			continue;
		while (str_next(&rest, ';', &group)) {
			size_t known = 0;
			while (known < count && !str_equal(groups[known], group))
				known++;
			if (known == count && count < GROUPS_MAX)
				groups[count++] = group;
		}
	}
	qsort(groups, count, sizeof(*groups), list_metrics_by_name);
	return count;
}

bool list_metric_groups_names(struct list_metrics *list, bool is_first, struct text *text)
{
	struct tally_str groups[GROUPS_MAX];
	size_t count = metric_groups_find(list, groups);
	for (size_t i = 0; i < count; i++)
		text_printf(text, "%s%.*s", i || !is_first ? " " : "", (int)groups[i].len, groups[i].data);
	return count > 0 || !is_first;
}

void list_metric_groups_print(struct list_metrics *list, struct text *text)
{
	struct tally_str groups[GROUPS_MAX];
	size_t count = metric_groups_find(list, groups);
	text_str(text, "\nMetric Groups:\n\n");
	for (size_t i = 0; i < count; i++)
		text_printf(text, "%.*s\n", (int)groups[i].len, groups[i].data);
}
