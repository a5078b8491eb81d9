/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_fields.h"

#include <stdio.h>
#include <stdlib.h>

#include "perfdata_builder.h"
#include "unit_test.h"

static const struct perf_attr software = {
	.type = EVENT_SOFTWARE, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_IDENTIFIER};
static const struct perf_attr tracepoint = {.type = EVENT_TRACEPOINT,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_IDENTIFIER | SAMPLE_CALLCHAIN | SAMPLE_RAW};
static const struct perf_attr raw = {.type = EVENT_RAW,
	.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_IDENTIFIER | SAMPLE_ADDR |
		       SAMPLE_WEIGHT_STRUCT | SAMPLE_DATA_SRC};

#define BASE  (FIELD_COMM | FIELD_TID | FIELD_TIME | FIELD_EVENT)
#define PLACE (FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO)

struct choice { /* The fields selected for a recording of the three events. */
	uint64_t software, tracepoint, raw;
	struct diag notes;
	char problem[512];
};

/* lists is terminated by NULL. */
static struct choice choose(const char *const *lists)
{
	struct choice choice = {0};
	struct script_field_request request;
	char room[256];
	script_fields_init(&request);
	diag_init(&choice.notes);
	for (; *lists; lists++) {
		const char *problem = script_fields_apply(&request, *lists, room, sizeof(room));
		if (problem) {
			snprintf(choice.problem, sizeof(choice.problem), "%s", problem);
			return choice;
		}
	}
	struct perfdata_builder b;
	struct perfdata_reader *reader;
	struct tally_error err;
	uint64_t *fields;
	perfdata_builder_init(&b, false);
	perfdata_builder_event(&b, &software, 1);
	perfdata_builder_event(&b, &tracepoint, 2);
	perfdata_builder_event(&b, &raw, 3);
	assert_int_equal(perfdata_reader_open_bytes(perfdata_builder_file(&b), &reader, &err), TALLY_OK);
	if (script_fields_choose(&request, reader, &choice.notes, &fields, &err) == TALLY_OK) {
		choice.software = fields[0];
		choice.tracepoint = fields[1];
		choice.raw = fields[2];
		free(fields);
	} else {
		snprintf(choice.problem, sizeof(choice.problem), "%s", err.text);
	}
	perfdata_reader_destroy(reader);
	perfdata_builder_deinit(&b);
	return choice;
}

#define CHOOSE(...) choose((const char *const[]){__VA_ARGS__, NULL})

static void assert_fields(struct choice choice, uint64_t of_software, uint64_t of_tracepoint, uint64_t of_raw)
{
	assert_string_equal(choice.problem, "");
	assert_int_equal(choice.notes.len, 0);
	assert_int_equal(choice.software, of_software);
	assert_int_equal(choice.tracepoint, of_tracepoint);
	assert_int_equal(choice.raw, of_raw);
	diag_deinit(&choice.notes);
}

static void assert_problem(struct choice choice, const char *problem)
{
	assert_string_equal(choice.problem, problem);
	diag_deinit(&choice.notes);
}

static void assert_note(struct choice choice, const char *note)
{
	assert_string_equal(choice.problem, "");
	assert_int_equal(choice.notes.len, 1);
	assert_string_equal(choice.notes.entries[0].text, note);
	diag_deinit(&choice.notes);
}

static void defaults(void **state)
{
	const uint64_t access = FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_INS_LAT;
	assert_fields(choose((const char *const[]){NULL}), BASE | PLACE | FIELD_PERIOD | FIELD_BPF_OUTPUT,
		BASE | FIELD_TRACE | PLACE, BASE | FIELD_CPU | PLACE | FIELD_PERIOD | access);
}

