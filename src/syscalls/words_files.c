/* SPDX-License-Identifier: Apache-2.0 */
/* Names of flags and numbers in calls on files. The values are those of the headers of Linux. */
#include "base/array.h"
#include "syscalls/syscall_words.h"

static const struct syscall_word words_fadvise[] = {
	{0, "NORMAL"}, {1, "RANDOM"}, {2, "SEQUENTIAL"}, {3, "WILLNEED"}, {4, "DONTNEED"}, {5, "NOREUSE"}};
const struct syscall_words syscall_words_fadvise = {"POSIX_FADV_", "", words_fadvise, ARRAY_LEN(words_fadvise), true};

static const struct syscall_word words_at[] = {{0x100, "SYMLINK_NOFOLLOW"}, {0x200, "REMOVEDIR"},
	{0x400, "SYMLINK_FOLLOW"}, {0x800, "NO_AUTOMOUNT"}, {0x1000, "EMPTY_PATH"}, {0x2000, "STATX_FORCE_SYNC"},
	{0x4000, "STATX_DONT_SYNC"}, {0x8000, "RECURSIVE"}};
const struct syscall_words syscall_words_at = {"AT_", "", words_at, ARRAY_LEN(words_at), false};

static const struct syscall_word words_at_access[] = {
	{0x100, "SYMLINK_NOFOLLOW"}, {0x200, "EACCESS"}, {0x1000, "EMPTY_PATH"}};
const struct syscall_words syscall_words_at_access = {"AT_", "", words_at_access, ARRAY_LEN(words_at_access), false};

static const struct syscall_word words_at_unlink[] = {{0x200, "REMOVEDIR"}};
const struct syscall_words syscall_words_at_unlink = {"AT_", "", words_at_unlink, ARRAY_LEN(words_at_unlink), false};

static const struct syscall_word words_rename[] = {{1, "NOREPLACE"}, {2, "EXCHANGE"}, {4, "WHITEOUT"}};
const struct syscall_words syscall_words_rename = {"RENAME_", "", words_rename, ARRAY_LEN(words_rename), false};

static const struct syscall_word words_access[] = {{4, "R"}, {2, "W"}, {1, "X"}};
const struct syscall_words syscall_words_access = {"", "_OK", words_access, ARRAY_LEN(words_access), false};

static const struct syscall_word words_lseek[] = {{0, "SET"}, {1, "CUR"}, {2, "END"}, {3, "DATA"}, {4, "HOLE"}};
const struct syscall_words syscall_words_lseek = {"SEEK_", "", words_lseek, ARRAY_LEN(words_lseek), true};

static const struct syscall_word words_fallocate[] = {{1, "KEEP_SIZE"}, {2, "PUNCH_HOLE"}, {4, "NO_HIDE_STALE"},
	{8, "COLLAPSE_RANGE"}, {0x10, "ZERO_RANGE"}, {0x20, "INSERT_RANGE"}, {0x40, "UNSHARE_RANGE"},
	{0x80, "WRITE_ZEROES"}};
const struct syscall_words syscall_words_fallocate = {
	"FALLOC_FL_", "", words_fallocate, ARRAY_LEN(words_fallocate), false};

static const struct syscall_word words_splice[] = {{1, "MOVE"}, {2, "NONBLOCK"}, {4, "MORE"}, {8, "GIFT"}};
const struct syscall_words syscall_words_splice = {"SPLICE_F_", "", words_splice, ARRAY_LEN(words_splice), false};

static const struct syscall_word words_sync_range[] = {{1, "WAIT_BEFORE"}, {2, "WRITE"}, {4, "WAIT_AFTER"}};
const struct syscall_words syscall_words_sync_range = {
	"SYNC_FILE_RANGE_", "", words_sync_range, ARRAY_LEN(words_sync_range), false};

static const struct syscall_word words_rwf[] = {{1, "HIPRI"}, {2, "DSYNC"}, {4, "SYNC"}, {8, "NOWAIT"},
	{0x10, "APPEND"}, {0x20, "NOAPPEND"}, {0x40, "ATOMIC"}, {0x80, "DONTCACHE"}};
