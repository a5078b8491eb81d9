/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a mapped file that is truncated while it is read. */
#include "cli/cut_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "unit_test.h"

static void test_what_is_gone_reads_as_zeros(void **state)
{
	char path[] = "/tmp/tally-cut-XXXXXX";
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *content = malloc(3 * page);
	struct file_map map;
	(void)state;
	install_sigbus_handler(); /* cmocka installs its own handlers for each test. */
	int fd = mkstemp(path);
	assert_true(fd >= 0 && content);
	memset(content, 'x', 3 * page);
	assert_int_equal(file_write_all(fd, content, 3 * page, NULL), TALLY_OK);
	assert_int_equal(file_map_open(path, &map, NULL), TALLY_OK);
	assert_true(file_map_is_unchanged(&map, path));
	assert_int_equal(ftruncate(fd, (off_t)page), 0);
	assert_false(cut_files_were_met());
	assert_int_equal(map.bytes.data[0], 'x');
	const volatile uint8_t *bytes = map.bytes.data;
	assert_int_equal(bytes[page + 7], 0);
	assert_int_equal(bytes[3 * page - 1], 0);
	assert_true(cut_files_were_met());
	assert_false(file_map_is_unchanged(&map, path));
	file_map_close(&map);
	close(fd);
	unlink(path);
	free(content);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_gone_reads_as_zeros)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
