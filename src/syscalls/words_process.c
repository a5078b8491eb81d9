/* SPDX-License-Identifier: Apache-2.0 */
/* Names of flags and numbers in calls on processes, memory and time. The values are those of the headers of Linux. */
#include "base/array.h"
#include "syscalls/syscall_words.h"

static const struct syscall_word words_prot[] = {
	{1, "READ"}, {2, "WRITE"}, {4, "EXEC"}, {8, "SEM"}, {0x1000000, "GROWSDOWN"}, {0x2000000, "GROWSUP"}};
const struct syscall_words syscall_words_prot = {"PROT_", "", words_prot, ARRAY_LEN(words_prot), false};

static const struct syscall_word words_map[] = {{3, "SHARED_VALIDATE"}, {1, "SHARED"}, {2, "PRIVATE"}, {0x10, "FIXED"},
	{0x20, "ANONYMOUS"}, {0x40, "32BIT"}, {0x100, "GROWSDOWN"}, {0x800, "DENYWRITE"}, {0x1000, "EXECUTABLE"},
	{0x2000, "LOCKED"}, {0x4000, "NORESERVE"}, {0x8000, "POPULATE"}, {0x10000, "NONBLOCK"}, {0x20000, "STACK"},
	{0x40000, "HUGETLB"}, {0x80000, "SYNC"}, {0x100000, "FIXED_NOREPLACE"}, {0x4000000, "UNINITIALIZED"}};
const struct syscall_words syscall_words_map = {"MAP_", "", words_map, ARRAY_LEN(words_map), false};

static const struct syscall_word words_mremap[] = {{1, "MAYMOVE"}, {2, "FIXED"}, {4, "DONTUNMAP"}};
const struct syscall_words syscall_words_mremap = {"MREMAP_", "", words_mremap, ARRAY_LEN(words_mremap), false};

static const struct syscall_word words_madvise[] = {{0, "NORMAL"}, {1, "RANDOM"}, {2, "SEQUENTIAL"}, {3, "WILLNEED"},
	{4, "DONTNEED"}, {8, "FREE"}, {9, "REMOVE"}, {0xa, "DONTFORK"}, {0xb, "DOFORK"}, {0xc, "MERGEABLE"},
	{0xd, "UNMERGEABLE"}, {0xe, "HUGEPAGE"}, {0xf, "NOHUGEPAGE"}, {0x10, "DONTDUMP"}, {0x11, "DODUMP"},
	{0x12, "WIPEONFORK"}, {0x13, "KEEPONFORK"}, {0x14, "COLD"}, {0x15, "PAGEOUT"}, {0x16, "POPULATE_READ"},
	{0x17, "POPULATE_WRITE"}, {0x18, "DONTNEED_LOCKED"}, {0x19, "COLLAPSE"}, {0x64, "HWPOISON"},
	{0x65, "SOFT_OFFLINE"}, {0x66, "GUARD_INSTALL"}, {0x67, "GUARD_REMOVE"}};
const struct syscall_words syscall_words_madvise = {"MADV_", "", words_madvise, ARRAY_LEN(words_madvise), true};

static const struct syscall_word words_msync[] = {{1, "ASYNC"}, {2, "INVALIDATE"}, {4, "SYNC"}};
const struct syscall_words syscall_words_msync = {"MS_", "", words_msync, ARRAY_LEN(words_msync), false};

static const struct syscall_word words_mlockall[] = {{1, "CURRENT"}, {2, "FUTURE"}, {4, "ONFAULT"}};
const struct syscall_words syscall_words_mlockall = {"MCL_", "", words_mlockall, ARRAY_LEN(words_mlockall), false};

static const struct syscall_word words_mlock2[] = {{1, "ONFAULT"}};
const struct syscall_words syscall_words_mlock2 = {"MLOCK_", "", words_mlock2, ARRAY_LEN(words_mlock2), false};

static const struct syscall_word words_signalfd[] = {{0x80000, "CLOEXEC"}, {0x800, "NONBLOCK"}};
const struct syscall_words syscall_words_signalfd = {"SFD_", "", words_signalfd, ARRAY_LEN(words_signalfd), false};