static void lists(void **state)
{
	uint64_t sw = BASE | PLACE | FIELD_PERIOD | FIELD_BPF_OUTPUT;
	uint64_t rw =
		BASE | FIELD_CPU | PLACE | FIELD_PERIOD | FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_INS_LAT;
	assert_fields(CHOOSE("comm,,ip,"), FIELD_COMM | FIELD_IP, FIELD_COMM | FIELD_IP, FIELD_COMM | FIELD_IP);
	assert_fields(CHOOSE("sw:comm,tid"), FIELD_COMM | FIELD_TID, BASE | FIELD_TRACE | PLACE, rw);
	assert_fields(CHOOSE("trace:"), sw, 0, rw);
	assert_fields(CHOOSE("raw:-addr,+retire_lat,-comm"), sw, BASE | FIELD_TRACE | PLACE,
		(rw | FIELD_RETIRE_LAT) & ~(FIELD_ADDR | FIELD_COMM));
	/* As in perf, the first list adds call chains to tracepoints. */
	assert_fields(CHOOSE("+misc"), sw | FIELD_MISC, BASE | FIELD_TRACE | FIELD_MISC, rw | FIELD_MISC);
	/* A field that was requested for one kind only is omitted for events that lack it. */
	assert_fields(CHOOSE("sw:comm,addr"), FIELD_COMM, BASE | FIELD_TRACE | PLACE, rw);
	assert_fields(CHOOSE("sw:comm", "+time"), FIELD_COMM | FIELD_TIME, BASE | FIELD_TRACE, rw);
}

static void bad_lists(void **state)
{
	assert_problem(CHOOSE("bogus"), "Invalid field requested. There is no field 'bogus'.");
	assert_problem(CHOOSE("comm:bogus"), "Invalid event type in field string.");
	assert_problem(CHOOSE("+"), "Invalid field requested. There is no field ''.");
	assert_problem(CHOOSE(""), "Cannot set fields to 'none' for all event types.");
	assert_problem(CHOOSE("comm,+tid"), "Cannot mix +-field with overridden fields");
	assert_problem(CHOOSE("+comm,tid"), "Cannot mix +-field with overridden fields");
	assert_problem(CHOOSE("sw:trace"), "'trace' not valid for software events.");
	assert_problem(CHOOSE("hw:+bpf-output"), "'bpf-output' not valid for hardware events.");
	assert_problem(CHOOSE("brcntr"), "Display of branch counter requested but it's not enabled\n"
					 "Hint: run 'tally record -j any,counter ...'");
	assert_problem(CHOOSE("+brstackinsn"), "Display of branch stack assembler requested, but non all-branch filter "
					       "set\nHint: run 'tally record -b ...'");
	assert_problem(CHOOSE("hw:"), "hardware events do not exist. Remove corresponding -F option to proceed.");
}

static void missing_attributes(void **state)
{
	assert_problem(CHOOSE("+addr"),
		"Samples for 'cpu-clock:HG' event do not have ADDR attribute set. Cannot print 'addr' field.");
	assert_problem(CHOOSE("ins_lat"), "Samples for 'cpu-clock:HG' event do not have WEIGHT_STRUCT attribute set. "
					  "Cannot print 'ins_lat' field.");
	assert_problem(CHOOSE("tod"), "Can't provide 'tod' time, missing clock data. Please record with -k/--clockid "
				      "option.");
	assert_problem(CHOOSE("symoff,ip"), "Display of offsets requested but symbol is not selected.");
	for (size_t i = 0; i < 2; i++)
		assert_problem(CHOOSE(i ? "srccode" : "srcline"),
			"Display of source line number requested but sample IP is not\n"
			"selected. Hence, no address to lookup the source line number.");
}

static void notes(void **state)
{
	assert_note(
		CHOOSE("raw:-weight", "sw:comm", "sw:tid"), "Overriding previous field request for software events.");
	assert_note(CHOOSE("sw:comm", "tid"), "Overriding previous field request for all events.");
	struct choice choice = CHOOSE("comm,trace");
	assert_int_equal(choice.notes.len, 2); /* One for each kind that is present. */
	assert_string_equal(choice.notes.entries[0].text, "'trace' not valid for software events. Ignoring.");
	assert_string_equal(choice.notes.entries[1].text, "'trace' not valid for raw events. Ignoring.");
	assert_int_equal(choice.tracepoint, FIELD_COMM | FIELD_TRACE);
	diag_deinit(&choice.notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(lists),
		cmocka_unit_test(bad_lists),
		cmocka_unit_test(missing_attributes),
		cmocka_unit_test(notes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
