/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/debug_info.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "base/thread_pool.h"
#include "object/dwarf/dwarf_budget.h"
#include "object/dwarf/dwarf_declaration.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_functions.h"
#include "object/dwarf/dwarf_lines.h"
#include "object/dwarf/dwarf_package.h"
#include "object/dwarf/dwarf_ranges.h"

#define NO_UNIT UINT32_MAX

struct unit_code {
	struct dwarf_lines lines;
	struct dwarf_functions functions;
	struct elf_image *split_image;
	struct dwarf_file *split; /* File with the entries of the functions; NULL if that is the program's own file. */
	struct dwarf_unit split_unit; /* Copy of the unit in split, with the attributes that only its skeleton has. */
	struct dwarf_location_lists packaged; /* Location lists of a split unit in the package. */
	bool is_wanted, is_loaded, is_split_missing;
	bool is_split_other; /* A file with the right name exists, but it belongs to another build or is damaged. */
	bool is_out_of_memory;
};

struct debug_info {
	struct debug_info_options options;
	struct dwarf_file *file, *supplement;
	struct dwarf_package *package; /* NULL if there is no package or it is damaged. */
	VEC(struct debug_unit_range) ranges; /* Sorted by low. */
	struct unit_code *codes; /* Indexed by the number of the unit. */
	uint64_t damaged; /* Number of damaged units among the loaded ones. */
	struct debug_missing_splits missing;
	uint32_t first_missing; /* Lowest number of the units in missing; valid only if missing.units > 0. */
};

static bool add_unit_ranges(struct debug_info *info, uint32_t index)
{
	const struct dwarf_unit *unit = &info->file->units.items[index];
	if (unit->ranges_form == DWARF_NONE)
		return unit->low_pc == 0 || unit->low_pc >= unit->high_pc ||
		       vec_push(
			       &info->ranges, ((struct debug_unit_range){unit->low_pc, unit->high_pc, index, NO_UNIT}));
	struct dwarf_ranges ranges;
	struct debug_unit_range r = {.unit = index};
	dwarf_ranges_list(&ranges, info->file, unit, (enum dwarf_class)unit->ranges_form, unit->ranges);
	while (dwarf_ranges_next(&ranges, &r.low, &r.high))
		if (!dwarf_spend(info->file, DWARF_COST_RANGE))
			break;
		else if (r.low != 0 && !vec_push(&info->ranges, r))
			return false;
	return true;
}

static int debug_info_by_low(const void *a, const void *b)
{
	const struct debug_unit_range *left = a;
	const struct debug_unit_range *right = b;
	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	return COMPARE(left->unit, right->unit);
}

static bool index_units(struct debug_info *info)
{
	size_t count = info->file->units.len;
	info->codes = calloc(count ? count : 1, sizeof(*info->codes));
	if (!info->codes)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!add_unit_ranges(info, (uint32_t)i))
			return false;
	if (info->ranges.len >= NO_UNIT)
		return false;
	if (info->ranges.len)
		qsort(info->ranges.items, info->ranges.len, sizeof(*info->ranges.items), debug_info_by_low);
	uint32_t open = NO_UNIT;
	for (uint32_t i = 0; i < info->ranges.len; i++) {
		while (open != NO_UNIT && info->ranges.items[open].high <= info->ranges.items[i].low)
			open = info->ranges.items[open].enclosing;
		info->ranges.items[i].enclosing = open;
		open = i;
	}
	return true;
}

enum tally_status debug_info_open(const struct elf_image *image, const struct debug_info_options *options,
	struct debug_info **out, struct tally_error *err)
{
	struct debug_info *info = calloc(1, sizeof(*info));
	if (!info)
		return error_nomem(err);
	info->options = *options;
	enum tally_status status = TALLY_OK;
	if (options->supplement)
		status = dwarf_file_open(options->supplement, NULL, &info->supplement, err);
	if (status != TALLY_NOMEM) /* A damaged supplement is handled like a missing one. */
		status = dwarf_file_open(image, info->supplement, &info->file, err);
	if (status == TALLY_OK && options->package &&
		dwarf_package_open(options->package, &info->package, err) == TALLY_NOMEM)
		status = TALLY_NOMEM;
	if (status == TALLY_OK && !index_units(info))
		status = error_nomem(err);
	if (status != TALLY_OK) {
		debug_info_close(info);
		return status;
	}
	*out = info;
	return TALLY_OK;
}

