/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares look-ups in the machine with a plain table of every page at every time, including the ranges of addresses
 * and times in which a result is valid.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "machine/machine.h"
#include "unit_test.h"

#define PAGES	    48
#define PAGE_BYTES  UINT64_C(0x1000)
#define FIRST	    UINT64_C(0x10000)
#define TIMES	    120
#define PIDS	    6
#define IMAGES	    (TIMES + PIDS)
#define NO_IMAGE    UINT32_MAX
#define PROGRAM_AT  UINT64_C(0xffffffffa0000000)
#define PROT_DATA   1 /* Not executable: another test covers code on huge pages. */
#define HISTORIES   40
#define LARGE_SPACE 200 /* More mappings than are sorted by insertion. */

enum content { NOTHING, OF_FILE, GENERATED, ANONYMOUS };

struct page {
	enum content content;
	uint64_t start, offset; /* Start of the mapping, and its offset in the file. */
	uint32_t number; /* Number of the file. */
};

struct image {
	uint64_t from, parent_time;
	uint32_t parent;
	struct page pages[TIMES + 1][PAGES];
};

struct model {
	struct image images[IMAGES];
	uint32_t image_count;
	uint32_t of_pid[PIDS][IMAGES];
	uint32_t image_counts[PIDS];
	uint64_t random;
};

static struct model model;

static uint32_t random_below(uint32_t limit)
{
	model.random = model.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(model.random >> 33) % limit;
}

static struct machine *new_machine(void)
{
	struct machine *m;
	assert_int_equal(machine_create(&m, NULL), TALLY_OK);
	return m;
}

static void apply(struct machine *m, struct record_fields fields, uint16_t misc, uint64_t time)
{
	struct record record = {.type = fields.type, .misc = misc};
	assert_int_equal(machine_apply(m, &record, &fields, time, NULL), TALLY_OK);
}

struct piece { /* A part of a file. */
	uint64_t start, len, offset;
};

static void map_file(struct machine *m, uint32_t pid, struct piece piece, const char *name, uint64_t time)
{
	struct record_fields f = {.type = RECORD_MMAP2,
		.mmap = {.pid = pid,
			.tid = pid,
			.start = piece.start,
			.len = piece.len,
			.pgoff = piece.offset,
			.prot = PROT_DATA,
			.filename = str_from(name)}};
	apply(m, f, pid == UINT32_MAX ? MISC_CPUMODE_KERNEL : MISC_CPUMODE_USER, time);
}

static uint32_t model_image(uint32_t pid, uint64_t time)
{
	if (model.image_counts[pid] == 0) {
		uint32_t index = model.image_count++;
		model.images[index].from = time;
		model.images[index].parent = NO_IMAGE;
		model.of_pid[pid][model.image_counts[pid]++] = index;
	}
	return model.of_pid[pid][model.image_counts[pid] - 1];
}

static void model_fork(uint32_t parent, uint32_t child, uint64_t time)
{
	uint32_t from = model_image(parent, time);
	uint32_t index = model.image_count++;
	model.images[index].from = time;
	model.images[index].parent = from;
	model.images[index].parent_time = time;
	model.of_pid[child][model.image_counts[child]++] = index;
}

static void model_map(uint32_t pid, const struct page *page, uint32_t first, uint32_t count, uint64_t time)
{
	struct image *image = &model.images[model_image(pid, time)];
	for (uint32_t i = first; i < first + count; i++)
		if (page->content != ANONYMOUS || image->pages[time][i].content != GENERATED)
			for (uint64_t t = time; t <= TIMES; t++)
				image->pages[t][i] = *page;
}