static const struct syscall_word words_timerfd[] = {{0x80000, "CLOEXEC"}, {0x800, "NONBLOCK"}};
const struct syscall_words syscall_words_timerfd = {"TFD_", "", words_timerfd, ARRAY_LEN(words_timerfd), false};

static const struct syscall_word words_timerfd_set[] = {{1, "ABSTIME"}, {2, "CANCEL_ON_SET"}};
const struct syscall_words syscall_words_timerfd_set = {
	"TFD_TIMER_", "", words_timerfd_set, ARRAY_LEN(words_timerfd_set), false};

static const struct syscall_word words_timer[] = {{1, "ABSTIME"}};
const struct syscall_words syscall_words_timer = {"TIMER_", "", words_timer, ARRAY_LEN(words_timer), false};

static const struct syscall_word words_clock[] = {{0, "REALTIME"}, {1, "MONOTONIC"}, {2, "PROCESS_CPUTIME_ID"},
	{3, "THREAD_CPUTIME_ID"}, {4, "MONOTONIC_RAW"}, {5, "REALTIME_COARSE"}, {6, "MONOTONIC_COARSE"},
	{7, "BOOTTIME"}, {8, "REALTIME_ALARM"}, {9, "BOOTTIME_ALARM"}, {0xa, "SGI_CYCLE"}, {0xb, "TAI"}};
const struct syscall_words syscall_words_clock = {"CLOCK_", "", words_clock, ARRAY_LEN(words_clock), true};

static const struct syscall_word words_itimer[] = {{0, "REAL"}, {1, "VIRTUAL"}, {2, "PROF"}};
const struct syscall_words syscall_words_itimer = {"ITIMER_", "", words_itimer, ARRAY_LEN(words_itimer), true};

static const struct syscall_word words_clone[] = {{0x100, "VM"}, {0x200, "FS"}, {0x400, "FILES"}, {0x800, "SIGHAND"},
	{0x1000, "PIDFD"}, {0x2000, "PTRACE"}, {0x4000, "VFORK"}, {0x8000, "PARENT"}, {0x10000, "THREAD"},
	{0x20000, "NEWNS"}, {0x40000, "SYSVSEM"}, {0x80000, "SETTLS"}, {0x100000, "PARENT_SETTID"},
	{0x200000, "CHILD_CLEARTID"}, {0x400000, "DETACHED"}, {0x800000, "UNTRACED"}, {0x1000000, "CHILD_SETTID"},
	{0x2000000, "NEWCGROUP"}, {0x4000000, "NEWUTS"}, {0x8000000, "NEWIPC"}, {0x10000000, "NEWUSER"},
	{0x20000000, "NEWPID"}, {0x40000000, "NEWNET"}, {0x80000000, "IO"}, {0x100000000, "CLEAR_SIGHAND"},
	{0x200000000, "INTO_CGROUP"}, {0x80, "NEWTIME"}};
const struct syscall_words syscall_words_clone = {"CLONE_", "", words_clone, ARRAY_LEN(words_clone), false};

static const struct syscall_word words_wait4[] = {{1, "WNOHANG"}, {2, "WUNTRACED"}, {4, "WEXITED"}, {8, "WCONTINUED"},
	{0x1000000, "WNOWAIT"}, {0x20000000, "__WNOTHREAD"}, {0x40000000, "__WALL"}, {0x80000000, "__WCLONE"}};
const struct syscall_words syscall_words_wait4 = {"", "", words_wait4, ARRAY_LEN(words_wait4), false};

static const struct syscall_word words_wait_id[] = {{0, "ALL"}, {1, "PID"}, {2, "PGID"}, {3, "PIDFD"}};
const struct syscall_words syscall_words_wait_id = {"P_", "", words_wait_id, ARRAY_LEN(words_wait_id), true};

