/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/stat/stat_shared_programs.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "bpf/bpf_program_counter.h"

#define PROGRAMS_MAX 64

struct stat_shared_programs {
	struct counter_set *set;
	struct bpf_program_counter *counter;
	VEC(size_t) counters; /* Indices into the set's counters, by event of the BPF counter. */
};

static bool stat_shared_programs_has(const uint32_t *ids, size_t count, uint64_t id)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* An ID that is named twice is stored once. */
static bool stat_shared_programs_parse(const char *text, uint32_t ids[PROGRAMS_MAX], size_t *count)
{
	struct tally_str rest = str_from(text), word;
	*count = 0;
	while (str_next(&rest, ',', &word)) {
		uint64_t id;
		if (*count == PROGRAMS_MAX || !str_to_u64(str_trim(word), 10, &id) || id == 0 || id > UINT32_MAX)
			return false;
		if (!stat_shared_programs_has(ids, *count, id))
			ids[(*count)++] = (uint32_t)id;
	}
	return *count > 0;
}

bool stat_shared_programs_are_valid(const char *text)
{
	uint32_t ids[PROGRAMS_MAX];
	size_t count;
	return stat_shared_programs_parse(text, ids, &count);
}

static enum tally_status stat_shared_programs_make(
	struct stat_shared_programs *p, const char *text, struct tally_error *err)
{
	uint32_t ids[PROGRAMS_MAX];
	struct bpf_program_request request = {.ids = ids};
	VEC(struct bpf_counted_event) events = {0};
	bool is_valid = stat_shared_programs_parse(text, ids, &request.id_count), has_room = true;
	for (size_t i = 0; has_room && i < p->set->len; i++) {
		const struct counter *counter = &p->set->counters[i];
		struct bpf_counted_event event = {counter->spec, counter->cpus, counter->cpu_count};
		if (counter->open_count > 0) {
			vec_free(&events);
			return error_set(err, TALLY_UNSUPPORTED,
				"stat --bpf-prog: %s counts whole CPUs, and cannot be counted for a program",
				counter->spec->name);
		}
		if (counter->spec->is_shared)
			has_room = vec_push(&events, event) && vec_push(&p->counters, i);
	}
	request.events = events.items;
	request.event_count = events.len;
	enum tally_status status = TALLY_OK;
	if (!has_room)
		status = error_nomem(err);
	else if (!is_valid)
		status = error_set(err, TALLY_INVALID, "stat --bpf-prog expects IDs of BPF programs");
	else
		status = bpf_program_counter_open(p->set->kernel, &request, &p->counter, err);
	vec_free(&events);
	return status;
}

enum tally_status stat_shared_programs_open(
	struct counter_set *set, const char *ids, struct stat_shared_programs **programs, struct tally_error *err)
{
	struct stat_shared_programs *p = calloc(1, sizeof(*p));
	if (!p)
		return error_nomem(err);
	p->set = set;
	enum tally_status status = stat_shared_programs_make(p, ids, err);
	if (status == TALLY_OK)
		*programs = p;
	else
		stat_shared_programs_close(p);
	return status;
}

void stat_shared_programs_count(struct stat_shared_programs *p, bool is_on)
{
	if (p)
		bpf_program_counter_count(p->counter, is_on);
}

enum tally_status stat_shared_programs_read(struct stat_shared_programs *p, struct tally_error *err)
{
	enum tally_status status = p ? bpf_program_counter_read(p->counter, err) : TALLY_OK;
	for (size_t event = 0; p && status == TALLY_OK && event < p->counters.len; event++) {
		struct counter *counter = &p->set->counters[p->counters.items[event]];
		for (size_t k = 0; k < counter->cpu_count; k++) {
			struct program_counter_reading reading =
				bpf_program_counter_at(p->counter, event, counter->cpus[k]);
			counter->counts[k * counter->thread_count] =
				(struct count){reading.value, reading.enabled_ns, reading.running_ns};
		}
	}
	return status;
}

uint64_t stat_shared_programs_losses(const struct stat_shared_programs *p)
{
	return p ? bpf_program_counter_losses(p->counter) : 0;
}

void stat_shared_programs_close(struct stat_shared_programs *p)
{
	if (!p)
		return;
	bpf_program_counter_close(p->counter);
	vec_free(&p->counters);
	free(p);
}
