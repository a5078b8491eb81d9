/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/listing/annotate_objdump.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "base/limits.h"

#define LINE_BYTES	 1024 /* Longer lines of objdump's output are cut. */
#define MOST_A_LINE	 32 /* Maximum number of bytes on a line; no instruction is longer. */
#define SECTION_NAMES	 "\0.text\0.shstrtab"
#define TEXT_NAME	 1
#define NAMES_NAME	 7
#define SECTIONS	 3
#define HEADER_BYTES_64	 64
#define SECTION_BYTES_64 64
#define HEADER_BYTES_32	 52
#define SECTION_BYTES_32 40

extern char **environ;

static void put_word(struct writer *w, bool is_64, uint64_t value)
{
	if (is_64)
		writer_u64(w, value);
	else
		writer_u32(w, (uint32_t)value);
}

struct annotate_objdump_section {
	uint32_t name, type;
	uint64_t flags, address, offset, size;
};

static void annotate_objdump_put_section(struct writer *w, bool is_64, const struct annotate_objdump_section *section)
{
	writer_u32(w, section->name);
	writer_u32(w, section->type);
	put_word(w, is_64, section->flags);
	put_word(w, is_64, section->address);
	put_word(w, is_64, section->offset);
	put_word(w, is_64, section->size);
	writer_zeros(w, 8);
	put_word(w, is_64, section->type == SHT_NULL ? 0 : 1);
	put_word(w, is_64, 0);
}

bool objdump_object(struct writer *w, const struct binary_code *code)
{
	const uint16_t one = 1;
	bool host_is_big = *(const uint8_t *)&one == 0, is_64 = code->is_64;
	const uint8_t ident[EI_NIDENT] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, is_64 ? ELFCLASS64 : ELFCLASS32,
		code->is_big_endian ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT};
	uint64_t header = is_64 ? HEADER_BYTES_64 : HEADER_BYTES_32;
	uint64_t section = is_64 ? SECTION_BYTES_64 : SECTION_BYTES_32, names = header + SECTIONS * section;
	w->swap = code->is_big_endian != host_is_big;
	writer_bytes(w, ident, sizeof(ident));
	writer_u16(w, ET_EXEC);
	writer_u16(w, (uint16_t)code->elf_machine);
	writer_u32(w, EV_CURRENT);
	put_word(w, is_64, code->address);
	put_word(w, is_64, 0);
	put_word(w, is_64, header);
	writer_u32(w, 0);
	writer_u16(w, (uint16_t)header);
	writer_u16(w, 0);
	writer_u16(w, 0);
	writer_u16(w, (uint16_t)section);
	writer_u16(w, SECTIONS);
	writer_u16(w, SECTIONS - 1);
	annotate_objdump_put_section(w, is_64, &(struct annotate_objdump_section){0});
	annotate_objdump_put_section(w, is_64,
		&(struct annotate_objdump_section){TEXT_NAME, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, code->address,
			names + sizeof(SECTION_NAMES), code->bytes.len});
	annotate_objdump_put_section(w, is_64,
		&(struct annotate_objdump_section){NAMES_NAME, SHT_STRTAB, 0, 0, names, sizeof(SECTION_NAMES)});
	writer_bytes(w, SECTION_NAMES, sizeof(SECTION_NAMES));
	writer_bytes(w, code->bytes.data, code->bytes.len);
	return !w->failed;
}

static int annotate_objdump_hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t annotate_objdump_blanks(struct tally_str text, size_t at)
{
	while (at < text.len && (text.data[at] == ' ' || text.data[at] == '\t'))
		at++;
	return at;
}

/* Parses a line like "  4015: 89 f9    \t". Returns the start of its text, the line's length if it has no text, or 0
 * if it has another form. */
