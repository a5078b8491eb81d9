/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/sample_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/perf_constants.h"
#include "base/array.h"
#include "base/text.h"
#include "unit_test.h"

static const struct kernel_seam no_kernel = {.root = "/no/such/root"};

/* Compares the parsed form of text with meaning: "term op value", joined by " and " or " or ". */
static void check_meaning(const char *text, const char *meaning)
{
	static const char *const operators[] = {"==", "!=", ">", ">=", "<", "<=", "&"};
	struct sample_filter_list filter = {0};
	struct tally_error err = {0};
	struct text t = {0};
	if (sample_filter_parse(text, &no_kernel, &filter, &err) != TALLY_OK)
		fail_msg("'%s': %s at %llu", text, err.text, (unsigned long long)err.offset);
	for (size_t i = 0; i < filter.count; i++) {
		const struct sample_filter_item *item = &filter.items[i];
		text_printf(&t, "%s%s %s %llu",
			i == 0		       ? ""
			: item->is_alternative ? " or "
					       : " and ",
			sample_filter_term_name(item->term), operators[item->op], item->value);
	}
	text_char(&t, '\0');
	assert_string_equal(t.data, meaning);
	text_deinit(&t);
}

static void check_mistake(const char *text, unsigned column, const char *message)
{
	struct sample_filter_list filter = {.count = 1, .items = {{FILTER_IP, FILTER_EQUAL, 0, 7}}};
	struct tally_error err = {0};
	assert_int_equal(sample_filter_parse(text, &no_kernel, &filter, &err), TALLY_INVALID);
	assert_string_equal(err.text, message);
	assert_int_equal(err.offset, column);
	/* The existing filter is unchanged. */
	assert_int_equal(filter.count, 1);
	assert_int_equal(filter.items[0].value, 7);
}

static void test_conditions_and_their_joints(void **state)
{
	check_meaning("period > 1000", "period > 1000");
	check_meaning("period>1000,ip<0x8000||uid==0", "period > 1000 and ip < 32768 or uid == 0");
	check_meaning(
		"  tid >= 1 , pid <= 010 || cpu != 3 || gid & 0xff ", "tid >= 1 and pid <= 8 or cpu != 3 or gid & 255");
	check_meaning("time > 18446744073709551615", "time > 18446744073709551615");
	check_meaning("cgroup == 42", "cgroup == 42");
}

static void test_several_filters_must_all_hold(void **state)
{
	struct sample_filter_list filter = {0};
	struct tally_error err;
	assert_int_equal(sample_filter_parse("ip > 1 || ip < 9", &no_kernel, &filter, &err), TALLY_OK);
	assert_int_equal(sample_filter_parse("uid == 0", &no_kernel, &filter, &err), TALLY_OK);
	assert_int_equal(filter.count, 3);
	assert_int_equal(filter.items[1].is_alternative, 1);
	assert_int_equal(filter.items[2].is_alternative, 0);
}

static void test_names_of_values(void **state)
{
	check_meaning("mem_op == load || mem_op == store, mem_lvl > l1", "mem_op == 2 or mem_op == 4 and mem_lvl > 1");
	check_meaning("mem_snoop == fwd, mem_remote == remote, mem_lock == locked",
		"mem_snoop == 32 and mem_remote == 1 and mem_lock == 2");
	check_meaning("mem_dtlb == l2_miss, mem_blk == by_addr, mem_hops == hops3",
		"mem_dtlb == 20 and mem_blk == 4 and mem_hops == 4");
	check_meaning("mem_lvl == na, mem_op == na", "mem_lvl == 15 and mem_op == 1");
	check_meaning("mem_lvl == 9", "mem_lvl == 9");
}

static void test_names_of_fields_that_share_one(void **state)
{
	check_meaning("ins_lat > 1, weight2 > 1", "weight2 > 1 and weight2 > 1");
	check_meaning("retire_lat > 1, p_stage_cyc > 1, weight3 > 1", "weight3 > 1 and weight3 > 1 and weight3 > 1");
	check_meaning("weight == 1, weight1 == 1", "weight == 1 and weight1 == 1");
	check_meaning("code_pgsz == 4096, data_pgsz == 4096, phys_addr & 1, txn & 1, addr == 0, id == 1",
		"code_pgsz == 4096 and data_pgsz == 4096 and phys_addr & 1 and txn & 1 and addr == 0 and id == 1");
}

static void test_mistakes_have_a_place(void **state)
{
	check_mistake("perod > 1", 0, "unknown field of a sample 'perod', did you mean 'period'?");
	check_mistake("ip > 1, upd == 0", 8, "unknown field of a sample 'upd', did you mean 'uid'?");
	check_mistake("ip > 1,", 7,
		"expected field of a sample: one of ip, id, tid, pid, cpu, time, addr, period, txn, weight, "
		"weight1, weight2, ins_lat, weight3, retire_lat, p_stage_cyc, phys_addr, code_pgsz, data_pgsz, mem_op, "
		"mem_lvl, mem_snoop, mem_remote, mem_lock, mem_dtlb, mem_blk, mem_hops, uid, gid or cgroup");
	check_mistake("ip = 1", 3, "the operator is '=='");
	check_mistake("ip", 2, "expected an operator: one of ==, !=, >, >=, <, <= or &");
	check_mistake("ip && 1", 3, "expected an operator: one of ==, !=, >, >=, <, <= or &");
	check_mistake("ip > ", 5, "expected a number");
	check_mistake("ip > -1", 5, "expected a number: fields have no sign");
	check_mistake("ip > 0x", 5, "expected a number of 64 bits: 1000, or 0x3e8");
	check_mistake("ip > 18446744073709551616", 5, "expected a number of 64 bits: 1000, or 0x3e8");
	check_mistake("ip > 1 && uid == 0", 7, "write ',' for \"and\"; '||' binds tighter than it");
	check_mistake("ip > 1 | uid == 0", 7, "expected ',' (and), '||' (or) or the end of the filter");
	check_mistake("ip > 1 2", 7, "expected ',' (and), '||' (or) or the end of the filter");
	check_mistake("mem_op == lod", 10, "unknown value of this field 'lod', did you mean 'load'?");
	check_mistake("mem_remote == here", 14, "unknown value of this field 'here': one of remote");
	check_mistake("cgroup == /none", 10, "no such cgroup below /sys/fs/cgroup");
	check_mistake("cgroup == ", 10, "expected the path of a cgroup, or its number");
}