static void map_at_random(struct machine *m, uint32_t pid, uint64_t time)
{
	uint32_t first = random_below(PAGES), count = 1 + random_below(PAGES - first), kind = random_below(5);
	struct page page = {OF_FILE, FIRST + first * PAGE_BYTES, time << 32, random_below(4)};
	char name[32];
	if (count > 9)
		count = 1 + count % 9;
	if (kind == 0) {
		page.content = GENERATED;
		page.number = 0;
		struct machine_generated code = {
			(int32_t)pid, STR("/tmp/jit.dump"), page.start, count * PAGE_BYTES, page.offset};
		assert_int_equal(machine_add_generated(m, &code, time, NULL), TALLY_OK);
	} else if (kind == 1) {
		page.content = ANONYMOUS;
		page.number = 0;
		struct record_fields f = {.type = RECORD_MMAP2,
			.mmap = {.pid = pid,
				.tid = pid,
				.start = page.start,
				.len = count * PAGE_BYTES,
				.filename = STR("//anon")}};
		apply(m, f, MISC_CPUMODE_USER, time);
	} else {
		snprintf(name, sizeof(name), "/lib/%u", page.number);
		map_file(m, pid, (struct piece){page.start, count * PAGE_BYTES, page.offset}, name, time);
	}
	model_map(pid, &page, first, count, time);
}

static void build_at_random(struct machine *m)
{
	for (uint64_t time = 1; time <= TIMES; time++) {
		uint32_t pid = random_below(PIDS), other = random_below(PIDS), kind = random_below(12);
		if (kind == 0 && pid != other) {
			struct record_fields f = {.type = RECORD_FORK, .task = {other, pid, other, pid, time}};
			model_fork(pid, other, time);
			apply(m, f, 0, time);
		} else if (kind == 1) {
			struct record_fields f = {.type = RECORD_COMM,
				.comm = {.pid = pid, .tid = pid, .is_exec = true, .comm = STR("x")}};
			if (model.image_counts[pid] > 0)
				model_fork(pid, pid, time);
			else
				(void)model_image(pid, time);
			apply(m, f, 0, time);
		} else {
			map_at_random(m, pid, time);
		}
	}
}

static const struct page *page_at(uint32_t pid, uint64_t time, uint64_t address)
{
	static const struct page none = {0};
	uint64_t index = (address - FIRST) / PAGE_BYTES;
	uint32_t image = NO_IMAGE;
	for (uint32_t i = 0; i < model.image_counts[pid]; i++)
		if (model.images[model.of_pid[pid][i]].from <= time)
			image = model.of_pid[pid][i];
	if (address < FIRST || index >= PAGES)
		return &none;
	for (; image != NO_IMAGE; image = model.images[image].parent) {
		const struct page *page = &model.images[image].pages[time][index];
		if (page->content != NOTHING)
			return page;
		time = model.images[image].parent_time;
	}
	return &none;
}

static void assert_page(struct machine *m, const struct mapping *found, const struct page *page, uint64_t address)
{
	static const char *const names[] = {[GENERATED] = "/tmp/jit.dump", [ANONYMOUS] = "//anon"};
	char name[32];
	if (page->content == NOTHING) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	snprintf(name, sizeof(name), "/lib/%u", page->number);
	struct tally_str path = machine_string(m, machine_binary_get(m, found->binary)->path);
	assert_true(str_equal(path, str_from(page->content == OF_FILE ? name : names[page->content])));
	if (page->content != ANONYMOUS)
		assert_int_equal(
			machine_address_in_binary(m, found, VA(address)), address - page->start + page->offset);
}

/* Checks every page at every time, and that the result is valid in its whole range. */
static void check_pid(struct machine *m, uint32_t pid, uint64_t time)
{
	for (uint64_t address = FIRST - PAGE_BYTES; address <= FIRST + PAGES * PAGE_BYTES; address += PAGE_BYTES - 1) {
		struct machine_place place = {(int32_t)pid, MISC_CPUMODE_USER, time, address};
		struct address_range range = {0, UINT64_MAX};
		const struct mapping *found =
			machine_find_mapping(m, (int32_t)pid, time, MISC_CPUMODE_USER, VA(address));
		assert_page(m, found, page_at(pid, time, address), address);
		assert_ptr_equal(machine_find_mapping_range(m, &place, &range), found);
		assert_true(range.start <= address && address < range.end);
		uint64_t others[] = {range.start, range.end - 1, (range.start + address) / 2};
		for (size_t i = 0; i < ARRAY_LEN(others); i++)
			assert_ptr_equal(
				machine_find_mapping(m, (int32_t)pid, time, MISC_CPUMODE_USER, VA(others[i])), found);
	}
}

