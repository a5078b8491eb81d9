/*
 * keys.h - the columns of a flat profile: what a row can be grouped by, sorted by and shown with. One table.
 *
 * Keys group rows (comm, dso, symbol ...); values are sums that rows carry (overhead, sample ...). Constant data only.
 *
 *	enum profile_key key;
 *	if (profile_key_find(STR("sym"), &key) == PROFILE_KEY_FOUND) use(profile_key_get(key)->header);
 */
#ifndef PROFILE_KEYS_H
#define PROFILE_KEYS_H

#include "base/bytes.h"

enum profile_key {
	/* values */
	KEY_OVERHEAD,
	KEY_OVERHEAD_SYS,
	KEY_OVERHEAD_US,
	KEY_OVERHEAD_GUEST_SYS,
	KEY_OVERHEAD_GUEST_US,
	KEY_OVERHEAD_CHILDREN,
	KEY_SAMPLE,
	KEY_PERIOD,
	/* keys */
	KEY_PID, /* perf's name for the thread: its tid is shown and grouped by */
	KEY_TGID,
	KEY_COMM,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_CPU,
	KEY_SRCLINE,
	KEY_SRCFILE,
	KEY_SYMBOL_SIZE,
	KEY_TRACE,
	KEY_PARENT, /* the first caller of the chain that the filter's parent expression names */
	KEY_IPC_NULL, /* a column of dashes: cycles per instruction need branch records */
	PROFILE_KEY_COUNT
};

struct profile_key_info {
	const char *name; /* as the user types it; any prefix will do */
	const char *header;
	bool is_value;
	bool is_percent; /* a value shown as a share of the total */
};

enum profile_key_match {
	PROFILE_KEY_FOUND,
	PROFILE_KEY_KNOWN, /* a key of perf's that is not built yet */
	PROFILE_KEY_UNKNOWN
};

const struct profile_key_info *profile_key_get(enum profile_key key);
/* Case does not matter; the first key that starts with the text wins, in perf's order of look-up. */
enum profile_key_match profile_key_find(struct tally_str text, enum profile_key *key);

#endif
