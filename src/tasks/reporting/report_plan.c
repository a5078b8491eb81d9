/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_plan.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/word_list.h"

#define DEFAULT_SORT "comm,dso,symbol"
#define BRANCH_SORT  "comm,dso_from,symbol_from,symbol_to,cycles"
#define MEMORY_SORT                                                                               \
	"local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat," \
	"local_p_stage_cyc"
#define WAKERS_SORT    "comm,state,symbol,waker"
#define HISTORY_SORT   "srcline,symbol,dso,callchain_branch_predicted,callchain_branch_abort,callchain_branch_cycles"
#define DEFAULT_PARENT "^sys_|^do_page_fault"

static bool report_plan_lists_key(const enum profile_key *keys, size_t count, enum profile_key key)
{
	for (size_t i = 0; i < count; i++) {
		if (keys[i] == key)
			return true;
	}
	return false;
}

static void report_plan_add_key(enum profile_key *keys, size_t *count, enum profile_key key)
{
	if (*count < REPORT_MAX_COLUMNS && !report_plan_lists_key(keys, *count, key))
		keys[(*count)++] = key;
}

/* Returns the key without its braces, and adds the number of opened ones to *depth. In "{comm,dso},sym", the keys in
 * braces share a level of a hierarchy. Without a hierarchy, braces have no effect. */
static struct tally_str without_braces(struct tally_str part, int *depth)
{
	int opened = 0, closed = 0;
	part = str_trim(part);
	for (; part.len && part.data[0] == '{'; opened++)
		part = str_trim((struct tally_str){part.data + 1, part.len - 1});
	for (; part.len && part.data[part.len - 1] == '}'; closed++)
		part = str_trim((struct tally_str){part.data, part.len - 1});
	*depth += opened - closed;
	return part;
}

struct key_list {
	enum profile_key keys[REPORT_MAX_COLUMNS];
	size_t count;
	bool is_joined[REPORT_MAX_COLUMNS]; /* Set if the key shares the level of the previous key in a hierarchy. */
};

struct key_parser {
	const char *option; /* Name of the option in messages. */
	enum profile_key_mode mode;
	struct report_fields *fields; /* NULL if fields of tracepoints are not allowed as keys. */
	bool are_fields; /* Set for --fields, where some names mean averages or shares instead of sort keys. */
};

