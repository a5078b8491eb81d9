/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/events/pfm_events.h"

/* Must be first: libpfm4's header defines the same names unless this header is included. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/shared_object.h"
#include "kernel/events/event_parser.h"
#include "tally_config.h"

#if HAVE_PFM
#include <perfmon/pfmlib_perf_event.h>

#define LIBRARY	   "libpfm.so.4"
#define EVERYWHERE (PFM_PLM0 | PFM_PLM3 | PFM_PLMH)

struct pfm_library {
	void *handle;
	pfm_err_t (*initialize)(void);
	pfm_err_t (*encode)(const char *text, int levels, pfm_os_t os, void *argument);
	pfm_err_t (*pmu_info)(pfm_pmu_t pmu, pfm_pmu_info_t *info);
	pfm_err_t (*event_info)(int index, pfm_os_t os, pfm_event_info_t *info);
	pfm_err_t (*mask_info)(int event, int index, pfm_os_t os, pfm_event_attr_info_t *info);
	int (*next_event)(int index);
	const char *(*error_text)(int code);
};

static bool functions_find(struct pfm_library *l)
{
	*(void **)&l->initialize = dlsym(l->handle, "pfm_initialize");
	*(void **)&l->encode = dlsym(l->handle, "pfm_get_os_event_encoding");
	*(void **)&l->pmu_info = dlsym(l->handle, "pfm_get_pmu_info");
	*(void **)&l->event_info = dlsym(l->handle, "pfm_get_event_info");
	*(void **)&l->mask_info = dlsym(l->handle, "pfm_get_event_attr_info");
	*(void **)&l->next_event = dlsym(l->handle, "pfm_get_event_next");
	*(void **)&l->error_text = dlsym(l->handle, "pfm_strerror");
	return l->initialize && l->encode && l->pmu_info && l->event_info && l->mask_info && l->next_event &&
	       l->error_text;
}

enum tally_status pfm_library_open(struct pfm_library **library, struct tally_error *err)
{
	struct pfm_library *made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err);
	made->handle = shared_object_open(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	pfm_err_t code = PFM_ERR_NOTSUPP;
	if (made->handle && functions_find(made))
		code = made->initialize();
	if (code == PFM_SUCCESS) {
		*library = made;
		return TALLY_OK;
	}
	bool is_here = made->handle != NULL;
	pfm_library_close(made);
	return error_set(err, TALLY_UNSUPPORTED,
		is_here ? "vendors' event names: libpfm4 finds no PMU on this machine"
			: "vendors' event names need libpfm4, which is not installed (" LIBRARY
			  ", Debian's package libpfm4)");
}

void pfm_library_close(struct pfm_library *library)
{
	if (library && library->handle)
		dlclose(library->handle);
	free(library);
}

/* Whether this is a PMU of the CPU, not libpfm's list of the kernel's generic events. */
static bool is_vendors(const pfm_pmu_info_t *info)
{
	return info->is_present && info->type != PFM_PMU_TYPE_OS_GENERIC;
}

static bool pmu_get(const struct pfm_library *l, pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
	*info = (pfm_pmu_info_t){.size = sizeof(*info)};
	return l->pmu_info(pmu, info) == PFM_SUCCESS;
}

