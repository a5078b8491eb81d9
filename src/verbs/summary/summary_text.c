/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "perfdata/origin.h"
#include "verbs/summary/summary_output.h"

#define TEXT_NS_PER_S 1e9
/* Functions with a smaller share are shown only if they are among the first TEXT_FUNCTIONS_LEAST. */
#define TEXT_FUNCTION_PERCENT 0.5
#define TEXT_FUNCTIONS_LEAST  3
#define TEXT_STATE_PERCENT    0.05 /* Smaller percentages would be printed as 0.0. */
/* Width of the line that describes the origin of the samples, as a multiple of the name width. */
#define SOURCE_NAMES 4

/* Prints a name in at most width characters; the middle of a longer name is omitted. */
static void summary_put_name(struct text *out, struct tally_str name, unsigned width)
{
	struct text whole = {0};
	text_visible(&whole, name);
	size_t characters = 0;
	for (size_t i = 0; i < whole.len; i++)
		characters += ((uint8_t)whole.data[i] & 0xc0) != 0x80;
	size_t head = characters > width ? (width - 3) / 2 : characters,
	       tail = characters > width ? width - 3 - head : 0;
	size_t at = 0;
	for (size_t i = 0; i < whole.len; i++) {
		at += ((uint8_t)whole.data[i] & 0xc0) != 0x80;
		if (at == head + 1 && tail && ((uint8_t)whole.data[i] & 0xc0) != 0x80)
			text_str(out, "...");
		if (at <= head || at > characters - tail)
			text_char(out, whole.data[i]);
	}
	out->failed |= whole.failed;
	text_deinit(&whole);
}

static double summary_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void summary_put_others(const struct summary_facts *f, const struct summary_limits *limits, struct text *out)
{
	size_t count = MIN(f->others.len, limits->states);
	for (size_t i = 0; i < count; i++) {
		text_str(out, i ? ", " : "also recorded (-e NAME): ");
		text_u64_grouped(out, f->others.items[i].samples, ",");
		text_str(out, " samples of ");
		text_visible(out, f->others.items[i].name);
	}
	if (count && count < f->others.len)
		text_printf(out, " and %zu more events", f->others.len - count);
	text_str(out, count ? "\n" : "");
}

/* Prints the origin of the samples; the middle of a long description is omitted. */
static void summary_put_source(const struct summary_facts *f, const struct summary_limits *limits, struct text *out)
{
	const struct perfdata_origin origin = origin_of(f->features);
	struct text sentence = {0};
	origin_text(&sentence, &origin);
	if (sentence.len > 0) {
		summary_put_name(out, text_view(&sentence), SOURCE_NAMES * limits->name_width);
		text_char(out, '\n');
	}
	out->failed |= sentence.failed;
	text_deinit(&sentence);
}

static void summary_put_origin(const struct summary_facts *f, const struct summary_limits *limits, struct text *out)
{
	text_visible(out, str_from(f->path));
	text_str(out, ": ");
	text_u64_grouped(out, f->samples, ",");
	text_str(out, " samples of ");
	text_visible(out, f->event);
	if (f->is_time)
		text_printf(out, ", %.3f s", (double)f->period / TEXT_NS_PER_S);
	if (f->duration_ns)
		text_printf(out, ", in %.3f s of recording", (double)f->duration_ns / TEXT_NS_PER_S);
	text_char(out, '\n');
	summary_put_others(f, limits, out);
	summary_put_source(f, limits, out);
	if (f->command.len && limits->has_origin) {
		text_str(out, "made by: ");
		summary_put_name(out, f->command, limits->name_width);
		text_char(out, '\n');
	}
	if (f->kernel.len && limits->has_origin && limits->functions > 2) {
		text_str(out, "on ");
		summary_put_name(out, f->host, limits->name_width);
		text_str(out, ", Linux ");
		summary_put_name(out, f->kernel, limits->name_width);
		text_str(out, f->cpu.len ? ", " : "");
		summary_put_name(out, f->cpu, limits->name_width);
		text_char(out, '\n');
	}
}

