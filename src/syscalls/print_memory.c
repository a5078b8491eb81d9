/* SPDX-License-Identifier: Apache-2.0 */
#include "base/control.h"
#include "syscalls/syscall_printer.h"

void syscall_put_address(struct text *t, uint64_t address)
{
	if (!address) {
		text_str(t, "NULL");
		return;
	}
	text_str(t, "0x");
	text_hex(t, address, 0);
}

/* ---- strings ---- */

static void syscall_put_escape(struct text *t, uint8_t byte, bool digit_follows)
{
	static const char letters[] = "\a\b\t\n\v\f\r", names[] = "abtnvfr";
	const char *letter = byte ? strchr(letters, byte) : NULL;
	text_char(t, '\\');
	if (letter) {
		text_char(t, names[letter - letters]);
		return;
	}
	if (byte >= 64 || digit_follows)
		text_char(t, (char)('0' + (byte >> 6)));
	if (byte >= 8 || digit_follows)
		text_char(t, (char)('0' + (byte >> 3 & 7)));
	text_char(t, (char)('0' + (byte & 7)));
}

static void syscall_put_bytes(struct text *t, struct tally_bytes bytes)
{
	size_t i = 0;
	while (i < bytes.len) {
		const char *at = (const char *)bytes.data + i;
		size_t plain = control_span(at, bytes.len - i), quote = 0;
		while (quote < plain && at[quote] != '"' && at[quote] != '\\')
			quote++;
		text_bytes(t, at, quote);
		i += quote;
		if (quote < plain) {
			text_char(t, '\\');
			text_char(t, at[quote]);
			i++;
			continue;
		}
		size_t control = i < bytes.len ? control_bytes(at + quote, bytes.len - i) : 0;
		for (size_t k = 0; k < control && i < bytes.len; k++, i++) {
			bool digit = i + 1 < bytes.len && bytes.data[i + 1] >= '0' && bytes.data[i + 1] <= '7';
			syscall_put_escape(t, bytes.data[i], digit);
		}
		if (control == 0 && i < bytes.len && plain == 0)
			text_char(t, (char)bytes.data[i++]);
	}
}

void syscall_put_quoted(struct text *t, struct tally_bytes bytes, size_t most, bool is_truncated)
{
	text_char(t, '"');
	syscall_put_bytes(t, bytes_part(bytes, 0, most));
	text_char(t, '"');
	if (is_truncated || bytes.len > most)
		text_str(t, "...");
}

void syscall_put_string(struct text *t, const struct syscall_copied *copied)
{
	const uint8_t *end = copied->bytes.len ? memchr(copied->bytes.data, 0, copied->bytes.len) : NULL;
	struct tally_bytes bytes = copied->bytes;
	if (end)
		bytes.len = (size_t)(end - bytes.data);
	syscall_put_quoted(t, bytes, SIZE_MAX, copied->is_truncated);
}

/* ---- structs ---- */

struct syscall_braces syscall_braces_begin(struct syscall_printer *p)
{
	text_char(p->t, '{');
	return (struct syscall_braces){p, false};
}

void syscall_braces_field(struct syscall_braces *braces, const char *name)
{
	struct text *t = braces->p->t;
	bool has_names = !braces->p->options->no_names;
	if (braces->has_fields)
		text_str(t, ", ");
	else if (has_names)
		text_char(t, ' ');
	braces->has_fields = true;
	if (!has_names)
		return;
	text_char(t, '.');
	text_str(t, name);
	text_str(t, ": ");
}

void syscall_braces_end(struct syscall_braces *braces, bool more)
{
	struct text *t = braces->p->t;
	if (more)
		text_str(t, braces->has_fields ? ", ..." : "...");
	text_str(t, !braces->p->options->no_names && braces->has_fields ? " }" : "}");
}

uint64_t syscall_take(struct tally_bytes bytes, size_t offset, unsigned size)
{
	uint64_t u64 = 0;
	uint32_t u32 = 0;
	uint16_t u16 = 0;
	if (offset > bytes.len || bytes.len - offset < size)
		return 0;
	switch (size) {
	case 8:
		memcpy(&u64, bytes.data + offset, 8);
		return u64;
	case 4:
		memcpy(&u32, bytes.data + offset, 4);
		return u32;
	case 2:
		memcpy(&u16, bytes.data + offset, 2);
		return u16;
	default:
		return size == 1 ? bytes.data[offset] : 0;
	}
}

int64_t syscall_take_signed(struct tally_bytes bytes, size_t offset, unsigned size)
{
	uint64_t value = syscall_take(bytes, offset, size);
	if (size == 4)
		return (int32_t)value;
	if (size == 2)
		return (int16_t)value;
	return size == 1 ? (int8_t)value : (int64_t)value;
}

/* ---- buffers and vectors ---- */

size_t syscall_string_bytes(const struct syscall_printer *p)
{
	return p->options->string_bytes ? p->options->string_bytes : SYSCALL_STRING_BYTES;
}

static void syscall_print_bytes(struct syscall_printer *p, const struct syscall_copied *copied)
{
	if (!p->options->no_buffer_quotes) {
		syscall_put_quoted(p->t, copied->bytes, syscall_string_bytes(p), copied->is_truncated);
		return;
	}
	syscall_put_bytes(p->t, bytes_part(copied->bytes, 0, syscall_string_bytes(p)));
	if (copied->is_truncated || copied->bytes.len > syscall_string_bytes(p))
		text_str(p->t, "...");
}