static const struct syscall_word words_rusage_who[] = {{0, "SELF"}, {0xffffffff, "CHILDREN"}, {1, "THREAD"}};
const struct syscall_words syscall_words_rusage_who = {
	"RUSAGE_", "", words_rusage_who, ARRAY_LEN(words_rusage_who), true};

static const struct syscall_word words_priority_who[] = {{0, "PROCESS"}, {1, "PGRP"}, {2, "USER"}};
const struct syscall_words syscall_words_priority_who = {
	"PRIO_", "", words_priority_who, ARRAY_LEN(words_priority_who), true};

static const struct syscall_word words_resource[] = {{0, "CPU"}, {1, "FSIZE"}, {2, "DATA"}, {3, "STACK"}, {4, "CORE"},
	{5, "RSS"}, {6, "NPROC"}, {7, "NOFILE"}, {8, "MEMLOCK"}, {9, "AS"}, {0xa, "LOCKS"}, {0xb, "SIGPENDING"},
	{0xc, "MSGQUEUE"}, {0xd, "NICE"}, {0xe, "RTPRIO"}, {0xf, "RTTIME"}};
const struct syscall_words syscall_words_resource = {"RLIMIT_", "", words_resource, ARRAY_LEN(words_resource), true};

static const struct syscall_word words_futex_cmd[] = {{0, "WAIT"}, {1, "WAKE"}, {2, "FD"}, {3, "REQUEUE"},
	{4, "CMP_REQUEUE"}, {5, "WAKE_OP"}, {6, "LOCK_PI"}, {7, "UNLOCK_PI"}, {8, "TRYLOCK_PI"}, {9, "WAIT_BITSET"},
	{0xa, "WAKE_BITSET"}, {0xb, "WAIT_REQUEUE_PI"}, {0xc, "CMP_REQUEUE_PI"}, {0xd, "LOCK_PI2"}};
const struct syscall_words syscall_words_futex_cmd = {"FUTEX_", "", words_futex_cmd, ARRAY_LEN(words_futex_cmd), true};

static const struct syscall_word words_futex2[] = {
	{3, "SIZE_U64"}, {1, "SIZE_U16"}, {2, "SIZE_U32"}, {4, "NUMA"}, {8, "MPOL"}, {0x80, "PRIVATE"}};
const struct syscall_words syscall_words_futex2 = {"FUTEX2_", "", words_futex2, ARRAY_LEN(words_futex2), false};

static const struct syscall_word words_sigprocmask[] = {{0, "BLOCK"}, {1, "UNBLOCK"}, {2, "SETMASK"}};
const struct syscall_words syscall_words_sigprocmask = {
	"SIG_", "", words_sigprocmask, ARRAY_LEN(words_sigprocmask), true};

static const struct syscall_word words_sigaction[] = {{1, "NOCLDSTOP"}, {2, "NOCLDWAIT"}, {4, "SIGINFO"},
	{0x400, "UNSUPPORTED"}, {0x800, "EXPOSE_TAGBITS"}, {0x4000000, "RESTORER"}, {0x8000000, "ONSTACK"},
	{0x10000000, "RESTART"}, {0x40000000, "NODEFER"}, {0x80000000, "RESETHAND"}};
const struct syscall_words syscall_words_sigaction = {"SA_", "", words_sigaction, ARRAY_LEN(words_sigaction), false};

static const struct syscall_word words_sigaltstack[] = {{1, "ONSTACK"}, {2, "DISABLE"}, {0x80000000, "AUTODISARM"}};
const struct syscall_words syscall_words_sigaltstack = {
	"SS_", "", words_sigaltstack, ARRAY_LEN(words_sigaltstack), false};

static const struct syscall_word words_sched_policy[] = {
	{0, "NORMAL"}, {1, "FIFO"}, {2, "RR"}, {3, "BATCH"}, {5, "IDLE"}, {6, "DEADLINE"}, {7, "EXT"}};
const struct syscall_words syscall_words_sched_policy = {
	"SCHED_", "", words_sched_policy, ARRAY_LEN(words_sched_policy), true};

