/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/trace/trace_print.h"

#include "base/array.h"

struct spec { /* A conversion such as %-08.3lx. */
	bool is_left, has_sign, has_blank, is_alternate, is_zero;
	size_t width;
	size_t precision;
	bool has_precision;
	unsigned bytes; /* Size of the argument. */
	char conversion;
};

struct trace_print_printer {
	struct trace_source source;
	struct text *t;
	struct tally_str format;
	size_t argument; /* Index of the event's next argument. */
	bool is_binary; /* Set for trace_printk: arguments are in buffer, not in nodes. */
	struct tally_bytes buffer;
	size_t position;
};

#define WIDTH_MAX 4096 /* No format of the kernel comes near this; a hostile one must not exhaust memory. */

static uint64_t take_binary(struct trace_print_printer *p, unsigned bytes)
{
	unsigned size = bytes == 8 ? 8 : 4; /* Smaller numbers occupy four bytes. */
	p->position += -p->position & (size - 1);
	uint64_t v = trace_load(p->buffer, p->position, size, true, p->source.context->swap);
	p->position += size;
	return v;
}

/* Returns TRACE_NO_NODE if there are no more arguments. */
static uint32_t take_node(struct trace_print_printer *p)
{
	const struct trace_event *event = p->source.event;
	return p->argument < event->argument_count ? event->arguments[p->argument++] : TRACE_NO_NODE;
}

static uint64_t trace_print_take_value(struct trace_print_printer *p, unsigned bytes)
{
	if (p->is_binary)
		return take_binary(p, bytes);
	uint32_t node = take_node(p);
	return node == TRACE_NO_NODE ? 0 : trace_number(&p->source, node);
}

static char trace_print_next(struct trace_print_printer *p)
{
	if (p->format.len == 0)
		return '\0';
	char c = p->format.data[0];
	p->format = (struct tally_str){p->format.data + 1, p->format.len - 1};
	return c;
}

static char trace_print_ahead(const struct trace_print_printer *p)
{
	return p->format.len > 0 ? p->format.data[0] : '\0';
}

static size_t take_size(struct trace_print_printer *p)
{
	size_t size = 0;
	if (trace_print_ahead(p) == '*') {
		(void)trace_print_next(p);
		int64_t v = (int32_t)trace_print_take_value(p, 4);
		return v < 0 ? 0 : v > WIDTH_MAX ? WIDTH_MAX : (size_t)v;
	}
	while (trace_print_ahead(p) >= '0' && trace_print_ahead(p) <= '9') {
		size = size * 10 + (size_t)(trace_print_next(p) - '0');
		size = MIN(size, WIDTH_MAX);
	}
	return size;
}

static struct spec take_spec(struct trace_print_printer *p)
{
	struct spec spec = {.bytes = 4};
	for (;; (void)trace_print_next(p)) {
		char c = trace_print_ahead(p);
		if (c == '-')
			spec.is_left = true;
		else if (c == '+')
			spec.has_sign = true;
		else if (c == ' ')
			spec.has_blank = true;
		else if (c == '#')
			spec.is_alternate = true;
		else if (c == '0')
			spec.is_zero = true;
		else
			break;
	}
	spec.width = take_size(p);
	if (trace_print_ahead(p) == '.') {
		(void)trace_print_next(p);
		spec.has_precision = true;
		spec.precision = take_size(p);
	}
	unsigned longs = 0;
	for (;; (void)trace_print_next(p)) {
		char c = trace_print_ahead(p);
		if (c == 'h')
			spec.bytes = spec.bytes == 2 ? 1 : 2;
		else if (c == 'l')
			longs++;
		else if (c == 'L' || c == 'q' || c == 'j')
			longs = 2;
		else if (c == 'z' || c == 't' || c == 'Z')
			longs = 1;
		else
			break;
	}
	if (longs > 0)
		spec.bytes = longs > 1 ? 8 : p->source.context->long_bytes;
	spec.conversion = trace_print_next(p);
	return spec;
}

