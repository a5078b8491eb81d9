/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - prints tables of cells: columns are described once; rows of typed values arrive one by one and become
 * aligned text, separated values or JSON objects.
 *
 * The column defines the form of a value and where it is shown: text and separated values have the columns with a
 * heading, JSON those with a key. Names are made harmless here for all forms: control characters are escaped, the
 * separator becomes a dot, JSON goes through json.h. Rows are not kept. It borrows its arguments; the text keeps
 * failures. One thread.
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

/* Of numbers. JSON has whole numbers as they are, hexadecimal ones as strings. */
enum cell_look {
	LOOK_PLAIN,
	LOOK_PERCENT, /* 12.34% */
	LOOK_HEX, /* 0x1f */
	LOOK_ADDRESS, /* 000000000000001f; between separators 1f */
	/* Nanoseconds; between separators as they are: */
	LOOK_DURATION, /* 10.47 us: the unit that fits */
	LOOK_MS, /* 1.235, with .decimals */
	LOOK_SECONDS, /* 1.234567, cut */
};

struct cell_column {
	const char *heading; /* NULL: JSON only; "": nothing stands above it */
	const char *key; /* NULL: not in JSON */
	int width; /* in text, bytes; negative: at the left, 0: as it comes */
	enum cell_look look;
	unsigned decimals; /* of a double, in text */
	unsigned json_decimals;
	bool is_padded; /* to its width between separators, too */
	bool is_raw; /* keeps the separator in names, as perf does */
	size_t longest; /* names of more bytes end in "..."; 0: as they are. In text */
	const char *before, *after; /* in text, of headings too; NULL: nothing */
	const char *absent; /* the text for a missing value; JSON omits the key. NULL: no text */
};

enum cell_kind { CELL_IS_ABSENT, CELL_IS_TEXT, CELL_IS_DIGITS, CELL_IS_U64, CELL_IS_I64, CELL_IS_F64, CELL_IS_BOOL };

struct cell {
	enum cell_kind kind; /* zero: there is no value */
	union {
		struct tally_str text;
		uint64_t u64;
		int64_t i64;
		double f64; /* JSON omits values that are not finite */
		bool truth; /* yes, no; true, false in JSON */
	};
};

static inline struct cell cell_text(struct tally_str text)
{
	return (struct cell){.kind = CELL_IS_TEXT, .text = text};
}

/* NULL: absent. */
static inline struct cell cell_name(const char *name)
{
	return name ? cell_text(str_from(name)) : (struct cell){.kind = CELL_IS_ABSENT};
}

/* A number that has been formatted already: JSON has it without quotation marks. */
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
	const struct cell_column *columns; /* rows have their cells in this order */
	const uint8_t *order; /* which columns are shown, the first one first; NULL: all as they are described */
	size_t count; /* of order, or of columns */
	struct text *out;
	const char *mark; /* "# ": begins the lines above the rows, in the room of the first column; NULL: nothing */
	const char *separator; /* not NULL: between values, which are not aligned; its first character is in no name */
	bool has_blanks; /* one follows each separator */
	bool is_quoted; /* CSV of RFC 4180: a name is whole, in quotes where it needs them; separator is "," */
	bool is_fitted; /* cells_fit.h: widths are of characters, texts stand at the left and numbers at the right */
	struct json *json; /* not NULL: this instead of text; writes to out */
};

/* A line of headings; nothing in JSON. */
void cells_head(const struct cells *table);
/* A line of fill under the headings, in text. */
void cells_rule(const struct cells *table, char fill);
/* A line, or an object inside an array. */
void cells_row(const struct cells *table, const struct cell *row);
/* The same without the line's end or the object's brackets, so that the caller can add more to the line. */
void cells_put(const struct cells *table, const struct cell *row);

#endif
