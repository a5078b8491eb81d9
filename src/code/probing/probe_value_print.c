/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_value_print.c - writes a value as a fetch argument of the kernel, and chooses the kernel's type that prints it
 * like its type in the source.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "code/probing/probe_value.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_numbers.h"

#define PROBE_ELEMENTS_MAX 64 /* Maximum number of array elements in one argument. */
#define PROBE_WORD_BITS	   64

struct probe_layout { /* A type in the kernel's syntax: "s32", "b3@1/32", "x8[16]". */
	char sign; /* 's' signed, 'u' unsigned, 'x' hexadecimal, 'b' bit-field, 't' string; 0 if there is no type. */
	unsigned bits; /* Number of bits of one element. */
	unsigned shift, container; /* For 'b': bits to the right of the value, and bits of the word that contains it. */
	uint64_t elements; /* Number of elements of an array; 0 if it is not an array. */
};

static void TALLY_PRINTF(2, 3) probe_note(struct probe_reader *reader, const char *format, ...)
{
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	const char *note = arena_string(&reader->fetches->arena, text, strlen(text));
	reader->types->out_of_memory |= !note || !vec_push(&reader->fetches->notes, note);
}

static bool probe_is_whole(uint64_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static bool probe_is_signed(const struct dwarf_type *plain)
{
	return plain && (plain->encoding == DW_ATE_signed || plain->encoding == DW_ATE_signed_char);
}

static bool probe_is_character(struct probe_reader *reader, const struct dwarf_type *type)
{
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, type);
	return plain && plain->kind == DWARF_TYPE_SCALAR && plain->tag == DW_TAG_base_type &&
	       dwarf_type_size(reader->types, plain) == 1;
}

/* Returns the number of elements in the dimensions that have not been indexed. */
static uint64_t probe_element_count(const struct probe_value *value, const struct dwarf_type *array)
{
	uint64_t count = 1;
	if (value->dimension >= array->dimension_count)
		return array->element_count;
	for (uint32_t i = value->dimension; i < array->dimension_count; i++)
		if (__builtin_mul_overflow(count, array->dimensions[i], &count))
			return 0;
	return count;
}

static struct probe_layout probe_scalar_layout(
	struct probe_reader *reader, const struct dwarf_type *plain, const char *name)
{
	uint64_t bytes = plain ? dwarf_type_size(reader->types, plain) : 0;
	struct probe_layout layout = {.sign = probe_is_signed(plain) ? 's' : 'x'};
	if (bytes > 8)
		probe_note(reader, "%s exceeds max-bitwidth. Cut down to 64 bits.", name);
	if (bytes == 0)
		return (struct probe_layout){.sign = 0};
	if (bytes > 8 || probe_is_whole(bytes)) {
		layout.bits = (unsigned)(bytes > 8 ? PROBE_WORD_BITS : 8 * bytes);
		return layout;
	}
	layout.sign = 'b';
	layout.bits = (unsigned)(8 * bytes);
	layout.container = bytes < 4 ? 32 : PROBE_WORD_BITS;
	return layout;
}

static struct probe_layout probe_array_layout(
	struct probe_reader *reader, const struct probe_value *value, const struct dwarf_type *array)
{
	const struct dwarf_type *element = dwarf_type_plain(reader->types, dwarf_type_target(reader->types, array));
	uint64_t count = probe_element_count(value, array);
	uint64_t bytes = element ? dwarf_type_size(reader->types, element) : 0;
	bool is_scalar = element && (element->kind == DWARF_TYPE_SCALAR || element->kind == DWARF_TYPE_POINTER);
	if (is_scalar && bytes == 1 && element->encoding == DW_ATE_signed_char &&
		str_equal(element->own_name, str_from("char")))
		return (struct probe_layout){.sign = 't'};
	if (!is_scalar || !probe_is_whole(bytes) || count == 0)
		return (struct probe_layout){.sign = 0};
	if (count > PROBE_ELEMENTS_MAX)
		probe_note(reader, "'%s' has %" PRIu64 " elements, of which the kernel fetches the first %d",
			value->name, count, PROBE_ELEMENTS_MAX);
	return (struct probe_layout){.sign = probe_is_signed(element) ? 's' : 'x',
		.bits = (unsigned)(8 * bytes),
		.elements = MIN(count, UINT64_C(64))};
}

