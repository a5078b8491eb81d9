/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/annotate/annotate_types.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "code/disasm/disassembler.h"

#define LONGEST_INSTRUCTION 16
#define MNEMONIC_WIDTH	    20

struct access_hit {
	uint64_t offset;
	struct annotate_sum sum;
	uint32_t event; /* Relative to the job's first event. */
};

struct type_samples { /* The samples of one type in one object file. */
	uint32_t store_id;
	const struct dwarf_type *type;
	const char *name;
	uint64_t size;
	VEC(struct access_hit) hits;
	struct annotate_value *totals; /* Indexed by event, from the job's first event on. */
	uint64_t sample_count;
};

struct mnemonic_count {
	char name[INSTRUCTION_MNEMONIC_BYTES];
	uint64_t good, bad;
};

struct collecting {
	const struct annotate_types_job *job;
	VEC(struct type_samples) types;
	VEC(struct mnemonic_count) mnemonics;
	/* Numbers of sampled instructions: by the result of looking up their data types, and those whose type was found
	 * by following values through registers. */
	uint64_t counts[DATA_ACCESS_TYPED + 1], followed;
	struct arena arena;
};

static bool is_good(const struct data_access *access)
{
	return access->kind == DATA_ACCESS_TYPED || access->kind == DATA_ACCESS_STACK;
}

/* Finds the type by name and size, because several compilation units of an object may define it. Returns NULL if out
 * of memory. */
static struct type_samples *annotate_types_type_of(
	struct collecting *c, uint32_t store_id, const struct data_access *access)
{
	for (size_t i = 0; i < c->types.len; i++) {
		struct type_samples *type = &c->types.items[i];
		if (type->store_id == store_id && type->size == access->size && !strcmp(type->name, access->type_name))
			return type;
	}
	struct type_samples made = {.store_id = store_id,
		.type = access->type,
		.name = access->type_name,
		.size = access->size,
		.totals = arena_array(&c->arena, struct annotate_value, c->job->event_count)};
	return made.totals && vec_push(&c->types, made) ? &c->types.items[c->types.len - 1] : NULL;
}

static enum tally_status annotate_types_add_hit(struct collecting *c, const struct annotate_target *target,
	const struct annotate_hit *hit, const struct data_access *access, struct tally_error *err)
{
	struct type_samples *type = annotate_types_type_of(c, target->store_id, access);
	uint32_t event = hit->event - c->job->first_event;
	struct access_hit added = {.offset = access->offset, .sum = hit->sum, .event = event};
	if (!type || !vec_push(&type->hits, added))
		return error_nomem(err);
	type->totals[event].count += hit->sum.count;
	type->totals[event].period += hit->sum.period;
	type->sample_count += hit->sum.count;
	return TALLY_OK;
}

/* Stores the mnemonic of the instruction. Returns false if its code is not available. */
static bool mnemonic_at(struct collecting *c, const struct annotate_target *target, uint64_t address, char *name)
{
	struct binary_code code;
	struct disassembler *disassembler;
	struct instruction instruction;
	if (binary_store_code(c->job->samples->source.store, target->store_id, address, address + LONGEST_INSTRUCTION,
		    &code, NULL) != TALLY_OK ||
		code.bytes.len == 0)
		return false;
	const struct disassembler_options options = {
		.elf_machine = code.elf_machine, .is_big_endian = code.is_big_endian, .is_64 = code.is_64};
	if (disassembler_create(&options, &disassembler, NULL) != TALLY_OK)
		return false;
	disassembler_next(disassembler, code.bytes, code.address, &instruction);
	memcpy(name, instruction.mnemonic, INSTRUCTION_MNEMONIC_BYTES);
	disassembler_destroy(disassembler);
	return true;
}

/* Returns NULL if out of memory. */
static struct mnemonic_count *mnemonic_of(struct collecting *c, const char *name)
{
	struct mnemonic_count made = {.good = 0};
	for (size_t i = 0; i < c->mnemonics.len; i++)
		if (!strcmp(c->mnemonics.items[i].name, name))
			return &c->mnemonics.items[i];
	memcpy(made.name, name, sizeof(made.name));
	return vec_push(&c->mnemonics, made) ? &c->mnemonics.items[c->mnemonics.len - 1] : NULL;
}

