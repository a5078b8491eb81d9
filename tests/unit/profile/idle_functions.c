/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/idle_functions.h"

#include "unit_test.h"

static void known_functions(void **state)
{
	static const struct {
		const char *name, *more;
		enum idle_kind kind;
	} cases[] = {{"epoll_wait", NULL, IDLE_WAITS}, {"__GI___epoll_wait", NULL, IDLE_WAITS},
		{"ep_poll.constprop.0", NULL, IDLE_WAITS}, {"epoll_wait@plt", "", IDLE_WAITS},
		{"g_main_context_poll(int, char)", NULL, IDLE_WAITS}, {"ProcSleep", NULL, IDLE_NEVER},
		{"tokio::runtime::scheduler::park_timeout", NULL, IDLE_WAITS}, {"main", NULL, IDLE_UNKNOWN},
		{"runtime.findRunnable", NULL, IDLE_WAITS}, {"runtime.find", NULL, IDLE_UNKNOWN},
		{"", NULL, IDLE_UNKNOWN}, {"___", NULL, IDLE_UNKNOWN}, {"my_pool_get", "a,my_pool_*", IDLE_WAITS},
		{"__mine", "mine", IDLE_WAITS}, {"__mine", "__mine", IDLE_WAITS},
		{"epoll_wait", "!epoll_wait", IDLE_NEVER}, {"ProcSleep", "ProcSleep", IDLE_WAITS},
		{"get", "get,!get", IDLE_NEVER}, {"get", ",!,", IDLE_UNKNOWN}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(idle_function_kind(str_from(cases[i].name), cases[i].more), cases[i].kind);
}

static void long_names(void **state)
{
	char name[5000];
	memset(name, 'a', sizeof(name));
	assert_int_equal(idle_function_kind((struct tally_str){name, sizeof(name)}, "a*"), IDLE_WAITS);
	name[4999] = '\0';
	assert_int_equal(idle_function_kind(STR("main"), name), IDLE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_functions),
		cmocka_unit_test(long_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