static void summary_put_states(const struct summary_facts *f, const struct summary_limits *limits, struct text *out)
{
	uint64_t sum = 0;
	size_t count = MIN(f->states.len, limits->states);
	for (size_t i = 0; i < f->states.len; i++)
		sum += f->states.items[i].period;
	for (size_t i = 0; i < count; i++) {
		if (i && summary_percent(f->states.items[i].period, sum) < TEXT_STATE_PERCENT)
			break;
		text_str(out, i ? ", " : "threads: ");
		text_visible(out, f->states.items[i].name);
		text_printf(out, " %.1f %%", summary_percent(f->states.items[i].period, sum));
	}
	text_str(out, count ? "\n" : "");
}

static void summary_put_functions(const struct summary_facts *f, const struct summary_limits *limits, struct text *out)
{
	size_t count = MIN(f->functions.len, limits->functions);
	while (count > TEXT_FUNCTIONS_LEAST &&
		summary_percent(f->functions.items[count - 1].period, f->period) < TEXT_FUNCTION_PERCENT)
		count--;
	if (limits->commands)
		text_str(out, f->is_time ? "\nfunctions, by their own time\n" : "\nfunctions, by their own share\n");
	for (size_t i = 0; i < count; i++) {
		const struct summary_function *function = &f->functions.items[i];
		text_printf(out, "%6.2f %%  ", summary_percent(function->period, f->period));
		summary_put_name(out, function->name, limits->name_width);
		if (function->object.len) {
			text_str(out, "  (");
			summary_put_name(out, function->object, limits->name_width);
			text_char(out, ')');
		}
		text_char(out, '\n');
	}
	if (count < f->functions.len && limits->commands)
		text_printf(out, "          and %zu more\n", f->functions.len - count);
}

static void summary_put_tree(const struct summary_facts *f, const struct summary_limits *limits, struct text *out)
{
	size_t count = MIN(f->nodes.len, limits->nodes);
	if (count == 0)
		return;
	text_str(out, "\ncallers, with what they call\n");
	for (size_t i = 0; i < count; i++) {
		const struct summary_node *node = &f->nodes.items[i];
		text_printf(out, "%6.2f %%  ", summary_percent(node->total, f->period));
		text_repeat(out, ' ', 2 * MIN(node->depth, 12));
		summary_put_name(out, node->path, limits->name_width);
		text_char(out, '\n');
	}
	if (count < f->nodes.len)
		text_printf(out, "          and %zu more above 3 %%\n", f->nodes.len - count);
}

static void summary_put_changes(const struct summary_facts *f, const struct summary_limits *limits, struct text *out)
{
	size_t count = MIN(f->changes.len, limits->changes);
	if (!f->baseline)
		return;
	text_str(out, "\nagainst ");
	text_visible(out, str_from(f->baseline));
	text_str(out, ": ");
	text_u64_grouped(out, f->base_samples, ",");
	text_str(out, " samples there");
	if (f->is_time)
		text_printf(out, ", %.3f s", (double)f->base_period / TEXT_NS_PER_S);
	text_str(out, f->changes.len ? "\n" : "; no function's share differs by more than chance\n");
	for (size_t i = 0; i < count; i++) {
		const struct summary_change *change = &f->changes.items[i];
		text_printf(out, "%6.2f %% -> %.2f %%  ", change->base_percent, change->new_percent);
		summary_put_name(out, change->name, limits->name_width);
		text_char(out, '\n');
	}
	if (count < f->changes.len)
		text_printf(out, "          and %zu more\n", f->changes.len - count);
}

void summary_text(const struct summary_facts *f, const struct summary_limits *limits, struct text *out)
{
	summary_put_origin(f, limits, out);
	summary_put_states(f, limits, out);
	summary_put_functions(f, limits, out);
	summary_put_tree(f, limits, out);
	summary_put_changes(f, limits, out);
	if (limits->has_trust) {
		text_printf(out, "\nhow exact: shares are within %.1f points (95 %% confidence)", f->error_points);
		for (size_t i = 0; i < MIN(f->notes.len, limits->notes); i++) {
			text_str(out, "\n- ");
			text_visible(out, f->notes.items[i]);
		}
		text_char(out, '\n');
	}
	if (limits->commands)
		text_str(out,
			f->has_file || f->is_made_again ? "\nnext\n" : "\nnext, if the stream is saved as perf.data\n");
	for (size_t i = 0; i < MIN(limits->commands, SUMMARY_COMMANDS); i++) {
		text_str(out, "  ");
		text_visible(out, str_from(f->commands[i]));
		text_char(out, '\n');
	}
}
