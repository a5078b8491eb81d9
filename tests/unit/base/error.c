/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <string.h>

#include "unit_test.h"

static void each_form(void **state)
{
	struct tally_error err;
	assert_int_equal(error_set(&err, TALLY_NOT_FOUND, "no event '%s'", "x"), TALLY_NOT_FOUND);
	assert_string_equal(err.text, "no event 'x'");
	assert_int_equal(err.status, TALLY_NOT_FOUND);
	assert_true(err.offset == TALLY_NO_OFFSET);
	assert_int_equal(err.errnum, 0);

	assert_int_equal(error_set_errno(&err, TALLY_IO, ENOENT, "open %s", "f"), TALLY_IO);
	assert_string_equal(err.text, "open f: No such file or directory");
	assert_int_equal(err.errnum, ENOENT);

	assert_int_equal(error_set_at(&err, TALLY_CORRUPT, 0x1234, "size of %d", 3), TALLY_CORRUPT);
	assert_string_equal(err.text, "size of 3 at offset 0x1234");
	assert_int_equal(err.offset, 0x1234);
	assert_int_equal(err.errnum, 0);

	assert_int_equal(error_prefix(&err, "reading %s", "f"), TALLY_CORRUPT);
	assert_string_equal(err.text, "reading f: size of 3 at offset 0x1234");
	assert_int_equal(err.offset, 0x1234);

	assert_int_equal(error_nomem(&err), TALLY_NOMEM);
	assert_string_equal(err.text, "out of memory");
}

static void no_error_is_allowed(void **state)
{
	assert_int_equal(error_set(NULL, TALLY_IO, "x"), TALLY_IO);
	assert_int_equal(error_set_errno(NULL, TALLY_IO, 1, "x"), TALLY_IO);
	assert_int_equal(error_set_at(NULL, TALLY_CORRUPT, 1, "x"), TALLY_CORRUPT);
	assert_int_equal(error_prefix(NULL, "x"), TALLY_OK);
	assert_int_equal(error_nomem(NULL), TALLY_NOMEM);
}

static void long_texts_are_cut(void **state)
{
	struct tally_error err;
	char longer[1000];
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	error_set_errno(&err, TALLY_IO, ENOENT, "%s", longer);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_prefix(&err, "%s", longer);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_set_at(&err, TALLY_CORRUPT, 1, "%s", longer);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void errors_of_the_system_have_texts(void **state)
{
	char buffer[128];
	assert_string_equal(error_describe(ENOENT, buffer, sizeof(buffer)), strerror(ENOENT));
	assert_true(strlen(error_describe(511, buffer, sizeof(buffer))) > 0); /* No error has this number. */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form),
		cmocka_unit_test(no_error_is_allowed),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(errors_of_the_system_have_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
