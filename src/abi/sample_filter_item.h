/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_filter_item.h - defines the conditions of filters on samples, which tally stores in constants of the BPF
 * program, or in a map of the pinned BPF program.
 *
 * The BPF programs (src/bpf/sample_filter.bpf.c, src/bpf/pinned_filter.bpf.c) include it, too, so it uses only plain
 * types and includes no other header.
 */
#ifndef ABI_SAMPLE_FILTER_ITEM_H
#define ABI_SAMPLE_FILTER_ITEM_H

#define SAMPLE_FILTER_ITEMS 64 /* Maximum number of conditions of an event, limited by the BPF verifier. */

enum sample_filter_term {
	FILTER_NONE,
	FILTER_IP,
	FILTER_ID,
	FILTER_TID,
	FILTER_PID,
	FILTER_CPU,
	FILTER_TIME,
	FILTER_ADDR,
	FILTER_PERIOD,
	FILTER_TXN,
	FILTER_WEIGHT,
	FILTER_PHYS_ADDR,
	FILTER_CODE_PAGE_SIZE,
	FILTER_DATA_PAGE_SIZE,
	FILTER_WEIGHT1,
	FILTER_WEIGHT2,
	FILTER_WEIGHT3,
	FILTER_MEM_OP,
	FILTER_MEM_LEVEL,
	FILTER_MEM_SNOOP,
	FILTER_MEM_REMOTE,
	FILTER_MEM_LOCK,
	FILTER_MEM_DTLB,
	FILTER_MEM_BLK,
	FILTER_MEM_HOPS,
	FILTER_UID,
	FILTER_GID,
	FILTER_CGROUP,
	FILTER_TERMS
};

enum sample_filter_operator {
	FILTER_EQUAL,
	FILTER_NOT_EQUAL,
	FILTER_GREATER,
	FILTER_GREATER_EQUAL,
	FILTER_LESS,
	FILTER_LESS_EQUAL,
	FILTER_ANY_BIT /* The field and the value have a common bit. */
};

struct sample_filter_item {
	unsigned int term; /* An enum sample_filter_term. */
	unsigned short op; /* An enum sample_filter_operator. */
	unsigned short is_alternative; /* This condition or the previous one must hold ("||"). */
	unsigned long long value;
};

/* ---- the pinned program's maps ---- */

#define PINNED_FILTER_ENTRIES 1024 /* Maximum number of events with a filter, of all users together. */
#define PINNED_FILTER_SLOTS   65536 /* Number of counts of dropped samples; a power of two. */

struct pinned_filter_entry { /* Entry of the map of filters; the key is the cookie of the event. */
	unsigned int item_count;
	unsigned int slot; /* Index in the array of counts. */
	struct sample_filter_item items[SAMPLE_FILTER_ITEMS];
};

#endif
