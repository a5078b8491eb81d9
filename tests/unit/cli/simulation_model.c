/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_model.h"

#include <string.h>

#include "base/text.h"
#include "fake_root.h"
#include "unit_test.h"

#define CACHE(index, level, type, size, ways, line)                                           \
	"/sys/devices/system/cpu/cpu0/cache/index" index "/level: " level "\n"                \
	"/sys/devices/system/cpu/cpu0/cache/index" index "/type: " type "\n"                  \
	"/sys/devices/system/cpu/cpu0/cache/index" index "/size: " size "\n"                  \
	"/sys/devices/system/cpu/cpu0/cache/index" index "/ways_of_associativity: " ways "\n" \
	"/sys/devices/system/cpu/cpu0/cache/index" index "/coherency_line_size: " line "\n"
#define LEVEL_1 CACHE("0", "1", "Data", "48K", "12", "64") CACHE("1", "1", "Instruction", "32K", "8", "64")
#define LEVEL_2 CACHE("2", "2", "Unified", "2048K", "16", "64")
#define LEVEL_3 CACHE("3", "3", "Unified", "307200K", "20", "64")
#define SERVER	LEVEL_1 LEVEL_2 LEVEL_3
#define NOTHING "/proc/cpuinfo: model name\n"
#define TLBS	" --itlb=1536,12,4096 --dtlb=1536,12,4096"

struct made {
	enum tally_status status;
	struct tally_error err;
	struct diag notes;
	struct text options;
};

static const struct simulation_caches *cpu_caches; /* NULL if CPUID reports nothing. */

static void make(const char *files, const char *text, struct made *made)
{
	struct simulation_model model;
	char *root = fake_root_make(files), option[SIMULATION_OPTION_BYTES];
	struct kernel_seam seam = *kernel_seam_linux();
	seam.root = root;
	*made = (struct made){0};
	diag_init(&made->notes);
	made->status = simulation_model_make(&seam, cpu_caches, text, &model, &made->notes, &made->err);
	for (unsigned part = 0; made->status == TALLY_OK && part < SIMULATION_PARTS; part++)
		if (simulation_model_option(&model, part, option))
			text_printf(&made->options, "%s%s", made->options.len ? " " : "", option);
	text_char(&made->options, '\0');
	fake_root_remove(root);
}

static void made_free(struct made *made)
{
	diag_deinit(&made->notes);
	text_deinit(&made->options);
}

static void expect_options(const char *files, const char *text, const char *options, const char *note)
{
	struct made made;
	make(files, text, &made);
	assert_int_equal(made.status, TALLY_OK);
	assert_string_equal(made.options.data, options);
	assert_int_equal(made.notes.len, note ? 1 : 0);
	if (note)
		assert_string_equal(made.notes.entries[0].text, note);
	made_free(&made);
}

static void expect_wrong(const char *text, const char *words)
{
	struct made made;
	make(SERVER, text, &made);
	assert_int_equal(made.status, TALLY_INVALID);
	if (!strstr(made.err.text, words))
		fail_msg("'%s': '%s' does not say '%s'", text, made.err.text, words);
	made_free(&made);
}

static void the_machine_is_the_default_with_sets_rounded_as_cachegrind_does(void **state)
{
	expect_options(SERVER, NULL, "--i1=32768,8,64 --d1=49152,12,64 --l2=2097152,16,64 --ll=318767104,38,64" TLBS,
		"this machine's last-level cache (ll=300M,20,64) has a number of sets that is no power of two; "
		"simulated is ll=304M,38,64, as cachegrind does");
	expect_options(
		SERVER, "cachegrind:ll=8M,16,64", "--i1=32768,8,64 --d1=49152,12,64 --ll=8388608,16,64" TLBS, NULL);
}

static void the_last_of_two_levels_is_the_last_level(void **state)
{
	expect_options(LEVEL_1 LEVEL_2, "machine", "--i1=32768,8,64 --d1=49152,12,64 --ll=2097152,16,64" TLBS, NULL);
}

static void what_the_machine_does_not_tell_is_said(void **state)
{
	expect_options(NOTHING, NULL, "--i1=32768,8,64 --d1=32768,8,64 --l2=1048576,16,64 --ll=33554432,16,64" TLBS,
		"this machine does not say what its caches are like (/sys/devices/system/cpu/cpu0/cache, CPUID, "
		"sysconf); simulated is "
		"i1=32K,8,64:d1=32K,8,64:l2=1M,16,64:ll=32M,16,64; --cache-model names others");
	expect_options(LEVEL_1, "ll=1M,16,64", "--i1=32768,8,64 --d1=49152,12,64 --ll=1048576,16,64" TLBS, NULL);
	/* Hypervisors report sizes without ways. */
	expect_options(LEVEL_2 LEVEL_3 CACHE("0", "1", "Data", "48K", "0", "64")
			       CACHE("1", "1", "Instruction", "32K", "8", "64"),
		"ll=8M,16,64", "--i1=32768,8,64 --d1=32768,8,64 --l2=2097152,16,64 --ll=8388608,16,64" TLBS,
		"this machine does not say what its caches are like (/sys/devices/system/cpu/cpu0/cache, CPUID, "
		"sysconf); simulated is "
		"d1=32K,8,64; --cache-model names others");
}

static struct simulation_cache cache_of(uint32_t eax, uint32_t ebx, uint32_t ecx)
{
	const uint32_t registers[4] = {eax, ebx, ecx, 0};
	struct simulation_cache cache = {0};
	(void)simulation_caches_decode(registers, &cache);
	return cache;
}

