/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - defines the layout of a perf.data file: magic numbers, header, section, feature numbers. No code. Source:
 * tools/perf/Documentation/perf.data-file-format.txt of Linux; for features after 30, files of current tools.
 */
#ifndef PERFDATA_FORMAT_H
#define PERFDATA_FORMAT_H

#include <stdint.h>

#define PERFDATA_MAGIC2		   UINT64_C(0x32454c4946524550) /* "PERFILE2" as a little-endian number. */
#define PERFDATA_MAGIC1		   UINT64_C(0x454c494646524550) /* "PERFFILE" as a little-endian number. */
#define PERFDATA_HEADER_BYTES	   104
#define PERFDATA_PIPE_HEADER_BYTES 16
#define SCHEDSTAT_WITH_NAMES	   17 /* Version of /proc/schedstat since which CPU_DOMAIN_INFO has names of domains. */

enum perfdata_feature_bit {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID,
	FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,
	FEATURE_VERSION,
	FEATURE_ARCH,
	FEATURE_NRCPUS,
	FEATURE_CPUDESC,
	FEATURE_CPUID,
	FEATURE_TOTAL_MEM,
	FEATURE_CMDLINE,
	FEATURE_EVENT_DESC,
	FEATURE_CPU_TOPOLOGY,
	FEATURE_NUMA_TOPOLOGY,
	FEATURE_BRANCH_STACK,
	FEATURE_PMU_MAPPINGS,
	FEATURE_GROUP_DESC,
	FEATURE_AUXTRACE,
	FEATURE_STAT,
	FEATURE_CACHE,
	FEATURE_SAMPLE_TIME,
	FEATURE_MEM_TOPOLOGY,
	FEATURE_CLOCKID,
	FEATURE_DIR_FORMAT,
	FEATURE_BPF_PROG_INFO,
	FEATURE_BPF_BTF,
	FEATURE_COMPRESSED,
	FEATURE_CPU_PMU_CAPS,
	FEATURE_CLOCK_DATA,
	FEATURE_HYBRID_TOPOLOGY,
	FEATURE_PMU_CAPS,
	FEATURE_CPU_DOMAIN_INFO,
	FEATURE_E_MACHINE,
	FEATURE_CLN_SIZE,
	FEATURE_COUNT
};

/* Features of tally, with numbers that perf is unlikely to reach. */
#define FEATURE_PACK   200 /* Contents of a pack, see docs/pack.md. */
#define FEATURE_ORIGIN 201 /* Source of samples that do not come from perf events, see origin.h. */

#endif
