/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/batch_queue_names.h"

#include <inttypes.h>
#include <stdio.h>

#define ID_DIGITS    (2 * FLEET_BATCH_ID_BYTES)
#define BEGIN_DIGITS 20 /* Leading zeros keep the names in order of time. */

static void queue_names_put_key(const struct queue_key *key, struct text *name)
{
	text_u64_padded(name, key->begin_ns, BEGIN_DIGITS);
	text_char(name, '-');
	for (size_t i = 0; i < FLEET_BATCH_ID_BYTES; i++)
		text_hex(name, key->id[i], 2);
}

static void queue_names_put_losses(const struct batch_queue_losses *losses, struct text *name)
{
	text_printf(name, ".%" PRIu64 ".%" PRIu64 ".%" PRIu64, losses->batches, losses->samples, losses->lost_samples);
}

void queue_entry_name(const struct queue_entry *entry, char name[QUEUE_NAME_BYTES])
{
	struct text text = text_over(name, QUEUE_NAME_BYTES);
	const struct batch_queue_item *item = &entry->item;
	struct queue_key key = {.begin_ns = item->begin_ns};
	memcpy(key.id, item->id, sizeof(key.id));
	queue_names_put_key(&key, &text);
	text_printf(&text, ".%" PRIu64 ".%" PRIu64 ".%" PRIu64, item->samples, item->lost_samples, entry->generation);
	queue_names_put_losses(&item->reported, &text);
	text_str(&text, entry->is_packed ? ".batch.zst" : ".batch");
	text_char(&text, '\0');
}

void queue_state_name(const struct queue_state *state, char name[QUEUE_NAME_BYTES])
{
	struct text text = text_over(name, QUEUE_NAME_BYTES);
	text_printf(&text, "losses.%" PRIu64, state->generation);
	queue_names_put_losses(&state->pending, &text);
	text_char(&text, '.');
	queue_names_put_key(&state->counted, &text);
	text_char(&text, '\0');
}

static bool queue_names_take_key(struct tally_str part, struct queue_key *key)
{
	if (part.len != BEGIN_DIGITS + 1 + ID_DIGITS || part.data[BEGIN_DIGITS] != '-' ||
		!str_to_u64((struct tally_str){part.data, BEGIN_DIGITS}, 10, &key->begin_ns))
		return false;
	for (size_t i = 0; i < FLEET_BATCH_ID_BYTES; i++) {
		uint64_t byte;
		if (!str_to_u64((struct tally_str){part.data + BEGIN_DIGITS + 1 + 2 * i, 2}, 16, &byte))
			return false;
		key->id[i] = (uint8_t)byte;
	}
	return true;
}

static bool queue_names_take_numbers(struct tally_str *rest, uint64_t *const *numbers, size_t count)
{
	struct tally_str part;
	for (size_t i = 0; i < count; i++)
		if (!str_next(rest, '.', &part) || !str_to_u64(part, 10, numbers[i]))
			return false;
	return true;
}

/* Accepts only names that are exactly as tally writes them. */
bool queue_entry_parse(const char *name, struct queue_entry *entry)
{
	struct queue_entry read = {.is_packed = str_ends_with(str_from(name), STR(".zst"))};
	struct batch_queue_item *item = &read.item;
	struct tally_str rest = str_from(name), part;
	struct queue_key key;
	char again[QUEUE_NAME_BYTES];
	uint64_t *const numbers[] = {&item->samples, &item->lost_samples, &read.generation, &item->reported.batches,
		&item->reported.samples, &item->reported.lost_samples};
	if (!str_next(&rest, '.', &part) || !queue_names_take_key(part, &key) ||
		!queue_names_take_numbers(&rest, numbers, ARRAY_LEN(numbers)))
		return false;
	item->begin_ns = key.begin_ns;
	memcpy(item->id, key.id, sizeof(item->id));
	queue_entry_name(&read, again);
	if (strcmp(again, name) != 0)
		return false;
	*entry = read;
	return true;
}

bool queue_state_parse(const char *name, struct queue_state *state)
{
	struct queue_state read = {0};
	struct tally_str rest = str_from(name), part;
	char again[QUEUE_NAME_BYTES];
	uint64_t *const numbers[] = {
		&read.generation, &read.pending.batches, &read.pending.samples, &read.pending.lost_samples};
	if (!str_next(&rest, '.', &part) || !queue_names_take_numbers(&rest, numbers, ARRAY_LEN(numbers)) ||
		!str_next(&rest, '.', &part) || !queue_names_take_key(part, &read.counted))
		return false;
	queue_state_name(&read, again);
	if (strcmp(again, name) != 0)
		return false;
	*state = read;
	return true;
}
