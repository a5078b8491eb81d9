/* SPDX-License-Identifier: Apache-2.0 */
#include "code/probing/sdt_arguments.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>

#include "base/array.h"

#define SDT_ARGUMENTS_MAX 128 /* Maximum number of arguments of an event in the kernel; a note has at most twelve. */

struct sdt_arguments_operand {
	bool is_memory, is_constant;
	int64_t number; /* Value of a constant, or displacement of a memory operand. */
	struct tally_str symbol; /* Symbol that is added to the number; empty if there is none. */
	/* The kernel's name of the register: the operand, or the base of a memory operand; "" if there is none. */
	char base[8];
	bool is_relative; /* The base is the instruction pointer, so that the sum is an address. */
};

/* Removes a number from the beginning of text. */
static bool sdt_arguments_number(struct tally_str *text, int64_t *number)
{
	size_t start = text->len > 0 && (text->data[0] == '-' || text->data[0] == '+'), len = start;
	uint64_t value;
	while (len < text->len && isalnum((unsigned char)text->data[len]))
		len++;
	if (!str_to_u64((struct tally_str){text->data + start, len - start}, 0, &value))
		return false;
	*number = (int64_t)(text->data[0] == '-' ? 0 - value : value);
	*text = (struct tally_str){text->data + len, text->len - len};
	return true;
}

/* The kernel names registers without regard to their width: %rax, %eax, %ax and %al are "ax". */
static bool sdt_arguments_x86_register(struct tally_str name, char kernel_name[8])
{
	static const char *const whole[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip"};
	struct tally_str stem = name;
	if (name.len >= 2 && name.data[0] == 'r' &&
		isdigit((unsigned char)name.data[1])) { /* These are r8 to r15, r8d, r8w and r8b. */
		uint64_t number;
		if (strchr("dwb", name.data[name.len - 1]))
			stem.len--;
		if (!str_to_u64((struct tally_str){stem.data + 1, stem.len - 1}, 10, &number) || number < 8 ||
			number > 15)
			return false;
		snprintf(kernel_name, 8, "r%u", (unsigned)number);
		return true;
	}
	if (name.len == 3 && (name.data[0] == 'r' || name.data[0] == 'e'))
		stem = (struct tally_str){name.data + 1, 2};
	else if (name.len == 3 && name.data[2] == 'l') /* These are sil, dil, bpl and spl. */
		stem.len = 2;
	/* These are al, bl, cl and dl. */
	bool is_low = name.len == 2 && name.data[1] == 'l' && strchr("abcd", name.data[0]);
	for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
		if (!(is_low ? i < 4 && whole[i][0] == name.data[0] : str_equal(stem, str_from(whole[i]))))
			continue;
		snprintf(kernel_name, 8, "%s", whole[i]);
		return true;
	}
	return false;
}

static bool sdt_arguments_is_x86(const struct arch *arch)
{
	return arch->e_machine == EM_X86_64 || arch->e_machine == EM_386;
}

static bool sdt_arguments_register(const struct arch *arch, struct tally_str name, char kernel_name[8])
{
	char word[8];
	if (name.len < 2 || name.len >= sizeof(word))
		return false;
	if (sdt_arguments_is_x86(arch))
		return sdt_arguments_x86_register(name, kernel_name);
	snprintf(word, sizeof(word), "%.*s", (int)name.len, name.data);
	if (arch->e_machine == EM_AARCH64) {
		if (strcmp(word, "wsp") == 0)
			snprintf(word, sizeof(word), "sp");
		else if (word[0] == 'w')
			word[0] = 'x';
		if (strcmp(word, "sp") != 0 && (word[0] != 'x' || !isdigit((unsigned char)word[1])))
			return false;
	}
	if (arch->e_machine == EM_RISCV && word[0] == 'f' && strcmp(word, "fp") != 0)
		return false;
	bool is_known = arch_register_find(arch, word) != ARCH_NO_REGISTER ||
			(arch->e_machine == EM_AARCH64 && strcmp(word, "x30") == 0);
	if (is_known)
		snprintf(kernel_name, 8, "%s", word);
	return is_known;
}

/* Parses a sum of numbers and at most one symbol: "8", "-16", "g", "g+8", "8+g". Returns NULL, or why it cannot be
 * used. */
