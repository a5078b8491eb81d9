/* SPDX-License-Identifier: Apache-2.0 */
#include "syscalls/syscall_printer.h"

#define FILES_PATH_NAMES 64

/* Magic numbers of file systems whose files have no path (linux/magic.h). */
#define FILES_PIPE  0x50495045
#define FILES_SOCK  0x534f434b
#define FILES_ANON  0x09041934
#define FILES_PID   0x50494446
#define FILES_TMP   0x01021994
#define FILES_PAGES 0x958458f6

bool syscall_file_find(const struct syscall_call *call, unsigned arg, unsigned item, struct syscall_file *file,
	struct tally_str *names)
{
	struct syscall_copied copied;
	if (!syscall_part_find(call, arg, item, false, &copied) || copied.bytes.len < sizeof(*file))
		return false;
	memcpy(file, copied.bytes.data, sizeof(*file));
	*names = (struct tally_str){(const char *)copied.bytes.data + sizeof(*file), copied.bytes.len - sizeof(*file)};
	return true;
}

/* Prints the file as in /proc: "pipe:[77]", "anon_inode:[eventpoll]". */
static void print_files_without_path(struct text *t, const struct syscall_file *file, struct tally_str name)
{
	switch (file->system) {
	case FILES_PIPE:
	case FILES_SOCK:
		text_str(t, file->system == FILES_PIPE ? "pipe:[" : "socket:[");
		text_u64(t, file->inode);
		text_char(t, ']');
		return;
	case FILES_PID:
		text_str(t, "anon_inode:[pidfd]");
		return;
	case FILES_ANON:
		text_str(t, "anon_inode:");
		text_visible(t, name);
		return;
	case FILES_TMP:
	case FILES_PAGES:
		text_char(t, '/');
		text_visible(t, name);
		text_str(t, " (deleted)");
		return;
	default:
		text_visible(t, name);
		return;
	}
}

void syscall_file_print(struct text *t, const struct syscall_file *file, struct tally_str names)
{
	struct tally_str parts[FILES_PATH_NAMES];
	size_t count = 0;
	while (names.len > 0 && count < FILES_PATH_NAMES) {
		size_t len = strnlen(names.data, names.len);
		parts[count++] = (struct tally_str){names.data, len};
		len += len < names.len;
		names = (struct tally_str){names.data + len, names.len - len};
	}
	if (file->flags & SYSCALL_FILE_NO_PATH) {
		print_files_without_path(t, file, count ? parts[0] : STR(""));
		return;
	}
	if (count == 0)
		text_char(t, '/');
	while (count-- > 0) {
		text_char(t, '/');
		text_visible(t, parts[count]);
	}
	if (file->flags & SYSCALL_FILE_DELETED)
		text_str(t, " (deleted)");
}

void syscall_put_fd(struct syscall_printer *p, int fd)
{
	struct tally_str path = {0}, names;
	struct syscall_file file;
	struct text made = {0};
	text_i64(p->t, fd);
	if (fd >= 0 && p->of_arg && syscall_file_find(p->call, p->arg, SYSCALL_ITEM_FILE, &file, &names))
		syscall_file_print(&made, &file, names);
	else if (fd >= 0 && p->options->fd_path)
		path = p->options->fd_path(p->options->context, p->call->pid, fd);
	if (made.len + path.len > 0) {
		text_char(p->t, '<');
		text_bytes(p->t, made.data, made.len);
		text_visible(p->t, path);
		text_char(p->t, '>');
	}
	p->t->failed |= made.failed;
	text_deinit(&made);
}

bool syscall_put_mapped(struct syscall_printer *p, unsigned index)
{
	char room[SYSCALL_PART];
	struct tally_str names, text;
	struct syscall_named_file named;
	struct text path = {0};
	if (!p->options->file_text || !syscall_file_find(p->call, index, SYSCALL_ITEM_MAPPED, &named.file, &names) ||
		named.file.flags != 0)
		return false;
	syscall_file_print(&path, &named.file, names);
	text_char(&path, 0);
	named.path = path.data;
	bool is_read = !path.failed &&
		       p->options->file_text(p->options->context, p->call->pid, &named, room, sizeof(room), &text);
	if (is_read)
		syscall_put_string(p->t, &(struct syscall_copied){{(const uint8_t *)text.data, text.len}, false});
	text_deinit(&path);
	return is_read;
}