static void trace_print_pad(struct text *t, const struct spec *spec, const char *s, size_t len)
{
	size_t missing = len < spec->width ? spec->width - len : 0;
	if (!spec->is_left)
		text_repeat(t, ' ', missing);
	text_bytes(t, s, len);
	if (spec->is_left)
		text_repeat(t, ' ', missing);
}

/* Writes the digits unchanged, with sign or prefix before the padding zeros. */
static void trace_print_put_digits(
	struct text *t, const struct spec *spec, const char *prefix, const char *digits, size_t count)
{
	size_t zeros = spec->has_precision && spec->precision > count ? spec->precision - count : 0;
	size_t len = strlen(prefix) + zeros + count;
	size_t missing = len < spec->width ? spec->width - len : 0;
	bool fills = spec->is_zero && !spec->is_left && !spec->has_precision;
	if (!spec->is_left && !fills)
		text_repeat(t, ' ', missing);
	text_str(t, prefix);
	text_repeat(t, '0', zeros + (fills ? missing : 0));
	text_bytes(t, digits, count);
	if (spec->is_left)
		text_repeat(t, ' ', missing);
}

static void trace_print_put_number(struct trace_print_printer *p, const struct spec *spec)
{
	uint64_t v = trace_print_take_value(p, spec->bytes);
	unsigned unused = 64 - spec->bytes * 8;
	bool is_signed = spec->conversion == 'd' || spec->conversion == 'i';
	const char *prefix = "";
	char digits[24];
	size_t at = sizeof(digits);
	v = is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v << unused >> unused;
	if (is_signed) {
		prefix = (int64_t)v < 0 ? "-" : spec->has_sign ? "+" : spec->has_blank ? " " : "";
		v = (int64_t)v < 0 ? -v : v;
	}
	unsigned base = spec->conversion == 'x' || spec->conversion == 'X' ? 16 : spec->conversion == 'o' ? 8 : 10;
	const char *letters = spec->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	if (spec->is_alternate && v > 0)
		prefix = base == 16 ? spec->conversion == 'X' ? "0X" : "0x" : base == 8 ? "0" : prefix;
	do {
		digits[--at] = letters[v % base];
		v /= base;
	} while (v > 0);
	trace_print_put_digits(p->t, spec, prefix, digits + at, sizeof(digits) - at);
}

static void trace_print_put_string(struct trace_print_printer *p, const struct spec *spec)
{
	struct text s = {0};
	if (!p->is_binary && spec->width == 0 && !spec->has_precision) {
		uint32_t node = take_node(p);
		if (node != TRACE_NO_NODE)
			trace_text(&p->source, node, p->t);
		return;
	}
	if (p->is_binary) {
		size_t left = p->position < p->buffer.len ? p->buffer.len - p->position : 0;
		const uint8_t *start = left > 0 ? p->buffer.data + p->position : NULL;
		const uint8_t *end = left > 0 ? memchr(start, '\0', left) : NULL;
		size_t len = end ? (size_t)(end - start) : left;
		text_bytes(&s, (const char *)start, len);
		p->position += len + 1;
	} else {
		uint32_t node = take_node(p);
		if (node != TRACE_NO_NODE)
			trace_text(&p->source, node, &s);
	}
	trace_print_pad(p->t, spec, s.data, spec->has_precision && spec->precision < s.len ? spec->precision : s.len);
	text_deinit(&s);
}

static void put_hex_address(struct trace_print_printer *p, const struct spec *spec, uint64_t v)
{
	struct text s = {0};
	text_str(&s, "0x");
	text_hex(&s, v, 0);
	trace_print_pad(p->t, spec, s.data, s.len);
	text_deinit(&s);
}

static void trace_print_put_address(struct trace_print_printer *p, const struct spec *spec, uint64_t v)
{
	if (v == 0)
		trace_print_pad(p->t, spec, "(nil)", 5); /* Like printf of the C library. */
	else
		put_hex_address(p, spec, v);
}

