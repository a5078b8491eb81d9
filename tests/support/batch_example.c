/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_example.h"

#include <stdlib.h>

#include "profile/profile_builder.h"

struct batch_example_maker {
	struct profile_builder *b;
	uint32_t program, library, kernel;
};

static uint32_t add_string(struct batch_example_maker *m, const char *text)
{
	return profile_builder_string(m->b, str_from(text));
}

static uint32_t add_binary(
	struct batch_example_maker *m, const char *name, const char *path, const char *id, bool is_kernel)
{
	return profile_builder_binary(m->b, &(struct profile_binary){.name = add_string(m, name),
						    .long_name = add_string(m, path),
						    .build_id = add_string(m, id),
						    .is_kernel = is_kernel});
}

struct batch_example_frame {
	const char *function, *line, *file;
	uint32_t binary;
	uint64_t address, start, size;
	uint8_t level;
	bool is_inlined, is_start;
	const char *innermost, *innermost_file;
};

static uint32_t add_frame(struct batch_example_maker *m, struct batch_example_frame f)
{
	struct profile_frame frame = {.function = PROFILE_NONE,
		.binary = f.binary,
		.address = f.address,
		.level = f.level,
		.own_line = {add_string(m, f.line ? f.line : ""), add_string(m, f.file ? f.file : "")}};
	frame.innermost_line = frame.own_line;
	if (f.innermost)
		frame.innermost_line =
			(struct profile_place){add_string(m, f.innermost), add_string(m, f.innermost_file)};
	if (f.function)
		frame.function =
			profile_builder_function(m->b, &(struct profile_function){.name = add_string(m, f.function),
							       .binary = f.binary,
							       .start = f.start,
							       .size = f.size,
							       .is_inlined = f.is_inlined,
							       .is_start = f.is_start});
	else
		frame.raw_address = f.address;
	frame.is_start = !f.function && f.is_start;
	return profile_builder_frame(m->b, &frame);
}

static uint32_t add_state(struct batch_example_maker *m, uint64_t state, const char *name)
{
	return profile_builder_facets(
		m->b, &(struct profile_value){.number = state, .text = add_string(m, name), .frame = PROFILE_NONE});
}

static void add_sample(struct batch_example_maker *m, struct profile_sample sample)
{
	static uint64_t order;
	sample.cpu = -1;
	sample.period = sample.count * 1000003;
	sample.first_order = order++;
	profile_builder_sample(m->b, &sample);
}

static uint32_t add_thread(
	struct batch_example_maker *m, int32_t id, const char *comm, const char *process, uint32_t set)
{
	return profile_builder_thread(m->b, &(struct profile_thread){.pid = id,
						    .tid = id < 0 ? id : 2 * id,
						    .comm = add_string(m, comm),
						    .last_comm = add_string(m, comm),
						    .process_comm = add_string(m, process),
						    .label_set = set});
}

static void add_events(struct batch_example_maker *m)
{
	static const char *const names[] = {"cpu-clock:u", "offcpu-time", "cycles"};
	for (uint32_t i = 0; i < 3; i++)
		profile_builder_event(m->b, &(struct profile_event){.name = add_string(m, names[i]),
						    .leader = i,
						    .member_count = 1,
						    .has_callchain = i < 2});
}

