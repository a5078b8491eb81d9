/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_payload.h"

#include <inttypes.h>
#include <string.h>

#define ENTER_ARGS_AT 1 /* In fields of syscalls:sys_enter_NAME, the number precedes the arguments. */
#define MASK_BITS     32 /* Number of bits in a word of a bitmask as the kernel prints it. */

static bool is_pid(struct tally_str name)
{
	return str_equal(name, STR("pid")) || str_equal(name, STR("tid")) ||
	       (name.len > 4 && memcmp(name.data + name.len - 4, "_pid", 4) == 0);
}

/* True if the text is a word that the print format uses for a number: NORMAL, HRTIMER_MODE_ABS|PINNED. */
static bool trace_payload_is_word(struct tally_str text)
{
	if (text.len == 0 || text.data[0] < 'A' || text.data[0] > 'Z')
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		bool is_upper = (c >= 'A' && c <= 'Z') || c == '_' || c == '|' || (c >= '0' && c <= '9');
		if (!is_upper)
			return false;
	}
	return true;
}

/* Returns the name of a value of an enum in the kernel; NULL if there is none. */
static const char *trace_payload_enumerator(
	const struct trace_job *job, const struct tracepoint_field *field, uint64_t number)
{
	size_t prefix = sizeof("enum ") - 1;
	if (!job->style.types || field->type.len <= prefix || memcmp(field->type.data, "enum ", prefix) != 0)
		return NULL;
	struct tally_str type = {field->type.data + prefix, field->type.len - prefix};
	return btf_types_enumerator(job->style.types, type, field->bytes == 4 ? (int32_t)number : (int64_t)number);
}

static void trace_payload_number(struct trace_job *job, struct tracepoint_field *field, uint64_t number, struct text *t)
{
	const char *word = trace_payload_enumerator(job, field, number);
	if (word)
		text_str(t, word);
	else if (field->form == TRACEPOINT_ADDRESS) {
		text_str(t, "0x");
		text_hex(t, number, 0);
	} else if (field->form == TRACEPOINT_SIGNED) {
		text_i64(t, (int64_t)number);
	} else {
		text_u64(t, number);
	}
	struct tally_str name =
		!word && is_pid(field->name) ? trace_job_thread_name(job, (uint32_t)number) : (struct tally_str){"", 0};
	if (name.len == 0)
		return;
	text_str(t, " (");
	text_visible(t, name);
	text_char(t, ')');
}

/* Prints "0-1,4" for a bitmask as the kernel prints it: 32-bit words in hex, the highest first. */
static void print_bits(struct tally_str mask, struct text *t)
{
	uint32_t first = 0, bit = 0;
	bool is_in = false;
	size_t start = t->len;
	for (size_t i = mask.len; i-- > 0 || is_in;) {
		char c = i < mask.len ? mask.data[i] : '0';
		unsigned digit = c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');
		if (c == ',')
			continue;
		for (unsigned b = 0; b < 4; b++, bit++) {
			bool is_set = digit >> b & 1;
			if (is_set && !is_in)
				first = bit;
			if (!is_set && is_in) {
				text_printf(t, "%s%" PRIu32, t->len > start ? "," : "", first);
				if (bit - 1 > first)
					text_printf(t, "-%" PRIu32, bit - 1);
			}
			is_in = is_set;
		}
		if (i >= mask.len)
			break;
	}
}

static bool is_mask(struct tally_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ','))
			return false;
	}
	return text.len > 0;
}

static void print_text(struct trace_job *job, const struct data_sample *s, const struct tracepoint_value *value,
	unsigned index, struct text *t)
{
	struct text shown = {0};
	struct tally_str type = value->field.type;
	bool is_cpus = type.len > 0 && memmem(type.data, type.len, "cpumask_t", sizeof("cpumask_t") - 1) != NULL;
	if (is_cpus && tracepoint_field_print(job->source.tracepoints, s->sample.raw, TRACEPOINT_OWN, index, &shown) &&
		is_mask(text_view(&shown))) {
		if (job->settings->bitmasks_as_lists)
			print_bits(text_view(&shown), t);
		else
			text_bytes(t, shown.data, shown.len);
	} else {
		text_char(t, '"');
		text_visible(t, value->text);
		text_char(t, '"');
	}
	text_deinit(&shown);
}

static void print_field(struct trace_job *job, const struct data_sample *s, unsigned index,
	struct tracepoint_value *value, struct text *t)
{
	struct text shown = {0};
	struct tracepoint_printer *formats = job->source.tracepoints;
	if (value->field.form == TRACEPOINT_TEXT) {
		print_text(job, s, value, index, t);
	} else if (value->field.count > 1) {
		text_visible(t, value->text);
	} else if (tracepoint_field_print(formats, s->sample.raw, TRACEPOINT_OWN, index, &shown) &&
		   trace_payload_is_word(text_view(&shown))) {
		text_bytes(t, shown.data, shown.len);
	} else {
		trace_payload_number(job, &value->field, value->numbers[0], t);
	}
	text_deinit(&shown);
}

/* Prints the fields of syscalls:sys_enter_NAME as the arguments of a call. */
static bool print_arguments(struct trace_job *job, const struct data_sample *s, const struct trace_job_event *event)
{
	struct syscall_call call = {.abi = event->abi,
		.number = event->number,
		.kind = SYSCALL_RECORD_ENTRY,
		.pid = s->sample.pid,
		.has_args = true};
	struct tracepoint_value value;
	if (event->number == SYSCALL_UNKNOWN)
		return false;
	for (unsigned i = 0; i < SYSCALL_ARGS; i++) {
		if (!tracepoint_value_at(
			    job->source.tracepoints, s->sample.raw, TRACEPOINT_OWN, i + ENTER_ARGS_AT, &value))
			break;
		call.args[i] = value.numbers[0];
	}
	syscall_print_args(&job->out, &call, &job->style);
	return true;
}

/* True for numbers that are zero, unless zero has a name. */
static bool trace_payload_leaves_out(
	struct trace_job *job, const struct data_sample *s, unsigned index, const struct tracepoint_value *value)
{
	struct text shown = {0};
	bool is_number = value->field.form != TRACEPOINT_TEXT && value->field.count <= 1;
	if (!is_number || value->numbers[0] != 0 || trace_payload_enumerator(job, &value->field, 0))
		return false;
	bool has_name = tracepoint_field_print(job->source.tracepoints, s->sample.raw, TRACEPOINT_OWN, index, &shown) &&
			trace_payload_is_word(text_view(&shown));
	text_deinit(&shown);
	return !has_name;
}

void trace_payload_print(struct trace_job *job, const struct data_sample *s)
{
	struct tracepoint_printer *formats = job->source.tracepoints;
	struct text *out = &job->out;
	struct tracepoint_value value;
	bool is_first = true;
	if (s->event->attr.type != EVENT_TRACEPOINT || !formats)
		return;
	if (job->settings->form.by_print_format) {
		(void)tracepoint_print(formats, s->sample.raw, out);
		return;
	}
	if (print_arguments(job, s, &job->events.items[s->event->index]))
		return;
	for (unsigned i = 0; tracepoint_value_at(formats, s->sample.raw, TRACEPOINT_OWN, i, &value); i++) {
		if (!job->style.with_zeros && trace_payload_leaves_out(job, s, i, &value))
			continue;
		text_str(out, is_first ? "" : ", ");
		is_first = false;
		if (!job->style.no_names) {
			text_bytes(out, value.field.name.data, value.field.name.len);
			text_str(out, ": ");
		}
		print_field(job, s, i, &value, out);
	}
}
