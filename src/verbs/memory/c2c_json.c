/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/memory/c2c_json.h"

#include "base/json.h"

#define C2C_JSON_SCHEMA_VERSION 1

static void put_counts(struct json *j, const char *key, const struct access_counts *counts)
{
	static const char *const names[ACCESS_KINDS] = {
		[ACCESS_LOCKED] = "locked",
		[ACCESS_LOAD] = "load",
		[ACCESS_LOAD_UNCACHED] = "load_uncached",
		[ACCESS_LOAD_IO] = "load_io",
		[ACCESS_LOAD_MISS] = "load_miss",
		[ACCESS_LOAD_NO_ADDRESS] = "load_no_address",
		[ACCESS_FILL_BUFFER] = "fill_buffer",
		[ACCESS_L1] = "l1",
		[ACCESS_L2] = "l2",
		[ACCESS_LAST_LEVEL] = "last_level",
		[ACCESS_LOCAL_HITM] = "local_hitm",
		[ACCESS_REMOTE_HITM] = "remote_hitm",
		[ACCESS_REMOTE_HIT] = "remote_hit",
		[ACCESS_LOCAL_DRAM] = "local_dram",
		[ACCESS_REMOTE_DRAM] = "remote_dram",
		[ACCESS_EXCLUSIVE] = "exclusive",
		[ACCESS_SHARED] = "shared",
		[ACCESS_BLOCKED_BY_DATA] = "blocked_by_data",
		[ACCESS_BLOCKED_BY_ADDRESS] = "blocked_by_address",
		[ACCESS_LOCAL_PEER] = "local_peer",
		[ACCESS_REMOTE_PEER] = "remote_peer",
		[ACCESS_STORE] = "store",
		[ACCESS_STORE_UNCACHED] = "store_uncached",
		[ACCESS_STORE_NO_ADDRESS] = "store_no_address",
		[ACCESS_STORE_L1_HIT] = "store_l1_hit",
		[ACCESS_STORE_L1_MISS] = "store_l1_miss",
		[ACCESS_STORE_NO_LEVEL] = "store_no_level",
		[ACCESS_NO_MAPPING] = "no_mapping",
		[ACCESS_UNKNOWN] = "unknown",
	};
	json_object(j, key);
	json_u64(j, "records", counts->samples);
	for (unsigned i = 0; i < ACCESS_KINDS; i++)
		if (counts->n[i])
			json_u64(j, names[i], counts->n[i]);
	json_object_end(j);
}

static void put_nodes(struct json *j, uint64_t nodes)
{
	json_array(j, "memory_nodes");
	for (unsigned node = 0; node < 64; node++)
		if (nodes >> node & 1)
			json_u64(j, NULL, node);
	json_array_end(j);
}

static void put_mean(struct json *j, const char *key, const struct mean *mean)
{
	if (mean->count)
		json_fixed(j, key, mean->value, 2);
}

/* Writes the values that distinguish the row from others. */
static void c2c_json_put_keys(
	struct json *j, const struct c2c_table *t, const struct cache_entry *e, const struct c2c_label *label)
{
	for (size_t i = 0; i < t->key_count; i++) {
		switch (t->keys[i]) {
		case C2C_KEY_PID:
			json_i64(j, "pid", e->pid);
			break;
		case C2C_KEY_TID:
			json_i64(j, "tid", e->tid);
			json_string(j, "comm", str_from(label->comm));
			break;
		case C2C_KEY_IADDR:
			json_hex(j, "code", e->code);
			json_string(j, "symbol", str_from(label->symbol));
			if (!t->without_lines)
				json_string(j, "line", str_from(label->line));
			break;
		case C2C_KEY_DSO:
		case C2C_KEYS:
			break;
		}
	}
	for (size_t i = 0; i < t->key_count; i++)
		if (t->keys[i] == C2C_KEY_DSO || t->keys[i] == C2C_KEY_IADDR) {
			json_string(j, "dso", str_from(label->object));
			return;
		}
}