static const char *sdt_arguments_sum(struct tally_str text, struct sdt_arguments_operand *operand)
{
	while (text.len > 0) {
		int64_t number;
		if (sdt_arguments_number(&text, &number)) {
			operand->number = (int64_t)((uint64_t)operand->number + (uint64_t)number);
			continue;
		}
		if (text.data[0] == '+')
			text = (struct tally_str){text.data + 1, text.len - 1};
		size_t len = 0;
		while (len < text.len && (isalnum((unsigned char)text.data[len]) || strchr("_.$@", text.data[len])))
			len++;
		if (len == 0 || operand->symbol.len > 0)
			return "it is no operand that is understood";
		if (memchr(text.data, '@', len))
			return "it is thread-local, or of another file";
		operand->symbol = (struct tally_str){text.data, len};
		text = (struct tally_str){text.data + len, text.len - len};
	}
	return NULL;
}

/* Parses AT&T syntax, which RISC-V shares except for the percent sign: %edi, -8(%rbp), g+8(%rip), $17. */
static const char *sdt_arguments_att(
	const struct arch *arch, struct tally_str text, struct sdt_arguments_operand *operand)
{
	bool is_x86 = sdt_arguments_is_x86(arch);
	if (is_x86 && text.data[0] == '$') {
		struct tally_str rest = {text.data + 1, text.len - 1};
		operand->is_constant = true;
		return sdt_arguments_number(&rest, &operand->number) && rest.len == 0
			       ? NULL
			       : "its value is an address that is known at run time only";
	}
	bool has_percent = is_x86 && text.data[0] == '%';
	if (has_percent && memchr(text.data, ':', text.len))
		return "it is in another segment (thread-local)";
	if (has_percent || (!is_x86 && isalpha((unsigned char)text.data[0]) && !memchr(text.data, '(', text.len))) {
		struct tally_str name = {text.data + has_percent, text.len - has_percent};
		return sdt_arguments_register(arch, name, operand->base) ? NULL
									 : "the kernel does not read this register";
	}
	const char *open = memchr(text.data, '(', text.len);
	if (!open && !is_x86) {
		operand->is_constant = true;
		return sdt_arguments_number(&text, &operand->number) && text.len == 0
			       ? NULL
			       : "it is no operand that is understood";
	}
	operand->is_memory = true;
	const char *why =
		sdt_arguments_sum((struct tally_str){text.data, open ? (size_t)(open - text.data) : text.len}, operand);
	if (why || !open)
		return why;
	struct tally_str inside = {open + 1, text.len - (size_t)(open - text.data) - 1};
	if (inside.len < 2 || inside.data[inside.len - 1] != ')')
		return "it is no operand that is understood";
	inside.len--;
	if (memchr(inside.data, ',', inside.len))
		return "the kernel adds no scaled index";
	struct tally_str name = {inside.data + is_x86, inside.len - is_x86};
	if ((is_x86 && inside.data[0] != '%') || !sdt_arguments_register(arch, name, operand->base))
		return "the kernel does not read this register";
	operand->is_relative = is_x86 && strcmp(operand->base, "ip") == 0;
	return NULL;
}

/* Parses x0, w3, [sp, 16], [x1] or 17. */
static const char *sdt_arguments_aarch64(
	const struct arch *arch, struct tally_str text, struct sdt_arguments_operand *operand)
{
	struct tally_str rest = text, name;
	if (text.data[0] != '[') {
		if (sdt_arguments_register(arch, text, operand->base))
			return NULL;
		operand->is_constant = true;
		return sdt_arguments_number(&rest, &operand->number) && rest.len == 0
			       ? NULL
			       : "the kernel does not read this register";
	}
	if (text.len < 3 || text.data[text.len - 1] != ']')
		return "it is no operand that is understood";
	operand->is_memory = true;
	rest = (struct tally_str){text.data + 1, text.len - 2};
	if (!str_next(&rest, ',', &name) || !sdt_arguments_register(arch, str_trim(name), operand->base))
		return "the kernel does not read this register";
	rest = str_trim(rest);
	if (rest.len > 0 && rest.data[0] == '#')
		rest = (struct tally_str){rest.data + 1, rest.len - 1};
	if (rest.len > 0 && (!sdt_arguments_number(&rest, &operand->number) || rest.len > 0))
		return "the kernel adds no index";
	return NULL;
}

/* Variables of the program are addressed relative to the probe's file, because the kernel knows where the file is in
 * memory. */
