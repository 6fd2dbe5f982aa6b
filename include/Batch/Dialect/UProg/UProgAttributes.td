//===- UProgAttributes.td - Attributes of the uprog dialect ---*- tablegen -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_UPROG_ATTRIBUTES_TD
#define BATCH_DIALECT_UPROG_ATTRIBUTES_TD

include "Batch/Dialect/UProg/UProgDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class UProg_Attr<string name, string attrMnemonic>
    : AttrDef<UProg_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Operands and results of operators
//===----------------------------------------------------------------------===//

def UProg_OperandKind : I32EnumAttr<"OperandKind", "access to an operand", [
      I32EnumAttrCase<"Gather", 0, "gather">,
      I32EnumAttrCase<"Rows", 1, "rows">,
      I32EnumAttrCase<"Scalar", 2, "scalar">,
      I32EnumAttrCase<"Shared", 3, "shared">,
      I32EnumAttrCase<"Offsets", 4, "offsets">]> {
  let cppNamespace = "::mlir::uprog";
  let genSpecializedAttr = 0;
}

def UProg_OperandAttr : UProg_Attr<"Operand", "operand"> {
  let summary = "access of an operator to an operand";
  let description = [{
    | kind | operand |
    |---|---|
    | `gather` | a row per task, by its number in one table or source |
    | `rows` | a row per task, by its address |
    | `scalar` | a number per task, in a cell |
    | `shared(p)` | parameter `p` of the entry, for all tasks |
    | `offsets(d)` | where the tasks' rows of ragged domain `d` begin and end |

    With `ragged(d)`, the operand has the concatenated rows of ragged domain
    `d`, in which the rows of each task are adjacent. If a table is not in
    row-major order, `layout` is its layout, as in `batch.table`. If other
    values are stored between the rows, `block_bytes` is the distance in bytes
    between consecutive blocks of slots.

    ```mlir
    #uprog.operand<gather>
    #uprog.operand<rows ragged(0)>
    #uprog.operand<shared(2)>
    ```
  }];
  let parameters = (ins EnumParameter<UProg_OperandKind>:$kind,
      DefaultValuedParameter<"int64_t", "-1">:$number,
      DefaultValuedParameter<"int64_t", "-1">:$ragged,
      DefaultValuedParameter<"::mlir::AffineMap", "::mlir::AffineMap()">:$layout,
      DefaultValuedParameter<"int64_t", "0">:$block_bytes);
  let assemblyFormat = [{
    `<` $kind (`(` $number^ `)`)? (`ragged` `(` $ragged^ `)`)?
    (`layout` `(` $layout^ `)`)? (`block_bytes` `(` $block_bytes^ `)`)? `>`
  }];
  let genVerifyDecl = 1;
}

