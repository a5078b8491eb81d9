/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "unit_test.h"
#include "view/table/cells_fit.h"

enum { NAME, COUNT, CHANGE, SHARE, RATE, ADDRESS, WHERE, WAIT, RUN, START, IS_OPEN, DIGITS, ONLY_JSON, COLUMNS };

static const struct cell_column columns[COLUMNS] = {
	[NAME] = {"Name", "name", -8, .longest = 6},
	[COUNT] = {"Count", "count", 7, .before = " | "},
	[CHANGE] = {"Change", "change", 6, .before = " "},
	[SHARE] = {"Share", "share_percent", 8, LOOK_PERCENT, 2, 4, .before = " "},
	[RATE] = {"Rate", "rate", 8, LOOK_PLAIN, 3, 6, .before = " ", .after = " /s"},
	[ADDRESS] = {"At", "at", 18, LOOK_ADDRESS, .before = " "},
	[WHERE] = {"Code", "code", 8, LOOK_HEX, .before = " "},
	[WAIT] = {"Wait", "wait_ns", 10, LOOK_DURATION, .before = " "},
	[RUN] = {"Run", "run_ns", 8, LOOK_MS, 3, .before = " "},
	[START] = {"Start", "start_ns", 12, LOOK_SECONDS, .before = " "},
	[IS_OPEN] = {"Opens", "opens", 5, .before = " "},
	[DIGITS] = {"Sum", "sum", 6, .before = " "},
	[ONLY_JSON] = {.key = "note"},
};

static const struct cell whole[COLUMNS] = {
	[NAME] = {CELL_IS_TEXT, .text = {"cycles", 6}},
	[COUNT] = {CELL_IS_U64, .u64 = 1234},
	[CHANGE] = {CELL_IS_I64, .i64 = -5},
	[SHARE] = {CELL_IS_F64, .f64 = 12.345678},
	[RATE] = {CELL_IS_F64, .f64 = 0.5},
	[ADDRESS] = {CELL_IS_U64, .u64 = 0x1f},
	[WHERE] = {CELL_IS_U64, .u64 = 0x2a},
	[WAIT] = {CELL_IS_U64, .u64 = 10465},
	[RUN] = {CELL_IS_U64, .u64 = 1234567},
	[START] = {CELL_IS_U64, .u64 = 1234567890},
	[IS_OPEN] = {CELL_IS_BOOL, .truth = true},
	[DIGITS] = {CELL_IS_DIGITS, .text = {"1e3", 3}},
	[ONLY_JSON] = {CELL_IS_TEXT, .text = {"seen", 4}},
};

static const struct cell nothing[COLUMNS];

/* Compares the text appended since the last call, and clears it. */
static void expect(struct text *t, const char *wanted)
{
	text_char(t, 0);
	assert_false(t->failed);
	assert_string_equal(t->data, wanted);
	text_clear(t);
}

static void text_is_aligned(void **state)
{
	(void)state;
	struct text out = {0};
	const struct cells table = {.columns = columns, .count = COLUMNS, .out = &out};
	cells_head(&table);
	expect(&out, "Name     |   Count Change    Share     Rate /s                 At     Code       Wait      Run"
		     "        Start Opens    Sum\n");
	cells_rule(&table, '-');
	expect(&out, "-------- | ------- ------ -------- -------- /s ------------------ -------- ---------- --------"
		     " ------------ ----- ------\n");
	cells_row(&table, whole);
	expect(&out, "cycles   |    1234     -5   12.35%    0.500 /s   000000000000001f     0x2a   10.47 us    1.235"
		     "     1.234567   yes    1e3\n");
	cells_row(&table, nothing);
	char blanks[128];
	snprintf(blanks, sizeof(blanks), "%-8s | %7s %6s %8s %8s /s %18s %8s %10s %8s %12s %5s %6s\n", "", "", "", "",
		"", "", "", "", "", "", "", "");
	expect(&out, blanks);
	text_deinit(&out);
}

#define WORK "\xe5\xb7\xa5\xe4\xbd\x9c" /* Two characters, four cells. */

/* Names are truncated between characters, and the columns after them are aligned. */
static void wide_names_are_aligned(void **state)
{
	(void)state;
	struct text out = {0};
	const struct cells table = {.columns = columns, .count = COUNT + 1, .out = &out};
	static const char *const names[] = {WORK, WORK "a", WORK WORK,
		("gr\xc3\xbc\xc3\x9f"
		 "e"),
		"a\xcc\x81"};
	static const char *const shown[] = {WORK "     |       1\n", WORK "a    |       1\n",
		"\xe5\xb7\xa5...    |       1\n",
		("gr\xc3\xbc\xc3\x9f"
		 "e    |       1\n"),
		"a\xcc\x81        |       1\n"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct cell row[COUNT + 1] = {
			[NAME] = {CELL_IS_TEXT, .text = str_from(names[i])}, [COUNT] = {CELL_IS_U64, .u64 = 1}};
		cells_row(&table, row);
		expect(&out, shown[i]);
	}
	text_deinit(&out);
}