static void check_epochs(struct machine *m, int32_t pid)
{
	for (uint64_t time = 0; time <= TIMES + 1; time++) {
		struct valid_span span = {0, UINT64_MAX};
		uint32_t epoch = machine_epoch_during(m, pid, time, &span);
		assert_int_equal(epoch, machine_epoch_during(m, pid, time, NULL));
		assert_true(span.from_ns <= time && time < span.to_ns);
		for (uint64_t other = 0; other <= TIMES + 1; other++) {
			bool is_inside = other >= span.from_ns && other < span.to_ns;
			assert_int_equal(machine_epoch_during(m, pid, other, NULL) == epoch, is_inside);
		}
	}
}

static void test_any_history(void **state)
{
	for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
		struct machine *m = new_machine();
		memset(&model, 0, sizeof(model));
		model.random = seed;
		build_at_random(m);
		assert_int_equal(machine_finish(m, NULL), TALLY_OK);
		for (uint32_t pid = 0; pid < PIDS; pid++) {
			for (uint64_t time = 0; time <= TIMES; time += 1 + random_below(5))
				check_pid(m, pid, time);
			if (seed <= 4)
				check_epochs(m, (int32_t)pid);
		}
		machine_destroy(m);
	}
}

/* So many mappings that another sort algorithm is used, in arbitrary order, and twice. */
static void test_a_large_space(void **state)
{
	struct machine *m = new_machine();
	for (uint64_t i = 0; i < 2 * LARGE_SPACE; i++) {
		uint64_t page = i * 77 % LARGE_SPACE;
		map_file(m, 1, (struct piece){FIRST + page * PAGE_BYTES, PAGE_BYTES, i << 32}, "/lib/x", 1 + i);
		if (i == LARGE_SPACE) /* Records can be added after machine_finish. */
			assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	}
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	for (uint64_t i = 0; i < 2 * LARGE_SPACE; i++) {
		uint64_t start = FIRST + i * 77 % LARGE_SPACE * PAGE_BYTES;
		const struct mapping *found = machine_find_mapping(m, 1, 1 + i, MISC_CPUMODE_USER, VA(start + 5));
		assert_non_null(found);
		assert_int_equal(found->pgoff, i << 32);
		assert_int_equal(found->start, start);
		assert_int_equal(found->end, start + PAGE_BYTES);
		assert_int_equal(found->time_from_ns, 1 + i);
		assert_int_equal(found->time_to_ns, i < LARGE_SPACE ? 1 + i + LARGE_SPACE : UINT64_MAX);
	}
	machine_destroy(m);
}

/* After so many forks, mappings are copied. With times out of order, a child that seems older than its parent still
 * inherits all mappings of the parent at the fork, as it does when nothing is copied. */
static void test_a_child_that_seems_older(void **state)
{
	const uint32_t depths[] = {3, 31, 32, 33, 34, 40, 70};
	for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
		struct machine *m = new_machine();
		uint32_t last = depths[i] + 1;
		for (uint32_t pid = 1; pid <= depths[i]; pid++) {
			struct record_fields f = {.type = RECORD_FORK, .task = {pid + 1, pid, pid + 1, pid, 1000}};
			map_file(m, pid, (struct piece){FIRST + pid * PAGE_BYTES, PAGE_BYTES, UINT64_C(1) << 32},
				"/lib/x", 100 + pid);
			apply(m, f, 0, 1000 + pid);
		}
		map_file(m, last, (struct piece){FIRST, PAGE_BYTES, 0}, "/lib/x", 2000);
		struct record_fields f = {.type = RECORD_FORK, .task = {last + 1, last, last + 1, last, 500}};
		apply(m, f, 0, 500);
		assert_int_equal(machine_finish(m, NULL), TALLY_OK);
		for (uint32_t pid = 1; pid <= depths[i]; pid++) {
			uint64_t address = FIRST + pid * PAGE_BYTES + 5;
			const struct mapping *found =
				machine_find_mapping(m, (int32_t)last + 1, 600, MISC_CPUMODE_USER, VA(address));
			assert_non_null(found);
			assert_int_equal(found->start, FIRST + pid * PAGE_BYTES);
		}
		machine_destroy(m);
	}
}

