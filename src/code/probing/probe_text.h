/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_text.h - parses the syntax of perf-probe(1): the definition of a probe, and the range of lines of --line.
 *
 * Pure functions. Results are in the caller's arena, with escapes removed; they do not refer to the text. The program
 * is not consulted: probe_places.h and probe_variables.h determine whether a function or a variable exists. One thread.
 *
 *	struct probe_definition probe;
 *	if (probe_definition_parse("my=add:3 x o->p->len:u32", &arena, &probe, err) == TALLY_OK) ...
 */
#ifndef CODE_PROBING_PROBE_TEXT_H
#define CODE_PROBING_PROBE_TEXT_H

#include <tally/status.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/text.h"

#define PROBE_ARGUMENTS_MAX 128 /* Limit of the kernel for one event. */

/* A place in the syntax FUNC[@SRC][+OFF|:LINE|%return|;PATTERN], SRC:LINE, SRC;PATTERN or 0xADDRESS. */
struct probe_point {
	struct tally_str function; /* Function, may have wildcards; empty if none is given. */
	struct tally_str file; /* Source file; empty if none is given. */
	struct tally_str lazy; /* Pattern that source lines must match, without regard to blanks; empty if none. */
	uint64_t offset; /* Offset in bytes from the function's entry. */
	uint64_t address; /* Used instead of a function if has_address is set. */
	/* Line number, relative to the function's first line if a function is given, else in the file. */
	uint32_t line;
	bool has_line; /* If false, line is 0. */
	bool has_address;
	bool is_return;
};

/* An access to a part of a variable: "->name", ".name" or "[index]". */
struct probe_field {
	enum probe_field_kind { PROBE_FIELD_ARROW, PROBE_FIELD_DOT, PROBE_FIELD_INDEX } kind;
	struct tally_str name; /* Empty for PROBE_FIELD_INDEX. */
	int64_t index;
};

enum probe_argument_kind {
	PROBE_ARGUMENT_VARIABLE, /* A variable of the program with fields. */
	/* Text in the kernel's syntax, which is passed on unchanged: %di, +8(%sp), $retval, @sym, \1. */
	PROBE_ARGUMENT_FETCH,
	PROBE_ARGUMENT_VARIABLES, /* $vars: all variables at the place. */
	PROBE_ARGUMENT_PARAMETERS /* $params: all parameters at the place. */
};

struct probe_argument {
	enum probe_argument_kind kind;
	struct tally_str text; /* The argument as written. */
	struct tally_str name; /* Name given by the user ("name=..."); empty if none. */
	struct tally_str value; /* Text without name, type and "@user": "o->p->len", "+8(%sp)". */
	struct tally_str variable; /* Name of the variable, "o" in the example. */
	const struct probe_field *fields; /* Accesses, in the order in which they are written. */
	size_t field_count;
	struct tally_str type; /* Type: "u8", "string", "b3@1/32"; empty if none. */
	bool is_user; /* "@user" was given: the value is in user memory, for a probe of the kernel. */
};

struct probe_definition {
	struct tally_str text; /* The definition as written. */
	struct tally_str group, event; /* Empty if not given. */
	struct probe_point point;
	const struct probe_argument *arguments;
	size_t argument_count;
	/* The definition is "%group:event" or "sdt_provider:name": it refers to events in the cache with this group and
	 * name. */
	bool is_named_event;
};

/* A range of lines in the syntax FUNC[@SRC][:FROM[-TO|+COUNT]] or SRC[:FROM[-TO|+COUNT]]. */
struct probe_line_range {
	struct tally_str function, file; /* See struct probe_point. */
	/* First and last line, both included; relative to the function's first line if a function is given. */
	uint32_t first, last;
	bool has_lines; /* False: the whole function or file; first is 0 and last UINT32_MAX. */
};

/* Parses a definition. INVALID: err has a sentence, and definition is undefined. */
TALLY_MUST_CHECK enum tally_status probe_definition_parse(
	const char *text, struct arena *arena, struct probe_definition *definition, struct tally_error *err);
/* Parses a point without event and arguments, as in --vars. */
TALLY_MUST_CHECK enum tally_status probe_point_parse(
	const char *text, struct arena *arena, struct probe_point *point, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status probe_line_range_parse(
	const char *text, struct arena *arena, struct probe_line_range *range, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status probe_argument_parse(
	const char *text, struct arena *arena, struct probe_argument *argument, struct tally_error *err);

/* Writes the point as perf shows it: "add:3@a.c", "add%return". */
void probe_point_print(const struct probe_point *point, struct text *out);
/* Returns whether the kernel accepts it as the name of a group or an event: a C identifier. */
bool probe_name_is_valid(struct tally_str name);

#endif
