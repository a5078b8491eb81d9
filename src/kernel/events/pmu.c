/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/pmu.h"

#include <locale.h>
#include <stdlib.h>

#include "base/error.h"
#include "kernel/system/kernel_files.h"

#define PMU_DEVICES "/sys/bus/event_source/devices"

/* Reads a sysfs text into the arena; NULL if there is none. *failed is set if memory runs out. */
static const char *device_text(
	const struct kernel_seam *kernel, struct arena *arena, const char *name, const char *file, bool *failed)
{
	char *text;
	enum tally_status status = kernel_text(kernel, &text, NULL, PMU_DEVICES "/%s/%s", name, file);
	if (status != TALLY_OK) {
		*failed |= status == TALLY_NOMEM;
		return NULL;
	}
	const char *copy = *text ? arena_string(arena, text, strlen(text)) : NULL;
	*failed |= *text && !copy;
	free(text);
	return copy;
}

static bool pmu_load(const struct kernel_seam *kernel, struct arena *arena, const char *name, struct pmu *pmu)
{
	int64_t type = kernel_number(kernel, -1, PMU_DEVICES "/%s/type", name);
	if (type < 0 || type > UINT32_MAX)
		return true; /* This is not a PMU; its name remains NULL. */
	bool failed = false;
	const char *mask = device_text(kernel, arena, name, "cpumask", &failed);
	const char *cpus = device_text(kernel, arena, name, "cpus", &failed);
	pmu->name = arena_string(arena, name, strlen(name));
	pmu->type = (uint32_t)type;
	pmu->cpus = mask ? mask : cpus;
	pmu->is_uncore = mask != NULL;
	pmu->is_core = !mask && (strcmp(name, "cpu") == 0 || cpus);
	pmu->is_hybrid = cpus && (strcmp(name, "cpu_core") == 0 || strcmp(name, "cpu_atom") == 0 ||
					 strcmp(name, "cpu_lowpower") == 0);
	return pmu->name && !failed;
}

enum tally_status pmu_load_all(const struct kernel_seam *kernel, struct arena *arena, struct pmu **pmus, size_t *count,
	struct tally_error *err)
{
	struct name_list names = {0};
	enum tally_status status = kernel_names(kernel, &names, err, PMU_DEVICES);
	if (status == TALLY_NOT_FOUND || status == TALLY_DENIED) {
		*pmus = NULL;
		*count = 0;
		return TALLY_OK; /* Without sysfs, as in a minimal container, generic events still work. */
	}
	if (status != TALLY_OK)
		return status;
	struct pmu *found = arena_array(arena, struct pmu, names.len);
	bool ok = found != NULL;
	size_t len = 0;
	for (size_t i = 0; ok && i < names.len; i++) {
		ok = pmu_load(kernel, arena, names.items[i], &found[len]);
		if (found[len].name)
			len++;
	}
	name_list_deinit(&names);
	if (!ok)
		return error_nomem(err);
	*pmus = found;
	*count = len;
	return TALLY_OK;
}

const struct pmu *pmu_find(const struct pmu *pmus, size_t count, struct tally_str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(str_from(pmus[i].name), name))
			return &pmus[i];
	return NULL;
}

bool pmu_matches(const struct pmu *pmu, struct tally_str name)
{
	struct tally_str full = str_from(pmu->name);
	if (str_equal(full, name))
		return true;
	if (name.len == 0)
		return false;
	if (str_glob(name, full))
		return true;
	size_t end = full.len;
	while (end > 0 && full.data[end - 1] >= '0' && full.data[end - 1] <= '9')
		end--;
	if (end > 0 && end < full.len && full.data[end - 1] == '_')
		full.len = end - 1;
	if (str_equal(full, name))
		return true;
	struct tally_str prefix = STR("uncore_");
	if (!str_starts_with(full, prefix))
		return false;
	full.data += prefix.len;
	full.len -= prefix.len;
	return str_equal(full, name);
}

