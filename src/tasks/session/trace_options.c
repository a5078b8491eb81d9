/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/session/trace_options.h"

#include <string.h>

#include "abi/perf_constants.h"
#include "abi/record_table.h"
#include "base/array.h"
#include "base/error.h"
#include "tasks/session/recording_input.h"

#define MAX_LISTED 1024 /* Maximum number of frames and branches of a sample in --itrace. */

/* Returns the name of a given option for guests, or NULL if there is none. */
static const char *guest_option(const struct trace_options *asked)
{
	return asked->guest_code       ? "--guest-code"
	       : asked->guest_mount    ? "--guestmount"
	       : asked->guest_vmlinux  ? "--guestvmlinux"
	       : asked->guest_kallsyms ? "--guestkallsyms"
	       : asked->guest_modules  ? "--guestmodules"
				       : NULL;
}

bool trace_options_are_given(const struct trace_options *asked)
{
	return asked->decoding || guest_option(asked);
}

static const char *skip_digits(const char *at)
{
	return at + strspn(at, "0123456789");
}

/* Skips a period like that of "i100us". */
static const char *skip_period(const char *at)
{
	static const char *const units[] = {"i", "t", "ms", "us", "ns"};
	const char *end = skip_digits(at);
	if (end == at)
		return at;
	const char *unit = end + strspn(end, " ");
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (!strncmp(unit, units[i], strlen(units[i])))
			return unit + strlen(units[i]);
	return end;
}

/* Skips a limit like that of "g16". Returns NULL if it exceeds the maximum. */
static const char *skip_limit(const char *at)
{
	const char *end = skip_digits(at);
	uint64_t number;
	if (end == at)
		return at;
	bool is_number = str_to_u64((struct tally_str){at, (size_t)(end - at)}, 10, &number);
	return is_number && number > 0 && number <= MAX_LISTED ? end : NULL;
}

/* Skips flags like "+o-l". Returns NULL for a sign without letters. */
static const char *skip_flags(const char *at)
{
	while (*at == '+' || *at == '-') {
		size_t letters = strspn(at + 1, "aelo");
		if (letters == 0)
			return NULL;
		at += 1 + letters;
	}
	return at;
}

/* Checks the letters and their arguments against the list in perf's manual. */
static bool is_itrace(const char *at)
{
	while (at && *at) {
		char letter = *at++;
		if (letter == 'i' || letter == 'y')
			at = skip_period(at);
		else if (strchr("gGlL", letter))
			at = skip_limit(at);
		else if (letter == 'e' || letter == 'd')
			at = skip_flags(at);
		else if (letter == 's')
			at = skip_digits(at) > at ? skip_digits(at) : NULL;
		else if (!strchr("abcfmopqrtwxAIMTZ ,", letter))
			return false;
	}
	return at != NULL;
}

static const char *trace_options_set_itrace(const struct option_use *use)
{
	struct trace_options *asked = use->settings;
	if (use->value && !is_itrace(use->value))
		return "expects letters that say what to synthesize, such as i100us or cr";
	asked->decoding = use->is_negated ? NULL : "--itrace";
	return NULL;
}

#define GUEST_ROW(member) .offset = offsetof(struct trace_options, member)
#define ONLY_OF_GUESTS	  ": not supported for recordings with guests, without effect on others"

static const struct option trace_rows[] = {
	{"itrace", 0, OPTION_CALL, "opts", .argument_is_optional = true, .call = trace_options_set_itrace,
		.help = "what to synthesize from a hardware trace: not supported for recordings with one, without "
			"effect on others"},
};
const struct option_table trace_option_table = {trace_rows, ARRAY_LEN(trace_rows), false};

static const struct option guest_rows[] = {
	{"guest-code", 0, OPTION_FLAG, GUEST_ROW(guest_code), .help = "Guest code is in the hypervisor" ONLY_OF_GUESTS},
	{"guestkallsyms", 0, OPTION_STRING, "file", GUEST_ROW(guest_kallsyms),
		.help = "a guest's /proc/kallsyms" ONLY_OF_GUESTS},
	{"guestmodules", 0, OPTION_STRING, "file", GUEST_ROW(guest_modules),
		.help = "a guest's /proc/modules" ONLY_OF_GUESTS},
	{"guestmount", 0, OPTION_STRING, "directory", GUEST_ROW(guest_mount),
		.help = "where guests' file systems are mounted" ONLY_OF_GUESTS},
	{"guestvmlinux", 0, OPTION_STRING, "file", GUEST_ROW(guest_vmlinux),
		.help = "a guest's vmlinux" ONLY_OF_GUESTS},
};
const struct option_table guest_option_table = {guest_rows, ARRAY_LEN(guest_rows), false};

static bool is_guests(const struct record *record)
{
	unsigned mode = record->misc & MISC_CPUMODE_MASK;
	return record->type == RECORD_SAMPLE && (mode == MISC_CPUMODE_GUEST_KERNEL || mode == MISC_CPUMODE_GUEST_USER);
}

struct trace_options_found {
	bool trace, guest;
	uint32_t trace_type;
};

static struct trace_options_found look_through(struct perfdata_reader *reader)
{
	struct trace_options_found found = {0};
	struct record record;
	struct record_fields fields;
	/* Damage is reported later, when the samples are read. */
	while (perfdata_reader_next(reader, &record, NULL) == TALLY_OK) {
		found.guest = found.guest || is_guests(&record);
		found.trace = found.trace || record.type == RECORD_AUXTRACE || record.type == RECORD_AUXTRACE_INFO;
		if (record.type == RECORD_AUXTRACE_INFO && record_decode(&record, &fields, NULL) == TALLY_OK)
			found.trace_type = fields.auxtrace_info.auxtrace_type;
	}
	perfdata_reader_rewind(reader);
	return found;
}

enum tally_status trace_options_open(const struct input_options *input, const struct trace_options *asked,
	struct perfdata_reader **reader, struct tally_error *err)
{
	struct perfdata_reader *opened;
	enum tally_status status = recording_open(input, &opened, err);
	if (status != TALLY_OK)
		return status;
	struct trace_options_found found = {0};
	if (trace_options_are_given(asked))
		found = look_through(opened);
	const char *trace = record_trace_name(found.trace_type);
	if (asked->decoding && found.trace)
		status = error_set(err, TALLY_UNSUPPORTED,
			"%s is not supported yet: this recording's hardware trace (%s) is not decoded", asked->decoding,
			trace ? trace : "of an unknown kind");
	else if (guest_option(asked) && found.guest)
		status = error_set(err, TALLY_UNSUPPORTED,
			"%s is not supported yet: this recording has samples of a guest, whose code is not looked up",
			guest_option(asked));
	if (status == TALLY_OK)
		*reader = opened;
	else
		perfdata_reader_destroy(opened);
	return status;
}