static const char *sdt_arguments_print_variable(
	const struct sdt_arguments_place *place, const struct sdt_arguments_operand *operand, struct text *out)
{
	uint64_t address = 0;
	if (operand->base[0] && !operand->is_relative)
		return "the kernel adds no address to a register";
	if (operand->symbol.len == 0)
		return "its address is not known";
	if (!place->find_symbol || !place->find_symbol(place->context, operand->symbol, &address))
		return "the program has no symbol of this name";
	int64_t offset = (int64_t)(address + (uint64_t)operand->number - place->address + place->offset);
	if (offset < 0)
		return "it lies before the file's beginning in memory";
	text_printf(out, "@+0x%llx", (long long)offset);
	return NULL;
}

static const char *sdt_arguments_print(
	const struct sdt_arguments_place *place, const struct sdt_arguments_operand *operand, struct text *out)
{
	if (operand->is_constant)
		text_printf(out, "\\%lld", (long long)operand->number);
	else if (!operand->is_memory)
		text_printf(out, "%%%s", operand->base);
	else if (operand->symbol.len > 0 || !operand->base[0] || operand->is_relative)
		return sdt_arguments_print_variable(place, operand, out);
	else
		text_printf(out, "%+lld(%%%s)", (long long)operand->number, operand->base);
	return NULL;
}

/* Parses a size such as "-4@" before the operand. Sets *type to "" if the note has none. */
static const char *sdt_arguments_type(struct tally_str *text, char type[8])
{
	const char *at = memchr(text->data, '@', text->len);
	uint64_t bytes;
	type[0] = '\0';
	if (!at || text->data[0] == '%' || text->data[0] == '[')
		return NULL;
	struct tally_str size = {text->data, (size_t)(at - text->data)};
	*text = (struct tally_str){at + 1, text->len - size.len - 1};
	bool is_signed = size.len > 0 && size.data[0] == '-';
	size = (struct tally_str){size.data + is_signed, size.len - is_signed};
	if (size.len > 1 && size.data[size.len - 1] == 'f')
		return "the kernel has no floating-point type";
	if (!str_to_u64(size, 10, &bytes) || bytes == 0 || bytes > 8 || (bytes & (bytes - 1)))
		return "its size is none that the kernel knows";
	snprintf(type, 8, ":%c%u", is_signed ? 's' : 'u', (unsigned)bytes * 8);
	return text->len > 0 ? NULL : "it is no operand that is understood";
}

static const char *sdt_arguments_one(
	const struct sdt_arguments_place *place, unsigned number, struct tally_str text, struct text *out)
{
	struct sdt_arguments_operand operand = {.base = ""};
	char type[8];
	const struct arch *arch = place->arch;
	if (!arch || (!sdt_arguments_is_x86(arch) && arch->e_machine != EM_AARCH64 && arch->e_machine != EM_RISCV))
		return "operands of this machine are not known";
	const char *why = sdt_arguments_type(&text, type);
	if (!why)
		why = arch->e_machine == EM_AARCH64 ? sdt_arguments_aarch64(arch, text, &operand)
						    : sdt_arguments_att(arch, text, &operand);
	if (why)
		return why;
	size_t start = out->len;
	text_printf(out, " arg%u=", number);
	why = sdt_arguments_print(place, &operand, out);
	if (why)
		out->len = start;
	else
		text_str(out, type);
	return why;
}

/* Removes the next operand from rest. Blanks separate operands, except inside brackets. */
static bool sdt_arguments_next(struct tally_str *rest, struct tally_str *operand)
{
	*rest = str_trim(*rest);
	size_t len = 0;
	for (int depth = 0; len < rest->len && (depth > 0 || !isspace((unsigned char)rest->data[len])); len++)
		depth += (rest->data[len] == '[') - (rest->data[len] == ']');
	*operand = (struct tally_str){rest->data, len};
	*rest = (struct tally_str){rest->data + len, rest->len - len};
	return len > 0;
}

void sdt_arguments_write(const struct sdt_arguments_place *place, const char *arguments, struct text *out,
	struct sdt_arguments_left *left)
{
	struct tally_str rest = str_from(arguments), operand;
	*left = (struct sdt_arguments_left){0};
	for (unsigned number = 1; sdt_arguments_next(&rest, &operand); number++) {
		const char *why = number > SDT_ARGUMENTS_MAX ? "the kernel takes no more arguments"
							     : sdt_arguments_one(place, number, operand, out);
		if (why && left->count++ == 0)
			snprintf(left->why, sizeof(left->why), "arg%u is %.*s: %s", number, (int)MIN(operand.len, 60),
				operand.data, why);
	}
}