static const struct syscall_word words_arch_prctl[] = {{0x1001, "SET_GS"}, {0x1002, "SET_FS"}, {0x1003, "GET_FS"},
	{0x1004, "GET_GS"}, {0x1011, "GET_CPUID"}, {0x1012, "SET_CPUID"}, {0x1021, "GET_XCOMP_SUPP"},
	{0x1022, "GET_XCOMP_PERM"}, {0x1023, "REQ_XCOMP_PERM"}, {0x1024, "GET_XCOMP_GUEST_PERM"},
	{0x1025, "REQ_XCOMP_GUEST_PERM"}, {0x2001, "MAP_VDSO_X32"}, {0x2002, "MAP_VDSO_32"}, {0x2003, "MAP_VDSO_64"},
	{0x5001, "SHSTK_ENABLE"}, {0x5002, "SHSTK_DISABLE"}, {0x5003, "SHSTK_LOCK"}, {0x5004, "SHSTK_UNLOCK"},
	{0x5005, "SHSTK_STATUS"}};
const struct syscall_words syscall_words_arch_prctl = {
	"ARCH_", "", words_arch_prctl, ARRAY_LEN(words_arch_prctl), true};

static const struct syscall_word words_prctl[] = {{1, "SET_PDEATHSIG"}, {2, "GET_PDEATHSIG"}, {3, "GET_DUMPABLE"},
	{4, "SET_DUMPABLE"}, {5, "GET_UNALIGN"}, {6, "SET_UNALIGN"}, {7, "GET_KEEPCAPS"}, {8, "SET_KEEPCAPS"},
	{9, "GET_FPEMU"}, {0xa, "SET_FPEMU"}, {0xb, "GET_FPEXC"}, {0xc, "SET_FPEXC"}, {0xd, "GET_TIMING"},
	{0xe, "SET_TIMING"}, {0xf, "SET_NAME"}, {0x10, "GET_NAME"}, {0x13, "GET_ENDIAN"}, {0x14, "SET_ENDIAN"},
	{0x15, "GET_SECCOMP"}, {0x16, "SET_SECCOMP"}, {0x17, "CAPBSET_READ"}, {0x18, "CAPBSET_DROP"}, {0x19, "GET_TSC"},
	{0x1a, "SET_TSC"}, {0x1b, "GET_SECUREBITS"}, {0x1c, "SET_SECUREBITS"}, {0x1d, "SET_TIMERSLACK"},
	{0x1e, "GET_TIMERSLACK"}, {0x1f, "TASK_PERF_EVENTS_DISABLE"}, {0x20, "TASK_PERF_EVENTS_ENABLE"},
	{0x21, "MCE_KILL"}, {0x22, "MCE_KILL_GET"}, {0x23, "SET_MM"}, {0x24, "SET_CHILD_SUBREAPER"},
	{0x25, "GET_CHILD_SUBREAPER"}, {0x26, "SET_NO_NEW_PRIVS"}, {0x27, "GET_NO_NEW_PRIVS"},
	{0x28, "GET_TID_ADDRESS"}, {0x29, "SET_THP_DISABLE"}, {0x2a, "GET_THP_DISABLE"}, {0x2d, "SET_FP_MODE"},
	{0x2e, "GET_FP_MODE"}, {0x2f, "CAP_AMBIENT"}, {0x32, "SVE_SET_VL"}, {0x33, "SVE_GET_VL"},
	{0x34, "GET_SPECULATION_CTRL"}, {0x35, "SET_SPECULATION_CTRL"}, {0x36, "PAC_RESET_KEYS"},
	{0x37, "SET_TAGGED_ADDR_CTRL"}, {0x38, "GET_TAGGED_ADDR_CTRL"}, {0x39, "SET_IO_FLUSHER"},
	{0x3a, "GET_IO_FLUSHER"}, {0x3b, "SET_SYSCALL_USER_DISPATCH"}, {0x3c, "PAC_SET_ENABLED_KEYS"},
	{0x3d, "PAC_GET_ENABLED_KEYS"}, {0x3e, "SCHED_CORE"}, {0x3f, "SME_SET_VL"}, {0x40, "SME_GET_VL"},
	{0x41, "SET_MDWE"}, {0x42, "GET_MDWE"}, {0x43, "SET_MEMORY_MERGE"}, {0x44, "GET_MEMORY_MERGE"},
	{0x53564d41, "SET_VMA"}, {0x59616d61, "SET_PTRACER"}};
