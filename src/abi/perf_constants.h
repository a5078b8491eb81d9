/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_constants.h - defines the numbers of the perf events ABI, so that tally can be built with old kernel headers but
 * read new files.
 *
 * The names have no PERF_ prefix, so that linux/perf_event.h may be included, too; a unit test compares both. Source:
 * linux/perf_event.h, perf_event_open(2); user records (64 and up): seeds/perf.data-file-format.txt.
 */
#ifndef ABI_PERF_CONSTANTS_H
#define ABI_PERF_CONSTANTS_H

#include <stdint.h>

enum event_type { EVENT_HARDWARE, EVENT_SOFTWARE, EVENT_TRACEPOINT, EVENT_HW_CACHE, EVENT_RAW, EVENT_BREAKPOINT };

enum hardware_event {
	HW_CPU_CYCLES,
	HW_INSTRUCTIONS,
	HW_CACHE_REFERENCES,
	HW_CACHE_MISSES,
	HW_BRANCH_INSTRUCTIONS,
	HW_BRANCH_MISSES,
	HW_BUS_CYCLES,
	HW_STALLED_CYCLES_FRONTEND,
	HW_STALLED_CYCLES_BACKEND,
	HW_REF_CPU_CYCLES,
	HW_COUNT
};
#define HW_EVENT_MASK	  UINT64_C(0xffffffff) /* Event in config; for hybrid PMUs, the bits above are the PMU type. */
#define CACHE_EVENT_MASK  UINT64_C(0xffffff) /* Bits of config for cache events: cache, operation, result. */
#define HW_PMU_TYPE_SHIFT 32

enum software_event {
	SW_CPU_CLOCK,
	SW_TASK_CLOCK,
	SW_PAGE_FAULTS,
	SW_CONTEXT_SWITCHES,
	SW_CPU_MIGRATIONS,
	SW_PAGE_FAULTS_MIN,
	SW_PAGE_FAULTS_MAJ,
	SW_ALIGNMENT_FAULTS,
	SW_EMULATION_FAULTS,
	SW_DUMMY,
	SW_BPF_OUTPUT,
	SW_CGROUP_SWITCHES,
	SW_COUNT
};

enum cache_id { CACHE_L1D, CACHE_L1I, CACHE_LL, CACHE_DTLB, CACHE_ITLB, CACHE_BPU, CACHE_NODE, CACHE_COUNT };
enum cache_op { CACHE_OP_READ, CACHE_OP_WRITE, CACHE_OP_PREFETCH, CACHE_OP_COUNT };
enum cache_result { CACHE_RESULT_ACCESS, CACHE_RESULT_MISS, CACHE_RESULT_COUNT };

#define SAMPLE_IP	      (UINT64_C(1) << 0)
#define SAMPLE_TID	      (UINT64_C(1) << 1)
#define SAMPLE_TIME	      (UINT64_C(1) << 2)
#define SAMPLE_ADDR	      (UINT64_C(1) << 3)
#define SAMPLE_READ	      (UINT64_C(1) << 4)
#define SAMPLE_CALLCHAIN      (UINT64_C(1) << 5)
#define SAMPLE_ID	      (UINT64_C(1) << 6)
#define SAMPLE_CPU	      (UINT64_C(1) << 7)
#define SAMPLE_PERIOD	      (UINT64_C(1) << 8)
#define SAMPLE_STREAM_ID      (UINT64_C(1) << 9)
#define SAMPLE_RAW	      (UINT64_C(1) << 10)
#define SAMPLE_BRANCH_STACK   (UINT64_C(1) << 11)
#define SAMPLE_REGS_USER      (UINT64_C(1) << 12)
#define SAMPLE_STACK_USER     (UINT64_C(1) << 13)
#define SAMPLE_WEIGHT	      (UINT64_C(1) << 14)
#define SAMPLE_DATA_SRC	      (UINT64_C(1) << 15)
#define SAMPLE_IDENTIFIER     (UINT64_C(1) << 16)
#define SAMPLE_TRANSACTION    (UINT64_C(1) << 17)
#define SAMPLE_REGS_INTR      (UINT64_C(1) << 18)
#define SAMPLE_PHYS_ADDR      (UINT64_C(1) << 19)
#define SAMPLE_AUX	      (UINT64_C(1) << 20)
#define SAMPLE_CGROUP	      (UINT64_C(1) << 21)
#define SAMPLE_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define SAMPLE_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define SAMPLE_WEIGHT_STRUCT  (UINT64_C(1) << 24)
#define SAMPLE_KNOWN_MASK     ((UINT64_C(1) << 25) - 1)

