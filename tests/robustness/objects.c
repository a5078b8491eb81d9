/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.c - damages the tables and debug information of real ELF files in many ways, and runs all code that reads
 * such files: it must not crash, hang or use much memory.
 *
 * usage: objects TRIES FILE... FILEs are little-endian and 64-bit. Each field of the ELF header, section headers and
 * program headers is set to extreme values and to values of other fields; then each section that tally reads is
 * damaged in TRIES pseudo-random ways: changed bytes, endless LEB128s, changed lengths, truncation. A FILE with .dwz
 * in its name is the supplement of the others. Meant for a build with sanitizers.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_MALLOC_HOOKS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_MALLOC_HOOKS 1
#endif
#ifdef HAS_MALLOC_HOOKS
#include <sanitizer/allocator_interface.h>
#endif

#include "arch/arch.h"
#include "base/array.h"
#include "base/file.h"
#include "code/probing/probe_functions.h"
#include "code/probing/probe_places.h"
#include "code/probing/probe_symbols.h"
#include "code/probing/probe_variables.h"
#include "code/probing/probe_variables_cache.h"
#include "object/dwarf/cfi.h"
#include "object/dwarf/debug_info.h"
#include "object/dwarf/dwarf_entry.h"
#include "object/dwarf/expression.h"

#define HANG_SECONDS  20 /* In CPU time, because other programs may be running. */
#define MEMORY_FACTOR 64
#define MEMORY_BASE   ((size_t)32 << 20)
#define ADDRESSES     64
#define PLACES	      16
#define CFI_ENTRIES   64
#define CFI_ROWS      16
#define PROBED_CASES  4 /* Probes are tried in one of so many cases, because they read all functions. */

static char current[4096 + 200]; /* Description of the current case, for error messages. */
static size_t cases, fetched;
static const struct elf_image *supplement;

static void fail(const char *what)
{
	dprintf(STDERR_FILENO, "%s: %s\n", current, what);
	abort();
}

static void on_alarm(int signal_number)
{
	dprintf(STDERR_FILENO, "%s: takes more than %d s\n", current, HANG_SECONDS);
	abort();
}

static void set_alarm(unsigned cpu_seconds)
{
	struct itimerval timer = {.it_value.tv_sec = cpu_seconds};
	if (setitimer(ITIMER_PROF, &timer, NULL) != 0)
		abort();
}

static size_t live_bytes, peak_bytes;

#ifdef HAS_MALLOC_HOOKS
static void on_malloc(const volatile void *memory, size_t size)
{
	live_bytes += size;
	if (live_bytes > peak_bytes)
		peak_bytes = live_bytes;
}

static void on_free(const volatile void *memory)
{
	if (memory)
		live_bytes -= __sanitizer_get_allocated_size(memory);
}
#endif

static void read_variables(
	struct probe_binary *binary, const struct probe_place *place, const struct probe_definition *probe)
{
	const struct probe_variables_options options = {.with_externs = true, .with_ranges = true};
	struct probe_fetches fetches;
	struct text out = {0};
	for (size_t i = 0; i < probe->argument_count; i++) {
		probe_fetches_init(&fetches);
		fetched += probe_variables_fetch(binary, place, &probe->arguments[i], 1, &fetches, NULL) == TALLY_OK;
		probe_fetches_deinit(&fetches);
	}
	fetched += probe_variables_print(binary, place, &options, &out, NULL) == TALLY_OK;
	text_deinit(&out);
}

/* Resolves probes on the functions of test_hostile_objects.py. */
static void read_probes(struct elf_image *image, struct debug_info *info)
{
	static const char *const texts[] = {"outer $vars s->a s->b x[1] stdout", "deep s.a s->a:string i $params",
		"grows t t[1] n:x", "*:2 $vars", "small.c:7 i x"};
	const struct probe_places_options options = {.max = PLACES, .wants_variables = true};
	struct probe_binary binary = {.path = "damaged",
		.image = image,
		.debug_image = image,
		.info = info,
		.arch = arch_find_elf((uint16_t)elf_image_machine(image), elf_image_pointer_bytes(image))};
	struct arena arena;
	/* An empty symbol table: read_symbols covers the reading of symbols. */
	binary.symbols = calloc(1, sizeof(*binary.symbols));
	if (!binary.symbols || probe_symbols_finish(binary.symbols, NULL) != TALLY_OK)
		abort();
	arena_init(&arena);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct probe_definition probe;
		struct probe_places places;
		probe_places_init(&places);
		if (probe_definition_parse(texts[i], &arena, &probe, NULL) == TALLY_OK &&
			probe_places_find(&binary, &probe.point, &options, &places, NULL) != TALLY_OK)
			places.items.len = 0;
		for (size_t p = 0; p < places.items.len; p++)
			read_variables(&binary, &places.items.items[p], &probe);
		probe_places_deinit(&places);
	}
	probe_functions_free(binary.functions);
	probe_variables_cache_free(binary.variables);
	probe_symbols_free(binary.symbols);
	arena_deinit(&arena);
}

