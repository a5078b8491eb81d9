/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_text.h - makes a profile from plain text, for tests of analyses and of output.
 *
 *	event NAME			an event of its own, numbered from 0
 *	group NAME NAME ...		events of one group
 *	COMM PID/TID CPU EVENT PERIOD STACK
 *
 * A STACK is FRAME;FRAME;...;FRAME from the outermost caller to the sample's own frame; with a single frame the
 * sample has a call chain only if a ';' follows. A FRAME is NAME@BINARY or 0xADDRESS@BINARY; 0xADDRESS alone is in no
 * binary. A source line may follow, as in main@x#file.c:12. A binary in brackets belongs to the kernel. Functions lie
 * 0x1000 apart in order of appearance and are 0x10 bytes long. Another function of the same name is NAME~2@BINARY.
 */
#ifndef SUPPORT_PROFILE_TEXT_H
#define SUPPORT_PROFILE_TEXT_H

#include "profile/profile_builder.h"

/* Fails the test if the text is invalid. The caller destroys the profile. */
struct profile *profile_from_text(const char *text);

#endif