static void separated_values_are_plain(void **state)
{
	(void)state;
	struct text out = {0};
	struct cells table = {.columns = columns, .count = COLUMNS, .out = &out, .separator = ";"};
	cells_head(&table);
	expect(&out, "Name;Count;Change;Share;Rate;At;Code;Wait;Run;Start;Opens;Sum\n");
	cells_rule(&table, '-');
	cells_row(&table, whole);
	expect(&out, "cycles;1234;-5;12.35%;0.500;1f;0x2a;10465;1234567;1234567890;yes;1e3\n");
	cells_row(&table, nothing);
	expect(&out, ";;;;;;;;;;;\n");
	table.has_blanks = true;
	table.count = COUNT + 1;
	cells_head(&table);
	cells_row(&table, whole);
	expect(&out, "Name; Count\ncycles; 1234\n");
	text_deinit(&out);
}

static void json_has_members(void **state)
{
	(void)state;
	struct text out = {0};
	struct json j = {.out = &out, .is_compact = true};
	const struct cells table = {.columns = columns, .count = COLUMNS, .out = &out, .json = &j};
	json_array(&j, NULL);
	cells_head(&table);
	cells_rule(&table, '-');
	cells_row(&table, whole);
	cells_row(&table, nothing);
	json_object(&j, NULL);
	cells_put(&table, nothing);
	json_u64(&j, "beside", 1);
	json_object_end(&j);
	json_array_end(&j);
	expect(&out,
		"[{\"name\": \"cycles\",\"count\": 1234,\"change\": -5,\"share_percent\": 12.3457,\"rate\": 0.500000,"
		"\"at\": \"0x1f\",\"code\": \"0x2a\",\"wait_ns\": 10465,\"run_ns\": 1234567,\"start_ns\": 1234567890,"
		"\"opens\": true,\"sum\": 1e3,\"note\": \"seen\"},{},{\"beside\": 1}]\n");
	text_deinit(&out);
}

static void columns_are_chosen(void **state)
{
	(void)state;
	static const uint8_t order[] = {COUNT, NAME, COUNT};
	struct text out = {0};
	struct cells table = {.columns = columns, .order = order, .count = ARRAY_LEN(order), .out = &out};
	cells_head(&table);
	cells_row(&table, whole);
	expect(&out, " |   CountName     |   Count\n |    1234cycles   |    1234\n");
	table.separator = ",";
	cells_put(&table, whole);
	expect(&out, "1234,cycles,1234");
	table.count = 0;
	cells_row(&table, whole);
	expect(&out, "\n");
	text_deinit(&out);
}

static void a_mark_takes_room_of_the_first_column(void **state)
{
	(void)state;
	static const struct cell_column all[] = {{"Pid", .width = 6}, {"Name", .width = -5, .before = "  "}};
	static const struct cell row[] = {{CELL_IS_U64, .u64 = 12}, {CELL_IS_TEXT, .text = {"sh", 2}}};
	struct text out = {0};
	struct cells table = {.columns = all, .count = ARRAY_LEN(all), .out = &out, .mark = "# "};
	cells_head(&table);
	cells_rule(&table, '.');
	cells_row(&table, row);
	expect(&out, "#  Pid  Name \n# ....  .....\n    12  sh   \n");
	table.columns++; /* The leftmost column is omitted. */
	table.count--;
	cells_head(&table);
	expect(&out, "#   Name\n");
	table.separator = ",";
	cells_head(&table);
	expect(&out, "# Name\n");
	text_deinit(&out);
}

static void some_columns_keep_their_form(void **state)
{
	(void)state;
	static const struct cell_column all[] = {{"At", "at", 8, .is_padded = true, .decimals = 2, .json_decimals = 1},
		{"Event", "event", .is_raw = true}};
	static const struct cell row[] = {{CELL_IS_F64, .f64 = 1.5}, {CELL_IS_TEXT, .text = {"cpu/a=1,b=2/", 12}}};
	struct text out = {0};
	struct json j = {.out = &out, .is_compact = true, .colon = " : ", .comma = ", "};
	struct cells table = {.columns = all, .count = ARRAY_LEN(all), .out = &out, .separator = ","};
	cells_row(&table, row);
	expect(&out, "    1.50,cpu/a=1,b=2/\n");
	table.json = &j;
	cells_row(&table, row);
	expect(&out, "{\"at\" : 1.5, \"event\" : \"cpu/a=1,b=2/\"}\n");
	text_deinit(&out);
}