static struct probe_layout probe_choose_layout(struct probe_reader *reader, const struct probe_value *value)
{
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, value->type);
	if (plain && plain->kind == DWARF_TYPE_ARRAY)
		return probe_array_layout(reader, value, plain);
	struct tally_str name = plain && plain->own_name.len > 0 ? plain->own_name : str_from(value->name);
	const char *copy = arena_string(&reader->fetches->arena, name.data, name.len);
	return probe_scalar_layout(reader, plain, copy ? copy : "");
}

static enum tally_status probe_bits_layout(
	struct probe_reader *reader, struct probe_value *value, struct probe_layout *layout, struct tally_error *err)
{
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, value->type);
	uint64_t container = plain ? dwarf_type_size(reader->types, plain) : 0;
	uint64_t begin = 0;
	container = probe_is_whole(container) ? container : 4;
	for (;; container *= 2) {
		if (container > 8)
			return error_set(
				err, TALLY_UNSUPPORTED, "the bit-field '%s' does not fit into 64 bits", value->name);
		begin = value->first_bit / 8 / container * container;
		if (value->first_bit + value->bits <= 8 * (begin + container))
			break;
		begin = value->first_bit / 8;
		if (value->first_bit + value->bits <= 8 * (begin + container))
			break;
	}
	struct probe_chain *chain = &value->location.chain;
	if (value->location.kind == PROBE_LOCATION_CHAIN && chain->is_memory)
		chain->offsets[chain->count - 1] = (int64_t)((uint64_t)chain->offsets[chain->count - 1] + begin);
	else
		value->skipped += begin;
	uint64_t shift = value->first_bit - 8 * begin;
	if (reader->locator.binary->arch && reader->locator.binary->arch->is_big_endian)
		shift = 8 * container - shift - value->bits;
	*layout = (struct probe_layout){
		.sign = 'b', .bits = value->bits, .shift = (unsigned)shift, .container = (unsigned)(8 * container)};
	if (probe_is_signed(plain))
		probe_note(reader, "the kernel shows the signed bit-field '%s' without its sign", value->name);
	return TALLY_OK;
}

/* Expresses a part of a register, or a register with only some valid bits, as a bit-field. */
static enum tally_status probe_fit_register(struct probe_reader *reader, const struct probe_value *value,
	struct probe_layout *layout, struct tally_error *err)
{
	const struct probe_chain *chain = &value->location.chain;
	unsigned kept = chain->bits ? chain->bits : PROBE_WORD_BITS - chain->shift;
	uint64_t inside = 8 * value->skipped + (layout->sign == 'b' ? layout->shift : 0);
	uint64_t first = chain->shift + inside;
	if (chain->is_memory)
		return TALLY_OK;
	if (layout->elements || layout->sign == 't')
		return error_set(err, TALLY_UNSUPPORTED,
			"the array '%s' is in a register, of which the kernel gives no elements; name one of them",
			value->name);
	if (layout->sign == 0 && first == 0 && kept == PROBE_WORD_BITS)
		return TALLY_OK;
	if (layout->bits == 0 || inside >= kept || first + MIN(layout->bits, kept) > PROBE_WORD_BITS)
		return error_set(err, TALLY_UNSUPPORTED, "'%s' goes beyond its register", value->name);
	unsigned bits = (unsigned)MIN(layout->bits, kept - inside);
	if (first == 0 && layout->sign != 'b' && probe_is_whole(bits / 8) && bits % 8 == 0) {
		if (bits < layout->bits)
			layout->sign = chain->is_extended ? 's' : layout->sign == 's' ? 'u' : layout->sign;
		layout->bits = bits;
		return TALLY_OK;
	}
	if (layout->sign == 's' && (bits == layout->bits || chain->is_extended))
		probe_note(reader, "the kernel shows '%s' without its sign: it is part of a register", value->name);
	*layout = (struct probe_layout){
		.sign = 'b', .bits = bits, .shift = (unsigned)first, .container = PROBE_WORD_BITS};
	return TALLY_OK;
}

static const char *probe_layout_print(struct probe_reader *reader, const struct probe_layout *layout)
{
	struct arena *arena = &reader->fetches->arena;
	const char *name = NULL;
	if (layout->sign == 't')
		name = reader->is_user ? "ustring" : "string";
	else if (layout->sign == 'b')
		name = arena_printf(arena, "b%u@%u/%u", layout->bits, layout->shift, layout->container);
	else if (layout->sign && layout->elements)
		name = arena_printf(arena, "%c%u[%" PRIu64 "]", layout->sign, layout->bits, layout->elements);
	else if (layout->sign)
		name = arena_printf(arena, "%c%u", layout->sign, layout->bits);
	reader->types->out_of_memory |= layout->sign && !name;
	return name;
}

