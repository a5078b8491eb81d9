/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flame_tree.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/id_table.h"
#include "base/key_sort.h"
#include "base/name_identity.h"
#include "base/text.h"
#include "base/vec.h"

struct flame_path { /* Labels and nodes of a stack, from the root. */
	VEC(uint32_t) labels;
	VEC(uint32_t) nodes;
};

struct known_label { /* The label of the most recently labelled frame of a function or binary. */
	uint32_t frame, label; /* Label + 1; 0 if no frame was labelled yet. */
};

struct stack_end { /* The end of a stack's path, in the group in which it was last seen. */
	uint32_t group, node; /* Node + 1; 0 if not known. */
};

struct flame_builder {
	struct flame_tree *tree;
	const struct profile *profile;
	const struct flame_options *options;
	struct id_table label_ids; /* Keys: name, object, kind and function. */
	struct id_table look_ids; /* Keys: the same without the function. */
	VEC(uint32_t) first_looks; /* By ID in look_ids: the first label. */
	struct id_table node_ids; /* Keys: parent + 1, label. */
	VEC(struct flame_label) labels;
	VEC(struct flame_node) nodes; /* In order of creation. */
	VEC(uint64_t) states; /* FLAME_STATES weights per node. */
	struct flame_path path, last; /* Of the current sample, and of the one before it. */
	uint32_t *label_of_frame; /* By frame of the profile: the label + 1. */
	/* By function, and by binary for frames without a function. */
	struct known_label *label_of_function, *label_of_binary;
	uint32_t *label_of_thread; /* By thread: the label + 1; used if samples are grouped by thread. */
	struct stack_end *ends; /* Indexed by stack. */
};

/* If an earlier label looks the same (only its function differs), marks both. Returns false if out of memory. */
static bool note_look(struct flame_builder *b, const uint64_t look[2], uint32_t label, bool *has_namesake)
{
	bool is_new;
	uint32_t id = id_table_add(&b->look_ids, look, &is_new);
	if (id == ID_TABLE_NONE || (is_new && !vec_push(&b->first_looks, label)))
		return false;
	*has_namesake = !is_new;
	if (!is_new)
		b->labels.items[b->first_looks.items[id]].has_namesake = true;
	return true;
}

/* Returns the kind by which functions of two profiles are compared. Only their names are reliable: files have other
 * names in another version, and compilers inline differently. */
static enum flame_kind compared_kind(enum flame_kind kind)
{
	return kind == FLAME_INLINED || kind == FLAME_GENERATED ? FLAME_USER : kind;
}

static bool make_label(struct flame_builder *b, struct flame_label label, uint32_t *id)
{
	uint32_t name, object;
	struct intern *names = &b->tree->names;
	if (!intern_add(names, label.name.data, label.name.len, &name) ||
		!intern_add(names, label.object.data, label.object.len, &object))
		return false;
	const uint64_t key[3] = {(uint64_t)name << 32 | (b->options->base ? 0 : object),
		(uint64_t)label.is_start << 8 | (b->options->base ? compared_kind(label.kind) : label.kind),
		b->options->base ? PROFILE_NONE : label.function};
	bool is_new;
	*id = id_table_add(&b->label_ids, key, &is_new);
	if (*id == ID_TABLE_NONE)
		return false;
	label.name = intern_get(names, name);
	label.object = intern_get(names, object);
	return !is_new || (note_look(b, key, *id, &label.has_namesake) && vec_push(&b->labels, label));
}

