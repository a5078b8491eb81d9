/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/trace/trace_sums.h"

#include <math.h>

#include "base/array.h"

void trace_sums_init(struct trace_sums *s)
{
	*s = (struct trace_sums){.keys.words = 2, .error_keys.words = 2};
}

void trace_sums_deinit(struct trace_sums *s)
{
	id_table_deinit(&s->keys);
	vec_free(&s->sums);
	id_table_deinit(&s->error_keys);
	vec_free(&s->errors);
}

static uint32_t trace_sums_find(struct trace_sums *s, const struct trace_sum_key *key)
{
	const uint64_t words[2] = {key->owner, (uint64_t)key->abi << 32 | key->number};
	bool is_new;
	uint32_t id = id_table_add(&s->keys, words, &is_new);
	if (id == ID_TABLE_NONE || !is_new)
		return id;
	struct trace_sum sum = {.key = *key, .least_ns = UINT64_MAX};
	return vec_push(&s->sums, sum) ? id : ID_TABLE_NONE;
}

struct trace_sum *trace_sums_at(struct trace_sums *s, const struct trace_sum_key *key)
{
	uint32_t id = trace_sums_find(s, key);
	return id == ID_TABLE_NONE ? NULL : &s->sums.items[id];
}

bool trace_sums_add(struct trace_sums *s, const struct trace_sum_key *key, uint64_t ns, unsigned error)
{
	struct trace_sum *sum = trace_sums_at(s, key);
	if (!sum)
		return false;
	sum->calls++;
	sum->errors += error != 0;
	if (ns == TRACE_SUMS_UNTIMED) {
		sum->untimed++;
	} else {
		sum->total_ns += ns;
		sum->least_ns = MIN(sum->least_ns, ns);
		sum->most_ns = MAX(sum->most_ns, ns);
		sum->squares += (wide_u128)ns * ns;
	}
	return error == 0 || trace_sums_add_errors(s, key, error, 1);
}

bool trace_sums_add_errors(struct trace_sums *s, const struct trace_sum_key *key, unsigned error, uint64_t calls)
{
	uint32_t id = trace_sums_find(s, key);
	bool is_new;
	if (id == ID_TABLE_NONE)
		return false;
	uint32_t at = id_table_add(&s->error_keys, (const uint64_t[]){id, error}, &is_new);
	struct trace_sum_error made = {.sum = id, .error = error};
	if (at == ID_TABLE_NONE || (is_new && !vec_push(&s->errors, made)))
		return false;
	s->errors.items[at].calls += calls;
	return true;
}

double trace_sum_deviation(const struct trace_sum *sum)
{
	uint64_t n = sum->calls - sum->untimed;
	if (n < 2 || sum->total_ns == 0)
		return 0;
	/*
	 * Squares of long durations that differ little are nearly equal, so squared differences from a number near the
	 * mean are summed: these are small enough for a double. Intermediate overflows cancel out.
	 */
	uint64_t near = sum->total_ns / n;
	wide_u128 off = sum->squares - 2 * (wide_u128)near * sum->total_ns + (wide_u128)n * near * near;
	double count = (double)n, rest = (double)(sum->total_ns - near * n) / count;
	double variance = ((double)off - count * rest * rest) / (count - 1);
	return variance > 0 ? 100 * sqrt(variance / count) / ((double)near + rest) : 0;
}
