/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_maker.h"

#include <stdio.h>
#include <stdlib.h>

#include "fleet/batch_locations.h"
#include "profile/profile_builder.h"
#include "profile_text.h"
#include "unit_test.h"

#define MAX_SETS 16

struct recipe_labels {
	struct fleet_label items[LABELS_MAX];
	size_t count;
};

static void recipe_read_labels(char *text, const char *separators, struct recipe_labels *to)
{
	for (char *word; text && (word = strsep(&text, separators));) {
		char *equals = strchr(word, '=');
		if (!*word)
			continue;
		assert_non_null(equals);
		*equals = '\0';
		assert_true(to->count < LABELS_MAX);
		to->items[to->count++] = (struct fleet_label){str_from(word), str_from(equals + 1)};
	}
}

static uint32_t recipe_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static uint32_t recipe_string(struct profile_builder *b, const char *text)
{
	return profile_builder_string(b, str_from(text));
}

/* Makes the frame of one function of binary "bin" or "libN.so". Functions are 16 bytes long; inlined frames have odd
 * numbers. */
static uint32_t recipe_frame(struct profile_builder *b, unsigned number, bool has_symbols, bool is_inlined)
{
	char name[32], line[32], build_id[48];
	unsigned library = number % 3;
	snprintf(build_id, sizeof(build_id), "%040u", library + 1);
	snprintf(name, sizeof(name), library ? "lib%u.so" : "bin", library);
	uint32_t binary = profile_builder_binary(b, &(struct profile_binary){.name = recipe_string(b, name),
							    .long_name = recipe_string(b, name),
							    .build_id = recipe_string(b, build_id)});
	struct profile_frame frame = {.function = PROFILE_NONE,
		.binary = binary,
		.address = 0x1000 + number * 16 + 4,
		.level = PROFILE_LEVEL_USER,
		.own_line = {recipe_string(b, ""), recipe_string(b, "")}};
	if (has_symbols) {
		snprintf(name, sizeof(name), is_inlined ? "inlined%u" : "f%u", number);
		frame.function = profile_builder_function(b, &(struct profile_function){.name = recipe_string(b, name),
								     .binary = binary,
								     .start = is_inlined ? 0 : 0x1000 + number * 16,
								     .size = is_inlined ? 0 : 16,
								     .is_inlined = is_inlined});
		snprintf(line, sizeof(line), "f%u.c:%u", number, number + 1);
		frame.own_line.line = recipe_string(b, line);
		*strchr(line, ':') = '\0';
		frame.own_line.file = recipe_string(b, line);
	}
	frame.innermost_line = frame.own_line;
	return profile_builder_frame(b, &frame);
}

static struct profile *recipe_random_profile(const struct batch_recipe *recipe)
{
	static const char *const comms[] = {"api", "db", "worker", "idle"};
	uint32_t random = recipe->seed;
	struct profile_builder *b = profile_builder_create();
	struct profile *profile;
	profile_builder_keep_facets(b, UINT64_C(1) << FACET_STATE);
	for (int i = 0; i < 2; i++)
		profile_builder_event(b, &(struct profile_event){.name = recipe_string(b, i ? "cycles" : "wall-clock"),
						 .has_callchain = true});
	for (unsigned i = 0; i < recipe->samples; i++) {
		unsigned kind = recipe_random(&random) % 100, depth = 2 + kind % 20;
		uint32_t frames[64];
		size_t count = 0;
		for (unsigned k = depth; k-- > 0;) {
			unsigned number = (kind >> (k / 2)) % 97 + k * 7;
			if (number % 5 == 0 && !recipe->leaves_out)
				frames[count++] = recipe_frame(b, number, true, true);
			frames[count++] = recipe_frame(b, number, !recipe->leaves_out, false);
		}
		unsigned comm = recipe_random(&random) % ARRAY_LEN(comms), tid = recipe_random(&random) % 5;
		uint32_t name = recipe_string(b, comms[comm]);
		struct profile_thread thread = {.pid = (int32_t)(100 + comm),
			.tid = (int32_t)(100 * comm + tid),
			.comm = name,
			.last_comm = name,
			.process_comm = name};
		uint32_t event = recipe_random(&random) % 4 == 0;
		struct profile_value state = {.number = event ? PROFILE_STATES : recipe_random(&random) % 3,
			.text = PROFILE_NONE,
			.frame = PROFILE_NONE};
		profile_builder_sample(b, &(struct profile_sample){.event = event,
						  .thread = profile_builder_thread(b, &thread),
						  .leaf = frames[0],
						  .stack = profile_builder_stack(b, frames, count),
						  .cpu = -1,
						  .facets = profile_builder_facets(b, &state),
						  .count = 1,
						  .period = 52631579 + recipe_random(&random) % 1000,
						  .first_order = i});
	}
	assert_int_equal(profile_builder_finish(b, &profile, NULL), TALLY_OK);
	return profile;
}

