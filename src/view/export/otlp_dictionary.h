/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_dictionary.h - collects the tables that all profiles of an OTLP message share: strings, attributes, functions,
 * mappings, locations and stacks (opentelemetry/proto/profiles/v1development/profiles.proto).
 *
 * Each entry is kept as it is encoded, so equal entries are one, and the first entry of each table is the zero value
 * that the format demands. Functions that return an index return 0 when memory runs out, and set failed. Owned by the
 * caller; borrows the profile. One thread.
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

enum otlp_table { /* fields of ProfilesDictionary */
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
	struct intern tables[OTLP_TABLES]; /* of encoded entries; the first one is not used */
	uint32_t *location_of_frame; /* of frames that stand alone, in the profile's order; 0: not known yet */
	uint32_t *stack_of_stack; /* in the profile's order; 0: not known yet */
	uint64_t *limits; /* by binary: its highest address that is used, rounded up to a page */
	VEC(uint32_t) path; /* locations of a stack, innermost first */
	struct text entry, name; /* of what is encoded at the moment */
	bool failed;
};

void otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct profile *profile);
void otlp_dictionary_deinit(struct otlp_dictionary *dictionary);
/* Bytes that are no UTF-8 become U+FFFD. */
uint32_t otlp_string(struct otlp_dictionary *dictionary, struct tally_str s);
uint32_t otlp_text_attribute(struct otlp_dictionary *dictionary, const char *key, struct tally_str value);
uint32_t otlp_number_attribute(struct otlp_dictionary *dictionary, const char *key, int64_t value);
uint32_t otlp_list_attribute(
	struct otlp_dictionary *dictionary, const char *key, const struct tally_str *values, size_t count);
/* The call chain of a sample, or the function that it was taken in. */
uint32_t otlp_stack(struct otlp_dictionary *dictionary, const struct profile_sample *sample);
/* As a field of the message around it. */
void otlp_dictionary_write(const struct otlp_dictionary *dictionary, struct byte_sink *sink, unsigned field);

/* A number that is not 0, which is what absent fields are. */
void otlp_put_number(struct text *out, unsigned field, uint64_t value);
/* AnyValue with a text. */
void otlp_put_text(struct text *out, unsigned field, struct tally_str value);
void otlp_put_indexes(struct text *out, unsigned field, const uint32_t *indexes, size_t count);

#endif
