/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_smi.h"

#include <stdlib.h>

#include "fake_root.h"
#include "kernel/system/kernel_files.h"
#include "unit_test.h"

#define SWITCH "/sys/bus/event_source/devices/cpu/freeze_on_smi"

static void test_the_switch_is_put_back(void **state)
{
	char *root = fake_root_make(SWITCH ": 0\n");
	struct kernel_seam seam = {.root = root};
	struct stat_smi smi = {0};
	assert_int_equal(stat_smi_freeze(&seam, &smi, NULL), TALLY_OK);
	assert_int_equal(kernel_number(&seam, -1, SWITCH), 1);
	stat_smi_restore(&seam, &smi);
	assert_int_equal(kernel_number(&seam, -1, SWITCH), 0);
	fake_root_remove(root);
}

static void test_a_switch_that_was_on_stays_on(void **state)
{
	char *root = fake_root_make(SWITCH ": 1\n");
	struct kernel_seam seam = {.root = root};
	struct stat_smi smi = {0};
	assert_int_equal(stat_smi_freeze(&seam, &smi, NULL), TALLY_OK);
	stat_smi_restore(&seam, &smi);
	assert_int_equal(kernel_number(&seam, -1, SWITCH), 1);
	fake_root_remove(root);
}

static void test_a_pmu_without_it(void **state)
{
	char *root = fake_root_make("/sys/bus/event_source/devices/cpu/type: 4\n");
	struct kernel_seam seam = {.root = root};
	struct stat_smi smi = {0};
	assert_int_equal(stat_smi_freeze(&seam, &smi, NULL), TALLY_UNSUPPORTED);
	stat_smi_restore(&seam, &smi);
	fake_root_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_switch_is_put_back),
		cmocka_unit_test(test_a_switch_that_was_on_stays_on),
		cmocka_unit_test(test_a_pmu_without_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