struct fleet_batch *batch_make(const struct batch_recipe *recipe)
{
	struct profile *p = recipe->profile ? profile_from_text(recipe->profile) : recipe_random_profile(recipe);
	char *labels_text = strdup(recipe->labels ? recipe->labels : ""), *rest;
	char *sets_text = strdup(recipe->sets ? recipe->sets : "");
	struct recipe_labels labels = {.count = 0};
	static struct recipe_labels set_labels[MAX_SETS];
	struct fleet_labels sets[MAX_SETS] = {{NULL, 0}};
	const char *comms[MAX_SETS] = {NULL};
	size_t set_count = 1;
	recipe_read_labels(labels_text, " ", &labels);
	rest = sets_text;
	for (char *word; (word = strsep(&rest, " "));) {
		char *colon = strchr(word, ':');
		if (!colon)
			continue;
		*colon = '\0';
		assert_true(set_count < MAX_SETS);
		set_labels[set_count].count = 0;
		recipe_read_labels(colon + 1, ",", &set_labels[set_count]);
		comms[set_count] = word;
		sets[set_count] = (struct fleet_labels){set_labels[set_count].items, set_labels[set_count].count};
		set_count++;
	}
	uint32_t *set_of_thread = calloc(p->thread_count + 1, sizeof(*set_of_thread));
	bool *left_out = calloc(p->frame_count + 1, sizeof(*left_out));
	for (size_t i = 0; i < p->thread_count; i++)
		for (uint32_t k = 1; k < set_count; k++)
			if (str_equal(profile_string(p, p->threads[i].comm), str_from(comms[k])))
				set_of_thread[i] = k;
	for (size_t i = 0; i < p->frame_count; i++)
		left_out[i] = recipe->leaves_out;
	struct fleet_batch parts = {.begin_ns = recipe->begin_ns,
		.end_ns = recipe->begin_ns + 10,
		.labels = {labels.items, labels.count},
		.sets = sets,
		.set_count = set_count,
		.set_of_thread = set_of_thread,
		.symbols_left_out = recipe->leaves_out ? left_out : NULL,
		.losses = {.lost_samples = recipe->lost_samples}};
	memcpy(parts.id, &recipe->number, sizeof(recipe->number));
	struct fleet_batch *batch = NULL;
	struct tally_error err = {0};
	if (fleet_batch_make(&parts, p, &batch, &err) != TALLY_OK)
		fail_msg("%s", err.text);
	free(labels_text);
	free(sets_text);
	free(set_of_thread);
	free(left_out);
	return batch;
}

/* Appends the labels of the batch and of the thread, sorted by name. */
static void batch_lines_labels(struct text *text, const struct fleet_batch *batch, uint32_t thread)
{
	struct fleet_label all[2 * LABELS_MAX];
	const struct fleet_labels *own = &batch->sets[batch->set_of_thread[thread]];
	struct fleet_labels sorted;
	size_t count = 0;
	for (size_t i = 0; i < own->count; i++)
		all[count++] = own->items[i];
	for (size_t i = 0; i < batch->labels.count; i++)
		if (!fleet_labels_find(own, batch->labels.items[i].name))
			all[count++] = batch->labels.items[i];
	assert_int_equal(fleet_labels_make(all, count, &sorted, NULL), TALLY_OK);
	for (size_t i = 0; i < sorted.count; i++)
		text_printf(text, "%.*s=%.*s ", (int)sorted.items[i].name.len, sorted.items[i].name.data,
			(int)sorted.items[i].value.len, sorted.items[i].value.data);
}

