/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ftrace/graph_line.h"

#include <ctype.h>

#include "base/checked.h"

static struct tally_str graph_line_rest(struct tally_str text, size_t skip)
{
	return (struct tally_str){text.data + skip, text.len - skip};
}

/* Parses microseconds such as "13.500": thousandths of a microsecond are nanoseconds. */
static bool graph_line_ns(struct tally_str text, uint64_t *ns)
{
	uint64_t whole = 0, part = 0, scale = 1000;
	const char *dot = memchr(text.data, '.', text.len);
	struct tally_str digits = {text.data, dot ? (size_t)(dot - text.data) : text.len};
	if (!str_to_u64(digits, 10, &whole) || __builtin_mul_overflow(whole, (uint64_t)1000, &whole))
		return false;
	for (size_t i = digits.len + 1; dot && i < text.len && scale > 1; i++) {
		if (!isdigit((unsigned char)text.data[i]))
			return false;
		scale /= 10;
		part += (uint64_t)(text.data[i] - '0') * scale;
	}
	return !__builtin_add_overflow(whole, part, ns);
}

/* Returns the text before what may follow a function name: its arguments, its module, its result. */
static struct tally_str graph_line_name(struct tally_str code)
{
	size_t len = 0;
	while (len < code.len && !memchr(" (;{=", code.data[len], 5))
		len++;
	return (struct tally_str){code.data, len};
}

/* Returns the function that " mutex_lock();" or " } / * do_exit * /" names, the empty string for " }". */
static struct tally_str graph_line_function(struct tally_str code)
{
	code = str_trim(code);
	if (code.len == 0 || code.data[0] != '}')
		return graph_line_name(code);
	code = str_trim(graph_line_rest(code, 1));
	if (!str_starts_with(code, STR("/*")))
		return (struct tally_str){code.data, 0};
	return graph_line_name(str_trim(graph_line_rest(code, 2)));
}

bool graph_line_read(struct tally_str line, struct graph_line *call)
{
	/* The last bar precedes the code; thread names may contain others. */
	const char *bar = line.len ? memrchr(line.data, '|', line.len) : NULL;
	if (!bar)
		return false;
	struct tally_str before = str_trim((struct tally_str){line.data, (size_t)(bar - line.data)});
	if (!str_ends_with(before, STR(" us")))
		return false;
	before.len -= 3;
	before = str_trim(before);
	size_t from = before.len;
	while (from > 0 && (isdigit((unsigned char)before.data[from - 1]) || before.data[from - 1] == '.'))
		from--;
	if (!graph_line_ns(graph_line_rest(before, from), &call->ns))
		return false;
	call->name = graph_line_function(graph_line_rest(line, (size_t)(bar - line.data) + 1));
	return true;
}

uint64_t graph_line_lost(struct tally_str line)
{
	static const char begin[] = "[LOST ";
	uint64_t count = 0;
	if (!str_starts_with(line, STR("CPU:")))
		return 0;
	const char *found = memmem(line.data, line.len, begin, sizeof(begin) - 1);
	if (!found)
		return 0;
	struct tally_str rest = graph_line_rest(line, (size_t)(found - line.data) + sizeof(begin) - 1);
	size_t len = 0;
	while (len < rest.len && isdigit((unsigned char)rest.data[len]))
		len++;
	return str_to_u64((struct tally_str){rest.data, len}, 10, &count) ? count : 0;
}
