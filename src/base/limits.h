/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - defines all limits on input, with their reasons. Names begin with LIMIT_; add a limit here instead of
 * writing a number elsewhere.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stdint.h>

#define LIMIT_DIAG_TEXTS	 256 /* Distinct warnings: more than a screenful is useless. */
#define LIMIT_EVENTS		 (1u << 20) /* Attrs in a file: hundreds of events on several hybrid PMUs. */
#define LIMIT_IDS		 (1u << 24) /* Event IDs in a file: events x CPUs x threads. */
#define LIMIT_CALLCHAIN		 65536 /* Frames of a chain: 8190 fit in a record; merged chains are longer. */
#define LIMIT_STRING		 (1u << 20) /* Bytes of a header string, such as a command line with many files. */
#define LIMIT_CPUS		 (1u << 20) /* CPUs that a file may name. */
#define LIMIT_STAT_COUNTERS	 (1u << 22) /* Counters in a recording of counts: events x CPUs x threads. */
#define LIMIT_PAGE_COUNTS	 (1u << 20) /* Counts in an exported page, events x intervals: about 10 MB. */
#define LIMIT_SYMBOLS_PER_OBJECT (1u << 26) /* Symbols: chromium has 2 million, vmlinux 0.2 million. */
#define LIMIT_UNPACKED_BYTES \
	(UINT64_C(1) << 38) /* Decompressed bytes of a recording, against decompression bombs; real ones are smaller. */
#define LIMIT_UNPACKED_FREE   (UINT64_C(64) << 20) /* Decompressed bytes before the ratio below is checked. */
#define LIMIT_UNPACKED_RATIO  1024 /* Decompressed per compressed byte: empty stack dumps reach some hundreds. */
#define LIMIT_MINIDEBUG_BYTES (256u << 20) /* Decompressed .gnu_debugdata: a tenth of a full symbol table. */
#define LIMIT_PACKED_ELF      (256u << 20) /* Decompressed bytes of a kernel module: large ones have some tens of MB. */
#define LIMIT_DEBUG_SECTION   (UINT64_C(16) << 30) /* Decompressed bytes of a debug section. */
#define LIMIT_UNPACKED_SECTIONS \
	(UINT64_C(64)           \
		<< 20) /* Decompressed bytes of a file's sections, plus LIMIT_UNPACKED_SECTIONS_RATIO per file byte. */
