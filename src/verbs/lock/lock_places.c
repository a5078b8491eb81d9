/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lock/lock_places.h"

#include <inttypes.h>
#include <string.h>

#include "abi/perf_constants.h"
#include "base/array.h"

#define UNKNOWN "[unknown]"

static bool has_one_of(const char *name, const char *list)
{
	struct tally_str rest = str_from(list), part;
	while (str_next_item(&rest, &part))
		if (part.len > 0 && memmem(name, strlen(name), part.data, part.len))
			return true;
	return false;
}

/* True for the kernel's functions for waiting; the function that waits is their caller. */
static bool is_waiting_function(const char *name)
{
	static const char *const starts[] = {"_raw_spin_lock", "_raw_spin_trylock", "_raw_spin_unlock", "_raw_read_",
		"_raw_write_", "__pv_queued_spin_", "native_queued_spin_lock", "queued_spin_lock", "queued_read_lock",
		"queued_write_lock", "resilient_queued_spin_lock", "__schedule", "schedule", "io_schedule",
		"preempt_schedule", "__cond_resched", "mutex_lock", "__mutex_lock", "mutex_unlock", "__mutex_unlock",
		"__ww_mutex_lock", "ww_mutex_", "down", "__down", "rwsem_down", "ldsem_down", "rt_mutex_",
		"__rt_mutex_", "__percpu_down", "percpu_down", "wait_for_completion", "__wait_for_common", "bit_wait",
		"__wait_on_bit", "out_of_line_wait_on_bit", "do_nanosleep", "usleep_range_state"};
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/* Values of line_form in a frame's name, which is free for this use because no lines are printed here. */
enum { NOT_LOOKED_AT, WAITS, CALLS };

static bool is_waiting_frame(struct frame_name *name)
{
	if (name->line_form == NOT_LOOKED_AT)
		name->line_form = name->symbol && is_waiting_function(name->symbol) ? WAITS : CALLS;
	return name->line_form == WAITS;
}

static struct resolved_chain chain_of(struct data_source *source, const struct data_sample *s)
{
	struct resolver *resolver = &source->pass.resolver;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	struct sample_array whole = resolver_sample_chain(resolver, &where, &s->event->layout, &s->sample);
	return resolver_chain_frames(resolver, &where, &whole);
}

bool lock_caller_read(struct data_source *source, const struct data_sample *s,
	const struct lock_caller_options *options, struct lock_caller *c, struct tally_error *err)
{
	struct resolved_chain chain = chain_of(source, s);
	size_t depth = chain.count < options->max_stack ? chain.count : (size_t)options->max_stack;
	c->passes = !options->names;
	for (size_t i = 0; i < (options->names ? chain.count : depth); i++) {
		struct frame_name *name = frame_names_get(&source->names, chain.frames[i], err);
		if (!name)
			return false;
		c->passes = c->passes || has_one_of(name->symbol ? name->symbol : UNKNOWN, options->names);
		if (i < depth && i >= options->skip && !is_waiting_frame(name))
			c->frames[c->count++] = chain.ips[i];
	}
	return !source->pass.resolver.failed;
}

bool lock_caller_describe(struct data_source *source, const struct data_sample *s,
	const struct lock_caller_options *options, struct lock_caller *c, struct tally_error *err)
{
	struct resolved_chain chain = chain_of(source, s);
	/* If no frame of the kernel has a name, functions of the program must not be printed as callers. */
	bool in_kernel = true;
	for (size_t i = 0; i < chain.count && i < options->max_stack; i++) {
		struct frame_name *name = frame_names_get(&source->names, chain.frames[i], err);
		if (!name)
			return false;
		text_printf(&c->stack, "\t\t\t0x%" PRIx64 "  %s", chain.ips[i], name->symbol ? name->symbol : UNKNOWN);
		if (name->symbol)
			text_printf(&c->stack, "+0x%" PRIx64, name->symbol_offset);
		text_char(&c->stack, '\n');
		in_kernel =
			in_kernel && resolved_frame_get(&source->pass.resolver.frames, chain.frames[i]).level == 'k';
		if (in_kernel && i >= options->skip && c->name.len == 0 && name->symbol && !is_waiting_frame(name))
			text_printf(&c->name, "%s+0x%" PRIx64, name->symbol, name->symbol_offset);
	}
	return !source->pass.resolver.failed && !c->name.failed && !c->stack.failed;
}

void lock_caller_deinit(struct lock_caller *c)
{
	text_deinit(&c->name);
	text_deinit(&c->stack);
}

bool lock_symbol_read(struct data_source *source, const struct data_sample *s, uint64_t address, struct text *name,
	bool *is_start, struct tally_error *err)
{
	struct resolver *resolver = &source->pass.resolver;
	struct resolve_where where = resolver_where(resolver, (int32_t)s->sample.pid, s->clock);
	/* Only the kernel's code is mapped in a recording, so its data is resolved relative to code. */
	uint32_t here = resolver_frame(resolver, &where, MISC_CPUMODE_KERNEL, s->sample.ip);
	if (resolver->failed)
		return false;
	struct resolved_frame code = resolved_frame_get(&resolver->frames, here);
	if (code.binary == RESOLVE_NONE)
		return true;
	uint32_t frame = resolver_earlier_frame(resolver, here, code.address - address);
	const struct frame_name *symbol = resolver->failed ? NULL : frame_names_get(&source->names, frame, err);
	if (symbol && symbol->symbol)
		text_str(name, symbol->symbol);
	*is_start = symbol && symbol->symbol && symbol->symbol_offset == 0;
	return symbol && !name->failed;
}