static bool probe_is_named(const struct dwarf_type *type, const char *prefix)
{
	return type && str_starts_with(type->own_name, str_from(prefix));
}

/* Detects text that has a length and no terminating zero byte, which the kernel could not read correctly. Returns its
 * language, or NULL. Bytes of Go and Rust always have a length, except for signed characters, which come from C. */
static const char *probe_counted_text(struct probe_reader *reader, const struct probe_value *value)
{
	const struct dwarf_unit *unit = reader->locator.place->scope.unit;
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, value->type);
	bool is_record = plain && plain->kind == DWARF_TYPE_RECORD;
	unsigned language = unit ? unit->language : 0;
	if (probe_is_named(is_record ? plain : value->record, "basic_string_view"))
		return "C++";
	if (!plain || (language != DW_LANG_Go && language != DW_LANG_Rust))
		return NULL;
	const struct dwarf_type *target = dwarf_type_plain(reader->types, dwarf_type_target(reader->types, plain));
	bool is_text = is_record ? probe_is_named(plain, "string") || probe_is_named(plain, "&str") ||
					   probe_is_named(plain, "&mut str") || probe_is_named(plain, "String")
				 : !probe_is_signed(target);
	return !is_text ? NULL : language == DW_LANG_Go ? "Go" : "Rust";
}

static enum tally_status probe_refuse_counted(
	struct probe_reader *reader, const struct probe_value *value, const char *language, struct tally_error *err)
{
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, value->type);
	const char *pointer = "", *length = "its length";
	size_t count = 0;
	const struct dwarf_member *members =
		plain && plain->kind == DWARF_TYPE_RECORD ? dwarf_type_members(reader->types, plain, &count) : NULL;
	for (size_t i = 0; i < count; i++) {
		const struct dwarf_type *type = dwarf_type_plain(reader->types, members[i].type);
		bool is_pointer = type && type->kind == DWARF_TYPE_POINTER;
		*(is_pointer ? &pointer : &length) = members[i].name;
	}
	return error_set(err, TALLY_UNSUPPORTED,
		"Failed to cast into string: '%s' is text of %s, which has a length and no zero byte at its end, where "
		"the kernel would stop; fetch its bytes (%s%s%s[0]:x8[32]) and %s%s%s",
		value->name, language, value->name, *pointer ? "." : "", pointer, count ? value->name : "",
		count ? "." : "", length);
}

/* Selects the text of a std::string, which ends with a zero byte. */
static enum tally_status probe_step_into_string(
	struct probe_reader *reader, struct probe_value *value, struct tally_error *err)
{
	static const char *const members[] = {"_M_dataplus", "_M_p"};
	enum tally_status status = TALLY_OK;
	const char *name = value->name;
	for (size_t i = 0; i < ARRAY_LEN(members) && status == TALLY_OK; i++) {
		const struct probe_field field = {.kind = PROBE_FIELD_DOT, .name = str_from(members[i])};
		status = probe_value_step(reader, value, &field, err);
	}
	value->name = name;
	return status;
}

/* Moves the value to the first character of a string: the target of a pointer, an array, or the text of a
 * std::string. */
static enum tally_status probe_cast_string(
	struct probe_reader *reader, struct probe_value *value, struct tally_error *err)
{
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, value->type);
	const char *language = probe_counted_text(reader, value);
	if (language)
		return probe_refuse_counted(reader, value, language, err);
	const struct dwarf_type *referent =
		plain && (plain->tag == DW_TAG_reference_type || plain->tag == DW_TAG_rvalue_reference_type)
			? dwarf_type_plain(reader->types, dwarf_type_target(reader->types, plain))
			: plain;
	if (referent && referent->kind == DWARF_TYPE_RECORD && probe_is_named(referent, "basic_string<char")) {
		enum tally_status status = probe_step_into_string(reader, value, err);
		if (status != TALLY_OK)
			return status;
		plain = dwarf_type_plain(reader->types, value->type);
	}
	bool is_pointer = plain && plain->kind == DWARF_TYPE_POINTER;
	if (!is_pointer && (!plain || plain->kind != DWARF_TYPE_ARRAY))
		return error_set(err, TALLY_INVALID, "Failed to cast into string: %s(%s) is not a pointer nor array.",
			value->name, dwarf_type_name(reader->types, value->type));
	if (!probe_is_character(reader, dwarf_type_target(reader->types, plain)))
		return error_set(err, TALLY_INVALID,
			"Failed to cast into string: %s is not (unsigned) char *: it is %s", value->name,
			dwarf_type_name(reader->types, value->type));
	if (is_pointer)
		return probe_value_dereference(reader, value, err);
	enum tally_status status = probe_value_reduce(reader, value, 1, err);
	if (status == TALLY_OK && !value->location.chain.is_memory)
		return error_set(err, TALLY_UNSUPPORTED, "the string '%s' is in a register", value->name);
	return status;
}

