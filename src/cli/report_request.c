#include "cli/report_request.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_MIN_PERCENT 0.5
#define DEFAULT_SORT	    "comm,dso,symbol"
#define DEFAULT_PARENT	    "^sys_|^do_page_fault"

void report_request_init(struct report_request *request)
{
	*request = (struct report_request){0};
	request->chains = (struct chain_options){.style = CHAIN_GRAPH, .min_percent = DEFAULT_MIN_PERCENT};
}

/* True if text is a beginning of word. */
static bool begins(struct tally_str text, const char *word)
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
	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
		if (begins(text, styles[i].name)) {
			r->chains.style = styles[i].style;
			return true;
		}
	}
	return false;
}

static bool set_chain_value(struct report_request *r, struct tally_str text)
{
	if (begins(text, "percent"))
		r->chains.value = CHAIN_PERCENT;
	else if (begins(text, "period"))
		r->chains.value = CHAIN_PERIOD;
	else if (begins(text, "count"))
		r->chains.value = CHAIN_COUNT;
	else
		return false;
	return true;
}

static bool set_chain_order(struct report_request *r, struct tally_str text)
{
	if (begins(text, "caller"))
		r->is_caller_first = true;
	else if (begins(text, "callee"))
		r->is_caller_first = false;
	else
		return false;
	r->order_is_set = true;
	return true;
}

static bool set_chain_key(struct report_request *r, struct tally_str text)
{
	if (begins(text, "function"))
		r->is_by_address = false;
	else if (begins(text, "address"))
		r->is_by_address = true;
	else
		return false;
	return true;
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
	uint64_t limit;
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
	if (!text || !*text) { /* perf's "-g" alone is graph,0.5,caller, whatever was said before */
		request->chains = (struct chain_options){.style = CHAIN_GRAPH, .min_percent = DEFAULT_MIN_PERCENT};
		request->is_caller_first = request->order_is_set = true;
		request->is_by_address = false;
		return TALLY_OK;
	}
	while (text && str_next(&rest, ',', &part)) {
		if (part.len == 0 || set_chain_style(request, part) || set_chain_order(request, part) ||
			set_chain_key(request, part) || set_chain_value(request, part) ||
			set_chain_number(request, part, &has_threshold))
			continue;
		if (begins(part, "srcline") || begins(part, "branch"))
			return error_set(
				err, TALLY_UNSUPPORTED, "-g %.*s is not supported yet", (int)part.len, part.data);
		return error_set(err, TALLY_INVALID, "-g does not take '%.*s'", (int)part.len, part.data);
	}
	return TALLY_OK;
}

