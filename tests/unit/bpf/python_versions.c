/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the table of offsets with the headers of the installed version (python3-dev), if there is one. */
#include "bpf/python_versions.h"

#include "unit_test.h"

#if HAVE_PYTHON_3_11_HEADERS
/* The headers cause warnings, which are disabled. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>

#define SAME(field, type, member) assert_int_equal(at->field, offsetof(type, member))

static void test_python_offsets(void **state)
{
	const struct python_offsets *at = &python_version_of(str_from("python3.11"))->at;
	SAME(runtime_interpreters, _PyRuntimeState, interpreters.head);
	SAME(runtime_current, _PyRuntimeState, gilstate.tstate_current);
	SAME(interpreter_threads, PyInterpreterState, threads.head);
	SAME(thread_next, PyThreadState, next);
	SAME(thread_cframe, PyThreadState, cframe);
	SAME(thread_id, PyThreadState, thread_id);
	SAME(thread_native_id, PyThreadState, native_thread_id);
	SAME(cframe_frame, _PyCFrame, current_frame);
	SAME(cframe_previous, _PyCFrame, previous);
	SAME(frame_code, _PyInterpreterFrame, f_code);
	SAME(frame_previous, _PyInterpreterFrame, previous);
	SAME(frame_instruction, _PyInterpreterFrame, prev_instr);
	SAME(frame_is_entry, _PyInterpreterFrame, is_entry);
	SAME(code_instructions, PyCodeObject, co_code_adaptive);
	SAME(code_first_line, PyCodeObject, co_firstlineno);
	SAME(code_file, PyCodeObject, co_filename);
	SAME(code_name, PyCodeObject, co_qualname);
	SAME(code_lines, PyCodeObject, co_linetable);
	SAME(text_length, PyASCIIObject, length);
	SAME(text_state, PyASCIIObject, state);
	assert_int_equal(at->text_ascii, sizeof(PyASCIIObject));
	assert_int_equal(at->text_other, sizeof(PyCompactUnicodeObject));
	SAME(bytes_size, PyVarObject, ob_size);
	SAME(bytes_data, PyBytesObject, ob_sval);
}
#else
static void test_python_offsets(void **state)
{
	print_message("the headers of Python 3.11 are not installed (python3-dev)\n");
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python_offsets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
