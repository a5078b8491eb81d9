/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_tables.h"

#include "base/error.h"
#include "base/limits.h"
#include "view/tui/level_tree.h"

struct report_text_options report_tables_options(const struct report_plan *p)
{
	const struct report_request *r = p->request;
	struct report_text_options options = {
		.columns = p->columns,
		.column_count = p->column_count,
		.widths = r->look.widths,
		.width_count = r->rows.is_hierarchy ? 0 : r->look.width_count,
		.has_object_filter = r->samples.filters.dsos != NULL,
		.separator = r->look.separator,
		.percent_limit = r->look.percent_limit,
		.is_relative = r->look.is_relative,
		.is_quiet = r->is_quiet,
		.with_children = p->shows_children,
		.with_colours = r->look.colours,
		.hidden_columns = p->hidden_columns,
		.times_in_ns = r->look.times_in_ns,
		.is_verbose = r->is_verbose,
		.chains = p->chains,
	};
	options.chains.with_colours = r->look.colours;
	if (!p->with_chains)
		options.chains.style = CHAIN_NONE;
	return options;
}

uint32_t report_tables_members(const struct report_tables *tables, uint32_t first)
{
	const struct profile *p = tables->profile;
	if (tables->plan->joins_events)
		return (uint32_t)p->event_count - first;
	uint32_t members = p->events[first].member_count;
	if (tables->plan->request->groups.are_split || members < 2 || members > p->event_count - first)
		return 1;
	return members;
}

uint32_t report_tables_find(const struct report_tables *tables, uint32_t event)
{
	const struct profile *p = tables->profile;
	while (event < p->event_count) {
		uint32_t count = report_tables_members(tables, event);
		uint64_t samples = 0;
		for (uint32_t m = 0; m < count; m++)
			samples += p->events[event + m].sample_count;
		if (samples || tables->plan->request->look.keeps_empty)
			break;
		event += count;
	}
	return event;
}

bool report_tables_is_shown(const struct report_tables *tables, const struct flat_table *table)
{
	uint64_t samples = 0;
	for (uint32_t m = 0; m < table->options.member_count; m++)
		samples += table->totals[m].count;
	return samples || tables->plan->request->look.keeps_empty;
}

/* Returns the share of the total below which rows get no call graph, or 0 if the threshold depends on the row, or may
 * be changed interactively. */
static double least_chain_share(const struct report_plan *p)
{
	bool is_fixed = p->chains.style != CHAIN_FRACTAL && !p->request->output.is_interactive && !p->with_history;
	return is_fixed ? p->chains.min_percent / 100 : 0;
}

static bool shows_levels(const struct report_plan *p)
{
	for (size_t i = 0; i < p->column_count; i++)
		if (p->columns[i] >= KEY_OVERHEAD_SYS && p->columns[i] <= KEY_OVERHEAD_GUEST_US)
			return true;
	return false;
}

enum tally_status report_tables_make(const struct report_tables *tables, uint32_t first, uint32_t count,
	struct flat_table *table, struct tally_error *err)
{
	const struct report_plan *p = tables->plan;
	const struct report_request *r = p->request;
	struct flat_options options = {
		.keys = p->keys,
		.key_count = p->key_count,
		.first_event = first,
		.member_count = count,
		.sort_member = r->groups.sort_index < UINT32_MAX ? (uint32_t)r->groups.sort_index : UINT32_MAX,
		.with_children = p->with_children,
		.with_chains = p->with_chains || p->with_history,
		.min_chain_share = least_chain_share(p),
		.with_branches = p->with_history && r->chains.has_history,
		.is_caller_first = p->is_caller_first,
		.is_chain_by_address = p->is_by_address,
		.is_chain_by_line = p->is_by_line,
		.hides_unresolved = r->rows.hides_unresolved,
		.with_levels = shows_levels(p),
		.by_paths = r->is_verbose,
		.is_leaf_raw = p->mode == KEY_MODE_BRANCH,
		.max_stack = p->with_history ? 0 : r->chains.max_stack,
		.without_callers = !p->with_history && r->chains.max_stack == 0,
		.filter = tables->filter,
		.cpu_passes = tables->cpus,
		.cpu_limit = tables->cpus ? LIMIT_CPUS : 0,
	};
	enum tally_status status = flat_table_init(table, tables->profile, &options, err);
	if (status != TALLY_OK)
		return status;
	if (report_tables_is_shown(tables, table))
		status = flat_table_sort(table, p->order, p->order_count, err);
	if (status != TALLY_OK)
		flat_table_deinit(table);
	return status;
}