const struct syscall_words syscall_words_rwf = {"RWF_", "", words_rwf, ARRAY_LEN(words_rwf), false};

static const struct syscall_word words_close_range[] = {{2, "UNSHARE"}, {4, "CLOEXEC"}};
const struct syscall_words syscall_words_close_range = {
	"CLOSE_RANGE_", "", words_close_range, ARRAY_LEN(words_close_range), false};

static const struct syscall_word words_statx_mask[] = {{1, "TYPE"}, {2, "MODE"}, {4, "NLINK"}, {8, "UID"},
	{0x10, "GID"}, {0x20, "ATIME"}, {0x40, "MTIME"}, {0x80, "CTIME"}, {0x100, "INO"}, {0x200, "SIZE"},
	{0x400, "BLOCKS"}, {0x800, "BTIME"}, {0x1000, "MNT_ID"}, {0x2000, "DIOALIGN"}, {0x4000, "MNT_ID_UNIQUE"},
	{0x8000, "SUBVOL"}, {0x10000, "WRITE_ATOMIC"}, {0x20000, "DIO_READ_ALIGN"}};
const struct syscall_words syscall_words_statx_mask = {
	"STATX_", "", words_statx_mask, ARRAY_LEN(words_statx_mask), false};

static const struct syscall_word words_flock[] = {{1, "SH"}, {2, "EX"}, {8, "UN"}, {4, "NB"}};
const struct syscall_words syscall_words_flock = {"LOCK_", "", words_flock, ARRAY_LEN(words_flock), false};

static const struct syscall_word words_fcntl_cmd[] = {{0, "DUPFD"}, {1, "GETFD"}, {2, "SETFD"}, {3, "GETFL"},
	{4, "SETFL"}, {5, "GETLK"}, {6, "SETLK"}, {7, "SETLKW"}, {8, "SETOWN"}, {9, "GETOWN"}, {0xa, "SETSIG"},
	{0xb, "GETSIG"}, {0xf, "SETOWN_EX"}, {0x10, "GETOWN_EX"}, {0x11, "GETOWNER_UIDS"}, {0x24, "OFD_GETLK"},
	{0x25, "OFD_SETLK"}, {0x26, "OFD_SETLKW"}, {0x400, "SETLEASE"}, {0x401, "GETLEASE"}, {0x402, "NOTIFY"},
	{0x403, "DUPFD_QUERY"}, {0x404, "CREATED_QUERY"}, {0x405, "CANCELLK"}, {0x406, "DUPFD_CLOEXEC"},
	{0x407, "SETPIPE_SZ"}, {0x408, "GETPIPE_SZ"}, {0x409, "ADD_SEALS"}, {0x40a, "GET_SEALS"},
	{0x40b, "GET_RW_HINT"}, {0x40c, "SET_RW_HINT"}, {0x40d, "GET_FILE_RW_HINT"}, {0x40e, "SET_FILE_RW_HINT"}};
const struct syscall_words syscall_words_fcntl_cmd = {"F_", "", words_fcntl_cmd, ARRAY_LEN(words_fcntl_cmd), true};

static const struct syscall_word words_fd_flags[] = {{1, "CLOEXEC"}};
const struct syscall_words syscall_words_fd_flags = {"FD_", "", words_fd_flags, ARRAY_LEN(words_fd_flags), false};

static const struct syscall_word words_seals[] = {
	{1, "SEAL"}, {2, "SHRINK"}, {4, "GROW"}, {8, "WRITE"}, {0x10, "FUTURE_WRITE"}, {0x20, "EXEC"}};
const struct syscall_words syscall_words_seals = {"F_SEAL_", "", words_seals, ARRAY_LEN(words_seals), false};

static const struct syscall_word words_lock_type[] = {{0, "RDLCK"}, {1, "WRLCK"}, {2, "UNLCK"}};
const struct syscall_words syscall_words_lock_type = {"F_", "", words_lock_type, ARRAY_LEN(words_lock_type), true};

static const struct syscall_word words_memfd[] = {
	{1, "CLOEXEC"}, {2, "ALLOW_SEALING"}, {4, "HUGETLB"}, {8, "NOEXEC_SEAL"}, {0x10, "EXEC"}};
