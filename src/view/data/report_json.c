/* SPDX-License-Identifier: Apache-2.0 */
#include "view/data/report_json.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/vec.h"
#include "view/text/report_cells.h"

#define PERCENT_DECIMALS      4
#define REPORT_JSON_MAX_LEVEL REPORT_MAX_COLUMNS

struct json_printer {
	struct json *j;
	struct report_layout layout;
	struct call_tree_builder chains;
	struct call_tree_options chain_options;
	bool has_chains;
	uint64_t total;
	struct text cell; /* Buffer for the text of a key. */
	struct chain_place { /* The open nodes of the call chains, from the root on. */
		uint32_t node, next;
	} * path;
	size_t path_cap;
};

static void put_binary(struct json *j, const struct profile *p, uint32_t binary)
{
	if (binary == PROFILE_NONE)
		return;
	json_string(j, "dso", profile_string(p, p->binaries[binary].name));
	json_string(j, "path", profile_string(p, p->binaries[binary].long_name));
}

static void report_json_put_frame(struct json *j, const struct profile *p, uint32_t id)
{
	const struct profile_frame *frame = &p->frames[id];
	json_object(j, NULL);
	if (frame->function != PROFILE_NONE) {
		json_string(j, "symbol", profile_string(p, p->functions[frame->function].name));
		if (p->functions[frame->function].is_inlined)
			json_bool(j, "inlined", true);
	} else {
		json_hex(j, "address", frame->raw_address ? frame->raw_address : frame->address);
	}
	if (frame->binary != PROFILE_NONE)
		json_string(j, "dso", profile_string(p, p->binaries[frame->binary].name));
	json_object_end(j);
}

static double report_json_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void open_chain(struct json_printer *w, uint32_t index)
{
	const struct call_tree_node *node = &w->chains.nodes[index];
	json_object(w->j, NULL);
	json_array(w->j, "frames");
	for (uint32_t i = 0; i < node->frame_count; i++)
		report_json_put_frame(w->j, w->layout.profile, w->chains.frames[node->first_frame + i]);
	json_array_end(w->j);
	json_u64(w->j, "period", call_tree_node_period(node));
	json_u64(w->j, "samples", call_tree_node_count(node));
	json_fixed(w->j, "percent", report_json_percent(call_tree_node_period(node), w->total), PERCENT_DECIMALS);
	if (node->child_count)
		json_array(w->j, "children");
}

static void close_chain(struct json_printer *w, uint32_t index)
{
	if (w->chains.nodes[index].child_count)
		json_array_end(w->j);
	json_object_end(w->j);
}

static bool push_chain(struct json_printer *w, size_t *depth, uint32_t node)
{
	if (*depth + 1 > w->path_cap && !vec_grow(&w->path, &w->path_cap, sizeof(*w->path), *depth + 1))
		return false;
	w->path[(*depth)++] = (struct chain_place){node, 0};
	return true;
}

static enum tally_status report_json_put_chains(struct json_printer *w, uint32_t row, struct tally_error *err)
{
	size_t depth = 0;
	uint32_t limit = w->layout.options->chains.print_limit;
	if (!w->has_chains)
		return TALLY_OK;
	enum tally_status status = call_tree_build(&w->chains, row, &w->chain_options, err);
	if (status != TALLY_OK)
		return status;
	if (w->chains.nodes[0].child_count == 0)
		return TALLY_OK;
	json_array(w->j, "chains");
	if (!push_chain(w, &depth, 0))
		return error_nomem(err);
	while (depth) {
		struct chain_place *place = &w->path[depth - 1];
		const struct call_tree_node *node = &w->chains.nodes[place->node];
		if (place->next < node->child_count && (!limit || place->next < limit)) {
			uint32_t child = node->first_child + place->next++;
			open_chain(w, child);
			if (!push_chain(w, &depth, child))
				return error_nomem(err);
			continue;
		}
		if (place->node)
			close_chain(w, place->node);
		depth--;
	}
	json_array_end(w->j);
	return TALLY_OK;
}

static void report_json_put_parts(struct json_printer *w, const struct flat_stat *stat, enum profile_key key)
{
	const struct profile_key_info *info = profile_key_get(key);
	const uint64_t *sums = flat_table_parts(w->layout.table, stat, key);
	json_object(w->j, info->name);
	for (unsigned part = 0; info->parts[part]; part++)
		json_u64(w->j, info->parts[part], sums[part]);
	json_object_end(w->j);
}

