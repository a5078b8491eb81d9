/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "fake_root.h"
#include "kernel/events/event_format.h"
#include "kernel/events/event_parser.h"
#include "unit_test.h"

/* Tests parse tests/data/events/MACHINE.tsv with the sysfs tree tests/data/roots/MACHINE.txt. Each line is an
 * expression, a tab, and either "error COLUMN WORDS" or, per event and separated by "; ", "TYPE CONFIG" in hex and all
 * other nonzero fields. Lines that begin with # are comments. TALLY_TABLE_PRINT=1 prints the results in the same
 * format. */

static void put_flags(struct text *t, const struct event_spec *s)
{
	static const struct {
		unsigned bit;
		char letter;
	} letters[] = {{ATTR_BIT_EXCLUDE_USER, 'u'}, {ATTR_BIT_EXCLUDE_KERNEL, 'k'}, {ATTR_BIT_EXCLUDE_HV, 'h'},
		{ATTR_BIT_EXCLUDE_GUEST, 'G'}, {ATTR_BIT_EXCLUDE_HOST, 'H'}, {ATTR_BIT_EXCLUDE_IDLE, 'I'},
		{ATTR_BIT_PINNED, 'D'}, {ATTR_BIT_EXCLUSIVE, 'e'}, {ATTR_BIT_AUX_OUTPUT, 'a'}};
	text_str(t, " -"); /* Excluded modes, aux-output, and D e P S W X p. */
	for (size_t i = 0; i < ARRAY_LEN(letters); i++)
		if (s->attr.flags & ATTR_FLAG(letters[i].bit))
			text_char(t, letters[i].letter);
	text_str(t, s->is_precise_max ? "P" : "");
	text_str(t, s->is_sampling_leader ? "S" : "");
	text_str(t, s->is_weak_group ? "W" : "");
	text_str(t, s->stays_in_place ? "X" : "");
	text_str(t, s->is_shared ? "b" : "");
	text_repeat(t, 'p', attr_precise_ip(&s->attr));
}

static void put_spec(struct text *t, const struct event_list *list, size_t i)
{
	const struct event_spec *s = &list->specs[i];
	const struct recording_terms *r = &s->recording;
	text_printf(t, "%s%" PRIu32 " %" PRIx64, i ? "; " : "", s->attr.type, s->attr.config);
	if (s->probe_path)
		text_printf(t, " at=%s+%" PRIx64, s->probe_path, s->attr.config2);
	else if (s->attr.config1 || s->attr.config2 || s->attr.config3)
		text_printf(t, " %" PRIx64 ",%" PRIx64 ",%" PRIx64, s->attr.config1, s->attr.config2, s->attr.config3);
	if (s->attr.bp_type)
		text_printf(t, " bp=%" PRIu32, s->attr.bp_type);
	put_flags(t, s);
	if (s->attr.sample_period_or_freq)
		text_printf(t, " %s=%" PRIu64, s->has_freq ? "freq" : "period", s->attr.sample_period_or_freq);
	if (s->attr.sample_max_stack)
		text_printf(t, " frames=%u", (unsigned)s->attr.sample_max_stack);
	if (r->has_callgraph)
		text_printf(t, " callgraph=%u", (unsigned)r->callgraph);
	if (r->stack_bytes)
		text_printf(t, " stack=%" PRIu32, r->stack_bytes);
	if (r->time)
		text_str(t, r->time == TERM_YES ? " time" : " no-time");
	if (r->inherit)
		text_str(t, r->inherit == TERM_YES ? " inherit" : " no-inherit");
	if (r->overwrite)
		text_str(t, r->overwrite == TERM_YES ? " overwrite" : " no-overwrite");
	if (r->most_events)
		text_printf(t, " nr=%" PRIu64, r->most_events);
	if (r->branch_sample_type)
		text_printf(t, " branches=%" PRIx64, r->branch_sample_type);
	if (s->attr.aux_sample_size || s->attr.aux_action)
		text_printf(t, " aux=%" PRIu32 "/%" PRIu32, s->attr.aux_sample_size, s->attr.aux_action);
	text_str(t, s->is_per_core ? " percore" : "");
	if (s->tool)
		text_printf(t, " tool=%u", (unsigned)s->tool);
	if (s->has_own_name)
		text_printf(t, " name=%s", s->name);
	if (*s->unit || s->scale < 1 || s->scale > 1)
		text_printf(t, " unit=%g%s", s->scale, s->unit);
	if (s->cpus)
		text_printf(t, " cpus=%s", s->cpus);
	if (s->leader != i || s->member_count > 1)
		text_printf(t, " of=%u/%u", s->leader, list->specs[s->leader].member_count);
	text_str(t, s->is_merged ? " merged" : "");
}