const struct syscall_words syscall_words_prctl = {"PR_", "", words_prctl, ARRAY_LEN(words_prctl), true};

static const struct syscall_word words_seccomp[] = {
	{0, "SET_MODE_STRICT"}, {1, "SET_MODE_FILTER"}, {2, "GET_ACTION_AVAIL"}, {3, "GET_NOTIF_SIZES"}};
const struct syscall_words syscall_words_seccomp = {"SECCOMP_", "", words_seccomp, ARRAY_LEN(words_seccomp), true};

static const struct syscall_word words_seccomp_flags[] = {{1, "TSYNC"}, {2, "LOG"}, {4, "SPEC_ALLOW"},
	{8, "NEW_LISTENER"}, {0x10, "TSYNC_ESRCH"}, {0x20, "WAIT_KILLABLE_RECV"}};
const struct syscall_words syscall_words_seccomp_flags = {
	"SECCOMP_FILTER_FLAG_", "", words_seccomp_flags, ARRAY_LEN(words_seccomp_flags), false};

static const struct syscall_word words_bpf_cmd[] = {{0, "MAP_CREATE"}, {1, "MAP_LOOKUP_ELEM"}, {2, "MAP_UPDATE_ELEM"},
	{3, "MAP_DELETE_ELEM"}, {4, "MAP_GET_NEXT_KEY"}, {5, "PROG_LOAD"}, {6, "OBJ_PIN"}, {7, "OBJ_GET"},
	{8, "PROG_ATTACH"}, {9, "PROG_DETACH"}, {0xa, "PROG_TEST_RUN"}, {0xb, "PROG_GET_NEXT_ID"},
	{0xc, "MAP_GET_NEXT_ID"}, {0xd, "PROG_GET_FD_BY_ID"}, {0xe, "MAP_GET_FD_BY_ID"}, {0xf, "OBJ_GET_INFO_BY_FD"},
	{0x10, "PROG_QUERY"}, {0x11, "RAW_TRACEPOINT_OPEN"}, {0x12, "BTF_LOAD"}, {0x13, "BTF_GET_FD_BY_ID"},
	{0x14, "TASK_FD_QUERY"}, {0x15, "MAP_LOOKUP_AND_DELETE_ELEM"}, {0x16, "MAP_FREEZE"}, {0x17, "BTF_GET_NEXT_ID"},
	{0x18, "MAP_LOOKUP_BATCH"}, {0x19, "MAP_LOOKUP_AND_DELETE_BATCH"}, {0x1a, "MAP_UPDATE_BATCH"},
	{0x1b, "MAP_DELETE_BATCH"}, {0x1c, "LINK_CREATE"}, {0x1d, "LINK_UPDATE"}, {0x1e, "LINK_GET_FD_BY_ID"},
	{0x1f, "LINK_GET_NEXT_ID"}, {0x20, "ENABLE_STATS"}, {0x21, "ITER_CREATE"}, {0x22, "LINK_DETACH"},
	{0x23, "PROG_BIND_MAP"}, {0x24, "TOKEN_CREATE"}, {0x25, "PROG_STREAM_READ_BY_FD"}};
const struct syscall_words syscall_words_bpf_cmd = {"BPF_", "", words_bpf_cmd, ARRAY_LEN(words_bpf_cmd), true};

