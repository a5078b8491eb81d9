/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/simulation/simulation_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/text.h"
#include "kernel/system/kernel_files.h"

#define CACHE_DIR     "/sys/devices/system/cpu/cpu0/cache/index%u/"
#define CACHE_INDEXES 16 /* Upper bound for the number of caches of a CPU. */
/* Limits of the Valgrind tool (simulator/options.c). */
#define SIZE_MOST		   (UINT64_C(1) << 32)
#define WAYS_MOST		   256
#define LINE_LEAST		   16
#define SIMULATION_MODEL_LINE_MOST 4096
#define ENTRIES_MOST		   65536
#define PAGE_LEAST		   4096
#define PAGE_MOST		   (1 << 30)
#define EXAMPLE			   "as in 'i1=32K,8,64:d1=32K,8,64:l2=1M,16,64:ll=32M,16,64:itlb=1536,12,4096:dtlb=1536,12,4096'"

static const struct simulation_part_name {
	struct tally_str name;
	const char *words;
	bool is_tlb;
} part_names[SIMULATION_PARTS] = {
	[SIMULATION_I1] = {STR("i1"), "L1 instruction cache", false},
	[SIMULATION_D1] = {STR("d1"), "L1 data cache", false},
	[SIMULATION_L2] = {STR("l2"), "L2 cache", false},
	[SIMULATION_LL] = {STR("ll"), "last-level cache", false},
	[SIMULATION_ITLB] = {STR("itlb"), "instruction TLB", true},
	[SIMULATION_DTLB] = {STR("dtlb"), "data TLB", true},
};

/* Sizes that are common on servers. Linux does not report the sizes of TLBs: these are as large as the second level
 * of Intel's Skylake and later (1,536 entries, for both), so that a miss is a page walk. */
static const struct simulation_model generic_model = {{
	[SIMULATION_I1] = {32u << 10, 8, 64},
	[SIMULATION_D1] = {32u << 10, 8, 64},
	[SIMULATION_L2] = {1u << 20, 16, 64},
	[SIMULATION_LL] = {32u << 20, 16, 64},
	[SIMULATION_ITLB] = {1536, 12, 4096},
	[SIMULATION_DTLB] = {1536, 12, 4096},
}};