#define LIMIT_UNPACKED_SECTIONS_RATIO 24
#define LIMIT_DEBUG_SECTION_RATIO     1032 /* Decompressed per compressed byte: the maximum of zlib. */
#define LIMIT_DWARF_DEPTH	      1024 /* Nesting of entries: templates in lambdas in functions reach some tens. */
#define LIMIT_DWARF_ORIGINS	      16 /* Chain entry -> abstract entry -> declaration: two or three in real files. */
#define LIMIT_DWARF_TYPE_CHAIN	      64 /* Chain of pointers and typedefs: ten are rare. */
#define LIMIT_CFI_INITIAL_BYTES	      512 /* Initial instructions of a CIE: compilers emit about ten bytes. */
#define LIMIT_CFI_EXPRESSION	      256 /* Bytes of an expression: signal frames and PLTs use about ten. */
#define LIMIT_UNWIND_RULE_BYTES	      (UINT64_C(1) << 20) /* Bytes of a file's rules beyond the size of their source. */
#define LIMIT_UNWIND_RULES	      65535 /* Distinct rules of a file: those of compilers reach a thousand. */
#define LIMIT_STACK_BYTES	      (UINT64_C(1) << 30) /* Distance from stack pointer to outermost frame. */
#define LIMIT_INDEX_CACHE	      (UINT64_C(2) << 30) /* Bytes of the cache of indexes between runs. */
#define LIMIT_PACK		      (1u << 30) /* Bytes of a pack, and items of each kind in it: usually some MB. */
#define LIMIT_PACK_CODE		      (64u << 20) /* Bytes of code in a pack: hot functions reach some hundred KB. */
#define LIMIT_INLINE_DEPTH	      256 /* Inlined calls at one address. */
#define LIMIT_PERF_MAP		      (1u << 30) /* Bytes of a perf map, as of a virtual machine that ran for weeks. */
#define LIMIT_MANGLED		      16384 /* Bytes of a mangled name: templates of templates reach some thousands. */
#define LIMIT_DEMANGLED		      (1u << 20) /* Bytes of a demangled name. */
#define LIMIT_LIFETIMES		      4096 /* Lifetimes of a Rust name: counting these lasts half a millisecond. */
#define LIMIT_JITDUMP		      (1u << 30) /* Bytes of a jitdump, as of a virtual machine that ran for days. */
#define LIMIT_JITDUMPS		      4096 /* Processes with generated code in a recording. */
#define LIMIT_JIT_FUNCTIONS	      (1u << 24) /* Functions in a jitdump: large servers reach some 100,000. */
#define LIMIT_JIT_TAIL		      (1u << 20) /* Functions of a jitdump that is read while it is written. */
#define LIMIT_JIT_LINES		      (1u << 20) /* Line entries of a generated function, read for each address. */
#define LIMIT_SPOOL_BYTES	      (UINT64_C(1) << 42) /* Address space of a stream: days of the busiest machine. */
#define LIMIT_CONFIG		      (1u << 20) /* Bytes of a configuration file, which is written by hand. */
#define LIMIT_SMALL_FILE	      (64u << 20) /* Bytes of a text file of /proc or /sys: kallsyms has up to 20 MB. */
#define LIMIT_FUNCTION_BYTES	      (16u << 20) /* Bytes of a displayed function: generated ones reach one MB. */
#define LIMIT_TRACKED_INSTRUCTIONS    (1u << 17) /* Instructions of a function in which values are tracked. */
#define LIMIT_TRACKED_PASSES	      24 /* Tracking passes over a function: each level of nested loops needs one. */
#define LIMIT_SEARCHED_DEBUG_INFO     (256u << 20) /* Bytes searched for a variable that its unit only declares. */
#define LIMIT_DATA_TYPE_DEPTH	      32 /* Nesting of displayed struct fields. */
#define LIMIT_DATA_TYPE_FIELDS	      (1u << 16) /* Fields of a type. */
#define LIMIT_BUILD_ID_LIST	      (16u << 20) /* Bytes of a list of build IDs, of which each has 41 bytes. */
#define LIMIT_ARCHIVE_HEADER	      (1u << 20) /* Bytes of an archive member's names and notes: usually two paths. */
#define LIMIT_ARCHIVE_UNPACKED	      (UINT64_C(256) << 20) /* Decompressed bytes of archives, plus the ratio below. */
#define LIMIT_ARCHIVE_RATIO	      200u /* Decompressed bytes for each byte of an archive: programs reach 20. */
#define LIMIT_SOURCE_FILE	      (64u << 20) /* Bytes of a displayed source file: generated ones reach some MB. */
#define LIMIT_TRACE_DEPTH	      256 /* Nesting of a print format: macros of the kernel reach 60. */
#define LIMIT_METRIC_NODES	      4096 /* Operands of a metric: the longest of vendors have some hundreds. */
#define LIMIT_PFM_NAME		      1024 /* Bytes of a vendor's event with masks and modifiers: usually about 150. */
#define LIMIT_BRANCH_HISTORY	      127 /* Branches of a sample: CPUs record at most 64. */
#define LIMIT_STITCHED		      1024 /* Callers beyond a CPU's branch registers; perf allows 127. */
#define LIMIT_LIVE_CGROUPS	      4096 /* Cgroups in a live session: hosts of containers have hundreds. */
#define LIMIT_METRIC_DEPTH	      64 /* Nesting of parentheses in a metric: vendors' metrics have about ten. */
#define LIMIT_STORE_POINTS	      (1u << 20) /* Points of a chart over time: screens have some thousand columns. */

#endif