static void batch_lines_location(struct text *text, const struct profile *p, const struct batch_location *location)
{
	struct tally_str binary =
		location->binary == PROFILE_NONE ? STR("-") : profile_string(p, p->binaries[location->binary].name);
	struct tally_str build_id =
		location->binary == PROFILE_NONE ? STR("") : profile_string(p, p->binaries[location->binary].build_id);
	text_printf(text, " %.*s(%.*s)+%llx%c", (int)binary.len, binary.data, (int)build_id.len, build_id.data,
		(unsigned long long)location->address, location->level ? location->level : '?');
	for (uint32_t i = 0; i < location->frame_count; i++) {
		const struct profile_frame *frame = &p->frames[location->frames[i]];
		if (frame->function == PROFILE_NONE)
			continue;
		const struct profile_function *function = &p->functions[frame->function];
		struct tally_str name = profile_string(p, function->name);
		struct profile_line line = profile_frame_line(p, frame);
		text_printf(text, "/%.*s[%llx,%llx,%d%d]%.*s:%llu", (int)name.len, name.data,
			(unsigned long long)function->start, (unsigned long long)function->size, function->is_inlined,
			function->is_start, (int)line.file.len, line.file.data, (unsigned long long)line.number);
	}
}

void batch_lines_add(struct batch_lines *lines, const struct fleet_batch *batch, bool by_thread)
{
	const struct profile *p = batch->profile;
	struct batch_locations found = {0};
	for (size_t i = 0; i < p->sample_count; i++) {
		const struct profile_sample *s = &p->samples[i];
		const struct profile_thread *thread = &p->threads[s->thread];
		struct text text = {0};
		struct tally_str event = profile_string(p, p->events[s->event].name);
		struct tally_str comm = profile_string(p, thread->comm);
		struct tally_str process = profile_string(p, thread->process_comm);
		const struct profile_value *state = profile_facet(p, s->facets, FACET_STATE);
		text_printf(&text, "%.*s ", (int)event.len, event.data);
		batch_lines_labels(&text, batch, s->thread);
		text_printf(&text, "%.*s/%.*s %d/%d s%d", (int)process.len, process.data, (int)comm.len, comm.data,
			by_thread ? thread->pid : 0, by_thread ? thread->tid : 0,
			state && state->number < PROFILE_STATES ? (int)state->number : -1);
		assert_true(batch_locations_find(p, s, &found));
		for (size_t k = 0; k < found.list.len; k++)
			batch_lines_location(&text, p, &found.list.items[k]);
		text_char(&text, '\0');
		assert_true(vec_push(&lines->list, ((struct batch_line){text.data, s->count, s->period})));
	}
	vec_free(&found.list);
}

static int batch_lines_compare(const void *left, const void *right)
{
	return strcmp(((const struct batch_line *)left)->key, ((const struct batch_line *)right)->key);
}

char *batch_lines_text(struct batch_lines *lines)
{
	struct text text = {0};
	if (lines->list.len > 1)
		qsort(lines->list.items, lines->list.len, sizeof(*lines->list.items), batch_lines_compare);
	for (size_t i = 0, end; i < lines->list.len; i = end) {
		uint64_t count = 0, value = 0;
		for (end = i; end < lines->list.len && !strcmp(lines->list.items[end].key, lines->list.items[i].key);
			end++) {
			count += lines->list.items[end].count;
			value += lines->list.items[end].value;
		}
		text_printf(&text, "%llu %llu %s\n", (unsigned long long)count, (unsigned long long)value,
			lines->list.items[i].key);
	}
	text_char(&text, '\0');
	return text.data;
}

void batch_lines_free(struct batch_lines *lines)
{
	for (size_t i = 0; i < lines->list.len; i++)
		free(lines->list.items[i].key);
	vec_free(&lines->list);
}