static void put_stat(struct json_printer *w, const struct flat_stat *stat, uint32_t member)
{
	const struct report_layout *l = &w->layout;
	uint64_t total = report_member_total(l, member);
	json_object(w->j, NULL);
	json_u64(w->j, "samples", stat->count);
	json_u64(w->j, "period", stat->period);
	if (l->options->with_children)
		json_u64(w->j, "children_period", stat->children_period);
	for (size_t i = 0; i < l->count; i++) {
		const struct profile_key_info *info = profile_key_get(l->columns[i]);
		if (info->is_value && info->is_percent)
			json_fixed(w->j, info->name,
				report_json_percent(flat_stat_value(l->table, stat, l->columns[i]), total),
				PERCENT_DECIMALS);
		if (info->is_duration)
			json_u64(w->j, info->name, flat_stat_value(l->table, stat, l->columns[i]));
		if (info->is_average)
			json_fixed(w->j, info->name, (double)flat_stat_value(l->table, stat, l->columns[i]) / 1000, 3);
		if (info->parts && member == 0)
			report_json_put_parts(w, stat, l->columns[i]);
	}
	json_object_end(w->j);
}

static void report_json_put_symbol(struct json_printer *w, const struct flat_row *row)
{
	const struct profile *p = w->layout.profile;
	const struct profile_frame *frame = &p->frames[row->frame];
	char level[] = {(char)(row->level ? row->level : '?')};
	if (frame->function != PROFILE_NONE) {
		json_string(w->j, "symbol", profile_string(p, p->functions[frame->function].name));
		if (p->functions[frame->function].is_inlined)
			json_bool(w->j, "inlined", true);
	} else {
		json_hex(w->j, "address", row->address);
	}
	json_string(w->j, "level", (struct tally_str){level, 1});
}

/* Most keys have the text of the text report, without the blanks that align it. */
static void put_key(struct json_printer *w, size_t column, const struct flat_row *row)
{
	const struct report_layout *l = &w->layout;
	const struct profile *p = l->profile;
	const struct profile_thread *thread = &p->threads[row->thread];
	enum profile_key key = l->columns[column];
	switch ((int)key) {
	case KEY_PID:
		json_i64(w->j, "tid", thread->tid);
		json_string(w->j, "thread", profile_string(p, thread->last_comm));
		break;
	case KEY_TGID:
		json_i64(w->j, "pid", thread->pid);
		json_string(w->j, "process", profile_string(p, thread->process_comm));
		break;
	case KEY_COMM: /* The text report cuts it to the width of the thread's last name, as perf does. */
		json_string(w->j, "comm", profile_string(p, thread->comm));
		break;
	case KEY_CPU:
		json_i64(w->j, "cpu", row->cpu);
		break;
	case KEY_DSO:
		put_binary(w->j, p, p->frames[row->frame].binary);
		break;
	case KEY_SYMBOL:
		report_json_put_symbol(w, row);
		break;
	default:
		text_clear(&w->cell);
		report_key_cell(l, &w->cell, column, row);
		/* The recording names the fields of tracepoints. */
		json_string(w->j, key >= KEY_FIELD ? report_column_header(l, key) : profile_key_get(key)->name,
			str_trim((struct tally_str){w->cell.data, w->cell.len}));
	}
}

static void report_json_put_row(
	struct json_printer *w, const struct flat_row *row, const struct flat_stat *stats, uint32_t level, bool is_tree)
{
	const struct report_layout *l = &w->layout;
	w->layout.node = stats;
	for (size_t i = 0; i < l->count; i++) {
		if (profile_key_get(l->columns[i])->is_value || (is_tree && l->levels[i] != level))
			continue;
		put_key(w, i, row);
	}
	json_array(w->j, "values");
	for (uint32_t m = 0; m < l->table->options.member_count; m++)
		put_stat(w, flat_member_stat(l->table, stats, m), m);
	json_array_end(w->j);
}

static bool report_json_is_shown(const struct json_printer *w, const struct flat_stat *stats)
{
	const struct report_text_options *o = w->layout.options;
	uint64_t period = o->with_children ? stats->children_period : stats->period;
	return o->percent_limit <= 0 || report_json_percent(period, w->total) >= o->percent_limit;
}

static enum tally_status report_json_put_rows(struct json_printer *w, struct tally_error *err)
{
	const struct flat_table *t = w->layout.table;
	bool is_compact = w->j->is_compact;
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < t->shown_count && status == TALLY_OK; i++) {
		uint32_t row = t->order[i];
		const struct flat_stat *stats = flat_table_stat(t, row, 0);
		if (!report_json_is_shown(w, stats))
			continue;
		json_object(w->j, NULL);
		w->j->is_compact = true; /* Each row is a line. */
		report_json_put_row(w, &t->rows[row], stats, 0, false);
		status = report_json_put_chains(w, row, err);
		json_object_end(w->j);
		w->j->is_compact = is_compact;
		text_line_end(w->j->out);
	}
	return status;
}