static size_t annotate_objdump_read_bytes(struct tally_str line, uint64_t *address, unsigned *size)
{
	size_t at = annotate_objdump_blanks(line, 0), first = at, digits = 0;
	uint64_t value = 0;
	for (; at < line.len && annotate_objdump_hex_of(line.data[at]) >= 0 && at - first < 16; at++)
		value = value << 4 | (unsigned)annotate_objdump_hex_of(line.data[at]);
	if (at == first || at >= line.len || line.data[at] != ':')
		return 0;
	for (at = annotate_objdump_blanks(line, at + 1); at < line.len && line.data[at] != '\t'; at++) {
		bool is_digit = annotate_objdump_hex_of(line.data[at]) >= 0;
		if (!is_digit && line.data[at] != ' ')
			return 0;
		digits += is_digit;
	}
	if (digits == 0 || digits % 2 || digits / 2 > MOST_A_LINE)
		return 0;
	*address = value;
	*size = (unsigned)(digits / 2);
	return annotate_objdump_blanks(line, at);
}

/* Removes a final "<.text+0x12>", which refers to the temporary object file. */
static size_t without_name(const char *text, size_t len)
{
	size_t depth = 0, at = len;
	if (len == 0 || text[len - 1] != '>')
		return len;
	while (at > 0) {
		at--;
		depth += text[at] == '>';
		depth -= text[at] == '<';
		if (depth == 0)
			break;
	}
	while (depth == 0 && at > 0 && text[at - 1] == ' ')
		at--;
	return depth == 0 ? at : len;
}

/* Returns the start of a comment like "// #1" or "# 0x1a9d", or len if there is none; "#0x1" is an operand. */
static size_t comment_at(const char *text, size_t from, size_t len)
{
	for (size_t at = from; at + 1 < len; at++) {
		bool is_slashes = text[at] == '/' && text[at + 1] == '/';
		if (is_slashes || (text[at] == '#' && text[at + 1] == ' ' && at > from && text[at - 1] == ' '))
			return at;
	}
	return len;
}

static bool annotate_objdump_add_text(struct objdump_lines *lines, struct tally_str text, struct objdump_line *line)
{
	size_t len = without_name(text.data, text.len), mnemonic = 0, operands, end;
	while (mnemonic < len && text.data[mnemonic] != ' ' && text.data[mnemonic] != '\t')
		mnemonic++;
	operands = annotate_objdump_blanks((struct tally_str){text.data, len}, mnemonic);
	end = comment_at(text.data, operands, len);
	while (end > operands && (text.data[end - 1] == ' ' || text.data[end - 1] == '\t'))
		end--;
	line->text = arena_string(&lines->arena, text.data, len);
	line->mnemonic = arena_string(&lines->arena, text.data, mnemonic);
	line->operands = arena_string(&lines->arena, text.data + operands, end - operands);
	return line->text && line->mnemonic && line->operands && vec_push(&lines->items, *line);
}

bool objdump_lines_add(struct objdump_lines *lines, struct tally_str text, const struct binary_code *code)
{
	struct objdump_line line;
	size_t at = annotate_objdump_read_bytes(text, &line.address, &line.size);
	uint64_t offset = at ? line.address - code->address : UINT64_MAX;
	struct objdump_line *last = lines->items.len ? &lines->items.items[lines->items.len - 1] : NULL;
	if (at == 0 || offset >= code->bytes.len || line.size > code->bytes.len - offset)
		return true;
	bool goes_on = last && line.address == last->address + last->size;
	if (at == text.len && goes_on && line.size <= MOST_A_LINE && last->size <= MOST_A_LINE)
		last->size += line.size; /* The line continues the bytes of the previous one. */
	if (at == text.len || (last && line.address < last->address + last->size))
		return true;
	return annotate_objdump_add_text(lines, (struct tally_str){text.data + at, text.len - at}, &line);
}