static void read_lines(struct elf_image *image, const uint64_t *addresses, size_t count)
{
	const struct debug_info_options options = {.supplement = supplement};
	struct debug_info *info;
	struct dwarf_reader reader;
	struct arena arena;
	if (debug_info_open(image, &options, &info, NULL) != TALLY_OK)
		return;
	dwarf_reader_init(&reader);
	arena_init(&arena);
	if (debug_info_load(info, addresses, count, 1, NULL) != TALLY_OK)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		struct debug_place places[PLACES];
		size_t found = debug_info_find(info, addresses[i], places, PLACES);
		for (size_t p = 0; p < found; p++) {
			(void)debug_info_name(info, &reader, &places[p]);
			(void)debug_info_path(info, &places[p], &arena);
		}
	}
	if (cases % PROBED_CASES == 0)
		read_probes(image, info);
	arena_deinit(&arena);
	dwarf_reader_deinit(&reader);
	debug_info_close(info);
}

static bool read_register(void *context, uint64_t number, uint64_t *value)
{
	*value = number << 12;
	return number < 32;
}

static bool read_memory(void *context, uint64_t address, unsigned size, uint64_t *value)
{
	*value = address ^ size;
	return true;
}

static void run_expression(const struct cfi_table *table, const struct cfi_rule *rule)
{
	const struct dwarf_machine machine = {
		.read_register = read_register, .read_memory = read_memory, .has_cfa = true, .address_size = 8};
	uint64_t value;
	if (rule->kind == CFI_AT_EXPRESSION || rule->kind == CFI_IS_EXPRESSION)
		(void)dwarf_expression_run(cfi_expression(table, rule), &machine, &machine.cfa, &value);
}

static void read_frames(const struct elf_image *image, const char *name, bool is_eh)
{
	struct elf_section section;
	struct cfi_table table;
	if (elf_section_open(image, name, &section, NULL) != TALLY_OK)
		return;
	struct cfi_section from = {.bytes = section.bytes, .address = 0x4000, .is_eh = is_eh, .address_size = 8};
	if (cfi_open(&table, &from, NULL) == TALLY_OK) {
		for (size_t i = 0; i < table.fdes.len && i < CFI_ENTRIES; i++) {
			const struct cfi_fde *fde =
				&table.fdes.items[i * table.fdes.len / CFI_ENTRIES % table.fdes.len];
			struct cfi_row row = {.high = fde->low};
			struct cfi_frame frame;
			for (unsigned rows = 0; rows < CFI_ROWS && row.high < fde->high; rows++) {
				uint64_t pc = row.high;
				if (!cfi_row_at(&table, fde, pc, &row, &frame) || row.high <= pc)
					break;
				run_expression(&table, &row.cfa);
				for (int r = 0; r < CFI_REGISTERS; r++)
					run_expression(&table, &row.registers[r]);
			}
		}
		cfi_deinit(&table);
	}
	elf_section_close(&section);
}

/* Collects the addresses of some symbols, for look-ups in the debug information. */
static size_t read_symbols(struct elf_image *image, uint64_t *addresses)
{
	struct elf_symbol_list list = {0};
	struct elf_plt plt = {0};
	struct elf_image *inner;
	struct tally_str link;
	uint32_t crc;
	size_t count = 0;
	if (elf_image_symbols(image, &list, NULL) == TALLY_OK) {
		for (size_t i = 0; i < list.symbols.len && count < ADDRESSES; i += 1 + list.symbols.len / ADDRESSES)
			addresses[count++] = list.symbols.items[i].vaddr + list.symbols.items[i].size / 2;
	}
	(void)!elf_image_plt(image, &plt, NULL);
	struct elf_symbol_list versioned = {0};
	struct elf_reference_list references = {0};
	(void)!elf_image_versioned_symbols(image, &versioned, NULL);
	(void)!elf_image_references(image, &references, NULL);
	vec_free(&versioned.symbols);
	vec_free(&references.references);
	(void)elf_image_debuglink(image, &link, &crc);
	(void)elf_image_build_id(image);
	if (elf_image_open_minidebug(image, &inner, NULL) == TALLY_OK) {
		struct elf_symbol_list more = {0};
		(void)!elf_image_symbols(inner, &more, NULL);
		vec_free(&more.symbols);
		elf_image_close(inner);
	}
	vec_free(&list.symbols);
	vec_free(&plt.entries);
	return count;
}