static void assert_range(
	struct machine *m, const struct machine_place *place, bool is_found, uint64_t start, uint64_t end)
{
	struct address_range range = {0, UINT64_MAX};
	assert_int_equal(machine_find_mapping_range(m, place, &range) != NULL, is_found);
	assert_int_equal(range.start, start);
	assert_int_equal(range.end, end);
}

/* The ranges are as wide as possible: between two mappings, and inside one. */
static void test_ranges(void **state)
{
	struct machine *m = new_machine();
	map_file(m, 1, (struct piece){0x1000, 0x4000, 0}, "/a", 10);
	map_file(m, 1, (struct piece){0x8000, 0x1000, 0}, "/b", 10);
	map_file(m, 1, (struct piece){0x2000, 0x1000, 0}, "/c", 20);
	map_file(m, UINT32_MAX, (struct piece){PROGRAM_AT, 0x1000, 0}, "[veth]", 10);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	struct machine_place place = {1, MISC_CPUMODE_USER, 30, 0x2800};
	assert_range(m, &place, true, 0x2000, 0x3000);
	place.address = 0x3000;
	assert_range(m, &place, true, 0x3000, 0x5000);
	place.address = 0x5000;
	assert_range(m, &place, false, 0x5000, 0x8000);
	place.address = 0x9000;
	assert_range(m, &place, false, 0x9000, UINT64_MAX);
	place.address = 0x800;
	assert_range(m, &place, false, 0, 0x1000);
	place.pid = 2; /* No process has this PID. */
	assert_range(m, &place, false, 0, UINT64_MAX);
	place = (struct machine_place){1, MISC_CPUMODE_KERNEL, 10, PROGRAM_AT + 5};
	assert_range(m, &place, true, PROGRAM_AT, PROGRAM_AT + 0x1000);
	place.cpumode = MISC_CPUMODE_GUEST_KERNEL;
	assert_range(m, &place, false, 0, UINT64_MAX);
	place = (struct machine_place){1, MISC_CPUMODE_USER, 10, PROGRAM_AT + 5};
	assert_range(m, &place, false, 0x9000, UINT64_MAX);
	machine_destroy(m);
}

static void comm(struct machine *m, uint32_t tid, const char *name, uint64_t time)
{
	struct record_fields f = {.type = RECORD_COMM, .comm = {.pid = 1, .tid = tid, .comm = str_from(name)}};
	apply(m, f, 0, time);
}

static void assert_name(struct machine *m, uint64_t time, const char *name, uint64_t from, uint64_t to)
{
	struct valid_span span = {0, UINT64_MAX};
	uint32_t id = machine_comm_during(m, 5, time, &span);
	assert_int_equal(id, machine_comm_at(m, 5, time));
	if (name)
		assert_true(str_equal(machine_string(m, id), str_from(name)));
	else
		assert_int_equal(id, INTERN_NONE);
	assert_int_equal(span.from_ns, from);
	assert_int_equal(span.to_ns, to);
}

static void test_how_long_a_name_lasts(void **state)
{
	struct machine *m = new_machine();
	comm(m, 5, "first", 10);
	comm(m, 5, "second", 20);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_name(m, 9, NULL, 0, 10);
	assert_name(m, 10, "first", 10, 20);
	assert_name(m, 19, "first", 10, 20);
	assert_name(m, 20, "second", 20, UINT64_MAX);
	machine_destroy(m);
}