static enum tally_status add_typed_key(
	const struct key_parser *parser, struct tally_str text, struct key_list *list, struct tally_error *err)
{
	enum profile_key key;
	/* A field's name has precedence over an abbreviated key: "ret" is the field of system calls, not
	 * retire_lat. */
	uint32_t found = parser->fields && !profile_key_is_name(text) ? report_fields_find(parser->fields, text) : 0;
	if (!found && profile_key_find(text, &key)) {
		if (profile_key_get(key)->mode != KEY_MODE_ANY && profile_key_get(key)->mode != parser->mode)
			return error_set(
				err, TALLY_INVALID, "Invalid %s key: `%.*s'", parser->option, (int)text.len, text.data);
		report_plan_add_key(list->keys, &list->count, parser->are_fields ? profile_key_as_field(key) : key);
		return TALLY_OK;
	}
	for (unsigned i = 0; i < PROFILE_MAX_FIELDS; i++)
		if (found >> i & 1)
			report_plan_add_key(list->keys, &list->count, (enum profile_key)(KEY_FIELD + i));
	if (found)
		return TALLY_OK;
	const char *nearest = profile_key_nearest(text);
	return error_set(err, TALLY_INVALID, "Unknown %s key: `%.*s'%s%s%s", parser->option, (int)text.len, text.data,
		nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Takes the next key from a list. Keys are separated by commas or blanks. */
static bool report_plan_next_key(struct tally_str *rest, struct tally_str *key)
{
	size_t len = 0;
	while (len < rest->len && !strchr(", ", rest->data[len]))
		len++;
	bool has_more = rest->len > 0;
	*key = (struct tally_str){rest->data, len};
	size_t used = len < rest->len ? len + 1 : len;
	*rest = (struct tally_str){rest->data + used, rest->len - used};
	return has_more;
}

static enum tally_status parse_keys(
	const struct key_parser *parser, const char *text, struct key_list *list, struct tally_error *err)
{
	struct tally_str rest = str_from(text), part;
	enum tally_status status = TALLY_OK;
	int depth = 0;
	while (status == TALLY_OK && report_plan_next_key(&rest, &part)) {
		size_t first = list->count;
		bool is_inside = depth > 0;
		part = without_braces(part, &depth);
		if (part.len)
			status = add_typed_key(parser, part, list, err);
		/* Several keys for one word also share a level. */
		for (size_t i = first; i < list->count; i++)
			list->is_joined[i] = is_inside || i > first;
	}
	return status;
}

/* Returns whether -F adds columns to the default ones (-F +KEY,...). */
static bool adds_fields(const struct report_plan *p)
{
	return p->request->rows.fields && *p->request->rows.fields == '+';
}

/* Returns whether -s contains latency or latency_children, which replace the default overhead columns. */
static bool names_latency(const struct report_plan *p, const struct key_list *sort)
{
	return !p->request->rows.by_latency &&
	       (report_plan_lists_key(sort->keys, sort->count, KEY_LATENCY) ||
		       report_plan_lists_key(sort->keys, sort->count, KEY_LATENCY_CHILDREN));
}

static void add_overhead_columns(struct report_plan *p, const struct key_list *sort)
{
	static const enum profile_key places[] = {
		KEY_LATENCY_CHILDREN, KEY_OVERHEAD_CHILDREN, KEY_OVERHEAD, KEY_LATENCY};
	for (size_t i = 0; names_latency(p, sort) && i < ARRAY_LEN(places); i++)
		if (report_plan_lists_key(sort->keys, sort->count, places[i]))
			report_plan_add_key(p->columns, &p->column_count, places[i]);
	if (names_latency(p, sort))
		return;
	if (p->with_children && p->request->rows.by_latency)
		report_plan_add_key(p->columns, &p->column_count, KEY_LATENCY_CHILDREN);
	if (p->with_children)
		report_plan_add_key(p->columns, &p->column_count, KEY_OVERHEAD_CHILDREN);
	if (p->request->rows.by_latency)
		report_plan_add_key(p->columns, &p->column_count, KEY_LATENCY);
	report_plan_add_key(p->columns, &p->column_count, KEY_OVERHEAD);
}

static void add_value_columns(struct report_plan *p, const struct key_list *sort)
{
	add_overhead_columns(p, sort);
	if (p->request->look.shows_modes) {
		report_plan_add_key(p->columns, &p->column_count, KEY_OVERHEAD_SYS);
		report_plan_add_key(p->columns, &p->column_count, KEY_OVERHEAD_US);
	}
	if (p->request->look.shows_samples)
		report_plan_add_key(p->columns, &p->column_count, KEY_SAMPLE);
	if (p->request->look.shows_period)
		report_plan_add_key(p->columns, &p->column_count, KEY_PERIOD);
}

static enum tally_status parse_sort(struct report_plan *p, const struct report_source *source, const char *default_sort,
	struct key_list *sort, struct tally_error *err)
{
	const struct report_rows *rows = &p->request->rows;
	struct key_parser parser = {"--sort", p->mode, source->fields, false};
	const char *typed = rows->sort && *rows->sort == '+' ? rows->sort + 1 : rows->sort;
	enum tally_status status = TALLY_OK;
	if (typed != rows->sort || (!typed && (!rows->fields || adds_fields(p) || p->request->chains.has_history)))
		status = parse_keys(&parser, default_sort, sort, err);
	if (status == TALLY_OK && typed)
		status = parse_keys(&parser, typed, sort, err);
	if (status != TALLY_OK)
		return status;
	/* perf adds the column of IPC if the list contains the text "symbol" anywhere. */
	bool has_symbol = typed ? strstr(typed, "symbol") != NULL : p->request->chains.has_history && !rows->by_memory;
	if (has_symbol)
		report_plan_add_key(sort->keys, &sort->count, p->mode == KEY_MODE_BRANCH ? KEY_IPC_LBR : KEY_IPC_NULL);
	if (p->request->samples.filters.parent)
		report_plan_add_key(sort->keys, &sort->count, KEY_PARENT);
	p->used_sort = typed != rows->sort || !typed ? default_sort : NULL;
	return TALLY_OK;
}

static bool is_joined(const struct key_list *list, enum profile_key key)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->keys[i] == key)
			return list->is_joined[i];
	}
	return false;
}