static void trace_print_put_symbol(struct trace_print_printer *p, const struct spec *spec, bool with_offset)
{
	const struct trace_context *context = p->source.context;
	uint64_t address = trace_print_take_value(p, context->long_bytes);
	uint64_t start = address;
	const char *name = context->find_symbol ? context->find_symbol(context->owner, &start) : NULL;
	if (!name) {
		put_hex_address(p, spec, address);
		return;
	}
	text_str(p->t, name);
	if (with_offset) {
		text_str(p->t, "+0x");
		text_hex(p->t, address - start, 0);
	}
}

static struct tally_bytes take_pointed(struct trace_print_printer *p)
{
	uint32_t node = p->is_binary ? TRACE_NO_NODE : take_node(p);
	return node == TRACE_NO_NODE ? (struct tally_bytes){NULL, 0} : trace_bytes(&p->source, node);
}

static void trace_print_put_bytes(struct text *t, const uint8_t *data, size_t count, char separator)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && separator)
			text_char(t, separator);
		text_hex(t, data[i], 2);
	}
}

static void put_ipv4(struct text *t, const uint8_t *data)
{
	for (size_t i = 0; i < 4; i++) {
		if (i > 0)
			text_char(t, '.');
		text_u64(t, data[i]);
	}
}

/* Returns whether the prefix announces an IPv4 address: IPv4-mapped (RFC 4291) or ISATAP (RFC 5214). */
static bool has_ipv4(const uint8_t *data)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, isatap[4] = {0x00, 0x00, 0x5e, 0xfe};
	const uint8_t interface[4] = {data[8] & 0xfdu, data[9], data[10], data[11]};
	return memcmp(data, mapped, sizeof(mapped)) == 0 || memcmp(interface, isatap, sizeof(isatap)) == 0;
}

/* Omits the longest run of zero groups and writes an embedded IPv4 address in dotted form (RFC 5952). */
static void put_ipv6_short(struct text *t, const uint8_t *data)
{
	size_t groups = has_ipv4(data) ? 6 : 8;
	size_t best = 8;
	size_t best_len = 1;
	for (size_t i = 0; i < groups; i++) {
		size_t len = 0;
		while (i + len < groups && data[(i + len) * 2] == 0 && data[(i + len) * 2 + 1] == 0)
			len++;
		if (len > best_len) {
			best = i;
			best_len = len;
		}
	}
	for (size_t i = 0; i < groups; i++) {
		if (i == best) {
			text_str(t, i == 0 ? "::" : ":");
			i += best_len - 1;
			continue;
		}
		text_hex(t, (uint64_t)data[i * 2] << 8 | data[i * 2 + 1], 0);
		if (i < 7)
			text_char(t, ':');
	}
	if (groups == 6)
		put_ipv4(t, data + 12);
}

static void put_ipv6(struct text *t, const uint8_t *data, bool is_short)
{
	if (is_short) {
		put_ipv6_short(t, data);
		return;
	}
	for (size_t i = 0; i < 8; i++) {
		if (i > 0)
			text_char(t, ':');
		trace_print_put_bytes(t, data + i * 2, 2, '\0');
	}
}

#define FAMILY_IPV4 2u
#define FAMILY_IPV6 10u

/* Prints a struct sockaddr_in or sockaddr_in6: the address, and its port if requested. */
static void put_socket_address(struct trace_print_printer *p, struct tally_bytes bytes, bool is_short, bool with_port)
{
	uint64_t family = trace_load(bytes, 0, 2, false, p->source.context->swap);
	bool is_ipv4 = family == FAMILY_IPV4 && bytes.len >= 8;
	bool is_ipv6 = family == FAMILY_IPV6 && bytes.len >= 24;
	if (is_ipv4)
		put_ipv4(p->t, bytes.data + 4);
	if (is_ipv6 && with_port)
		text_char(p->t, '[');
	if (is_ipv6)
		put_ipv6(p->t, bytes.data + 8, is_short);
	if (is_ipv6 && with_port)
		text_char(p->t, ']');
	if (!with_port || !(is_ipv4 || is_ipv6))
		return;
	text_char(p->t, ':');
	text_u64(p->t, (uint64_t)bytes.data[2] << 8 | bytes.data[3]);
}