static char *describe(const struct event_list *list)
{
	struct text t = {0};
	for (size_t i = 0; i < list->len; i++)
		put_spec(&t, list, i);
	text_char(&t, '\0');
	return t.data;
}

static char *parsed(struct event_catalogue *catalogue, const char *expression, struct event_list *list)
{
	struct tally_error err = {0};
	if (event_parse(catalogue, expression, list, &err) == TALLY_OK)
		return describe(list);
	struct text t = {0};
	text_printf(&t, "error %d %s", (int)err.offset, err.text);
	text_char(&t, '\0');
	return t.data;
}

static bool is_expected(const char *found, const char *expected)
{
	unsigned column, expected_column;
	int skip = 0, expected_skip = 0;
	if (sscanf(expected, "error %u %n", &expected_column, &expected_skip) != 1 || expected_skip == 0)
		return strcmp(found, expected) == 0;
	return sscanf(found, "error %u %n", &column, &skip) == 1 && column == expected_column &&
	       strstr(found + skip, expected + expected_skip);
}

/* The formatted list must parse to the same list, and that must format to the same text. */
static unsigned check_inverse(struct event_catalogue *catalogue, const char *expression, const struct event_list *list,
	const char *description)
{
	struct text text = {0}, again = {0};
	struct event_list second = {0};
	event_format(&text, list);
	text_char(&text, '\0');
	char *found = parsed(catalogue, text.data, &second);
	event_format(&again, &second);
	text_char(&again, '\0');
	/* Descriptions contain the paths instead of config1, which is a pointer. */
	bool is_same = strcmp(found, description) == 0 && strcmp(text.data, again.data) == 0;
	if (!is_same)
		print_error("'%s' is written '%s':\n  %s\n  %s\n", expression, text.data, description, found);
	free(found);
	text_deinit(&text);
	text_deinit(&again);
	event_list_deinit(&second);
	return is_same ? 0 : 1;
}

static unsigned check_line(struct event_catalogue *catalogue, const char *expression, const char *expected)
{
	struct event_list list = {0};
	unsigned failures = 0;
	char *found = parsed(catalogue, expression, &list);
	if (getenv("TALLY_TABLE_PRINT"))
		printf("%s\t%s\n", expression, found);
	else if (!is_expected(found, expected)) {
		print_error("'%s':\n  found    %s\n  expected %s\n", expression, found, expected);
		failures++;
	}
	if (list.len > 0)
		failures += check_inverse(catalogue, expression, &list, found);
	free(found);
	event_list_deinit(&list);
	return failures;
}

static unsigned line_count;

static void check_machine(const char *name)
{
	char path[512], line[4096];
	char *root = fake_root_load(name);
	struct kernel_seam seam = {.root = root};
	struct event_catalogue *catalogue;
	unsigned failures = 0;
	assert_int_equal(event_catalogue_create(&seam, &catalogue, NULL), TALLY_OK);
	snprintf(path, sizeof(path), "%s/events/%s.tsv", TEST_FIXTURES, name);
	FILE *table = fopen(path, "r");
	if (!table)
		fail_msg("cannot read %s", path);
	while (fgets(line, sizeof(line), table)) {
		line[strcspn(line, "\n")] = '\0';
		char *tab = strchr(line, '\t');
		if (line[0] == '#' || !tab)
			continue;
		*tab = '\0';
		failures += check_line(catalogue, line, tab + 1);
		line_count++;
	}
	fclose(table);
	event_catalogue_destroy(catalogue);
	fake_root_remove(root);
	assert_int_equal(failures, 0);
}

static void test_hybrid_client(void **state)
{
	check_machine("hybrid");
}

static void test_intel_server(void **state)
{
	check_machine("intel-server");
}

static void test_amd_zen(void **state)
{
	check_machine("amd-zen");
}

static void test_arm_server(void **state)
{
	check_machine("arm64");
}

static void test_virtual_machine(void **state)
{
	check_machine("vm");
}

/* Must be the last test: it checks that no table has lost lines. */
static void test_table_is_large(void **state)
{
	assert_true(line_count >= 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hybrid_client),
		cmocka_unit_test(test_intel_server),
		cmocka_unit_test(test_amd_zen),
		cmocka_unit_test(test_arm_server),
		cmocka_unit_test(test_virtual_machine),
		cmocka_unit_test(test_table_is_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
