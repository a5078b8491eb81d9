/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_words.h - prints flags and numbers by their names in constant tables, with the values of Linux headers.
 *
 *	syscall_words_print(&text, &syscall_words_prot, 3, false);   // READ|WRITE
 */
#ifndef SYSCALLS_SYSCALL_WORDS_H
#define SYSCALLS_SYSCALL_WORDS_H

#include "base/text.h"

struct syscall_word {
	uint64_t value;
	const char *name;
};

struct syscall_words {
	const char *prefix, *suffix; /* Prefix and suffix of each name, such as "PROT_" and "". */
	const struct syscall_word *words;
	size_t count;
	bool is_enum; /* True if a value has one of the words; false if they are flags, which can be combined. */
};

/* Returns the name of a value; NULL if no word has exactly this value. */
const char *syscall_word_find(const struct syscall_words *words, uint64_t value);
/* Prints names joined by "|", and bits without a name in hexadecimal. */
void syscall_words_print(struct text *t, const struct syscall_words *words, uint64_t value, bool with_prefix);

extern const struct syscall_words syscall_words_prot;
extern const struct syscall_words syscall_words_map;
extern const struct syscall_words syscall_words_mremap;
extern const struct syscall_words syscall_words_madvise;
extern const struct syscall_words syscall_words_msync;
extern const struct syscall_words syscall_words_mlockall;
extern const struct syscall_words syscall_words_mlock2;
extern const struct syscall_words syscall_words_fadvise;
extern const struct syscall_words syscall_words_at;
extern const struct syscall_words syscall_words_at_access;
extern const struct syscall_words syscall_words_at_unlink;
extern const struct syscall_words syscall_words_rename;
extern const struct syscall_words syscall_words_access;
extern const struct syscall_words syscall_words_lseek;
extern const struct syscall_words syscall_words_fallocate;
extern const struct syscall_words syscall_words_splice;
extern const struct syscall_words syscall_words_sync_range;
extern const struct syscall_words syscall_words_rwf;
extern const struct syscall_words syscall_words_close_range;
extern const struct syscall_words syscall_words_statx_mask;
extern const struct syscall_words syscall_words_flock;
extern const struct syscall_words syscall_words_fcntl_cmd;
extern const struct syscall_words syscall_words_fd_flags;
extern const struct syscall_words syscall_words_seals;
extern const struct syscall_words syscall_words_lock_type;
extern const struct syscall_words syscall_words_memfd;
extern const struct syscall_words syscall_words_inotify_init;
extern const struct syscall_words syscall_words_inotify_mask;
extern const struct syscall_words syscall_words_mount;
extern const struct syscall_words syscall_words_umount;
extern const struct syscall_words syscall_words_open_tree;
extern const struct syscall_words syscall_words_move_mount;
extern const struct syscall_words syscall_words_fsopen;
extern const struct syscall_words syscall_words_fsmount;
extern const struct syscall_words syscall_words_mount_attr;
extern const struct syscall_words syscall_words_fsconfig;
extern const struct syscall_words syscall_words_xattr;
extern const struct syscall_words syscall_words_fanotify_init;
extern const struct syscall_words syscall_words_fanotify_mark;
extern const struct syscall_words syscall_words_fanotify_mask;
extern const struct syscall_words syscall_words_eventfd;
extern const struct syscall_words syscall_words_epoll_create;
extern const struct syscall_words syscall_words_epoll_op;
extern const struct syscall_words syscall_words_epoll_events;
extern const struct syscall_words syscall_words_poll_events;
extern const struct syscall_words syscall_words_signalfd;
extern const struct syscall_words syscall_words_timerfd;
extern const struct syscall_words syscall_words_timerfd_set;
extern const struct syscall_words syscall_words_timer;
extern const struct syscall_words syscall_words_clock;
extern const struct syscall_words syscall_words_itimer;
extern const struct syscall_words syscall_words_clone;
extern const struct syscall_words syscall_words_wait4;
extern const struct syscall_words syscall_words_wait_id;
extern const struct syscall_words syscall_words_rusage_who;
extern const struct syscall_words syscall_words_priority_who;
extern const struct syscall_words syscall_words_resource;
extern const struct syscall_words syscall_words_futex_cmd;
extern const struct syscall_words syscall_words_futex2;
extern const struct syscall_words syscall_words_sigprocmask;
extern const struct syscall_words syscall_words_sigaction;
extern const struct syscall_words syscall_words_sigaltstack;
extern const struct syscall_words syscall_words_sched_policy;
extern const struct syscall_words syscall_words_arch_prctl;
extern const struct syscall_words syscall_words_prctl;
extern const struct syscall_words syscall_words_seccomp;
extern const struct syscall_words syscall_words_seccomp_flags;
extern const struct syscall_words syscall_words_bpf_cmd;
extern const struct syscall_words syscall_words_keyctl;
extern const struct syscall_words syscall_words_membarrier;
extern const struct syscall_words syscall_words_getrandom;
extern const struct syscall_words syscall_words_kcmp;
extern const struct syscall_words syscall_words_ptrace;
extern const struct syscall_words syscall_words_syslog;
extern const struct syscall_words syscall_words_perf_flags;
extern const struct syscall_words syscall_words_family;
extern const struct syscall_words syscall_words_sock_type;
extern const struct syscall_words syscall_words_sock_flags;
extern const struct syscall_words syscall_words_ipproto;
extern const struct syscall_words syscall_words_netlink;
extern const struct syscall_words syscall_words_msg;
extern const struct syscall_words syscall_words_shutdown;
extern const struct syscall_words syscall_words_sol;
extern const struct syscall_words syscall_words_so;
extern const struct syscall_words syscall_words_tcp;
extern const struct syscall_words syscall_words_ip_opt;
extern const struct syscall_words syscall_words_ipv6_opt;
extern const struct syscall_words syscall_words_ipc;
extern const struct syscall_words syscall_words_sem_cmd;
extern const struct syscall_words syscall_words_shm_cmd;
extern const struct syscall_words syscall_words_msg_cmd;
extern const struct syscall_words syscall_words_shmat;
extern const struct syscall_words syscall_words_mempolicy;
extern const struct syscall_words syscall_words_mbind;
extern const struct syscall_words syscall_words_mpol_get;
extern const struct syscall_words syscall_words_pkey;
extern const struct syscall_words syscall_words_pidfd;
extern const struct syscall_words syscall_words_ioprio_who;
extern const struct syscall_words syscall_words_landlock_rule;
extern const struct syscall_words syscall_words_landlock_flags;
extern const struct syscall_words syscall_words_uring_enter;
extern const struct syscall_words syscall_words_uring_register;
extern const struct syscall_words syscall_words_module_init;
extern const struct syscall_words syscall_words_swap;
extern const struct syscall_words syscall_words_reboot;
extern const struct syscall_words syscall_words_rseq;
extern const struct syscall_words syscall_words_file_type;
extern const struct syscall_words syscall_words_resolve;
extern const struct syscall_words syscall_words_open_x86;
extern const struct syscall_words syscall_words_open_arm;
extern const struct syscall_words syscall_words_made;
extern const struct syscall_words syscall_words_quota_cmd;
extern const struct syscall_words syscall_words_signal, syscall_words_ioctl;

#endif