struct flame_label flame_label_of(const struct profile *p, uint32_t index, struct text *room)
{
	const struct profile_frame *frame = &p->frames[index];
	struct flame_label label = {
		.name = STR("[unknown]"), .object = STR(""), .kind = FLAME_UNKNOWN, .function = PROFILE_NONE};
	bool is_kernel = frame->level == PROFILE_LEVEL_KERNEL || frame->level == PROFILE_LEVEL_GUEST_KERNEL;
	if (frame->binary != PROFILE_NONE) {
		label.object = profile_string(p, p->binaries[frame->binary].name);
		is_kernel = p->binaries[frame->binary].is_kernel;
	}
	if (profile_frame_is_waker(frame) && frame->function != PROFILE_NONE) {
		label.name = profile_string(p, p->functions[frame->function].name);
	} else if (frame->function != PROFILE_NONE) {
		const struct profile_function *function = &p->functions[frame->function];
		label.name = profile_string(p, function->name);
		label.kind = function->is_inlined			? FLAME_INLINED
			     : is_kernel				? FLAME_KERNEL
			     : name_identity_is_generated(label.object) ? FLAME_GENERATED
									: FLAME_USER;
		label.is_start = function->is_start;
		label.address = function->start;
		if (label.kind == FLAME_KERNEL || label.kind == FLAME_USER)
			label.function = frame->function;
	} else {
		label.is_start = frame->is_start;
	}
	if (frame->function == PROFILE_NONE && label.object.len > 0 && label.object.data[0] == '[') {
		label.name = label.object;
	} else if (frame->function == PROFILE_NONE && label.object.len > 0) {
		text_clear(room);
		text_printf(room, "[%.*s]", (int)label.object.len, label.object.data);
		label.name = (struct tally_str){room->data, room->len};
	}
	return label;
}

/* Returns where the last label of the frame's function or binary is cached: most frames of one function differ only in
 * their addresses and have the same label. */
static struct known_label *known_label_of(const struct flame_builder *b, const struct profile_frame *frame)
{
	if (frame->function != PROFILE_NONE)
		return &b->label_of_function[frame->function];
	return &b->label_of_binary[frame->binary != PROFILE_NONE ? frame->binary : b->profile->binary_count];
}

static bool look_alike(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->function == b->function && a->binary == b->binary && a->level == b->level &&
	       a->is_start == b->is_start;
}

/* Replaces the names in a label by those that stand for them in all compared profiles. room is a buffer for the texts
 * of the label. */
static void match_label(const struct flame_builder *b, struct flame_label *label, struct text *room)
{
	const struct name_match *match = b->options->match;
	struct tally_str object = name_match_get(match, NAME_MATCH_FILE, label->object);
	if (label->kind != FLAME_UNKNOWN) {
		label->name = name_match_get(match, NAME_MATCH_FUNCTION, label->name);
	} else if (str_equal(label->name, label->object)) {
		label->name = object;
	} else if (!str_equal(object, label->object)) {
		text_clear(room);
		text_printf(room, "[%.*s]", (int)object.len, object.data);
		label->name = text_view(room);
	}
	label->object = object;
}

static bool label_frame(struct flame_builder *b, uint32_t index, uint32_t *id)
{
	if (b->label_of_frame[index]) {
		*id = b->label_of_frame[index] - 1;
		return true;
	}
	const struct profile_frame *frames = b->profile->frames;
	struct known_label *known = known_label_of(b, &frames[index]);
	if (!known->label || !look_alike(&frames[known->frame], &frames[index])) {
		struct text text = {0};
		struct flame_label label = flame_label_of(b->profile, index, &text);
		match_label(b, &label, &text);
		bool is_made = !text.failed && make_label(b, label, id);
		text_deinit(&text);
		if (!is_made)
			return false;
		*known = (struct known_label){index, *id + 1};
	}
	*id = known->label - 1;
	b->label_of_frame[index] = known->label;
	return true;
}

static bool is_of_thread(enum flame_group group)
{
	return group == FLAME_BY_COMM || group == FLAME_BY_PROCESS || group == FLAME_BY_THREAD;
}

static void name_group(const struct flame_builder *b, const struct profile_sample *sample, struct text *text)
{
	const struct profile *p = b->profile;
	const struct profile_thread *thread = &p->threads[sample->thread];
	struct tally_str name = {"", 0};
	if (is_of_thread(b->options->group))
		name = name_match_get(b->options->match, NAME_MATCH_THREAD, profile_string(p, thread->comm));
	else if (b->options->group == FLAME_BY_EVENT)
		name = profile_string(p, p->events[sample->event].name);
	text_bytes(text, name.data, name.len);
	if (b->options->group == FLAME_BY_PROCESS)
		text_printf(text, "-%d", thread->pid);
	else if (b->options->group == FLAME_BY_THREAD)
		text_printf(text, "-%d/%d", thread->pid, thread->tid);
	else if (b->options->group == FLAME_BY_CPU)
		text_printf(text, "CPU %d", sample->cpu);
}

