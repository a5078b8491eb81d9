/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/replay/quality.h"

#include "unit_test.h"

static const struct quality some = {.samples = 990,
	.lost = 10,
	.throttled = 2,
	.stacks = 500,
	.complete = 480,
	.named = 900,
	.kernel_samples = 100,
	.kernel_named = 99,
	.kernel = QUALITY_KERNEL_NAMED,
	.is_unwound = true};

static bool are_met(const char *text, const struct quality *quality)
{
	struct requirements list;
	struct tally_error err;
	bool all = true;
	assert_int_equal(requirements_parse(text, &list, &err), TALLY_OK);
	for (size_t i = 0; i < list.count; i++)
		all = all && requirement_is_met(&list.items[i], quality);
	return all;
}

static void bounds_are_compared(void **state)
{
	assert_true(are_met("lost<1.01%,complete>95%,symbols>90%", &some));
	assert_false(are_met("lost<1%", &some));
	assert_true(are_met("lost<=1%, lost = 10 ,lost==1%", &some));
	assert_false(are_met("lost<10", &some));
	assert_true(are_met("samples>=990,samples<991,samples>989", &some));
	assert_true(are_met("throttled<3", &some));
	assert_false(are_met("throttled=0", &some));
	assert_true(are_met("complete=96%,kernel>=99%", &some));
	assert_false(are_met("complete>96%", &some));
	assert_false(are_met("symbols>=90.91%", &some));
}

/* A share of nothing is never sufficient: a recording without call chains has no complete ones. */
static void nothing_meets_no_share(void **state)
{
	static const struct quality nothing = {0};
	assert_false(are_met("complete>=0%", &nothing));
	assert_false(are_met("symbols>=0%", &nothing));
	assert_false(are_met("kernel>=0%", &nothing));
	assert_false(are_met("samples>0", &nothing));
	assert_true(are_met("lost<=0%,throttled=0", &nothing));
}

static void assert_refused(const char *text, const char *part)
{
	struct requirements list = {.count = 77};
	struct tally_error err;
	assert_int_not_equal(requirements_parse(text, &list, &err), TALLY_OK);
	assert_int_equal(list.count, 77);
	if (!strstr(err.text, part))
		fail_msg("'%s' is refused by: %s", text, err.text);
}

static void nonsense_is_refused(void **state)
{
	assert_refused("", "no requirement is given");
	assert_refused(",", "not a known requirement");
	assert_refused("lost<1%,loss<1%", "not a known requirement");
	assert_refused("loss<1%", "not a known requirement");
	assert_refused("lost", "lacks one of");
	assert_refused("lost 1%", "not a known requirement");
	assert_refused("lost<", "lacks a number");
	assert_refused("lost<%", "lacks a number");
	assert_refused("lost<-1", "lacks a number");
	assert_refused("lost<1e3", "lacks a number");
	assert_refused("lost<1.2.3", "lacks a number");
	assert_refused("lost<.", "lacks a number");
	assert_refused("lost<1234567890123456", "lacks a number");
	assert_refused("lost=<1", "lacks a number");
	assert_refused("complete>95", "complete takes a percentage");
	assert_refused("symbols>90", "symbols takes a percentage");
	assert_refused("samples>90%", "samples takes a number");
	assert_refused("throttled<1%", "throttled takes a number");
	assert_refused(
		"lost<1,lost<1,lost<1,lost<1,lost<1,lost<1,lost<1,lost<1,lost<1,lost<1,lost<1,lost<1,lost<1,lost<1,"
		"lost<1,lost<1,lost<1",
		"at most");
}

static void assert_said(const char *text, const struct quality *quality, const char *expected)
{
	struct requirements list;
	struct tally_error err;
	struct text t = {0};
	assert_int_equal(requirements_parse(text, &list, &err), TALLY_OK);
	requirement_text(&t, &list.items[0], quality);
	text_char(&t, 0);
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static void what_is_not_met_is_said(void **state)
{
	assert_said("lost<0.5%", &some, "lost is 1.00% (10 of 1000), not < 0.5%");
	assert_said("throttled==0", &some, "throttled is 2, not = 0");
	assert_said("symbols>=99.125%", &some, "symbols is 90.91% (900 of 990), not >= 99.125%");
	assert_said("complete>1%", &(struct quality){0}, "complete: there are no call chains, not > 1%");
}

static void assert_quality(const struct quality *quality, const char *expected)
{
	struct text t = {0};
	quality_text(&t, quality);
	text_char(&t, 0);
	assert_string_equal(t.data, expected);
	text_deinit(&t);
}

static void quality_is_one_line(void **state)
{
	assert_quality(&some,
		"990 samples, 10 lost (1.00%), throttled 2 times; 96.0% of stacks are complete; 90.9% of samples "
		"resolved to a symbol (kernel: 99.0%)");
	assert_quality(&(struct quality){.samples = 1000000, .named = 999999, .kernel = QUALITY_KERNEL_EXCLUDED},
		"1,000,000 samples, none lost, never throttled; 99.9% of samples resolved to a symbol (kernel "
		"excluded)");
	assert_quality(
		&(struct quality){.samples = 1, .kernel_samples = 1, .kernel = QUALITY_KERNEL_HIDDEN, .is_cut = true},
		"1 sample, none lost, never throttled; 0.0% of samples resolved to a symbol (kernel symbols are "
		"hidden); "
		"the recording is cut");
	assert_quality(&(struct quality){0}, "0 samples, none lost, never throttled");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_are_compared),
		cmocka_unit_test(nothing_meets_no_share),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(what_is_not_met_is_said),
		cmocka_unit_test(quality_is_one_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
