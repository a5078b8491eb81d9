/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/counts/stat_environment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "kernel/system/kernel_files.h"

#ifndef _CS_GNU_LIBC_VERSION
#define _CS_GNU_LIBC_VERSION (-1)
#endif

/* CPU features by which C libraries for x86 select memory and string functions. On other architectures, all features
 * are stored, because there are few. */
static const char *const stat_environment_x86_features[] = {"sse4_2", "avx", "avx2", "avx512f", "avx512vl", "avx512bw",
	"erms", "fsrm", "bmi1", "bmi2", "abm", "movbe", "popcnt", "fma", "rtm"};

/* JSON keys, display names and offsets of the members that are texts, which is all except variables_bytes. */
static const struct {
	const char *key, *name;
	size_t offset;
} stat_environment_texts[] = {
	{"machine", "machine", offsetof(struct stat_environment, machine)},
	{"cpu-features", "CPU features", offsetof(struct stat_environment, cpu_features)},
	{"libc", "C library", offsetof(struct stat_environment, libc)},
	{"glibc-tunables", "GLIBC_TUNABLES", offsetof(struct stat_environment, tunables)},
	{"kernel", "kernel", offsetof(struct stat_environment, kernel)},
	{"simulator", "Valgrind", offsetof(struct stat_environment, simulator)},
};
#define STAT_ENVIRONMENT_VARIABLES "variables-bytes"

static void stat_environment_keep(char room[STAT_ENVIRONMENT_BYTES], struct tally_str text)
{
	size_t len = MIN(text.len, (size_t)STAT_ENVIRONMENT_BYTES - 1);
	if (len)
		memcpy(room, text.data, len);
	room[len] = '\0';
}

/* Returns whether a blank-separated list contains the word. */
static bool stat_environment_has(struct tally_str words, struct tally_str word)
{
	struct tally_str part;
	while (str_next(&words, ' ', &part))
		if (str_equal(part, word))
			return true;
	return false;
}

/* Reads the features of the first CPU in /proc/cpuinfo. */
static void stat_environment_read_features(const struct kernel_seam *kernel, struct stat_environment *environment)
{
	char *text;
	if (kernel_text(kernel, &text, NULL, "/proc/cpuinfo") != TALLY_OK)
		return;
	struct tally_str rest = str_from(text), line;
	struct text chosen = {0};
	while (chosen.len == 0 && str_next(&rest, '\n', &line)) {
		struct tally_str value = line, key;
		(void)str_next(&value, ':', &key);
		key = str_trim(key);
		value = str_trim(value);
		if (str_equal(key, STR("Features")))
			text_bytes(&chosen, value.data, value.len);
		for (size_t i = 0; str_equal(key, STR("flags")) && i < ARRAY_LEN(stat_environment_x86_features); i++)
			if (stat_environment_has(value, str_from(stat_environment_x86_features[i])))
				text_printf(&chosen, "%s%s", chosen.len ? " " : "", stat_environment_x86_features[i]);
	}
	stat_environment_keep(environment->cpu_features, text_view(&chosen));
	text_deinit(&chosen);
	free(text);
}

void stat_environment_read(const struct kernel_seam *kernel, struct stat_environment *environment)
{
	struct utsname host;
	const char *tunables = getenv("GLIBC_TUNABLES");
	*environment = (struct stat_environment){0};
	if (uname(&host) == 0) {
		stat_environment_keep(environment->machine, str_from(host.machine));
		stat_environment_keep(environment->kernel, str_from(host.release));
	}
	size_t len = confstr(_CS_GNU_LIBC_VERSION, environment->libc, sizeof(environment->libc));
	if (len == 0 || len > sizeof(environment->libc))
		environment->libc[0] = '\0';
	if (tunables)
		stat_environment_keep(environment->tunables, str_from(tunables));
	stat_environment_read_features(kernel, environment);
	for (char **variable = environ; variable && *variable; variable++)
		environment->variables_bytes += strlen(*variable) + 1;
}

void stat_environment_json(struct json *json, const struct stat_environment *environment)
{
	json_object(json, "environment");
	for (size_t i = 0; i < ARRAY_LEN(stat_environment_texts); i++) {
		const char *text = (const char *)environment + stat_environment_texts[i].offset;
		if (text[0])
			json_string(json, stat_environment_texts[i].key, str_from(text));
	}
	json_u64(json, STAT_ENVIRONMENT_VARIABLES, environment->variables_bytes);
	json_object_end(json);
}

void stat_environment_set(struct stat_environment *environment, struct tally_str key, struct tally_str value)
{
	char number[32];
	for (size_t i = 0; i < ARRAY_LEN(stat_environment_texts); i++)
		if (str_equal(key, str_from(stat_environment_texts[i].key)))
			stat_environment_keep((char *)environment + stat_environment_texts[i].offset, value);
	if (!str_equal(key, STR(STAT_ENVIRONMENT_VARIABLES)) || value.len >= sizeof(number))
		return;
	memcpy(number, value.data, value.len);
	number[value.len] = '\0';
	environment->variables_bytes = strtoull(number, NULL, 10);
}

/* Appends text like "only A: erms; only B: avx512f". */
static void stat_environment_tell_words(struct text *t, struct tally_str a, struct tally_str b)
{
	const struct tally_str sides[] = {a, b};
	bool is_first = true;
	for (size_t side = 0; side < ARRAY_LEN(sides); side++) {
		struct tally_str rest = sides[side], word;
		size_t named = 0;
		while (str_next(&rest, ' ', &word)) {
			if (word.len == 0 || stat_environment_has(sides[1 - side], word))
				continue;
			text_str(t, named ? " " : is_first ? "" : "; ");
			if (named++ == 0)
				text_printf(t, "only %c: ", side ? 'B' : 'A');
			text_visible(t, word);
			is_first = false;
		}
	}
}

bool stat_environment_differences(struct text *t, const struct stat_environment *a, const struct stat_environment *b)
{
	size_t named = 0;
	for (size_t i = 0; i < ARRAY_LEN(stat_environment_texts); i++) {
		struct tally_str of_a = str_from((const char *)a + stat_environment_texts[i].offset);
		struct tally_str of_b = str_from((const char *)b + stat_environment_texts[i].offset);
		bool may_be_absent = stat_environment_texts[i].offset == offsetof(struct stat_environment, tunables);
		if (str_equal(of_a, of_b) || ((of_a.len == 0 || of_b.len == 0) && !may_be_absent))
			continue;
		text_printf(t, "%s%s (", named++ ? ", " : "", stat_environment_texts[i].name);
		if (stat_environment_texts[i].offset == offsetof(struct stat_environment, cpu_features)) {
			stat_environment_tell_words(t, of_a, of_b);
		} else {
			text_visible(t, of_a.len ? of_a : STR("none"));
			text_str(t, " and ");
			text_visible(t, of_b.len ? of_b : STR("none"));
		}
		text_char(t, ')');
	}
	if (a->variables_bytes != b->variables_bytes && a->variables_bytes && b->variables_bytes)
		text_printf(t, "%ssize of the environment variables (%" PRIu64 " and %" PRIu64 " bytes)",
			named++ ? ", " : "", a->variables_bytes, b->variables_bytes);
	return named > 0;
}