static bool label_group(struct flame_builder *b, const struct profile_sample *sample, uint32_t *id)
{
	uint32_t *known = is_of_thread(b->options->group) ? &b->label_of_thread[sample->thread] : NULL;
	struct text text = {0};
	if (known && *known) {
		*id = *known - 1;
		return true;
	}
	name_group(b, sample, &text);
	struct flame_label label = {.name = {text.data ? text.data : "", text.len},
		.object = STR(""),
		.kind = FLAME_GROUP,
		.function = PROFILE_NONE};
	bool is_made = !text.failed && make_label(b, label, id);
	text_deinit(&text);
	if (is_made && known)
		*known = *id + 1;
	return is_made;
}

/* Returns the number of frames before the first one that represents a waker. */
static size_t flame_tree_own_frames(const struct profile *p, const struct list *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		if (profile_frame_is_waker(&p->frames[stack->items[i]]))
			return i;
	return stack->count;
}

/* Reads the labels of a sample's stack, outermost function first, after the label of its group (PROFILE_NONE: no
 * group). */
static bool read_path(struct flame_builder *b, const struct profile_sample *sample, uint32_t group)
{
	const struct profile *p = b->profile;
	struct list stack = profile_stack(p, sample->stack);
	if (sample->stack == PROFILE_NONE)
		stack = (struct list){&sample->leaf, 1};
	size_t first = group != PROFILE_NONE, len = first + stack.count;
	if (!vec_reserve(&b->path.labels, len) || !vec_reserve(&b->path.nodes, len))
		return false;
	uint32_t *labels = b->path.labels.items;
	if (first)
		labels[0] = group;
	/* The waker's frames follow those of the waiting thread, and begin with the innermost function, which woke the
	 * thread. */
	size_t own = flame_tree_own_frames(p, &stack);
	for (size_t i = 0; i < stack.count; i++) {
		size_t at = i >= own || b->options->is_reversed ? first + i : first + own - 1 - i;
		if (!label_frame(b, stack.items[i], &labels[at]))
			return false;
	}
	b->path.labels.len = b->path.nodes.len = len;
	return true;
}

static bool flame_tree_add_path(struct flame_builder *b, uint32_t *end)
{
	/* The first nodes are those of the sample before, as far as the labels are equal. */
	size_t len = b->path.labels.len, most = MIN(len, b->last.labels.len), shared = 0;
	while (shared < most && b->path.labels.items[shared] == b->last.labels.items[shared])
		shared++;
	if (shared > 0)
		memcpy(b->path.nodes.items, b->last.nodes.items, shared * sizeof(*b->path.nodes.items));
	uint32_t parent = shared > 0 ? b->path.nodes.items[shared - 1] : PROFILE_NONE;
	for (size_t i = shared; i < len; i++) {
		uint32_t label = b->path.labels.items[i];
		const uint64_t key = (uint64_t)(parent + 1) << 32 | label;
		bool is_new;
		if (!vec_reserve(&b->nodes, b->nodes.len + 1))
			return false;
		uint32_t node = id_table_add(&b->node_ids, &key, &is_new);
		if (node == ID_TABLE_NONE)
			return false;
		if (is_new)
			b->nodes.items[b->nodes.len++] =
				(struct flame_node){.label = label, .parent = parent, .depth = (uint32_t)i};
		b->path.nodes.items[i] = parent = node;
	}
	struct flame_path last = b->last;
	b->last = b->path;
	b->path = last;
	*end = parent;
	return true;
}