static void quoted_values_are_csv(void **state)
{
	(void)state;
	static const struct cell_column all[] = {{"a,b", "a", .width = 9}, {"c", .key = "c"}};
	struct text out = {0};
	const struct cells table = {
		.columns = all, .count = ARRAY_LEN(all), .out = &out, .separator = ",", .is_quoted = true};
	cells_head(&table);
	cells_row(&table, (const struct cell[]){cell_name("say \"x\",\n"), cell_u64(7)});
	cells_row(&table, (const struct cell[]){cell_name("plain"), cell_text(STR("\xff"))});
	expect(&out, "\"a,b\",c\r\n\"say \"\"x\"\",\\x0a\",7\r\nplain,\xef\xbf\xbd\r\n");
	text_deinit(&out);
}

static void columns_fit_their_first_rows(void **state)
{
	(void)state;
	static const struct cell_column all[] = {{"event", .key = NULL}, {"n", .key = NULL}, {"what", .key = NULL}};
	struct text out = {0};
	const struct cells table = {.columns = all, .count = ARRAY_LEN(all), .out = &out};
	struct cells_fit fit;
	char name[8] = "cycl";
	assert_true(cells_fit_init(&fit, &table));
	cells_fit_row(&fit, (const struct cell[]){cell_name(name), cell_u64(12345), cell_name("x")});
	name[0] = 'X'; /* Buffered rows have copies of their texts. */
	cells_fit_row(&fit,
		(const struct cell[]){cell_name("\xc3\xa9\xc3\xa9\xc3\xa9"), cell_digits(STR("1.5")), cell_i64(-1)});
	cells_fit_row(&fit, (const struct cell[]){cell_u64(1), cell_name(NULL), cell_name("\033")});
	assert_int_equal(out.len, 0);
	cells_fit_finish(&fit);
	expect(&out, "event      n  what\n-----  -----  ----\ncycl   12345  x\n"
		     "\xc3\xa9\xc3\xa9\xc3\xa9      1.5    -1\n    1         \\x1b\n");
	cells_fit_row(&fit, (const struct cell[]){cell_name("instructions"), cell_u64(1), cell_name("z")});
	expect(&out, "instructions      1  z\n");
	cells_fit_deinit(&fit);
	/* Without rows, only the headings are written. */
	assert_true(cells_fit_init(&fit, &table));
	cells_fit_finish(&fit);
	expect(&out, "event  n  what\n-----  -  ----\n");
	cells_fit_deinit(&fit);
	text_deinit(&out);
}

static void waiting_rows_are_bounded(void **state)
{
	(void)state;
	static const struct cell_column all[] = {{"n", .key = NULL}};
	static char wide[(1 << 20) + 1];
	struct text out = {0};
	const struct cells table = {.columns = all, .count = 1, .out = &out};
	struct cells_fit fit;
	assert_true(cells_fit_init(&fit, &table));
	for (uint64_t i = 0; i < 199; i++)
		cells_fit_row(&fit, (const struct cell[]){cell_u64(i)});
	assert_int_equal(out.len, 0);
	cells_fit_row(&fit, (const struct cell[]){cell_u64(199)});
	assert_memory_equal(out.data, "  n\n---\n  0\n", 12);
	cells_fit_deinit(&fit);
	text_clear(&out);
	memset(wide, 'x', sizeof(wide));
	assert_true(cells_fit_init(&fit, &table));
	cells_fit_row(&fit, (const struct cell[]){cell_text((struct tally_str){wide, sizeof(wide)})});
	assert_true(out.len > sizeof(wide));
	cells_fit_deinit(&fit); /* Also frees an unfinished table. */
	text_deinit(&out);
}

static void durations_have_the_unit_that_fits(void **state)
{
	(void)state;
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {{0, "0 ns"}, {999, "999 ns"}, {1000, "1.00 us"}, {999999, "1000.00 us"}, {1000000, "1.00 ms"},
		{1500000000, "1.50 s "}, {90000000000, "1.50 m "}, {5400000000000, "1.50 h "}};
	static const struct cell_column column = {"", .look = LOOK_DURATION};
	struct text out = {0};
	const struct cells table = {.columns = &column, .count = 1, .out = &out};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct cell cell = cell_u64(cases[i].ns);
		cells_put(&table, &cell);
		expect(&out, cases[i].text);
	}
	text_deinit(&out);
}

