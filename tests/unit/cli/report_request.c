/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "tasks/reporting/report_plan.h"
#include "unit_test.h"

static struct report_request made(void)
{
	struct report_request r;
	report_request_init(&r);
	return r;
}

/* Compares "Children,Overhead,Command|order ..." of a finished request. */
static void assert_columns(struct report_request r, bool has_chains, const char *columns, const char *order)
{
	struct report_plan p;
	struct tally_error err;
	struct text out = {0};
	assert_int_equal(
		report_plan_make(&r, &(struct report_source){.has_chains = has_chains, .is_pipe = false}, &p, &err),
		TALLY_OK);
	for (size_t i = 0; i < p.column_count; i++)
		text_printf(&out, "%s%s", i ? "," : "", profile_key_get(p.columns[i])->name);
	text_char(&out, 0);
	assert_string_equal(out.data, columns);
	text_clear(&out);
	for (size_t i = 0; i < p.order_count; i++)
		text_printf(&out, "%s%s", i ? "," : "", profile_key_get(p.order[i])->name);
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
	r.rows.no_children = true;
	r.look.shows_samples = r.look.shows_period = true;
	assert_columns(r, true, "overhead,sample,period,comm,dso,symbol", "overhead,comm,dso,symbol,sample,period");
	r = made();
	r.rows.sort = "dso,overhead";
	assert_columns(r, false, "overhead,dso", "dso,overhead");
	r.rows.sort = "+pid";
	assert_columns(r, false, "overhead,comm,dso,symbol,pid", "overhead,comm,dso,symbol,pid");
	r.rows.sort = "symbol";
	assert_columns(r, false, "overhead,symbol,ipc_null", "overhead,symbol,ipc_null");
	r.rows.sort = NULL;
	r.rows.fields = "sample,overhead,comm";
	assert_columns(r, true, "sample,overhead,comm", "sample,overhead,comm");
	r.rows.sort = "dso";
	assert_columns(r, true, "sample,overhead,comm,dso", "dso,sample,overhead,comm");
	r.rows.fields = "+pid,sample";
	assert_columns(r, false, "overhead,pid,sample,dso", "overhead,dso,pid,sample");
	r.rows.sort = NULL;
	assert_columns(r, true, "overhead_children,overhead,pid,sample,comm,dso,symbol",
		"overhead_children,overhead,comm,dso,symbol,pid,sample");
}

static void call_graph_texts(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	assert_int_equal(report_request_set_chains(&r, "fractal,1.5,20,callee,address,count", &err), TALLY_OK);
	assert_int_equal(r.chains.look.style, CHAIN_FRACTAL);
	assert_true(r.chains.look.min_percent == 1.5);
	assert_int_equal(r.chains.look.print_limit, 20);
	assert_true(
		r.chains.order_is_set && !r.chains.is_caller_first && r.chains.is_by_address && !r.chains.is_by_line);
	assert_int_equal(report_request_set_chains(&r, "srcline", &err), TALLY_OK);
	assert_true(r.chains.is_by_line && !r.chains.is_by_address);
	assert_int_equal(report_request_set_chains(&r, "function", &err), TALLY_OK);
	assert_true(!r.chains.is_by_line && !r.chains.is_by_address);
	assert_int_equal(r.chains.look.value, CHAIN_COUNT);
	r = made();
	assert_int_equal(report_request_set_chains(&r, NULL, &err), TALLY_OK);
	assert_int_equal(r.chains.look.style, CHAIN_GRAPH);
	assert_true(r.chains.are_asked && r.chains.look.min_percent == 0.5);
	assert_int_equal(report_request_set_chains(&r, "fractal,1,2.75", &err), TALLY_OK);
	assert_true(r.chains.look.min_percent == 1);
	assert_int_equal(r.chains.look.print_limit, 2);
	assert_int_equal(report_request_set_chains(&r, NULL, &err), TALLY_OK);
	assert_true(r.chains.look.style == CHAIN_GRAPH && r.chains.look.min_percent == 0.5);
	assert_int_equal(r.chains.look.print_limit, 2);
	static const char *const bad[] = {"bogus", "graph,x", "200", "1,2,3x", "-1", "nan", "1,2.x", "1,.", "1,2.5.5"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		r = made();
		assert_int_equal(report_request_set_chains(&r, bad[i], &err), TALLY_INVALID);
	}
	assert_int_equal(report_request_set_chains(&r, "graph,branch", &err), TALLY_OK);
	assert_true(r.chains.have_branches);
}

static void numbers(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	assert_int_equal(report_request_set_widths(&r, "10,0,5", &err), TALLY_OK);
	assert_int_equal(r.look.width_count, 3);
	assert_int_equal(r.look.widths[0], 10);
	assert_int_equal(r.look.widths[2], 5);
	assert_int_equal(report_request_set_widths(&r, "10,x", &err), TALLY_INVALID);
	assert_int_equal(report_request_set_percent_limit(&r, "2.5", &err), TALLY_OK);
	assert_true(r.look.percent_limit == 2.5 && r.chains.look.min_percent == 2.5);
	assert_int_equal(report_request_set_percent_limit(&r, "1e9", &err), TALLY_INVALID);
	assert_int_equal(report_request_set_percent_limit(&r, "", &err), TALLY_INVALID);
	assert_int_equal(report_request_set_percentage(&r, "relative", &err), TALLY_OK);
	assert_true(r.look.is_relative);
	assert_int_equal(report_request_set_percentage(&r, "both", &err), TALLY_INVALID);
}