/* Finds the node of the sample's own function below all its callers. */
static bool flame_tree_find_end(struct flame_builder *b, const struct profile_sample *sample, uint32_t *end)
{
	uint32_t group = PROFILE_NONE;
	if (b->options->group != FLAME_BY_NOTHING && !label_group(b, sample, &group))
		return false;
	struct stack_end *known = sample->stack != PROFILE_NONE ? &b->ends[sample->stack] : NULL;
	if (known && known->node && known->group == group) {
		*end = known->node - 1;
		return true;
	}
	if (!read_path(b, sample, group) || !flame_tree_add_path(b, end))
		return false;
	if (known)
		*known = (struct stack_end){group, *end + 1};
	return true;
}

static bool flame_tree_is_wanted(const struct flame_builder *b, const struct profile_sample *sample)
{
	const struct flame_options *o = b->options;
	bool is_base = b->profile == o->base;
	const struct profile_filter *filter = is_base ? o->base_filter : o->filter;
	uint32_t event = is_base ? o->base_event : o->event;
	if ((event != PROFILE_NONE && sample->event != event) || (filter && !profile_filter_passes(filter, sample)))
		return false;
	return !o->cpu_passes || (sample->cpu >= 0 && (size_t)sample->cpu < o->cpu_limit && o->cpu_passes[sample->cpu]);
}

static void forget_profile(struct flame_builder *b)
{
	free(b->label_of_frame);
	free(b->label_of_function);
	free(b->label_of_binary);
	free(b->label_of_thread);
	free(b->ends);
}

static void path_deinit(struct flame_path *path)
{
	vec_free(&path->labels);
	vec_free(&path->nodes);
}

static bool know_profile(struct flame_builder *b, const struct profile *p)
{
	forget_profile(b);
	b->profile = p;
	b->label_of_frame = calloc(p->frame_count + 1, sizeof(*b->label_of_frame));
	b->label_of_function = calloc(p->function_count + 1, sizeof(*b->label_of_function));
	b->label_of_binary = calloc(p->binary_count + 1, sizeof(*b->label_of_binary));
	b->label_of_thread = calloc(p->thread_count + 1, sizeof(*b->label_of_thread));
	b->ends = calloc(list_table_len(&p->stacks) + 1, sizeof(*b->ends));
	return b->label_of_frame && b->label_of_function && b->label_of_binary && b->label_of_thread && b->ends;
}

/* Returns false if out of memory. */
static bool flame_tree_add_state(
	struct flame_builder *b, const struct profile_sample *sample, uint32_t node, uint64_t weight)
{
	const struct profile_value *value = profile_facet(b->profile, sample->facets, FACET_STATE);
	size_t len = b->nodes.len * FLAME_STATES, before = b->states.len;
	if (!b->options->by_state || !value || value->number >= PROFILE_STATES)
		return true;
	if (len > before) {
		if (!vec_reserve(&b->states, len))
			return false;
		memset(b->states.items + before, 0, (len - before) * sizeof(*b->states.items));
		b->states.len = len;
	}
	b->states.items[(size_t)node * FLAME_STATES + value->number] += weight;
	b->tree->state_names[value->number] = profile_string(b->profile, value->text);
	return true;
}

static bool flame_tree_add_samples(struct flame_builder *b, const struct profile *p)
{
	bool is_base = p == b->options->base;
	if (!know_profile(b, p))
		return false;
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *sample = &p->samples[i];
		uint32_t end;
		if (!flame_tree_is_wanted(b, sample))
			continue;
		uint64_t weight = b->options->counts_samples ? sample->count : sample->period;
		if (!flame_tree_find_end(b, sample, &end))
			return false;
		if (end != PROFILE_NONE) {
			b->nodes.items[end].self += is_base ? 0 : weight;
			b->nodes.items[end].base += is_base ? weight : 0;
			if (!flame_tree_add_state(b, sample, end, weight))
				return false;
		}
		b->tree->total += is_base ? 0 : weight;
		b->tree->base_total += is_base ? weight : 0;
		b->tree->sample_count += is_base ? 0 : sample->count;
	}
	return true;
}

/* Parents precede their children, so the last node comes first. */
static void flame_tree_add_up(struct flame_builder *b)
{
	for (size_t i = b->nodes.len; i-- > 0;) {
		struct flame_node *node = &b->nodes.items[i];
		node->total += node->self;
		if (node->parent != PROFILE_NONE)
			b->nodes.items[node->parent].total += node->total;
	}
}