static const struct syscall_word words_keyctl[] = {{0, "GET_KEYRING_ID"}, {1, "JOIN_SESSION_KEYRING"}, {2, "UPDATE"},
	{3, "REVOKE"}, {4, "CHOWN"}, {5, "SETPERM"}, {6, "DESCRIBE"}, {7, "CLEAR"}, {8, "LINK"}, {9, "UNLINK"},
	{0xa, "SEARCH"}, {0xb, "READ"}, {0xc, "INSTANTIATE"}, {0xd, "NEGATE"}, {0xe, "SET_REQKEY_KEYRING"},
	{0xf, "SET_TIMEOUT"}, {0x10, "ASSUME_AUTHORITY"}, {0x11, "GET_SECURITY"}, {0x12, "SESSION_TO_PARENT"},
	{0x13, "REJECT"}, {0x14, "INSTANTIATE_IOV"}, {0x15, "INVALIDATE"}, {0x16, "GET_PERSISTENT"},
	{0x17, "DH_COMPUTE"}, {0x18, "PKEY_QUERY"}, {0x19, "PKEY_ENCRYPT"}, {0x1a, "PKEY_DECRYPT"}, {0x1b, "PKEY_SIGN"},
	{0x1c, "PKEY_VERIFY"}, {0x1d, "RESTRICT_KEYRING"}, {0x1e, "MOVE"}, {0x1f, "CAPABILITIES"}, {0x20, "WATCH_KEY"}};
const struct syscall_words syscall_words_keyctl = {"KEYCTL_", "", words_keyctl, ARRAY_LEN(words_keyctl), true};

static const struct syscall_word words_membarrier[] = {{0, "QUERY"}, {1, "GLOBAL"}, {2, "GLOBAL_EXPEDITED"},
	{4, "REGISTER_GLOBAL_EXPEDITED"}, {8, "PRIVATE_EXPEDITED"}, {0x10, "REGISTER_PRIVATE_EXPEDITED"},
	{0x20, "PRIVATE_EXPEDITED_SYNC_CORE"}, {0x40, "REGISTER_PRIVATE_EXPEDITED_SYNC_CORE"},
	{0x80, "PRIVATE_EXPEDITED_RSEQ"}, {0x100, "REGISTER_PRIVATE_EXPEDITED_RSEQ"}, {0x200, "GET_REGISTRATIONS"}};
const struct syscall_words syscall_words_membarrier = {
	"MEMBARRIER_CMD_", "", words_membarrier, ARRAY_LEN(words_membarrier), true};

static const struct syscall_word words_getrandom[] = {{1, "NONBLOCK"}, {2, "RANDOM"}, {4, "INSECURE"}};
const struct syscall_words syscall_words_getrandom = {"GRND_", "", words_getrandom, ARRAY_LEN(words_getrandom), false};

static const struct syscall_word words_kcmp[] = {
	{0, "FILE"}, {1, "VM"}, {2, "FILES"}, {3, "FS"}, {4, "SIGHAND"}, {5, "IO"}, {6, "SYSVSEM"}, {7, "EPOLL_TFD"}};
const struct syscall_words syscall_words_kcmp = {"KCMP_", "", words_kcmp, ARRAY_LEN(words_kcmp), true};

static const struct syscall_word words_ptrace[] = {{0, "TRACEME"}, {1, "PEEKTEXT"}, {2, "PEEKDATA"}, {3, "PEEKUSER"},
	{4, "POKETEXT"}, {5, "POKEDATA"}, {6, "POKEUSER"}, {7, "CONT"}, {8, "KILL"}, {9, "SINGLESTEP"},
	{0xc, "GETREGS"}, {0xd, "SETREGS"}, {0xe, "GETFPREGS"}, {0xf, "SETFPREGS"}, {0x10, "ATTACH"}, {0x11, "DETACH"},
	{0x18, "SYSCALL"}, {0x19, "GET_THREAD_AREA"}, {0x1a, "SET_THREAD_AREA"}, {0x1e, "ARCH_PRCTL"}, {0x1f, "SYSEMU"},
	{0x20, "SYSEMU_SINGLESTEP"}, {0x21, "SINGLEBLOCK"}, {0x4200, "SETOPTIONS"}, {0x4201, "GETEVENTMSG"},
	{0x4202, "GETSIGINFO"}, {0x4203, "SETSIGINFO"}, {0x4204, "GETREGSET"}, {0x4205, "SETREGSET"}, {0x4206, "SEIZE"},
	{0x4207, "INTERRUPT"}, {0x4208, "LISTEN"}, {0x4209, "PEEKSIGINFO"}, {0x420a, "GETSIGMASK"},
	{0x420b, "SETSIGMASK"}, {0x420c, "SECCOMP_GET_FILTER"}, {0x420d, "SECCOMP_GET_METADATA"},
	{0x420e, "GET_SYSCALL_INFO"}, {0x420f, "GET_RSEQ_CONFIGURATION"}, {0x4210, "SET_SYSCALL_USER_DISPATCH_CONFIG"},
	{0x4211, "GET_SYSCALL_USER_DISPATCH_CONFIG"}, {0x4212, "SET_SYSCALL_INFO"}};