/* Counts the instruction that makes the access. If the sampled instruction is a later one of a fused pair, it is
 * listed with a count of 0. */
static enum tally_status count_mnemonic(struct collecting *c, const struct annotate_target *target,
	const struct annotate_hit *hit, const struct data_access *access, struct tally_error *err)
{
	char name[INSTRUCTION_MNEMONIC_BYTES];
	if (access->back_bytes && mnemonic_at(c, target, hit->address, name) && !mnemonic_of(c, name))
		return error_nomem(err);
	if (!mnemonic_at(c, target, hit->address - access->back_bytes, name))
		return TALLY_OK;
	struct mnemonic_count *count = mnemonic_of(c, name);
	if (!count)
		return error_nomem(err);
	*(is_good(access) ? &count->good : &count->bad) += 1;
	return TALLY_OK;
}

static enum tally_status collect_target(
	struct collecting *c, const struct annotate_target *target, struct tally_error *err)
{
	const struct annotate_types_job *job = c->job;
	struct data_access access = {.kind = DATA_ACCESS_NO_INSTRUCTION};
	for (size_t i = 0; i < target->hits.len; i++) {
		const struct annotate_hit *hit = &target->hits.items[i];
		enum tally_status status = TALLY_OK;
		if (hit->event < job->first_event || hit->event - job->first_event >= job->event_count)
			continue;
		bool is_new = i == 0 || target->hits.items[i - 1].address != hit->address ||
			      target->hits.items[i - 1].event < job->first_event;
		if (is_new)
			status = binary_store_data_access(
				job->samples->source.store, target->store_id, hit->address, &access, err);
		if (status == TALLY_OK && is_new) {
			c->counts[access.kind]++;
			c->followed += access.kind == DATA_ACCESS_TYPED && access.is_followed;
			if (job->with_instruction_counts)
				status = count_mnemonic(c, target, hit, &access, err);
		}
		if (status == TALLY_OK && access.kind == DATA_ACCESS_TYPED)
			status = annotate_types_add_hit(c, target, hit, &access, err);
		if (status != TALLY_OK)
			return status;
	}
	return TALLY_OK;
}

static int annotate_types_by_period(const void *left, const void *right)
{
	const struct type_samples *a = left, *b = right;
	if (a->totals[0].period != b->totals[0].period)
		return a->totals[0].period > b->totals[0].period ? -1 : 1;
	int order = strcmp(b->name, a->name);
	return order ? order : COMPARE(a->store_id, b->store_id);
}

static int by_count(const void *left, const void *right)
{
	const struct mnemonic_count *a = left, *b = right;
	uint64_t of_a = a->good + a->bad, of_b = b->good + b->bad;
	return of_a != of_b ? (of_a > of_b ? -1 : 1) : strcmp(a->name, b->name);
}

/* Numbers of sampled instructions with a known data type (good) and without one (bad). */
struct annotate_types_access_counts {
	uint64_t good, bad;
};

static struct annotate_types_access_counts count_accesses(const struct collecting *c)
{
	struct annotate_types_access_counts counts = {
		.good = c->counts[DATA_ACCESS_TYPED] + c->counts[DATA_ACCESS_STACK]};
	for (unsigned i = 0; i < DATA_ACCESS_STACK; i++)
		counts.bad += c->counts[i];
	return counts;
}

/* The reason why an instruction has no data type. */
static const char *const missing[] = {[DATA_ACCESS_NO_INSTRUCTION] = "no_insn",
	[DATA_ACCESS_NO_MEMORY] = "no_mem_ops",
	[DATA_ACCESS_NO_DEBUG_INFO] = "no_dbginfo",
	[DATA_ACCESS_NO_FUNCTION] = "no_cuinfo",
	[DATA_ACCESS_NO_VARIABLE] = "no_var",
	[DATA_ACCESS_NO_TYPE] = "no_typeinfo",
	[DATA_ACCESS_BAD_OFFSET] = "bad_offset"};

static void put_total(struct text *out, uint64_t good, uint64_t bad)
{
	uint64_t total = good + bad;
	text_printf(out, "total %llu, ok %llu (%.1f%%), bad %llu (%.1f%%)\n", (unsigned long long)total,
		(unsigned long long)good, total ? 100.0 * (double)good / (double)total : 0, (unsigned long long)bad,
		total ? 100.0 * (double)bad / (double)total : 0);
}

