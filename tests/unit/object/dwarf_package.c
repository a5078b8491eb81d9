/* SPDX-License-Identifier: Apache-2.0 */
/* Tests packages of split units (.dwp) made by hand in both versions and byte orders, truncated, and with every byte
 * changed. */
#include "object/dwarf/dwarf_package.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf_builder.h"
#include "object/dwarf/dwarf_file.h"
#include "unit_test.h"

#define UNITS	2
#define SLOTS	4
#define COLUMNS 3
#define FIRST	UINT64_C(0x1122334455667704) /* The hashes of both signatures select the same slot. */
#define SECOND	UINT64_C(0x8877665544332208)

struct package {
	struct dwarf_builder unit;
	struct writer index, info, abbrev, line;
	struct tally_bytes sections[DWARF_SECTIONS];
};

static void write_header(struct writer *w, unsigned version)
{
	if (version == 5) {
		writer_u16(w, 5);
		writer_u16(w, 0);
	} else {
		writer_u32(w, 2);
	}
	writer_u32(w, COLUMNS);
	writer_u32(w, UNITS);
	writer_u32(w, SLOTS);
}

/* Writes two similar units, one after the other in each section. */
static void make(struct package *p, unsigned version, bool is_big)
{
	*p = (struct package){0};
	dwarf_builder_make(&p->unit, &(struct dwarf_builder_kind){.version = version == 5 ? 5 : 4, .is_big = is_big});
	struct writer *parts[COLUMNS] = {&p->info, &p->abbrev, &p->line};
	const enum dwarf_section sections[COLUMNS] = {DWARF_INFO, DWARF_ABBREV, DWARF_LINE};
	memcpy(p->sections, p->unit.sections, sizeof(p->sections));
	for (unsigned i = 0; i < COLUMNS; i++) {
		for (unsigned u = 0; u < UNITS; u++)
			writer_bytes(parts[i], p->unit.sections[sections[i]].data, p->unit.sections[sections[i]].len);
		p->sections[sections[i]] = writer_view(parts[i]);
	}
	p->index.swap = p->unit.swap;
	write_header(&p->index, version);
	const uint64_t ids[SLOTS] = {FIRST, SECOND, 0, 0};
	const uint32_t rows[SLOTS] = {1, 2, 0, 0};
	for (unsigned i = 0; i < SLOTS; i++)
		writer_u64(&p->index, ids[i]);
	for (unsigned i = 0; i < SLOTS; i++)
		writer_u32(&p->index, rows[i]);
	const uint32_t columns[COLUMNS] = {1, 3, 4};
	for (unsigned i = 0; i < COLUMNS; i++)
		writer_u32(&p->index, columns[i]);
	for (unsigned u = 0; u < UNITS; u++)
		for (unsigned i = 0; i < COLUMNS; i++)
			writer_u32(&p->index, u * (uint32_t)p->unit.sections[sections[i]].len);
	for (unsigned u = 0; u < UNITS; u++)
		for (unsigned i = 0; i < COLUMNS; i++)
			writer_u32(&p->index, (uint32_t)p->unit.sections[sections[i]].len);
}

static void drop(struct package *p)
{
	writer_deinit(&p->index);
	writer_deinit(&p->info);
	writer_deinit(&p->abbrev);
	writer_deinit(&p->line);
	dwarf_builder_deinit(&p->unit);
}

static enum tally_status open_index(const struct package *p, size_t len, struct dwarf_package **package)
{
	struct tally_bytes index = {p->index.data, len};
	return dwarf_package_open_sections(index, p->sections, p->unit.swap, package, NULL);
}