static void constructors_say_the_kind(void **state)
{
	(void)state;
	static const struct cell_column all[] = {{"", .key = "a"}, {"", .key = "b"}, {"", "c", .absent = "none"},
		{"", .key = "d"}, {"", .key = "e"}, {"", "f", .decimals = 1, .json_decimals = 2}, {"", .key = "g"},
		{"", "h", .absent = "-"}};
	const struct cell row[] = {cell_text(STR("t")), cell_name("n"), cell_name(NULL), cell_digits(STR("7")),
		cell_i64(-1), cell_f64(2.5), cell_bool(false), {.kind = CELL_IS_ABSENT}};
	struct text out = {0};
	struct json j = {.out = &out, .is_compact = true};
	struct cells table = {.columns = all, .count = ARRAY_LEN(all), .out = &out, .separator = "|"};
	cells_row(&table, row);
	expect(&out, "t|n|none|7|-1|2.5|no|-\n");
	table.json = &j;
	cells_row(&table, row);
	expect(&out, "{\"a\": \"t\",\"b\": \"n\",\"d\": 7,\"e\": -1,\"f\": 2.50,\"g\": false}\n");
	text_deinit(&out);
}

/* A name cannot control the terminal or begin a column or row, and is valid UTF-8 in JSON. */
static void hostile_names_stay_in_their_cell(void **state)
{
	(void)state;
	static const struct cell_column all[] = {{"Name", "name", .width = 12}, {"Next", "next", .before = "|"}};
	struct text out = {0};
	struct json j = {.out = &out, .is_compact = true};
	struct cells table = {.columns = all, .count = ARRAY_LEN(all), .out = &out};
	const struct cell row[] = {cell_text(STR("a\033[1m\nb,\"")), cell_text(STR("\xff,"))};
	cells_row(&table, row);
	assert_null(memchr(out.data, '\033', out.len));
	assert_ptr_equal(memchr(out.data, '\n', out.len), out.data + out.len - 1);
	text_clear(&out);
	table.separator = ",";
	cells_row(&table, row);
	assert_null(memchr(out.data, '\033', out.len));
	assert_ptr_equal(memchr(out.data, '\n', out.len), out.data + out.len - 1);
	size_t commas = 0;
	for (size_t i = 0; i < out.len; i++)
		commas += out.data[i] == ',';
	assert_int_equal(commas, 1);
	text_clear(&out);
	/* A tab that separates values is replaced in names. */
	table.separator = "\t";
	cells_put(&table, (const struct cell[]){cell_text(STR("x\ty")), cell_text(STR("z"))});
	expect(&out, "x.y\tz");
	table.json = &j;
	cells_row(&table, row);
	expect(&out, "{\"name\": \"a\\u001b[1m\\nb,\\\"\",\"next\": \"\\ufffd,\"}\n");
	/* JSON has no such number, so the key is omitted. */
	const struct cell numbers[] = {cell_f64(NAN), cell_f64(INFINITY)};
	cells_row(&table, numbers);
	expect(&out, "{}\n");
	text_deinit(&out);
}

static void long_names_are_cut_in_text_alone(void **state)
{
	(void)state;
	struct text out = {0};
	struct json j = {.out = &out, .is_compact = true};
	struct cells table = {.columns = columns, .count = 1, .out = &out};
	const struct cell row[] = {cell_name("instructions")};
	cells_row(&table, row);
	expect(&out, "ins...  \n");
	table.separator = ",";
	cells_row(&table, row);
	expect(&out, "instructions\n");
	table.json = &j;
	cells_row(&table, row);
	expect(&out, "{\"name\": \"instructions\"}\n");
	text_deinit(&out);
}

static void failure_sticks(void **state)
{
	(void)state;
	struct text out = {.failed = true};
	struct cells table = {.columns = columns, .count = COLUMNS, .out = &out};
	cells_head(&table);
	cells_rule(&table, '.');
	cells_row(&table, whole);
	assert_true(out.failed);
	assert_int_equal(out.len, 0);
	text_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_aligned),
		cmocka_unit_test(wide_names_are_aligned),
		cmocka_unit_test(separated_values_are_plain),
		cmocka_unit_test(json_has_members),
		cmocka_unit_test(columns_are_chosen),
		cmocka_unit_test(a_mark_takes_room_of_the_first_column),
		cmocka_unit_test(some_columns_keep_their_form),
		cmocka_unit_test(quoted_values_are_csv),
		cmocka_unit_test(columns_fit_their_first_rows),
		cmocka_unit_test(waiting_rows_are_bounded),
		cmocka_unit_test(durations_have_the_unit_that_fits),
		cmocka_unit_test(constructors_say_the_kind),
		cmocka_unit_test(hostile_names_stay_in_their_cell),
		cmocka_unit_test(long_names_are_cut_in_text_alone),
		cmocka_unit_test(failure_sticks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
