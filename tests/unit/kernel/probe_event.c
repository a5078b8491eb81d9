/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/probes/probe_event.h"

#include <stdlib.h>

#include "base/array.h"
#include "fake_root.h"
#include "kernel/probes/probe_blacklist.h"
#include "kernel/probes/probe_files.h"
#include "kernel/system/kernel_files.h"
#include "unit_test.h"

#define T "/sys/kernel/tracing/"

static void lines_are_read_and_written(void **state)
{
	static const struct {
		const char *line;
		bool is_user;
		const char *written; /* NULL: it is no such line */
	} cases[] = {
		{"p:probe_a/add /tmp/a:0x0000000000001139 x=%di:s32 y=%si", true,
			"p:probe_a/add /tmp/a:0x1139 x=%di:s32 y=%si"},
		{"r:probe_a/add__return /tmp/a:0x1139 arg1=$retval", true,
			"r:probe_a/add__return /tmp/a:0x1139 arg1=$retval"},
		{"p:sdt_a/b /tmp/a:c:0x10(0x4010)", true, "p:sdt_a/b /tmp/a:c:0x10(0x4010)"},
		{"p:g/e /tmp/a:0x10%return", true, "r:g/e /tmp/a:0x10"},
		{"r4:g/e /tmp/a:0x10", true, "r:g/e /tmp/a:0x10"},
		{"p:probe/vfs_read vfs_read", false, "p:probe/vfs_read vfs_read+0"},
		{"p:probe/vfs_read _text+7047664 a=%di", false, "p:probe/vfs_read _text+7047664 a=%di"},
		{"r:probe/x nf_nat:helper+0x10", false, "r:probe/x nf_nat:helper+16"},
		{"p:probe/x 0xffffffff81000000", false, "p:probe/x 0xffffffff81000000"},
		{"e:eprobes/x sched/sched_switch a=$prev_pid", false, "e:eprobes/x sched/sched_switch+0 a=$prev_pid"},
		{"", true, NULL},
		{"p", true, NULL},
		{"p:g/e", true, NULL},
		{"p:g/ /tmp/a:0x10", true, NULL},
		{"p:/e /tmp/a:0x10", true, NULL},
		{"p:g/e /tmp/a", true, NULL},
		{"p:g/e /tmp/a:zz", true, NULL},
		{"p:g/e /tmp/a:0x10(zz)", true, NULL},
		{"p:g/e sym+zz", false, NULL},
		{"-:g/e", true, NULL},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct probe_event event;
		struct text text = {0};
		assert_int_equal(
			probe_event_parse(str_from(cases[i].line), cases[i].is_user, &event), cases[i].written != NULL);
		if (!cases[i].written)
			continue;
		probe_event_print(&event, &text);
		text_char(&text, 0);
		assert_string_equal(text.data, cases[i].written);
		text_deinit(&text);
	}
}

static void arguments_are_walked(void **state)
{
	struct tally_str rest = STR("x=%di:s32 %si  s=+0(%dx):string");
	struct probe_event_argument argument;
	(void)state;
	assert_true(probe_event_next_argument(&rest, &argument));
	assert_true(str_equal(argument.name, STR("x")) && str_equal(argument.text, STR("%di:s32")));
	assert_true(probe_event_next_argument(&rest, &argument));
	assert_true(argument.name.len == 0 && str_equal(argument.text, STR("%si")));
	assert_true(probe_event_next_argument(&rest, &argument));
	assert_true(str_equal(argument.name, STR("s")) && str_equal(argument.text, STR("+0(%dx):string")));
	assert_false(probe_event_next_argument(&rest, &argument));
}

static void patterns_choose_events(void **state)
{
	const struct probe_event event = {.group = STR("probe_app"), .event = STR("add__return")};
	(void)state;
	assert_true(probe_event_matches(&event, STR("add*")));
	assert_true(probe_event_matches(&event, STR("probe_app:*")));
	assert_true(probe_event_matches(&event, STR("*:add__return")));
	assert_false(probe_event_matches(&event, STR("add")));
	assert_false(probe_event_matches(&event, STR("probe:*")));
}

static struct kernel_seam seam;

static void probe_event_expect(const char *file, const char *value)
{
	char *text;
	assert_int_equal(kernel_text(&seam, &text, NULL, T "%s", file), TALLY_OK);
	assert_string_equal(text, value);
	free(text);
}

