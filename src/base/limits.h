/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - defines every bound that tally puts on input, with its reason. Names begin with LIMIT_; add a bound here
 * instead of writing a number elsewhere.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stdint.h>

#define LIMIT_DIAG_TEXTS	 256 /* a screenful per cause is enough; a hostile file must not fill memory */
#define LIMIT_EVENTS		 (1u << 20) /* attrs in one file: hundreds of events x hybrid PMUs, with room */
#define LIMIT_IDS		 (1u << 24) /* event ids in one file: events x CPUs x threads */
#define LIMIT_CALLCHAIN		 65536 /* a record has 16-bit size, so at most 8190 fit; tail for merged chains */
#define LIMIT_STRING		 (1u << 20) /* one header string: a command line of many files */
#define LIMIT_CPUS		 (1u << 20) /* CPUs named by a file */
#define LIMIT_STAT_COUNTERS	 (1u << 22) /* events x CPUs x threads of a recording of counts */
#define LIMIT_PAGE_COUNTS	 (1u << 20) /* events x intervals of a page: some 10 MB of it */
#define LIMIT_SYMBOLS_PER_OBJECT (1u << 26) /* chromium has 2 M; vmlinux 0.2 M */
#define LIMIT_UNPACKED_BYTES \
	(UINT64_C(1) << 38) /* a decompression bomb stops here; a real recording never comes near */
#define LIMIT_UNPACKED_FREE   (UINT64_C(64) << 20) /* unpacked before the ratio is looked at: one ring */
#define LIMIT_UNPACKED_RATIO  1024 /* per byte packed: copies of empty stacks reach some hundreds */
#define LIMIT_MINIDEBUG_BYTES (256u << 20) /* .gnu_debugdata unpacked: names only, a tenth of a full symbol table */
#define LIMIT_PACKED_ELF      (256u << 20) /* a kernel module unpacked: the largest reach some tens of MB */
#define LIMIT_DEBUG_SECTION   (UINT64_C(16) << 30) /* one section of debug information, unpacked */
#define LIMIT_UNPACKED_SECTIONS \
	(UINT64_C(64)           \
		<< 20) /* of one file, and LIMIT_UNPACKED_SECTIONS_RATIO for each of its bytes: compilers' are packed to a quarter */
#define LIMIT_UNPACKED_SECTIONS_RATIO 24
#define LIMIT_DEBUG_SECTION_RATIO     1032 /* what zlib can do at best; zstd's better is no debug information */
#define LIMIT_DWARF_DEPTH	      1024 /* nesting of entries: templates in lambdas in functions reach some tens */
#define LIMIT_DWARF_ORIGINS	      16 /* entry -> abstract entry -> declaration; two or three in real files */
#define LIMIT_DWARF_TYPE_CHAIN	      64 /* pointers to pointers, typedefs of typedefs: ten are rare */
#define LIMIT_CFI_INITIAL_BYTES	      512 /* program that entries share: compilers need some ten bytes */
#define LIMIT_CFI_EXPRESSION	      256 /* bytes of one rule's: signal frames and PLTs need some ten */
#define LIMIT_UNWIND_RULE_BYTES	      (UINT64_C(1) << 20) /* rules beyond the size of what they were read from */
#define LIMIT_UNWIND_RULES	      65535 /* distinct rules of one file: those of a compiler reach a thousand */
#define LIMIT_STACK_BYTES	      (UINT64_C(1) << 30) /* from a thread's stack pointer to its first frame; 8 MiB is usual */
#define LIMIT_INDEX_CACHE	      (UINT64_C(2) << 30) /* what is kept between runs, of all programs that were used lately */
#define LIMIT_PACK		      (1u << 30) /* bytes of a pack, and items of one kind in it: some MB as a rule */
#define LIMIT_PACK_CODE		      (64u << 20) /* code that is packed: hot functions reach some hundred KB */
#define LIMIT_INLINE_DEPTH	      256 /* inlined calls at one address */
#define LIMIT_PERF_MAP		      (1u << 30) /* names of generated code: a virtual machine that ran for weeks */
#define LIMIT_MANGLED		      16384 /* one mangled name: templates of templates reach some thousands */
#define LIMIT_DEMANGLED		      (1u << 20) /* one name as people read it */
#define LIMIT_LIFETIMES		      4096 /* that the binders of one Rust name declare: counting them takes half a millisecond */
#define LIMIT_JITDUMP		      (1u << 30) /* code and all: a virtual machine that ran for days */
#define LIMIT_JITDUMPS		      4096 /* processes of one recording that generate code */
#define LIMIT_JIT_FUNCTIONS	      (1u << 24) /* in one dump; large servers reach some 100,000 */
#define LIMIT_JIT_TAIL		      (1u << 20) /* functions of one dump that is read while it is written */
#define LIMIT_JIT_LINES		      (1u << 20) /* of one generated function, read for each address asked for */
#define LIMIT_SPOOL_BYTES	      (UINT64_C(1) << 42) /* addresses kept for a stream: days of the busiest machine */
#define LIMIT_CONFIG		      (1u << 20) /* a configuration file, written by hand */
#define LIMIT_SMALL_FILE	      (64u << 20) /* text files of /proc and /sys read whole; kallsyms is 20 MB at most */
#define LIMIT_FUNCTION_BYTES	      (16u << 20) /* code of one function that is shown; generated ones reach one MB */
#define LIMIT_TRACKED_INSTRUCTIONS    (1u << 17) /* of a function whose values are followed through its code */
#define LIMIT_TRACKED_PASSES	      24 /* over a function: loops in loops take one each */
#define LIMIT_SEARCHED_DEBUG_INFO     (256u << 20) /* bytes that are searched for a variable that its unit only declares */
#define LIMIT_DATA_TYPE_DEPTH	      32 /* records in records whose fields are shown */
#define LIMIT_DATA_TYPE_FIELDS	      (1u << 16) /* of one type */
#define LIMIT_BUILD_ID_LIST	      (16u << 20) /* a file of build ids, 41 bytes each */
#define LIMIT_ARCHIVE_HEADER	      (1u << 20) /* names and notes of one member: two paths, as a rule */
#define LIMIT_ARCHIVE_UNPACKED	      (UINT64_C(256) << 20) /* of any archive; of larger ones: */
#define LIMIT_ARCHIVE_RATIO	      200u /* times their size; programs reach 20 */
#define LIMIT_SOURCE_FILE	      (64u << 20) /* a source file that is shown; generated ones reach some MB */
#define LIMIT_TRACE_DEPTH	      256 /* nesting of a print format: macros of the kernel reach 60 */
#define LIMIT_METRIC_NODES	      4096 /* operands of one metric: vendors' longest reach some hundreds */
#define LIMIT_PFM_NAME		      1024 /* a vendor's event with all its masks and modifiers: they have about 150 bytes */
#define LIMIT_BRANCH_HISTORY	      127 /* branches of one sample that are followed: CPUs keep 64 at most */
#define LIMIT_STITCHED		      1024 /* callers beyond a CPU's registers; perf follows 127 */
#define LIMIT_LIVE_CGROUPS	      4096 /* kept while top runs: machines of containers have hundreds */
#define LIMIT_METRIC_DEPTH	      64 /* parentheses in one metric: vendors' have about ten */
#define LIMIT_STORE_POINTS	      (1u << 20) /* of a load over time: screens have some thousand columns */

#endif