static bool annotate_objdump_read_lines(FILE *from, const struct binary_code *code, struct objdump_lines *lines)
{
	char text[LINE_BYTES];
	while (fgets(text, sizeof(text), from)) {
		size_t len = strcspn(text, "\n");
		bool is_whole = text[len] == '\n';
		if (!objdump_lines_add(lines, (struct tally_str){text, len}, code))
			return false;
		for (int c = 0; !is_whole && c != '\n' && c != EOF;)
			c = getc(from);
	}
	return true;
}

static enum tally_status annotate_objdump_start(
	const char *program, const char *style, int object, pid_t *pid, FILE **output, struct tally_error *err)
{
	char path[32];
	int ends[2];
	const char *argv[] = {program, "-d", style ? "-M" : "-d", style ? style : "-d", path, NULL};
	posix_spawn_file_actions_t actions;
	snprintf(path, sizeof(path), "/dev/fd/%d", object);
	if (pipe(ends) != 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot make a pipe");
	int failure = posix_spawn_file_actions_init(&actions);
	if (failure == 0) {
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		posix_spawn_file_actions_addclose(&actions, ends[0]);
		posix_spawn_file_actions_addclose(&actions, ends[1]);
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		failure = posix_spawnp(pid, program, &actions, NULL, (char *const *)(uintptr_t)argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	*output = failure ? NULL : fdopen(ends[0], "r");
	if (!*output)
		close(ends[0]);
	if (failure)
		return error_set_errno(
			err, failure == ENOENT ? TALLY_NOT_FOUND : TALLY_IO, failure, "cannot run %s", program);
	return TALLY_OK;
}

static enum tally_status annotate_objdump_finish(const char *program, pid_t pid, size_t count, struct tally_error *err)
{
	int status;
	if (wait_for_process(pid, &status, 0) < 0)
		return error_set_errno(err, TALLY_IO, errno, "cannot wait for %s", program);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(err, TALLY_INVALID, "%s failed (status %d)", program,
			WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return count ? TALLY_OK : error_set(err, TALLY_INVALID, "%s printed no instructions", program);
}

static enum tally_status annotate_objdump_make_object(
	const struct binary_code *code, int *object, struct tally_error *err)
{
	struct writer w = {0};
	enum tally_status status = objdump_object(&w, code) ? TALLY_OK : error_nomem(err);
	*object = status == TALLY_OK ? memfd_create("code", 0) : -1;
	if (status == TALLY_OK && *object < 0)
		status = error_set_errno(err, TALLY_IO, errno, "cannot make a file in memory");
	if (status == TALLY_OK)
		status = file_write_all(*object, w.data, w.len, err);
	writer_deinit(&w);
	return status;
}

const char *annotate_config_style(const struct config_text *config)
{
	struct tally_str value = config_text_value(config);
	if (strcmp(config->name, "annotate.disassembler_style"))
		return NULL;
	return str_equal(value, STR("intel")) ? "intel" : str_equal(value, STR("att")) ? "att" : NULL;
}

int disassembly_style_check(const struct cli *cli, const char *style, const char *objdump)
{
	if (!style || objdump || !strcmp(style, "intel") || !strcmp(style, "att"))
		return 0;
	return cli_failf(cli, "-M takes intel or att, not '%s'; other styles need --objdump", style);
}

enum tally_status objdump_run(const char *program, const char *style, const struct binary_code *code,
	struct objdump_lines *lines, struct tally_error *err)
{
	int object;
	pid_t pid;
	FILE *output = NULL;
	enum tally_status status = annotate_objdump_make_object(code, &object, err);
	if (status == TALLY_OK)
		status = annotate_objdump_start(program, style, object, &pid, &output, err);
	if (status == TALLY_OK) {
		bool has_memory = output && annotate_objdump_read_lines(output, code, lines);
		if (output)
			fclose(output);
		status = annotate_objdump_finish(program, pid, lines->items.len, err);
		status = has_memory ? status : error_nomem(err);
	}
	if (object >= 0)
		close(object);
	return status;
}

void objdump_lines_deinit(struct objdump_lines *lines)
{
	vec_free(&lines->items);
	arena_deinit(&lines->arena);
}