#define READ_FORMAT_TOTAL_TIME_ENABLED (UINT64_C(1) << 0)
#define READ_FORMAT_TOTAL_TIME_RUNNING (UINT64_C(1) << 1)
#define READ_FORMAT_ID		       (UINT64_C(1) << 2)
#define READ_FORMAT_GROUP	       (UINT64_C(1) << 3)
#define READ_FORMAT_LOST	       (UINT64_C(1) << 4)

#define BRANCH_USER	  (UINT64_C(1) << 0)
#define BRANCH_KERNEL	  (UINT64_C(1) << 1)
#define BRANCH_HV	  (UINT64_C(1) << 2)
#define BRANCH_ANY	  (UINT64_C(1) << 3)
#define BRANCH_ANY_CALL	  (UINT64_C(1) << 4)
#define BRANCH_ANY_RETURN (UINT64_C(1) << 5)
#define BRANCH_IND_CALL	  (UINT64_C(1) << 6)
#define BRANCH_ABORT_TX	  (UINT64_C(1) << 7)
#define BRANCH_IN_TX	  (UINT64_C(1) << 8)
#define BRANCH_NO_TX	  (UINT64_C(1) << 9)
#define BRANCH_COND	  (UINT64_C(1) << 10)
#define BRANCH_CALL_STACK (UINT64_C(1) << 11)
#define BRANCH_IND_JUMP	  (UINT64_C(1) << 12)
#define BRANCH_CALL	  (UINT64_C(1) << 13)
#define BRANCH_NO_FLAGS	  (UINT64_C(1) << 14)
#define BRANCH_NO_CYCLES  (UINT64_C(1) << 15)
#define BRANCH_TYPE_SAVE  (UINT64_C(1) << 16)
#define BRANCH_HW_INDEX	  (UINT64_C(1) << 17)
#define BRANCH_PRIV_SAVE  (UINT64_C(1) << 18)
#define BRANCH_COUNTERS	  (UINT64_C(1) << 19)

/* Sizes of struct perf_event_attr, with the fields that each version added. */
#define ATTR_SIZE_VER0	64u
#define ATTR_SIZE_VER1	72u /* config2 */
#define ATTR_SIZE_VER2	80u /* branch_sample_type */
#define ATTR_SIZE_VER3	96u /* sample_regs_user, sample_stack_user */
#define ATTR_SIZE_VER4	104u /* sample_regs_intr */
#define ATTR_SIZE_VER5	112u /* aux_watermark, sample_max_stack */
#define ATTR_SIZE_VER6	120u /* aux_sample_size, aux_action */
#define ATTR_SIZE_VER7	128u /* sig_data */
#define ATTR_SIZE_VER8	136u /* config3 */
#define ATTR_SIZE_VER9	144u /* config4 */
#define ATTR_SIZE_KNOWN ATTR_SIZE_VER9

enum record_type {
	RECORD_MMAP = 1,
	RECORD_LOST,
	RECORD_COMM,
	RECORD_EXIT,
	RECORD_THROTTLE,
	RECORD_UNTHROTTLE,
	RECORD_FORK,
	RECORD_READ,
	RECORD_SAMPLE,
	RECORD_MMAP2,
	RECORD_AUX,
	RECORD_ITRACE_START,
	RECORD_LOST_SAMPLES,
	RECORD_SWITCH,
	RECORD_SWITCH_CPU_WIDE,
	RECORD_NAMESPACES,
	RECORD_KSYMBOL,
	RECORD_BPF_EVENT,
	RECORD_CGROUP,
	RECORD_TEXT_POKE,
	RECORD_AUX_OUTPUT_HW_ID,
	RECORD_CALLCHAIN_DEFERRED,
	RECORD_KERNEL_MAX,