static bool event_names(const struct pfm_library *l, const pfm_pmu_info_t *pmu, int index, pfm_each each, void *context)
{
	pfm_event_info_t event = {.size = sizeof(event)};
	bool has_mask = false;
	if (l->event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
		return true;
	for (int i = 0; i < event.nattrs; i++) {
		pfm_event_attr_info_t mask = {.size = sizeof(mask)};
		if (l->mask_info(index, i, PFM_OS_PERF_EVENT, &mask) != PFM_SUCCESS || mask.type != PFM_ATTR_UMASK)
			continue;
		has_mask = true;
		if (!each(context, &(struct pfm_name){pmu->name, event.name, mask.name, mask.desc}))
			return false;
	}
	return has_mask || each(context, &(struct pfm_name){pmu->name, event.name, NULL, event.desc});
}

enum tally_status pfm_library_names(struct pfm_library *library, pfm_each each, void *context, struct tally_error *err)
{
	bool has_any = false, goes_on = true;
	for (unsigned i = 0; i < PFM_PMU_MAX && goes_on; i++) {
		pfm_pmu_info_t pmu;
		if (!pmu_get(library, (pfm_pmu_t)i, &pmu) || !is_vendors(&pmu))
			continue;
		has_any = true;
		for (int index = pmu.first_event; index != -1 && goes_on; index = library->next_event(index))
			goes_on = event_names(library, &pmu, index, each, context);
	}
	return has_any ? TALLY_OK : error_set(err, TALLY_NOT_FOUND, "libpfm4 has no events for this model of CPU");
}

static bool is_known_cpu(const struct pfm_library *l)
{
	pfm_pmu_info_t pmu;
	for (unsigned i = 0; i < PFM_PMU_MAX; i++)
		if (pmu_get(l, (pfm_pmu_t)i, &pmu) && is_vendors(&pmu))
			return true;
	return false;
}

static enum tally_status pfm_events_refuse(
	const struct pfm_library *l, const char *name, pfm_err_t code, struct tally_error *err)
{
	if (code == PFM_ERR_NOMEM)
		return error_nomem(err);
	if (code == PFM_ERR_NOTFOUND && !is_known_cpu(l))
		return error_set(err, TALLY_NOT_FOUND,
			"parser error: '%.64s': libpfm4 has no events for this model of CPU", name);
	return error_set(err, code == PFM_ERR_NOTFOUND ? TALLY_NOT_FOUND : TALLY_INVALID,
		"parser error: '%.64s': %s; 'list pfm' shows the names", name, l->error_text(code));
}

static void attr_take(const struct perf_event_attr *from, struct event_spec *spec)
{
	struct perf_attr *attr = &spec->attr;
	const struct {
		unsigned bit;
		bool is_on;
	} flags[] = {{ATTR_BIT_EXCLUDE_USER, from->exclude_user}, {ATTR_BIT_EXCLUDE_KERNEL, from->exclude_kernel},
		{ATTR_BIT_EXCLUDE_HV, from->exclude_hv}, {ATTR_BIT_EXCLUDE_IDLE, from->exclude_idle},
		{ATTR_BIT_EXCLUDE_GUEST, from->exclude_guest}, {ATTR_BIT_EXCLUDE_HOST, from->exclude_host},
		{ATTR_BIT_PINNED, from->pinned}, {ATTR_BIT_EXCLUSIVE, from->exclusive}};
	attr->type = from->type;
	attr->config = from->config;
	attr->config1 = from->config1;
	attr->config2 = from->config2;
	attr->flags = (uint64_t)from->precise_ip << ATTR_BIT_PRECISE_IP;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		attr->flags |= flags[i].is_on ? ATTR_FLAG(flags[i].bit) : 0;
	attr->sample_period_or_freq = from->sample_period;
	spec->has_freq = from->sample_period && from->freq;
	spec->has_period = from->sample_period && !from->freq;
	spec->has_exclude = from->exclude_user || from->exclude_kernel;
}

/* Sets the PMU and the CPUs of an event of another PMU than the core's; *is_known is false if no PMU has its type. */
static bool place_take(
	const struct event_catalogue *catalogue, struct event_list *list, struct event_spec *spec, bool *is_known)
{
	struct arena *arena = &list->arena;
	*is_known = spec->attr.type <= EVENT_BREAKPOINT;
	for (size_t i = 0; i < catalogue->pmu_count && !*is_known; i++) {
		const struct pmu *pmu = &catalogue->pmus[i];
		if (pmu->type != spec->attr.type)
			continue;
		*is_known = true;
		spec->pmu = arena_string(arena, pmu->name, strlen(pmu->name));
		spec->is_uncore = pmu->is_uncore;
		if (pmu->is_uncore || pmu->is_hybrid)
			spec->cpus = arena_string(arena, pmu->cpus, strlen(pmu->cpus));
		return spec->pmu && (spec->cpus || !(pmu->is_uncore || pmu->is_hybrid));
	}
	return true;
}

static enum tally_status pfm_events_event_add(const struct pfm_library *l, const struct event_catalogue *catalogue,
	struct tally_str word, struct event_list *list, struct tally_error *err)
{
	char name[LIMIT_PFM_NAME + 1];
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t argument = {.attr = &attr, .size = sizeof(argument)};
	bool is_known;
	if (word.len == 0)
		return error_set(err, TALLY_INVALID, "parser error: an event's name is missing");
	if (word.len > LIMIT_PFM_NAME)
		return error_set(err, TALLY_LIMIT, "parser error: the name is longer than %d", LIMIT_PFM_NAME);
	memcpy(name, word.data, word.len);
	name[word.len] = '\0';
	pfm_err_t code = l->encode(name, EVERYWHERE, PFM_OS_PERF_EVENT_EXT, &argument);
	if (code != PFM_SUCCESS)
		return pfm_events_refuse(l, name, code, err);
	struct event_spec *spec = event_list_add(list, err);
	if (!spec)
		return err ? err->status : TALLY_NOMEM;
	attr_take(&attr, spec);
	spec->name = arena_string(&list->arena, name, word.len);
	spec->has_own_name = spec->has_vendor_name = true;
	if (!spec->name || !place_take(catalogue, list, spec, &is_known))
		return error_nomem(err);
	if (is_known)
		return TALLY_OK;
	return error_set(err, TALLY_NOT_FOUND, "parser error: '%.64s': the kernel has no such PMU", name);
}

/* Parses the list; err->offset is the position of a failure. */
static enum tally_status list_take(const struct pfm_library *l, const struct event_catalogue *catalogue,
	const char *text, struct event_list *list, struct tally_error *err)
{
	size_t pos = 0, group = SIZE_MAX;
	enum tally_status status = TALLY_OK;
	for (;;) {
		pos += strspn(text + pos, " \t");
		if (text[pos] == '{' && group == SIZE_MAX) {
			group = list->len;
			pos++;
		}
		size_t start = pos;
		pos += strcspn(text + pos, ",{}");
		status = pfm_events_event_add(
			l, catalogue, str_trim((struct tally_str){text + start, pos - start}), list, err);
		if (status == TALLY_OK && text[pos] == '}' && group != SIZE_MAX) {
			event_list_group(list, group, false);
			group = SIZE_MAX;
			pos++;
			pos += strspn(text + pos, " \t");
		}
		if (status == TALLY_OK && text[pos] == '\0' && group != SIZE_MAX)
			status = error_set(err, TALLY_INVALID, "parser error: the group's '}' is missing");
		else if (status == TALLY_OK && text[pos] != '\0' && text[pos] != ',')
			status = error_set(err, TALLY_INVALID, "parser error: unexpected '%c'", text[pos]);
		else if (status != TALLY_OK)
			pos = start;
		if (status != TALLY_OK || text[pos] == '\0')
			break;
		pos++;
	}
	if (status != TALLY_OK && err)
		err->offset = pos;
	return status;
}

enum tally_status pfm_events_parse(
	const struct event_catalogue *catalogue, const char *text, struct event_list *list, struct tally_error *err)
{
	struct pfm_library *library;
	size_t len = list->len;
	struct tally_error own;
	err = err ? err : &own;
	enum tally_status status = pfm_library_open(&library, err);
	if (status != TALLY_OK) {
		err->offset = 0;
		return status;
	}
	status = list_take(library, catalogue, text, list, err);
	if (status != TALLY_OK)
		list->len = len;
	pfm_library_close(library);
	return status;
}

#else

static enum tally_status not_built(struct tally_error *err)
{
	return error_set(err, TALLY_UNSUPPORTED, "vendors' event names: this tally was built without libpfm4");
}

enum tally_status pfm_library_open(struct pfm_library **library, struct tally_error *err)
{
	return not_built(err);
}

void pfm_library_close(struct pfm_library *library)
{
}

enum tally_status pfm_library_names(struct pfm_library *library, pfm_each each, void *context, struct tally_error *err)
{
	return not_built(err);
}

enum tally_status pfm_events_parse(
	const struct event_catalogue *catalogue, const char *text, struct event_list *list, struct tally_error *err)
{
	if (err)
		err->offset = 0;
	return not_built(err);
}

#endif
