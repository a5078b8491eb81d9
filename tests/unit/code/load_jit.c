/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "code/binary_store.h"
#include "jitdump_builder.h"
#include "unit_test.h"

#define NO_PID	   0x7ffffff0 /* Larger than any PID of Linux. */
#define MAP_PATH   "/tmp/perf-2147483632.map"
#define DUMP_PATH  "/srv/jit-9.dump"
#define OTHER_USER 12345

struct fixture {
	char root[64];
	struct binary_store_options options;
	struct binary_store *store;
	uint32_t id;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	snprintf(f->root, sizeof(f->root), "/tmp/tally-jit-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	f->options.symfs = f->root;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[100];
	snprintf(command, sizeof(command), "rm -rf '%s'", f->root);
	assert_int_equal(system(command), 0);
	binary_store_destroy(f->store);
	free(f);
	return 0;
}

static void path_in(const struct fixture *f, const char *path, char full[128])
{
	snprintf(full, 128, "%s%s", f->root, path);
	assert_int_equal(file_make_parents(full, NULL), TALLY_OK);
}

static void put(const struct fixture *f, const char *path, const void *data, size_t len)
{
	char full[128];
	path_in(f, path, full);
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static void put_text(const struct fixture *f, const char *path, const char *text)
{
	put(f, path, text, strlen(text));
}

static struct binary_info load(struct fixture *f, enum binary_kind kind)
{
	struct binary_key key = {.kind = kind, .pid = NO_PID};
	key.path = kind == BINARY_JITDUMP ? STR(DUMP_PATH) : STR(MAP_PATH);
	binary_store_destroy(f->store);
	assert_int_equal(binary_store_create(&f->options, &f->store, NULL), TALLY_OK);
	assert_int_equal(binary_store_add(f->store, &key, &f->id, NULL), TALLY_OK);
	binary_store_load(f->store, &f->id, 1);
	return binary_store_info(f->store, f->id);
}

static enum binary_found found(const struct fixture *f)
{
	size_t count;
	const struct binary_step *steps = binary_store_trail(f->store, f->id, &count);
	assert_int_equal(count, 1);
	return steps[0].found;
}

static const char *name_at(const struct fixture *f, uint64_t address)
{
	const struct symbol *symbol = binary_store_find(f->store, f->id, address);
	return symbol ? symbol->name : "-";
}

/* Python 3.12 writes such names. */
static void reads_a_map(void **state)
{
	struct fixture *f = *state;
	put_text(f, MAP_PATH, "7f00 20 py::<listcomp>:/srv/a b.py\n8000 10 last line");
	assert_int_equal(load(f, BINARY_PERF_MAP).status, BINARY_OK);
	assert_int_equal(found(f), BINARY_FOUND_USED);
	assert_string_equal(name_at(f, 0x7f1f), "py::<listcomp>:/srv/a b.py");
	/* The process has ended, so the last line is complete although it has no newline. */
	assert_string_equal(name_at(f, 0x8000), "last line");
}

static void refuses_links(void **state)
{
	struct fixture *f = *state;
	char target[128], link[128];
	put_text(f, "/elsewhere", "7f00 20 f\n");
	path_in(f, "/elsewhere", target);
	path_in(f, MAP_PATH, link);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(load(f, BINARY_PERF_MAP).status, BINARY_NO_FILE);
	assert_int_not_equal(found(f), BINARY_FOUND_USED);
}

static void does_not_wait_for_fifos(void **state)
{
	struct fixture *f = *state;
	char path[128];
	path_in(f, MAP_PATH, path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(load(f, BINARY_PERF_MAP).status, BINARY_NO_FILE);
	assert_int_equal(found(f), BINARY_FOUND_NO_REGULAR_FILE);
}

static void refuses_what_somebody_else_wrote(void **state)
{
	struct fixture *f = *state;
	char path[128];
	put_text(f, MAP_PATH, "7f00 20 f\n");
	path_in(f, MAP_PATH, path);
	if (geteuid() != 0 || chown(path, OTHER_USER, OTHER_USER) != 0)
		skip_because("needs root to make files of other users, and a user namespace that has them");
	assert_int_equal(load(f, BINARY_PERF_MAP).status, BINARY_NO_FILE);
	assert_int_equal(found(f), BINARY_FOUND_UNREADABLE);
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(load(f, BINARY_PERF_MAP).status, BINARY_OK);
}

/* The map belongs to this process: PID and root are known, and an incomplete last line is ignored, because the map may
 * grow. */
static void reads_the_map_of_a_running_process(void **state)
{
	struct fixture *f = *state;
	char path[64];
	struct binary_key key = {.kind = BINARY_PERF_MAP, .pid = (int32_t)getpid()};
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	key.path = str_from(path);
	(void)remove(path); /* Left by an earlier process with this PID. */
	FILE *file = fopen(path, "wx");
	assert_non_null(file);
	fputs("7f00 20 whole\n8000 10 hal", file);
	assert_int_equal(fclose(file), 0);
	f->options.symfs = NULL;
	assert_int_equal(binary_store_create(&f->options, &f->store, NULL), TALLY_OK);
	assert_int_equal(binary_store_add(f->store, &key, &f->id, NULL), TALLY_OK);
	binary_store_load(f->store, &f->id, 1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(binary_store_info(f->store, f->id).status, BINARY_OK);
	assert_string_equal(name_at(f, 0x7f00), "whole");
	assert_string_equal(name_at(f, 0x8000), "-");
}

static void reads_a_dump_by_offsets(void **state)
{
	struct fixture *f = *state;
	const struct jitdump_builder_line line = {0x1000, 5, "/src/a.js"};
	struct source_place place;
	struct writer w = {0};
	struct tally_elf_va va;
	jitdump_builder_header(&w, 9, 0);
	jitdump_builder_lines(&w, 2, 0x1000, &line, 1);
	jitdump_builder_load(&w, 3, &(struct jitdump_builder_code){0x1000, 1, "f", "\x90\xc3", 2});
	put(f, DUMP_PATH, w.data, w.len);
	struct binary_info info = load(f, BINARY_JITDUMP);
	assert_int_equal(info.status, BINARY_OK);
	assert_int_equal(info.symbol_count, 1);
	assert_string_equal(name_at(f, w.len - 1), "f");
	assert_string_equal(name_at(f, 0x1000), "-");
	assert_int_equal(binary_store_places(f->store, f->id, w.len - 1, &place, 1), 1);
	assert_string_equal(place.path, "/src/a.js");
	assert_int_equal(place.line, 5);
	assert_null(binary_store_unwind(f->store, f->id));
	assert_true(binary_store_unwind_va(f->store, f->id, (struct tally_file_off){w.len - 1}, &va));
	assert_int_equal(va.value, w.len - 1);
	writer_deinit(&w);
}

static void says_what_is_wrong_with_a_dump(void **state)
{
	struct fixture *f = *state;
	struct writer w = {0};
	assert_int_equal(load(f, BINARY_JITDUMP).status, BINARY_NO_FILE);
	assert_null(binary_store_jitdump(f->store, f->id));
	put_text(f, DUMP_PATH, "no dump");
	assert_int_equal(load(f, BINARY_JITDUMP).status, BINARY_DAMAGED);
	jitdump_builder_header(&w, 9, 0);
	put(f, DUMP_PATH, w.data, w.len);
	assert_int_equal(load(f, BINARY_JITDUMP).status, BINARY_NO_SYMBOLS);
	writer_deinit(&w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_a_map),
		TEST(refuses_links),
		TEST(does_not_wait_for_fifos),
		TEST(refuses_what_somebody_else_wrote),
		TEST(reads_the_map_of_a_running_process),
		TEST(reads_a_dump_by_offsets),
		TEST(says_what_is_wrong_with_a_dump),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