/* Each key has its own level, except for keys that share one. */
static void set_levels(struct report_plan *p, const struct key_list *sort)
{
	int level = -1;
	for (size_t i = 0; i < p->column_count; i++) {
		if (profile_key_get(p->columns[i])->is_value)
			continue;
		if (level < 0 || !is_joined(sort, p->columns[i]))
			level++;
		p->levels[i] = (uint8_t)level;
	}
}

static void add_value_order(struct report_plan *p, const struct key_list *sort)
{
	if (names_latency(p, sort))
		return;
	if (p->request->rows.by_latency && p->with_children)
		report_plan_add_key(p->order, &p->order_count, KEY_LATENCY_CHILDREN);
	if (p->request->rows.by_latency)
		report_plan_add_key(p->order, &p->order_count, KEY_LATENCY);
	if (p->with_children && !p->request->rows.by_latency &&
		!report_plan_lists_key(sort->keys, sort->count, KEY_OVERHEAD_CHILDREN))
		report_plan_add_key(p->order, &p->order_count, KEY_OVERHEAD_CHILDREN);
	if (!report_plan_lists_key(sort->keys, sort->count, KEY_OVERHEAD) &&
		!report_plan_lists_key(sort->keys, sort->count, KEY_LATENCY))
		report_plan_add_key(p->order, &p->order_count, KEY_OVERHEAD);
}

/* Returns whether a listed key is left out: a sum of children that was not computed, beside the default columns. It
 * stays with --no-children, and in an explicit list of columns (-F). */
static bool report_plan_is_dropped(const struct report_plan *p, enum profile_key key)
{
	bool is_of_children = key == KEY_OVERHEAD_CHILDREN || key == KEY_LATENCY_CHILDREN;
	bool is_beside = !p->request->rows.fields || adds_fields(p);
	return is_of_children && is_beside && !p->with_children && !p->request->rows.no_children;
}

/* Columns are the requested fields (or the default values, and fields added to them), followed by the sort keys. Rows
 * are ordered by the overheads, unless -F lists the columns, then by the sort keys, and then by the fields. */
static enum tally_status make_columns(
	struct report_plan *p, const struct report_source *source, const char *default_sort, struct tally_error *err)
{
	const struct report_rows *rows = &p->request->rows;
	struct key_list sort = {0}, fields = {0};
	struct key_parser parser = {"--fields", p->mode, NULL, true};
	enum tally_status status = parse_sort(p, source, default_sort, &sort, err);
	if (status == TALLY_OK && adds_fields(p) && !rows->fields[1])
		return error_set(err, TALLY_INVALID, "Invalid --fields key: `+'");
	if (status == TALLY_OK && rows->fields)
		status = parse_keys(&parser, rows->fields + adds_fields(p), &fields, err);
	if (status != TALLY_OK)
		return status;
	if (!rows->fields || adds_fields(p)) {
		add_value_columns(p, &sort);
		add_value_order(p, &sort);
	}
	for (size_t i = 0; i < fields.count; i++)
		if (!report_plan_is_dropped(p, fields.keys[i]))
			report_plan_add_key(p->columns, &p->column_count, fields.keys[i]);
	for (size_t i = 0; i < sort.count; i++) {
		if (report_plan_is_dropped(p, sort.keys[i]))
			continue;
		report_plan_add_key(p->columns, &p->column_count, sort.keys[i]);
		report_plan_add_key(p->order, &p->order_count, sort.keys[i]);
	}
	for (size_t i = 0; i < p->column_count; i++) {
		report_plan_add_key(p->order, &p->order_count, p->columns[i]);
		if (!profile_key_get(p->columns[i])->is_value)
			report_plan_add_key(p->keys, &p->key_count, p->columns[i]);
	}
	set_levels(p, &sort);
	for (size_t i = 0; rows->is_hierarchy && i < p->column_count; i++)
		if (profile_key_get(p->columns[i])->parts)
			return error_set(err, TALLY_UNSUPPORTED, "--hierarchy does not show shares by '%s'",
				profile_key_get(p->columns[i])->name);
	return TALLY_OK;
}

/* If a filter permits only one value of a column, the column is hidden, unless no column of a key would be left. As in
 * perf, the value is shown above the table. */
