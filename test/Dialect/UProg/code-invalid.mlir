// RUN: batch-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'stages' must be at least 0, got -1}}
func.func private @f() attributes {uprog.code = #uprog.code<stages = -1, task_scratch = 0>}

// -----

// expected-error @+1 {{scratch memory must be at least 0 bytes}}
func.func private @f() attributes {uprog.code = #uprog.code<stages = 1, task_scratch = -8>}

// -----

// expected-error @+1 {{scratch memory must be at least 0 bytes}}
func.func private @f() attributes {uprog.code = #uprog.code<ragged_scratch = [-1], stages = 1, task_scratch = 0>}

// -----

// expected-error @+2 {{scratch memory must be at least 0 bytes}}
// expected-error @+1 {{failed to parse UProg_CodeAttr parameter 'workers'}}
func.func private @f() attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <fixed_scratch = -1, task_scratch = 0, most_scratch = 0, row_split = 1, stage_rows = 0, share_tasks = 1>>}

// -----

// expected-error @+2 {{'row_split' and 'share_tasks' must be at least 1, and 'stage_rows' at least 0}}
// expected-error @+1 {{failed to parse UProg_CodeAttr parameter 'workers'}}
func.func private @f() attributes {uprog.code = #uprog.code<stages = 1, task_scratch = 0, workers = <fixed_scratch = 0, task_scratch = 0, most_scratch = 0, row_split = 0, stage_rows = 0, share_tasks = 1>>}

// -----

// expected-error @+2 {{'barriers' must be in ascending order and at least 1}}
// expected-error @+1 {{failed to parse UProg_CodeAttr parameter 'workers'}}
func.func private @f() attributes {uprog.code = #uprog.code<stages = 4, task_scratch = 0, workers = <barriers = [2, 2], fixed_scratch = 0, task_scratch = 0, most_scratch = 0, row_split = 1, stage_rows = 0, share_tasks = 1>>}

// -----

// expected-error @+1 {{a barrier is before stage 2, but the last stage is 1}}
func.func private @f() attributes {uprog.code = #uprog.code<stages = 2, task_scratch = 0, workers = <barriers = [1, 2], fixed_scratch = 0, task_scratch = 0, most_scratch = 0, row_split = 1, stage_rows = 0, share_tasks = 1>>}

// -----

// A dictionary, which was the syntax of earlier versions, is an error.
// expected-error @+1 {{'uprog.code' must be a #uprog.code attribute on a function or a uprog.operator}}
func.func private @f() attributes {uprog.code = {stages = 1 : i64}}

// -----

// expected-error @+1 {{'func.func' op 'uprog.level' must be "block", "cluster" or "device" on a function}}
func.func private @f() attributes {uprog.level = "warp"}

// -----

// expected-error @+1 {{'builtin.module' op 'uprog.cluster_size' must be an i64 from 1 to 16 on a module}}
module attributes {uprog.cluster_size = 17 : i64} {
}

// -----

// expected-error @+1 {{'func.func' op 'uprog.cluster_size' must be an i64 from 1 to 16 on a module}}
func.func private @f() attributes {uprog.cluster_size = 8 : i64}

// -----

// expected-error @+1 {{'builtin.module' op 'uprog.instances' must be a dictionary on a module, with the integers 'bytes', 'tasks', 'capacity', 'set_bytes', 'member_bytes', 'node_bytes', 'node_cells', 'node_values', an array 'loops' and a dictionary 'kernel_loops', both of strings}}
module attributes {uprog.instances = {bytes = 8 : i64, loops = []}} {
}

// -----

// expected-error @+1 {{an array 'loops' and a dictionary 'kernel_loops', both of strings}}
module attributes {uprog.instances = {bytes = 8 : i64, tasks = 1 : i64, capacity = 1 : i64, set_bytes = 0 : i64, member_bytes = 0 : i64, node_bytes = 0 : i64, node_cells = 0 : i64, node_values = 0 : i64, loops = [1 : i64], kernel_loops = {}}} {
}