void debug_info_close(struct debug_info *info)
{
	if (!info)
		return;
	for (size_t i = 0; info->codes && i < info->file->units.len; i++) {
		dwarf_lines_deinit(&info->codes[i].lines);
		dwarf_functions_deinit(&info->codes[i].functions);
		dwarf_file_close(info->codes[i].split);
		elf_image_close(info->codes[i].split_image);
	}
	free(info->codes);
	vec_free(&info->ranges);
	dwarf_package_close(info->package);
	dwarf_file_close(info->file);
	dwarf_file_close(info->supplement);
	free(info);
}

/* Returns the unit of the last range that begins at or below the address and covers it. */
static uint32_t debug_info_unit_at(const struct debug_info *info, uint64_t address)
{
	size_t low;
	LOWER_BOUND(low, info->ranges.len, middle, info->ranges.items[middle].low <= address);
	uint32_t i = low ? (uint32_t)(low - 1) : NO_UNIT;
	for (unsigned step = 0; i != NO_UNIT && step < DWARF_OVERLAPPING_RANGES;
		i = info->ranges.items[i].enclosing, step++)
		if (address < info->ranges.items[i].high)
			return info->ranges.items[i].unit;
	return NO_UNIT;
}

/* Finds the unit in the .dwo file that the skeleton represents, and adds the attributes that only the skeleton has. */
static bool find_split_unit(const struct dwarf_file *split, const struct dwarf_unit *skeleton, struct dwarf_unit *unit)
{
	for (size_t i = 0; i < split->units.len; i++) {
		if (split->units.items[i].dwo_id != skeleton->dwo_id)
			continue;
		*unit = split->units.items[i];
		unit->addr_base = skeleton->addr_base;
		unit->base = skeleton->base;
		if (unit->version < 5)
			unit->ranges_base = skeleton->ranges_base;
		return true;
	}
	return false;
}

/* Tries all places where the .dwo file may be, because a file with the right name may belong to another build. */
static enum tally_status debug_info_open_split(
	const struct debug_info *info, struct unit_code *code, const struct dwarf_unit *skeleton)
{
	for (unsigned place = 0; info->options.open_split && place < DEBUG_INFO_SPLIT_PLACES; place++) {
		struct dwarf_file *split = NULL;
		struct elf_image *image =
			info->options.open_split(info->options.context, skeleton->comp_dir, skeleton->dwo_name, place);
		if (!image)
			continue;
		enum tally_status status = dwarf_file_open_split(image, info->file, &split, NULL);
		if (status == TALLY_OK && find_split_unit(split, skeleton, &code->split_unit)) {
			code->split = split;
			code->split_image = image;
			return TALLY_OK;
		}
		if (status == TALLY_OK)
			dwarf_file_close(split);
		elf_image_close(image);
		if (status == TALLY_NOMEM)
			return status;
		code->is_split_other = true;
	}
	return TALLY_NOT_FOUND;
}

/* Searches the program's package, then separate .dwo files. Returns TALLY_NOT_FOUND if neither has the unit. */
static enum tally_status find_split(
	const struct debug_info *info, struct unit_code *code, const struct dwarf_unit *skeleton)
{
	struct dwarf_file *split;
	enum tally_status status =
		info->package ? dwarf_package_unit(info->package, skeleton->dwo_id, info->file, &split, NULL)
			      : TALLY_NOT_FOUND;
	if (status == TALLY_OK && find_split_unit(split, skeleton, &code->split_unit)) {
		code->split = split;
		dwarf_package_lists(info->package, skeleton->dwo_id, &code->packaged);
		return TALLY_OK;
	}
	if (status == TALLY_OK)
		dwarf_file_close(split);
	return status == TALLY_NOMEM ? status : debug_info_open_split(info, code, skeleton);
}