bool report_request_set_chain(struct report_request *request, enum chain_setting setting, struct tally_str value)
{
	bool has_threshold = setting == CHAIN_SETTING_LIMIT;
	switch (setting) {
	case CHAIN_SETTING_STYLE:
		return !begins(value, "none") && set_chain_style(request, value);
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
	while (str_next(&rest, ',', &part)) {
		if (request->width_count == REPORT_MAX_COLUMNS)
			return error_set(err, TALLY_LIMIT, "-w takes %d widths at most", REPORT_MAX_COLUMNS);
		if (!str_to_u64(str_trim(part), 10, &width) || width > 4096)
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

static bool has_key(const enum profile_key *keys, size_t count, enum profile_key key)
{
	for (size_t i = 0; i < count; i++) {
		if (keys[i] == key)
			return true;
	}
	return false;
}

static void add_key(enum profile_key *keys, size_t *count, enum profile_key key)
{
	if (*count < REPORT_MAX_COLUMNS && !has_key(keys, *count, key))
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
	if (depth)
		*depth += opened - closed;
	return part;
}

static enum tally_status parse_keys(
	const char *text, const char *option, enum profile_key *keys, size_t *count, struct tally_error *err)
{
	struct tally_str rest = str_from(text), part;
	enum profile_key key;
	while (str_next(&rest, ',', &part)) {
		part = without_braces(part, NULL);
		if (part.len == 0)
			continue;
		switch (profile_key_find(part, &key)) {
		case PROFILE_KEY_FOUND:
			add_key(keys, count, key);
			break;
		case PROFILE_KEY_KNOWN:
			return error_set(err, TALLY_UNSUPPORTED, "%s key '%.*s' is not supported yet", option,
				(int)part.len, part.data);
		case PROFILE_KEY_UNKNOWN:
			return error_set(
				err, TALLY_INVALID, "Unknown %s key: `%.*s'", option, (int)part.len, part.data);
		}
	}
	return TALLY_OK;
}

static void add_value_columns(struct report_request *r)
{
	if (r->with_children)
		add_key(r->columns, &r->column_count, KEY_OVERHEAD_CHILDREN);
	add_key(r->columns, &r->column_count, KEY_OVERHEAD);
	if (r->shows_modes) {
		add_key(r->columns, &r->column_count, KEY_OVERHEAD_SYS);
		add_key(r->columns, &r->column_count, KEY_OVERHEAD_US);
	}
	if (r->shows_samples)
		add_key(r->columns, &r->column_count, KEY_SAMPLE);
	if (r->shows_period)
		add_key(r->columns, &r->column_count, KEY_PERIOD);
}

/* Columns are the fields asked for (or the usual values) and then the sort keys. The order is that of the sort keys,
 * the overheads before them unless they are named, and then that of the fields. */
static enum tally_status make_columns(struct report_request *r, const char *default_sort, struct tally_error *err)
{
	enum profile_key sort[REPORT_MAX_COLUMNS], fields[REPORT_MAX_COLUMNS];
	size_t sort_count = 0, field_count = 0;
	const char *typed = r->sort && *r->sort == '+' ? r->sort + 1 : r->sort;
	enum tally_status status = TALLY_OK;
	if (typed != r->sort || (!typed && !r->fields))
		status = parse_keys(default_sort, "--sort", sort, &sort_count, err);
	if (status == TALLY_OK && typed)
		status = parse_keys(typed, "--sort", sort, &sort_count, err);
	if (status == TALLY_OK && r->fields)
		status = parse_keys(r->fields, "--fields", fields, &field_count, err);
	if (status != TALLY_OK)
		return status;
	/* perf adds this column whenever the word itself stands in the list */
	if (typed && strstr(typed, "symbol"))
		add_key(sort, &sort_count, KEY_IPC_NULL);
	if (r->filters.parent)
		add_key(sort, &sort_count, KEY_PARENT);
	if (r->fields) {
		for (size_t i = 0; i < field_count; i++)
			add_key(r->columns, &r->column_count, fields[i]);
	} else {
		add_value_columns(r);
		if (r->with_children && !has_key(sort, sort_count, KEY_OVERHEAD_CHILDREN))
			add_key(r->order, &r->order_count, KEY_OVERHEAD_CHILDREN);
		if (!has_key(sort, sort_count, KEY_OVERHEAD))
			add_key(r->order, &r->order_count, KEY_OVERHEAD);
	}
	for (size_t i = 0; i < sort_count; i++) {
		add_key(r->columns, &r->column_count, sort[i]);
		add_key(r->order, &r->order_count, sort[i]);
	}
	for (size_t i = 0; i < r->column_count; i++) {
		add_key(r->order, &r->order_count, r->columns[i]);
		if (!profile_key_get(r->columns[i])->is_value)
			add_key(r->keys, &r->key_count, r->columns[i]);
	}
	return TALLY_OK;
}

/* A key is a level of its own, but for those in braces behind the first of them. */
static void set_levels(struct report_request *r)
{
	bool is_joined[PROFILE_KEY_COUNT] = {false};
	struct tally_str rest = str_from(r->sort), part;
	enum profile_key key;
	int depth = 0;
	while (r->sort && str_next(&rest, ',', &part)) {
		bool is_inside = depth > 0;
		part = without_braces(part, &depth);
		if (is_inside && profile_key_find(part, &key) == PROFILE_KEY_FOUND)
			is_joined[key] = true;
	}
	int level = -1;
	for (size_t i = 0; i < r->column_count; i++) {
		key = r->columns[i];
		if (profile_key_get(key)->is_value)
			continue;
		if (level < 0 || !is_joined[key])
			level++;
		r->levels[i] = (uint8_t)level;
	}
	r->level_count = (unsigned)(level + 1);
}

static bool is_single(const char *list)
{
	return list && *list && !strchr(list, ',');
}

/* A filter on one name makes its column say nothing; perf names it above the table instead. */
static void hide_constant_columns(struct report_request *r)
{
	uint32_t hidden = 0;
	size_t left = 0;
	if (is_single(r->filters.comms))
		hidden |= 1u << KEY_COMM;
	if (is_single(r->filters.dsos))
		hidden |= 1u << KEY_DSO;
	if (is_single(r->filters.symbols))
		hidden |= 1u << KEY_SYMBOL;
	for (size_t i = 0; i < r->key_count; i++)
		left += !(hidden >> r->keys[i] & 1);
	if (left)
		r->hidden_columns = hidden;
}

enum tally_status report_request_finish(
	struct report_request *r, const struct report_source *source, struct tally_error *err)
{
	bool has_chains = source->has_chains, is_pipe = source->is_pipe;
	r->column_count = r->order_count = r->key_count = 0;
	r->with_chains = has_chains && r->chains.style != CHAIN_NONE;
	/* perf decides on children before a pipe has told of call chains, but on their order after it */
	r->with_children = has_chains && !is_pipe && !r->no_children && !r->is_hierarchy;
	if (!r->order_is_set)
		r->is_caller_first = has_chains && !r->no_children;
	r->chains.skips_first = r->sort && !r->fields && !strncmp(r->sort, "sym", 3);
	if (r->separator)
		r->chains.separator = r->separator;
	const char *default_sort = r->default_sort ? r->default_sort : DEFAULT_SORT;
	if (source->is_all_tracepoints)
		default_sort = "trace";
	enum tally_status status = make_columns(r, default_sort, err);
	if (status == TALLY_OK && !r->is_hierarchy)
		hide_constant_columns(r);
	set_levels(r);
	if (has_key(r->keys, r->key_count, KEY_PARENT) && !r->filters.parent)
		r->filters.parent = DEFAULT_PARENT;
	r->shows_children = has_key(r->columns, r->column_count, KEY_OVERHEAD_CHILDREN);
	return status;
}

bool report_request_has_key(const struct report_request *request, enum profile_key key)
{
	return has_key(request->keys, request->key_count, key);
}
