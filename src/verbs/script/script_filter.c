/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/script/script_filter.h"

#include "base/symbol_name.h"
#include "base/word_list.h"
#include "tasks/reporting/report_selection.h"

static enum tally_status find_switches(
	struct script_filter *filter, const struct perfdata_reader *reader, struct tally_error *err)
{
	const struct script_filter_request *r = filter->request;
	size_t count;
	const struct perfdata_event *events = perfdata_reader_events(reader, &count);
	struct replay_switches found;
	enum tally_status status = report_switches_find(
		&(struct switch_names){r->switch_on, r->switch_off, r->shows_switches}, reader, &found, err);
	if (status != TALLY_OK)
		return status;
	filter->switch_on = found.on < 0 ? NULL : &events[found.on];
	filter->switch_off = found.off < 0 ? NULL : &events[found.off];
	return TALLY_OK;
}

enum tally_status script_filter_init(struct script_filter *filter, const struct script_filter_request *request,
	struct perfdata_reader *reader, struct tally_error *err)
{
	*filter = (struct script_filter){.request = request, .is_off = request->switch_on != NULL};
	enum tally_status status = sample_filter_init(&filter->samples, &request->samples, reader, err);
	return status == TALLY_OK ? find_switches(filter, reader, err) : status;
}

void script_filter_deinit(struct script_filter *filter)
{
	sample_filter_deinit(&filter->samples);
}

/* A symbol is selected by its name, by its start address, by the sample's address, or by the start of an address
 * range. */
static bool wants_symbol(const struct script_filter *filter, const struct script_place *place)
{
	const char *symbols = filter->samples.options.filters.symbols;
	uint64_t range = filter->request->address_range;
	const char *symbol = place->name->symbol;
	if (symbol && symbol_list_has(symbols, str_from(symbol)))
		return true;
	struct tally_str rest = str_from(symbols);
	struct tally_str part;
	while (word_list_next(symbols, &rest, &part)) {
		uint64_t address;
		if (!str_to_u64(part, 16, &address))
			continue;
		if (symbol && address == place->ip - place->name->symbol_offset)
			return true;
		if (place->ip >= address && place->ip - address < (range ? range : 1))
			return true;
	}
	return false;
}

static bool wants_place(const struct script_filter *filter, const struct script_place *place)
{
	const struct profile_filter_lists *lists = &filter->samples.options.filters;
	if (lists->dsos && !word_list_has(lists->dsos, place->name->shown) &&
		!word_list_has(lists->dsos, place->name->path))
		return false;
	return !lists->symbols || wants_symbol(filter, place);
}

/* Returns whether the sample is selected by --switch-on and --switch-off. Samples of these events themselves are
 * printed only with --show-on-off-events. */
static bool wants_between(struct script_filter *filter, const struct perfdata_event *event)
{
	bool is_switch = filter->is_off ? event == filter->switch_on : event == filter->switch_off;
	if (!is_switch)
		return !filter->is_off;
	filter->is_off = !filter->is_off;
	return filter->request->shows_switches;
}

bool script_filter_wants_place(const struct script_filter *filter, struct script_places *places,
	const struct script_probe *probe, bool *wanted)
{
	const struct profile_filter_lists *lists = &filter->samples.options.filters;
	/* As in perf, script omits samples of guests; the verb kvm shows them. */
	bool is_guest = probe->cpumode == MISC_CPUMODE_GUEST_KERNEL || probe->cpumode == MISC_CPUMODE_GUEST_USER;
	*wanted =
		!is_guest && sample_filter_wants_thread(&filter->samples, places->machine, probe->sample, probe->clock);
	if (!*wanted || (!lists->dsos && !lists->symbols))
		return true;
	struct resolve_where where = resolver_where(places->resolver, (int32_t)probe->sample->pid, probe->clock);
	struct script_place place;
	if (!script_place_find(places, &where, probe->cpumode, probe->sample->ip, &place))
		return false;
	*wanted = wants_place(filter, &place);
	return true;
}

bool script_filter_wants(
	struct script_filter *filter, struct script_places *places, const struct script_probe *probe, bool *wanted)
{
	*wanted = false;
	if (!sample_filter_is_within(&filter->samples, probe->sample))
		return true;
	bool is_there;
	if (!script_filter_wants_place(filter, places, probe, &is_there))
		return false;
	*wanted = is_there && ((!filter->switch_on && !filter->switch_off) || wants_between(filter, probe->event));
	return true;
}