static enum tally_status load_functions(const struct debug_info *info, struct unit_code *code,
	struct dwarf_reader *reader, const struct dwarf_unit *unit)
{
	if (!unit->is_skeleton)
		return dwarf_functions_read(&code->functions, reader, info->file, unit, NULL);
	enum tally_status status = find_split(info, code, unit);
	code->is_split_missing = status == TALLY_NOT_FOUND;
	if (status == TALLY_OK)
		status = dwarf_functions_read(&code->functions, reader, code->split, &code->split_unit, NULL);
	return code->is_split_missing ? TALLY_OK : status;
}

struct debug_info_load {
	struct debug_info *info;
	const uint32_t *units;
};

static void load_unit(void *context, size_t index, unsigned worker)
{
	const struct debug_info_load *load = context;
	uint32_t unit_index = load->units[index];
	struct unit_code *code = &load->info->codes[unit_index];
	const struct dwarf_unit *unit = &load->info->file->units.items[unit_index];
	struct dwarf_reader reader;
	(void)worker;
	dwarf_reader_init(&reader);
	enum tally_status status = dwarf_lines_read(&code->lines, &reader, load->info->file, unit, NULL);
	if (status == TALLY_OK)
		status = load_functions(load->info, code, &reader, unit);
	code->is_loaded = status == TALLY_OK;
	code->is_out_of_memory = status == TALLY_NOMEM;
	dwarf_reader_deinit(&reader);
}

/* Retains the unit with the lowest number as the first missing one, so that the result does not depend on the order of
 * loading. */
static void note_missing_split(struct debug_info *info, uint32_t unit)
{
	const struct dwarf_unit *skeleton = &info->file->units.items[unit];
	if (info->missing.units++ > 0 && unit > info->first_missing)
		return;
	info->first_missing = unit;
	info->missing.directory = skeleton->comp_dir;
	info->missing.name = skeleton->dwo_name;
	info->missing.is_other = info->codes[unit].is_split_other;
}

enum tally_status debug_info_load(
	struct debug_info *info, const uint64_t *addresses, size_t count, unsigned threads, struct tally_error *err)
{
	VEC(uint32_t) units = {0};
	enum tally_status status = TALLY_OK;
	for (size_t i = 0; i < count && status == TALLY_OK; i++) {
		uint32_t unit = debug_info_unit_at(info, addresses[i]);
		if (unit == NO_UNIT || info->codes[unit].is_wanted)
			continue;
		info->codes[unit].is_wanted = true;
		if (!vec_push(&units, unit))
			status = error_nomem(err);
	}
	if (status == TALLY_OK) {
		struct debug_info_load load = {.info = info, .units = units.items};
		thread_pool_for(units.len, threads, load_unit, &load);
		for (size_t i = 0; i < units.len; i++) {
			const struct unit_code *code = &info->codes[units.items[i]];
			info->damaged += code->lines.is_damaged || code->functions.is_damaged;
			if (code->is_split_missing)
				note_missing_split(info, units.items[i]);
			if (code->is_out_of_memory)
				status = error_nomem(err);
		}
	}
	vec_free(&units);
	return status;
}

size_t debug_info_find(const struct debug_info *info, uint64_t address, struct debug_place *places, size_t max)
{
	uint32_t unit = debug_info_unit_at(info, address);
	size_t count = 0;
	if (unit == NO_UNIT || !info->codes[unit].is_loaded || max == 0)
		return 0;
	const struct unit_code *code = &info->codes[unit];
	const struct dwarf_line_row *row = dwarf_lines_find(&code->lines, address);
	struct debug_place place = {.unit = unit, .file = DWARF_NO_FILE};
	if (row) {
		place.file = row->file;
		place.line = row->line;
		place.discriminator = row->discriminator;
	}
	uint32_t f = dwarf_functions_find(&code->functions, address);
	while (f != DWARF_NO_FUNCTION && count < max) {
		const struct dwarf_function *function = &code->functions.functions.items[f];
		place.function = function->entry;
		place.is_inlined = function->caller != DWARF_NO_FUNCTION;
		places[count++] = place;
		place.file = function->call_line ? function->call_file : DWARF_NO_FILE;
		place.line = function->call_line;
		place.discriminator = 0;
		f = function->caller;
	}
	if (count == 0 && row)
		places[count++] = place;
	return count;
}

