/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - defines the columns of a flat profile: the keys that rows are grouped, sorted and displayed by.
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
	/* Values. */
	KEY_OVERHEAD,
	KEY_OVERHEAD_SYS,
	KEY_OVERHEAD_US,
	KEY_OVERHEAD_GUEST_SYS,
	KEY_OVERHEAD_GUEST_US,
	KEY_OVERHEAD_CHILDREN,
	KEY_LATENCY, /* The period divided among the threads that ran at the time. */
	KEY_LATENCY_CHILDREN,
	KEY_SAMPLE,
	KEY_PERIOD,
	KEY_WAIT, /* Time in ns, with callees: off the CPU until woken. */
	KEY_RUN_LATENCY, /* Time in ns, with callees: from wake-up until running. */
	KEY_WEIGHT1, /* Average weights of the samples, in thousandths. */
	KEY_WEIGHT2,
	KEY_WEIGHT3,
	KEY_PARTS, /* The period divided into the parts of the first kind; the following ones are the other kinds. */
	KEY_PART_OPERATION = KEY_PARTS + PART_OPERATION,
	KEY_PART_CACHE = KEY_PARTS + PART_CACHE,
	KEY_PART_MEMORY = KEY_PARTS + PART_MEMORY,
	KEY_PART_SNOOP = KEY_PARTS + PART_SNOOP,
	KEY_PART_TLB = KEY_PARTS + PART_TLB,
	KEY_PARTS_LAST = KEY_PARTS + PART_KINDS - 1,
	/* Keys. */
	KEY_PID, /* perf's "pid" key: it groups by thread ID and displays it. */
	KEY_TGID,
	KEY_COMM,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_CPU,
	KEY_SRCLINE,
	KEY_SRCFILE,
	KEY_SYMBOL_SIZE,
	KEY_TRACE,
	KEY_PARENT, /* First caller in the chain that matches the filter's parent expression. */
	KEY_IPC_NULL, /* A column of dashes, because cycles per instruction need branch records. */
	KEY_IPC_LBR, /* The column of dashes for samples that count by their branches. */
	KEY_CHAIN_PREDICTED, /* Share of predicted branches, among those in the row's chains. */
	KEY_CHAIN_ABORTS,
	KEY_CHAIN_CYCLES,
	/* Keys that group by one facet each. */
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
	KEY_FIELD, /* The first of PROFILE_MAX_FIELDS tracepoint fields, which the profile names. */
	PROFILE_KEY_COUNT = KEY_FIELD + PROFILE_MAX_FIELDS
};

enum profile_key_form { /* How a key groups by its facet, and what it displays. */
	KEY_FORM_ROW, /* The key has no facet: it is the thread or the place. */
	KEY_FORM_NUMBER,
	KEY_FORM_SUM, /* The number multiplied by the samples of the row. */
	KEY_FORM_SOCKET,
	KEY_FORM_TIME,
	KEY_FORM_HEX,
	KEY_FORM_OFFSET, /* The row's symbol and the offset of the address in it. */
	KEY_FORM_TEXT,
	KEY_FORM_SIZE,
	KEY_FORM_COUNT, /* A right-aligned number. */
	KEY_FORM_PAGE,
	KEY_FORM_PHYSICAL,
	KEY_FORM_NOTHING,
	KEY_FORM_TYPE, /* A data type. */
	KEY_FORM_TYPE_OFFSET,
	KEY_FORM_TYPE_CACHELINE, /* A data type and the cache line in it, as if it began at a line. */
	KEY_FORM_OBJECT, /* The frame's binary. */
	KEY_FORM_SYMBOL, /* The frame's symbol; one row for each function. */
	KEY_FORM_DATUM, /* The frame's symbol; one row for each address. */
	KEY_FORM_PLACE, /* Symbol and offset. */
	KEY_FORM_LINE, /* Source line. */
	KEY_FORM_CACHELINE,
	KEY_FORM_PREDICTED,
	KEY_FORM_IN_TX,
	KEY_FORM_ABORT,
	KEY_FORM_CYCLES,
	KEY_FORM_FIELD
};

enum profile_key_mode { KEY_MODE_ANY, KEY_MODE_BRANCH, KEY_MODE_MEMORY };

struct profile_key_info {
	const char *name; /* Name on the command line, where any prefix is accepted. */
	const char *header;
	bool is_value;
	bool is_percent; /* A value that is displayed as a share of the total. */
	bool is_duration; /* A value in ns, from FACET_STATE, that is displayed in milliseconds. */
	bool is_average; /* A value in thousandths that averages a facet. */
	const char *const *parts; /* Names of the parts of a value, terminated by NULL. */
	uint8_t facet; /* enum profile_facet, for forms other than KEY_FORM_ROW. */
	uint8_t form; /* enum profile_key_form */
	uint8_t mode; /* enum profile_key_mode: the kind of samples that the key requires. */
	uint8_t width; /* Minimum width. */
};

const struct profile_key_info *profile_key_get(enum profile_key key);
/* Returns the facet of a value, or of a key with a form other than KEY_FORM_ROW. */
unsigned profile_key_facet(enum profile_key key);
/* Returns the key that perf uses if --fields names this key: for some keys a value (an average or parts), otherwise the
 * key itself. */
enum profile_key profile_key_as_field(enum profile_key key);
/* Finds the first key that starts with the text, ignoring case, in perf's order of look-up. Returns false if there is
 * none. */
bool profile_key_find(struct tally_str text, enum profile_key *key);
/* Returns the name that is closest to a mistyped one, for a message; NULL if none is close. */
const char *profile_key_nearest(struct tally_str text);
/* Returns whether the text is the complete name of one of perf's keys, or "sym". */
bool profile_key_is_name(struct tally_str text);

#endif
