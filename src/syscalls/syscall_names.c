/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_names.h"

#include "syscalls/syscall_forms.h"

static bool syscall_names_take(const struct syscall_form *form, enum syscall_kind first, enum syscall_kind last)
{
	for (unsigned i = 0; i < SYSCALL_ARGS; i++)
		if (form->args[i].kind >= first && form->args[i].kind <= last)
			return true;
	return false;
}

/* Patterns of names, for groups of calls that cannot be told by the types of their arguments. */
static const struct {
	const char *group;
	const char *patterns[24];
} names_groups[] = {
	{"net", {"socket", "socketpair", "socketcall", "bind", "connect", "listen", "accept", "accept4", "getsockname",
			"getpeername", "send", "sendto", "sendmsg", "sendmmsg", "recv", "recvfrom", "recvm*",
			"shutdown", "[gs]etsockopt"}},
	{"process", {"fork", "vfork", "clone", "clone3", "execve", "execveat", "exit", "exit_group", "wait4", "waitid",
			    "waitpid", "kill", "tkill", "tgkill", "pidfd_*", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
			    "unshare", "setns", "ptrace"}},
	{"signal", {"rt_sig*", "sig*", "kill", "tkill", "tgkill", "pause", "signalfd*", "pidfd_send_signal", "sgetmask",
			   "ssetmask"}},
	{"ipc", {"shm*", "sem*", "msg[gscr]*", "ipc"}},
	{"memory", {"brk", "mmap*", "munmap", "mprotect", "pkey_mprotect", "mremap", "madvise", "process_madvise",
			   "msync", "mlock*", "munlock*", "mincore", "mbind", "*mempolicy*", "migrate_pages",
			   "move_pages", "remap_file_pages", "shmat", "shmdt", "mseal", "map_shadow_stack"}},
	{"creds", {"get*uid*", "get*gid*", "set*uid*", "set*gid*", "getgroups*", "setgroups*", "capget", "capset",
			  "prctl"}},
	{"clock", {"clock_*", "gettimeofday", "settimeofday", "adjtimex", "time", "stime"}},
};

static bool syscall_names_match(size_t group, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(names_groups[group].patterns) && names_groups[group].patterns[i]; i++)
		if (str_glob(str_from(names_groups[group].patterns[i]), str_from(name)))
			return true;
	return false;
}

static bool syscall_names_is_in(struct tally_str group, const char *name, const struct syscall_form *form)
{
	if (str_equal(group, STR("network")))
		group = STR("net");
	if (form && str_equal(group, STR("file")))
		return syscall_names_take(form, KIND_PATH, KIND_PATH);
	if (form && str_equal(group, STR("string")))
		return syscall_names_take(form, KIND_PATH, KIND_STRING);
	if (form && str_equal(group, STR("desc")))
		return syscall_names_take(form, KIND_FD, KIND_FD_IF_FILE) || form->result == RESULT_FD;
	for (size_t i = 0; i < ARRAY_LEN(names_groups); i++)
		if (str_equal(group, str_from(names_groups[i].group)))
			return syscall_names_match(i, name);
	return false;
}

bool syscall_select(enum syscall_abi abi, struct tally_str word, struct syscall_set *set)
{
	bool is_group_only = str_starts_with(word, STR("%")), found = false;
	uint32_t number = is_group_only ? SYSCALL_UNKNOWN : syscall_number(abi, word);
	if (number != SYSCALL_UNKNOWN) {
		set->has[number] = true;
		return true;
	}
	if (is_group_only)
		word = (struct tally_str){word.data + 1, word.len - 1};
	for (uint32_t i = 0; i < SYSCALL_NUMBERS; i++) {
		const char *name = syscall_name(abi, i);
		if (!name || !((!is_group_only && str_glob(word, str_from(name))) ||
				     syscall_names_is_in(word, name, syscall_form_find(abi, i))))
			continue;
		set->has[i] = true;
		found = true;
	}
	return found;
}