/* Adds samples in the program, a library and the kernel, with inlined calls, without symbols and without a binary. */
static void add_samples(struct batch_example_maker *m)
{
	uint32_t chain[] = {add_frame(m, (struct batch_example_frame){.function = "std::max<int>",
						 .line = "algo.h:12",
						 .file = "algo.h",
						 .binary = m->program,
						 .address = 0x1234,
						 .level = '.',
						 .is_inlined = true}),
		add_frame(m, (struct batch_example_frame){.function = "step",
				     .line = "a.c:7",
				     .file = "a.c",
				     .binary = m->program,
				     .address = 0x1234,
				     .level = '.',
				     .is_inlined = true}),
		add_frame(m, (struct batch_example_frame){.function = "work",
				     .line = "a.c:99",
				     .file = "a.c",
				     .binary = m->program,
				     .address = 0x1234,
				     .start = 0x1200,
				     .size = 0x80,
				     .level = '.',
				     .innermost = "algo.h:12",
				     .innermost_file = "algo.h"}),
		add_frame(m, (struct batch_example_frame){.binary = m->library, .address = 0xabc, .level = '.'}),
		add_frame(m, (struct batch_example_frame){.binary = PROFILE_NONE, .address = UINT64_MAX, .level = '.'}),
		add_frame(m, (struct batch_example_frame){.function = "_start",
				     .binary = m->program,
				     .address = 0x10,
				     .start = 0x10,
				     .size = 9,
				     .level = '.',
				     .is_start = true})};
	uint32_t kernel = add_frame(m, (struct batch_example_frame){.function = "schedule",
					       .binary = m->kernel,
					       .address = 0xffffffff81000010,
					       .start = 0xffffffff81000000,
					       .size = 0x100,
					       .level = 'k'});
	uint32_t caller = add_frame(m, (struct batch_example_frame){.function = "main",
					       .line = "a.c:120",
					       .file = "a.c",
					       .binary = m->program,
					       .address = 0x1345,
					       .start = 0x1300,
					       .size = 0x60,
					       .level = '.'});
	uint32_t nameless_start = add_frame(m, (struct batch_example_frame){.binary = m->library,
						       .address = 0xdef,
						       .level = 'u',
						       .line = "lib.c:0",
						       .file = "lib.c",
						       .is_start = true});
	uint32_t wait[] = {kernel, caller, nameless_start};
	uint32_t stacks[] = {profile_builder_stack(m->b, chain, 6), profile_builder_stack(m->b, wait, 3)};
	uint32_t threads[] = {add_thread(m, 10, "worker", "program", 1), add_thread(m, 0, "worker", "program", 2),
		add_thread(m, -1, "", "", 0), add_thread(m, 0, "worker", "program", 1)};
	uint32_t running = add_state(m, PROFILE_STATE_RUNNING, "running"),
		 lock = add_state(m, PROFILE_STATE_LOCK, "lock"), off = add_state(m, PROFILE_STATE_NOT_TOLD, "off-cpu"),
		 none = add_state(m, PROFILE_STATES, "not known");
	for (uint32_t i = 0; i < 4; i++)
		add_sample(m, (struct profile_sample){.event = 0,
				      .thread = threads[i],
				      .leaf = chain[2],
				      .stack = stacks[0],
				      .facets = running,
				      .count = i + 1});
	add_sample(m, (struct profile_sample){.event = 1,
			      .thread = threads[0],
			      .leaf = kernel,
			      .stack = stacks[1],
			      .facets = lock,
			      .count = 5});
	add_sample(m, (struct profile_sample){.event = 1,
			      .thread = threads[0],
			      .leaf = kernel,
			      .stack = stacks[1],
			      .facets = off,
			      .count = 6});
	add_sample(m, (struct profile_sample){.event = 2,
			      .thread = threads[2],
			      .leaf = kernel,
			      .stack = PROFILE_NONE,
			      .facets = none,
			      .count = UINT64_C(1) << 40});
	add_sample(m, (struct profile_sample){.event = 2,
			      .thread = threads[1],
			      .leaf = chain[3],
			      .stack = PROFILE_NONE,
			      .facets = none,
			      .count = 0});
}

struct fleet_batch *batch_example(void)
{
	struct batch_example_maker m = {.b = profile_builder_create()};
	struct fleet_label batch_labels[] = {{STR("region"), STR("eu")}, {STR("host"), STR("h\xc3\xb6st \"1\"")}};
	struct fleet_label first[] = {{STR("service"), STR("api")}, {STR("pod"), STR("")}};
	struct fleet_label second[] = {{STR("service"), STR("db")}};
	struct fleet_labels sets[] = {{0}, {first, 2}, {second, 1}};
	uint32_t set_of_thread[] = {1, 2, 0, 1};
	struct profile *p;
	struct fleet_batch *batch = NULL;
	struct fleet_batch parts = {.id = {1, 2, 0xff, [15] = 9},
		.begin_ns = UINT64_C(1700000000000000000),
		.end_ns = UINT64_C(1700000010000000000),
		.labels = {batch_labels, 2},
		.sets = sets,
		.set_count = 3,
		.set_of_thread = set_of_thread,
		.losses = {1, 2, 3, 4, 5, 19, 0, 0}};
	if (!m.b)
		return NULL;
	profile_builder_keep_facets(m.b, UINT64_C(1) << FACET_STATE);
	(void)add_string(&m, "");
	add_events(&m);
	m.program = add_binary(&m, "program", "/usr/bin/program", "0123456789abcdef0123456789abcdef01234567", false);
	m.library = add_binary(&m, "lib.so", "/usr/lib/lib.so", "", false);
	m.kernel = add_binary(&m, "[kernel.kallsyms]", "[kernel.kallsyms]", "ff", true);
	add_samples(&m);
	if (profile_builder_finish(m.b, &p, NULL) != TALLY_OK)
		return NULL;
	if (fleet_batch_make(&parts, p, &batch, NULL) != TALLY_OK)
		profile_destroy(p);
	return batch;
}