static enum tally_status report_json_put_tree(
	struct json_printer *w, const struct hierarchy *tree, struct tally_error *err)
{
	struct {
		uint32_t next, end;
	} path[REPORT_JSON_MAX_LEVEL + 1] = {{0, tree->root_count}};
	bool is_compact = w->j->is_compact;
	enum tally_status status = TALLY_OK;
	for (size_t depth = 1; depth && status == TALLY_OK;) {
		if (path[depth - 1].next == path[depth - 1].end) {
			if (--depth) {
				json_array_end(w->j);
				json_object_end(w->j);
			}
			w->j->is_compact = is_compact || depth > 1;
			continue;
		}
		uint32_t index = path[depth - 1].next++;
		const struct hierarchy_node *node = &tree->nodes[index];
		if (!report_json_is_shown(w, hierarchy_stats(tree, index)))
			continue;
		json_object(w->j, NULL);
		w->j->is_compact = true; /* Everything below a node of the first level is on one line. */
		report_json_put_row(
			w, &w->layout.table->rows[node->row], hierarchy_stats(tree, index), node->level, true);
		if (node->child_count == 0 || depth == REPORT_JSON_MAX_LEVEL) {
			status = report_json_put_chains(w, node->row, err);
			json_object_end(w->j);
			w->j->is_compact = is_compact || depth > 1;
		} else {
			json_array(w->j, "rows");
			path[depth].next = node->first_child;
			path[depth++].end = node->first_child + node->child_count;
		}
		text_line_end(w->j->out);
	}
	return status;
}

static void report_json_put_events(struct json_printer *w)
{
	const struct flat_table *t = w->layout.table;
	json_array(w->j, "events");
	for (uint32_t m = 0; m < t->options.member_count; m++) {
		const struct profile_event *event = &w->layout.profile->events[t->options.first_event + m];
		json_object(w->j, NULL);
		json_string(w->j, "name", profile_string(w->layout.profile, event->name));
		json_u64(w->j, "samples", t->totals[m].count);
		json_u64(w->j, "period", t->totals[m].period);
		json_u64(w->j, "passed_samples", t->totals[m].passed_count);
		json_u64(w->j, "passed_period", t->totals[m].passed_period);
		json_object_end(w->j);
	}
	json_array_end(w->j);
}

static void put_columns(struct json_printer *w, const struct hierarchy *tree)
{
	const struct report_layout *l = &w->layout;
	json_array(w->j, "columns");
	for (size_t i = 0; i < l->count; i++) {
		const struct profile_key_info *info = profile_key_get(l->columns[i]);
		json_object(w->j, NULL);
		json_string(w->j, "name", str_from(info->name));
		json_string(w->j, "header", str_trim(str_from(report_column_header(l, l->columns[i]))));
		json_bool(w->j, "is_value", info->is_value);
		if (tree && !info->is_value)
			json_u64(w->j, "level", l->levels[i]);
		json_object_end(w->j);
	}
	json_array_end(w->j);
}

static enum tally_status report_json_prepare(struct json_printer *w, struct tally_error *err)
{
	const struct chain_options *chains = &w->layout.options->chains;
	report_layout_fit(&w->layout);
	w->total = report_member_total(&w->layout, 0);
	w->has_chains = chains->style != CHAIN_NONE && w->layout.table->options.with_chains;
	w->chain_options = (struct call_tree_options){
		.min_period = (uint64_t)((double)w->total * chains->min_percent / 100),
		.min_share = chains->min_percent / 100,
		.is_relative = chains->style == CHAIN_FRACTAL,
	};
	return w->has_chains ? call_tree_init(&w->chains, w->layout.table, err) : TALLY_OK;
}

enum tally_status report_json_table(struct json *j, const struct flat_table *table, const struct hierarchy *tree,
	const struct report_text_options *options, struct tally_error *err)
{
	struct report_text_options plain = *options;
	plain.widths = NULL;
	plain.width_count = 0;
	plain.separator = NULL;
	plain.with_colours = false;
	plain.hidden_columns = 0;
	struct json_printer w = {.j = j, .layout = {.table = table, .options = &plain, .profile = table->profile}};
	enum tally_status status = report_json_prepare(&w, err);
	if (status != TALLY_OK)
		return status;
	json_object(j, NULL);
	report_json_put_events(&w);
	json_bool(j, "is_relative", options->is_relative);
	json_bool(j, "is_hierarchy", tree != NULL);
	put_columns(&w, tree);
	json_array(j, "rows");
	status = tree ? report_json_put_tree(&w, tree, err) : report_json_put_rows(&w, err);
	json_array_end(j);
	json_object_end(j);
	call_tree_deinit(&w.chains);
	free(w.path);
	if (status == TALLY_OK && (j->out->failed || w.cell.failed))
		status = error_nomem(err);
	text_deinit(&w.cell);
	return status;
}
