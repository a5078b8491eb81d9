/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - lists the columns of a flat profile: the keys that rows are grouped, sorted and shown by. One table.
 *
 * Keys group rows (comm, dso, symbol ...); values are sums that rows carry (overhead, sample ...). Constant data only.
 *
 *	enum profile_key key;
 *	if (profile_key_find(STR("sym"), &key)) use(profile_key_get(key)->header);
 */
#ifndef PROFILE_KEYS_H
#define PROFILE_KEYS_H

#include "base/bytes.h"
#include "profile/profile.h"

enum profile_key {
	/* values */
	KEY_OVERHEAD,
	KEY_OVERHEAD_SYS,
	KEY_OVERHEAD_US,
	KEY_OVERHEAD_GUEST_SYS,
	KEY_OVERHEAD_GUEST_US,
	KEY_OVERHEAD_CHILDREN,
	KEY_LATENCY, /* the period shared among the threads that ran then */
	KEY_LATENCY_CHILDREN,
	KEY_SAMPLE,
	KEY_PERIOD,
	KEY_WAIT, /* ns, with callees: off the CPU until woken */
	KEY_RUN_LATENCY, /* the same: from then on until it ran */
	KEY_WEIGHT1, /* averages of the samples' weights, in thousandths */
	KEY_WEIGHT2,
	KEY_WEIGHT3,
	KEY_PARTS, /* the period in the parts of a kind: of the first kind, so the others */
	KEY_PART_OPERATION = KEY_PARTS + PART_OPERATION,
	KEY_PART_CACHE = KEY_PARTS + PART_CACHE,
	KEY_PART_MEMORY = KEY_PARTS + PART_MEMORY,
	KEY_PART_SNOOP = KEY_PARTS + PART_SNOOP,
	KEY_PART_TLB = KEY_PARTS + PART_TLB,
	KEY_PARTS_LAST = KEY_PARTS + PART_KINDS - 1,
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
	KEY_IPC_LBR, /* the same where samples count by branches */
	KEY_CHAIN_PREDICTED, /* of the branches in the row's chains */
	KEY_CHAIN_ABORTS,
	KEY_CHAIN_CYCLES,
	/* keys that group by one facet each */
	KEY_COMM_NODIGIT,
	KEY_SOCKET,
	KEY_TIME,
	KEY_ADDRESS,
	KEY_SYMBOL_OFFSET,
	KEY_LOCAL_WEIGHT,
	KEY_WEIGHT,
	KEY_LOCAL_INS_LAT,
	KEY_INS_LAT,
	KEY_LOCAL_STAGE_CYCLES,
	KEY_STAGE_CYCLES,
	KEY_TRANSACTION,
	KEY_PARALLELISM,
	KEY_DSO_SIZE,
	KEY_CGROUP,
	KEY_CGROUP_ID,
	KEY_CODE_PAGE_SIZE,
	KEY_SIMD,
	KEY_TYPE,
	KEY_TYPE_OFFSET,
	KEY_TYPE_CACHELINE,
	KEY_DSO_FROM,
	KEY_DSO_TO,
	KEY_SYMBOL_FROM,
	KEY_SYMBOL_TO,
	KEY_ADDRESS_FROM,
	KEY_ADDRESS_TO,
	KEY_SRCLINE_FROM,
	KEY_SRCLINE_TO,
	KEY_MISPREDICT,
	KEY_IN_TX,
	KEY_ABORT,
	KEY_CYCLES,
	KEY_SYMBOL_DATA,
	KEY_DSO_DATA,
	KEY_SYMBOL_CODE,
	KEY_CACHELINE,
	KEY_MEM,
	KEY_TLB,
	KEY_LOCKED,
	KEY_SNOOP,
	KEY_BLOCKED,
	KEY_PHYSICAL,
	KEY_DATA_PAGE_SIZE,
	KEY_STATE,
	KEY_WAKER,
	KEY_FIELD, /* the first of PROFILE_MAX_FIELDS fields of tracepoints, named by the profile */
	PROFILE_KEY_COUNT = KEY_FIELD + PROFILE_MAX_FIELDS
};

enum profile_key_form { /* how a key groups by its facet, and what it shows */
	KEY_FORM_ROW, /* has none: thread, place */
	KEY_FORM_NUMBER,
	KEY_FORM_SUM, /* the number times the samples of the row */
	KEY_FORM_SOCKET,
	KEY_FORM_TIME,
	KEY_FORM_HEX,
	KEY_FORM_OFFSET, /* the row's symbol and how far in it the address is */
	KEY_FORM_TEXT,
	KEY_FORM_SIZE,
	KEY_FORM_COUNT, /* right-aligned */
	KEY_FORM_PAGE,
	KEY_FORM_PHYSICAL,
	KEY_FORM_NOTHING,
	KEY_FORM_TYPE, /* a data type */
	KEY_FORM_TYPE_OFFSET,
	KEY_FORM_TYPE_CACHELINE, /* and the line of it, as if it began at one */
	KEY_FORM_OBJECT, /* the frame's object */
	KEY_FORM_SYMBOL, /* the frame's symbol; so one row for a function */
	KEY_FORM_DATUM, /* the frame's symbol, a row for each address */
	KEY_FORM_PLACE, /* symbol and offset */
	KEY_FORM_LINE, /* source line */
	KEY_FORM_CACHELINE,
	KEY_FORM_PREDICTED,
	KEY_FORM_IN_TX,
	KEY_FORM_ABORT,
	KEY_FORM_CYCLES,
	KEY_FORM_FIELD
};

enum profile_key_mode { KEY_MODE_ANY, KEY_MODE_BRANCH, KEY_MODE_MEMORY };

struct profile_key_info {
	const char *name; /* as the user types it; any prefix is accepted */
	const char *header;
	bool is_value;
	bool is_percent; /* a value shown as a share of the total */
	bool is_duration; /* a value in ns, of FACET_STATE, shown as milliseconds */
	bool is_average; /* a value in thousandths, of a facet */
	const char *const *parts; /* the names of a value's parts; NULL after the last one */
	uint8_t facet; /* with a form other than KEY_FORM_ROW: enum profile_facet */
	uint8_t form; /* enum profile_key_form */
	uint8_t mode; /* enum profile_key_mode: what samples have to be counted by */
	uint8_t width; /* at least */
};

const struct profile_key_info *profile_key_get(enum profile_key key);
/* The facet of a key with a form other than KEY_FORM_ROW, or of a value. */
unsigned profile_key_facet(enum profile_key key);
/* The value that perf means if --fields names this key: an average or the parts. */
enum profile_key profile_key_as_field(enum profile_key key);
/* Case does not matter; the first key that starts with the text wins, in perf's order of look-up. False: none does. */
bool profile_key_find(struct tally_str text, enum profile_key *key);
/* The name that a mistyped one is nearest to, for a message; NULL if none is near. */
const char *profile_key_nearest(struct tally_str text);
/* Whether the text is the complete name of a key of perf, or "sym". */
bool profile_key_is_name(struct tally_str text);

#endif
