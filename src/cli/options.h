/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - parses options by tables with one row per option; --help, the man page and shell completion come from the
 * same rows.
 *
 * A verb has a settings struct and a constant table of rows; a row says where in the settings its value goes
 * (offsetof), so that tables are constant and settings live on the verb's stack. Values borrow from argv. The spellings
 * are perf's: -F99, -F 99, --freq=99, --freq 99, combined letters, unambiguous abbreviations, --no-X, and "--" ends. An
 * option whose row is of kind OPTION_UNSUPPORTED is recognized and refused by name. A row of kind OPTION_GROUP includes
 * the rows of another table, whose settings are a member of the verb's; a row of the verb's own that stands before the
 * group replaces the group's row of the same name.
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
	OPTION_FLAG, /* bool; --no-X clears it */
	OPTION_COUNT, /* unsigned: how often it was given; --no-X sets 0 */
	OPTION_STRING, /* const char * */
	OPTION_U64, /* uint64_t, decimal, 0x or 0 octal */
	OPTION_CALL, /* option_call */
	OPTION_GROUP, /* the rows of another table, which several verbs share */
	OPTION_UNSUPPORTED,
};

struct option_use {
	void *settings;
	const char *value; /* NULL: none was given (optional arguments), or it was negated */
	bool is_negated;
	/* A buffer for a message that the callback composes and returns. */
	char *room;
	size_t room_bytes;
};
/* Returns NULL, or the reason why the value is invalid, in a text that outlives the call: a predicate such as "expects
 * a number", which is shown after the option's name, or the whole sentence if the option is_self_explaining. */
typedef const char *(*option_call)(const struct option_use *use);
/* Copies a message that does not outlive the call to use->room, and returns the copy. */
const char *option_complaint(const struct option_use *use, const char *text);

struct option {
	const char *name; /* long name; NULL if it has only a letter */
	char letter; /* 0: none */
	enum option_kind kind;
	const char *argument; /* placeholder; NULL: takes none */
	bool argument_is_optional; /* only as --name=value or -Lvalue */
	bool takes_next_word; /* with the former: the next word too, unless it starts with a dash (report's -g) */
	bool can_be_negated; /* a callback that wants --no-X although its value is required; value is NULL then */
	bool is_self_explaining; /* its callback's complaint is shown alone */
	bool is_hidden; /* not in --help */
	size_t offset;
	option_call call;
	const struct option_table *group; /* of OPTION_GROUP; offset is where its settings are */
	const char *help;
	const char *refusal; /* of OPTION_UNSUPPORTED: why; NULL: it is only missing */
};

struct option_table {
	const struct option *options;
	size_t count;
	bool stops_at_command; /* the first word that is no option ends them: what follows is a command line */
};
/* A row that includes a table's rows, whose settings are that member of the verb's. */
#define OPTION_GROUP_ROW(table, type, member)                                            \
	{                                                                                \
		.kind = OPTION_GROUP, .group = (table), .offset = offsetof(type, member) \
	}

enum option_result {
	OPTIONS_OK,
	OPTIONS_BAD, /* message is set */
	OPTIONS_WANT_HELP, /* -h or --help */
	OPTIONS_LIST, /* --list-opts */
};

struct option_parse {
	/* in */
	const struct option_table *table;
	void *settings;
	int argc; /* argv[0] is the verb */
	char **argv;
	/* out */
	int rest; /* index in argv of the first word that is no option; words are moved behind options */
	bool had_separator; /* "--" was given */
	char message[256];
	const struct option *culprit; /* the option that was used wrongly; NULL: not known */
	const struct option *second; /* another option that the abbreviation could mean */
	bool is_unknown;
	bool is_sentence; /* message stands alone */
	bool is_long_help; /* --help rather than -h */
	size_t base; /* private: where the settings of the row in hand begin */
};

/* Iterates over the rows of a table in order, with the rows of a group in the place of the group; replaced rows are
 * left out.
 *
 *	struct option_walk walk = {.table = table};
 *	for (const struct option *option; (option = option_walk_next(&walk));)
 */
struct option_walk {
	const struct option_table *table;
	size_t base; /* out: where the settings of the row's table begin in the verb's settings */
	size_t next, next_in_group; /* private */
};
const struct option *option_walk_next(struct option_walk *walk);

/* Whether the option's argument is a list of the values that it takes ("always|never|auto"). */
bool option_has_choices(const struct option *option);
enum option_result options_parse(struct option_parse *parse);
/* Whether name (without dashes) is spelled in the table, "no-" forms included; NULL if not. */
const struct option *options_find(const struct option_table *table, const char *name, size_t len, bool *is_negated);

#endif