const struct syscall_words syscall_words_ptrace = {"PTRACE_", "", words_ptrace, ARRAY_LEN(words_ptrace), true};

static const struct syscall_word words_syslog[] = {{0, "CLOSE"}, {1, "OPEN"}, {2, "READ"}, {3, "READ_ALL"},
	{4, "READ_CLEAR"}, {5, "CLEAR"}, {6, "CONSOLE_OFF"}, {7, "CONSOLE_ON"}, {8, "CONSOLE_LEVEL"},
	{9, "SIZE_UNREAD"}, {0xa, "SIZE_BUFFER"}};
const struct syscall_words syscall_words_syslog = {"SYSLOG_ACTION_", "", words_syslog, ARRAY_LEN(words_syslog), true};

static const struct syscall_word words_perf_flags[] = {
	{1, "FD_NO_GROUP"}, {2, "FD_OUTPUT"}, {4, "PID_CGROUP"}, {8, "FD_CLOEXEC"}};
const struct syscall_words syscall_words_perf_flags = {
	"PERF_FLAG_", "", words_perf_flags, ARRAY_LEN(words_perf_flags), false};

static const struct syscall_word words_ipc[] = {{0x200, "CREAT"}, {0x400, "EXCL"}, {0x800, "NOWAIT"}};
const struct syscall_words syscall_words_ipc = {"IPC_", "", words_ipc, ARRAY_LEN(words_ipc), false};

static const struct syscall_word words_sem_cmd[] = {{0, "IPC_RMID"}, {1, "IPC_SET"}, {2, "IPC_STAT"}, {3, "IPC_INFO"},
	{0xb, "GETPID"}, {0xc, "GETVAL"}, {0xd, "GETALL"}, {0xe, "GETNCNT"}, {0xf, "GETZCNT"}, {0x10, "SETVAL"},
	{0x11, "SETALL"}, {0x12, "SEM_STAT"}, {0x13, "SEM_INFO"}, {0x14, "SEM_STAT_ANY"}};
const struct syscall_words syscall_words_sem_cmd = {"", "", words_sem_cmd, ARRAY_LEN(words_sem_cmd), true};

static const struct syscall_word words_shm_cmd[] = {{0, "IPC_RMID"}, {1, "IPC_SET"}, {2, "IPC_STAT"}, {3, "IPC_INFO"},
	{0xb, "SHM_LOCK"}, {0xc, "SHM_UNLOCK"}, {0xd, "SHM_STAT"}, {0xe, "SHM_INFO"}, {0xf, "SHM_STAT_ANY"}};
const struct syscall_words syscall_words_shm_cmd = {"", "", words_shm_cmd, ARRAY_LEN(words_shm_cmd), true};

static const struct syscall_word words_msg_cmd[] = {{0, "IPC_RMID"}, {1, "IPC_SET"}, {2, "IPC_STAT"}, {3, "IPC_INFO"},
	{0xb, "MSG_STAT"}, {0xc, "MSG_INFO"}, {0xd, "MSG_STAT_ANY"}};
const struct syscall_words syscall_words_msg_cmd = {"", "", words_msg_cmd, ARRAY_LEN(words_msg_cmd), true};

