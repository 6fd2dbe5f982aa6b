// RUN: batch-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{there are -1 stages}}
func.func private @f() attributes {uprog.code = #uprog.code<stages = -1, task_scratch = 0>}

// -----

// expected-error @+1 {{scratch memory is a number of bytes, at least 0}}
func.func private @f() attributes {uprog.code = #uprog.code<stages = 1, task_scratch = -8>}

// -----

// expected-error @+1 {{scratch memory is a number of bytes, at least 0}}
func.func private @f() attributes {uprog.code = #uprog.code<ragged_scratch = [-1], stages = 1, task_scratch = 0>}

// -----

// expected-error @+2 {{scratch memory is a number of bytes, at least 0}}
// expected-error @+1 {{failed to parse UProg_CodeAttr parameter 'workers'}}
func.func private @f() attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <fixed_scratch = -1, task_scratch = 0, most_scratch = 0, row_split = 1, row_block = 0, share_tasks = 1>>}

// -----

// expected-error @+2 {{row_split and share_tasks are at least 1, row_block is at least 0}}
// expected-error @+1 {{failed to parse UProg_CodeAttr parameter 'workers'}}
func.func private @f() attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <fixed_scratch = 0, task_scratch = 0, most_scratch = 0, row_split = 0, row_block = 0, share_tasks = 1>>}

// -----

// What once was a dictionary is typed.
// expected-error @+1 {{'uprog.code' is a #uprog.code of a function or an operator}}
func.func private @f() attributes {uprog.code = {stages = 1 : i64}}