const char *probe_file_distance(struct probe_reader *reader, uint64_t address)
{
	const struct probe_place *place = reader->locator.place;
	uint64_t distance = address - (place->address - place->file_offset);
	bool is_before = (int64_t)distance < 0; /* The kernel reads a signed number after "@+". */
	return arena_printf(
		&reader->fetches->arena, "+%s0x%" PRIx64, is_before ? "-" : "", is_before ? 0 - distance : distance);
}

/* Static data is addressed by its distance from the probe in the file or, in the kernel, by a symbol. */
static const char *probe_address_print(
	struct probe_reader *reader, const char *variable, uint64_t address, int64_t offset)
{
	struct arena *arena = &reader->fetches->arena;
	address += reader->locator.binary->moved;
	if (reader->locator.binary->kind == PROBE_PROGRAM) {
		const char *distance = probe_file_distance(reader, address + (uint64_t)offset);
		return distance ? arena_printf(arena, "@%s", distance) : NULL;
	}
	uint64_t own;
	if (probe_symbol_find(reader, str_from(variable), &own) && own == address)
		return arena_printf(arena, "@%s%+" PRId64, variable, offset);
	const struct probe_symbol *symbol = probe_symbol_around(reader, address);
	if (!symbol)
		return arena_printf(arena, "@0x%" PRIx64, address + (uint64_t)offset);
	return arena_printf(arena, "@%s%+" PRId64, symbol->name, (int64_t)(address - symbol->address) + offset);
}

static const char *probe_chain_base_print(
	struct probe_reader *reader, const struct probe_value *value, struct tally_error *err)
{
	const struct probe_chain *chain = &value->location.chain;
	const char *text;
	switch (chain->base) {
	case PROBE_BASE_REGISTER:
		text = probe_register_name(&reader->locator, chain->reg);
		if (!text && !reader->locator.out_of_memory)
			(void)error_set(err, TALLY_UNSUPPORTED,
				"'%s' is in %s, which the kernel does not give to probes", value->name,
				probe_register_words(&reader->locator, chain->reg));
		return text;
	case PROBE_BASE_ADDRESS:
		return probe_address_print(reader, value->variable, chain->number, chain->offsets[0]);
	case PROBE_BASE_NUMBER:
	default:
		return arena_printf(
			&reader->fetches->arena, "\\%" PRId64, (int64_t)(chain->number + (uint64_t)chain->offsets[0]));
	}
}

static const char *probe_read_print(struct probe_reader *reader, int64_t offset, const char *inner)
{
	uint64_t distance = offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset;
	return arena_printf(&reader->fetches->arena, "%c%s%" PRIu64 "(%s)", offset < 0 ? '-' : '+',
		reader->is_user ? "u" : "", distance, inner);
}

/* Returns NULL if memory ran out, or if the value cannot be printed, which err then explains. */
static const char *probe_chain_print(
	struct probe_reader *reader, const struct probe_value *value, struct tally_error *err)
{
	const struct probe_chain *chain = &value->location.chain;
	const char *text = probe_chain_base_print(reader, value, err);
	int64_t pending = chain->offsets[chain->count - 1];
	/* The text of any base but a register already includes offsets[0]. */
	uint32_t first = chain->base != PROBE_BASE_REGISTER;
	/* The text for the address of static data already reads its memory. */
	uint32_t reads = chain->count - !chain->is_memory;
	if (text && chain->base == PROBE_BASE_ADDRESS && !chain->is_memory && chain->count == 1) {
		(void)error_set(err, TALLY_UNSUPPORTED,
			"the value of '%s' is an address in the program, which the kernel cannot compute", value->name);
		return NULL;
	}
	if (text && !chain->is_memory && pending && !(first && chain->count == 1)) {
		(void)error_set(err, TALLY_UNSUPPORTED,
			"the value of '%s' is a sum (%s%+" PRId64 "), which the kernel cannot compute", value->name,
			chain->count == 1 ? text : "memory", pending);
		return NULL;
	}
	for (uint32_t i = first; i < reads && text; i++)
		text = probe_read_print(reader, chain->offsets[i], text);
	return text;
}