static void put_type_counts(const struct collecting *c, struct text *out)
{
	struct annotate_types_access_counts counts = count_accesses(c);
	text_str(out, "Annotate data type stats:\n");
	put_total(out, counts.good, counts.bad);
	text_repeat(out, '-', 59);
	text_char(out, '\n');
	for (unsigned i = 0; i < DATA_ACCESS_STACK; i++)
		if (c->counts[i])
			text_printf(out, "%10llu : %s\n", (unsigned long long)c->counts[i], missing[i]);
	if (c->followed)
		text_printf(out, "%10llu : insn_track\n", (unsigned long long)c->followed);
	text_char(out, '\n');
}

static void put_instruction_counts(const struct collecting *c, struct text *out)
{
	uint64_t good = 0, bad = 0;
	for (size_t i = 0; i < c->mnemonics.len; i++) {
		good += c->mnemonics.items[i].good;
		bad += c->mnemonics.items[i].bad;
	}
	text_str(out, "Annotate Instruction stats\n");
	put_total(out, good, bad);
	text_printf(out, "\n  %-*s: %5s %5s\n", MNEMONIC_WIDTH, "Name/opcode", "Good", "Bad");
	text_repeat(out, '-', 59);
	text_char(out, '\n');
	for (size_t i = 0; i < c->mnemonics.len; i++)
		text_printf(out, "  %-*s: %5llu %5llu\n", MNEMONIC_WIDTH, c->mnemonics.items[i].name,
			(unsigned long long)c->mnemonics.items[i].good, (unsigned long long)c->mnemonics.items[i].bad);
	text_char(out, '\n');
}

static void put_counts_json(const struct collecting *c, struct json *j)
{
	struct annotate_types_access_counts counts = count_accesses(c);
	json_object(j, "instructions");
	json_u64(j, "typed", counts.good);
	json_u64(j, "untyped", counts.bad);
	json_u64(j, "followed", c->followed);
	json_object(j, "reasons");
	for (unsigned i = 0; i < DATA_ACCESS_STACK; i++)
		if (c->counts[i])
			json_u64(j, missing[i], c->counts[i]);
	json_object_end(j);
	json_object_end(j);
}

static void put_mnemonics_json(const struct collecting *c, struct json *j)
{
	json_array(j, "mnemonics");
	for (size_t i = 0; i < c->mnemonics.len; i++) {
		json_object(j, NULL);
		json_string(j, "name", str_from(c->mnemonics.items[i].name));
		json_u64(j, "typed", c->mnemonics.items[i].good);
		json_u64(j, "untyped", c->mnemonics.items[i].bad);
		json_object_end(j);
	}
	json_array_end(j);
}

/* Writes the members that precede the types. */
static void annotate_types_begin_json(const struct collecting *c, struct json *j)
{
	const struct annotate_types_job *job = c->job;
	json_object(j, NULL);
	json_array(j, "events");
	for (uint32_t e = 0; e < job->event_count; e++) {
		const struct annotate_sum *all = &job->samples->events[job->first_event + e];
		json_object(j, NULL);
		json_string(j, "name", job->events[e]);
		json_u64(j, "all_samples", all->count);
		json_u64(j, "all_period", all->period);
		json_object_end(j);
	}
	json_array_end(j);
	if (job->with_type_counts)
		put_counts_json(c, j);
	if (job->with_instruction_counts)
		put_mnemonics_json(c, j);
	json_array(j, "types");
}

/* A type such as "struct node" is also selected by "node". */
static bool annotate_types_is_wanted(const struct annotate_types_job *job, const char *name)
{
	const char *blank = strchr(name, ' ');
	bool has_prefix = !strncmp(name, "struct ", 7) || !strncmp(name, "union ", 6) || !strncmp(name, "enum ", 5);
	return !job->name || !*job->name || !strcmp(name, job->name) || (has_prefix && !strcmp(blank + 1, job->name));
}

static void sum_rows(
	const struct type_samples *type, const struct data_type_table *table, struct annotate_value *values)
{
	for (size_t row = 0; row < table->row_count; row++)
		for (size_t i = 0; i < type->hits.len; i++) {
			const struct access_hit *hit = &type->hits.items[i];
			struct annotate_value *value = &values[row * table->event_count + hit->event];
			if (row > 0 && (hit->offset < table->rows[row].offset ||
					       hit->offset - table->rows[row].offset >= table->rows[row].size))
				continue;
			value->count += hit->sum.count;
			value->period += hit->sum.period;
		}
}