static void the_list_is_both_files(void **state)
{
	char *root = fake_root_make(T "events/: \n" T "kprobe_events: p:probe/a vfs_read\\nnoise\\n\n" T
				      "uprobe_events: p:probe_x/b /x:0x10\\np:probe_x/b /x:0x20\\n\n");
	struct probe_list list;
	struct tally_error err;
	(void)state;
	seam.root = root;
	assert_int_equal(probe_list_read(&seam, &list, &err), TALLY_OK);
	assert_int_equal(list.events.len, 3);
	assert_true(list.has_kernel_file && list.has_user_file);
	assert_true(!list.events.items[0].is_user && list.events.items[2].is_user);
	assert_int_equal(list.events.items[2].offset, 0x20);
	probe_list_deinit(&list);
	fake_root_remove(root);
}

static void lines_are_appended(void **state)
{
	char *root = fake_root_make(T "events/: \n" T "uprobe_events: p:probe_x/b /x:0x10\n");
	static const struct probe_event events[] = {
		{.kind = 'p', .is_user = true, .group = STR("g"), .event = STR("e"), .file = STR("/x"), .offset = 0x20},
		{.kind = 'r',
			.is_user = true,
			.group = STR("g"),
			.event = STR("f"),
			.file = STR("/x"),
			.offset = 0x30}};
	struct tally_error err;
	bool removed[2];
	(void)state;
	seam.root = root;
	assert_int_equal(probe_files_add(&seam, events, 2, 0, &err), TALLY_OK);
	probe_event_expect("uprobe_events", "p:probe_x/b /x:0x10\np:g/e /x:0x20\nr:g/f /x:0x30");
	assert_int_equal(probe_files_remove(&seam, events, 2, removed, &err), TALLY_OK);
	assert_true(removed[0] && removed[1]);
	probe_event_expect("uprobe_events", "p:probe_x/b /x:0x10\np:g/e /x:0x20\nr:g/f /x:0x30\n-:g/e\n-:g/f");
	fake_root_remove(root);
}

/* A kernel without kprobes: the user's probe that was added before is taken back. */
static void a_refusal_takes_all_back(void **state)
{
	char *root = fake_root_make(T "events/: \n" T "uprobe_events: p:probe_x/b /x:0x10\n");
	static const struct probe_event events[] = {
		{.kind = 'p', .is_user = true, .group = STR("g"), .event = STR("e"), .file = STR("/x"), .offset = 0x20},
		{.kind = 'p', .group = STR("probe"), .event = STR("f"), .symbol = STR("vfs_read")}};
	struct tally_error err;
	(void)state;
	seam.root = root;
	assert_int_equal(probe_files_add(&seam, events, 2, 0, &err), TALLY_UNSUPPORTED);
	assert_string_equal(
		err.text, T "kprobe_events does not exist.\nPlease rebuild kernel with CONFIG_KPROBE_EVENTS=y.");
	probe_event_expect("uprobe_events", "p:probe_x/b /x:0x10\np:g/e /x:0x20\n-:g/e");
	fake_root_remove(root);
}

static void without_tracefs_a_sentence_says_so(void **state)
{
	char *root = fake_root_make("/sys/kernel/: \n");
	struct probe_list list;
	struct tally_error err;
	(void)state;
	seam.root = root;
	assert_int_equal(probe_list_read(&seam, &list, &err), TALLY_UNSUPPORTED);
	assert_string_equal(
		err.text, "Tracefs is not mounted: as root, run 'mount -t tracefs nodev /sys/kernel/tracing'.");
	fake_root_remove(root);
}

static void some_functions_take_no_probes(void **state)
{
	char *root = fake_root_make(
		"/sys/kernel/debug/kprobes/blacklist: noise\\n0xffffffff81000010-0xffffffff81000040\tdo_nmi\\n"
		"0xffffffff81000050-0xffffffff81000060\tfixup\n");
	struct probe_blacklist list;
	(void)state;
	seam.root = root;
	probe_blacklist_read(&seam, &list);
	assert_true(probe_blacklist_has(&list, 0xffffffff81000010, STR("x")));
	assert_false(probe_blacklist_has(&list, 0xffffffff81000040, STR("do_nmi")));
	assert_true(probe_blacklist_has(&list, 0, STR("fixup")));
	assert_false(probe_blacklist_has(&list, 0, STR("fix")));
	probe_blacklist_deinit(&list);
	fake_root_remove(root);
	root = fake_root_make("/sys/kernel/: \n");
	seam.root = root;
	probe_blacklist_read(&seam, &list);
	assert_false(probe_blacklist_has(&list, 0, STR("fixup")));
	probe_blacklist_deinit(&list);
	fake_root_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_read_and_written),
		cmocka_unit_test(arguments_are_walked), cmocka_unit_test(patterns_choose_events),
		cmocka_unit_test(the_list_is_both_files), cmocka_unit_test(lines_are_appended),
		cmocka_unit_test(a_refusal_takes_all_back), cmocka_unit_test(without_tracefs_a_sentence_says_so),
		cmocka_unit_test(some_functions_take_no_probes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
