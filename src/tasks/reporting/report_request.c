/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_request.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/word_list.h"

#define DEFAULT_MIN_PERCENT 0.5
#define DEFAULT_SORT	    "comm,dso,symbol"
#define BRANCH_SORT	    "comm,dso_from,symbol_from,symbol_to,cycles"
#define MEMORY_SORT                                                                               \
	"local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat," \
	"local_p_stage_cyc"
#define WAKERS_SORT    "comm,state,symbol,waker"
#define HISTORY_SORT   "srcline,symbol,dso,callchain_branch_predicted,callchain_branch_abort,callchain_branch_cycles"
#define DEFAULT_PARENT "^sys_|^do_page_fault"

void report_request_init(struct report_request *request)
{
	*request = (struct report_request){0};
	request->chains = (struct chain_options){.style = CHAIN_GRAPH, .min_percent = DEFAULT_MIN_PERCENT};
	request->time_quantum_ns = REPORT_QUANTUM_NS;
	request->samples.filters.hides_guests = true; /* as perf, whose verb kvm shows them */
}

/* True if text is a beginning of word. */
static bool report_request_begins(struct tally_str text, const char *word)
{
	return text.len && str_starts_with(str_from(word), text);
}

static bool set_chain_style(struct report_request *r, struct tally_str text)
{
	static const struct {
		const char *name;
		enum chain_style style;
	} styles[] = {{"graph", CHAIN_GRAPH}, {"flat", CHAIN_FLAT}, {"fractal", CHAIN_FRACTAL},
		{"folded", CHAIN_FOLDED}, {"none", CHAIN_NONE}};
	for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
		if (report_request_begins(text, styles[i].name)) {
			r->chains.style = styles[i].style;
			return true;
		}
	}
	return false;
}

static bool set_chain_value(struct report_request *r, struct tally_str text)
{
	if (report_request_begins(text, "percent"))
		r->chains.value = CHAIN_PERCENT;
	else if (report_request_begins(text, "period"))
		r->chains.value = CHAIN_PERIOD;
	else if (report_request_begins(text, "count"))
		r->chains.value = CHAIN_COUNT;
	else
		return false;
	return true;
}

static bool set_chain_order(struct report_request *r, struct tally_str text)
{
	if (report_request_begins(text, "caller"))
		r->is_caller_first = true;
	else if (report_request_begins(text, "callee"))
		r->is_caller_first = false;
	else
		return false;
	r->order_is_set = true;
	return true;
}

static bool set_chain_key(struct report_request *r, struct tally_str text)
{
	bool is_function = report_request_begins(text, "function"), is_address = report_request_begins(text, "address"),
	     is_line = report_request_begins(text, "srcline");
	if (!is_function && !is_address && !is_line)
		return false;
	r->is_by_address = is_address && !is_function;
	r->is_by_line = is_line && !is_address && !is_function;
	return true;
}

static bool set_chain_branches(struct report_request *r, struct tally_str text)
{
	r->chains_have_branches = r->chains_have_branches || report_request_begins(text, "branch");
	return report_request_begins(text, "branch");
}

/* The first number is the threshold in percent, the second one how many entries a level shows. */
static bool set_chain_number(struct report_request *r, struct tally_str text, bool *has_threshold)
{
	char number[32], *end;
	if (text.len == 0 || text.len >= sizeof(number))
		return false;
	memcpy(number, text.data, text.len);
	number[text.len] = 0;
	if (!*has_threshold) {
		double percent = strtod(number, &end);
		if (*end || !(percent >= 0 && percent <= 100))
			return false;
		r->chains.min_percent = percent;
		*has_threshold = true;
		return true;
	}
	/* As in perf, only the whole part of it counts: of "fractal,1,0.5" nothing is left out. */
	uint64_t limit;
	size_t whole = strspn(number, "0123456789");
	if (whole > 0 && number[whole] == '.' && strspn(number + whole + 1, "0123456789") == text.len - whole - 1)
		text.len = whole;
	if (!str_to_u64(text, 0, &limit) || limit > UINT32_MAX)
		return false;
	r->chains.print_limit = (uint32_t)limit;
	return true;
}

