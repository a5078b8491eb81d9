/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_tree.h - merges all stacks of one event from their roots for flame graphs: each node is a function below its
 * caller.
 *
 * A label stands for a function: its displayed name, its kind of code, and its number among functions of the same name
 * in its file (static functions of C, for instance). Generated code may move, and two recordings have different
 * addresses for it, so only its name counts. Nodes are in the order in which they are drawn, parents before children,
 * siblings by name, so that the same profile gives the same picture. Where two profiles are compared, functions are the
 * same by their names alone, whatever file they lie in and whether they are inlined. Owned by the caller; borrows the
 * profile.
 *
 *	flame_tree_init(&tree, profile, &(struct flame_options){.event = 0}, err);
 *	for (size_t i = 0; i < tree.node_count; i++) draw(tree.nodes[i].depth, &tree.labels[tree.nodes[i].label]);
 *	flame_tree_deinit(&tree);
 */
#ifndef PROFILE_FLAME_TREE_H
#define PROFILE_FLAME_TREE_H

#include "base/text.h"
#include "profile/filter.h"
#include "profile/name_match.h"

enum flame_kind {
	FLAME_USER,
	FLAME_KERNEL,
	FLAME_INLINED,
	FLAME_GENERATED, /* by a JIT compiler */
	FLAME_UNKNOWN, /* no symbol */
	FLAME_GROUP, /* what the samples were grouped by: a thread's name, ... */
	FLAME_KINDS
};

enum flame_group {
	FLAME_BY_COMM,
	FLAME_BY_PROCESS,
	FLAME_BY_THREAD,
	FLAME_BY_CPU,
	FLAME_BY_EVENT, /* all events, unless one is given */
	FLAME_BY_NOTHING
};

struct flame_options {
	uint32_t event; /* PROFILE_NONE: all */
	enum flame_group group; /* what stands at the root */
	bool counts_samples; /* rather than adding up their periods */
	bool by_state; /* keep what threads did, of a profile that has FACET_STATE; not with a base */
	bool is_reversed; /* from the sample's own function outwards */
	const struct profile_filter *filter; /* NULL: all */
	const bool *cpu_passes; /* by CPU, of cpu_limit; NULL: all */
	size_t cpu_limit;
	/* A profile to compare with, whose samples go into the same tree; NULL: none. */
	const struct profile *base;
	uint32_t base_event;
	const struct profile_filter *base_filter;
	const struct name_match *match; /* of base and profile, borrowed; NULL: only equal names are the same */
};

struct flame_label {
	struct tally_str name; /* the tree's or the profile's */
	struct tally_str object; /* its DSO; empty: none */
	enum flame_kind kind;
	bool is_start; /* threads start in it: a stack that ends in another function is incomplete */
	bool has_namesake; /* set in trees: another label has the same text */
	uint32_t function; /* the profile's, which distinguishes it from others of its name; PROFILE_NONE: the name is
			 * enough */
	uint64_t address; /* where the function begins in its file */
};

struct flame_node {
	uint32_t label;
	uint32_t parent; /* PROFILE_NONE: below the root of all */
	uint32_t depth; /* 0: below the root of all */
	uint64_t self, total;
	uint64_t base; /* own, in the profile to compare with */
};

/* The states of a profile, and one more for samples that say nothing of theirs where others do. */
#define FLAME_STATES	      (PROFILE_STATES + 1)
#define FLAME_STATE_NOT_KNOWN PROFILE_STATES

struct flame_tree {
	struct flame_node *nodes;
	size_t node_count;
	uint64_t *states; /* node * FLAME_STATES + state: own weight by what the thread did; NULL: not kept */
	struct tally_str state_names[FLAME_STATES]; /* the profile's; empty: no sample is in that state */
	struct flame_label *labels;
	size_t label_count;
	uint64_t total; /* of all nodes without parent */
	uint64_t base_total;
	uint64_t sample_count;
	bool has_matched; /* a function has samples in both profiles */
	struct intern names; /* made here */
};

/* The label of a frame. Its texts belong to the profile or to room, and are valid until room changes. */
struct flame_label flame_label_of(const struct profile *profile, uint32_t frame, struct text *room);
TALLY_MUST_CHECK enum tally_status flame_tree_init(struct flame_tree *tree, const struct profile *profile,
	const struct flame_options *options, struct tally_error *err);
/* Sums over all that is below each node, as states has them; the caller frees. NULL: out of memory, or none are kept. */
uint64_t *flame_tree_state_totals(const struct flame_tree *tree);
/* The state of the most weight; all: PROFILE_STATE_RUNNING and what is not known count, too. weights: FLAME_STATES. */
enum profile_state flame_tree_main_state(const uint64_t *weights, bool all);
void flame_tree_deinit(struct flame_tree *tree);

#endif