static uint64_t *attr_word(struct perf_attr *attr, struct tally_str word)
{
	if (str_equal(word, STR("config")))
		return &attr->config;
	if (str_equal(word, STR("config1")))
		return &attr->config1;
	if (str_equal(word, STR("config2")))
		return &attr->config2;
	if (str_equal(word, STR("config3")))
		return &attr->config3;
	if (str_equal(word, STR("config4")))
		return &attr->config4;
	return NULL;
}

/* Stores the low bits of *value in bits from..to of *word and shifts them out of *value. */
static bool bits_put(struct tally_str range, uint64_t *word, uint64_t *value)
{
	struct tally_str first;
	uint64_t from, to;
	if (!str_next(&range, '-', &first) || !str_to_u64(first, 10, &from))
		return false;
	if (range.len == 0)
		to = from;
	else if (!str_to_u64(range, 10, &to))
		return false;
	if (from > to || to > 63)
		return false;
	uint64_t width = to - from + 1;
	uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
	*word = (*word & ~(mask << from)) | (*value & mask) << from;
	*value = width == 64 ? 0 : *value >> width;
	return true;
}

enum tally_status pmu_term_set(const struct kernel_seam *kernel, const struct pmu *pmu, struct tally_str term,
	uint64_t value, struct perf_attr *attr, struct tally_error *err)
{
	char *text;
	if (term.len == 0 || memchr(term.data, '/', term.len) || term.data[0] == '.')
		return error_set(err, TALLY_NOT_FOUND, "no term '%.*s'", (int)term.len, term.data);
	enum tally_status status =
		kernel_text(kernel, &text, err, PMU_DEVICES "/%s/format/%.*s", pmu->name, (int)term.len, term.data);
	if (status != TALLY_OK)
		return status;
	struct tally_str rest = str_from(text), word, range;
	uint64_t *field = str_next(&rest, ':', &word) ? attr_word(attr, word) : NULL;
	uint64_t word_value = field ? *field : 0, left = value;
	bool ok = field != NULL && rest.len > 0;
	while (ok && str_next(&rest, ',', &range))
		ok = bits_put(range, &word_value, &left);
	if (!ok)
		status = error_set(err, TALLY_CORRUPT, "format '%s' of PMU %s is not understood", text, pmu->name);
	else if (left != 0)
		status = error_set(err, TALLY_INVALID, "0x%llx is too wide for term '%.*s' of PMU %s (bits %s)",
			(unsigned long long)value, (int)term.len, term.data, pmu->name, text);
	else
		*field = word_value;
	free(text);
	return status;
}

static double scale_parse(const char *text)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double scale = c_locale ? strtod_l(text, NULL, c_locale) : 1;
	if (c_locale)
		freelocale(c_locale);
	return scale > 0 ? scale : 1;
}

enum tally_status pmu_alias_find(const struct kernel_seam *kernel, const struct pmu *pmu, struct tally_str name,
	struct pmu_alias *alias, struct tally_error *err)
{
	if (name.len == 0 || memchr(name.data, '/', name.len) || name.data[0] == '.')
		return error_set(err, TALLY_NOT_FOUND, "no event '%.*s'", (int)name.len, name.data);
	struct pmu_alias found = {.scale = 1};
	int len = (int)name.len;
	enum tally_status status =
		kernel_text(kernel, &found.terms, err, PMU_DEVICES "/%s/events/%.*s", pmu->name, len, name.data);
	if (status != TALLY_OK)
		return status;
	char *scale;
	if (kernel_text(kernel, &found.unit, NULL, PMU_DEVICES "/%s/events/%.*s.unit", pmu->name, len, name.data) !=
		TALLY_OK)
		found.unit = NULL;
	if (kernel_text(kernel, &scale, NULL, PMU_DEVICES "/%s/events/%.*s.scale", pmu->name, len, name.data) ==
		TALLY_OK) {
		found.scale = scale_parse(scale);
		free(scale);
	}
	*alias = found;
	return TALLY_OK;
}

void pmu_alias_deinit(struct pmu_alias *alias)
{
	free(alias->terms);
	free(alias->unit);
	*alias = (struct pmu_alias){0};
}
