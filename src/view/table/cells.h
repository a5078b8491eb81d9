/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - prints tables of cells: columns are described once; rows of typed values are passed one by one and become
 * aligned text, separated values or JSON objects.
 *
 * The column defines the form of a value and where it is printed: text and separated values have the columns with a
 * heading, JSON those with a key. Names are sanitised for all forms: control characters are escaped, the separator
 * becomes a dot, and JSON is written by json.h. Rows are not stored. It borrows its arguments; the text keeps failures.
 * One thread.
 *
 *	static const struct cell_column columns[] = {{.heading = "Task", .key = "comm", .width = -16},
 *		{.heading = "Run time", .key = "runtime_ns", .width = 12, .look = LOOK_DURATION}};
 *	const struct cells table = {.columns = columns, .count = ARRAY_LEN(columns), .out = &text};
 *	cells_head(&table);
 *	cells_row(&table, (const struct cell[]){cell_text(comm), cell_u64(ns)});
 */
#ifndef VIEW_TABLE_CELLS_H
#define VIEW_TABLE_CELLS_H

#include "base/json.h"

/* Format of numbers. In JSON, whole numbers are unformatted and hexadecimal ones are strings. */
enum cell_look {
	LOOK_PLAIN,
	LOOK_PERCENT, /* For example 12.34%. */
	LOOK_HEX, /* For example 0x1f. */
	LOOK_ADDRESS, /* For example 000000000000001f; 1f in separated values. */
	/* LOOK_DURATION, LOOK_MS and LOOK_SECONDS are for nanoseconds, which are printed unformatted in separated
	 * values. */
	LOOK_DURATION, /* For example 10.47 us, in a suitable unit. */
	LOOK_MS, /* For example 1.235, with `decimals`. */
	LOOK_SECONDS, /* For example 1.234567, rounded down. */
};

struct cell_column {
	const char *heading; /* NULL for JSON only; "" for no heading. */
	const char *key; /* NULL if it is not in JSON. */
	int width; /* Width in terminal cells in text; negative for alignment to the left, 0 for no padding. */
	enum cell_look look;
	unsigned decimals; /* Decimals of a double in text. */
	unsigned json_decimals;
	bool is_padded; /* Padded to its width also in separated values. */
	bool is_raw; /* Names keep the separator, as in perf. */
	/* Maximum width of a name in text, in terminal cells, beyond which it is cut and ends in "..."; 0 for no
	 * limit. */
	size_t longest;
	const char *before, *after; /* Printed around values and headings in text; may be NULL. */
	const char *absent; /* Text for a missing value, for which JSON omits the key; NULL for none. */
};

enum cell_kind { CELL_IS_ABSENT, CELL_IS_TEXT, CELL_IS_DIGITS, CELL_IS_U64, CELL_IS_I64, CELL_IS_F64, CELL_IS_BOOL };

struct cell {
	enum cell_kind kind; /* Zero stands for no value. */
	union {
		struct tally_str text;
		uint64_t u64;
		int64_t i64;
		double f64; /* JSON omits values that are not finite. */
		bool truth; /* Printed as yes or no; true or false in JSON. */
	};
};

static inline struct cell cell_text(struct tally_str text)
{
	return (struct cell){.kind = CELL_IS_TEXT, .text = text};
}

/* Returns a cell with a name, or an absent one for NULL. */
static inline struct cell cell_name(const char *name)
{
	return name ? cell_text(str_from(name)) : (struct cell){.kind = CELL_IS_ABSENT};
}

/* Returns a cell with a formatted number, which JSON prints without quotation marks. */
static inline struct cell cell_digits(struct tally_str digits)
{
	return (struct cell){.kind = CELL_IS_DIGITS, .text = digits};
}

static inline struct cell cell_u64(uint64_t value)
{
	return (struct cell){.kind = CELL_IS_U64, .u64 = value};
}

static inline struct cell cell_i64(int64_t value)
{
	return (struct cell){.kind = CELL_IS_I64, .i64 = value};
}

static inline struct cell cell_f64(double value)
{
	return (struct cell){.kind = CELL_IS_F64, .f64 = value};
}

static inline struct cell cell_bool(bool value)
{
	return (struct cell){.kind = CELL_IS_BOOL, .truth = value};
}

static inline bool cell_is_number(const struct cell *cell)
{
	return cell->kind != CELL_IS_ABSENT && cell->kind != CELL_IS_TEXT && cell->kind != CELL_IS_BOOL;
}

struct cells {
	const struct cell_column *columns; /* Rows have their cells in this order. */
	const uint8_t *order; /* Printed columns in their order; NULL for all as described. */
	size_t count; /* Length of order, or of columns. */
	struct text *out;
	/* Start of the lines above the rows, such as "# ", which takes space from the first column; NULL for none. */
	const char *mark;
	/* Printed between values, which are not aligned then; names never contain its first character. NULL for aligned
	 * text. */
	const char *separator;
	bool has_blanks; /* A blank follows each separator. */
	bool is_quoted; /* CSV as in RFC 4180: names are not changed, but quoted if necessary; separator must be ",". */
	/* For cells_fit.h: texts are aligned to the left and numbers to the right, whatever the signs of the widths. */
	bool is_fitted;
	struct json *json; /* If not NULL, writes JSON with this writer, which writes to out. */
};

/* Prints a line of headings; nothing in JSON. */
void cells_head(const struct cells *table);
/* Prints a line of fill characters under the headings in text. */
void cells_rule(const struct cells *table, char fill);
/* Prints a row as a line, or as an object inside an array. */
void cells_row(const struct cells *table, const struct cell *row);
/* Prints a row without the end of the line or the brackets of the object, so that the caller can add to it. */
void cells_put(const struct cells *table, const struct cell *row);

#endif
