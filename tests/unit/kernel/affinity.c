/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/recording/affinity.h"

#include <sched.h>
#include <stdio.h>

#include "fake_root.h"
#include "kernel/system/cpu_topology.h"
#include "unit_test.h"

/* The CPU affinity of the test process, which is restored at the end. */
struct bench {
	cpu_set_t before;
	int cpu; /* First CPU that the test may run on. */
};

static int bench_setup(void **state)
{
	static struct bench bench;
	assert_int_equal(sched_getaffinity(0, sizeof(bench.before), &bench.before), 0);
	bench.cpu = 0;
	while (!CPU_ISSET((size_t)bench.cpu, &bench.before))
		bench.cpu++;
	*state = &bench;
	return 0;
}

static int bench_teardown(void **state)
{
	const struct bench *bench = *state;
	return sched_setaffinity(0, sizeof(bench->before), &bench->before);
}

static cpu_set_t allowed(void)
{
	cpu_set_t set;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	return set;
}

static void to_the_cpu_of_a_ring(void **state)
{
	const struct bench *bench = *state;
	struct affinity affinity;
	assert_int_equal(affinity_init(&affinity, kernel_seam_linux(), AFFINITY_CPU, &bench->cpu, 1, NULL), TALLY_OK);
	affinity_move(&affinity, 0);
	cpu_set_t now = allowed();
	assert_int_equal(CPU_COUNT(&now), 1);
	assert_true(CPU_ISSET((size_t)bench->cpu, &now));
	assert_int_equal(affinity.current, bench->cpu);
	affinity_move(&affinity, 1); /* There is no ring 1. */
	assert_int_equal(affinity.current, bench->cpu);
	affinity_deinit(&affinity);
	assert_int_equal(affinity.current, -1);
}

static void to_the_node_of_a_ring(void **state)
{
	const struct bench *bench = *state;
	char files[512];
	snprintf(files, sizeof(files),
		"/sys/devices/system/cpu/online: %d\\n\n"
		"/sys/devices/system/cpu/cpu%d/node3/: \n"
		"/sys/devices/system/node/node3/cpulist: %d\\n\n",
		bench->cpu, bench->cpu, bench->cpu);
	char *root = fake_root_make(files);
	struct kernel_seam seam = *kernel_seam_linux();
	struct affinity affinity;
	seam.root = root;
	assert_int_equal(affinity_init(&affinity, &seam, AFFINITY_NODE, &bench->cpu, 1, NULL), TALLY_OK);
	assert_int_equal(affinity.places[0].node, 3);
	affinity_move(&affinity, 0);
	assert_int_equal(affinity.current, 3);
	cpu_set_t now = allowed();
	assert_int_equal(CPU_COUNT(&now), 1);
	assert_true(CPU_ISSET((size_t)bench->cpu, &now));
	affinity_deinit(&affinity);
	fake_root_remove(root);
}

static void nowhere(void **state)
{
	const struct bench *bench = *state;
	struct affinity affinity;
	assert_int_equal(affinity_init(&affinity, kernel_seam_linux(), AFFINITY_NONE, &bench->cpu, 1, NULL), TALLY_OK);
	affinity_move(&affinity, 0);
	cpu_set_t now = allowed();
	assert_true(CPU_EQUAL(&now, &bench->before));
	assert_int_equal(affinity.current, -1);
	affinity_deinit(&affinity);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(to_the_cpu_of_a_ring, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(to_the_node_of_a_ring, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(nowhere, bench_setup, bench_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
