"""The official tests of Jupyter kernels, on this one."""
import unittest

import jupyter_kernel_test as jkt


class NoemaTests(jkt.KernelTests):
    kernel_name = "noema"
    language_name = "go"
    file_extension = ".go"
    code_hello_world = 'fmt.Print("hello, world")'
    code_stderr = 'import "os"\nfmt.Fprint(os.Stderr, "oops")'
    completion_samples = [{'text': 'fmt.Prin', 'matches': {'Print', 'Printf', 'Println'}}]
    complete_code_samples = ['1', 'fmt.Println("hi")', 'func f(x int) int {\n\treturn x*2\n}']
    incomplete_code_samples = ['fmt.Println("hi"', 'func f(x int) int {', 'x := `abc']
    invalid_code_samples = ['f)(', 'x := "abc']
    code_page_something = 'fmt.Println?'
    code_generate_error = 'panic("oops")'
    code_execute_result = [{'code': '1+2+3', 'result': '6'}, {'code':'"a"+"b"', 'result':'ab'}]
    code_display_data = [{'code': 'lab.Show(Table{Title: "t"})', 'mime': 'text/html'}]
    code_history_pattern = '1?2*'
    supported_history_operations = ('tail','range','search')
    code_inspect_sample = 'fmt.Println'
    code_clear_output = 'lab.Clear(false)'
if __name__ == "__main__":
    unittest.main()
