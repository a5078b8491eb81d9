/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_cgroups.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "fake_root.h"
#include "kernel/recording/cgroups.h"
#include "unit_test.h"

static const char groups[] = "/proc/mounts: cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\\n\n"
			     "/sys/fs/cgroup/system.slice/a.service/: \n"
			     "/sys/fs/cgroup/system.slice/b.service/: \n"
			     "/sys/fs/cgroup/user.slice/: \n";

static enum tally_status count_group(void *context, uint64_t id, struct tally_str path, struct tally_error *err)
{
	++*(size_t *)context;
	return TALLY_OK;
}

/* Returns the names separated by commas, or the error message. */
static void found(const char *root, const char *text, char *out, size_t size)
{
	struct kernel_seam seam = {.root = root};
	struct name_list names = {0};
	struct tally_error err;
	*out = '\0';
	if (stat_cgroups_find(&seam, text, &names, &err) != TALLY_OK)
		snprintf(out, size, "%s", err.text);
	else
		for (size_t i = 0; i < names.len; i++)
			snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? "," : "", names.items[i]);
	name_list_deinit(&names);
}

static void names_and_patterns(void **state)
{
	static const struct {
		const char *text, *found;
	} cases[] = {
		{"system.slice/a.service", "system.slice/a.service"},
		{" x , y", "x,y"}, /* Names are not looked up: opening their events fails if they do not exist. */
		{"x,,y", "x,/,y"},
		{"x,y,x", "x,y"},
		{"^system.slice/.*", "system.slice/a.service,system.slice/b.service"},
		{"/system.slice/[b]", "system.slice/b.service"},
		{"user.slice,^(user|system).slice$", "user.slice,system.slice"},
		{"slice*", "no cgroup matched: slice*"}, /* Patterns are anchored at the beginning of the name. */
		{"(", "invalid pattern of cgroups: (: Unmatched ( or \\("},
	};
	char *root = fake_root_make(groups), room[512];
	struct kernel_seam seam = {.root = root};
	size_t seen = 0;
	assert_int_equal(cgroups_each(&seam, count_group, &seen, NULL), TALLY_OK);
	if (seen < 5) {
		fake_root_remove(root);
		skip_because("files of the temporary directory have no handles");
	}
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		found(root, cases[i].text, room, sizeof(room));
		assert_string_equal(room, cases[i].found);
	}
	fake_root_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names_and_patterns)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