static void syscall_print_strings(struct syscall_printer *p, unsigned index, uint64_t address)
{
	struct syscall_copied string;
	if (!syscall_part_find(p->call, index, SYSCALL_ITEM_BUFFER, false, &string)) {
		syscall_put_address(p->t, address);
		return;
	}
	text_char(p->t, '[');
	for (unsigned i = 0; syscall_part_find(p->call, index, SYSCALL_ITEM_BUFFER + i, false, &string); i++) {
		if (i)
			text_str(p->t, ", ");
		if (string.bytes.len)
			syscall_put_string(p->t, &string);
		else
			text_str(p->t, "...");
	}
	if (p->call->is_truncated)
		text_str(p->t, ", ...");
	text_char(p->t, ']');
}

/* Prints the copied iovecs of an argument, or of its msghdr. left is the number of valid bytes in the buffers. */
static void syscall_print_iovecs(
	struct syscall_printer *p, unsigned index, bool at_exit, const struct syscall_copied *vector, uint64_t left)
{
	struct syscall_copied buffer;
	text_char(p->t, '[');
	for (unsigned i = 0; (i + 1u) * 16 <= vector->bytes.len; i++) {
		struct syscall_braces braces;
		if (i)
			text_str(p->t, ", ");
		braces = syscall_braces_begin(p);
		syscall_braces_field(&braces, "iov_base");
		if (syscall_part_find(p->call, index, SYSCALL_ITEM_BUFFER + i, at_exit, &buffer)) {
			bool is_cut = buffer.is_truncated && left > buffer.bytes.len;
			syscall_put_quoted(p->t, bytes_part(buffer.bytes, 0, left), syscall_string_bytes(p), is_cut);
			left -= MIN(left, syscall_take(vector->bytes, i * 16 + 8, 8));
		} else {
			syscall_put_address(p->t, syscall_take(vector->bytes, i * 16, 8));
		}
		syscall_braces_field(&braces, "iov_len");
		text_u64(p->t, syscall_take(vector->bytes, i * 16 + 8, 8));
		syscall_braces_end(&braces, false);
	}
	if (vector->is_truncated)
		text_str(p->t, ", ...");
	text_char(p->t, ']');
}

/* left is the number of bytes in the buffers that belong to the message. */
static void syscall_put_msghdr(
	struct syscall_printer *p, unsigned index, bool at_exit, struct tally_bytes header, uint64_t left)
{
	struct syscall_braces braces = syscall_braces_begin(p);
	struct syscall_copied part;
	syscall_braces_field(&braces, "msg_name");
	if (syscall_part_find(p->call, index, SYSCALL_ITEM_NAME, at_exit, &part))
		syscall_print_sockaddr(p, part.bytes);
	else
		syscall_put_address(p->t, syscall_take(header, 0, 8));
	syscall_braces_field(&braces, "msg_namelen");
	text_u64(p->t, syscall_take(header, 8, 4));
	syscall_braces_field(&braces, "msg_iov");
	if (syscall_part_find(p->call, index, SYSCALL_ITEM_VECTOR, at_exit, &part))
		syscall_print_iovecs(p, index, at_exit, &part, left);
	else
		syscall_put_address(p->t, syscall_take(header, 16, 8));
	syscall_braces_field(&braces, "msg_iovlen");
	text_u64(p->t, syscall_take(header, 24, 8));
	if (syscall_take(header, 32, 8)) {
		syscall_braces_field(&braces, "msg_control");
		syscall_put_address(p->t, syscall_take(header, 32, 8));
	}
	syscall_braces_field(&braces, "msg_controllen");
	text_u64(p->t, syscall_take(header, 40, 8));
	syscall_braces_field(&braces, "msg_flags");
	syscall_put_words(p, &syscall_words_msg, syscall_take(header, 48, 4));
	syscall_braces_end(&braces, false);
}

static void syscall_put_mmsghdr(struct syscall_printer *p, unsigned index, bool at_exit, struct tally_bytes header)
{
	struct syscall_braces braces;
	uint64_t bytes = at_exit ? syscall_take(header, SYSCALL_MSGHDR, 4) : UINT64_MAX;
	text_char(p->t, '[');
	braces = syscall_braces_begin(p);
	syscall_braces_field(&braces, "msg_hdr");
	syscall_put_msghdr(p, index, at_exit, header, bytes);
	if (at_exit) {
		syscall_braces_field(&braces, "msg_len");
		text_u64(p->t, bytes);
	}
	syscall_braces_end(&braces, false);
	text_str(p->t, p->call->args[2] > 1 ? ", ...]" : "]");
}

void syscall_print_buffer(struct syscall_printer *p, const struct syscall_arg *arg, unsigned index, bool at_exit,
	const struct syscall_copied *copied)
{
	switch (arg->kind) {
	case KIND_PATH:
	case KIND_STRING:
	case KIND_PRCTL:
		syscall_put_string(p->t, copied);
		return;
	case KIND_IOVEC:
		syscall_print_iovecs(p, index, at_exit, copied, UINT64_MAX);
		return;
	case KIND_MSGHDR:
		syscall_put_msghdr(p, index, at_exit, copied->bytes, UINT64_MAX);
		return;
	case KIND_MMSGHDR:
		syscall_put_mmsghdr(p, index, at_exit, copied->bytes);
		return;
	case KIND_STRINGS:
		syscall_print_strings(p, index, p->call->args[index]);
		return;
	default:
		syscall_print_bytes(p, copied);
		return;
	}
}