bool debug_info_function(const struct debug_info *info, uint64_t address, struct debug_function *function)
{
	uint32_t unit = debug_info_unit_at(info, address);
	if (unit == NO_UNIT || !info->codes[unit].is_loaded)
		return false;
	const struct unit_code *code = &info->codes[unit];
	const struct dwarf_functions *all = &code->functions;
	uint32_t f = dwarf_functions_find(all, address);
	while (f != DWARF_NO_FUNCTION && all->functions.items[f].caller != DWARF_NO_FUNCTION)
		f = all->functions.items[f].caller;
	const struct dwarf_code_range *range = f != DWARF_NO_FUNCTION ? dwarf_functions_range(all, f, address) : NULL;
	if (!range)
		return false;
	*function = (struct debug_function){.file = code->split ? code->split : info->file,
		.unit = code->split ? &code->split_unit : &info->file->units.items[unit],
		.entry = all->functions.items[f].entry,
		.low = range->low,
		.high = range->high,
		.split_image = code->split_image,
		.packaged = code->split && !code->split_image ? &code->packaged : NULL};
	return true;
}

const struct dwarf_file *debug_info_file(const struct debug_info *info)
{
	return info->file;
}

struct tally_str debug_info_name(
	const struct debug_info *info, struct dwarf_reader *reader, const struct debug_place *place)
{
	const struct dwarf_file *split = info->codes[place->unit].split;
	if (place->function == 0)
		return (struct tally_str){NULL, 0};
	struct tally_str name = dwarf_function_name(reader, split ? split : info->file, place->function);
	if (name.len > DWARF_LONG_TEXT && !dwarf_spend(info->file, DWARF_COST_COPIED_BYTE * (uint64_t)name.len))
		return (struct tally_str){NULL, 0};
	return name;
}

const char *debug_info_path(const struct debug_info *info, const struct debug_place *place, struct arena *arena)
{
	if (place->file == DWARF_NO_FILE)
		return NULL;
	const char *path = dwarf_lines_path(&info->codes[place->unit].lines, place->file, arena);
	size_t length = path ? strlen(path) : 0;
	if (length > DWARF_LONG_TEXT && !dwarf_spend(info->file, DWARF_COST_COPIED_BYTE * (uint64_t)length))
		return NULL;
	return path;
}

const struct debug_unit_range *debug_info_ranges(const struct debug_info *info, size_t *count)
{
	*count = info->ranges.len;
	return info->ranges.items;
}

uint32_t debug_info_unit_count(const struct debug_info *info)
{
	return (uint32_t)info->file->units.len;
}

bool debug_info_unit(const struct debug_info *info, uint32_t unit, struct debug_unit *out)
{
	const struct unit_code *code = &info->codes[unit];
	if (!code->is_loaded || code->is_split_missing || code->lines.is_damaged || code->functions.is_damaged)
		return false;
	*out = (struct debug_unit){.lines = &code->lines,
		.functions = &code->functions,
		.file = code->split ? code->split : info->file,
		.unit = code->split ? &code->split_unit : &info->file->units.items[unit],
		.split_image = code->split_image,
		.packaged = code->split && !code->split_image ? &code->packaged : NULL};
	return true;
}

uint64_t debug_info_damaged(const struct debug_info *info)
{
	return info->file->damaged + info->damaged;
}

struct debug_missing_splits debug_info_missing_splits(const struct debug_info *info)
{
	return info->missing;
}

bool debug_info_package_is_damaged(const struct debug_info *info)
{
	return info->options.package && !info->package;
}

bool debug_info_lacks_supplement(const struct debug_info *info)
{
	return !info->supplement;
}