static void hide_constant_columns(struct report_plan *p)
{
	uint64_t hidden = 0;
	size_t left = 0;
	const enum profile_key keys[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		hidden |= report_request_only(p->request, keys[i]).len ? UINT64_C(1) << keys[i] : 0;
	for (size_t i = 0; i < p->key_count; i++)
		/* Keys after KEY_SYMBOL are never hidden. */
		left += p->keys[i] > KEY_SYMBOL || !(hidden >> p->keys[i] & 1);
	if (!left)
		return;
	p->hidden_columns = hidden;
	/* Rows of callers may have other values in hidden columns, which must not affect the order. */
	size_t count = p->order_count;
	p->order_count = 0;
	for (size_t i = 0; i < count; i++)
		if (p->order[i] > KEY_SYMBOL || !(hidden >> p->order[i] & 1))
			p->order[p->order_count++] = p->order[i];
}

static void set_mode(struct report_plan *p, const struct report_source *source)
{
	const struct report_rows *rows = &p->request->rows;
	bool by_branch = rows->branches == BRANCHES_ALWAYS ||
			 (rows->branches == BRANCHES_IF_RECORDED && source->has_branches && !source->branches_are_late);
	p->mode = rows->by_memory				 ? KEY_MODE_MEMORY
		  : by_branch && !p->request->chains.has_history ? KEY_MODE_BRANCH
								 : KEY_MODE_ANY;
}

static const char *default_sort_of(const struct report_plan *p, const struct report_source *source)
{
	const struct report_rows *rows = &p->request->rows;
	if (p->mode == KEY_MODE_MEMORY)
		return MEMORY_SORT;
	if (p->request->chains.has_history && !rows->sort)
		return HISTORY_SORT;
	if (p->mode == KEY_MODE_BRANCH)
		return BRANCH_SORT;
	if (rows->wakers)
		return WAKERS_SORT;
	if (source->is_all_tracepoints)
		return rows->raw_traces ? "trace_fields" : "trace";
	return rows->default_sort ? rows->default_sort : DEFAULT_SORT;
}

/* Returns whether all values precede the keys: each level of a hierarchy shows its sums before its key. */
static bool values_lead(const struct report_plan *p)
{
	bool was_value = true;
	for (size_t i = 0; i < p->column_count; i++) {
		bool is_value = profile_key_get(p->columns[i])->is_value;
		if (is_value ? !was_value : i == 0)
			return false;
		was_value = is_value;
	}
	return !was_value;
}

static bool has_type_key(const char *list)
{
	struct tally_str rest, word;
	enum profile_key key;
	bool has = false;
	list += *list == '+';
	rest = str_from(list);
	while (word_list_next(list, &rest, &word))
		has = has || (profile_key_find(word, &key) &&
				     (key == KEY_TYPE || key == KEY_TYPE_OFFSET || key == KEY_TYPE_CACHELINE));
	return has;
}

/* Returns whether a key is about data types. Callers do not access the data, so such rows are made of the samples'
 * own frames only. */
static bool asks_for_types(const struct report_plan *p)
{
	const struct report_rows *rows = &p->request->rows;
	return (rows->sort && has_type_key(rows->sort)) || (rows->fields && has_type_key(rows->fields));
}

static void set_chains(struct report_plan *p, const struct report_source *source)
{
	const struct report_rows *rows = &p->request->rows;
	const struct report_chains *typed = &p->request->chains;
	bool has_chains = source->has_chains, no_children = rows->no_children;
	p->with_history = source->has_branches &&
			  (typed->has_history || (typed->have_branches && has_chains && p->mode != KEY_MODE_BRANCH));
	/* Callers do not access data or take branches, so rows of accesses and branches have only samples' own frames.
	 * Rows of branches have no chains, because a sample's chain does not belong to its branches. */
	bool is_own = p->mode != KEY_MODE_ANY || asks_for_types(p) || rows->wakers;
	bool shows_chains = (has_chains && p->mode != KEY_MODE_BRANCH) || p->with_history;
	p->with_chains = shows_chains && typed->look.style != CHAIN_NONE;
	p->is_by_address = typed->is_by_address || typed->has_history;
	p->is_by_line = typed->is_by_line && !typed->has_history;
	/* perf decides about children before it has read the call chains of a pipe, but about the order of callers
	 * afterwards. */
	p->with_children = has_chains && !source->is_pipe && !no_children && !rows->is_hierarchy && !is_own;
	bool leads_by_default = (has_chains || p->with_history) && !no_children && !rows->wakers;
	p->is_caller_first = typed->is_inverted || (typed->order_is_set ? typed->is_caller_first : leads_by_default);
	p->chains = typed->look;
	p->chains.skips_first = rows->sort && !rows->fields && !strncmp(rows->sort, "sym", 3);
	if (p->request->look.separator)
		p->chains.separator = p->request->look.separator;
}

static enum tally_status report_plan_check(const struct report_plan *p, struct tally_error *err)
{
	const struct report_rows *rows = &p->request->rows;
	const struct report_chains *chains = &p->request->chains;
	if (rows->is_hierarchy && rows->fields && rows->sort)
		return error_set(
			err, TALLY_INVALID, "--hierarchy takes its levels from --sort or from --fields, not from both");
	if (rows->is_hierarchy && rows->fields && !values_lead(p))
		return error_set(err, TALLY_INVALID, "with --hierarchy, --fields lists values before sort keys");
	bool needs_history = report_plan_has_key(p, KEY_CHAIN_PREDICTED) || report_plan_has_key(p, KEY_CHAIN_ABORTS) ||
			     report_plan_has_key(p, KEY_CHAIN_CYCLES);
	if (needs_history && !chains->has_history && !chains->have_branches)
		return error_set(err, TALLY_INVALID, "the keys callchain_branch_... need --branch-history");
	return TALLY_OK;
}

enum tally_status report_plan_make(const struct report_request *request, const struct report_source *source,
	struct report_plan *plan, struct tally_error *err)
{
	struct report_plan made = {.request = request, .filters = request->samples.filters};
	made.filters.parallelism = source->parallelism;
	made.filters.parallelism_limit = source->parallelism ? LIMIT_CPUS : 0;
	set_mode(&made, source);
	made.joins_events = request->groups.are_joined && !source->has_groups;
	set_chains(&made, source);
	enum tally_status status = make_columns(&made, source, default_sort_of(&made, source), err);
	if (status == TALLY_OK && !request->rows.is_hierarchy)
		hide_constant_columns(&made);
	if (status == TALLY_OK)
		status = report_plan_check(&made, err);
	if (report_plan_has_key(&made, KEY_PARENT) && !made.filters.parent)
		made.filters.parent = DEFAULT_PARENT;
	made.shows_children = report_plan_lists_key(made.columns, made.column_count, KEY_OVERHEAD_CHILDREN);
	if (status == TALLY_OK)
		*plan = made;
	return status;
}

bool report_plan_has_key(const struct report_plan *p, enum profile_key key)
{
	return report_plan_lists_key(p->keys, p->key_count, key);
}

bool report_plan_has_form(const struct report_plan *p, enum profile_key_form form)
{
	for (size_t i = 0; i < p->key_count; i++) {
		if (profile_key_get(p->keys[i])->form == form)
			return true;
	}
	return false;
}

uint64_t report_plan_facets(const struct report_plan *p)
{
	uint64_t facets = 0;
	for (size_t i = 0; i < p->key_count; i++) {
		enum profile_key key = p->keys[i];
		enum profile_key_form form = (enum profile_key_form)profile_key_get(key)->form;
		if (form != KEY_FORM_ROW && form != KEY_FORM_NOTHING)
			facets |= UINT64_C(1) << profile_key_facet(key);
	}
	for (size_t i = 0; i < p->column_count; i++)
		if (profile_key_get(p->columns[i])->is_average || profile_key_get(p->columns[i])->is_duration ||
			profile_key_get(p->columns[i])->parts)
			facets |= UINT64_C(1) << profile_key_facet(p->columns[i]);
	if (p->request->selection.parallelism || report_plan_lists_key(p->columns, p->column_count, KEY_LATENCY) ||
		report_plan_lists_key(p->columns, p->column_count, KEY_LATENCY_CHILDREN))
		facets |= UINT64_C(1) << FACET_PARALLELISM;
	return facets;
}

void report_plan_print_sort(const struct report_plan *p, struct text *t)
{
	const char *typed = p->request->rows.sort && *p->request->rows.sort == '+' ? p->request->rows.sort + 1
										   : p->request->rows.sort;
	text_str(t, p->used_sort ? p->used_sort : "");
	text_str(t, p->used_sort && typed ? "," : "");
	text_str(t, typed ? typed : "");
	text_str(t, report_plan_lists_key(p->keys, p->key_count, KEY_IPC_NULL) ? ",ipc_null" : "");
}
