/* SPDX-License-Identifier: Apache-2.0 */
#include "view/text/streams_text.h"

#include <inttypes.h>

#define STREAMS_TEXT_WIDTH   35 /* Width of one recording's column. */
#define RULE		     26 /* Number of dashes; one more between two columns. */
#define STREAMS_TEXT_PERCENT 100.0

static void put_sums(struct text *out, const struct hot_streams *streams, const struct hot_stream *stream)
{
	double share = streams->total ? STREAMS_TEXT_PERCENT * (double)stream->period / (double)streams->total : 0;
	text_printf(out, "cycles: %" PRIu64 ", hits: ", stream->cycles);
	text_fixed(out, share, 2);
	text_char(out, '%');
}

static void streams_text_put_frame(struct text *out, const struct profile *p, uint32_t id)
{
	const struct profile_frame *frame = &p->frames[id];
	if (frame->function == PROFILE_NONE) {
		text_str(out, "0x");
		text_hex(out, frame->raw_address ? frame->raw_address : frame->address, 0);
	} else {
		struct tally_str name = profile_string(p, p->functions[frame->function].name);
		struct tally_str line =
			profile_frame_has_line(p, frame) ? profile_string(p, frame->own_line.line) : STR("??:0");
		text_bytes(out, name.data, name.len);
		text_char(out, ' ');
		text_bytes(out, line.data, line.len);
	}
}

/* Streams to print side by side; left or right is NULL if only the other recording has the stream. */
struct stream_pair {
	const struct hot_streams *left_of, *right_of;
	const struct hot_stream *left, *right;
};

static void put_pair(struct text *out, const struct stream_pair *pair)
{
	size_t lines = 2 + (pair->left ? pair->left : pair->right)->frame_count;
	for (size_t line = 0; line < lines; line++) {
		const struct hot_stream *sides[] = {pair->left, pair->right};
		const struct hot_streams *of[] = {pair->left_of, pair->right_of};
		for (size_t side = 0; side < 2; side++) {
			if (!sides[side])
				continue;
			if (side == 1 && !pair->left)
				text_repeat(out, ' ', STREAMS_TEXT_WIDTH);
			if (side == 1)
				text_char(out, '\t');
			size_t start = out->len;
			if (line == 0)
				put_sums(out, of[side], sides[side]);
			else if (line == 1)
				text_repeat(out, '-', pair->left && pair->right && side == 0 ? RULE + 1 : RULE);
			else
				streams_text_put_frame(out, of[side]->profile, sides[side]->frames[line - 2]);
			text_align_from(out, start, STREAMS_TEXT_WIDTH);
		}
		text_char(out, '\n');
	}
}

static void put_matched(struct text *out, const struct hot_streams *before, const struct hot_streams *after)
{
	unsigned number = 0;
	text_str(out, "[ Matched hot streams ]\n");
	for (size_t i = 0; i < before->count; i++) {
		size_t same = hot_streams_match(after, before, &before->items[i]);
		if (same == after->count)
			continue;
		struct stream_pair pair = {before, after, &before->items[i], &after->items[same]};
		text_printf(out, "\nhot chain pair %u:\n", ++number);
		put_pair(out, &pair);
	}
}

static void put_old(struct text *out, const struct hot_streams *before, const struct hot_streams *after)
{
	unsigned number = 0;
	text_str(out, "\n[ Hot streams in old perf data only ]\n");
	for (size_t i = 0; i < before->count; i++) {
		struct stream_pair pair = {.left_of = before, .left = &before->items[i]};
		if (hot_streams_match(after, before, pair.left) < after->count)
			continue;
		text_printf(out, "\nhot chain %u:\n", ++number);
		put_pair(out, &pair);
	}
}

/* Prints the streams that match none of the old recording; of several equal ones only the first counts as matched. */
static void put_new(struct text *out, const struct hot_streams *before, const struct hot_streams *after)
{
	bool is_matched[HOT_STREAMS_MOST] = {false};
	unsigned number = 0;
	for (size_t i = 0; i < before->count; i++) {
		size_t same = hot_streams_match(after, before, &before->items[i]);
		if (same < after->count)
			is_matched[same] = true;
	}
	text_str(out, "\n[ Hot streams in new perf data only ]\n");
	for (size_t i = 0; i < after->count; i++) {
		struct stream_pair pair = {.right_of = after, .right = &after->items[i]};
		if (is_matched[i])
			continue;
		text_printf(out, "\nhot chain %u:\n", ++number);
		put_pair(out, &pair);
	}
}

void streams_text(struct text *out, const struct hot_streams *before, const struct hot_streams *after)
{
	put_matched(out, before, after);
	put_old(out, before, after);
	put_new(out, before, after);
}
