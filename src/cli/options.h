/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - parses options by tables with one row per option; --help, the man page and shell completion come from the
 * same rows.
 *
 * A verb has a struct of settings and a constant table of rows; a row has the offset of its value in the settings
 * (offsetof), so that tables are constant and settings live on the verb's stack. Strings are borrowed from argv. The
 * spellings are perf's: -F99, -F 99, --freq=99, --freq 99, combined letters, unambiguous abbreviations and --no-X; "--"
 * ends the options. An option of kind OPTION_UNSUPPORTED is recognised and refused by name. A row of kind OPTION_GROUP
 * includes the rows of another table, with settings in a member of the verb's settings; a row that precedes the group
 * replaces the group's row of the same name.
 *
 *	static const struct option options[] = {
 *		{.name = "freq", .letter = 'F', .kind = OPTION_CALL, .argument = "freq", .call = set_freq,
 *			.help = "samples per second"},
 *		{.name = "all-cpus", .letter = 'a', .kind = OPTION_FLAG, .offset = offsetof(struct settings, all),
 *			.help = "every CPU"},
 *	};
 *	static const struct option_table table = {options, ARRAY_LEN(options), true};
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"

enum option_kind {
	OPTION_FLAG, /* A bool; --no-X clears it. */
	OPTION_COUNT, /* An unsigned, incremented each time; --no-X sets it to 0. */
	OPTION_STRING, /* A const char *. */
	OPTION_U64, /* A uint64_t; decimal, hexadecimal with 0x, or octal with 0. */
	OPTION_CALL, /* Handled by a callback of type option_call. */
	OPTION_GROUP, /* Includes the rows of another table, which several verbs share. */
	OPTION_UNSUPPORTED, /* An option of perf that is refused. */
};

struct option_use { /* One use of an option on the command line. */
	void *settings; /* Settings of the table with the option's row. */
	const char *value; /* NULL if the option is negated, or its optional argument was not given. */
	bool is_negated;
	/* A buffer for a message that the callback composes and returns. */
	char *room;
	size_t room_bytes;
};
/* Returns NULL, or the reason why the value is invalid, in a string that outlives the call: a predicate such as
 * "expects a number", which is printed after the option's name, or a sentence if the option is_self_explaining. */
typedef const char *(*option_call)(const struct option_use *use);
/* Copies a message that does not outlive the call to use->room, and returns the copy. */
const char *option_complaint(const struct option_use *use, const char *text);

struct option {
	const char *name; /* Long name; NULL if the option has only a letter. */
	char letter; /* 0 if there is none. */
	enum option_kind kind;
	const char *argument; /* Placeholder of the argument; NULL if there is none. */
	bool argument_is_optional; /* An argument may be given, but must be attached: --name=value or -Lvalue. */
	bool takes_next_word; /* The optional argument may also be the next word if that has no leading dash. */
	bool can_be_negated; /* The callback supports --no-X, with value NULL, although its argument is required. */
	bool is_self_explaining; /* The callback's message is a whole sentence. */
	bool is_hidden; /* Omitted from --help. */
	size_t offset; /* Offset of the value, or of the group's settings, in the settings of the table. */
	option_call call; /* For OPTION_CALL. */
	const struct option_table *group; /* For OPTION_GROUP. */
	const char *help;
	const char *refusal; /* For OPTION_UNSUPPORTED, the reason; NULL if it is just not implemented. */
};

struct option_table {
	const struct option *options;
	size_t count;
	bool stops_at_command; /* The first word that is not an option begins a command line. */
};
/* A row that includes the rows of table. Their settings are in member of the struct type, the verb's settings. */
#define OPTION_GROUP_ROW(table, type, member)                                            \
	{                                                                                \
		.kind = OPTION_GROUP, .group = (table), .offset = offsetof(type, member) \
	}

enum option_result {
	OPTIONS_OK,
	OPTIONS_BAD, /* Wrong usage; message is set. */
	OPTIONS_WANT_HELP, /* -h or --help. */
	OPTIONS_LIST, /* --list-opts. */
};

struct option_parse {
	/* Set by the caller. */
	const struct option_table *table;
	void *settings;
	int argc; /* argv[0] is the verb. */
	char **argv;
	/* Set by options_parse. */
	int rest; /* Index in argv of the first word that is not an option; such words are moved to the end. */
	bool had_separator; /* "--" was given. */
	char message[256];
	const struct option *culprit; /* The option that was used wrongly; NULL if unknown. */
	const struct option *second; /* Another option that an ambiguous abbreviation could mean. */
	bool is_unknown; /* There is no such option. */
	bool is_sentence; /* message is a whole sentence. */
	bool is_long_help; /* --help was given, not -h. */
	size_t base; /* Private: offset of the settings of the current row's table. */
};

/* Iterates over the rows of a table in order. The rows of a group appear in place of the group; replaced rows are
 * omitted.
 *
 *	struct option_walk walk = {.table = table};
 *	for (const struct option *option; (option = option_walk_next(&walk));)
 */
struct option_walk {
	const struct option_table *table;
	size_t base; /* Offset of the settings of the current row's table in the verb's settings. */
	size_t next, next_in_group; /* Private. */
};
const struct option *option_walk_next(struct option_walk *walk);

/* Returns whether the option's placeholder lists all valid values ("always|never|auto"). */
bool option_has_choices(const struct option *option);
/* Parses argv into the settings. See struct option_parse for its parameters and results. */
enum option_result options_parse(struct option_parse *parse);
/* Finds an option by its name without dashes, which has len bytes and may be a "no-" form: *is_negated is then true.
 * Returns NULL if there is none. */
const struct option *options_find(const struct option_table *table, const char *name, size_t len, bool *is_negated);

#endif