static enum tally_status print_type(
	struct collecting *c, const struct type_samples *type, struct text *out, struct tally_error *err)
{
	const struct annotate_types_job *job = c->job;
	struct binary_store *store = job->samples->source.store;
	const struct data_field *fields;
	size_t count;
	enum tally_status status = binary_store_data_fields(store, type->store_id, type->type, &fields, &count, err);
	if (status != TALLY_OK)
		return status;
	struct data_type_row *rows = arena_array(&c->arena, struct data_type_row, count);
	struct annotate_value *values = rows ? arena_alloc_array(&c->arena, count * job->event_count, sizeof(*values),
						       _Alignof(struct annotate_value))
					     : NULL;
	if (!values)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct data_type_row){fields[i].depth, fields[i].type_name, fields[i].name, fields[i].offset,
			fields[i].size, fields[i].has_fields};
	struct tally_str path = binary_store_info(store, type->store_id).path;
	struct data_type_table table = {.name = type->name,
		.file = arena_string(&c->arena, path.data, path.len),
		.sample_count = type->sample_count,
		.events = job->events,
		.event_count = job->event_count,
		.rows = rows,
		.row_count = count,
		.values = values};
	if (!table.file)
		return error_nomem(err);
	sum_rows(type, &table, values);
	if (job->json)
		data_type_json(job->json, &table);
	else
		data_type_text(out, &table, &job->text);
	return TALLY_OK;
}

/* Warns that there is no data type to show. If none is known at all, the recording may be packed and so have no types,
 * or the files may be stripped. */
static void note_none(const struct collecting *c)
{
	struct annotate_types_access_counts counts = count_accesses(c);
	uint64_t total = counts.good + counts.bad, without = c->counts[DATA_ACCESS_NO_DEBUG_INFO];
	if (total == 0)
		return;
	if (c->types.len > 0)
		diag_add(c->job->notes, DIAG_WARNING, "no sampled instruction accesses a '%s'", c->job->name);
	else
		diag_add(c->job->notes, DIAG_WARNING,
			"no data type is known for any of %llu sampled instructions; for %llu of them there is no "
			"debug information here",
			(unsigned long long)total, (unsigned long long)without);
}

static enum tally_status annotate_types_print_types(struct collecting *c, struct text *out, struct tally_error *err)
{
	const struct annotate_types_job *job = c->job;
	enum tally_status status = TALLY_OK;
	if (c->types.len > 0)
		qsort(c->types.items, c->types.len, sizeof(*c->types.items), annotate_types_by_period);
	if (c->mnemonics.len > 0)
		qsort(c->mnemonics.items, c->mnemonics.len, sizeof(*c->mnemonics.items), by_count);
	if (job->json)
		annotate_types_begin_json(c, job->json);
	if (!job->json && job->with_type_counts)
		put_type_counts(c, out);
	if (!job->json && job->with_instruction_counts)
		put_instruction_counts(c, out);
	bool is_any = false;
	for (size_t i = 0; i < c->types.len && status == TALLY_OK; i++)
		if (annotate_types_is_wanted(job, c->types.items[i].name)) {
			status = print_type(c, &c->types.items[i], out, err);
			is_any = true;
		}
	if (!is_any)
		note_none(c);
	if (job->json) {
		json_array_end(job->json);
		json_object_end(job->json);
	}
	return status;
}

enum tally_status annotate_types_print(const struct annotate_types_job *job, struct text *out, struct tally_error *err)
{
	struct collecting c = {.job = job};
	enum tally_status status = TALLY_OK;
	arena_init(&c.arena);
	for (size_t i = 0; i < job->samples->targets.len && status == TALLY_OK; i++)
		status = collect_target(&c, job->samples->targets.items[i], err);
	if (status == TALLY_OK)
		status = annotate_types_print_types(&c, out, err);
	for (size_t i = 0; i < c.types.len; i++)
		vec_free(&c.types.items[i].hits);
	vec_free(&c.types);
	vec_free(&c.mnemonics);
	arena_deinit(&c.arena);
	return status;
}