/* Sets has_matched if a function has samples in both profiles. Returns false if out of memory. */
static bool flame_tree_find_matched(struct flame_builder *b)
{
	uint64_t *base = b->options->base ? calloc(b->nodes.len + 1, sizeof(*base)) : NULL;
	for (size_t i = b->nodes.len; base && i-- > 0;) {
		const struct flame_node *node = &b->nodes.items[i];
		enum flame_kind kind = b->labels.items[node->label].kind;
		base[i] += node->base;
		if (node->parent != PROFILE_NONE)
			base[node->parent] += base[i];
		if (node->total > 0 && base[i] > 0 && kind != FLAME_GROUP && kind != FLAME_UNKNOWN)
			b->tree->has_matched = true;
	}
	free(base);
	return base || !b->options->base;
}

static int compare_labels(const void *left, const void *right, void *data)
{
	const struct flame_label *labels = data;
	const struct flame_label *a = &labels[*(const uint32_t *)left], *b = &labels[*(const uint32_t *)right];
	size_t shorter = MIN(a->name.len, b->name.len);
	int order = shorter ? memcmp(a->name.data, b->name.data, shorter) : 0;
	if (order || a->name.len != b->name.len)
		return order ? order : a->name.len < b->name.len ? -1 : 1;
	return *(const uint32_t *)left < *(const uint32_t *)right ? -1 : 1;
}

static bool rank_labels(const struct flame_builder *b, uint32_t *ranks)
{
	size_t count = b->labels.len;
	uint32_t *order = malloc((count + 1) * sizeof(*order));
	if (!order)
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), compare_labels, b->labels.items);
	for (size_t i = 0; i < count; i++)
		ranks[order[i]] = (uint32_t)i;
	free(order);
	return true;
}

/* Writes the nodes in the order of drawing. siblings has the children of each node together; those of p begin at
 * first[p + 1]. */
static void flame_tree_walk(
	struct flame_builder *b, const struct sort_key *siblings, const size_t *first, uint32_t *stack, uint32_t *moved)
{
	size_t depth = 0;
	struct flame_node *out = b->tree->nodes;
	for (size_t i = first[1]; i-- > first[0];)
		stack[depth++] = (uint32_t)siblings[i].index;
	while (depth > 0) {
		uint32_t node = stack[--depth];
		const struct flame_node *from = &b->nodes.items[node];
		moved[node] = (uint32_t)b->tree->node_count;
		struct flame_node to = *from;
		to.parent = from->parent == PROFILE_NONE ? PROFILE_NONE : moved[from->parent];
		out[b->tree->node_count++] = to;
		for (size_t i = first[node + 2]; i-- > first[node + 1];)
			stack[depth++] = (uint32_t)siblings[i].index;
	}
}

/* Puts the weights by state in the order of the finished nodes. moved: the new index of each node, by its index in
 * order of creation. */
static bool flame_tree_move_states(struct flame_builder *b, const uint32_t *moved)
{
	size_t each = FLAME_STATES * sizeof(*b->tree->states);
	if (b->states.len == 0)
		return true;
	b->tree->states = calloc(b->nodes.len, each);
	for (size_t i = 0; b->tree->states && i < b->states.len / FLAME_STATES; i++)
		memcpy(b->tree->states + (size_t)moved[i] * FLAME_STATES, b->states.items + i * FLAME_STATES, each);
	return b->tree->states != NULL;
}

/* Assigns the weight of a node that no sample's state covers to FLAME_STATE_NOT_KNOWN. */
static void flame_tree_add_not_known(struct flame_tree *tree)
{
	for (size_t i = 0; tree->states && i < tree->node_count; i++) {
		uint64_t *states = &tree->states[i * FLAME_STATES], rest = tree->nodes[i].self;
		for (unsigned s = 0; s < PROFILE_STATES; s++)
			rest -= MIN(rest, states[s]);
		states[FLAME_STATE_NOT_KNOWN] = rest;
		if (rest)
			tree->state_names[FLAME_STATE_NOT_KNOWN] = STR("not known");
	}
}

