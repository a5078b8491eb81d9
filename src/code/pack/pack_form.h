/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_form.h - defines the binary format of a pack for its reader and its writer. docs/pack.md says what they mean.
 */
#ifndef CODE_PACK_PACK_FORM_H
#define CODE_PACK_PACK_FORM_H

#include <stdint.h>

#define PACK_MAGIC	     "TALLYPCK"
#define PACK_MAGIC_BYTES     8
#define PACK_VERSION	     1
#define PACK_ORDER	     UINT32_C(0x01020304)
#define PACK_HEADER_BYTES    40 /* magic, order, version, total, checksum, objects, string bytes, zero */
#define PACK_SUMMED_FROM     28 /* what the checksum is of: from the number of objects to the end */
#define PACK_CHECKSUM_AT     24
#define PACK_NO_STRING	     UINT32_MAX
#define PACK_BLOCK_HEADER    16 /* tag, count, bytes */
#define PACK_ID_BYTES	     20
#define PACK_OBJECT_BYTES    96 /* the fixed part of an object */
#define PACK_SEGMENT_BYTES   24
#define PACK_SYMBOL_BYTES    24
#define PACK_RANGE_BYTES     24
#define PACK_PLACE_BYTES     16
#define PACK_CODE_BYTES	     48
#define PACK_NAME_BYTES	     24
#define PACK_CODE_IS_BIG     1u /* flags of code */
#define PACK_CODE_IS_64	     2u
#define PACK_CODE_HAS_SYMTAB 4u
#define PACK_PLACE_INLINED   1u /* of a place; the discriminator is above it */
#define PACK_SYMBOL_OBJECT   256u /* of a symbol, beside the letter of its binding */
#define PACK_SYMBOL_NO_CALL  512u /* no call ends at the symbol's start */

enum pack_block { /* a reader passes over tags that it does not know */
	PACK_SEGMENTS = 1,
	PACK_SYMBOLS,
	PACK_RANGES,
	PACK_PLACES,
	PACK_BYTES, /* of code */
	PACK_CODES,
	PACK_NAMES,
	PACK_DUMP, /* of generated code: pack_dump.h */
};

#endif
