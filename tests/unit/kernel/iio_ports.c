/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/iio_ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "unit_test.h"

static char root[64];

static void put(const char *path, const char *text)
{
	char full[512];
	struct tally_error err;
	snprintf(full, sizeof(full), "%s/sys/devices/%s", root, path);
	assert_int_equal(file_make_parents(full, &err), TALLY_OK);
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* expected is "PMU/DIE=SEGMENT:BUS " for each port. */
static void assert_ports(const struct iio_ports *ports, const char *expected)
{
	struct text out = {0};
	for (size_t i = 0; i < ports->ports.len; i++) {
		const struct iio_port *port = &ports->ports.items[i];
		text_printf(&out, "%u/%u=%x:%x ", port->pmu, port->die, port->segment, port->bus);
	}
	text_char(&out, 0);
	assert_string_equal(out.data, expected);
	text_deinit(&out);
}

static void a_tree_of_two_dies(void **state)
{
	const struct kernel_seam kernel = {.root = root};
	struct iio_ports ports;
	struct tally_error err = {0};
	snprintf(root, sizeof(root), "/tmp/iio-ports.XXXXXX");
	assert_non_null(mkdtemp(root));
	put("cpu/type", "4\n");
	assert_int_equal(iio_ports_read(&kernel, &ports, &err), TALLY_UNSUPPORTED);
	put("uncore_iio_0/type", "20\n");
	put("uncore_iio_0/die0", "0000:00\n");
	put("uncore_iio_0/die1", "0000:80\n");
	put("uncore_iio_10/die1", "0001:ff\n");
	put("uncore_iio_2/die0", "0000:3a\n");
	put("uncore_iio_2/die1", "\n");
	put("uncore_iio_3/die0", "0000:100\n");
	put("uncore_iio_4/die0", "nonsense");
	put("uncore_iio_5/diex", "0000:01\n");
	put("uncore_iio_free_running_0/die0", "0000:02\n");
	assert_int_equal(iio_ports_read(&kernel, &ports, &err), TALLY_OK);
	assert_ports(&ports, "0/0=0:0 0/1=0:80 2/0=0:3a 10/1=1:ff ");
	assert_int_equal(iio_ports_keep(&ports, "1:ff, 0000:00", &err), TALLY_OK);
	assert_ports(&ports, "10/1=1:ff 0/0=0:0 ");
	assert_int_equal(iio_ports_keep(&ports, "0:3a", &err), TALLY_NOT_FOUND);
	iio_ports_deinit(&ports);
	for (size_t i = 0; i < 3; i++) {
		static const char *const bad[] = {"", "0:0,0:0", "17"};
		assert_int_equal(iio_ports_read(&kernel, &ports, &err), TALLY_OK);
		assert_int_equal(iio_ports_keep(&ports, bad[i], &err), TALLY_NOT_FOUND);
		iio_ports_deinit(&ports);
	}
	char command[100];
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_of_two_dies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