static void c2c_json_put_entry(struct json *j, const struct c2c_order *order, uint32_t index)
{
	const struct c2c_table *t = order->table;
	const struct cache_entry *e = &t->lines->entries.items[index];
	json_object(j, NULL);
	json_u64(j, "offset", e->offset);
	c2c_json_put_keys(j, t, e, &t->labels[index]);
	put_nodes(j, e->memory_nodes);
	json_u64(j, "physical_addresses", e->physical_count);
	put_counts(j, "accesses", &e->counts);
	json_object(j, "cycles");
	put_mean(j, "remote_hitm", &e->remote_hitm);
	put_mean(j, "local_hitm", &e->local_hitm);
	put_mean(j, "remote_peer", &e->remote_peer);
	put_mean(j, "local_peer", &e->local_peer);
	put_mean(j, "load", &e->load);
	json_object_end(j);
	json_array(j, "cpus");
	for (uint32_t i = order->first_use[index]; i < order->first_use[index + 1]; i++) {
		const struct cache_use *use = &t->lines->uses.items[order->uses[i]];
		if (use->cpu == CACHE_NO_CPU)
			continue;
		json_object(j, NULL);
		json_u64(j, "cpu", use->cpu);
		if (use->cpu < t->cpu_count && t->cpu_nodes[use->cpu] >= 0)
			json_i64(j, "node", t->cpu_nodes[use->cpu]);
		json_u64(j, "hitms", use->hitms);
		json_u64(j, "peers", use->peers);
		json_u64(j, "stores", use->stores);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
	(void)text_line_end(j->out);
}

static void c2c_json_put_line(struct json *j, const struct c2c_order *order, uint32_t index)
{
	const struct c2c_table *t = order->table;
	const struct cache_line *line = &t->lines->lines.items[index];
	uint64_t displayed = c2c_displayed(t, &line->counts);
	json_object(j, NULL);
	json_hex(j, "address", line->address);
	put_nodes(j, line->memory_nodes);
	json_u64(j, "physical_addresses", line->physical_count);
	json_fixed(j, "percent", order->displayed ? 100.0 * (double)displayed / (double)order->displayed : 0, 4);
	put_counts(j, "accesses", &line->counts);
	json_array(j, "offsets");
	for (uint32_t i = order->first_entry[index]; i < order->first_entry[index + 1]; i++)
		if (c2c_entry_is_shown(t, &t->lines->entries.items[order->entries[i]]))
			c2c_json_put_entry(j, order, order->entries[i]);
	json_array_end(j);
	json_object_end(j);
}

bool c2c_json(const struct c2c_table *table, const char *path, struct text *out)
{
	static const char *const orders[] = {"tot", "lcl", "rmt", "peer"};
	struct c2c_order order;
	struct access_counts shared;
	struct json j = {.out = out};
	bool is_done = c2c_order_init(&order, table);
	json_object(&j, NULL);
	json_u64(&j, "schema", C2C_JSON_SCHEMA_VERSION);
	json_string(&j, "path", str_from(path));
	json_u64(&j, "line_bytes", table->lines->options.line_bytes);
	json_array(&j, "events");
	for (size_t i = 0; i < table->event_count; i++)
		json_string(&j, NULL, table->event_names[i]);
	json_array_end(&j);
	put_counts(&j, "all", &table->lines->total);
	json_u64(&j, "shared_lines", c2c_shared_lines(table, &shared));
	put_counts(&j, "shared", &shared);
	json_string(&j, "display", str_from(orders[table->display]));
	if (is_done && !table->only_stats) {
		json_array(&j, "lines");
		for (size_t i = 0; i < order.line_count; i++)
			c2c_json_put_line(&j, &order, order.lines[i]);
		json_array_end(&j);
	}
	json_object_end(&j);
	c2c_order_deinit(&order);
	return is_done && !out->failed;
}
