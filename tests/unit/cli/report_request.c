/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/reporting/report_request.h"

#include "base/array.h"
#include "unit_test.h"

static struct report_request made(void)
{
	struct report_request r;
	report_request_init(&r);
	return r;
}

/* "Children,Overhead,Command|order ..." of a finished request. */
static void assert_columns(struct report_request r, bool has_chains, const char *columns, const char *order)
{
	struct tally_error err;
	struct text out = {0};
	assert_int_equal(
		report_request_finish(&r, &(struct report_source){.has_chains = has_chains, .is_pipe = false}, &err),
		TALLY_OK);
	for (size_t i = 0; i < r.column_count; i++)
		text_printf(&out, "%s%s", i ? "," : "", profile_key_get(r.columns[i])->name);
	text_char(&out, 0);
	assert_string_equal(out.data, columns);
	text_clear(&out);
	for (size_t i = 0; i < r.order_count; i++)
		text_printf(&out, "%s%s", i ? "," : "", profile_key_get(r.order[i])->name);
	text_char(&out, 0);
	assert_string_equal(out.data, order);
	text_deinit(&out);
}

static void columns_and_order(void **state)
{
	struct report_request r = made();
	assert_columns(r, false, "overhead,comm,dso,symbol", "overhead,comm,dso,symbol");
	assert_columns(
		r, true, "overhead_children,overhead,comm,dso,symbol", "overhead_children,overhead,comm,dso,symbol");
	r.no_children = true;
	r.shows_samples = r.shows_period = true;
	assert_columns(r, true, "overhead,sample,period,comm,dso,symbol", "overhead,comm,dso,symbol,sample,period");
	r = made();
	r.sort = "dso,overhead";
	assert_columns(r, false, "overhead,dso", "dso,overhead");
	r.sort = "+pid";
	assert_columns(r, false, "overhead,comm,dso,symbol,pid", "overhead,comm,dso,symbol,pid");
	r.sort = "symbol";
	assert_columns(r, false, "overhead,symbol,ipc_null", "overhead,symbol,ipc_null");
	r.sort = NULL;
	r.fields = "sample,overhead,comm";
	assert_columns(r, true, "sample,overhead,comm", "sample,overhead,comm");
	r.sort = "dso";
	assert_columns(r, true, "sample,overhead,comm,dso", "dso,sample,overhead,comm");
	r.fields = "+pid,sample";
	assert_columns(r, false, "overhead,pid,sample,dso", "overhead,dso,pid,sample");
	r.sort = NULL;
	assert_columns(r, true, "overhead_children,overhead,pid,sample,comm,dso,symbol",
		"overhead_children,overhead,comm,dso,symbol,pid,sample");
}

static void call_graph_texts(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	assert_int_equal(report_request_set_chains(&r, "fractal,1.5,20,callee,address,count", &err), TALLY_OK);
	assert_int_equal(r.chains.style, CHAIN_FRACTAL);
	assert_true(r.chains.min_percent == 1.5);
	assert_int_equal(r.chains.print_limit, 20);
	assert_true(r.order_is_set && !r.is_caller_first && r.is_by_address && !r.is_by_line);
	assert_int_equal(report_request_set_chains(&r, "srcline", &err), TALLY_OK);
	assert_true(r.is_by_line && !r.is_by_address);
	assert_int_equal(report_request_set_chains(&r, "function", &err), TALLY_OK);
	assert_true(!r.is_by_line && !r.is_by_address);
	assert_int_equal(r.chains.value, CHAIN_COUNT);
	r = made();
	assert_int_equal(report_request_set_chains(&r, NULL, &err), TALLY_OK);
	assert_int_equal(r.chains.style, CHAIN_GRAPH);
	assert_true(r.chains_asked && r.chains.min_percent == 0.5);
	assert_int_equal(report_request_set_chains(&r, "fractal,1,2.75", &err), TALLY_OK);
	assert_true(r.chains.min_percent == 1);
	assert_int_equal(r.chains.print_limit, 2);
	assert_int_equal(report_request_set_chains(&r, NULL, &err), TALLY_OK);
	assert_true(r.chains.style == CHAIN_GRAPH && r.chains.min_percent == 0.5);
	assert_int_equal(r.chains.print_limit, 2);
	static const char *const bad[] = {"bogus", "graph,x", "200", "1,2,3x", "-1", "nan", "1,2.x", "1,.", "1,2.5.5"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		r = made();
		assert_int_equal(report_request_set_chains(&r, bad[i], &err), TALLY_INVALID);
	}
	assert_int_equal(report_request_set_chains(&r, "graph,branch", &err), TALLY_OK);
	assert_true(r.chains_have_branches);
}

static void numbers(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	assert_int_equal(report_request_set_widths(&r, "10,0,5", &err), TALLY_OK);
	assert_int_equal(r.width_count, 3);
	assert_int_equal(r.widths[0], 10);
	assert_int_equal(r.widths[2], 5);
	assert_int_equal(report_request_set_widths(&r, "10,x", &err), TALLY_INVALID);
	assert_int_equal(report_request_set_percent_limit(&r, "2.5", &err), TALLY_OK);
	assert_true(r.percent_limit == 2.5 && r.chains.min_percent == 2.5);
	assert_int_equal(report_request_set_percent_limit(&r, "1e9", &err), TALLY_INVALID);
	assert_int_equal(report_request_set_percent_limit(&r, "", &err), TALLY_INVALID);
	assert_int_equal(report_request_set_percentage(&r, "relative", &err), TALLY_OK);
	assert_true(r.is_relative);
	assert_int_equal(report_request_set_percentage(&r, "both", &err), TALLY_INVALID);
}