static bool order_nodes(struct flame_builder *b)
{
	size_t count = b->nodes.len;
	uint32_t *ranks = malloc((b->labels.len + 1) * sizeof(*ranks));
	/* Keys: parent + 1, then the rank of the name. The second half is scratch space for sorting. */
	struct sort_key *siblings = malloc((2 * count + 1) * sizeof(*siblings));
	size_t *first = calloc(count + 3, sizeof(*first));
	uint32_t *stack = malloc((count + 1) * sizeof(*stack)), *moved = malloc((count + 1) * sizeof(*moved));
	b->tree->nodes = malloc((count + 1) * sizeof(*b->tree->nodes));
	bool is_done = ranks && siblings && first && stack && moved && b->tree->nodes && rank_labels(b, ranks);
	if (is_done) {
		for (size_t i = 0; i < count; i++) {
			uint32_t parent = b->nodes.items[i].parent + 1;
			first[parent + 1]++;
			siblings[i] = (struct sort_key){(uint64_t)parent << 32 | ranks[b->nodes.items[i].label], i};
		}
		key_sort(siblings, siblings + count, count);
		for (size_t i = 1; i < count + 3; i++)
			first[i] += first[i - 1];
		flame_tree_walk(b, siblings, first, stack, moved);
		is_done = flame_tree_move_states(b, moved);
	}
	free(ranks);
	free(siblings);
	free(first);
	free(stack);
	free(moved);
	return is_done;
}

enum tally_status flame_tree_init(struct flame_tree *tree, const struct profile *profile,
	const struct flame_options *options, struct tally_error *err)
{
	*tree = (struct flame_tree){0};
	struct flame_builder b = {.tree = tree, .options = options};
	b.label_ids.words = 3;
	b.look_ids.words = 2;
	b.node_ids.words = 1;
	intern_init(&tree->names);
	bool is_built =
		flame_tree_add_samples(&b, profile) && (!options->base || flame_tree_add_samples(&b, options->base));
	flame_tree_add_up(&b);
	is_built = is_built && flame_tree_find_matched(&b) && order_nodes(&b);
	if (is_built)
		flame_tree_add_not_known(tree);
	tree->labels = b.labels.items;
	tree->label_count = b.labels.len;
	id_table_deinit(&b.label_ids);
	id_table_deinit(&b.look_ids);
	vec_free(&b.first_looks);
	id_table_deinit(&b.node_ids);
	vec_free(&b.nodes);
	vec_free(&b.states);
	path_deinit(&b.path);
	path_deinit(&b.last);
	forget_profile(&b);
	if (is_built)
		return TALLY_OK;
	flame_tree_deinit(tree);
	return error_nomem(err);
}

uint64_t *flame_tree_state_totals(const struct flame_tree *tree)
{
	size_t count = tree->node_count * FLAME_STATES;
	uint64_t *totals = tree->states ? malloc((count + 1) * sizeof(*totals)) : NULL;
	if (!totals)
		return NULL;
	memcpy(totals, tree->states, count * sizeof(*totals));
	for (size_t i = tree->node_count; i-- > 0;) {
		uint32_t parent = tree->nodes[i].parent;
		for (size_t s = 0; parent != PROFILE_NONE && s < FLAME_STATES; s++)
			totals[(size_t)parent * FLAME_STATES + s] += totals[i * FLAME_STATES + s];
	}
	return totals;
}

enum profile_state flame_tree_main_state(const uint64_t *weights, bool all)
{
	unsigned most = all ? PROFILE_STATE_RUNNING : PROFILE_STATE_RUNNABLE;
	for (unsigned s = most + 1; s < (all ? FLAME_STATES : PROFILE_STATES); s++)
		if (weights[s] > weights[most])
			most = s;
	return (enum profile_state)most;
}

void flame_tree_deinit(struct flame_tree *tree)
{
	free(tree->states);
	free(tree->nodes);
	free(tree->labels);
	intern_deinit(&tree->names);
	*tree = (struct flame_tree){0};
}
