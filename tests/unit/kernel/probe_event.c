/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/probes/probe_event.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
		const char *written; /* NULL if the line is invalid. */
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

/* On a kernel without kprobes, the user probe that was added before is removed again. */
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

struct probe_event_signaller {
	int pipe; /* The write end of a full pipe, so that the first removal blocks. */
	pid_t remover;
	atomic_bool is_ready;
};

static volatile sig_atomic_t probe_event_signals;

static void probe_event_count_signal(int number)
{
	(void)number;
	probe_event_signals = probe_event_signals + 1;
}

static bool probe_event_is_blocked(pid_t thread)
{
	char path[64], line[256];
	unsigned long long blocked = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)thread);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "SigBlk:", 7) == 0)
			blocked = strtoull(line + 7, NULL, 16);
	if (file)
		fclose(file);
	return blocked >> (SIGTERM - 1) & 1;
}

static void *probe_event_signal_remover(void *context)
{
	struct probe_event_signaller *signaller = context;
	char room[4096];
	while (!atomic_load(&signaller->is_ready) || !probe_event_is_blocked(signaller->remover))
		usleep(1000);
	kill(getpid(), SIGTERM);
	while (read(signaller->pipe, room, sizeof(room)) > 0)
		continue;
	return NULL;
}

/* A caller that is told that all probes were removed would not remove the others. */
static void an_interrupted_removal_is_no_success(void **state)
{
	char *root = fake_root_make(T "events/: \n");
	static const struct probe_event events[] = {
		{.kind = 'p', .is_user = true, .group = STR("g"), .event = STR("e")},
		{.kind = 'p', .is_user = true, .group = STR("g"), .event = STR("f")}};
	struct probe_event_signaller signaller = {.remover = gettid()};
	struct tally_error err;
	bool removed[2] = {false, false};
	char path[512], filler[4096] = {0};
	sigset_t term;
	pthread_t thread;
	(void)state;
	seam.root = root;
	snprintf(path, sizeof(path), "%s" T "uprobe_events", root);
	assert_int_equal(mkfifo(path, 0600), 0);
	signaller.pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	while (write(signaller.pipe, filler, sizeof(filler)) > 0)
		continue;
	signal(SIGTERM, probe_event_count_signal);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	assert_int_equal(pthread_create(&thread, NULL, probe_event_signal_remover, &signaller), 0);
	pthread_sigmask(SIG_UNBLOCK, &term, NULL);
	atomic_store(&signaller.is_ready, true);
	assert_int_equal(probe_files_remove(&seam, events, 2, removed, &err), TALLY_INVALID);
	pthread_join(thread, NULL);
	assert_int_equal(strncmp(err.text, "Interrupted: ", 13), 0);
	assert_false(removed[1]);
	assert_int_equal(probe_event_signals, 1);
	signal(SIGTERM, SIG_DFL);
	close(signaller.pipe);
	unlink(path);
	fake_root_remove(root);
}

/* setns(2) to a mount namespace changes the working directory to its root. */
static void the_current_folder_stays_behind_a_namespace(void **state)
{
	static const struct probe_event event = {
		.kind = 'p', .is_user = true, .group = STR("g"), .event = STR("e"), .file = STR("/x")};
	char *root = fake_root_make(T "events/: \n" T "uprobe_events: p:probe_x/b /x:0x10\n");
	char before[4096], inside[4096], after[4096];
	struct tally_error err;
	(void)state;
	seam.root = root;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(root), 0);
	assert_non_null(getcwd(inside, sizeof(inside)));
	enum tally_status status = probe_files_add(&seam, &event, 1, getpid(), &err);
	assert_non_null(getcwd(after, sizeof(after)));
	assert_int_equal(chdir(before), 0);
	if (status == TALLY_OK) {
		assert_string_equal(after, inside);
		probe_event_expect("uprobe_events", "p:probe_x/b /x:0x10\np:g/e /x:0x0");
	} else {
		assert_int_equal(status, TALLY_DENIED);
	}
	fake_root_remove(root);
	if (status != TALLY_OK)
		skip(); /* setns(2) to a mount namespace requires root. */
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
		cmocka_unit_test(a_refusal_takes_all_back), cmocka_unit_test(an_interrupted_removal_is_no_success),
		cmocka_unit_test(the_current_folder_stays_behind_a_namespace),
		cmocka_unit_test(without_tracefs_a_sentence_says_so), cmocka_unit_test(some_functions_take_no_probes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
