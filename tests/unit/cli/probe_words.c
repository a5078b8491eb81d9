/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/probing/probe_words.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "fake_root.h"
#include "kernel/events/event_parser.h"
#include "object/elf/elf_image.h"
#include "tasks/probing/temporary_probes.h"
#include "unit_test.h"

#define PROBES "/sys/kernel/tracing/uprobe_events"

/* The target of the probes is this program. */
int probe_words_target(int value);
__attribute__((noinline, used)) int probe_words_target(int value)
{
	__asm__ volatile("");
	return value + 1;
}

static char *root, program[PATH_MAX];
static struct kernel_seam seam;
static const struct cli own_cli = {.program = "tally", .build_id_dir = "/dev/null/none"};

/* Reads the file of probes and empties it. */
static void take_probes(char *text, size_t size)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s" PROBES, root);
	FILE *file = fopen(path, "r+");
	assert_non_null(file);
	size_t len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	assert_int_equal(ftruncate(fileno(file), 0), 0);
	fclose(file);
}

static unsigned long long space(void)
{
	struct stat st;
	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	return (unsigned long long)st.st_ino;
}

/* Returns whether this program has symbols. */
static bool program_has_names(void)
{
	struct elf_image *image;
	if (elf_image_open(program, &image, NULL) != TALLY_OK)
		return false;
	bool has_names = elf_image_has_symtab(image);
	elf_image_close(image);
	return has_names;
}

static int make_root(void **state)
{
	char text[512];
	/* A probe of a process that has ended, and one of another PID namespace. */
	snprintf(text, sizeof(text),
		"/sys/kernel/tracing/events/sched/sched_switch/id: 372\n" PROBES
		": p:tally_4194305_77_%llu_0/left /bin/x:0x1\\np:tally_4194305_77_1_0/foreign /bin/x:0x1\n",
		space());
	seam = *kernel_seam_linux();
	seam.root = root = fake_root_make(text);
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (len < 0)
		return 1;
	program[len] = '\0';
	return 0;
}

static int remove_root(void **state)
{
	fake_root_remove(root);
	return 0;
}

static void expand(const char *before, const char *place, const char *after, struct probe_words *words)
{
	char text[PATH_MAX + 256];
	struct tally_error err;
	snprintf(text, sizeof(text), "%suprobe:%s:%s%s", before, program, place, after);
	if (probe_words_expand(&own_cli, &seam, text, words, &err) != TALLY_OK)
		fail_msg("%s: %s", text, err.text);
}

static void other_events_stay_as_they_are(void **state)
{
	static const char *const texts[] = {"", "cycles", "{a,b/c=1,d/u}:S, page-faults",
		"uprobe/path='/a,b',offset=1/", "sdt_x", "a:sdt_y", "sched:*", "cpu/name='sdt_x:y,uprobe:z'/"};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct probe_words words;
		assert_int_equal(probe_words_expand(&own_cli, &seam, texts[i], &words, NULL), TALLY_OK);
		assert_string_equal(probe_words_text(&words), texts[i]);
		assert_int_equal(probe_words_column(&words, 3), 3);
		probe_words_deinit(&words);
	}
}

static void probes_are_made_and_removed(void **state)
{
	char text[4096], group[128], expected[PATH_MAX + 512];
	struct probe_words words;
	if (!program_has_names())
		skip_because("this program was stripped");
	take_probes(text, sizeof(text));
	expand("{cycles,", "mine=probe_words_target(n=%di:s32,+8(%sp):u64)", "/call-graph=fp/u},page-faults", &words);
	snprintf(group, sizeof(group), "tally_%d_0_%llu_0", (int)getpid(), space());
	snprintf(expected, sizeof(expected), "{cycles,%s:mine/call-graph=fp/u},page-faults", group);
	assert_string_equal(probe_words_text(&words), expected);
	assert_int_equal(words.names.len, 1);
	assert_non_null(strstr(words.names.items[0].shown, ":mine"));
	/* Columns before, inside and after the probe. */
	size_t replaced = strlen("{cycles,"), len = strlen(group) + strlen(":mine/call-graph=fp/u");
	assert_int_equal(probe_words_column(&words, 3), 3);
	assert_int_equal(probe_words_column(&words, replaced + 5), replaced);
	assert_int_equal(
		probe_words_column(&words, replaced + len + 2) - probe_words_column(&words, replaced + len), 2);
	take_probes(text, sizeof(text));
	snprintf(expected, sizeof(expected), "p:%s/mine %s:0x", group, program);
	assert_non_null(strstr(text, expected));
	assert_non_null(strstr(text, " n=%di:s32 +8(%sp):u64\n"));
	temporary_probes_remove();
	take_probes(text, sizeof(text));
	snprintf(expected, sizeof(expected), "-:%s/mine\n", group);
	assert_string_equal(text, expected);
	probe_words_deinit(&words);
}

static void events_get_the_names_that_people_know(void **state)
{
	struct probe_words words;
	struct event_list events = {0};
	if (!program_has_names())
		skip_because("this program was stripped");
	expand("", "probe_words_target", "", &words);
	struct event_spec *spec = event_list_add(&events, NULL);
	assert_non_null(spec);
	spec->tracepoint_system = words.names.items[0].group;
	spec->tracepoint_name = words.names.items[0].event;
	spec->name = "tally_1:x";
	assert_int_equal(probe_words_rename(&words, &events, 0, NULL), TALLY_OK);
	assert_non_null(strstr(events.specs[0].name, ":probe_words_target"));
	assert_true(strncmp(events.specs[0].name, "probe_", 6) == 0);
	event_list_deinit(&events);
	probe_words_deinit(&words);
	temporary_probes_remove();
}

static void mistakes_have_their_column(void **state)
{
	static const struct {
		const char *text, *words;
		size_t column;
	} cases[] = {
		{"cycles,uprobe:/no/such/file:f", "/no/such/file", 7},
		{"uprobe:", "uprobe:FILE:PLACE", 0},
		{"uprobe:a", "uprobe:FILE:PLACE", 0},
		{"a, uprobe:x:f(a,b", "the closing ')' is missing", 3},
		{"sdt_none:such", "no program in the probe cache has 'sdt_none:such'", 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct probe_words words;
		struct tally_error err;
		assert_int_not_equal(probe_words_expand(&own_cli, &seam, cases[i].text, &words, &err), TALLY_OK);
		if (!strstr(err.text, cases[i].words))
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(err.offset, cases[i].column);
	}
}

static void what_others_left_is_removed(void **state)
{
	char text[4096], expected[256];
	assert_int_equal(temporary_probes_sweep(&seam), 1);
	take_probes(text, sizeof(text));
	snprintf(expected, sizeof(expected), "-:tally_4194305_77_%llu_0/left\n", space());
	assert_non_null(strstr(text, expected));
	assert_null(strstr(text, "-:tally_4194305_77_1_0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_left_is_removed),
		cmocka_unit_test(other_events_stay_as_they_are),
		cmocka_unit_test(probes_are_made_and_removed),
		cmocka_unit_test(events_get_the_names_that_people_know),
		cmocka_unit_test(mistakes_have_their_column),
	};
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