static const struct syscall_word words_shmat[] = {
	{0x1000, "RDONLY"}, {0x2000, "RND"}, {0x4000, "REMAP"}, {0x8000, "EXEC"}};
const struct syscall_words syscall_words_shmat = {"SHM_", "", words_shmat, ARRAY_LEN(words_shmat), false};

static const struct syscall_word words_mempolicy[] = {{0, "DEFAULT"}, {1, "PREFERRED"}, {2, "BIND"}, {3, "INTERLEAVE"},
	{4, "LOCAL"}, {5, "PREFERRED_MANY"}, {6, "WEIGHTED_INTERLEAVE"}};
const struct syscall_words syscall_words_mempolicy = {"MPOL_", "", words_mempolicy, ARRAY_LEN(words_mempolicy), true};

static const struct syscall_word words_mbind[] = {{1, "STRICT"}, {2, "MOVE"}, {4, "MOVE_ALL"}};
const struct syscall_words syscall_words_mbind = {"MPOL_MF_", "", words_mbind, ARRAY_LEN(words_mbind), false};

static const struct syscall_word words_mpol_get[] = {{1, "NODE"}, {2, "ADDR"}, {4, "MEMS_ALLOWED"}};
const struct syscall_words syscall_words_mpol_get = {"MPOL_F_", "", words_mpol_get, ARRAY_LEN(words_mpol_get), false};

static const struct syscall_word words_pkey[] = {{1, "DISABLE_ACCESS"}, {2, "DISABLE_WRITE"}};
const struct syscall_words syscall_words_pkey = {"PKEY_", "", words_pkey, ARRAY_LEN(words_pkey), false};

static const struct syscall_word words_pidfd[] = {{0x800, "NONBLOCK"}, {0x80, "THREAD"}};
const struct syscall_words syscall_words_pidfd = {"PIDFD_", "", words_pidfd, ARRAY_LEN(words_pidfd), false};

static const struct syscall_word words_ioprio_who[] = {{1, "PROCESS"}, {2, "PGRP"}, {3, "USER"}};
const struct syscall_words syscall_words_ioprio_who = {
	"IOPRIO_WHO_", "", words_ioprio_who, ARRAY_LEN(words_ioprio_who), true};

/* These names are complete, without a prefix to leave out, as perf prints them by BTF. */
static const struct syscall_word words_landlock_rule[] = {
	{1, "LANDLOCK_RULE_PATH_BENEATH"}, {2, "LANDLOCK_RULE_NET_PORT"}};
const struct syscall_words syscall_words_landlock_rule = {
	"", "", words_landlock_rule, ARRAY_LEN(words_landlock_rule), true};

static const struct syscall_word words_landlock_flags[] = {{1, "VERSION"}, {2, "ERRATA"}};
const struct syscall_words syscall_words_landlock_flags = {
	"LANDLOCK_CREATE_RULESET_", "", words_landlock_flags, ARRAY_LEN(words_landlock_flags), false};

static const struct syscall_word words_module_init[] = {
	{1, "IGNORE_MODVERSIONS"}, {2, "IGNORE_VERMAGIC"}, {4, "COMPRESSED_FILE"}};
const struct syscall_words syscall_words_module_init = {
	"MODULE_INIT_", "", words_module_init, ARRAY_LEN(words_module_init), false};

static const struct syscall_word words_reboot[] = {{0x1234567, "RESTART"}, {0xcdef0123, "HALT"}, {0x89abcdef, "CAD_ON"},
	{0, "CAD_OFF"}, {0x4321fedc, "POWER_OFF"}, {0xa1b2c3d4, "RESTART2"}, {0xd000fce2, "SW_SUSPEND"},
	{0x45584543, "KEXEC"}};
const struct syscall_words syscall_words_reboot = {
	"LINUX_REBOOT_CMD_", "", words_reboot, ARRAY_LEN(words_reboot), true};

static const struct syscall_word words_rseq[] = {{1, "UNREGISTER"}};
const struct syscall_words syscall_words_rseq = {"RSEQ_FLAG_", "", words_rseq, ARRAY_LEN(words_rseq), false};
