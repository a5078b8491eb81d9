/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_pass.h - runs pass two in one worker: it decodes and resolves the samples of a range of chunks and merges
 * equal ones.
 *
 * A worker owns its results; workers share only immutable data. The results of consecutive ranges, taken in order,
 * equal those of one range over all, so they do not depend on the number of workers.
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

/* What makes samples equal: event | thread << 32, leaf | stack << 32, and if either is kept CPU | facets << 32. */
#define SAMPLE_KEY_WORDS 3
struct sample_key {
	uint32_t event, thread, leaf, stack;
	int32_t cpu;
	uint32_t facets; /* row of facets; 0 where none are kept */
};

/* pid | tid << 32, name | last name << 32; a name is the machine's string, INTERN_NONE: had none. */
#define THREAD_KEY_WORDS 2
struct thread_key {
	int32_t pid, tid;
	uint32_t comm, last_comm;
};

struct sample_thread { /* of a sample */
	int32_t pid, tid;
	uint64_t time_ns;
};

struct sample_sum {
	uint64_t count, period, first_order;
	int32_t first_tid;
};

/* Samples that are looked up together, so that their waits for memory overlap. */
#define SAMPLE_BATCH 64
struct batch_sample {
	const struct perfdata_event *event;
	struct sample sample;
	struct resolve_where where;
	bool has_history; /* its branches are its chain */
	size_t leaf, chain; /* index of the resolver's addresses */
	size_t chain_count; /* 0: no chain */
	bool is_recorded; /* the chain has one frame beside a stack dump, which was recorded as a chain */
	unsigned cpumode;
	uint64_t order, position;
	uint64_t words[SAMPLE_KEY_WORDS];
	uint32_t hash; /* of the chain, then of words */
	bool is_keyed; /* words and hash are set */
};

struct pass_thread { /* of a thread, while it has its name */
	int32_t pid, tid;
	uint32_t id;
	struct valid_span span; /* empty: not asked yet */
};
#define PASS_THREADS 64

struct pass_row { /* one sample */
	uint64_t order, period;
	uint64_t key; /* id of keys */
};

struct sample_pass_input {
	struct perfdata_reader *reader;
	const struct record_run *run;
	const struct sideband *sideband;
	const struct replay_options *options;
	const struct parallelism *parallelism; /* NULL: not asked for */
	const struct thread_namespaces *namespaces; /* the same */
	const struct sample_switches *switches; /* NULL: not asked for */
	struct wait_events waits;
	const struct wait_index *wait_index; /* NULL: chains end where the sample's do */
	struct unwind_files *unwind_files; /* all added; NULL: no sample has a copy of its stack */
};

struct sample_pass {
	struct sample_pass_input input;
	struct resolver resolver;
	struct sample_unwinder unwinder;
	struct lbr_stitcher stitcher;
	struct id_table threads; /* of THREAD_KEY_WORDS */
	struct id_table keys; /* of SAMPLE_KEY_WORDS */
	VEC(uint32_t)
	first_keys; /* by stack: id + 1 of its first key, which look-ups in keys do not find; 0: none yet */
	VEC(bool) recorded; /* by stack, of one frame beside a stack dump: it was recorded; beyond: it was not */
	struct pass_thread recent_threads[PASS_THREADS];
	struct batch_sample batch[SAMPLE_BATCH];
	size_t batch_len;
	struct sample_facets facets;
	struct wait_chains waits;
	VEC(uint64_t) wait_stacks; /* by stack as it was recorded: waits whose chains go on with those of wakers */
	VEC(uint64_t) branched; /* by event: samples that counted by their branches */
	VEC(struct sample_sum) sums; /* by id of keys */
	const struct symbol **symbols; /* by frame, borrowed, but for BPF programs'; NULL: they are not looked up yet */
	struct spool rows; /* of struct pass_row; empty unless requested */
	struct group_reads reads;
	struct damaged_records damaged;
	uint64_t unattributed;
	bool failed; /* out of memory */
};

/* True where samples carry running totals, so that one worker must see them all. */
bool sample_pass_is_sequential(struct perfdata_reader *reader);
/* NULL: out of memory. */
struct sample_pass *sample_pass_create(const struct sample_pass_input *input);
/* Reads the samples of a range of the sideband's chunks. Other workers may shorten the range meanwhile. */
void sample_pass_run(struct sample_pass *pass, struct range_share *chunks, size_t range);
void sample_pass_destroy(struct sample_pass *pass);

/* For code that fills a pass in another way. Adds a key to threads, whose keys have THREAD_KEY_WORDS. span: the time in
 * which the thread has this name; it is narrowed to that. ID_TABLE_NONE: out of memory. */
uint32_t sample_pass_add_thread(const struct sample_pass_input *input, const struct sample_thread *thread,
	struct id_table *threads, struct valid_span *span);
void sample_key_pack(const struct sample_key *key, uint64_t words[SAMPLE_KEY_WORDS]);
struct sample_key sample_pass_key(const struct sample_pass *pass, uint32_t id);
struct thread_key sample_pass_thread(const struct sample_pass *pass, uint32_t id);

#endif