static void test_units_are_found(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct package p;
		struct dwarf_package *package;
		struct dwarf_file *file;
		make(&p, i & 1 ? 5 : 2, (i & 2) != 0);
		assert_int_equal(open_index(&p, p.index.len, &package), TALLY_OK);
		const uint64_t ids[] = {FIRST, SECOND};
		for (unsigned u = 0; u < UNITS; u++) {
			assert_int_equal(dwarf_package_unit(package, ids[u], NULL, &file, NULL), TALLY_OK);
			assert_int_equal(file->units.len, 1);
			assert_true(str_equal(file->units.items[0].name, STR("unit.c")));
			assert_ptr_equal(
				file->sections[DWARF_INFO].data, p.info.data + u * p.unit.sections[DWARF_INFO].len);
			dwarf_file_close(file);
		}
		assert_int_equal(dwarf_package_unit(package, FIRST + 4, NULL, &file, NULL), TALLY_NOT_FOUND);
		assert_int_equal(dwarf_package_unit(package, 0, NULL, &file, NULL), TALLY_NOT_FOUND);
		dwarf_package_close(package);
		drop(&p);
	}
}

static void test_a_part_outside_its_section_is_refused(void **state)
{
	struct package p;
	struct dwarf_package *package;
	struct dwarf_file *file;
	(void)state;
	make(&p, 5, false);
	writer_patch_u32(&p.index, p.index.len - 4 * COLUMNS, UINT32_MAX);
	assert_int_equal(open_index(&p, p.index.len, &package), TALLY_OK);
	assert_int_equal(dwarf_package_unit(package, SECOND, NULL, &file, NULL), TALLY_CORRUPT);
	assert_int_equal(dwarf_package_unit(package, FIRST, NULL, &file, NULL), TALLY_OK);
	dwarf_file_close(file);
	dwarf_package_close(package);
	drop(&p);
}

static void test_a_full_table_ends_the_search(void **state)
{
	struct package p;
	struct dwarf_package *package;
	struct dwarf_file *file;
	(void)state;
	make(&p, 2, false);
	for (size_t slot = 0; slot < SLOTS; slot++)
		writer_patch_u32(&p.index, 16 + 8 * SLOTS + 4 * slot, 2);
	assert_int_equal(open_index(&p, p.index.len, &package), TALLY_OK);
	assert_int_equal(dwarf_package_unit(package, 77, NULL, &file, NULL), TALLY_NOT_FOUND);
	dwarf_package_close(package);
	drop(&p);
}

static void test_a_cut_index_is_refused(void **state)
{
	(void)state;
	for (unsigned version = 2; version <= 5; version += 3) {
		struct package p;
		make(&p, version, false);
		for (size_t len = 0; len < p.index.len; len++) {
			struct dwarf_package *package;
			/* Exact size, so that the sanitizer detects a read past the end. */
			uint8_t *exact = malloc(len ? len : 1);
			assert_non_null(exact);
			memcpy(exact, p.index.data, len);
			assert_int_equal(dwarf_package_open_sections((struct tally_bytes){exact, len}, p.sections,
						 p.unit.swap, &package, NULL),
				TALLY_CORRUPT);
			free(exact);
		}
		drop(&p);
	}
}

static void test_every_byte_changed(void **state)
{
	(void)state;
	for (unsigned version = 2; version <= 5; version += 3) {
		struct package p;
		make(&p, version, false);
		for (size_t i = 0; i < p.index.len * 3; i++) {
			static const uint8_t masks[] = {0x01, 0x80, 0xff};
			uint8_t *byte = &p.index.data[i / 3];
			struct dwarf_package *package;
			struct dwarf_file *file;
			*byte ^= masks[i % 3];
			if (open_index(&p, p.index.len, &package) == TALLY_OK) {
				if (dwarf_package_unit(package, FIRST, NULL, &file, NULL) == TALLY_OK)
					dwarf_file_close(file);
				if (dwarf_package_unit(package, SECOND, NULL, &file, NULL) == TALLY_OK)
					dwarf_file_close(file);
				dwarf_package_close(package);
			}
			*byte ^= masks[i % 3];
		}
		drop(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units_are_found),
		cmocka_unit_test(test_a_part_outside_its_section_is_refused),
		cmocka_unit_test(test_a_full_table_ends_the_search),
		cmocka_unit_test(test_a_cut_index_is_refused),
		cmocka_unit_test(test_every_byte_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