def UProg_ResultAttr : UProg_Attr<"Result", "result"> {
  let summary = "location of a result of an operator";
  let description = [{
    A task writes `siblings` adjacent rows into the result's table; this result
    is row number `position`. `layout` and `block_bytes` are as in
    `#uprog.operand`. With `rows`, there is no such table: the step contains the
    address of each task's row.

    ```mlir
    #uprog.result<siblings = 2, position = 1>
    #uprog.result<rows = true>
    ```
  }];
  let parameters = (ins
      DefaultValuedParameter<"int64_t", "1">:$siblings,
      DefaultValuedParameter<"int64_t", "0">:$position,
      DefaultValuedParameter<"::mlir::AffineMap", "::mlir::AffineMap()">:$layout,
      DefaultValuedParameter<"int64_t", "0">:$block_bytes,
      DefaultValuedParameter<"bool", "false">:$rows);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Requirements of an operator's code
//===----------------------------------------------------------------------===//

def UProg_WorkersAttr : UProg_Attr<"Workers", "workers"> {
  let summary = "division of an operator's work among the workers of a pool";
  let description = [{
    For `n` tasks, each worker needs min(`fixed_scratch` + `n` * `task_scratch`,
    `most_scratch`) bytes of scratch memory.

    A launch with at least `row_split` tasks per worker is divided by rows. Each
    worker then runs all stages on `stage_rows` tasks at a time (0: on all of
    its tasks). A smaller launch is divided stage by stage, by columns or by
    rows as the stage specifies. The workers then wait for each other before the
    stages in `barriers`. A launch of fewer than `share_tasks` tasks is not
    worth dividing.

    ```mlir
    #uprog.workers<fixed_scratch = 1024, task_scratch = 256, most_scratch = 4096,
        row_split = 12, stage_rows = 0, share_tasks = 4>
    #uprog.workers<barriers = [2], fixed_scratch = 0, task_scratch = 0,
        most_scratch = 0, row_split = 12, stage_rows = 0, share_tasks = 4>
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$barriers,
                        "int64_t":$fixed_scratch, "int64_t":$task_scratch,
                        "int64_t":$most_scratch, "int64_t":$row_split,
                        "int64_t":$stage_rows, "int64_t":$share_tasks);
  let assemblyFormat = [{
    `<` (`barriers` `=` `[` $barriers^ `]` `,` ` `)?
    struct($fixed_scratch, $task_scratch, $most_scratch, $row_split, $stage_rows,
           $share_tasks) `>`
  }];
  let genVerifyDecl = 1;
}

def UProg_CodeAttr : UProg_Attr<"Code", "code"> {
  let summary = "requirements of the code of an operator";
  let description = [{
    Specifies the number of stages, and the bytes of scratch memory per task and
    per row of each ragged domain. Code for a CPU also has `workers`.

    ```mlir
    #uprog.code<ragged_scratch = [0, 128], stages = 2, task_scratch = 64>
    #uprog.code<stages = 1, task_scratch = 0, workers = <
        fixed_scratch = 1024, task_scratch = 256, most_scratch = 4096,
        row_split = 12, stage_rows = 0, share_tasks = 4>>
    ```
  }];
  let parameters = (ins "int64_t":$stages, "int64_t":$task_scratch,
      OptionalArrayRefParameter<"int64_t">:$ragged_scratch,
      OptionalParameter<"::mlir::uprog::WorkersAttr">:$workers);
  let assemblyFormat = [{
    `<` (`ragged_scratch` `=` `[` $ragged_scratch^ `]` `,` ` `)?
    struct($stages, $task_scratch, $workers) `>`
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

def UProg_StageTarget : I32EnumAttr<"StageTarget", "target of stages", [
      I32EnumAttrCase<"CPU", 0, "cpu">,
      I32EnumAttrCase<"GPU", 1, "gpu">]> {
  let cppNamespace = "::mlir::uprog";
  let genSpecializedAttr = 0;
}

def UProg_StagingAttr : UProg_Attr<"Staging", "staging"> {
  let summary = "target of the stages of an operator";
  let description = [{
    All vectors of the operator have `lanes` elements. This is the number of
    elements of the widest type in rows and reductions that fit into
    `vector_bits`.

    ```mlir
    #uprog.staging<cpu, vector_bits = 512, lanes = 16>
    ```
  }];
  let parameters = (ins EnumParameter<UProg_StageTarget>:$target,
                        "int64_t":$vector_bits, "int64_t":$lanes);
  let assemblyFormat = "`<` $target `,` ` ` struct($vector_bits, $lanes) `>`";
  let genVerifyDecl = 1;
}

def UProg_RowsKind : I32EnumAttr<"RowsKind", "kind of the rows of a stage", [
      I32EnumAttrCase<"Once", 0, "once">,
      I32EnumAttrCase<"Tasks", 1, "tasks">,
      I32EnumAttrCase<"Ragged", 2, "ragged">]> {
  let cppNamespace = "::mlir::uprog";
  let genSpecializedAttr = 0;
}

def UProg_RowsAttr : UProg_Attr<"Rows", "rows"> {
  let summary = "rows of a stage";
  let description = [{
    | kind | one row for |
    |---|---|
    | `once` | the whole launch; it depends only on parameters |
    | `tasks` | each task |
    | `ragged(d)` | each row of ragged domain `d` |

    ```mlir
    #uprog.rows<once>
    #uprog.rows<ragged(0)>
    ```
  }];
  let parameters = (ins EnumParameter<UProg_RowsKind>:$kind,
                        DefaultValuedParameter<"int64_t", "-1">:$domain);
  let assemblyFormat = "`<` $kind (`(` $domain^ `)`)? `>`";
  let genVerifyDecl = 1;
}

def UProg_PanelsAttr : UProg_Attr<"Panels", "panels"> {
  let summary = "parameters that are packed into panels when they are bound";
  let description = [{
    Describes the matrix B[n][k] (`transposed`) or B[k][n], in panels of `width`
    columns. For each k, the columns of a panel are adjacent. Several parameters
    are stacked along n.

    For a parameter with other dimensions, `extents` lists the extents of the
    parameter. `order` lists its dimensions in their order in B: the dimensions
    of groups, then those of k, then those of n. Each group is a matrix with its
    own panels, which follow the panels of the previous group.

    ```mlir
    #uprog.panels<parameters = [0], n = 64, k = 40, width = 32, transposed = true>
    #uprog.panels<parameters = [0], extents = [12, 64, 768], order = [0, 2, 1],
        n = 64, k = 768, width = 32>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$parameters,
                        OptionalArrayRefParameter<"int64_t">:$extents,
                        OptionalArrayRefParameter<"int64_t">:$order,
                        "int64_t":$n, "int64_t":$k, "int64_t":$width,
                        DefaultValuedParameter<"bool", "false">:$transposed);
  let assemblyFormat = [{
    `<` `parameters` `=` `[` $parameters `]` `,` ` `
    (`extents` `=` `[` $extents^ `]` `,` ` ` `order` `=` `[` $order `]` `,` ` `)?
    struct($n, $k, $width, $transposed) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the number of matrices that the parameter consists of.
    int64_t getGroups() const;
  }];
}

def UProg_PaddedAttr : UProg_Attr<"Padded", "padded"> {
  let summary = "parameter whose rows are padded when it is bound";
  let description = [{
    The parameter is read element by element. The distance between its rows is
    the same as in a table (see `ABI.h` of the runtime).

    ```mlir
    #uprog.padded<parameter = 1>
    ```
  }];
  let parameters = (ins "int64_t":$parameter);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// Reductions of a stage
//===----------------------------------------------------------------------===//

def UProg_PackedAttr : UProg_Attr<"Packed", "packed"> {
  let summary = "contraction with a parameter in panels";
  let description = [{
    Input `left` has the rows. The other input is B[k + `k_offset`][n +
    `n_offset`] of `panels`. With `vectors`, the rows are read in vectors. If a
    row is a concatenation, it is read piece by piece; `breaks` lists the
    positions along the reduction where pieces end. If the panels have several
    groups, the inner dimensions `groups` of the stage select the group, counted
    from `first_group`. Without `groups`, all rows read `first_group`.

    ```mlir
    #uprog.packed<breaks = [20], left = 0, panels = <parameters = [0], n = 64,
        k = 40, width = 32, transposed = true>>
    #uprog.packed<groups = [0], left = 0, panels = <parameters = [0],
        extents = [12, 64, 768], order = [0, 2, 1], n = 64, k = 768, width = 32>>
    #uprog.packed<left = 0, panels = <parameters = [0], extents = [4, 40, 64],
        order = [0, 1, 2], n = 64, k = 40, width = 32>, first_group = 3>
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$breaks,
      OptionalArrayRefParameter<"int64_t">:$groups, "unsigned":$left,
      "::mlir::uprog::PanelsAttr":$panels,
      DefaultValuedParameter<"int64_t", "0">:$first_group,
      DefaultValuedParameter<"int64_t", "0">:$n_offset,
      DefaultValuedParameter<"int64_t", "0">:$k_offset,
      DefaultValuedParameter<"bool", "true">:$vectors);
  let assemblyFormat = [{
    `<` (`breaks` `=` `[` $breaks^ `]` `,` ` `)?
    (`groups` `=` `[` $groups^ `]` `,` ` `)?
    struct($left, $panels, $first_group, $n_offset, $k_offset, $vectors) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the position of the first factor that is read, in elements from
    /// the start of the panels. `n_offset` must be a multiple of the width.
    int64_t getFirstElement() const;
  }];
}

def UProg_InPlaceAttr : UProg_Attr<"InPlace", "in_place"> {
  let summary = "contraction that reads both operands in place";
  let description = [{
    Input `left` is A, and the other input is B. `left_stride` and
    `right_stride` are the distances between two rows of A and of B, in
    elements. `parameters` lists the parameters that are read in place. `groups`
    lists the inner dimensions of the stage that select the matrix B.

    ```mlir
    #uprog.in_place<breaks = [64], parameters = [0], left = 0, left_stride = 128,
        right_stride = 64>
    #uprog.in_place<groups = [0], left = 0, left_stride = 128, right_stride = 64>
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$breaks,
      OptionalArrayRefParameter<"int64_t">:$groups,
      OptionalArrayRefParameter<"int64_t">:$parameters, "unsigned":$left,
      "int64_t":$left_stride, "int64_t":$right_stride);
  let assemblyFormat = [{
    `<` (`breaks` `=` `[` $breaks^ `]` `,` ` `)?
    (`groups` `=` `[` $groups^ `]` `,` ` `)?
    (`parameters` `=` `[` $parameters^ `]` `,` ` `)?
    struct($left, $left_stride, $right_stride) `>`
  }];
  let genVerifyDecl = 1;
}

def UProg_CopiedAttr : UProg_Attr<"Copied", "copied"> {
  let summary = "contraction that copies both operands";
  let description = [{
    Input `left` has the rows, which are copied as in a contraction with a
    parameter. A panel of columns of the other input is copied before the rows
    of a task are multiplied by it. The panel is copied in vectors of columns
    or, with `transposed`, in vectors along the reduction. `groups` is as in
    `#uprog.in_place`.

    ```mlir
    #uprog.copied<groups = [0], left = 0, transposed = true>
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$breaks,
      OptionalArrayRefParameter<"int64_t">:$groups, "unsigned":$left,
      DefaultValuedParameter<"bool", "false">:$transposed,
      DefaultValuedParameter<"bool", "true">:$vectors);
  let assemblyFormat = [{
    `<` (`breaks` `=` `[` $breaks^ `]` `,` ` `)?
    (`groups` `=` `[` $groups^ `]` `,` ` `)?
    struct($left, $transposed, $vectors) `>`
  }];
  let genVerifyDecl = 1;
}

def UProg_GatheredAttr : UProg_Attr<"Gathered", "gathered"> {
  let summary = "contraction whose columns are packed while it runs";
  let description = [{
    Input `left` is A, a parameter in its original layout. Each of its rows is a
    panel of width one and contains all dimensions of the reduction, in order.
    `left_stride` is the distance between two rows, in elements. The other
    input, B, is a view. Panels of its columns are packed just before they are
    read. A line, such as a line of an image, has `run` columns. With `vectors`,
    the columns of a line are read in vectors. An example is a convolution with
    pixels as columns.

    ```mlir
    #uprog.gathered<left = 1, panels = <parameters = [0], n = 64, k = 576, width = 1,
        transposed = true>, left_stride = 576, run = 56>
    ```
  }];
  let parameters = (ins "unsigned":$left, "::mlir::uprog::PanelsAttr":$panels,
      "int64_t":$left_stride, "int64_t":$run,
      DefaultValuedParameter<"bool", "true">:$vectors);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def UProg_ReducedKind : I32EnumAttr<"ReducedKind", "use of vectors", [
      I32EnumAttrCase<"Columns", 0, "columns">,
      I32EnumAttrCase<"Lanes", 1, "lanes">,
      I32EnumAttrCase<"Sequential", 2, "sequential">]> {
  let cppNamespace = "::mlir::uprog";
  let genSpecializedAttr = 0;
}

def UProg_ReducedAttr : UProg_Attr<"Reduced", "reduced"> {
  let summary = "any other reduction";
  let description = [{
    | kind | reduction |
    |---|---|
    | `columns` | the lanes of a vector are columns of the output |
    | `lanes` | the lanes of a vector are elements that are reduced |
    | `sequential` | elements are reduced one after another |

    ```mlir
    #uprog.reduced<lanes>
    #uprog.reduced<columns, breaks = [20]>
    ```
  }];
  let parameters = (ins EnumParameter<UProg_ReducedKind>:$kind,
                        OptionalArrayRefParameter<"int64_t">:$breaks);
  let assemblyFormat = [{
    `<` $kind (`,` `breaks` `=` `[` $breaks^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

#endif // BATCH_DIALECT_UPROG_ATTRIBUTES_TD
