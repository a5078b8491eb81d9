/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_request.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/word_list.h"

#define DEFAULT_MIN_PERCENT 0.5

void report_request_init(struct report_request *request)
{
	*request = (struct report_request){0};
	request->chains.look = (struct chain_options){.style = CHAIN_GRAPH, .min_percent = DEFAULT_MIN_PERCENT};
	request->chains.max_stack = UINT32_MAX;
	request->rows.time_quantum_ns = REPORT_QUANTUM_NS;
	request->samples.filters.hides_guests = true; /* As in perf, only the verb kvm shows samples of guests. */
}

/* Returns whether text is a prefix of word. */
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
			r->chains.look.style = styles[i].style;
			return true;
		}
	}
	return false;
}

static bool set_chain_value(struct report_request *r, struct tally_str text)
{
	if (report_request_begins(text, "percent"))
		r->chains.look.value = CHAIN_PERCENT;
	else if (report_request_begins(text, "period"))
		r->chains.look.value = CHAIN_PERIOD;
	else if (report_request_begins(text, "count"))
		r->chains.look.value = CHAIN_COUNT;
	else
		return false;
	return true;
}

static bool set_chain_order(struct report_request *r, struct tally_str text)
{
	if (report_request_begins(text, "caller"))
		r->chains.is_caller_first = true;
	else if (report_request_begins(text, "callee"))
		r->chains.is_caller_first = false;
	else
		return false;
	r->chains.order_is_set = true;
	return true;
}

static bool set_chain_key(struct report_request *r, struct tally_str text)
{
	bool is_function = report_request_begins(text, "function"), is_address = report_request_begins(text, "address"),
	     is_line = report_request_begins(text, "srcline");
	if (!is_function && !is_address && !is_line)
		return false;
	r->chains.is_by_address = is_address && !is_function;
	r->chains.is_by_line = is_line && !is_address && !is_function;
	return true;
}

static bool set_chain_branches(struct report_request *r, struct tally_str text)
{
	r->chains.have_branches = r->chains.have_branches || report_request_begins(text, "branch");
	return report_request_begins(text, "branch");
}

/* Sets a number of -g: the first is the threshold in percent, the second is the maximum number of entries on a
 * level. */
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
		r->chains.look.min_percent = percent;
		*has_threshold = true;
		return true;
	}
	/* As in perf, only the integer part is used: "fractal,1,0.5" omits nothing. */
	uint64_t limit;
	size_t whole = strspn(number, "0123456789");
	if (whole > 0 && number[whole] == '.' && strspn(number + whole + 1, "0123456789") == text.len - whole - 1)
		text.len = whole;
	if (!str_to_u64(text, 0, &limit) || limit > UINT32_MAX)
		return false;
	r->chains.look.print_limit = (uint32_t)limit;
	return true;
}

enum tally_status report_request_set_chains(struct report_request *request, const char *text, struct tally_error *err)
{
	struct tally_str rest = str_from(text), part;
	bool has_threshold = false;
	request->chains.are_asked = true;
	/* As in perf, "-g" alone means graph,0.5,caller and resets all earlier settings except the limit. */
	if (!text || !*text) {
		request->chains.look = (struct chain_options){.style = CHAIN_GRAPH,
			.min_percent = DEFAULT_MIN_PERCENT,
			.print_limit = request->chains.look.print_limit};
		request->chains.is_caller_first = request->chains.order_is_set = true;
		request->chains.is_by_address = request->chains.is_by_line = false;
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
	request->look.width_count = 0;
	while (str_next_item(&rest, &part)) {
		if (request->look.width_count == REPORT_MAX_COLUMNS)
			return error_set(err, TALLY_LIMIT, "-w takes %d widths at most", REPORT_MAX_COLUMNS);
		if (!str_to_u64(part, 10, &width) || width > 4096)
			return error_set(err, TALLY_INVALID, "'%.*s' is not a column width", (int)part.len, part.data);
		request->look.widths[request->look.width_count++] = (unsigned)width;
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
	request->look.percent_limit = percent;
	request->chains.look.min_percent = percent;
	return TALLY_OK;
}

bool report_request_set_group_sort(struct report_request *request, const char *text)
{
	/* A negative index selects no event, so the first one is used, as for an index that is too high. */
	bool is_negative = text[0] == '-';
	if (!str_to_u64(str_from(text + is_negative), 0, &request->groups.sort_index))
		return false;
	if (is_negative)
		request->groups.sort_index = 0;
	/* Index 0 is the default, so it does not require a group. */
	request->groups.sort_is_set = is_negative || request->groups.sort_index > 0;
	return true;
}

enum tally_status report_request_set_percentage(
	struct report_request *request, const char *text, struct tally_error *err)
{
	if (!strcmp(text, "relative"))
		request->look.is_relative = true;
	else if (!strcmp(text, "absolute"))
		request->look.is_relative = false;
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
		request->rows.time_quantum_ns = ns;
		return TALLY_OK;
	}
	return error_set(err, TALLY_INVALID, "'%s' is not a time with the unit s, ms, us or ns", text);
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