/* CPUID leaf 4 of an Ice Lake server: 48 KB with 12 ways, 32 KB with 8, 1.25 MB with 20, 54 MB with 12. */
static void the_cpu_is_asked_where_files_tell_nothing(void **state)
{
	struct simulation_caches caches = {0};
	const struct simulation_cache leaves[] = {cache_of(0x7c004121, 0x02c0003f, 63),
		cache_of(0x7c004122, 0x01c0003f, 63), cache_of(0x7c004143, 0x04c0003f, 1023),
		cache_of(0x7c0fc163, 0x02c0003f, 73727)};
	assert_int_equal(cache_of(0, 0, 0).level, 0);
	for (size_t i = 0; i < 4; i++)
		simulation_caches_add(&caches, &leaves[i]);
	simulation_caches_add(&caches, &(struct simulation_cache){1, SIMULATION_CACHE_DATA, 1024, 1, 64});
	assert_int_equal(caches.count, 4);
	assert_int_equal(leaves[0].size, 48 << 10);
	assert_int_equal(leaves[0].ways, 12);
	assert_int_equal(leaves[3].size, 54 << 20);
	cpu_caches = &caches;
	expect_options(NOTHING, "ll=32M,16,64",
		"--i1=32768,8,64 --d1=49152,12,64 --l2=1310720,20,64 --ll=33554432,16,64" TLBS, NULL);
	/* Files in sysfs take precedence; missing values are filled in from CPUID. */
	expect_options(CACHE("0", "1", "Data", "32K", "8", "64") CACHE("1", "1", "Instruction", "64K", "0", "64"),
		"ll=32M,16,64", "--i1=32768,8,64 --d1=32768,8,64 --l2=1310720,20,64 --ll=33554432,16,64" TLBS, NULL);
	/* The C library may know a size without the ways. */
	struct simulation_caches sizes = {.items = {{1, SIMULATION_CACHE_DATA, 64 << 10, 0, 64}}, .count = 1};
	cpu_caches = &sizes;
	expect_options(NOTHING, "i1=32K,8,64:l2=none:ll=32M,16,64",
		"--i1=32768,8,64 --d1=65536,8,64 --ll=33554432,16,64" TLBS, NULL);
	cpu_caches = NULL;
}

static void a_generic_model_does_not_depend_on_the_machine(void **state)
{
	static const char options[] = "--i1=32768,8,64 --d1=32768,8,64 --l2=1048576,16,64 --ll=33554432,16,64" TLBS;
	expect_options(SERVER, "generic", options, NULL);
	expect_options(NOTHING, "generic", options, NULL);
}

static void parts_replace_those_of_the_machine(void **state)
{
	expect_options(SERVER, "i1=64k,4,128:d1=16K,1,32:l2=none:ll=8388608,16,64:itlb=64,4,4K:dtlb=32,32,2M",
		"--i1=65536,4,128 --d1=16384,1,32 --ll=8388608,16,64 --itlb=64,4,4096 --dtlb=32,32,2097152", NULL);
}

static void wrong_texts_are_explained(void **state)
{
	expect_wrong("", "needs a model");
	expect_wrong("i1=32K,8,64:", "needs a model");
	expect_wrong("pentium", "'pentium' is neither a model");
	expect_wrong("i1=32K,8,64:machine", "which comes first");
	expect_wrong("l1=32K,8,64", "'l1=32K,8,64' is neither a model");
	expect_wrong("i1=32K,8,64:i1=32K,8,64", "i1 is given twice");
	expect_wrong("d1=none", "is not d1=SIZE,WAYS,LINE");
	expect_wrong("d1=32K,8", "is not d1=SIZE,WAYS,LINE");
	expect_wrong("d1=32K,8,64,", "is not d1=SIZE,WAYS,LINE");
	expect_wrong("d1=32X,8,64", "is not d1=SIZE,WAYS,LINE");
	expect_wrong("d1=-1,8,64", "is not d1=SIZE,WAYS,LINE");
	expect_wrong("dtlb=64,4", "is not dtlb=ENTRIES,WAYS,PAGE");
	expect_wrong("d1=32K,8,60", "a line is a power of two");
	expect_wrong("d1=0,8,64", "is no possible L1 data cache");
	expect_wrong("d1=32K,0,64", "is no possible L1 data cache");
	expect_wrong("d1=64,8,64", "of which a set fits into it");
	expect_wrong("d1=4096,1,8", "a line is a power of two from 16");
	expect_wrong("ll=64M,512,64", "1 to 256 ways");
	expect_wrong("ll=16G,16,64", "it has up to 4G");
	expect_wrong("d1=18446744073709551615,8,64", "is not d1=SIZE,WAYS,LINE");
	expect_wrong("d1=1000000G,8,64", "is no possible L1 data cache");
	expect_wrong("dtlb=64,4,100", "a page is a power of two from 4096");
	expect_wrong("dtlb=9999999999,4,4096", "is no possible data TLB");
	expect_wrong("ll=30M,20,64", "'ll=30M,30,64' would be the nearest");
	expect_wrong("dtlb=1600,12,4096", "'dtlb=1664,13,4096' would be the nearest");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machine_is_the_default_with_sets_rounded_as_cachegrind_does),
		cmocka_unit_test(the_last_of_two_levels_is_the_last_level),
		cmocka_unit_test(what_the_machine_does_not_tell_is_said),
		cmocka_unit_test(the_cpu_is_asked_where_files_tell_nothing),
		cmocka_unit_test(a_generic_model_does_not_depend_on_the_machine),
		cmocka_unit_test(parts_replace_those_of_the_machine),
		cmocka_unit_test(wrong_texts_are_explained),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