static void keys_that_are_missing_or_wrong(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	r.sort = "comm,nope";
	assert_int_equal(
		report_request_finish(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &err),
		TALLY_INVALID);
	assert_string_equal(err.text, "Unknown --sort key: `nope'");
	r.sort = "comm,symbl";
	assert_int_equal(
		report_request_finish(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &err),
		TALLY_INVALID);
	assert_string_equal(err.text, "Unknown --sort key: `symbl'; did you mean `symbol'?");
	r.sort = "dtlb";
	assert_int_equal(
		report_request_finish(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &err),
		TALLY_INVALID);
	assert_string_equal(err.text, "Invalid --sort key: `dtlb'");
	r.sort = NULL;
	r.fields = "overhead,nope";
	assert_int_equal(
		report_request_finish(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &err),
		TALLY_INVALID);
}

static void tracepoints_show_what_they_say(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	struct report_source source = {.is_all_tracepoints = true};
	assert_int_equal(report_request_finish(&r, &source, &err), TALLY_OK);
	assert_int_equal(r.key_count, 1);
	assert_int_equal(r.keys[0], KEY_TRACE);
	r.sort = "comm";
	assert_int_equal(report_request_finish(&r, &source, &err), TALLY_OK);
	assert_int_equal(r.keys[0], KEY_COMM);
}

static void branches_and_memory_have_keys_of_their_own(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	struct report_source branches = {.has_branches = true}, plain = {0};
	assert_int_equal(report_request_finish(&r, &branches, &err), TALLY_OK);
	assert_int_equal(r.mode, KEY_MODE_BRANCH);
	assert_int_equal(r.key_count, 5);
	assert_true(report_request_facets(&r) & UINT64_C(1) << FACET_BRANCH_FROM);
	r.branches = BRANCHES_NEVER;
	assert_int_equal(report_request_finish(&r, &branches, &err), TALLY_OK);
	assert_int_equal(r.mode, KEY_MODE_ANY);
	assert_true(report_request_facets(&r) == 0);
	r.sort = "symbol_from";
	assert_int_equal(report_request_finish(&r, &plain, &err), TALLY_INVALID);
	assert_string_equal(err.text, "Invalid --sort key: `symbol_from'");
	r.sort = "mem,tlb";
	r.by_memory = true;
	assert_int_equal(report_request_finish(&r, &plain, &err), TALLY_OK);
	struct text keys = {0};
	report_request_print_sort(&r, &keys);
	text_char(&keys, 0);
	assert_string_equal(keys.data, "mem,tlb");
	text_deinit(&keys);
}

static void time_quanta(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	assert_true(r.time_quantum_ns == 100000000);
	assert_int_equal(report_request_set_time_quantum(&r, "5s", &err), TALLY_OK);
	assert_true(r.time_quantum_ns == UINT64_C(5000000000));
	assert_int_equal(report_request_set_time_quantum(&r, "20us", &err), TALLY_OK);
	assert_true(r.time_quantum_ns == 20000);
	const char *wrong[] = {"", "5", "ms", "0s", "-1s", "5m", "99999999999999999999s", "18446744073709551615s"};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(report_request_set_time_quantum(&r, wrong[i], &err), TALLY_INVALID);
	assert_true(r.time_quantum_ns == 20000);
}

static void filters_hide_columns(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	r.samples.filters.comms = "cc1";
	r.samples.filters.dsos = "a,b";
	assert_int_equal(
		report_request_finish(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &err),
		TALLY_OK);
	assert_int_equal(r.hidden_columns, 1u << KEY_COMM);
	r = made();
	r.samples.filters = (struct profile_filter_lists){.comms = "cc1", .dsos = "a", .symbols = "f"};
	assert_int_equal(
		report_request_finish(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &err),
		TALLY_OK);
	assert_int_equal(r.hidden_columns, 0); /* else nothing would be left */
}

static void pipes_have_chains_but_no_children(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	assert_int_equal(report_request_finish(&r, &(struct report_source){.has_chains = true, .is_pipe = true}, &err),
		TALLY_OK);
	assert_true(r.with_chains && !r.with_children && r.is_caller_first);
	r.no_children = true;
	assert_int_equal(report_request_finish(&r, &(struct report_source){.has_chains = true, .is_pipe = false}, &err),
		TALLY_OK);
	assert_true(r.with_chains && !r.with_children && !r.is_caller_first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_and_order),
		cmocka_unit_test(call_graph_texts),
		cmocka_unit_test(numbers),
		cmocka_unit_test(keys_that_are_missing_or_wrong),
		cmocka_unit_test(tracepoints_show_what_they_say),
		cmocka_unit_test(branches_and_memory_have_keys_of_their_own),
		cmocka_unit_test(time_quanta),
		cmocka_unit_test(filters_hide_columns),
		cmocka_unit_test(pipes_have_chains_but_no_children),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
