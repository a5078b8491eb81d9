/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * syscall_files.bpf.h - copies the identity of the file that an argument refers to at the time of the call: the path of
 * a descriptor, or the file that is mapped at a string that is not present in memory.
 *
 * It cannot be read from /proc later, because the descriptor may have been closed or reused, and the process may have
 * ended. Names are copied from the file up to the root of its mount namespace. A path for which there is no room is
 * omitted.
 */
#ifndef BPF_SYSCALL_FILES_BPF_H
#define BPF_SYSCALL_FILES_BPF_H

#include "abi/syscall_record.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/syscall_trace.bpf.h"

#define SYSCALL_NAMES_MOST 32 /* Maximum number of directories and mounts of a path. */
#define SYSCALL_NAME_BYTES 256
/* FMODE_BACKING: overlayfs maps such a file, which also has the path that the user sees. */
#define SYSCALL_FILE_BACKING 0x2000000
#define SYSCALL_VM_WRITE     2

/* Moves c->dentry and c->mount to the parent mount; false if this is the root. */
static __always_inline bool syscall_files_leave_mount(struct syscall_copies *c)
{
	struct vfsmount *mount = (void *)c->mount;
	struct mount *whole = (void *)mount - bpf_core_field_offset(struct mount, mnt);
	struct mount *parent = BPF_CORE_READ(whole, mnt_parent);
	if (parent == whole || !parent)
		return false;
	c->dentry = (__u64)BPF_CORE_READ(whole, mnt_mountpoint);
	c->mount = (__u64)parent + bpf_core_field_offset(struct mount, mnt);
	return true;
}

/* Appends one name; false if there is no room. */
static __always_inline bool syscall_files_copy_name(struct syscall_copies *c)
{
	struct dentry *dentry = (void *)c->dentry;
	const unsigned char *name = BPF_CORE_READ(dentry, d_name.name);
	__u32 at = c->used;
	if (at > SYSCALL_CAPTURES - SYSCALL_NAME_BYTES)
		return false;
	at &= SYSCALL_CAPTURES - 1;
	long got = bpf_probe_read_kernel_str(c->bytes + at, SYSCALL_NAME_BYTES, name);
	if (got <= 0 || got > SYSCALL_NAME_BYTES)
		return false;
	c->used = at + (__u32)got;
	return true;
}

/* Appends the names of c->dentry and its directories; false if there is no room for all. */
static __noinline bool syscall_files_copy_names(struct syscall_copies *c)
{
	if (!c)
		return false;
	for (__u32 i = 0; i < SYSCALL_NAMES_MOST; i++) {
		struct dentry *dentry = (void *)c->dentry;
		struct vfsmount *mount = (void *)c->mount;
		if (dentry == BPF_CORE_READ(mount, mnt_root)) {
			if (!syscall_files_leave_mount(c))
				return true;
			continue;
		}
		if (!syscall_files_copy_name(c))
			return false;
		struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
		if (parent == dentry || !parent)
			return true;
		c->dentry = (__u64)parent;
	}
	return false;
}

/* Appends a part that consists of a struct syscall_file and the names of the file's path. */
static __always_inline void syscall_files_copy(struct syscall_copies *c, struct file *file, __u32 item)
{
	__u32 used = c->used, at;
	if (!file || used > SYSCALL_CAPTURES - sizeof(struct syscall_part) - sizeof(struct syscall_file))
		return;
	at = used & (SYSCALL_CAPTURES - 1);
	struct syscall_part *part = (void *)(c->bytes + at);
	struct syscall_file *said = (void *)(part + 1);
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	c->mount = (__u64)BPF_CORE_READ(file, f_path.mnt);
	if (item == SYSCALL_ITEM_MAPPED && bpf_core_type_exists(struct backing_file) &&
		BPF_CORE_READ(file, f_mode) & SYSCALL_FILE_BACKING) {
		struct backing_file *backing = (void *)file;
		dentry = BPF_CORE_READ(backing, user_path.dentry);
		c->mount = (__u64)BPF_CORE_READ(backing, user_path.mnt);
		inode = BPF_CORE_READ(dentry, d_inode);
	}
	c->dentry = (__u64)dentry;
	said->inode = BPF_CORE_READ(inode, i_ino);
	said->offset = c->left;
	said->device = BPF_CORE_READ(inode, i_sb, s_dev);
	said->system = (__u32)BPF_CORE_READ(inode, i_sb, s_magic);
	struct vfsmount *mount = (void *)c->mount;
	struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
	said->flags = 0;
	if (parent == dentry && dentry != BPF_CORE_READ(mount, mnt_root))
		said->flags = SYSCALL_FILE_NO_PATH;
	else if (parent != dentry && !BPF_CORE_READ(dentry, d_hash.pprev))
		said->flags = SYSCALL_FILE_DELETED;
	said->unused = 0;
	part->arg = c->arg;
	part->item = (__u8)item;
	part->flags = 0;
	part->unused = 0;
	c->used = at + (__u32)(sizeof(*part) + sizeof(*said));
	if (!syscall_files_copy_names(c)) {
		c->used = used;
		return;
	}
	part->bytes = c->used - at - (__u32)sizeof(*part);
	c->used = (c->used + 7) & ~7u;
}

/* Returns the file of a descriptor of the current process; NULL if there is none. */
static __always_inline struct file *syscall_files_of(__s32 fd)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = NULL;
	if (fd < 0 || (__u32)fd >= BPF_CORE_READ(table, max_fds) ||
		bpf_probe_read_kernel(&file, sizeof(file), files + (__u32)fd))
		return NULL;
	return file;
}

static __noinline bool syscall_copy_fd(struct syscall_copies *c)
{
	if (!c)
		return true;
	c->left = 0;
	syscall_files_copy(c, syscall_files_of((__s32)c->from), SYSCALL_ITEM_FILE);
	return true;
}

struct syscall_mapped {
	__u64 address, offset; /* offset is the file offset of the address. */
	struct file *file; /* NULL if no file is mapped there, or the mapping is writable. */
};

static long syscall_files_mapped(struct task_struct *task, struct vm_area_struct *vma, struct syscall_mapped *mapped)
{
	if (BPF_CORE_READ(vma, vm_flags) & SYSCALL_VM_WRITE)
		return 0;
	mapped->file = BPF_CORE_READ(vma, vm_file);
	mapped->offset = (BPF_CORE_READ(vma, vm_pgoff) << 12) + mapped->address - BPF_CORE_READ(vma, vm_start);
	return 0;
}

/*
 * Identifies the file that contains a string in a page that is not present. The file's contents are valid, unless the
 * program may write to the mapping. Requires Linux 5.17, so programs for older kernels do not call it.
 */
static __noinline bool syscall_copy_mapped(struct syscall_copies *c)
{
	struct syscall_mapped mapped = {};
	if (!c)
		return true;
	mapped.address = c->from;
	bpf_find_vma(bpf_get_current_task_btf(), mapped.address, syscall_files_mapped, &mapped, 0);
	c->left = mapped.offset;
	syscall_files_copy(c, mapped.file, SYSCALL_ITEM_MAPPED);
	return true;
}

#endif