const struct syscall_words syscall_words_memfd = {"MFD_", "", words_memfd, ARRAY_LEN(words_memfd), false};

static const struct syscall_word words_inotify_init[] = {{0x80000, "CLOEXEC"}, {0x800, "NONBLOCK"}};
const struct syscall_words syscall_words_inotify_init = {
	"IN_", "", words_inotify_init, ARRAY_LEN(words_inotify_init), false};

static const struct syscall_word words_inotify_mask[] = {{1, "ACCESS"}, {2, "MODIFY"}, {4, "ATTRIB"},
	{8, "CLOSE_WRITE"}, {0x10, "CLOSE_NOWRITE"}, {0x20, "OPEN"}, {0x40, "MOVED_FROM"}, {0x80, "MOVED_TO"},
	{0x100, "CREATE"}, {0x200, "DELETE"}, {0x400, "DELETE_SELF"}, {0x800, "MOVE_SELF"}, {0x2000, "UNMOUNT"},
	{0x4000, "Q_OVERFLOW"}, {0x8000, "IGNORED"}, {0x1000000, "ONLYDIR"}, {0x2000000, "DONT_FOLLOW"},
	{0x4000000, "EXCL_UNLINK"}, {0x10000000, "MASK_CREATE"}, {0x20000000, "MASK_ADD"}, {0x40000000, "ISDIR"},
	{0x80000000, "ONESHOT"}};
const struct syscall_words syscall_words_inotify_mask = {
	"IN_", "", words_inotify_mask, ARRAY_LEN(words_inotify_mask), false};

static const struct syscall_word words_mount[] = {{1, "RDONLY"}, {2, "NOSUID"}, {4, "NODEV"}, {8, "NOEXEC"},
	{0x10, "SYNCHRONOUS"}, {0x20, "REMOUNT"}, {0x40, "MANDLOCK"}, {0x80, "DIRSYNC"}, {0x100, "NOSYMFOLLOW"},
	{0x400, "NOATIME"}, {0x800, "NODIRATIME"}, {0x1000, "BIND"}, {0x2000, "MOVE"}, {0x4000, "REC"},
	{0x8000, "SILENT"}, {0x10000, "POSIXACL"}, {0x20000, "UNBINDABLE"}, {0x40000, "PRIVATE"}, {0x80000, "SLAVE"},
	{0x100000, "SHARED"}, {0x200000, "RELATIME"}, {0x400000, "KERNMOUNT"}, {0x800000, "I_VERSION"},
	{0x1000000, "STRICTATIME"}, {0x2000000, "LAZYTIME"}};
const struct syscall_words syscall_words_mount = {"MS_", "", words_mount, ARRAY_LEN(words_mount), false};

static const struct syscall_word words_umount[] = {{1, "FORCE"}, {2, "DETACH"}, {4, "EXPIRE"}};
const struct syscall_words syscall_words_umount = {"MNT_", "", words_umount, ARRAY_LEN(words_umount), false};

static const struct syscall_word words_open_tree[] = {{1, "CLONE"}, {0x80000, "CLOEXEC"}};
const struct syscall_words syscall_words_open_tree = {
	"OPEN_TREE_", "", words_open_tree, ARRAY_LEN(words_open_tree), false};

static const struct syscall_word words_move_mount[] = {{1, "F_SYMLINKS"}, {2, "F_AUTOMOUNTS"}, {4, "F_EMPTY_PATH"},
	{0x10, "T_SYMLINKS"}, {0x20, "T_AUTOMOUNTS"}, {0x40, "T_EMPTY_PATH"}, {0x100, "SET_GROUP"}, {0x200, "BENEATH"}};
const struct syscall_words syscall_words_move_mount = {
	"MOVE_MOUNT_", "", words_move_mount, ARRAY_LEN(words_move_mount), false};

static const struct syscall_word words_fsopen[] = {{1, "CLOEXEC"}};
const struct syscall_words syscall_words_fsopen = {"FSOPEN_", "", words_fsopen, ARRAY_LEN(words_fsopen), false};