static void print_labels(const struct fleet_labels *labels, struct text *out)
{
	for (size_t i = 0; i < labels->count; i++)
		text_printf(out, " %.*s=%.*s", (int)labels->items[i].name.len, labels->items[i].name.data,
			(int)labels->items[i].value.len, labels->items[i].value.data);
}

static const char *string_of(const struct profile *p, uint32_t id)
{
	return profile_string(p, id).data;
}

static void print_frame(const struct fleet_batch *batch, uint32_t index, struct text *out)
{
	const struct profile *p = batch->profile;
	const struct profile_frame *f = &p->frames[index];
	text_printf(out, "  %llx/%llx %c", (unsigned long long)f->address, (unsigned long long)f->raw_address,
		f->level ? f->level : '?');
	if (f->function != PROFILE_NONE) {
		const struct profile_function *function = &p->functions[f->function];
		text_printf(out, " %s %llx+%llx%s%s", string_of(p, function->name), (unsigned long long)function->start,
			(unsigned long long)function->size, function->is_inlined ? " inlined" : "",
			function->is_start ? " start" : "");
		if (function->binary != f->binary)
			text_str(out, " of another binary");
	}
	if (f->binary != PROFILE_NONE) {
		const struct profile_binary *binary = &p->binaries[f->binary];
		text_printf(out, " in %s (%s) %s%s", string_of(p, binary->name), string_of(p, binary->long_name),
			string_of(p, binary->build_id), binary->is_kernel ? " kernel" : "");
	}
	text_printf(out, "%s [%s|%s][%s|%s]%s\n", f->is_start ? " start" : "", string_of(p, f->own_line.line),
		string_of(p, f->own_line.file), string_of(p, f->innermost_line.line),
		string_of(p, f->innermost_line.file),
		batch->symbols_left_out && batch->symbols_left_out[index] ? " left out" : "");
}

static void print_sample(const struct fleet_batch *batch, const struct profile_sample *s, struct text *out)
{
	const struct profile *p = batch->profile;
	const struct profile_thread *thread = &p->threads[s->thread];
	const struct profile_value *state = profile_facet(p, s->facets, FACET_STATE);
	struct list stack = profile_stack(p, s->stack);
	text_printf(out, "%s %d/%d %s(%s) {%u", string_of(p, p->events[s->event].name), thread->pid, thread->tid,
		string_of(p, thread->comm), string_of(p, thread->process_comm), thread->label_set);
	print_labels(&batch->sets[batch->set_of_thread[s->thread]], out);
	text_printf(out, "} %llu %llu %s\n", (unsigned long long)s->count, (unsigned long long)s->period,
		state ? string_of(p, state->text) : "-");
	print_frame(batch, s->leaf, out);
	text_str(out, s->stack == PROFILE_NONE ? "" : "  stack:\n");
	for (uint32_t i = 0; i < stack.count; i++)
		print_frame(batch, stack.items[i], out);
}

void batch_print(const struct fleet_batch *batch, struct text *out)
{
	const struct fleet_losses *l = &batch->losses;
	for (size_t i = 0; i < FLEET_BATCH_ID_BYTES; i++)
		text_hex(out, batch->id[i], 2);
	text_printf(out, " %llu %llu", (unsigned long long)batch->begin_ns, (unsigned long long)batch->end_ns);
	print_labels(&batch->labels, out);
	text_printf(out, "\nlosses %llu %llu %llu %llu %llu %llu\n", (unsigned long long)l->lost_samples,
		(unsigned long long)l->dropped_batches, (unsigned long long)l->dropped_samples,
		(unsigned long long)l->own_cpu_ns, (unsigned long long)l->own_bytes,
		(unsigned long long)l->frequency_hz);
	for (size_t i = 0; i < batch->profile->event_count; i++) {
		const struct profile_event *event = &batch->profile->events[i];
		text_printf(out, "event %s%s %llu %llu\n", string_of(batch->profile, event->name),
			event->has_callchain ? " chains" : "", (unsigned long long)event->sample_count,
			(unsigned long long)event->total_period);
	}
	for (size_t i = 0; i < batch->profile->sample_count; i++)
		print_sample(batch, &batch->profile->samples[i], out);
}