static bool simulation_model_is_power(uint64_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

/* Returns the size of one way of one set: the bytes of a cache line, or one entry of a TLB. */
static uint64_t simulation_model_unit(enum simulation_part_kind kind, const struct simulation_part *part)
{
	return part_names[kind].is_tlb ? 1 : part->line;
}

/* Returns the number of sets, or 0 if the size is not a multiple of the size of a set. */
static uint64_t simulation_model_sets(enum simulation_part_kind kind, const struct simulation_part *part)
{
	uint64_t set = simulation_model_unit(kind, part) * part->ways;
	return set && part->size % set == 0 ? part->size / set : 0;
}

static void simulation_model_size(struct text *t, uint64_t size)
{
	static const char units[] = {'G', 'M', 'K'};
	for (unsigned i = 0; i < ARRAY_LEN(units); i++) {
		uint64_t unit = UINT64_C(1) << (30 - 10 * i);
		if (size && size % unit == 0) {
			text_printf(t, "%llu%c", (unsigned long long)(size / unit), units[i]);
			return;
		}
	}
	text_u64(t, size);
}

/* Appends a part like "ll=32M,16,64". */
static void simulation_model_tell(struct text *t, enum simulation_part_kind kind, const struct simulation_part *part)
{
	text_printf(t, "%s=", part_names[kind].name.data);
	if (part_names[kind].is_tlb)
		text_u64(t, part->size);
	else
		simulation_model_size(t, part->size);
	text_printf(t, ",%llu,%llu", (unsigned long long)part->ways, (unsigned long long)part->line);
}

/* Rounds the number of sets to a power of two, and adapts the number of ways to keep the size nearly the same, as
 * cachegrind does. */
static struct simulation_part simulation_model_rounded(enum simulation_part_kind kind, struct simulation_part part)
{
	uint64_t unit = simulation_model_unit(kind, &part), sets = part.size / unit / part.ways;
	while (!simulation_model_is_power(sets))
		sets &= sets - 1;
	part.ways = (part.size + sets * unit / 2) / (sets * unit);
	part.size = sets * part.ways * unit;
	return part;
}

/* ---- Caches of this machine ---- */

static bool simulation_model_is_possible(enum simulation_part_kind kind, const struct simulation_part *part)
{
	bool is_tlb = part_names[kind].is_tlb;
	if (!simulation_model_is_power(part->line) || part->line < (is_tlb ? PAGE_LEAST : LINE_LEAST) ||
		part->line > (is_tlb ? PAGE_MOST : SIMULATION_MODEL_LINE_MOST))
		return false;
	uint64_t lines = part->size / simulation_model_unit(kind, part);
	return part->ways >= 1 && part->ways <= (is_tlb ? ENTRIES_MOST : WAYS_MOST) && lines >= part->ways &&
	       part->size <= (is_tlb ? ENTRIES_MOST : SIZE_MOST);
}

static uint64_t simulation_model_read_size(const struct kernel_seam *kernel, unsigned index)
{
	char *text;
	uint64_t size = 0;
	if (kernel_text(kernel, &text, NULL, CACHE_DIR "size", index) != TALLY_OK)
		return 0;
	size_t len = strlen(text);
	unsigned shift = len && text[len - 1] == 'K' ? 10 : len && text[len - 1] == 'M' ? 20 : 0;
	bool is_number = str_to_u64((struct tally_str){text, len - (shift != 0)}, 10, &size);
	free(text);
	return is_number && size < UINT64_C(1) << 40 ? size << shift : 0;
}

/* Returns the cache that an index directory of /sys describes, or SIMULATION_PARTS if there is none, or none that is
 * simulated. The last level may become SIMULATION_LL later. */
static enum simulation_part_kind simulation_model_read_kind(
	const struct kernel_seam *kernel, unsigned index, int64_t *level)
{
	char *type;
	*level = kernel_number(kernel, 0, CACHE_DIR "level", index);
	if (*level <= 0 || kernel_text(kernel, &type, NULL, CACHE_DIR "type", index) != TALLY_OK)
		return SIMULATION_PARTS;
	bool is_data = strcmp(type, "Data") == 0, is_code = strcmp(type, "Instruction") == 0;
	free(type);
	if (*level == 1)
		return is_data ? SIMULATION_D1 : is_code ? SIMULATION_I1 : SIMULATION_PARTS;
	return is_data || is_code ? SIMULATION_PARTS : *level == 2 ? SIMULATION_L2 : SIMULATION_LL;
}

static void simulation_model_take(struct simulation_model *model, enum simulation_part_kind kind,
	const struct simulation_part *part, int64_t level, int64_t *last)
{
	if (kind == SIMULATION_PARTS || !simulation_model_is_possible(kind, part) ||
		(kind == SIMULATION_LL && level <= *last))
		return;
	model->parts[kind] = *part;
	if (kind == SIMULATION_LL)
		*last = level;
}

/* Adds caches that the CPU or the C library reports. An unknown number of ways is replaced by that of the generic
 * model. */
static void simulation_model_take_caches(
	struct simulation_model *model, const struct simulation_caches *caches, int64_t *last)
{
	bool has_last = *last > 0;
	for (size_t i = 0; i < caches->count; i++) {
		const struct simulation_cache *cache = &caches->items[i];
		bool is_unified = cache->type == SIMULATION_CACHE_UNIFIED;
		enum simulation_part_kind kind = cache->level == 1 && cache->type == SIMULATION_CACHE_DATA
							 ? SIMULATION_D1
						 : cache->level == 1 && !is_unified ? SIMULATION_I1
						 : !is_unified || cache->level == 1 ? SIMULATION_PARTS
						 : cache->level == 2		    ? SIMULATION_L2
										    : SIMULATION_LL;
		/* Files in /sys are more exact, because they show what the hypervisor assigns to this CPU. */
		if (kind == SIMULATION_PARTS || (model->parts[kind].size > 0 && kind != SIMULATION_LL) ||
			(kind == SIMULATION_LL && has_last))
			continue;
		const struct simulation_part part = {.size = cache->size,
			.ways = cache->ways ? cache->ways : generic_model.parts[kind].ways,
			.line = cache->line ? cache->line : generic_model.parts[kind].line};
		simulation_model_take(model, kind, &part, cache->level, last);
	}
}

/* Reads the caches of this machine. Parts of the model that no source describes stay {0}. */
static struct simulation_model simulation_model_read(
	const struct kernel_seam *kernel, const struct simulation_caches *caches)
{
	struct simulation_model model = {0};
	int64_t last = 0;
	for (unsigned i = 0; i < CACHE_INDEXES; i++) {
		int64_t level;
		enum simulation_part_kind kind = simulation_model_read_kind(kernel, i, &level);
		struct simulation_part part = {.size = simulation_model_read_size(kernel, i),
			.ways = (uint64_t)kernel_number(kernel, 0, CACHE_DIR "ways_of_associativity", i),
			.line = (uint64_t)kernel_number(kernel, 0, CACHE_DIR "coherency_line_size", i)};
		simulation_model_take(&model, kind, &part, level, &last);
	}
	if (caches)
		simulation_model_take_caches(&model, caches, &last);
	if (model.parts[SIMULATION_LL].size == 0) { /* The CPU has only two levels of caches. */
		model.parts[SIMULATION_LL] = model.parts[SIMULATION_L2];
		model.parts[SIMULATION_L2] = (struct simulation_part){0};
	}
	return model;
}

/* Replaces parts (caches and TLBs) that the machine does not report and the command line does not set, rounds their
 * number of sets to a power of two, and adds notes about this. */
static void simulation_model_complete(
	struct simulation_model *model, const bool *is_given, bool has_l2, struct diag *notes)
{
	struct text lacking = {0};
	for (unsigned kind = 0; kind < SIMULATION_PARTS; kind++) {
		struct simulation_part *part = &model->parts[kind];
		bool is_l2 = kind == SIMULATION_L2, is_lacking = part->size == 0 && (!is_l2 || has_l2);
		if (is_given[kind])
			continue;
		if (is_lacking)
			*part = generic_model.parts[kind];
		if (is_lacking && !part_names[kind].is_tlb) {
			text_str(&lacking, lacking.len ? ":" : "");
			simulation_model_tell(&lacking, kind, part);
		}
		if (part->size && !simulation_model_is_power(simulation_model_sets(kind, part))) {
			struct text was = {0}, is = {0};
			simulation_model_tell(&was, kind, part);
			*part = simulation_model_rounded(kind, *part);
			simulation_model_tell(&is, kind, part);
			diag_add(notes, DIAG_NOTE,
				"this machine's %s (%.*s) has a number of sets that is no power of two; simulated is "
				"%.*s, as cachegrind does",
				part_names[kind].words, (int)was.len, was.data ? was.data : "", (int)is.len,
				is.data ? is.data : "");
			text_deinit(&was);
			text_deinit(&is);
		}
	}
	if (lacking.len)
		diag_add(notes, DIAG_NOTE,
			"this machine does not say what its caches are like (/sys/devices/system/cpu/cpu0/cache, "
			"CPUID, sysconf); simulated is %.*s; --cache-model names others",
			(int)lacking.len, lacking.data);
	text_deinit(&lacking);
}

/* ---- The text of --cache-model ---- */

/* Parses 32768, 32K, 1M or 1G. */
static bool simulation_model_parse_size(struct tally_str text, uint64_t *size)
{
	static const char units[] = "KMG";
	const char *unit = text.len ? memchr(units, text.data[text.len - 1] & ~0x20, 3) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	text.len -= unit != NULL;
	if (!str_to_u64(text, 10, size) || *size > UINT64_MAX >> 30)
		return false;
	*size <<= shift;
	return true;
}

static enum tally_status simulation_model_check_sets(
	enum simulation_part_kind kind, const struct simulation_part *part, struct tally_error *err)
{
	struct text better = {0};
	uint64_t sets = simulation_model_sets(kind, part);
	if (simulation_model_is_power(sets))
		return TALLY_OK;
	struct simulation_part rounded = simulation_model_rounded(kind, *part);
	simulation_model_tell(&better, kind, &rounded);
	text_char(&better, '\0');
	enum tally_status status = error_set(err, TALLY_INVALID,
		"--cache-model: the number of sets of %s is size / ways%s, and must be a power of two: '%s' would be "
		"the nearest",
		part_names[kind].name.data, part_names[kind].is_tlb ? "" : " / line", better.failed ? "" : better.data);
	text_deinit(&better);
	return status;
}

static enum tally_status simulation_model_parse_part(
	enum simulation_part_kind kind, struct tally_str value, struct simulation_part *part, struct tally_error *err)
{
	struct tally_str rest = value, words[3];
	struct simulation_part parsed;
	size_t count = 0;
	if (kind == SIMULATION_L2 && str_equal(value, STR("none"))) {
		*part = (struct simulation_part){0};
		return TALLY_OK;
	}
	while (count < ARRAY_LEN(words) && str_next(&rest, ',', &words[count]))
		count++;
	bool is_parsed = count == ARRAY_LEN(words) && rest.len == 0 && !str_ends_with(value, STR(",")) &&
			 simulation_model_parse_size(words[0], &parsed.size) &&
			 str_to_u64(words[1], 10, &parsed.ways) && simulation_model_parse_size(words[2], &parsed.line);
	if (!is_parsed)
		return error_set(err, TALLY_INVALID, "--cache-model: '%s=%.*s' is not %s=%s, " EXAMPLE,
			part_names[kind].name.data, (int)value.len, value.data, part_names[kind].name.data,
			part_names[kind].is_tlb ? "ENTRIES,WAYS,PAGE" : "SIZE,WAYS,LINE");
	if (!simulation_model_is_possible(kind, &parsed))
		return error_set(err, TALLY_INVALID, "--cache-model: '%s=%.*s' is no possible %s: %s",
			part_names[kind].name.data, (int)value.len, value.data, part_names[kind].words,
			part_names[kind].is_tlb ? "it has 1 to 65536 entries, at least one for each way, and a page is "
						  "a power of two from 4096 to 1G"
						: "it has up to 4G and 1 to 256 ways, of which a set fits into it, and "
						  "a line is a power of two from 16 to 4096");
	enum tally_status status = simulation_model_check_sets(kind, &parsed, err);
	if (status == TALLY_OK)
		*part = parsed;
	return status;
}

static enum tally_status simulation_model_parse_item(
	struct tally_str item, struct simulation_model *model, bool *is_given, struct tally_error *err)
{
	const char *sign = memchr(item.data, '=', item.len);
	struct tally_str name = {item.data, sign ? (size_t)(sign - item.data) : item.len};
	struct tally_str value = sign ? (struct tally_str){sign + 1, item.len - name.len - 1} : STR("");
	for (unsigned kind = 0; sign && kind < SIMULATION_PARTS; kind++) {
		if (!str_equal(name, part_names[kind].name))
			continue;
		if (is_given[kind])
			return error_set(
				err, TALLY_INVALID, "--cache-model: %s is given twice", part_names[kind].name.data);
		is_given[kind] = true;
		return simulation_model_parse_part(kind, value, &model->parts[kind], err);
	}
	return error_set(err, TALLY_INVALID,
		"--cache-model: '%.*s' is neither a model (machine, cachegrind, generic), which comes first, nor a "
		"part (i1, d1, l2, ll, itlb, dtlb), " EXAMPLE,
		(int)item.len, item.data);
}

enum tally_status simulation_model_make(const struct kernel_seam *kernel, const struct simulation_caches *caches,
	const char *text, struct simulation_model *model, struct diag *notes, struct tally_error *err)
{
	struct tally_str rest = str_from(text ? text : "machine"), item;
	bool is_given[SIMULATION_PARTS] = {0}, is_first = true, is_two_levels = false, is_generic = false;
	struct simulation_model given = {0}, made;
	if (rest.len == 0 || str_ends_with(rest, STR(":")))
		return error_set(err, TALLY_INVALID, "--cache-model needs a model, " EXAMPLE);
	while (str_next(&rest, ':', &item)) {
		is_generic |= is_first && str_equal(item, STR("generic"));
		is_two_levels |= is_first && str_equal(item, STR("cachegrind"));
		bool is_name = is_first && (is_generic || is_two_levels || str_equal(item, STR("machine")));
		enum tally_status status =
			is_name ? TALLY_OK : simulation_model_parse_item(item, &given, is_given, err);
		if (status != TALLY_OK)
			return status;
		is_first = false;
	}
	made = is_generic ? generic_model : simulation_model_read(kernel, caches);
	/* If the second level is the last, there is no separate L2. A machine that reports nothing gets the generic
	 * L2. */
	bool has_l2 = !is_two_levels &&
		      (made.parts[SIMULATION_L2].size || (!made.parts[SIMULATION_LL].size && !is_given[SIMULATION_LL]));
	if (is_two_levels)
		made.parts[SIMULATION_L2] = (struct simulation_part){0};
	for (unsigned kind = 0; kind < SIMULATION_PARTS; kind++)
		if (is_given[kind])
			made.parts[kind] = given.parts[kind];
	simulation_model_complete(&made, is_given, has_l2, notes);
	*model = made;
	return TALLY_OK;
}

bool simulation_model_option(
	const struct simulation_model *model, enum simulation_part_kind part, char option[SIMULATION_OPTION_BYTES])
{
	const struct simulation_part *p = &model->parts[part];
	if (p->size == 0)
		return false;
	snprintf(option, SIMULATION_OPTION_BYTES, "--%s=%llu,%llu,%llu", part_names[part].name.data,
		(unsigned long long)p->size, (unsigned long long)p->ways, (unsigned long long)p->line);
	return true;
}
