/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile_copy.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/wide.h"

#define NOT_YET PROFILE_NONE

struct profile_copy_copying {
	const struct profile_copy *copy;
	struct profile_builder *builder;
	/* By ID in the source profile: the ID in the builder. */
	uint32_t *binaries, *functions, *frames, *stacks, *threads, *facets;
	uint32_t *stack; /* Room for the longest stack. */
};

static uint64_t profile_copy_multiply(uint64_t value, struct profile_ratio ratio)
{
	wide_u128 product = (wide_u128)value * ratio.numerator / ratio.denominator;
	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

static uint32_t copy_string(const struct profile_copy_copying *c, uint32_t id)
{
	return id == PROFILE_NONE ? PROFILE_NONE
				  : profile_builder_string(c->builder, profile_string(c->copy->from, id));
}

static uint32_t copy_binary(struct profile_copy_copying *c, uint32_t id)
{
	if (id == PROFILE_NONE || c->binaries[id] != NOT_YET)
		return id == PROFILE_NONE ? PROFILE_NONE : c->binaries[id];
	struct profile_binary binary = c->copy->from->binaries[id];
	struct tally_str name = profile_string(c->copy->from, binary.name);
	if (c->copy->binary.len && str_equal(name, c->copy->binary))
		name = c->copy->renamed;
	binary.name = profile_builder_string(c->builder, name);
	binary.long_name = copy_string(c, binary.long_name);
	binary.build_id = copy_string(c, binary.build_id);
	return c->binaries[id] = profile_builder_binary(c->builder, &binary);
}

static uint32_t copy_function(struct profile_copy_copying *c, uint32_t id)
{
	if (id == PROFILE_NONE || c->functions[id] != NOT_YET)
		return id == PROFILE_NONE ? PROFILE_NONE : c->functions[id];
	struct profile_function function = c->copy->from->functions[id];
	function.name = copy_string(c, function.name);
	function.binary = copy_binary(c, function.binary);
	return c->functions[id] = profile_builder_function(c->builder, &function);
}

static struct profile_place copy_place(const struct profile_copy_copying *c, struct profile_place place)
{
	return (struct profile_place){copy_string(c, place.line), copy_string(c, place.file)};
}

static uint32_t copy_frame(struct profile_copy_copying *c, uint32_t id)
{
	if (id == PROFILE_NONE || c->frames[id] != NOT_YET)
		return id == PROFILE_NONE ? PROFILE_NONE : c->frames[id];
	struct profile_frame frame = c->copy->from->frames[id];
	frame.function = copy_function(c, frame.function);
	frame.binary = copy_binary(c, frame.binary);
	frame.own_line = copy_place(c, frame.own_line);
	frame.innermost_line = copy_place(c, frame.innermost_line);
	return c->frames[id] = profile_builder_frame(c->builder, &frame);
}

static uint32_t copy_stack(struct profile_copy_copying *c, uint32_t id)
{
	struct list stack = profile_stack(c->copy->from, id);
	if (id == PROFILE_NONE || c->stacks[id] != NOT_YET)
		return id == PROFILE_NONE ? PROFILE_NONE : c->stacks[id];
	for (uint32_t i = 0; i < stack.count; i++)
		c->stack[i] = copy_frame(c, stack.items[i]);
	return c->stacks[id] = profile_builder_stack(c->builder, c->stack, stack.count);
}

static uint32_t copy_thread(struct profile_copy_copying *c, uint32_t id)
{
	if (c->threads[id] != NOT_YET)
		return c->threads[id];
	struct profile_thread thread = c->copy->from->threads[id];
	thread.comm = copy_string(c, thread.comm);
	thread.last_comm = copy_string(c, thread.last_comm);
	thread.process_comm = copy_string(c, thread.process_comm);
	return c->threads[id] = profile_builder_thread(c->builder, &thread);
}

static uint32_t copy_facets(struct profile_copy_copying *c, uint32_t row)
{
	const struct profile *p = c->copy->from;
	struct profile_value values[PROFILE_MAX_FACETS];
	if (!p->facet_width || row >= p->facet_rows)
		return 0;
	if (c->facets[row] != NOT_YET)
		return c->facets[row];
	for (unsigned i = 0; i < p->facet_width; i++) {
		values[i] = p->values[(size_t)row * p->facet_width + i];
		values[i].text = copy_string(c, values[i].text);
		values[i].frame = copy_frame(c, values[i].frame);
	}
	return c->facets[row] = profile_builder_facets(c->builder, values);
}

static void copy_sample(struct profile_copy_copying *c, const struct profile_sample *from)
{
	struct profile_sample sample = *from;
	sample.count = profile_copy_multiply(from->count, c->copy->counts);
	sample.period = profile_copy_multiply(from->period, c->copy->periods);
	if (sample.count < c->copy->least_count)
		return;
	sample.thread = copy_thread(c, from->thread);
	sample.leaf = copy_frame(c, from->leaf);
	sample.stack = copy_stack(c, from->stack);
	sample.facets = copy_facets(c, from->facets);
	sample.first_order += c->copy->later;
	profile_builder_sample(c->builder, &sample);
}

static bool make_ids(uint32_t **ids, size_t count)
{
	*ids = malloc((count + 1) * sizeof(**ids));
	for (size_t i = 0; *ids && i < count; i++)
		(*ids)[i] = NOT_YET;
	return *ids != NULL;
}

bool profile_copy_samples(const struct profile_copy *copy, struct profile_builder *builder)
{
	const struct profile *p = copy->from;
	struct profile_copy_copying c = {.copy = copy, .builder = builder};
	size_t longest_stack = 0;
	for (size_t i = 0; i < list_table_len(&p->stacks); i++) {
		size_t count = profile_stack(p, (uint32_t)i).count;
		longest_stack = MAX(count, longest_stack);
	}
	bool ok = make_ids(&c.binaries, p->binary_count) && make_ids(&c.functions, p->function_count) &&
		  make_ids(&c.frames, p->frame_count) && make_ids(&c.stacks, list_table_len(&p->stacks)) &&
		  make_ids(&c.threads, p->thread_count) && make_ids(&c.facets, p->facet_rows) &&
		  make_ids(&c.stack, longest_stack);
	for (size_t i = 0; ok && i < p->sample_count; i++)
		copy_sample(&c, &p->samples[i]);
	free(c.binaries);
	free(c.functions);
	free(c.frames);
	free(c.stacks);
	free(c.threads);
	free(c.facets);
	free(c.stack);
	return ok;
}