static void keys_that_are_missing_or_wrong(void **state)
{
	struct report_plan p;
	struct report_request r = made();
	struct tally_error err;
	r.rows.sort = "comm,nope";
	assert_int_equal(report_plan_make(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &p, &err),
		TALLY_INVALID);
	assert_string_equal(err.text, "Unknown --sort key: `nope'");
	r.rows.sort = "comm,symbl";
	assert_int_equal(report_plan_make(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &p, &err),
		TALLY_INVALID);
	assert_string_equal(err.text, "Unknown --sort key: `symbl'; did you mean `symbol'?");
	r.rows.sort = "dtlb";
	assert_int_equal(report_plan_make(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &p, &err),
		TALLY_INVALID);
	assert_string_equal(err.text, "Invalid --sort key: `dtlb'");
	r.rows.sort = NULL;
	r.rows.fields = "overhead,nope";
	assert_int_equal(report_plan_make(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &p, &err),
		TALLY_INVALID);
}

static void tracepoints_show_what_they_say(void **state)
{
	struct report_plan p;
	struct report_request r = made();
	struct tally_error err;
	struct report_source source = {.is_all_tracepoints = true};
	assert_int_equal(report_plan_make(&r, &source, &p, &err), TALLY_OK);
	assert_int_equal(p.key_count, 1);
	assert_int_equal(p.keys[0], KEY_TRACE);
	r.rows.sort = "comm";
	assert_int_equal(report_plan_make(&r, &source, &p, &err), TALLY_OK);
	assert_int_equal(p.keys[0], KEY_COMM);
}

static void branches_and_memory_have_keys_of_their_own(void **state)
{
	struct report_plan p;
	struct report_request r = made();
	struct tally_error err;
	struct report_source branches = {.has_branches = true}, plain = {0};
	assert_int_equal(report_plan_make(&r, &branches, &p, &err), TALLY_OK);
	assert_int_equal(p.mode, KEY_MODE_BRANCH);
	assert_int_equal(p.key_count, 5);
	assert_true(report_plan_facets(&p) & UINT64_C(1) << FACET_BRANCH_FROM);
	r.rows.branches = BRANCHES_NEVER;
	assert_int_equal(report_plan_make(&r, &branches, &p, &err), TALLY_OK);
	assert_int_equal(p.mode, KEY_MODE_ANY);
	assert_true(report_plan_facets(&p) == 0);
	r.rows.sort = "symbol_from";
	assert_int_equal(report_plan_make(&r, &plain, &p, &err), TALLY_INVALID);
	assert_string_equal(err.text, "Invalid --sort key: `symbol_from'");
	r.rows.sort = "mem,tlb";
	r.rows.by_memory = true;
	assert_int_equal(report_plan_make(&r, &plain, &p, &err), TALLY_OK);
	struct text keys = {0};
	report_plan_print_sort(&p, &keys);
	text_char(&keys, 0);
	assert_string_equal(keys.data, "mem,tlb");
	text_deinit(&keys);
}

static void time_quanta(void **state)
{
	struct report_request r = made();
	struct tally_error err;
	assert_true(r.rows.time_quantum_ns == 100000000);
	assert_int_equal(report_request_set_time_quantum(&r, "5s", &err), TALLY_OK);
	assert_true(r.rows.time_quantum_ns == UINT64_C(5000000000));
	assert_int_equal(report_request_set_time_quantum(&r, "20us", &err), TALLY_OK);
	assert_true(r.rows.time_quantum_ns == 20000);
	const char *wrong[] = {"", "5", "ms", "0s", "-1s", "5m", "99999999999999999999s", "18446744073709551615s"};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(report_request_set_time_quantum(&r, wrong[i], &err), TALLY_INVALID);
	assert_true(r.rows.time_quantum_ns == 20000);
}

static void filters_hide_columns(void **state)
{
	struct report_plan p;
	struct report_request r = made();
	struct tally_error err;
	r.samples.filters.comms = "cc1";
	r.samples.filters.dsos = "a,b";
	assert_int_equal(report_plan_make(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &p, &err),
		TALLY_OK);
	assert_int_equal(p.hidden_columns, 1u << KEY_COMM);
	r = made();
	r.samples.filters = (struct profile_filter_lists){.comms = "cc1", .dsos = "a", .symbols = "f"};
	assert_int_equal(report_plan_make(&r, &(struct report_source){.has_chains = false, .is_pipe = false}, &p, &err),
		TALLY_OK);
	assert_int_equal(p.hidden_columns, 0); /* Otherwise no columns would be left. */
}

static void pipes_have_chains_but_no_children(void **state)
{
	struct report_plan p;
	struct report_request r = made();
	struct tally_error err;
	assert_int_equal(
		report_plan_make(&r, &(struct report_source){.has_chains = true, .is_pipe = true}, &p, &err), TALLY_OK);
	assert_true(p.with_chains && !p.with_children && p.is_caller_first);
	r.rows.no_children = true;
	assert_int_equal(report_plan_make(&r, &(struct report_source){.has_chains = true, .is_pipe = false}, &p, &err),
		TALLY_OK);
	assert_true(p.with_chains && !p.with_children && !p.is_caller_first);
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
