/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_dictionary.h - collects the tables that all profiles of an OTLP message share: strings, attributes, functions,
 * mappings, locations and stacks (opentelemetry/proto/profiles/v1development/profiles.proto).
 *
 * Entries are stored encoded, so equal entries are one; the first entry of each table is the zero value that the format
 * requires. Functions that return an index return 0 when out of memory, and set `failed`. Owned by the caller; borrows
 * the profile. One thread.
 *
 *	otlp_dictionary_init(&dictionary, profile);
 *	stack = otlp_stack(&dictionary, &profile->samples[0]);
 *	otlp_dictionary_write(&dictionary, sink, 2);
 *	otlp_dictionary_deinit(&dictionary);
 */
#ifndef VIEW_EXPORT_OTLP_DICTIONARY_H
#define VIEW_EXPORT_OTLP_DICTIONARY_H

#include "base/byte_sink.h"
#include "base/vec.h"
#include "profile/profile.h"

enum otlp_table { /* Field numbers of ProfilesDictionary. */
	OTLP_MAPPINGS = 1,
	OTLP_LOCATIONS = 2,
	OTLP_FUNCTIONS = 3,
	OTLP_LINKS = 4,
	OTLP_STRINGS = 5,
	OTLP_ATTRIBUTES = 6,
	OTLP_STACKS = 7,
	OTLP_TABLES
};

struct otlp_dictionary {
	const struct profile *profile;
	struct intern tables[OTLP_TABLES]; /* Encoded entries, indexed by enum otlp_table; tables[0] is not used. */
	/* Location of each of the profile's frames without inlined calls; 0 if not known yet. */
	uint32_t *location_of_frame;
	uint32_t *stack_of_stack; /* Stack of each of the profile's stacks; 0 if not known yet. */
	uint64_t *limits; /* Highest used address of each binary, rounded up to a page. */
	VEC(uint32_t) path; /* Locations of a stack, innermost first. */
	struct text entry, name; /* Buffers for the entry that is currently encoded. */
	bool failed;
};

void otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct profile *profile);
void otlp_dictionary_deinit(struct otlp_dictionary *dictionary);
/* Adds a string. Invalid UTF-8 becomes U+FFFD. */
uint32_t otlp_string(struct otlp_dictionary *dictionary, struct tally_str s);
uint32_t otlp_text_attribute(struct otlp_dictionary *dictionary, const char *key, struct tally_str value);
uint32_t otlp_number_attribute(struct otlp_dictionary *dictionary, const char *key, int64_t value);
uint32_t otlp_list_attribute(
	struct otlp_dictionary *dictionary, const char *key, const struct tally_str *values, size_t count);
/* Adds the call chain of a sample, or its own frame if it has none. */
uint32_t otlp_stack(struct otlp_dictionary *dictionary, const struct profile_sample *sample);
/* Writes the dictionary as this field of the enclosing message. */
void otlp_dictionary_write(const struct otlp_dictionary *dictionary, struct byte_sink *sink, unsigned field);

/* Appends a number, unless it is 0, because absent fields are 0. */
void otlp_put_number(struct text *out, unsigned field, uint64_t value);
/* Appends an AnyValue with a text. */
void otlp_put_text(struct text *out, unsigned field, struct tally_str value);
void otlp_put_indexes(struct text *out, unsigned field, const uint32_t *indexes, size_t count);

#endif
