/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_text.h - parses what perf-probe(1) takes: the definition of a probe, and the range of lines of --line.
 *
 * Pure: text in, a parsed form out. Everything that is parsed lies in the caller's arena, escapes removed; the text may
 * go away. What is in the program is not known here: whether "foo" is a function or a variable exists is for
 * probe_places.h and probe_variables.h. One thread.
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

#define PROBE_ARGUMENTS_MAX 128 /* as many as the kernel takes in one event */
#define PROBE_NAME_MAX	    63 /* characters of a group, event or argument that the kernel takes */

/* FUNC[@SRC][+OFF|:LINE|%return|;PATTERN], SRC:LINE, SRC;PATTERN or 0xADDRESS. */
struct probe_point {
	struct tally_str function; /* may have wildcards; empty: none is named */
	struct tally_str file; /* of the source; empty: none is named */
	struct tally_str lazy; /* pattern of lines, blanks do not count; empty: none */
	uint64_t offset; /* bytes from the function's entry */
	uint64_t address; /* instead of a function; see has_address */
	uint32_t line; /* from the function's first line where a function is named, else of the file */
	bool has_line; /* false: line is 0 */
	bool has_address;
	bool is_return;
};

struct probe_field { /* of a variable: "->name", ".name" or "[index]" */
	enum probe_field_kind { PROBE_FIELD_ARROW, PROBE_FIELD_DOT, PROBE_FIELD_INDEX } kind;
	struct tally_str name; /* empty of an index */
	int64_t index;
};

enum probe_argument_kind {
	PROBE_ARGUMENT_VARIABLE, /* of the program: variable and fields */
	PROBE_ARGUMENT_FETCH, /* in the kernel's words, which go to it as they are: %di, +8(%sp), $retval, @sym, \1 */
	PROBE_ARGUMENT_VARIABLES, /* $vars: all that are there */
	PROBE_ARGUMENT_PARAMETERS /* $params */
};

struct probe_argument {
	enum probe_argument_kind kind;
	struct tally_str text; /* as it was written */
	struct tally_str name; /* that it was given ("name=..."); empty: none */
	struct tally_str value; /* without name, type and "@user": "o->p->len", "+8(%sp)" */
	struct tally_str variable; /* "o" */
	const struct probe_field *fields; /* outermost first */
	size_t field_count;
	struct tally_str type; /* "u8", "string", "b3@1/32"; empty: none */
	bool is_user; /* "@user": in memory of user space, for a probe of the kernel */
};

struct probe_definition {
	struct tally_str text; /* as it was written */
	struct tally_str group, event; /* empty: not named */
	struct probe_point point;
	const struct probe_argument *arguments;
	size_t argument_count;
	bool is_named_event; /* "%group:event" or "sdt_provider:name": what the cache has by this group and event */
};

struct probe_line_range { /* FUNC[@SRC][:FROM[-TO|+COUNT]] or SRC[:FROM[-TO|+COUNT]] */
	struct tally_str function, file; /* as in probe_point */
	uint32_t first, last; /* from the function's first line where a function is named; both included */
	bool has_lines; /* false: all of the function or file; 0 and UINT32_MAX */
};

/* INVALID with a sentence; nothing of definition is valid then. */
TALLY_MUST_CHECK enum tally_status probe_definition_parse(
	const char *text, struct arena *arena, struct probe_definition *definition, struct tally_error *err);
/* The same without event and arguments: what --vars takes. */
TALLY_MUST_CHECK enum tally_status probe_point_parse(
	const char *text, struct arena *arena, struct probe_point *point, struct tally_error *err);
TALLY_MUST_CHECK enum tally_status probe_line_range_parse(
	const char *text, struct arena *arena, struct probe_line_range *range, struct tally_error *err);
/* One argument. */
TALLY_MUST_CHECK enum tally_status probe_argument_parse(
	const char *text, struct arena *arena, struct probe_argument *argument, struct tally_error *err);

/* The point as perf shows it: "add:3@a.c", "add%return". */
void probe_point_print(const struct probe_point *point, struct text *out);
/* Whether the kernel takes it as the name of a group or an event: a C identifier. */
bool probe_name_is_valid(struct tally_str name);

#endif
