/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_stops.c - unwinds the stops that stops.py writes as text, to compare only the unwinder with gdb.
 *
 * usage: unwind_stops FILE. Lines, numbers in hex:
 *	map LOW HIGH OFFSET PATH		executable mapping of a file; a "map" after a "stop" begins a new list
 *	stop PC ADDRESS BYTES REGISTER...	BYTES of the stack at ADDRESS; registers in DWARF order
 * One line is printed per stop: how the stack ended, how many frames were bridged, and the addresses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/text.h"
#include "code/binary_store.h"
#include "code/unwind/unwinder.h"

#define FRAMES 512

struct map {
	uint64_t low, high, offset;
	uint32_t id;
};

struct stops {
	struct binary_store *store;
	struct unwinder *unwinder;
	VEC(struct map) maps;
	VEC(uint8_t) stack;
	bool is_new; /* The next "map" line begins a new list. */
};

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "unwind_stops: %s\n", what);
	exit(2);
}

static bool find(void *context, uint64_t pc, struct unwind_module *module)
{
	const struct stops *s = context;
	for (size_t i = 0; i < s->maps.len; i++) {
		const struct map *map = &s->maps.items[i];
		struct tally_elf_va va;
		if (pc < map->low || pc >= map->high)
			continue;
		*module = (struct unwind_module){binary_store_unwind(s->store, map->id), map->low, map->high, 0};
		if (binary_store_unwind_va(s->store, map->id, (struct tally_file_off){map->offset}, &va))
			module->bias = map->low - va.value;
		return true;
	}
	return false;
}

static void add_map(struct stops *s, char *line)
{
	struct map map = {.low = strtoull(line, &line, 16)};
	map.high = strtoull(line, &line, 16);
	map.offset = strtoull(line, &line, 16);
	struct tally_str path = str_trim(str_from(line));
	struct binary_key key = {
		.kind = str_equal(path, STR("[vdso]")) ? BINARY_VDSO : BINARY_USER, .path = path, .pid = -1};
	check(binary_store_add(s->store, &key, &map.id, NULL) == TALLY_OK, "a file cannot be added");
	if (s->is_new)
		s->maps.len = 0;
	s->is_new = false;
	unwinder_forget(s->unwinder);
	check(vec_push(&s->maps, map), "out of memory");
}

static uint8_t digit(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void run_stop(struct stops *s, char *line)
{
	struct unwind_registers registers = {.pc = strtoull(line, &line, 16)};
	struct unwind_stack stack = {.address = strtoull(line, &line, 16)};
	const struct unwind_modules modules = {find, s};
	uint64_t ips[FRAMES];
	s->stack.len = 0;
	for (line++; *line > ' ' && line[1]; line += 2)
		check(vec_push(&s->stack, (uint8_t)(digit(line[0]) << 4 | digit(line[1]))), "out of memory");
	stack.bytes = (struct tally_bytes){s->stack.items, s->stack.len};
	for (unsigned i = 0; i < CFI_REGISTERS && *line == ' '; i++) {
		registers.values[i] = strtoull(line, &line, 16);
		registers.known |= UINT64_C(1) << i;
	}
	struct unwind_result result = unwinder_run(s->unwinder, &registers, &stack, &modules, ips, FRAMES);
	printf("%s, %zu bridged", unwind_end_name(result.end), result.bridged);
	for (size_t i = 0; i < result.count; i++)
		printf(" %" PRIx64, ips[i]);
	putchar('\n');
	s->is_new = true;
}

int main(int argc, char **argv)
{
	struct stops s = {0};
	char *data;
	size_t size;
	check(argc == 2, "usage: unwind_stops FILE");
	check(file_read(argv[1], SIZE_MAX / 2, &data, &size, NULL) == TALLY_OK, "the file cannot be read");
	check(binary_store_create(&(struct binary_store_options){0}, &s.store, NULL) == TALLY_OK, "out of memory");
	check(unwinder_create(arch_find("x86_64"), &s.unwinder, NULL) == TALLY_OK, "out of memory");
	for (char *next, *line = data; line < data + size; line = next) {
		next = memchr(line, '\n', (size_t)(data + size - line));
		check(next != NULL, "the last line has no end");
		*next++ = 0;
		if (strncmp(line, "map ", 4) == 0)
			add_map(&s, line + 4);
		else if (strncmp(line, "stop ", 5) == 0)
			run_stop(&s, line + 5);
	}
	unwinder_destroy(s.unwinder);
	binary_store_destroy(s.store);
	vec_free(&s.maps);
	vec_free(&s.stack);
	free(data);
	return 0;
}