static const struct syscall_word words_fsmount[] = {{1, "CLOEXEC"}};
const struct syscall_words syscall_words_fsmount = {"FSMOUNT_", "", words_fsmount, ARRAY_LEN(words_fsmount), false};

static const struct syscall_word words_mount_attr[] = {{1, "RDONLY"}, {2, "NOSUID"}, {4, "NODEV"}, {8, "NOEXEC"},
	{0x10, "NOATIME"}, {0x20, "STRICTATIME"}, {0x80, "NODIRATIME"}, {0x100000, "IDMAP"}, {0x200000, "NOSYMFOLLOW"}};
const struct syscall_words syscall_words_mount_attr = {
	"MOUNT_ATTR_", "", words_mount_attr, ARRAY_LEN(words_mount_attr), false};

static const struct syscall_word words_fsconfig[] = {{0, "SET_FLAG"}, {1, "SET_STRING"}, {2, "SET_BINARY"},
	{3, "SET_PATH"}, {4, "SET_PATH_EMPTY"}, {5, "SET_FD"}, {6, "CMD_CREATE"}, {7, "CMD_RECONFIGURE"},
	{8, "CMD_CREATE_EXCL"}};
const struct syscall_words syscall_words_fsconfig = {"FSCONFIG_", "", words_fsconfig, ARRAY_LEN(words_fsconfig), true};

static const struct syscall_word words_xattr[] = {{1, "CREATE"}, {2, "REPLACE"}};
const struct syscall_words syscall_words_xattr = {"XATTR_", "", words_xattr, ARRAY_LEN(words_xattr), false};

static const struct syscall_word words_fanotify_init[] = {{1, "CLOEXEC"}, {2, "NONBLOCK"}, {4, "CLASS_CONTENT"},
	{8, "CLASS_PRE_CONTENT"}, {0x10, "UNLIMITED_QUEUE"}, {0x20, "UNLIMITED_MARKS"}, {0x40, "ENABLE_AUDIT"},
	{0x80, "REPORT_PIDFD"}, {0x100, "REPORT_TID"}, {0x200, "REPORT_FID"}, {0x400, "REPORT_DIR_FID"},
	{0x800, "REPORT_NAME"}, {0x1000, "REPORT_TARGET_FID"}};
const struct syscall_words syscall_words_fanotify_init = {
	"FAN_", "", words_fanotify_init, ARRAY_LEN(words_fanotify_init), false};

static const struct syscall_word words_fanotify_mark[] = {{1, "ADD"}, {2, "REMOVE"}, {4, "DONT_FOLLOW"}, {8, "ONLYDIR"},
	{0x10, "MOUNT"}, {0x20, "IGNORED_MASK"}, {0x40, "IGNORED_SURV_MODIFY"}, {0x80, "FLUSH"}, {0x100, "FILESYSTEM"},
	{0x200, "EVICTABLE"}, {0x400, "IGNORE"}};
const struct syscall_words syscall_words_fanotify_mark = {
	"FAN_MARK_", "", words_fanotify_mark, ARRAY_LEN(words_fanotify_mark), false};

static const struct syscall_word words_fanotify_mask[] = {{1, "ACCESS"}, {2, "MODIFY"}, {4, "ATTRIB"},
	{8, "CLOSE_WRITE"}, {0x10, "CLOSE_NOWRITE"}, {0x20, "OPEN"}, {0x40, "MOVED_FROM"}, {0x80, "MOVED_TO"},
	{0x100, "CREATE"}, {0x200, "DELETE"}, {0x400, "DELETE_SELF"}, {0x800, "MOVE_SELF"}, {0x1000, "OPEN_EXEC"},
	{0x4000, "Q_OVERFLOW"}, {0x8000, "FS_ERROR"}, {0x10000, "OPEN_PERM"}, {0x20000, "ACCESS_PERM"},
	{0x40000, "OPEN_EXEC_PERM"}, {0x8000000, "EVENT_ON_CHILD"}, {0x10000000, "RENAME"}, {0x40000000, "ONDIR"}};