static void test_there_is_an_end_to_conditions(void **state)
{
	struct sample_filter_list filter = {0};
	struct tally_error err = {0};
	for (size_t i = 0; i < SAMPLE_FILTER_ITEMS; i++)
		assert_int_equal(sample_filter_parse("ip > 1", &no_kernel, &filter, &err), TALLY_OK);
	assert_int_equal(sample_filter_parse("ip > 1", &no_kernel, &filter, &err), TALLY_INVALID);
	assert_string_equal(err.text, "an event takes 64 conditions at most");
}

static void test_a_cgroup_is_the_number_of_its_directory(void **state)
{
	char root[] = "/tmp/tally-filter-XXXXXX", path[200];
	struct stat info;
	struct sample_filter_list filter = {0};
	struct tally_error err = {0};
	assert_non_null(mkdtemp(root));
	static const char *const parts[] = {
		"/sys", "/sys/fs", "/sys/fs/cgroup", "/sys/fs/cgroup/a", "/sys/fs/cgroup/a/b"};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		snprintf(path, sizeof(path), "%s%s", root, parts[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	assert_int_equal(stat(path, &info), 0);
	const struct kernel_seam kernel = {.root = root};
	assert_int_equal(sample_filter_parse("cgroup == /a/b||cgroup != a/b", &kernel, &filter, &err), TALLY_OK);
	assert_int_equal(filter.items[0].value, info.st_ino);
	assert_int_equal(filter.items[1].value, info.st_ino);
	for (size_t i = ARRAY_LEN(parts); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", root, parts[i]);
		rmdir(path);
	}
	rmdir(root);
}

static void test_events_must_store_the_fields(void **state)
{
	static const struct {
		const char *text;
		uint64_t flags;
		const char *message;
	} rows[] = {
		{"cpu == 1", SAMPLE_IP,
			"--filter: samples of cycles do not store 'cpu' (PERF_SAMPLE_CPU): add --sample-cpu"},
		{"mem_op == load", SAMPLE_IP,
			"--filter: samples of cycles do not store 'mem_op' (PERF_SAMPLE_DATA_SRC): add -d"},
		{"id == 1", SAMPLE_IP,
			"--filter: samples of cycles do not store 'id' (PERF_SAMPLE_ID): add --sample-identifier"},
		{"ip == 1", SAMPLE_TID, "--filter: samples of cycles do not store 'ip' (PERF_SAMPLE_IP)"},
		{"cgroup == 1", SAMPLE_IP,
			"--filter: samples of cycles do not store 'cgroup' (PERF_SAMPLE_CGROUP): add --all-cgroups"},
		{"cgroup == 1, id == 1", SAMPLE_IDENTIFIER | SAMPLE_CGROUP, NULL},
		{"weight == 1", SAMPLE_WEIGHT_STRUCT, NULL},
		{"uid == 1, gid == 1, period == 1", 0, NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sample_filter_list filter = {0};
		struct tally_error err = {0};
		const struct perf_attr attr = {.sample_type = rows[i].flags};
		assert_int_equal(sample_filter_parse(rows[i].text, &no_kernel, &filter, &err), TALLY_OK);
		enum tally_status status = sample_filter_check(&filter, &attr, "cycles", &err);
		assert_int_equal(status, rows[i].message ? TALLY_INVALID : TALLY_OK);
		if (rows[i].message)
			assert_string_equal(err.text, rows[i].message);
	}
}

/* Arbitrary text gives a result or an error with a column inside the text. */
static void test_hostile_texts(void **state)
{
	static const char letters[] = "ip uidmem_op=!<>&|,0x19/-cgroup \t\xff";
	uint64_t seed = 1;
	for (unsigned round = 0; round < 20000; round++) {
		char text[24];
		size_t len = round % sizeof(text);
		for (size_t i = 0; i < len; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			text[i] = letters[(seed >> 33) % (sizeof(letters) - 1)];
		}
		text[MIN(len, sizeof(text) - 1)] = 0;
		struct sample_filter_list filter = {0};
		struct tally_error err = {0};
		if (sample_filter_parse(text, &no_kernel, &filter, &err) != TALLY_OK)
			assert_true(err.offset <= strlen(text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conditions_and_their_joints),
		cmocka_unit_test(test_several_filters_must_all_hold),
		cmocka_unit_test(test_names_of_values),
		cmocka_unit_test(test_names_of_fields_that_share_one),
		cmocka_unit_test(test_mistakes_have_a_place),
		cmocka_unit_test(test_there_is_an_end_to_conditions),
		cmocka_unit_test(test_a_cgroup_is_the_number_of_its_directory),
		cmocka_unit_test(test_events_must_store_the_fields),
		cmocka_unit_test(test_hostile_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