/* A new thread inherits the name of its parent; its process keeps its name. */
static void test_threads_share_their_process(void **state)
{
	struct machine *m = new_machine();
	map_file(m, 1, (struct piece){0x1000, 0x1000, 0}, "/a", 1);
	comm(m, 1, "leader", 2);
	struct record_fields f = {.type = RECORD_FORK, .task = {1, 1, 5, 1, 10}};
	apply(m, f, 0, 10);
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	assert_name(m, 10, "leader", 10, UINT64_MAX);
	struct valid_span span = {0, UINT64_MAX};
	assert_int_equal(machine_epoch_during(m, 1, 11, &span), machine_epoch_during(m, 1, 9, NULL));
	assert_int_equal(span.from_ns, 1);
	assert_int_equal(span.to_ns, UINT64_MAX);
	machine_destroy(m);
}

static void program(struct machine *m, uint64_t addr, uint32_t len, uint16_t flags, uint64_t time)
{
	struct record_fields f = {.type = RECORD_KSYMBOL,
		.ksymbol = {.addr = addr, .len = len, .flags = flags, .name = STR("bpf_prog_1")}};
	apply(m, f, 0, time);
}

static void test_how_long_the_kernel_stays_the_same(void **state)
{
	struct machine *m = new_machine();
	program(m, PROGRAM_AT, 64, 0, 10);
	program(m, PROGRAM_AT, 64, KSYMBOL_FLAG_UNREGISTER, 20);
	program(m, UINT64_MAX - 5, 64, 0, 30); /* The range wraps around and is ignored. */
	assert_int_equal(machine_finish(m, NULL), TALLY_OK);
	static const struct {
		uint64_t time, from, to;
		uint32_t epoch;
	} cases[] = {{0, 0, 10, 0}, {10, 10, 20, 1}, {19, 10, 20, 1}, {20, 20, UINT64_MAX, 2}, {40, 20, UINT64_MAX, 2}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct valid_span span = {0, UINT64_MAX};
		assert_int_equal(machine_kernel_epoch_during(m, cases[i].time, &span), cases[i].epoch);
		assert_int_equal(span.from_ns, cases[i].from);
		assert_int_equal(span.to_ns, cases[i].to);
		const struct mapping *found =
			machine_find_mapping(m, 1, cases[i].time, MISC_CPUMODE_KERNEL, VA(PROGRAM_AT + 63));
		assert_int_equal(found != NULL, cases[i].epoch == 1);
	}
	assert_null(machine_find_mapping(m, 1, 40, MISC_CPUMODE_KERNEL, VA(UINT64_MAX - 4)));
	machine_destroy(m);
}

/* machine_lists_build_ids returns true once a build ID is listed, except for user files of guests. */
static void test_whether_build_ids_are_listed(void **state)
{
	static const struct {
		uint16_t misc;
		const char *path;
		bool is_listed;
	} cases[] = {{MISC_CPUMODE_USER, "/a", true}, {MISC_CPUMODE_KERNEL, "[kernel.kallsyms]", true},
		{MISC_CPUMODE_GUEST_KERNEL, "[guest.kernel.kallsyms]", true}, {MISC_CPUMODE_GUEST_USER, "/a", false}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct machine *m = new_machine();
		struct machine_listed_id entry = {cases[i].misc, -1, str_from(cases[i].path), {.size = 20}};
		assert_false(machine_lists_build_ids(m));
		assert_int_equal(machine_add_build_id(m, &entry, NULL), TALLY_OK);
		assert_int_equal(machine_lists_build_ids(m), cases[i].is_listed);
		machine_destroy(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_history),
		cmocka_unit_test(test_a_large_space),
		cmocka_unit_test(test_a_child_that_seems_older),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_how_long_a_name_lasts),
		cmocka_unit_test(test_threads_share_their_process),
		cmocka_unit_test(test_how_long_the_kernel_stays_the_same),
		cmocka_unit_test(test_whether_build_ids_are_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
