/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_form.h - defines the binary format of a pack for its reader and its writer. docs/pack.md describes the fields.
 */
#ifndef CODE_PACK_PACK_FORM_H
#define CODE_PACK_PACK_FORM_H

#include <stdint.h>

#define PACK_MAGIC	 "TALLYPCK"
#define PACK_MAGIC_BYTES 8
#define PACK_VERSION	 1
#define PACK_ORDER	 UINT32_C(0x01020304)
/* Magic, byte order, version, total size, checksum, object count, string bytes, zero. */
#define PACK_HEADER_BYTES    40
#define PACK_SUMMED_FROM     28 /* The checksum covers the bytes from the object count to the end. */
#define PACK_CHECKSUM_AT     24
#define PACK_NO_STRING	     UINT32_MAX
#define PACK_BLOCK_HEADER    16 /* Tag, item count, size in bytes. */
#define PACK_ID_BYTES	     20
#define PACK_OBJECT_BYTES    96 /* The fixed part of an object. */
#define PACK_SEGMENT_BYTES   24
#define PACK_SYMBOL_BYTES    24
#define PACK_RANGE_BYTES     24
#define PACK_PLACE_BYTES     16
#define PACK_CODE_BYTES	     48
#define PACK_NAME_BYTES	     24
#define PACK_CODE_IS_BIG     1u /* Flags of code. */
#define PACK_CODE_IS_64	     2u
#define PACK_CODE_HAS_SYMTAB 4u
#define PACK_PLACE_INLINED   1u /* Flag of a place; the discriminator is in the bits above it. */
#define PACK_SYMBOL_OBJECT   256u /* Flag of a symbol, in the same word as its binding letter. */
#define PACK_SYMBOL_NO_CALL  512u /* Flag of a symbol; the member follows_no_call. */

/* Block tags; a reader skips unknown ones. */
enum pack_block {
	PACK_SEGMENTS = 1,
	PACK_SYMBOLS,
	PACK_RANGES,
	PACK_PLACES,
	PACK_BYTES, /* The code bytes to which PACK_CODES refers. */
	PACK_CODES,
	PACK_NAMES,
	PACK_DUMP, /* A reduced jitdump; see pack_dump.h. */
};

#endif