enum tally_status report_request_set_chains(struct report_request *request, const char *text, struct tally_error *err)
{
	struct tally_str rest = str_from(text), part;
	bool has_threshold = false;
	request->chains_asked = true;
	if (!text || !*text) { /* perf's "-g" alone is graph,0.5,caller whatever was said before, but for the limit */
		request->chains = (struct chain_options){.style = CHAIN_GRAPH,
			.min_percent = DEFAULT_MIN_PERCENT,
			.print_limit = request->chains.print_limit};
		request->is_caller_first = request->order_is_set = true;
		request->is_by_address = request->is_by_line = false;
		return TALLY_OK;
	}
	while (text && str_next(&rest, ',', &part)) {
		if (part.len == 0 || set_chain_style(request, part) || set_chain_order(request, part) ||
			set_chain_key(request, part) || set_chain_value(request, part) ||
			set_chain_branches(request, part) || set_chain_number(request, part, &has_threshold))
			continue;
		return error_set(err, TALLY_INVALID, "-g does not take '%.*s'", (int)part.len, part.data);
	}
	return TALLY_OK;
}

bool report_request_set_chain(struct report_request *request, enum chain_setting setting, struct tally_str value)
{
	bool has_threshold = setting == CHAIN_SETTING_LIMIT;
	switch (setting) {
	case CHAIN_SETTING_STYLE:
		return !report_request_begins(value, "none") && set_chain_style(request, value);
	case CHAIN_SETTING_ORDER:
		return set_chain_order(request, value);
	case CHAIN_SETTING_KEY:
		return set_chain_key(request, value);
	case CHAIN_SETTING_THRESHOLD:
	case CHAIN_SETTING_LIMIT:
		return set_chain_number(request, value, &has_threshold);
	}
	return false;
}

enum tally_status report_request_set_widths(struct report_request *request, const char *text, struct tally_error *err)
{
	struct tally_str rest = str_from(text), part;
	uint64_t width;
	request->width_count = 0;
	while (str_next_item(&rest, &part)) {
		if (request->width_count == REPORT_MAX_COLUMNS)
			return error_set(err, TALLY_LIMIT, "-w takes %d widths at most", REPORT_MAX_COLUMNS);
		if (!str_to_u64(part, 10, &width) || width > 4096)
			return error_set(err, TALLY_INVALID, "'%.*s' is not a column width", (int)part.len, part.data);
		request->widths[request->width_count++] = (unsigned)width;
	}
	return TALLY_OK;
}

enum tally_status report_request_set_percent_limit(
	struct report_request *request, const char *text, struct tally_error *err)
{
	char *end;
	double percent = strtod(text, &end);
	if (end == text || *end || !(percent >= 0 && percent <= 100))
		return error_set(err, TALLY_INVALID, "'%s' is not a percentage", text);
	request->percent_limit = percent;
	request->chains.min_percent = percent;
	return TALLY_OK;
}

bool report_request_set_group_sort(struct report_request *request, const char *text)
{
	bool is_negative = text[0] == '-'; /* of no event: the first one's, as any index that is too high */
	if (!str_to_u64(str_from(text + is_negative), 0, &request->group_sort_index))
		return false;
	if (is_negative)
		request->group_sort_index = 0;
	/* The first event's index is what is taken without it: it needs no group. */
	request->group_sort_is_set = is_negative || request->group_sort_index > 0;
	return true;
}

enum tally_status report_request_set_percentage(
	struct report_request *request, const char *text, struct tally_error *err)
{
	if (!strcmp(text, "relative"))
		request->is_relative = true;
	else if (!strcmp(text, "absolute"))
		request->is_relative = false;
	else
		return error_set(err, TALLY_INVALID, "--percentage takes relative or absolute, not '%s'", text);
	return TALLY_OK;
}

enum tally_status report_request_set_time_quantum(
	struct report_request *request, const char *text, struct tally_error *err)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
	size_t digits = strspn(text, "0123456789");
	uint64_t number, ns;
	bool is_number = str_to_u64((struct tally_str){text, digits}, 10, &number);
	for (size_t i = 0; is_number && number && i < ARRAY_LEN(units); i++) {
		if (strcmp(text + digits, units[i].unit) || __builtin_mul_overflow(number, units[i].ns, &ns))
			continue;
		request->time_quantum_ns = ns;
		return TALLY_OK;
	}
	return error_set(err, TALLY_INVALID, "'%s' is not a time with s, ms, us or ns behind it", text);
}

static bool report_request_lists_key(const enum profile_key *keys, size_t count, enum profile_key key)
{
	for (size_t i = 0; i < count; i++) {
		if (keys[i] == key)
			return true;
	}
	return false;
}