const struct syscall_words syscall_words_fanotify_mask = {
	"FAN_", "", words_fanotify_mask, ARRAY_LEN(words_fanotify_mask), false};

static const struct syscall_word words_swap[] = {
	{0x8000, "PREFER"}, {0x10000, "DISCARD"}, {0x20000, "DISCARD_ONCE"}, {0x40000, "DISCARD_PAGES"}};
const struct syscall_words syscall_words_swap = {"SWAP_FLAG_", "", words_swap, ARRAY_LEN(words_swap), false};

static const struct syscall_word words_file_type[] = {{0xc000, "IFSOCK"}, {0xa000, "IFLNK"}, {0x8000, "IFREG"},
	{0x6000, "IFBLK"}, {0x4000, "IFDIR"}, {0x2000, "IFCHR"}, {0x1000, "IFIFO"}};
const struct syscall_words syscall_words_file_type = {"S_", "", words_file_type, ARRAY_LEN(words_file_type), true};

static const struct syscall_word words_resolve[] = {
	{1, "NO_XDEV"}, {2, "NO_MAGICLINKS"}, {4, "NO_SYMLINKS"}, {8, "BENEATH"}, {0x10, "IN_ROOT"}, {0x20, "CACHED"}};
const struct syscall_words syscall_words_resolve = {"RESOLVE_", "", words_resolve, ARRAY_LEN(words_resolve), false};

static const struct syscall_word words_open_x86[] = {{0x400, "APPEND"}, {0x2000, "ASYNC"}, {0x80000, "CLOEXEC"},
	{0x40, "CREAT"}, {0x4000, "DIRECT"}, {0x10000, "DIRECTORY"}, {0x1000, "DSYNC"}, {0x80, "EXCL"},
	{0x8000, "LARGEFILE"}, {0x40000, "NOATIME"}, {0x100, "NOCTTY"}, {0x20000, "NOFOLLOW"}, {0x800, "NONBLOCK"},
	{0x200000, "PATH"}, {0x101000, "SYNC"}, {0x410000, "TMPFILE"}, {0x200, "TRUNC"}, {1, "WRONLY"}};
const struct syscall_words syscall_words_open_x86 = {"O_", "", words_open_x86, ARRAY_LEN(words_open_x86), false};

static const struct syscall_word words_open_arm[] = {{0x400, "APPEND"}, {0x2000, "ASYNC"}, {0x80000, "CLOEXEC"},
	{0x40, "CREAT"}, {0x10000, "DIRECT"}, {0x4000, "DIRECTORY"}, {0x1000, "DSYNC"}, {0x80, "EXCL"},
	{0x20000, "LARGEFILE"}, {0x40000, "NOATIME"}, {0x100, "NOCTTY"}, {0x8000, "NOFOLLOW"}, {0x800, "NONBLOCK"},
	{0x200000, "PATH"}, {0x101000, "SYNC"}, {0x404000, "TMPFILE"}, {0x200, "TRUNC"}, {1, "WRONLY"}};
const struct syscall_words syscall_words_open_arm = {"O_", "", words_open_arm, ARRAY_LEN(words_open_arm), false};

/* For calls that create descriptors without opening files. DIRECT has another value on arm. */
static const struct syscall_word words_made[] = {
	{0x80000, "CLOEXEC"}, {0x4000, "DIRECT"}, {0x10000, "DIRECT"}, {0x800, "NONBLOCK"}, {0x200, "TRUNC"}};
const struct syscall_words syscall_words_made = {"O_", "", words_made, ARRAY_LEN(words_made), false};

static const struct syscall_word words_quota_cmd[] = {{0x800001, "SYNC"}, {0x800002, "QUOTAON"}, {0x800003, "QUOTAOFF"},
	{0x800004, "GETFMT"}, {0x800005, "GETINFO"}, {0x800006, "SETINFO"}, {0x800007, "GETQUOTA"},
	{0x800008, "SETQUOTA"}, {0x800009, "GETNEXTQUOTA"}};
const struct syscall_words syscall_words_quota_cmd = {"Q_", "", words_quota_cmd, ARRAY_LEN(words_quota_cmd), true};