/* Handles what follows the I in %pI4, %pi6c, %pISpc and others. */
static void put_internet(struct trace_print_printer *p)
{
	char kind = trace_print_next(p);
	bool is_short = false;
	bool with_port = false;
	while (trace_print_ahead(p) && strchr(kind == 'S'    ? "pfschnbl"
					       : kind == '6' ? "c"
							     : "hnbl",
					       trace_print_ahead(p))) {
		char c = trace_print_next(p);
		is_short = is_short || c == 'c';
		with_port = with_port || c == 'p';
	}
	struct tally_bytes bytes = take_pointed(p);
	if (kind == 'S')
		put_socket_address(p, bytes, is_short, with_port);
	else if (kind == '4' && bytes.len >= 4)
		put_ipv4(p->t, bytes.data);
	else if (kind == '6' && bytes.len >= 16)
		put_ipv6(p->t, bytes.data, is_short);
}

/* Handles %pU; the letters l and L select little-endian byte order. */
static void trace_print_put_uuid(struct trace_print_printer *p)
{
	static const uint8_t straight[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	static const uint8_t turned[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	char c = trace_print_ahead(p) && strchr("bBlL", trace_print_ahead(p)) ? trace_print_next(p) : 'b';
	const uint8_t *order = c == 'l' || c == 'L' ? turned : straight;
	struct tally_bytes bytes = take_pointed(p);
	for (size_t i = 0; i < 16 && bytes.len >= 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text_char(p->t, '-');
		text_hex(p->t, bytes.data[order[i]], 2);
	}
}

static void put_mac(struct trace_print_printer *p, char kind)
{
	char separator = kind == 'm' ? '\0' : ':';
	if (trace_print_ahead(p) == 'F') {
		(void)trace_print_next(p);
		separator = '-';
	}
	struct tally_bytes bytes = take_pointed(p);
	if (bytes.len >= 6)
		trace_print_put_bytes(p->t, bytes.data, 6, separator);
}

static void put_pointer(struct trace_print_printer *p, const struct spec *spec)
{
	char kind = trace_print_ahead(p);
	if (kind && strchr("FfSsBIiUMm", kind)) {
		(void)trace_print_next(p);
	} else {
		trace_print_put_address(p, spec, trace_print_take_value(p, p->source.context->long_bytes));
		return;
	}
	switch (kind) {
	case 'F':
	case 'S':
	case 'B':
	case 'f':
	case 's':
		trace_print_put_symbol(p, spec, kind != 'f' && kind != 's');
		return;
	case 'I':
	case 'i':
		put_internet(p);
		return;
	case 'U':
		trace_print_put_uuid(p);
		return;
	default:
		put_mac(p, kind);
		return;
	}
}

static void put_conversion(struct trace_print_printer *p)
{
	if (trace_print_ahead(p) == '%') {
		text_char(p->t, trace_print_next(p));
		return;
	}
	struct spec spec = take_spec(p);
	switch (spec.conversion) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		trace_print_put_number(p, &spec);
		return;
	case 's':
		trace_print_put_string(p, &spec);
		return;
	case 'p':
		put_pointer(p, &spec);
		return;
	case 'c': {
		char c = (char)trace_print_take_value(p, 4);
		trace_print_pad(p->t, &spec, &c, c ? 1 : 0);
		return;
	}
	default:
		return;
	}
}

static void trace_print_format(struct trace_print_printer *p)
{
	while (p->format.len > 0) {
		const char *percent = memchr(p->format.data, '%', p->format.len);
		size_t plain = percent ? (size_t)(percent - p->format.data) : p->format.len;
		text_bytes(p->t, p->format.data, plain);
		p->format = (struct tally_str){p->format.data + plain, p->format.len - plain};
		if (trace_print_next(p) == '%')
			put_conversion(p);
	}
}

static bool trace_print_is_printable(struct tally_bytes bytes)
{
	size_t i = 0;
	for (; i < bytes.len && bytes.data[i]; i++)
		if (bytes.data[i] < ' ' || bytes.data[i] > '~')
			return false;
	return i > 0 || bytes.len > 0;
}

void trace_field_print(
	const struct trace_field *field, const struct trace_context *context, struct tally_bytes raw, struct text *t)
{
	struct tally_bytes bytes = trace_field_bytes(field, context, raw);
	uint64_t v = field->is_array ? 0 : trace_field_number(field, context, raw, 0);
	if (field->is_string && trace_print_is_printable(bytes)) {
		const uint8_t *end = memchr(bytes.data, '\0', bytes.len);
		text_bytes(t, (const char *)bytes.data, end ? (size_t)(end - bytes.data) : bytes.len);
	} else if (field->is_array) {
		text_str(t, "ARRAY[");
		for (size_t i = 0; i < bytes.len; i++) {
			if (i > 0)
				text_str(t, ", ");
			text_hex(t, bytes.data[i], 2);
		}
		text_char(t, ']');
	} else if (field->is_pointer || (field->is_long && !field->is_signed)) {
		text_str(t, "0x");
		text_hex(t, v, 0);
	} else if (field->is_signed) {
		text_i64(t, (int64_t)v);
	} else {
		text_u64(t, v);
	}
}

static void print_fields(const struct trace_source *source, struct text *t)
{
	const struct trace_event *event = source->event;
	for (uint32_t i = event->common_count; i < event->field_count; i++) {
		text_char(t, ' ');
		text_bytes(t, event->fields[i].name.data, event->fields[i].name.len);
		text_char(t, '=');
		trace_field_print(&event->fields[i], source->context, source->raw, t);
	}
}

/* Prints a trace_printk: the payload holds the address of the format, and the arguments. */
static bool print_binary(struct trace_print_printer *p)
{
	const struct trace_event *event = p->source.event;
	const struct trace_context *context = p->source.context;
	uint32_t ip = trace_event_field(event, STR("ip"));
	uint32_t fmt = trace_event_field(event, STR("fmt"));
	uint32_t buf = trace_event_field(event, STR("buf"));
	uint64_t id;
	if (ip == UINT32_MAX || fmt == UINT32_MAX || buf == UINT32_MAX || !context->format_ids)
		return false;
	uint64_t address = trace_field_number(&event->fields[fmt], context, p->source.raw, 0);
	if (!map_u64_find(context->format_ids, address, &id))
		return false;
	uint64_t caller = trace_field_number(&event->fields[ip], context, p->source.raw, 0);
	const char *name = context->find_symbol ? context->find_symbol(context->owner, &caller) : NULL;
	if (name) {
		text_str(p->t, name);
	} else {
		text_str(p->t, "0x");
		text_hex(p->t, caller, 0);
	}
	text_str(p->t, ": ");
	p->is_binary = true;
	p->buffer = trace_field_bytes(&event->fields[buf], context, p->source.raw);
	p->format = context->formats[id];
	trace_print_format(p);
	return true;
}

void trace_event_print(
	const struct trace_event *event, const struct trace_context *context, struct tally_bytes raw, struct text *t)
{
	struct trace_print_printer p = {.source = {event, context, raw}, .t = t, .format = event->format};
	if (str_equal(event->name, STR("bprint")) && print_binary(&p))
		return;
	if (event->is_printable) {
		trace_print_format(&p);
	} else {
		text_str(t, "[FAILED TO PARSE]");
		print_fields(&p.source, t);
	}
}

/* State of the search for the value of a field in a print format, as in "name=0x%lx", "name: %s," and "name %d". */
struct named_value {
	struct tally_str name;
	enum { VALUE_AHEAD, VALUE_BEGINS, VALUE_INSIDE, VALUE_COMPLETE } state;
	bool is_word_start; /* The next character begins a word. */
	bool has_conversion; /* The value contains a conversion; otherwise it is only text of the format. */
	struct text *t;
};

/* Returns the length of the field's name and of the separator after it; 0 if text begins with another word. */
static size_t name_length(const struct named_value *v, struct tally_str text)
{
	size_t len = v->name.len;
	if (!v->is_word_start || text.len <= len || memcmp(text.data, v->name.data, len) != 0)
		return 0;
	return text.data[len] == '=' || text.data[len] == ':' || text.data[len] == ' ' ? len + 1 : 0;
}

static void trace_print_restart(struct named_value *v)
{
	v->state = VALUE_AHEAD;
	v->is_word_start = false;
	text_clear(v->t);
}

static void end_value(struct named_value *v)
{
	if (v->has_conversion)
		v->state = VALUE_COMPLETE;
	else
		trace_print_restart(v);
	v->is_word_start = true;
}

static void pass_literal(struct named_value *v, struct tally_str text)
{
	for (size_t i = 0; i < text.len && v->state != VALUE_COMPLETE; i++) {
		bool is_blank = text.data[i] == ' ';
		size_t named =
			v->state == VALUE_AHEAD ? name_length(v, (struct tally_str){text.data + i, text.len - i}) : 0;
		if (named) {
			v->state = VALUE_BEGINS;
			i += named - 1;
		} else if (v->state == VALUE_AHEAD) {
			v->is_word_start = is_blank;
		} else if (text.data[i] == '=' && !v->has_conversion) {
			trace_print_restart(v); /* "work struct=%p": the name was only the end of a longer one. */
		} else if (!is_blank) {
			v->state = VALUE_INSIDE;
			text_char(v->t, text.data[i]);
		} else if (v->state == VALUE_INSIDE) {
			end_value(v);
		}
	}
}

static void pass_conversion(struct named_value *v, struct trace_print_printer *p, struct text *other)
{
	bool is_wanted = v->state == VALUE_BEGINS || v->state == VALUE_INSIDE;
	p->t = is_wanted ? v->t : other;
	put_conversion(p);
	text_clear(other);
	v->is_word_start = false;
	if (is_wanted) {
		v->state = VALUE_INSIDE;
		v->has_conversion = true;
	}
}

/* Prints the value into t, which must be empty. Returns false if the format does not contain the field in this
 * form. */
static bool print_named_value(const struct trace_source *source, uint32_t field, struct text *t)
{
	struct text other = {0};
	struct trace_print_printer p = {.source = *source, .format = source->event->format};
	struct named_value v = {.name = source->event->fields[field].name, .is_word_start = true, .t = t};
	while (source->event->is_printable && p.format.len > 0 && v.state != VALUE_COMPLETE) {
		const char *percent = memchr(p.format.data, '%', p.format.len);
		size_t plain = percent ? (size_t)(percent - p.format.data) : p.format.len;
		pass_literal(&v, (struct tally_str){p.format.data, plain});
		p.format = (struct tally_str){p.format.data + plain, p.format.len - plain};
		if (v.state != VALUE_COMPLETE && trace_print_next(&p) == '%')
			pass_conversion(&v, &p, &other);
	}
	text_deinit(&other);
	if (!v.has_conversion)
		text_clear(t);
	else if (t->len > 0 && t->data[t->len - 1] == ',')
		t->len--;
	return v.has_conversion && t->len > 0;
}

void trace_event_print_field(const struct trace_event *event, uint32_t field, const struct trace_context *context,
	struct tally_bytes raw, struct text *t)
{
	struct trace_source source = {event, context, raw};
	struct text value = {0};
	if (print_named_value(&source, field, &value))
		text_bytes(t, value.data, value.len);
	else
		trace_field_print(&event->fields[field], context, raw, t);
	text_deinit(&value);
}

void trace_event_print_raw(
	const struct trace_event *event, const struct trace_context *context, struct tally_bytes raw, struct text *t)
{
	struct trace_source source = {event, context, raw};
	print_fields(&source, t);
}
