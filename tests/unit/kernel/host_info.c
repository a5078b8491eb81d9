/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/system/host_info.h"

#include <elf.h>
#include <stdlib.h>

#include "fake_root.h"
#include "unit_test.h"

#define PMUS "/sys/bus/event_source/devices/"

static const struct host_pmu *find(const struct host_info *info, const char *name)
{
	for (size_t i = 0; i < info->pmu_count; i++)
		if (str_equal(info->pmus[i].name, str_from(name)))
			return &info->pmus[i];
	return NULL;
}

static struct tally_str capability(const struct host_pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->cap_count; i++)
		if (str_equal(pmu->caps[i].name, str_from(name)))
			return pmu->caps[i].value;
	return STR("");
}

static void test_capabilities(void **state)
{
	char *root = fake_root_make(
		PMUS "cpu/type: 4\n" PMUS "cpu/caps/branches: 32\\n\n" PMUS "cpu/caps/max_precise: 3\\n\n" PMUS
		     "intel_pt/type: 8\n" PMUS "intel_pt/caps/psb_cyc: 1\\n\n" PMUS "software/type: 1\n" PMUS
		     "broken/caps/branches: 32\n");
	struct kernel_seam seam = {.root = root};
	struct host_info info;
	assert_int_equal(host_info_read(&seam, &info, NULL), TALLY_OK);
	assert_int_equal(info.pmu_count, 3);
	assert_int_equal(find(&info, "cpu")->cap_count, 2);
	assert_true(str_equal(capability(find(&info, "cpu"), "branches"), STR("32")));
	assert_true(str_equal(capability(find(&info, "cpu"), "max_precise"), STR("3")));
	assert_true(str_equal(capability(find(&info, "intel_pt"), "psb_cyc"), STR("1")));
	assert_int_equal(find(&info, "software")->cap_count, 0);
	host_info_deinit(&info);
	fake_root_remove(root);
}

static void test_the_machine_of_programs(void **state)
{
	char *root = fake_root_make("/proc/: \n");
	struct kernel_seam seam = {.root = root};
	struct host_info info;
	assert_int_equal(host_info_read(&seam, &info, NULL), TALLY_OK);
#if defined(__x86_64__)
	assert_int_equal(info.e_machine, EM_X86_64);
#elif defined(__aarch64__)
	assert_int_equal(info.e_machine, EM_AARCH64);
#endif
	assert_int_equal(info.pmu_count, 0);
	host_info_deinit(&info);
	fake_root_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_the_machine_of_programs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
