/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_format.h - defines the numbers of the fields of docs/schema/fleet.proto, which batch_write.c encodes and
 * batch_read.c decodes. Private to fleet/.
 */
#ifndef FLEET_BATCH_FORMAT_H
#define FLEET_BATCH_FORMAT_H

enum batch_field {
	BATCH_ID = 1,
	BATCH_BEGIN,
	BATCH_END,
	BATCH_STRING,
	BATCH_LABEL,
	BATCH_LABEL_SET,
	BATCH_EVENT,
	BATCH_BINARY,
	BATCH_LOCATION,
	BATCH_STACK,
	BATCH_THREAD,
	BATCH_SAMPLE,
	BATCH_LOSSES,
	BATCH_FIELDS
};
enum label_field { LABEL_NAME = 1, LABEL_VALUE };
enum label_set_field { LABEL_SET_LABEL = 1 };
enum event_field { EVENT_NAME = 1, EVENT_IS_WAITING, EVENT_IS_TIME, EVENT_HAS_CHAINS };
enum binary_field { BINARY_NAME = 1, BINARY_PATH, BINARY_BUILD_ID, BINARY_IS_KERNEL };
enum location_field { LOCATION_BINARY = 1, LOCATION_ADDRESS, LOCATION_LEVEL, LOCATION_FRAME, LOCATION_LEFT_OUT };
enum frame_field { FRAME_FUNCTION = 1, FRAME_FILE, FRAME_LINE, FRAME_START, FRAME_SIZE, FRAME_IS_START };
enum stack_field { STACK_LOCATION = 1 };
enum thread_field { THREAD_PID = 1, THREAD_TID, THREAD_COMM, THREAD_PROCESS_COMM, THREAD_LABEL_SET };
enum sample_field { SAMPLE_EVENT = 1, SAMPLE_THREAD, SAMPLE_STACK, SAMPLE_STATE, SAMPLE_COUNT, SAMPLE_VALUE };
enum losses_field {
	LOSSES_LOST_SAMPLES = 1,
	LOSSES_DROPPED_BATCHES,
	LOSSES_DROPPED_SAMPLES,
	LOSSES_OWN_CPU,
	LOSSES_OWN_BYTES,
	LOSSES_FREQUENCY,
	LOSSES_WINDOWS,
	LOSSES_WAIT_WINDOWS
};

/* Initializes an array that maps the number of a level in the format to an enum profile_level. */
#define BATCH_LEVELS                                                                                         \
	{                                                                                                    \
		PROFILE_LEVEL_UNKNOWN, PROFILE_LEVEL_USER, PROFILE_LEVEL_KERNEL, PROFILE_LEVEL_GUEST_KERNEL, \
			PROFILE_LEVEL_GUEST_USER, PROFILE_LEVEL_HYPERVISOR                                   \
	}

#define BUILD_ID_BYTES 64 /* Maximum size of a stored build ID; linkers make at most 20 bytes. */

#endif
