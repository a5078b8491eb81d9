/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/fleet/fleet_time.h"

#include <time.h>

#include "base/array.h"
#include "base/clock.h"

#define FLEET_TIME_NS_PER_S UINT64_C(1000000000)
#define MAX_NS		    ((uint64_t)INT64_MAX)
#define TEXT_BYTES	    40

static const struct {
	char letter;
	uint64_t seconds;
} units[] = {{'w', 7 * 24 * 3600}, {'d', 24 * 3600}, {'h', 3600}, {'m', 60}, {'s', 1}};

uint64_t fleet_time_now(void)
{
	return clock_ns_of(CLOCK_REALTIME);
}

static uint64_t unit_seconds(char letter)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (units[i].letter == letter)
			return units[i].seconds;
	return 0;
}

bool fleet_duration_parse(struct tally_str text, uint64_t *ns)
{
	uint64_t sum = 0;
	size_t at = 0;
	while (at < text.len) {
		size_t begin = at;
		uint64_t number, part;
		while (at < text.len && text.data[at] >= '0' && text.data[at] <= '9')
			at++;
		uint64_t seconds = at < text.len ? unit_seconds(text.data[at]) : 0;
		if (seconds == 0 || !str_to_u64((struct tally_str){text.data + begin, at - begin}, 10, &number) ||
			__builtin_mul_overflow(number, seconds * FLEET_TIME_NS_PER_S, &part) ||
			__builtin_add_overflow(sum, part, &sum) || sum > MAX_NS)
			return false;
		at++;
	}
	if (text.len == 0)
		return false;
	*ns = sum;
	return true;
}

/* Parses "2026-11-28T07:00:00Z"; the Z, the seconds and the T are optional. */
static bool parse_calendar(const char *text, uint64_t *ns)
{
	static const char *const forms[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"};
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct tm tm = {0};
		const char *end = strptime(text, forms[i], &tm);
		if (!end || (end[0] != '\0' && !(end[0] == 'Z' && end[1] == '\0')))
			continue;
		time_t seconds = timegm(&tm);
		if (seconds < 0 || (uint64_t)seconds > MAX_NS / FLEET_TIME_NS_PER_S)
			return false;
		*ns = (uint64_t)seconds * FLEET_TIME_NS_PER_S;
		return true;
	}
	return false;
}

bool fleet_time_parse(struct tally_str text, uint64_t now_ns, uint64_t *ns)
{
	char word[TEXT_BYTES];
	uint64_t number;
	bool is_before = text.len > 0 && text.data[0] == '-';
	struct tally_str rest = is_before ? (struct tally_str){text.data + 1, text.len - 1} : text;
	if (str_equal(text, STR("now"))) {
		*ns = now_ns;
		return true;
	}
	if (!is_before && rest.len > 9 && rest.data[rest.len - 1] == 's' && fleet_duration_parse(rest, &number)) {
		*ns = number;
		return true;
	}
	if (fleet_duration_parse(rest, &number)) {
		*ns = now_ns > number ? now_ns - number : 0;
		return true;
	}
	if (is_before || text.len == 0 || text.len >= sizeof(word))
		return false;
	if (str_to_u64(text, 10, &number)) {
		if (number > MAX_NS)
			return false;
		*ns = number;
		return true;
	}
	memcpy(word, text.data, text.len);
	word[text.len] = '\0';
	return strlen(word) == text.len && parse_calendar(word, ns);
}

void fleet_time_print(struct text *out, uint64_t ns)
{
	char word[TEXT_BYTES];
	time_t seconds = (time_t)(ns / FLEET_TIME_NS_PER_S);
	struct tm tm;
	if (gmtime_r(&seconds, &tm) && strftime(word, sizeof(word), "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
		text_str(out, word);
}

void fleet_duration_print(struct text *out, uint64_t ns)
{
	uint64_t left = ns / FLEET_TIME_NS_PER_S;
	if (left == 0)
		text_str(out, "0s");
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (left < units[i].seconds)
			continue;
		text_u64(out, left / units[i].seconds);
		text_char(out, units[i].letter);
		left %= units[i].seconds;
	}
}
