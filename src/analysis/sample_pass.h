/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_pass.h - runs one worker of pass two: it decodes and resolves the samples of a range of chunks and merges
 * equal ones.
 *
 * A worker owns its results; workers share only immutable data. The results of consecutive ranges, joined in order,
 * equal those of a single range, so they do not depend on the number of workers.
 *
 *	sample_pass_create(&input);	sample_pass_run(pass, &share, range);
 *	... pass->sums, pass->resolver ...	sample_pass_destroy(pass);
 */
#ifndef ANALYSIS_SAMPLE_PASS_H
#define ANALYSIS_SAMPLE_PASS_H

#include "analysis/group_reads.h"
#include "analysis/replay_options.h"
#include "analysis/resolve.h"
#include "analysis/sample_facets.h"
#include "analysis/sample_switches.h"
#include "analysis/sideband.h"
#include "analysis/wait_chains.h"
#include "base/range_share.h"
#include "base/spool.h"

/* Words that identify equal samples: event | thread << 32, leaf | stack << 32, and, if either is kept, CPU | facets <<
 * 32. */
#define SAMPLE_KEY_WORDS 3
struct sample_key {
	uint32_t event, thread, leaf, stack;
	int32_t cpu;
	uint32_t facets; /* Row of facets; 0 if none are kept. */
};

/* Words that identify a thread: pid | tid << 32, name | last name << 32. A name is a string of the machine, or
 * INTERN_NONE. */
#define THREAD_KEY_WORDS 2
struct thread_key {
	int32_t pid, tid;
	uint32_t comm, last_comm;
};

struct sample_thread { /* The thread of a sample, and the time. */
	int32_t pid, tid;
	uint64_t time_ns;
};

/* Sum of equal samples; first_order and first_tid are the time (sample_clock.h) and the thread of the earliest one. */
struct sample_sum {
	uint64_t count, period, first_order;
	int32_t first_tid;
};

/* Number of samples that are looked up together, so that their waits for memory overlap. */
#define SAMPLE_BATCH 64
struct batch_sample {
	const struct perfdata_event *event;
	struct sample sample;
	struct resolve_where where;
	bool has_history; /* The sample's branches become part of its chain. */
	size_t leaf, chain; /* Indexes in the resolver's addresses. */
	size_t chain_count; /* 0 if there is no chain. */
	/* The sample has a stack dump and a chain of one frame, and its recorded chain is not empty. */
	bool is_recorded;
	unsigned cpumode;
	uint64_t order, position;
	uint64_t words[SAMPLE_KEY_WORDS];
	uint32_t hash; /* Hash of the chain, later of words. */
	bool is_keyed; /* words and hash are final. */
};

struct pass_thread { /* Cached ID of a thread with its name. */
	int32_t pid, tid;
	uint32_t id;
	struct valid_span span; /* Time in which the thread has this name; empty if the slot is unused. */
};
#define PASS_THREADS 64

struct pass_row { /* A single sample. */
	uint64_t order, period;
	uint64_t key; /* ID in sample_pass.keys. */
};

struct sample_pass_input {
	struct perfdata_reader *reader;
	const struct record_run *run;
	const struct sideband *sideband;
	const struct replay_options *options;
	const struct parallelism *parallelism; /* NULL if not requested. */
	const struct thread_namespaces *namespaces; /* NULL if not requested. */
	const struct sample_switches *switches; /* NULL if no events switch samples on and off. */
	struct wait_events waits;
	const struct wait_index *wait_index; /* NULL if chains do not continue with those of wakers. */
	struct unwind_files *unwind_files; /* All files are already added; NULL if no sample has a stack dump. */
};

struct sample_pass {
	struct sample_pass_input input;
	struct resolver resolver;
	struct sample_unwinder unwinder;
	struct lbr_stitcher stitcher;
	struct id_table threads; /* Keys of THREAD_KEY_WORDS words. */
	struct id_table keys; /* Keys of SAMPLE_KEY_WORDS words, or one less without CPU and facets. */
	/* ID + 1 of the first key of each stack, which look-ups in keys do not find; 0 if there is none yet. */
	VEC(uint32_t) first_keys;
	/* Indexed by stack: true for a stack of one frame if a sample with is_recorded has it. Stacks beyond the end
	 * count as false. */
	VEC(bool) recorded;
	struct pass_thread recent_threads[PASS_THREADS];
	struct batch_sample batch[SAMPLE_BATCH];
	size_t batch_len;
	struct sample_facets facets;
	struct wait_chains waits;
	/* Number of waits with each recorded stack, before the chains of wakers were appended to it. */
	VEC(uint64_t) wait_stacks;
	VEC(uint64_t) branched; /* Number of samples of each event that counted by their branches. */
	VEC(struct sample_sum) sums; /* Indexed by the IDs of keys. */
	/* Symbol of each frame, borrowed; frames of BPF programs have none yet. The array is NULL if symbols were not
	 * looked up. */
	const struct symbol **symbols;
	struct spool rows; /* struct pass_row of each sample; empty unless requested. */
	struct group_reads reads;
	struct damaged_records damaged;
	uint64_t unattributed; /* Number of samples that belong to no known event. */
	bool failed; /* Memory ran out. */
};

/* Returns true if samples carry running totals, so that a single worker must read all of them. */
bool sample_pass_is_sequential(struct perfdata_reader *reader);
/* Returns NULL when out of memory. */
struct sample_pass *sample_pass_create(const struct sample_pass_input *input);
/* Reads the samples of a range of the sideband's chunks. Other workers may shorten the range meanwhile. */
void sample_pass_run(struct sample_pass *pass, struct range_share *chunks, size_t range);
void sample_pass_destroy(struct sample_pass *pass);

/* Adds the key of a thread to threads, and returns its ID, or ID_TABLE_NONE when out of memory. *span is narrowed to
 * the time in which the thread has this name. For code that fills a pass without sample_pass_run. */
uint32_t sample_pass_add_thread(const struct sample_pass_input *input, const struct sample_thread *thread,
	struct id_table *threads, struct valid_span *span);
void sample_key_pack(const struct sample_key *key, uint64_t words[SAMPLE_KEY_WORDS]);
struct sample_key sample_pass_key(const struct sample_pass *pass, uint32_t id);
struct thread_key sample_pass_thread(const struct sample_pass *pass, uint32_t id);

#endif
