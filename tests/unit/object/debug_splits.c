/* SPDX-License-Identifier: Apache-2.0 */
/* Tests skeleton units with a .dwo file that is missing or from another build. The program has two units. */
#include <elf.h>
#include <string.h>

#include "base/array.h"
#include "base/writer.h"
#include "object/dwarf/debug_info.h"
#include "unit_test.h"

#define UNIT_BYTES 0x100
#define FIRST	   UINT64_C(0x1000)
#define SECOND	   UINT64_C(0x2000)

struct program {
	struct writer bytes;
	struct elf_image *image;
};

/* Writes the abbreviation of a skeleton unit: low and high address, directory and name of the .dwo file. */
static void write_abbrevs(struct writer *w)
{
	static const uint8_t bytes[] = {1, 0x4a, 0, 0x11, 0x01, 0x12, 0x07, 0x1b, 0x08, 0x76, 0x08, 0, 0, 0};
	writer_bytes(w, bytes, sizeof(bytes));
}

static void write_unit(struct writer *w, uint64_t id, uint64_t low, const char *name)
{
	size_t start = w->len;
	writer_u32(w, 0);
	writer_u16(w, 5);
	writer_u8(w, 4); /* DW_UT_skeleton */
	writer_u8(w, 8);
	writer_u32(w, 0);
	writer_u64(w, id);
	writer_u8(w, 1);
	writer_u64(w, low);
	writer_u64(w, UNIT_BYTES);
	writer_bytes(w, "/src", sizeof("/src"));
	writer_bytes(w, name, strlen(name) + 1);
	uint32_t length = (uint32_t)(w->len - start - 4);
	memcpy(w->data + start, &length, sizeof(length));
}

static void make_program(struct program *p)
{
	static const char names[] = "\0.debug_info\0.debug_abbrev\0.shstrtab";
	Elf64_Shdr sections[4] = {{0}};
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(sections[0]),
		.e_shnum = ARRAY_LEN(sections),
		.e_shstrndx = 3};
	const uint32_t in_names[] = {0, 1, 13, 27};
	*p = (struct program){0};
	struct writer *w = &p->bytes;
	writer_bytes(w, &header, sizeof(header));
	for (unsigned i = 1; i < ARRAY_LEN(sections); i++) {
		size_t start = w->len;
		if (i == 1)
			write_unit(w, 11, FIRST, "first.dwo"), write_unit(w, 22, SECOND, "second.dwo");
		else if (i == 2)
			write_abbrevs(w);
		else
			writer_bytes(w, names, sizeof(names));
		sections[i] = (Elf64_Shdr){.sh_name = in_names[i],
			.sh_type = i == 3 ? SHT_STRTAB : SHT_PROGBITS,
			.sh_offset = start,
			.sh_size = w->len - start,
			.sh_addralign = 1};
	}
	header.e_shoff = w->len;
	writer_bytes(w, sections, sizeof(sections));
	memcpy(w->data, &header, sizeof(header));
	assert_int_equal(elf_image_open_bytes(writer_view(w), &p->image, NULL), TALLY_OK);
}

static void drop_program(struct program *p)
{
	elf_image_close(p->image);
	writer_deinit(&p->bytes);
}

struct search {
	struct tally_bytes other; /* The file at the second place; of length 0 if there is none. */
	unsigned asked[DEBUG_INFO_SPLIT_PLACES]; /* Number of calls, by place. */
};

static struct elf_image *open_split(void *context, struct tally_str directory, struct tally_str name, unsigned place)
{
	struct search *search = context;
	struct elf_image *image = NULL;
	assert_true(str_equal(directory, STR("/src")));
	assert_true(str_equal(name, STR("first.dwo")) || str_equal(name, STR("second.dwo")));
	assert_true(place < DEBUG_INFO_SPLIT_PLACES);
	search->asked[place]++;
	if (place == 1 && search->other.len > 0)
		assert_int_equal(elf_image_open_bytes(search->other, &image, NULL), TALLY_OK);
	return image;
}

static void load(struct debug_info *info, uint64_t address)
{
	assert_int_equal(debug_info_load(info, &address, 1, 1, NULL), TALLY_OK);
}

static void missing_files_are_counted(void **state)
{
	for (unsigned with_other = 0; with_other < 2; with_other++) {
		struct program p;
		struct debug_info *info;
		make_program(&p);
		struct search search = {.other = with_other ? writer_view(&p.bytes) : (struct tally_bytes){NULL, 0}};
		const struct debug_info_options options = {.open_split = open_split, .context = &search};
		assert_int_equal(debug_info_open(p.image, &options, &info, NULL), TALLY_OK);
		assert_int_equal(debug_info_missing_splits(info).units, 0); /* No unit was loaded. */
		load(info, SECOND);
		load(info, SECOND + 1); /* The address is in the same unit. */
		struct debug_missing_splits missing = debug_info_missing_splits(info);
		assert_int_equal(missing.units, 1);
		assert_true(str_equal(missing.name, STR("second.dwo")));
		assert_int_equal(missing.is_other, with_other);
		load(info, FIRST);
		missing = debug_info_missing_splits(info);
		assert_int_equal(missing.units, 2);
		assert_true(str_equal(missing.name, STR("first.dwo"))); /* In the order of the program. */
		assert_true(str_equal(missing.directory, STR("/src")));
		for (unsigned place = 0; place < DEBUG_INFO_SPLIT_PLACES; place++)
			assert_int_equal(search.asked[place], 2);
		assert_false(debug_info_package_is_damaged(info));
		assert_true(debug_info_lacks_supplement(info));
		debug_info_close(info);
		drop_program(&p);
	}
	(void)state;
}

/* Damaged packages and supplements are treated as missing. */
static void damaged_companions_are_no_obstacle(void **state)
{
	struct program p, empty;
	struct debug_info *info;
	make_program(&p);
	make_program(&empty);
	empty.bytes.data[sizeof(Elf64_Ehdr) + 4] = 99; /* The version of the first unit. */
	const struct debug_info_options options = {.package = p.image, .supplement = empty.image};
	assert_int_equal(debug_info_open(p.image, &options, &info, NULL), TALLY_OK);
	load(info, FIRST);
	assert_int_equal(debug_info_missing_splits(info).units, 1);
	assert_true(debug_info_package_is_damaged(info));
	debug_info_close(info);
	drop_program(&empty);
	drop_program(&p);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_files_are_counted),
		cmocka_unit_test(damaged_companions_are_no_obstacle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
