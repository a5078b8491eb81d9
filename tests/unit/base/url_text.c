/* SPDX-License-Identifier: Apache-2.0 */
#include "base/url_text.h"

#include "unit_test.h"

static void assert_shown(const char *url, const char *wanted)
{
	char room[URL_SHOWN_BYTES];
	assert_string_equal(url_shown(url, room), wanted);
}

static void secrets_are_left_out(void **state)
{
	assert_shown("http://host:7779", "http://host:7779");
	assert_shown("https://me:secret@host:7779/a/b", "https://***@host:7779/a/b");
	assert_shown("https://token@host", "https://***@host");
	assert_shown("otlp+https://me:secret@host", "otlp+https://***@host");
	assert_shown(
		"clickhouse://fleet:secret@[::1]:8123/profiles?tls=1", "clickhouse://***@[::1]:8123/profiles?tls=1");
	assert_shown("clickhouse://fleet@host/profiles", "clickhouse://***@host/profiles");
	assert_shown("http://host/?token=secret", "http://host/?***");
}

/* Passwords are hidden in logs even if they contain unescaped characters, such as slashes. */
static void secrets_in_urls_with_mistakes(void **state)
{
	assert_shown("clickhouse://fleet:se/cr?e#t@host/profiles", "clickhouse://***@host/profiles");
	assert_shown("clickhouse://fleet:se@cr@et@host/profiles", "clickhouse://***@host/profiles");
	assert_shown("clickhouse:fleet:secret@host/profiles", "clickhouse:***@host/profiles");
	assert_shown("clickhouse:/fleet:secret@host/profiles", "clickhouse:/***@host/profiles");
	assert_shown("nosuch://fleet:secret@host", "nosuch://***@host");
	assert_shown("http://me:sec\x1bret@ho\x1bst", "http://***@ho\\x1bst");
}

static void paths_stay(void **state)
{
	assert_shown("sqlite:/var/lib/a:b@c.db", "sqlite:/var/lib/a:b@c.db");
	assert_shown("./folder:a@b", "./folder:a@b");
	assert_shown("/var/spool/a@b", "/var/spool/a@b");
	assert_shown("http://host/a@b", "http://host/a@b");
	assert_shown("", "");
	char longest[2 * URL_SHOWN_BYTES], room[URL_SHOWN_BYTES];
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(strlen(url_shown(longest, room)), URL_SHOWN_BYTES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_are_left_out),
		cmocka_unit_test(secrets_in_urls_with_mistakes),
		cmocka_unit_test(paths_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