enum tally_status probe_result_print(struct probe_reader *reader, const struct dwarf_type *type, struct tally_str cast,
	struct probe_fetch *fetch, struct tally_error *err)
{
	struct probe_value value = {.type = type, .name = "$retval", .variable = "$retval"};
	const struct dwarf_type *plain = dwarf_type_plain(reader->types, type);
	bool is_string = str_equal(cast, str_from("string")) || str_equal(cast, str_from("ustring"));
	if (is_string && type) {
		const char *language = probe_counted_text(reader, &value);
		if (language)
			return probe_refuse_counted(reader, &value, language, err);
		if (!plain || plain->kind != DWARF_TYPE_POINTER ||
			!probe_is_character(reader, dwarf_type_target(reader->types, plain)))
			return error_set(err, TALLY_INVALID,
				"Failed to cast into string: the result is not (unsigned) char *: it is %s",
				dwarf_type_name(reader->types, type));
	}
	fetch->text = is_string ? reader->is_user || cast.data[0] == 'u' ? "+u0($retval)" : "+0($retval)" : "$retval";
	if (cast.len > 0 || !plain || !reader->fetches->types_results)
		return TALLY_OK;
	/* Without a type, the kernel prints a whole word, which suits pointers and unsigned 64-bit numbers. */
	bool is_number = plain->kind == DWARF_TYPE_SCALAR && probe_is_whole(dwarf_type_size(reader->types, plain)) &&
			 (plain->encoding == DW_ATE_unsigned || plain->encoding == DW_ATE_unsigned_char ||
				 probe_is_signed(plain));
	if (is_number && (probe_is_signed(plain) || dwarf_type_size(reader->types, plain) < 8)) {
		const struct probe_layout layout = probe_scalar_layout(reader, plain, "$retval");
		fetch->type = probe_layout_print(reader, &layout);
	}
	return reader->types->out_of_memory ? error_nomem(err) : TALLY_OK;
}

/* The types "s", "u" and "x" without a number of bits only change how a number is printed. */
static bool probe_is_sign(struct tally_str cast)
{
	return cast.len == 1 && (cast.data[0] == 's' || cast.data[0] == 'u' || cast.data[0] == 'x');
}

static enum tally_status probe_print_typed(struct probe_reader *reader, struct probe_value *value,
	struct tally_str cast, struct probe_fetch *fetch, struct tally_error *err)
{
	struct probe_layout layout;
	enum tally_status status = TALLY_OK;
	if (value->bits)
		status = probe_bits_layout(reader, value, &layout, err);
	else
		layout = probe_choose_layout(reader, value);
	if (status != TALLY_OK)
		return status;
	if (probe_is_sign(cast)) {
		if (layout.sign == 0 || layout.sign == 't')
			layout = (struct probe_layout){.bits = PROBE_WORD_BITS, .sign = cast.data[0]};
		else if (layout.sign != 'b')
			layout.sign = cast.data[0];
	}
	bool is_own = cast.len == 0 || probe_is_sign(cast);
	status = probe_value_reduce(
		reader, value, layout.elements ? 1 : MAX(1u, (layout.shift + layout.bits + 7) / 8), err);
	struct probe_layout fitted = layout;
	if (status == TALLY_OK)
		status = probe_fit_register(reader, value, &fitted, err);
	if (status != TALLY_OK)
		return status;
	if (is_own || (fitted.sign == 'b' && layout.sign != 'b')) {
		fetch->type = probe_layout_print(reader, &fitted);
		return TALLY_OK;
	}
	fetch->type = arena_string(&reader->fetches->arena, cast.data, cast.len);
	return fetch->type ? TALLY_OK : error_nomem(err);
}

enum tally_status probe_value_print(struct probe_reader *reader, struct probe_value *value, struct tally_str cast,
	struct probe_fetch *fetch, struct tally_error *err)
{
	bool is_string = str_equal(cast, str_from("string")) || str_equal(cast, str_from("ustring"));
	enum tally_status status = probe_value_name_referent(reader, value, err);
	if (status == TALLY_OK && is_string) {
		status = probe_cast_string(reader, value, err);
		fetch->type = reader->is_user || cast.data[0] == 'u' ? "ustring" : "string";
	} else if (status == TALLY_OK) {
		status = probe_print_typed(reader, value, cast, fetch, err);
	}
	if (status != TALLY_OK)
		return status;
	if (err)
		err->text[0] = 0;
	fetch->text = probe_chain_print(reader, value, err);
	if (reader->types->out_of_memory || reader->locator.out_of_memory)
		return error_nomem(err);
	return fetch->text ? TALLY_OK : TALLY_UNSUPPORTED;
}