	RECORD_HEADER_ATTR = 64,
	RECORD_HEADER_EVENT_TYPE,
	RECORD_HEADER_TRACING_DATA,
	RECORD_HEADER_BUILD_ID,
	RECORD_FINISHED_ROUND,
	RECORD_ID_INDEX,
	RECORD_AUXTRACE_INFO,
	RECORD_AUXTRACE,
	RECORD_AUXTRACE_ERROR,
	RECORD_THREAD_MAP,
	RECORD_CPU_MAP,
	RECORD_STAT_CONFIG,
	RECORD_STAT,
	RECORD_STAT_ROUND,
	RECORD_EVENT_UPDATE,
	RECORD_TIME_CONV,
	RECORD_HEADER_FEATURE,
	RECORD_COMPRESSED,
	RECORD_FINISHED_INIT,
	RECORD_COMPRESSED2,
	RECORD_BPF_METADATA,
	RECORD_USER_MAX
};

#define MISC_CPUMODE_MASK	    7u
#define MISC_CPUMODE_UNKNOWN	    0u
#define MISC_CPUMODE_KERNEL	    1u
#define MISC_CPUMODE_USER	    2u
#define MISC_CPUMODE_HYPERVISOR	    3u
#define MISC_CPUMODE_GUEST_KERNEL   4u
#define MISC_CPUMODE_GUEST_USER	    5u
#define MISC_PROC_MAP_PARSE_TIMEOUT (1u << 12)
#define MISC_MMAP_DATA		    (1u << 13)
#define MISC_COMM_EXEC		    (1u << 13)
#define MISC_FORK_EXEC		    (1u << 13)
#define MISC_SWITCH_OUT		    (1u << 13)
#define MISC_EXACT_IP		    (1u << 14)
#define MISC_SWITCH_OUT_PREEMPT	    (1u << 14)
#define MISC_MMAP_BUILD_ID	    (1u << 14)
#define MISC_LOST_SAMPLES_BPF	    (1u << 15) /* For LOST_SAMPLES: a filter dropped the samples. */
#define MISC_BUILD_ID_SIZE	    (1u << 15) /* For HEADER_BUILD_ID: the size byte is valid. */

/* Markers in call chains. */
#define CONTEXT_HV	      ((uint64_t)-32)
#define CONTEXT_KERNEL	      ((uint64_t)-128)
#define CONTEXT_USER	      ((uint64_t)-512)
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define CONTEXT_GUEST	      ((uint64_t)-2048)
#define CONTEXT_GUEST_KERNEL  ((uint64_t)-2176)
#define CONTEXT_GUEST_USER    ((uint64_t)-2560)
#define CONTEXT_MAX	      ((uint64_t)-4095)

#define REGS_ABI_NONE 0u
#define REGS_ABI_32   1u
#define REGS_ABI_64   2u

#define KSYMBOL_TYPE_BPF	1u
#define KSYMBOL_TYPE_OOL	2u
#define KSYMBOL_FLAG_UNREGISTER 1u

#define BPF_EVENT_PROG_LOAD   1u
#define BPF_EVENT_PROG_UNLOAD 2u

#define BREAKPOINT_R 1u
#define BREAKPOINT_W 2u
#define BREAKPOINT_X 4u

/* Flags of perf_event_open. */
#define OPEN_FD_NO_GROUP 1u
#define OPEN_FD_OUTPUT	 2u
#define OPEN_PID_CGROUP	 4u
#define OPEN_FD_CLOEXEC	 8u

enum event_update_type { EVENT_UPDATE_UNIT, EVENT_UPDATE_SCALE, EVENT_UPDATE_NAME, EVENT_UPDATE_CPUS };
enum cpu_map_encoding { CPU_MAP_CPUS, CPU_MAP_MASK, CPU_MAP_RANGE };
enum stat_config_tag { STAT_CONFIG_AGGR_MODE, STAT_CONFIG_INTERVAL, STAT_CONFIG_SCALE, STAT_CONFIG_AGGR_LEVEL };

#endif