/* Reads everything in a file. known lists symbol addresses from before it was damaged. */
static void read_all(const uint8_t *data, size_t size, const uint64_t *known, size_t known_count)
{
	struct elf_image *image;
	uint64_t addresses[ADDRESSES];
	cases++;
	set_alarm(HANG_SECONDS);
	live_bytes = peak_bytes = 0;
	if (elf_image_open_bytes((struct tally_bytes){data, size}, &image, NULL) == TALLY_OK) {
		(void)read_symbols(image, addresses);
		read_lines(image, known, known_count);
		read_frames(image, ".eh_frame", true);
		read_frames(image, ".debug_frame", false);
		elf_image_close(image);
	}
	set_alarm(0);
	if (peak_bytes > size * MEMORY_FACTOR + MEMORY_BASE)
		fail("takes much memory");
}

struct object {
	uint8_t *data;
	size_t size;
	uint64_t known[ADDRESSES];
	size_t known_count;
};

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Tries all interesting values, and values of the same field in other rows, in the field of width bytes
 * at the offset. */
static void try_field(struct object *o, size_t at, size_t width, size_t row, size_t rows)
{
	uint64_t values[] = {
		0, 1, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_C(1) << 63, o->size, o->size - 1, 0, 0, 0};
	size_t count = ARRAY_LEN(values);
	uint8_t kept[8];
	memcpy(kept, o->data + at, width);
	memcpy(&values[count - 3], kept, width);
	values[count - 2] = values[count - 3] - 1;
	values[count - 3]++;
	if (rows > 1)
		memcpy(&values[count - 1], o->data + at + row, width);
	for (size_t i = 0; i < count; i++) {
		memcpy(o->data + at, &values[i], width);
		read_all(o->data, o->size, o->known, o->known_count);
	}
	memcpy(o->data + at, kept, width);
}

struct table {
	const char *what;
	size_t offset, count, row;
	const uint8_t *widths; /* Sizes of the fields of a row in bytes, terminated by 0. */
};

static void try_table(struct object *o, const char *path, const struct table *t)
{
	if (t->offset > o->size || t->count > (o->size - t->offset) / t->row)
		return;
	for (size_t i = 0; i < t->count; i++) {
		size_t at = t->offset + i * t->row;
		for (const uint8_t *width = t->widths; *width; at += *width++) {
			snprintf(current, sizeof(current), "%.4000s with byte %zu, of its %s %zu, changed", path, at,
				t->what, i);
			try_field(o, at, *width, i + 1 < t->count ? t->row : 0, t->count);
		}
	}
}

static void try_headers(struct object *o, const char *path)
{
	static const uint8_t ehdr[] = {1, 1, 1, 1, 1, 1, 1, 1, 8, 2, 2, 4, 8, 8, 8, 4, 2, 2, 2, 2, 2, 2, 0};
	static const uint8_t shdr[] = {4, 4, 8, 8, 8, 8, 4, 4, 8, 8, 0};
	static const uint8_t phdr[] = {4, 4, 8, 8, 8, 8, 8, 8, 0};
	Elf64_Ehdr header;
	memcpy(&header, o->data, sizeof(header));
	try_table(o, path, &(struct table){"ELF header", 0, 1, sizeof(Elf64_Ehdr), ehdr});
	try_table(o, path, &(struct table){"section", header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr), shdr});
	try_table(o, path, &(struct table){"segment", header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr), phdr});
}

