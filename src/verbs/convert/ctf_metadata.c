/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/convert/ctf_metadata.h"

#include "base/array.h"

#define BYTE_ORDER_NAME (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be")
#define INDENT		"\t\t"

/* Writes a string literal. Quotes and backslashes are escaped; other characters than printable ASCII become '?'. */
static void put_literal(struct text *t, struct tally_str value)
{
	text_char(t, '"');
	for (size_t i = 0; i < value.len; i++) {
		uint8_t c = (uint8_t)value.data[i];
		if (c == '"' || c == '\\')
			text_char(t, '\\');
		if (c >= 0x20 && c < 0x7f)
			text_char(t, (char)c);
		else
			text_char(t, '?');
	}
	text_char(t, '"');
}

static void put_integer(struct text *t, unsigned bits, bool is_signed, bool is_hex)
{
	text_printf(t, INDENT "integer { size = %u; align = 8; signed = %s; base = %s; }", bits,
		is_signed ? "true" : "false", is_hex ? "hexadecimal" : "decimal");
}

void ctf_metadata_begin(struct text *t, const uint8_t uuid[CTF_UUID_BYTES], const struct ctf_trace_info *info)
{
	text_str(t, "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	for (unsigned i = 0; i < CTF_UUID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text_char(t, '-');
		text_hex(t, uuid[i], 2);
	}
	text_printf(t, "\";\n\tbyte_order = %s;\n\tpacket.header := struct {\n", BYTE_ORDER_NAME);
	put_integer(t, 32, false, true);
	text_str(t, " magic;\n");
	put_integer(t, 8, false, false);
	text_printf(t, " uuid[%u];\n", CTF_UUID_BYTES);
	put_integer(t, 32, false, false);
	text_str(t, " stream_id;\n\t} align(8);\n};\n\n");
	text_str(t, "env {\n\thost = ");
	put_literal(t, info->host);
	text_str(t, ";\n\tsysname = \"Linux\";\n\trelease = ");
	put_literal(t, info->release);
	text_str(t, ";\n\tversion = ");
	put_literal(t, info->version);
	text_str(t, ";\n\tmachine = ");
	put_literal(t, info->machine);
	text_str(t, ";\n\tdomain = \"kernel\";\n\ttracer_name = \"tally\";\n};\n\n");
	text_str(t, "clock {\n\tname = perf_clock;\n\tdescription = ");
	put_literal(t, info->clock);
	text_printf(t, ";\n\tfreq = 1000000000;\n\toffset_s = %llu;\n\toffset = %llu;\n\tabsolute = FALSE;\n};\n\n",
		(unsigned long long)(info->clock_offset_ns / 1000000000),
		(unsigned long long)(info->clock_offset_ns % 1000000000));
	text_str(t, "typealias integer { size = 64; align = 8; signed = false; map = clock.perf_clock.value; } := "
		    "perf_time;\n\nstream {\n\tid = 0;\n\tevent.header := struct {\n");
	put_integer(t, 32, false, false);
	text_str(t, " id;\n" INDENT "perf_time timestamp;\n\t} align(8);\n\tpacket.context := struct {\n" INDENT
		    "perf_time timestamp_begin;\n" INDENT "perf_time timestamp_end;\n");
	static const char *const sizes[] = {"content_size", "packet_size", "events_discarded"};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		put_integer(t, 64, false, false);
		text_printf(t, " %s;\n", sizes[i]);
	}
	put_integer(t, 32, false, false);
	text_str(t, " cpu_id;\n\t} align(8);\n};\n");
}

static bool is_keyword(struct tally_str name)
{
	static const char *const keywords[] = {"align", "callsite", "char", "clock", "const", "double", "enum", "env",
		"event", "float", "floating_point", "int", "integer", "long", "short", "signed", "stream", "string",
		"struct", "trace", "typealias", "typedef", "unsigned", "variant", "void", "_Bool", "_Complex",
		"_Imaginary"};
	for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
		if (str_equal(name, str_from(keywords[i])))
			return true;
	return false;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static char in_identifier(char c)
{
	return is_word(c) ? c : '_';
}

static bool ctf_metadata_is_alike(struct tally_str a, struct tally_str b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (in_identifier(a.data[i]) != in_identifier(b.data[i]))
			return false;
	return true;
}

/* Writes a valid identifier. Readers drop a leading underscore. */
static void ctf_metadata_put_name(struct text *t, const struct ctf_field *fields, size_t index)
{
	struct tally_str name = fields[index].name;
	bool starts_well = name.len > 0 && is_word(name.data[0]) && !(name.data[0] >= '0' && name.data[0] <= '9');
	size_t earlier = 0;
	for (size_t i = 0; i < index; i++)
		earlier += ctf_metadata_is_alike(fields[i].name, name);
	if (!starts_well || is_keyword(name))
		text_char(t, '_');
	for (size_t i = 0; i < name.len; i++)
		text_char(t, in_identifier(name.data[i]));
	if (earlier > 0)
		text_printf(t, "_dupl_%zu", earlier);
}

static void put_field(struct text *t, const struct ctf_field *fields, size_t index)
{
	enum ctf_kind kind = fields[index].kind;
	uint32_t count = fields[index].count;
	switch (kind) {
	case CTF_U32:
	case CTF_S32:
		put_integer(t, 32, kind == CTF_S32, false);
		break;
	case CTF_U64:
	case CTF_S64:
	case CTF_HEX64:
		put_integer(t, 64, kind == CTF_S64, kind == CTF_HEX64);
		break;
	case CTF_STRING:
		text_str(t, INDENT "string { encoding = UTF8; }");
		break;
	case CTF_SEQUENCE_HEX32:
	case CTF_SEQUENCE_HEX64:
		put_integer(t, 32, false, false);
		text_char(t, ' ');
		ctf_metadata_put_name(t, fields, index);
		text_str(t, "_size;\n");
		put_integer(t, kind == CTF_SEQUENCE_HEX32 ? 32 : 64, false, true);
		break;
	}
	text_char(t, ' ');
	ctf_metadata_put_name(t, fields, index);
	if (kind == CTF_SEQUENCE_HEX32 || kind == CTF_SEQUENCE_HEX64) {
		text_char(t, '[');
		ctf_metadata_put_name(t, fields, index);
		text_str(t, "_size]");
	} else if (count > 0) {
		text_printf(t, "[%u]", count);
	}
	text_str(t, ";\n");
}

void ctf_metadata_class(
	struct text *t, uint32_t id, struct tally_str name, const struct ctf_field *fields, size_t count)
{
	text_str(t, "\nevent {\n\tname = ");
	put_literal(t, name);
	text_printf(t, ";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", id);
	for (size_t i = 0; i < count; i++)
		put_field(t, fields, i);
	text_str(t, "\t} align(8);\n};\n");
}