/* Numbers the levels of the columns that this table has: a tracepoint without a field has no level for it. Returns
 * the number of levels. */
static unsigned fit_levels(
	const struct report_plan *p, const struct flat_table *table, uint8_t levels[REPORT_MAX_COLUMNS])
{
	int level = -1, before = -1;
	for (size_t i = 0; i < p->column_count; i++) {
		enum profile_key key = p->columns[i];
		if (profile_key_get(key)->is_value || !flat_table_has_key(table, key))
			continue;
		level += p->levels[i] != before;
		before = p->levels[i];
		levels[i] = (uint8_t)level;
	}
	return (unsigned)(level + 1);
}

static enum tally_status make_hierarchy(const struct report_plan *p, const struct flat_table *table,
	const uint8_t *levels, struct hierarchy *tree, struct tally_error *err)
{
	enum profile_key keys[REPORT_MAX_COLUMNS];
	uint8_t key_levels[REPORT_MAX_COLUMNS];
	struct hierarchy_options wanted = {
		.keys = keys, .levels = key_levels, .order = p->order, .order_count = p->order_count};
	for (size_t i = 0; i < p->column_count; i++) {
		enum profile_key key = p->columns[i];
		if (profile_key_get(key)->is_value || !flat_table_has_key(table, key))
			continue;
		keys[wanted.key_count] = key;
		key_levels[wanted.key_count++] = levels[i];
	}
	return hierarchy_init(tree, table, &wanted, err);
}

enum tally_status report_tables_order(struct flat_table *table, const struct report_text_options *options,
	enum profile_key key, uint32_t member, struct tally_error *err)
{
	enum profile_key columns[REPORT_MAX_COLUMNS];
	size_t count = 0;
	columns[count++] = key;
	for (size_t i = 0; i < options->column_count && count < REPORT_MAX_COLUMNS; i++)
		if (options->columns[i] != key)
			columns[count++] = options->columns[i];
	table->options.sort_member = member;
	return flat_table_sort(table, columns, count, err);
}

enum tally_status report_tree_init(struct report_tree *tree, const struct report_plan *plan,
	const struct flat_table *table, struct tally_error *err)
{
	*tree = (struct report_tree){0};
	unsigned level_count = fit_levels(plan, table, tree->levels);
	if (!plan->request->rows.is_hierarchy || level_count == 0)
		return TALLY_OK;
	enum tally_status status = make_hierarchy(plan, table, tree->levels, &tree->hierarchy, err);
	tree->is_made = status == TALLY_OK;
	return status;
}

void report_tree_deinit(struct report_tree *tree)
{
	if (tree->is_made)
		hierarchy_deinit(&tree->hierarchy);
	tree->is_made = false;
}

enum tally_status report_levels_init(struct flame_tree *tree, const struct report_plan *plan,
	const struct flat_table *table, struct tally_error *err)
{
	struct report_text_options options = report_tables_options(plan);
	struct report_tree levels;
	enum tally_status status = report_tree_init(&levels, plan, table, err);
	if (status == TALLY_OK && !levels.is_made)
		return error_set(err, TALLY_INVALID, "--hierarchy needs keys to sort by");
	if (status == TALLY_OK) {
		options.levels = levels.levels;
		status = level_tree_init(tree, &levels.hierarchy, &options, err);
	}
	report_tree_deinit(&levels);
	return status;
}