static bool is_read(const char *name)
{
	static const char *const names[] = {".debug_", ".zdebug_", ".eh_frame", ".note", ".gnu_debug", ".symtab",
		".dynsym", ".strtab", ".dynstr", ".rela.plt", ".plt", ".shstrtab", ".dynamic"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Damages the bytes in one of the ways. Returns false if there are too few bytes. */
static bool damage(uint8_t *bytes, size_t size, uint32_t *state, unsigned way)
{
	static const uint32_t lengths[] = {0xffffffff, 0xfffffff0, 0x7fffffff, 0, 1, 0xffff, 0x80000000};
	size_t at = next_random(state) % size;
	/* Half of the changes are near the beginning, where headers are. */
	at = way & 8 ? at % MIN(size, 64) : at;
	size_t run = 1 + next_random(state) % 12;
	switch (way & 7) {
	case 0: /* An unterminated LEB128. */
		for (size_t i = at; i < size && i < at + run; i++)
			bytes[i] = 0x80 | (uint8_t)next_random(state);
		return true;
	case 1:
		memset(bytes + at, 0xff, MIN(size - at, run));
		return true;
	case 2: /* A length or an offset. */
		if (size - at < 4)
			return false;
		memcpy(bytes + at, &lengths[next_random(state) % 7], 4);
		return true;
	case 3: /* A copy of an earlier part. */
		memmove(bytes + at, bytes, (size - at) / 2);
		return true;
	case 4:
		memset(bytes + at, 0, MIN(size - at, run));
		return true;
	case 5:
		bytes[at] ^= (uint8_t)(1u << (next_random(state) & 7));
		return true;
	default:
		bytes[at] = (uint8_t)next_random(state);
		return true;
	}
}

static void try_section(struct object *o, const char *path, const char *name, size_t offset, size_t size, size_t tries)
{
	uint8_t *kept = malloc(size);
	uint32_t state = 0x7a11u;
	if (!kept)
		abort();
	memcpy(kept, o->data + offset, size);
	for (size_t i = 0; i < tries; i++) {
		snprintf(current, sizeof(current), "%.4000s: %.60s, try %zu", path, name, i);
		bool is_damaged = damage(o->data + offset, size, &state, (unsigned)i);
		for (size_t more = i % 4 == 3 ? 3 : 0; more; more--)
			is_damaged |= damage(o->data + offset, size, &state, next_random(&state));
		if (is_damaged)
			read_all(o->data, o->size, o->known, o->known_count);
		memcpy(o->data + offset, kept, size);
	}
	free(kept);
}

static void try_sections(struct object *o, const char *path, size_t tries)
{
	Elf64_Ehdr header;
	Elf64_Shdr section, names;
	memcpy(&header, o->data, sizeof(header));
	const uint8_t *table = o->data + header.e_shoff;
	memcpy(&names, table + header.e_shstrndx * sizeof(names), sizeof(names));
	for (size_t i = 1; i < header.e_shnum; i++) {
		memcpy(&section, table + i * sizeof(section), sizeof(section));
		char name[64];
		snprintf(name, sizeof(name), "%s", (const char *)o->data + names.sh_offset + section.sh_name);
		if (section.sh_type != SHT_NOBITS && section.sh_size > 0 && is_read(name))
			try_section(o, path, name, section.sh_offset, section.sh_size, tries);
	}
}

static struct object read_object(const char *path)
{
	struct object o = {0};
	struct elf_image *image;
	char *data;
	if (file_read(path, SIZE_MAX / 2, &data, &o.size, NULL) != TALLY_OK ||
		elf_image_open_bytes((struct tally_bytes){(uint8_t *)data, o.size}, &image, NULL) != TALLY_OK ||
		o.size < sizeof(Elf64_Ehdr) || data[EI_CLASS] != ELFCLASS64 || data[EI_DATA] != ELFDATA2LSB) {
		fprintf(stderr, "%s: cannot be tried\n", path);
		exit(2);
	}
	o.known_count = read_symbols(image, o.known);
	elf_image_close(image);
	o.data = malloc(o.size); /* The size is exact, so that the sanitizer detects a read past the end. */
	if (!o.data)
		abort();
	memcpy(o.data, data, o.size);
	free(data);
	return o;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: objects TRIES FILE...\n");
		return 2;
	}
	size_t tries = strtoul(argv[1], NULL, 10);
	struct elf_image *dwz = NULL;
	signal(SIGPROF, on_alarm);
	for (int i = 2; i < argc; i++)
		if (strstr(argv[i], ".dwz") && elf_image_open(argv[i], &dwz, NULL) != TALLY_OK)
			return 2;
	supplement = dwz;
#ifdef HAS_MALLOC_HOOKS
	__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#endif
	for (int i = 2; i < argc; i++) {
		struct object o = read_object(argv[i]);
		snprintf(current, sizeof(current), "%.4000s", argv[i]);
		read_all(o.data, o.size, o.known, o.known_count);
		try_headers(&o, argv[i]);
		try_sections(&o, argv[i], tries);
		free(o.data);
	}
	elf_image_close(dwz);
	printf("%d files, %zu cases, %zu variables\n", argc - 2, cases, fetched);
	return 0;
}