static void report_request_add_key(enum profile_key *keys, size_t *count, enum profile_key key)
{
	if (*count < REPORT_MAX_COLUMNS && !report_request_lists_key(keys, *count, key))
		keys[(*count)++] = key;
}

/* "{comm,dso},sym": keys that share a level of a hierarchy. Elsewhere the braces say nothing. */
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
	bool is_joined[REPORT_MAX_COLUMNS]; /* to the level of the key before it, in a hierarchy */
};

struct key_parser {
	const char *option; /* as messages name it */
	enum profile_key_mode mode;
	struct report_fields *fields; /* NULL: fields of tracepoints are no keys here */
	bool are_fields; /* averages and parts by what are keys elsewhere */
};

static enum tally_status add_typed_key(
	const struct key_parser *parser, struct tally_str text, struct key_list *list, struct tally_error *err)
{
	enum profile_key key;
	/* a field's own name says more than what begins a key's: "ret" is no retire_lat where system calls return */
	uint32_t found = parser->fields && !profile_key_is_name(text) ? report_fields_find(parser->fields, text) : 0;
	if (!found && profile_key_find(text, &key)) {
		if (profile_key_get(key)->mode != KEY_MODE_ANY && profile_key_get(key)->mode != parser->mode)
			return error_set(
				err, TALLY_INVALID, "Invalid %s key: `%.*s'", parser->option, (int)text.len, text.data);
		report_request_add_key(list->keys, &list->count, parser->are_fields ? profile_key_as_field(key) : key);
		return TALLY_OK;
	}
	for (unsigned i = 0; i < PROFILE_MAX_FIELDS; i++)
		if (found >> i & 1)
			report_request_add_key(list->keys, &list->count, (enum profile_key)(KEY_FIELD + i));
	if (found)
		return TALLY_OK;
	const char *nearest = profile_key_nearest(text);
	return error_set(err, TALLY_INVALID, "Unknown %s key: `%.*s'%s%s%s", parser->option, (int)text.len, text.data,
		nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Keys stand between commas or blanks. */
static bool report_request_next_key(struct tally_str *rest, struct tally_str *key)
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
	while (status == TALLY_OK && report_request_next_key(&rest, &part)) {
		size_t first = list->count;
		bool is_inside = depth > 0;
		part = without_braces(part, &depth);
		if (part.len)
			status = add_typed_key(parser, part, list, err);
		/* what one word stands for is one level too */
		for (size_t i = first; i < list->count; i++)
			list->is_joined[i] = is_inside || i > first;
	}
	return status;
}

/* -F +KEY,...: columns beside the usual ones. */
static bool adds_fields(const struct report_request *r)
{
	return r->fields && *r->fields == '+';
}

/* -s latency or latency_children: what it names takes the place of the overheads. */
static bool names_latency(const struct report_request *r, const struct key_list *sort)
{
	return !r->by_latency && (report_request_lists_key(sort->keys, sort->count, KEY_LATENCY) ||
					 report_request_lists_key(sort->keys, sort->count, KEY_LATENCY_CHILDREN));
}

static void add_overhead_columns(struct report_request *r, const struct key_list *sort)
{
	static const enum profile_key places[] = {
		KEY_LATENCY_CHILDREN, KEY_OVERHEAD_CHILDREN, KEY_OVERHEAD, KEY_LATENCY};
	for (size_t i = 0; names_latency(r, sort) && i < ARRAY_LEN(places); i++)
		if (report_request_lists_key(sort->keys, sort->count, places[i]))
			report_request_add_key(r->columns, &r->column_count, places[i]);
	if (names_latency(r, sort))
		return;
	if (r->with_children && r->by_latency)
		report_request_add_key(r->columns, &r->column_count, KEY_LATENCY_CHILDREN);
	if (r->with_children)
		report_request_add_key(r->columns, &r->column_count, KEY_OVERHEAD_CHILDREN);
	if (r->by_latency)
		report_request_add_key(r->columns, &r->column_count, KEY_LATENCY);
	report_request_add_key(r->columns, &r->column_count, KEY_OVERHEAD);
}

static void add_value_columns(struct report_request *r, const struct key_list *sort)
{
	add_overhead_columns(r, sort);
	if (r->shows_modes) {
		report_request_add_key(r->columns, &r->column_count, KEY_OVERHEAD_SYS);
		report_request_add_key(r->columns, &r->column_count, KEY_OVERHEAD_US);
	}
	if (r->shows_samples)
		report_request_add_key(r->columns, &r->column_count, KEY_SAMPLE);
	if (r->shows_period)
		report_request_add_key(r->columns, &r->column_count, KEY_PERIOD);
}

static enum tally_status parse_sort(struct report_request *r, const struct report_source *source,
	const char *default_sort, struct key_list *sort, struct tally_error *err)
{
	struct key_parser parser = {"--sort", r->mode, source->fields, false};
	const char *typed = r->sort && *r->sort == '+' ? r->sort + 1 : r->sort;
	enum tally_status status = TALLY_OK;
	if (typed != r->sort || (!typed && (!r->fields || adds_fields(r) || r->has_history)))
		status = parse_keys(&parser, default_sort, sort, err);
	if (status == TALLY_OK && typed)
		status = parse_keys(&parser, typed, sort, err);
	if (status != TALLY_OK)
		return status;
	/* perf adds this column whenever the word itself stands in the list */
	bool has_symbol = typed ? strstr(typed, "symbol") != NULL : r->has_history && !r->by_memory;
	if (has_symbol)
		report_request_add_key(
			sort->keys, &sort->count, r->mode == KEY_MODE_BRANCH ? KEY_IPC_LBR : KEY_IPC_NULL);
	if (r->samples.filters.parent)
		report_request_add_key(sort->keys, &sort->count, KEY_PARENT);
	r->used_sort = typed != r->sort || !typed ? default_sort : NULL;
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

/* A key is a level of its own, but for those that share one. */
static void set_levels(struct report_request *r, const struct key_list *sort)
{
	int level = -1;
	for (size_t i = 0; i < r->column_count; i++) {
		if (profile_key_get(r->columns[i])->is_value)
			continue;
		if (level < 0 || !is_joined(sort, r->columns[i]))
			level++;
		r->levels[i] = (uint8_t)level;
	}
}

static void add_value_order(struct report_request *r, const struct key_list *sort)
{
	if (names_latency(r, sort))
		return;
	if (r->by_latency && r->with_children)
		report_request_add_key(r->order, &r->order_count, KEY_LATENCY_CHILDREN);
	if (r->by_latency)
		report_request_add_key(r->order, &r->order_count, KEY_LATENCY);
	if (r->with_children && !r->by_latency &&
		!report_request_lists_key(sort->keys, sort->count, KEY_OVERHEAD_CHILDREN))
		report_request_add_key(r->order, &r->order_count, KEY_OVERHEAD_CHILDREN);
	if (!report_request_lists_key(sort->keys, sort->count, KEY_OVERHEAD) &&
		!report_request_lists_key(sort->keys, sort->count, KEY_LATENCY))
		report_request_add_key(r->order, &r->order_count, KEY_OVERHEAD);
}

/* Where there are no such sums, they are no column beside the usual ones, unless nobody wants them; a list of all columns
 * has it. */
static bool report_request_is_dropped(const struct report_request *r, enum profile_key key)
{
	bool is_of_children = key == KEY_OVERHEAD_CHILDREN || key == KEY_LATENCY_CHILDREN;
	bool is_beside = !r->fields || adds_fields(r);
	return is_of_children && is_beside && !r->with_children && !r->no_children;
}

/* Columns are the fields asked for (or the usual values, and fields added to them) and then the sort keys. The order is
 * that of the sort keys, the overheads before them unless they are named, and then that of the fields. */
static enum tally_status make_columns(
	struct report_request *r, const struct report_source *source, const char *default_sort, struct tally_error *err)
{
	struct key_list sort = {0}, fields = {0};
	struct key_parser parser = {"--fields", r->mode, NULL, true};
	enum tally_status status = parse_sort(r, source, default_sort, &sort, err);
	if (status == TALLY_OK && adds_fields(r) && !r->fields[1])
		return error_set(err, TALLY_INVALID, "Invalid --fields key: `+'");
	if (status == TALLY_OK && r->fields)
		status = parse_keys(&parser, r->fields + adds_fields(r), &fields, err);
	if (status != TALLY_OK)
		return status;
	if (!r->fields || adds_fields(r)) {
		add_value_columns(r, &sort);
		add_value_order(r, &sort);
	}
	for (size_t i = 0; i < fields.count; i++)
		if (!report_request_is_dropped(r, fields.keys[i]))
			report_request_add_key(r->columns, &r->column_count, fields.keys[i]);
	for (size_t i = 0; i < sort.count; i++) {
		if (report_request_is_dropped(r, sort.keys[i]))
			continue;
		report_request_add_key(r->columns, &r->column_count, sort.keys[i]);
		report_request_add_key(r->order, &r->order_count, sort.keys[i]);
	}
	for (size_t i = 0; i < r->column_count; i++) {
		report_request_add_key(r->order, &r->order_count, r->columns[i]);
		if (!profile_key_get(r->columns[i])->is_value)
			report_request_add_key(r->keys, &r->key_count, r->columns[i]);
	}
	set_levels(r, &sort);
	for (size_t i = 0; r->is_hierarchy && i < r->column_count; i++)
		if (profile_key_get(r->columns[i])->parts)
			return error_set(err, TALLY_UNSUPPORTED, "--hierarchy does not show shares by '%s'",
				profile_key_get(r->columns[i])->name);
	return TALLY_OK;
}

struct tally_str report_request_only(const struct report_request *request, enum profile_key key)
{
	const struct profile_filter_lists *f = &request->samples.filters;
	const char *list = key == KEY_COMM     ? f->comms
			   : key == KEY_DSO    ? f->dsos
			   : key == KEY_SYMBOL ? f->symbols
					       : NULL;
	struct tally_str only = list ? word_list_single(list) : (struct tally_str){0};
	return key == KEY_SYMBOL && str_starts_with(only, STR("0x")) ? (struct tally_str){0} : only;
}

/* A filter on one name makes its column say nothing of samples; perf names it above the table instead. */
static void hide_constant_columns(struct report_request *r)
{
	uint64_t hidden = 0;
	size_t left = 0;
	const enum profile_key keys[] = {KEY_COMM, KEY_DSO, KEY_SYMBOL};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		hidden |= report_request_only(r, keys[i]).len ? UINT64_C(1) << keys[i] : 0;
	for (size_t i = 0; i < r->key_count; i++)
		left += r->keys[i] > KEY_SYMBOL || !(hidden >> r->keys[i] & 1); /* those after it are never hidden */
	if (!left)
		return;
	r->hidden_columns = hidden;
	/* Callers elsewhere have rows too; what nobody sees does not order them. */
	size_t count = r->order_count;
	r->order_count = 0;
	for (size_t i = 0; i < count; i++)
		if (r->order[i] > KEY_SYMBOL || !(hidden >> r->order[i] & 1))
			r->order[r->order_count++] = r->order[i];
}

static void set_mode(struct report_request *r, const struct report_source *source)
{
	bool by_branch =
		r->branches == BRANCHES_ALWAYS || (r->branches == BRANCHES_IF_RECORDED && source->has_branches);
	r->mode = r->by_memory ? KEY_MODE_MEMORY : by_branch && !r->has_history ? KEY_MODE_BRANCH : KEY_MODE_ANY;
}

static const char *default_sort_of(const struct report_request *r, const struct report_source *source)
{
	if (r->mode == KEY_MODE_MEMORY)
		return MEMORY_SORT;
	if (r->has_history && !r->sort)
		return HISTORY_SORT;
	if (r->mode == KEY_MODE_BRANCH)
		return BRANCH_SORT;
	if (r->wakers)
		return WAKERS_SORT;
	if (source->is_all_tracepoints)
		return r->raw_traces ? "trace_fields" : "trace";
	return r->default_sort ? r->default_sort : DEFAULT_SORT;
}

/* Each level of a hierarchy is a key, and what it comes to stands before it. */
static bool values_lead(const struct report_request *r)
{
	bool was_value = true;
	for (size_t i = 0; i < r->column_count; i++) {
		bool is_value = profile_key_get(r->columns[i])->is_value;
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

/* Callers access no data that has a type: rows of types are the samples' own. */
static bool asks_for_types(const struct report_request *r)
{
	return (r->sort && has_type_key(r->sort)) || (r->fields && has_type_key(r->fields));
}

enum tally_status report_request_finish(
	struct report_request *r, const struct report_source *source, struct tally_error *err)
{
	bool has_chains = source->has_chains, is_pipe = source->is_pipe;
	r->column_count = r->order_count = r->key_count = 0;
	set_mode(r, source);
	r->joins_events = r->force_group && !source->has_groups;
	r->with_history = source->has_branches &&
			  (r->has_history || (r->chains_have_branches && has_chains && r->mode != KEY_MODE_BRANCH));
	/* Callers access no data and took no branch: rows of accesses and branches are the samples' own; the latter have no
	 * chains, as the one chain of a sample is none of its branches'. */
	bool is_own = r->mode != KEY_MODE_ANY || asks_for_types(r) || r->wakers;
	bool shows_chains = (has_chains && r->mode != KEY_MODE_BRANCH) || r->with_history;
	r->with_chains = shows_chains && r->chains.style != CHAIN_NONE;
	r->is_by_address = r->is_by_address || r->has_history;
	r->is_by_line = r->is_by_line && !r->has_history;
	/* perf decides on children before a pipe has told of call chains, but on their order after it */
	r->with_children = has_chains && !is_pipe && !r->no_children && !r->is_hierarchy && !is_own;
	if (!r->order_is_set)
		r->is_caller_first = (has_chains || r->with_history) && !r->no_children && !r->wakers;
	r->chains.skips_first = r->sort && !r->fields && !strncmp(r->sort, "sym", 3);
	if (r->separator)
		r->chains.separator = r->separator;
	enum tally_status status = make_columns(r, source, default_sort_of(r, source), err);
	if (status == TALLY_OK && !r->is_hierarchy)
		hide_constant_columns(r);
	if (status == TALLY_OK && r->is_hierarchy && r->fields && r->sort)
		return error_set(
			err, TALLY_INVALID, "--hierarchy takes its levels from --sort or from --fields, not from both");
	if (status == TALLY_OK && r->is_hierarchy && r->fields && !values_lead(r))
		return error_set(err, TALLY_INVALID, "with --hierarchy, --fields lists values before sort keys");
	bool needs_history = report_request_lists_key(r->keys, r->key_count, KEY_CHAIN_PREDICTED) ||
			     report_request_lists_key(r->keys, r->key_count, KEY_CHAIN_ABORTS) ||
			     report_request_lists_key(r->keys, r->key_count, KEY_CHAIN_CYCLES);
	if (status == TALLY_OK && needs_history && !r->has_history && !r->chains_have_branches)
		return error_set(err, TALLY_INVALID, "the keys callchain_branch_... need --branch-history");
	if (report_request_lists_key(r->keys, r->key_count, KEY_PARENT) && !r->samples.filters.parent)
		r->samples.filters.parent = DEFAULT_PARENT;
	r->shows_children = report_request_lists_key(r->columns, r->column_count, KEY_OVERHEAD_CHILDREN);
	return status;
}

bool report_request_has_key(const struct report_request *request, enum profile_key key)
{
	return report_request_lists_key(request->keys, request->key_count, key);
}

bool report_request_has_form(const struct report_request *request, enum profile_key_form form)
{
	for (size_t i = 0; i < request->key_count; i++) {
		if (profile_key_get(request->keys[i])->form == form)
			return true;
	}
	return false;
}

uint64_t report_request_facets(const struct report_request *request)
{
	uint64_t facets = 0;
	for (size_t i = 0; i < request->key_count; i++) {
		enum profile_key key = request->keys[i];
		enum profile_key_form form = (enum profile_key_form)profile_key_get(key)->form;
		if (form != KEY_FORM_ROW && form != KEY_FORM_NOTHING)
			facets |= UINT64_C(1) << profile_key_facet(key);
	}
	for (size_t i = 0; i < request->column_count; i++)
		if (profile_key_get(request->columns[i])->is_average ||
			profile_key_get(request->columns[i])->is_duration ||
			profile_key_get(request->columns[i])->parts)
			facets |= UINT64_C(1) << profile_key_facet(request->columns[i]);
	if (request->parallelism || report_request_lists_key(request->columns, request->column_count, KEY_LATENCY) ||
		report_request_lists_key(request->columns, request->column_count, KEY_LATENCY_CHILDREN))
		facets |= UINT64_C(1) << FACET_PARALLELISM;
	return facets;
}

void report_request_print_sort(const struct report_request *request, struct text *t)
{
	const char *typed = request->sort && *request->sort == '+' ? request->sort + 1 : request->sort;
	text_str(t, request->used_sort ? request->used_sort : "");
	text_str(t, request->used_sort && typed ? "," : "");
	text_str(t, typed ? typed : "");
	text_str(t, report_request_lists_key(request->keys, request->key_count, KEY_IPC_NULL) ? ",ipc_null" : "");
}
